"""The operator as ACL exposes it: validate(), configure(), run().

It models a build with asserts: see sim/kernels/operator.py.
Source: docs/spec/quantize_down.md sections 7 and 8; docs/spec/neighbours.md section 7 for int8 and int16.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sim.golden.fixed_point import Int32Array
from sim.kernels.operator import (
    AclFunction,
    AnyArray,
    Shape,
    Status,
    TensorInfo,
    Window,
    auto_init_if_empty,
    bias_faults,
    format_faults,
    maximum_window,
    output_shape_faults,
    region_of,
    require_array,
    require_bias,
    require_configured,
    require_info,
    require_valid,
    status_of,
)
from sim.kernels.quantize_down.golden import MODES, Mode, Parameters, quantize_down


def validate(
    input: TensorInfo,
    bias: TensorInfo | None,
    output: TensorInfo,
    minimum: int = 0,
    maximum: int = 0,
    mode: str = "acl_19_08",
) -> Status:
    """Whether the operator can be configured; the first fault in upstream's order.

    Order: input type, input channels, bounds, bias type, bias rank, bias length, output type, output channels, output
    shape. An empty output passes. Bounds and the output's type are judged by the mode: 20.05 refuses only minimum >
    maximum. Multiplier, shift and offset are not looked at. `TypeError` when input or output is None, as upstream
    asserts.
    """
    require_info("input", input)
    require_info("output", output)
    return status_of(_faults(input, bias, output, (minimum, maximum), MODES[mode]))


def _faults(
    input: TensorInfo, bias: TensorInfo | None, output: TensorInfo, bounds: tuple[int, int], rule: Mode
) -> Iterator[str]:
    yield from format_faults("input", input, "S32")
    bounds_fault = rule.bounds_fault(*bounds, *rule.range)
    if bounds_fault is not None:
        yield bounds_fault
    if bias is not None:
        yield from bias_faults(input, bias)
    if not output.is_empty:
        yield from format_faults("output", output, rule.output_type)
        yield from output_shape_faults(input, output)


@dataclass(frozen=True)
class _Configured:
    input_shape: Shape
    bias_shape: Shape | None
    output_shape: Shape
    parameters: Parameters
    mode: str


class QuantizeDown(AclFunction):
    """The operator: `configure` once, then `run` on arrays of the configured shapes, whole or window by window."""

    validate = staticmethod(validate)

    def __init__(self) -> None:
        self._configured: _Configured | None = None

    def configure(
        self,
        input: TensorInfo,
        bias: TensorInfo | None,
        output: TensorInfo,
        parameters: Parameters,
        mode: str = "acl_19_08",
    ) -> None:
        """Initialise an empty output, then check as `validate` does and remember the shapes.

        An empty output takes the input's shape, channels and quantization, and the mode's type; as upstream, that
        happens even when the check then fails. `ConfigurationError` carries the status text; `TypeError` when input or
        output is None. A shift that the mode does not define is refused by `run`, as is an offset that it does not
        add, since upstream's configure never looks at them.
        """
        require_info("input", input)
        require_info("output", output)
        auto_init_if_empty(output, input, MODES[mode].output_type)
        require_valid(validate(input, bias, output, parameters.minimum, parameters.maximum, mode))
        bias_shape = None if bias is None else bias.shape or ()
        self._configured = _Configured(input.shape or (), bias_shape, output.shape or (), parameters, mode)

    def name(self) -> str:
        """Upstream's name of the kernel that the function runs: of the one to uint8 where it is not configured."""
        made = np.dtype(np.uint8) if self._configured is None else MODES[self._configured.mode].dtype
        return f"NEGEMMLowpQuantizeDownInt32To{made.name.capitalize()}ScaleByFixedPointKernel"

    def window(self) -> Window:
        """The whole input in steps of one: a tail loop inside of the kernel covers what is no whole step of 16."""
        return maximum_window(require_configured(self._configured).input_shape)

    def run(
        self,
        accumulators: Int32Array,
        bias: Int32Array | None,
        output: AnyArray,
        window: Window | None = None,
    ) -> None:
        """Compute `output` (the mode's dtype, written in place) inside `window`, leaving the rest of it untouched.

        `accumulators` is int32 of the input's shape, `bias` int32 of the bias's shape, or None as configured.
        `window` holds one slice for each axis, in numpy order, within the axis, step 1; None is the whole tensor.
        As in the kernel, blocks start at the window's first column, which only modes with another tail show.
        `ValueError`: shape, window, or not configured. `TypeError`: dtype, or a window not made of slices.
        """
        made = require_configured(self._configured)
        require_array("accumulators", accumulators, made.input_shape, np.dtype(np.int32))
        require_array("output", output, made.output_shape, MODES[made.mode].dtype)
        require_bias(bias, made.bias_shape)
        region = region_of(window, made.input_shape)
        columns = None if bias is None else bias.reshape(-1)[region[-1:]]
        view = output.reshape(made.input_shape)  # only axes of size 1 come or go, so this never copies
        view[region] = quantize_down(accumulators[region], columns, made.parameters, made.mode)
