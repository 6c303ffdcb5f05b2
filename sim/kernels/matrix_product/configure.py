"""The operator in the form of ACL's kernel: validate(), configure(), run(), on matrices that are cut in panels.

It models a build with asserts: see sim/kernels/operator.py.  What arm_gemm's kernels have around them is no operator of
ACL's; here it has the same form.  Source: docs/spec/neighbours.md sections 2 and 22.
"""

from collections.abc import Iterator
from math import prod
from typing import NamedTuple

import numpy as np

from sim.golden.fixed_point import Int32Array
from sim.golden.gemm_lowp import Bytes
from sim.kernels.matrix_product.golden import MODES, Mode, matrix_of, matrix_product
from sim.kernels.operator import (
    AclKernel,
    Shape,
    Status,
    TensorInfo,
    Window,
    format_faults,
    padding_faults,
    require_array,
    require_configured,
    require_info,
    require_valid,
    status_of,
)

OVER_READ = 4  # bytes behind the last panel of A that UMLAL's kernel reads and does not use, as upstream's


def validate(a: TensorInfo, b: TensorInfo, output: TensorInfo, mode: str = "umlal_u8") -> Status:
    """Whether the operator can be configured; the first fault in upstream's order.

    Order: type and channels of a, b and output; batches of a, of b; the width of b; paddings. Then what upstream trusts
    in: the mode's bytes, how many panels there are, their length, and more than one row, which upstream multiplies by
    another path. `TypeError`: no TensorInfo. `ValueError`: an unknown mode.
    """
    for name, info in (("a", a), ("b", b), ("output", output)):
        require_info(name, info)
    return status_of(_faults(a, b, output, MODES[mode]))


def _faults(a: TensorInfo, b: TensorInfo, output: TensorInfo, rule: Mode) -> Iterator[str]:
    yield from format_faults("a", a, "QASYMM8", "S8", "U8")
    yield from format_faults("b", b, "QASYMM8", "S8", "U8")
    if a.data_type != b.data_type:
        yield f"b has data type {b.data_type}: it must be that of a, {a.data_type}"
    yield from format_faults("output", output, "S32")
    batches = [prod(info.dimensions[2:]) for info in (a, b, output)]
    if batches[0] != batches[2]:
        yield f"output has {batches[2]} batches: it must have those of a, {batches[0]}"
    if batches[1] not in (1, batches[0]):
        yield f"b has {batches[1]} batches: it must have one, or those of a, {batches[0]}"
    of_columns = rule.columns * rule.depth
    if b.dimension(0) % of_columns:
        yield f"b has rows of {b.dimension(0)} bytes: they must be a multiple of {of_columns}"
    yield from padding_faults("a", a, OVER_READ if rule.depth == 1 else 0)
    yield from padding_faults("output", output, *_missing(output, rule))
    if (a.data_type == "S8") != (rule.dtype == np.int8):
        yield f"a has data type {a.data_type}: the mode multiplies {rule.dtype}"
    wanted = -(-output.dimension(1) // rule.rows), -(-output.dimension(0) // rule.columns)
    if (a.dimension(1), b.dimension(1)) != wanted:
        has = f"a and b have {a.dimension(1)} and {b.dimension(1)} panels"
        yield f"{has}: an output of shape {output.shape} takes {wanted[0]} and {wanted[1]}"
    if a.dimension(0) * rule.columns != b.dimension(0) * rule.rows:
        yield f"panels have {a.dimension(0)} and {b.dimension(0)} bytes: rows and columns have not the same length"
    if output.dimension(1) == 1:
        yield f"output has shape {output.shape}: one row is not multiplied in blocks"


def _missing(output: TensorInfo, rule: Mode) -> tuple[int, int]:
    """Columns and rows that the last block lacks."""
    return -output.dimension(0) % rule.columns, -output.dimension(1) % rule.rows


class _Configured(NamedTuple):
    a_shape: Shape
    b_shape: Shape
    output_shape: Shape
    mode: str


class MatrixProduct(AclKernel):
    """The operator: `configure` once, then `run` on arrays of the configured shapes, the output with its padding."""

    validate = staticmethod(validate)

    def __init__(self) -> None:
        self._configured: _Configured | None = None

    def configure(self, a: TensorInfo, b: TensorInfo, output: TensorInfo, mode: str = "umlal_u8") -> None:
        """Check as `validate` does, extend the paddings, and remember the shapes.

        `a` is [..., panels, bytes], `b` the same with the batches of a or none, `output` [..., rows, columns].
        `ConfigurationError` carries the status text; `TypeError` and `ValueError` as `validate`.
        """
        require_valid(validate(a, b, output, mode))
        rule = MODES[mode]
        a.extend_padding(OVER_READ if rule.depth == 1 else 0)
        output.extend_padding(*_missing(output, rule))
        *planes, rows, columns = output.padded_shape
        shape = *planes, rows + output.bottom_padding, columns
        self._configured = _Configured(a.shape or (), b.shape or (), shape, mode)

    def name(self) -> str:
        """Upstream's name.  `ConfigurationError`: not configured."""
        return MODES[require_configured(self._configured).mode].name

    def window(self) -> Window:
        """The whole output in steps of a block.  `ConfigurationError`: not configured."""
        made = require_configured(self._configured)
        rule, (*planes, rows, columns) = MODES[made.mode], made.output_shape
        ends = rows // rule.rows * rule.rows, columns // rule.columns * rule.columns
        return (*(slice(0, size, 1) for size in planes), slice(0, ends[0], rule.rows), slice(0, ends[1], rule.columns))

    def run(self, a: Bytes, b: Bytes, output: Int32Array) -> None:
        """Write whole blocks of the product to `output`, in place, its padding among them.

        `a` and `b` have the configured shapes, `output` the configured one with its padding, right and bottom.
        `ConfigurationError`: not configured. `ValueError`: shape. `TypeError`: dtype.
        """
        made = require_configured(self._configured)
        rule = MODES[made.mode]
        require_array("a", a, made.a_shape, rule.dtype)
        require_array("b", b, made.b_shape, rule.dtype)
        require_array("output", output, made.output_shape, np.dtype(np.int32))
        of_a, of_b = (panels.reshape(-1, *panels.shape[-2:]) for panels in (a, b))
        planes = output.reshape(-1, *output.shape[-2:])  # of leading axes alone, so this never copies
        for number, plane in enumerate(planes):
            product = matrix_of(matrix_product(of_a[number], of_b[number % len(of_b)], made.mode), rule)
            plane[: product.shape[0], : product.shape[1]] = product
