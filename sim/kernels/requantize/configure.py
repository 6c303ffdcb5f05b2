"""The operator: validate(), configure() and run() for every mode, in the form of ACL's output stages.

Of the systems named only ACL has such a validate(); the faults of its integer scale come in its order, and the other
modes follow it. Source: docs/spec/neighbours.md section 6.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sim.golden.fixed_point import Int32Array
from sim.kernels.operator import (
    AnyArray,
    Shape,
    Status,
    TensorInfo,
    Window,
    auto_init_if_empty,
    bias_faults,
    format_faults,
    output_shape_faults,
    region_of,
    require_array,
    require_bias,
    require_configured,
    require_info,
    require_valid,
    status_of,
)
from sim.kernels.requantize.golden import (
    FIXED_POINT,
    FLOAT_SCALE,
    INTEGER_SCALE,
    Channels,
    FloatScale,
    IntegerScale,
    fixed_point_faults,
    float_scale_faults,
    integer_scale_faults,
    requantize,
    requantize_float,
    requantize_integer,
)

Parameters = Channels | FloatScale | IntegerScale
_DTYPES: dict[str, np.dtype[Any]] = {
    "S32": np.dtype(np.int32),
    "QASYMM8_SIGNED": np.dtype(np.int8),
    "QASYMM8": np.dtype(np.uint8),
}


def output_type(mode: str) -> str:
    """ACL's name of what the mode gives: S32, QASYMM8_SIGNED or QASYMM8.  `ValueError`: an unknown mode."""
    if mode in FIXED_POINT:
        return "S32"
    if mode in FLOAT_SCALE:
        return "QASYMM8_SIGNED" if FLOAT_SCALE[mode] == np.int8 else "QASYMM8"
    if mode in INTEGER_SCALE:
        return "QASYMM8"
    raise ValueError(f"unknown mode {mode!r}: give one of {', '.join([*FIXED_POINT, *FLOAT_SCALE, *INTEGER_SCALE])}")


def validate(
    input: TensorInfo,
    bias: TensorInfo | None,
    output: TensorInfo,
    parameters: Parameters,
    mode: str = "tflite_double_rounding",
) -> Status:
    """Whether the operator can be configured; the first fault in order.

    Order: input type and channels, parameters, bias (integer scales only), output type, channels and shape. An empty
    output passes. `TypeError`: no TensorInfo, or parameters of another family. `ValueError`: an unknown mode.
    """
    require_info("input", input)
    require_info("output", output)
    wanted = output_type(mode)
    if isinstance(parameters, Channels) and mode in FIXED_POINT:
        faults = fixed_point_faults(parameters, (input.shape or (1,))[-1], mode)
    elif isinstance(parameters, FloatScale) and mode in FLOAT_SCALE:
        faults = float_scale_faults(parameters, mode)
    elif isinstance(parameters, IntegerScale) and mode in INTEGER_SCALE:
        faults = integer_scale_faults(parameters, mode)
    else:
        what = f"parameters of mode {mode} are not a {type(parameters).__name__}"
        raise TypeError(f"{what}: see sim.kernels.requantize.golden")
    return status_of(_faults(input, bias, output, faults, wanted, mode))


def _faults(
    input: TensorInfo, bias: TensorInfo | None, output: TensorInfo, parameters: Sequence[str], wanted: str, mode: str
) -> Iterator[str]:
    yield from format_faults("input", input, "S32")
    yield from parameters
    if bias is not None:
        if mode not in INTEGER_SCALE:
            yield f"mode {mode} has no bias: give None"
        yield from bias_faults(input, bias)
    if not output.is_empty:
        yield from format_faults("output", output, wanted)
        yield from output_shape_faults(input, output)


@dataclass(frozen=True)
class _Configured:
    input_shape: Shape
    bias_shape: Shape | None
    output_shape: Shape
    parameters: Parameters
    mode: str


class Requantize:
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
        mode: str = "tflite_double_rounding",
    ) -> None:
        """Initialise an empty output, then check as `validate` does and remember the shapes.

        An empty output takes the input's shape, channels and quantization, and the mode's type, even when the check
        then fails. `ConfigurationError` carries the status text; `TypeError` and `ValueError` as `validate`.
        """
        require_info("input", input)
        require_info("output", output)
        auto_init_if_empty(output, input, output_type(mode))
        require_valid(validate(input, bias, output, parameters, mode))
        bias_shape = None if bias is None else bias.shape or ()
        self._configured = _Configured(input.shape or (), bias_shape, output.shape or (), parameters, mode)

    def run(self, values: Int32Array, bias: Int32Array | None, output: AnyArray, window: Window | None = None) -> None:
        """Compute `output` (of the mode's type, written in place) inside `window`, leaving the rest untouched.

        `values` is int32 of the input's shape, `bias` int32 of the bias's shape, or None as configured. `window` holds
        one slice for each axis, step 1; None is the whole tensor. Channels go with their columns.
        `ValueError`: shape, window, or not configured. `TypeError`: dtype, or a window not made of slices.
        """
        made = require_configured(self._configured)
        require_array("values", values, made.input_shape, np.dtype(np.int32))
        require_array("output", output, made.output_shape, _DTYPES[output_type(made.mode)])
        require_bias(bias, made.bias_shape)
        region = region_of(window, made.input_shape)
        view = output.reshape(made.input_shape)  # only axes of size 1 come or go, so this never copies
        inside, columns, parameters = np.asarray(values[region]), region[-1:], made.parameters
        if isinstance(parameters, Channels):
            if len(parameters.multipliers) != 1 and columns:
                part = columns[0]
                parameters = Channels(parameters.multipliers[part], parameters.left_shifts[part])
            view[region] = requantize(inside, parameters, made.mode)
        elif isinstance(parameters, FloatScale):
            view[region] = requantize_float(inside, parameters, made.mode)
        else:
            biases = None if bias is None else bias.reshape(-1)[columns]
            view[region] = requantize_integer(inside, biases, parameters, made.mode)
