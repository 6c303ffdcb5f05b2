"""The operator: validate(), configure() and run() for every mode, in the form of ACL's.

Source: docs/spec/neighbours.md section 23.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sim.kernels.activation_table.golden import (
    FUNCTIONS,
    MODES,
    SCALES,
    AnyArray,
    Parameters,
    activation_table,
)
from sim.kernels.operator import (
    Shape,
    Status,
    TensorInfo,
    Window,
    format_faults,
    output_shape_faults,
    region_of,
    require_array,
    require_configured,
    require_info,
    require_valid,
    status_of,
)


def validate(input: TensorInfo, output: TensorInfo, mode: str = "logistic_s8") -> Status:
    """Whether the operator can be configured; the first fault in order.

    Order: input type and quantization; type, shape and quantization of the output. An empty output passes.
    `TypeError`: no TensorInfo. `ValueError`: an unknown mode.
    """
    require_info("input", input)
    require_info("output", output)
    return status_of(_faults(input, output, mode))


def _output_of(mode: str) -> tuple[str, tuple[float, int]]:
    """Its type, and the scale and zero point that TFLite prescribes."""
    rule = MODES[mode]
    kind = "QASYMM8" if rule.dtype == np.uint8 else "QASYMM8_SIGNED"
    return kind, (2.0 ** -FUNCTIONS[rule.function].units, rule.output_zero)


def _faults(input: TensorInfo, output: TensorInfo, mode: str) -> Iterator[str]:
    (kind, prescribed), limits = _output_of(mode), np.iinfo(MODES[mode].dtype)
    yield from format_faults("input", input, kind)
    scale, zero = input.quantization or (0.0, 0)
    if not SCALES[0] <= scale <= SCALES[1] or not limits.min <= zero <= limits.max:
        what = f"give a scale in 2^-20..16 and a zero point in {limits.min}..{limits.max}"
        yield f"input has quantization {input.quantization}: {what}"
    if output.is_empty:
        return
    yield from format_faults("output", output, kind)
    yield from output_shape_faults(input, output)
    if output.quantization != prescribed:
        yield f"output has quantization {output.quantization}: it must be {prescribed}"


class _Configured(NamedTuple):
    shape: Shape
    parameters: Parameters
    mode: str


class ActivationTable:
    """The operator: `configure` once, then `run` on arrays of the configured shape, whole or window by window."""

    validate = staticmethod(validate)

    def __init__(self) -> None:
        self._configured: _Configured | None = None

    def configure(self, input: TensorInfo, output: TensorInfo, mode: str = "logistic_s8") -> None:
        """Check as `validate` does, give an empty output shape, type and quantization, and remember the shape.

        The input's scale is rounded to float32.  `ConfigurationError` carries the status text; `TypeError` and
        `ValueError` as `validate`.
        """
        require_valid(validate(input, output, mode))
        output.shape = input.shape
        output.data_type, output.quantization = _output_of(mode)
        scale, zero = input.quantization or (1.0, 0)
        self._configured = _Configured(input.shape or (), Parameters(np.float32(scale), zero), mode)

    def run(self, input: AnyArray, output: AnyArray, window: Window | None = None) -> None:
        """Compute `output` (of the mode's type, written in place) inside `window`, leaving the rest untouched.

        Both have the configured shape; `window` holds one slice for each axis, step 1, None is the whole.
        `ConfigurationError`: not configured. `ValueError`: shape or window. `TypeError`: dtype.
        """
        made = require_configured(self._configured)
        for name, array in (("input", input), ("output", output)):
            require_array(name, array, made.shape, MODES[made.mode].dtype)
        region = region_of(window, made.shape)
        output[region] = activation_table(input[region], made.parameters, made.mode)
