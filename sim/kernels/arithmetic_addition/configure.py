"""The operator as ACL exposes it: validate(), configure(), run().

It models a build with asserts: see sim/kernels/operator.py.  Inputs that are broadcast are not modelled.
Source: docs/spec/neighbours.md section 19.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from sim.kernels.arithmetic_addition.golden import MODES, Quantized, arithmetic_addition
from sim.kernels.operator import (
    AclFunction,
    AnyArray,
    ConfigurationError,
    Shape,
    Status,
    TensorInfo,
    Window,
    format_faults,
    maximum_window,
    region_of,
    require_array,
    require_configured,
    require_info,
    require_valid,
    status_of,
)

TYPES: Final = ("U8", "QASYMM8", "S16", "QSYMM16")
"""Those that are modelled: upstream takes F16, F32 and sums of U8 and S16 too."""


def validate(a: TensorInfo, b: TensorInfo, output: TensorInfo, mode: str | None = None) -> Status:
    """Whether the operator can be configured; the first fault in upstream's order.

    Order: type and channels of a, of b; one shape; of an output that is not empty the type, which must be that of both
    inputs, then the shape; last what lanewise adds: scales where the type has some, and with a `mode` its type.
    `TypeError` when one is None.
    """
    for name, info in (("a", a), ("b", b), ("output", output)):
        require_info(name, info)
    return status_of(_faults(a, b, output, mode))


def _faults(a: TensorInfo, b: TensorInfo, output: TensorInfo, mode: str | None) -> Iterator[str]:
    yield from format_faults("a", a, *TYPES)
    yield from format_faults("b", b, *TYPES)
    if a.dimensions != b.dimensions:
        yield f"a has shape {a.shape} and b {b.shape}: inputs that are broadcast are not modelled"
    if a.data_type != b.data_type:
        yield f"a has data type {a.data_type} and b {b.data_type}: sums of two types are not modelled"
    if not output.is_empty:
        if output.data_type != a.data_type:
            yield f"output has data type {output.data_type}: it must be that of both inputs, {a.data_type}"
        if output.dimensions != a.dimensions:
            yield f"output has shape {output.shape}: it must be the inputs' {a.shape}"
    if a.data_type.startswith("Q") and None in (a.quantization, b.quantization):
        yield f"an input of data type {a.data_type} has no quantization: give scale and zero point"
    if mode is not None and MODES[mode].data_type != a.data_type:
        yield f"a has data type {a.data_type}: mode {mode} has {MODES[mode].data_type}"


class _Configured(NamedTuple):
    shape: Shape
    output_shape: Shape
    quantized: Quantized | None
    mode: str


class ArithmeticAddition(AclFunction):
    """The operator: `configure` once, then `run` on arrays of the configured shapes, whole or window by window."""

    validate = staticmethod(validate)

    def __init__(self) -> None:
        self._configured: _Configured | None = None

    def configure(self, a: TensorInfo, b: TensorInfo, output: TensorInfo, mode: str) -> None:
        """Check as `validate` does, initialise an empty output with shape and type, remember the shapes.

        The mode has the types and the policy. `ConfigurationError` carries the status text, or says that a quantized
        output has no quantization; `TypeError` as `validate`.
        """
        require_valid(validate(a, b, output, mode))
        if output.is_empty:
            output.shape, output.data_type = a.shape, a.data_type
        quantized = None
        if MODES[mode].block:
            if a.quantization is None or b.quantization is None or output.quantization is None:
                raise ConfigurationError("the output has no quantization: give scale and zero point")
            (a_scale, a_zero), (b_scale, b_zero), (scale, zero) = a.quantization, b.quantization, output.quantization
            quantized = Quantized(a_scale, b_scale, scale, a_zero, b_zero, zero)
        self._configured = _Configured(a.shape or (), output.shape or (), quantized, mode)

    def name(self) -> str:
        """Upstream's name of the kernel that the function runs, configured or not."""
        return "NEArithmeticAdditionKernel"

    def window(self) -> Window:
        """The whole output in steps of one: a tail covers what is no whole step.  `ConfigurationError`."""
        return maximum_window(require_configured(self._configured).shape)

    def run(self, a: AnyArray, b: AnyArray, output: AnyArray, window: Window | None = None) -> None:
        """Compute `output`, in place, inside `window`, leaving the rest of it untouched.

        All have the configured shapes and the mode's dtype. `window` holds one slice for each axis; None is the whole
        tensor. As in the kernel, blocks start at its first column, which quantized modes show.
        `ConfigurationError`: not configured. `ValueError`: shape or window. `TypeError`: dtype.
        """
        made = require_configured(self._configured)
        dtype = MODES[made.mode].dtype
        require_array("a", a, made.shape, dtype)
        require_array("b", b, made.shape, dtype)
        require_array("output", output, made.output_shape, dtype)
        region = region_of(window, made.shape)
        view = output.reshape(made.shape)  # only axes of size 1 come or go, so this never copies
        view[region] = arithmetic_addition(a[region], b[region], made.quantized, made.mode)
