"""The operator: validate(), configure() and run() for every mode, in the form of ACL's.

Source: docs/spec/layers.md section 4.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sim.golden.fixed_point import Int32Array
from sim.kernels.conv2d.golden import Geometry, conv2d, geometry_faults, output_shape
from sim.kernels.fully_connected.configure import data_type_of, output_faults
from sim.kernels.fully_connected.golden import AnyArray, Parameters, mode_named, parameter_faults
from sim.kernels.operator import (
    ConfigurationError,
    Shape,
    Status,
    TensorInfo,
    Window,
    format_faults,
    region_of,
    require_array,
    require_bias,
    require_info,
    require_valid,
    status_of,
)


def validate(
    input: TensorInfo, weights: TensorInfo, bias: TensorInfo | None, output: TensorInfo, parameters: Parameters,
    geometry: Geometry, mode: str = "s8_double_rounding",
) -> Status:  # fmt: skip
    """Whether the operator can be configured; the first fault in order.

    Order: input type, weights type, shapes and geometry, parameters, bias, output type and shape. An empty output
    passes.  `TypeError`: no TensorInfo.  `ValueError`: an unknown mode.
    """
    for name, info in (("input", input), ("weights", weights), ("output", output)):
        require_info(name, info)
    return status_of(_faults(input, weights, bias, output, parameters, geometry, mode))


def _faults(
    input: TensorInfo, weights: TensorInfo, bias: TensorInfo | None, output: TensorInfo, parameters: Parameters,
    geometry: Geometry, mode: str,
) -> Iterator[str]:  # fmt: skip
    yield from format_faults("input", input, data_type_of(mode))
    yield from format_faults("weights", weights, data_type_of(mode))
    shapes = input.shape or (), weights.shape or ()
    wrong = list(geometry_faults(*shapes, geometry))
    yield from wrong
    if wrong:
        return
    outer = output_shape(*shapes, geometry)
    yield from parameter_faults(parameters, outer[3], mode)
    yield from output_faults(bias, output, outer, mode)


@dataclass(frozen=True)
class _Configured:
    shapes: tuple[Shape, Shape, Shape]
    bias_shape: Shape | None
    parameters: Parameters
    geometry: Geometry
    mode: str


class Conv2d:
    """The operator: `configure` once, then `run` on arrays of the configured shapes, whole or window by window."""

    validate = staticmethod(validate)

    def __init__(self) -> None:
        self._configured: _Configured | None = None

    def configure(
        self, input: TensorInfo, weights: TensorInfo, bias: TensorInfo | None, output: TensorInfo,
        parameters: Parameters, geometry: Geometry, mode: str = "s8_double_rounding",
    ) -> None:  # fmt: skip
        """Check as `validate` does, give an empty output its shape and type, and remember the shapes.

        `ConfigurationError` carries the status text; `TypeError` and `ValueError` as `validate`.
        """
        require_valid(validate(input, weights, bias, output, parameters, geometry, mode))
        shapes = input.shape or (), weights.shape or ()
        output.shape, output.data_type = output_shape(*shapes, geometry), data_type_of(mode)
        bias_shape = None if bias is None else bias.shape or ()
        self._configured = _Configured((*shapes, output.shape), bias_shape, parameters, geometry, mode)

    def run(
        self, input: AnyArray, weights: AnyArray, bias: Int32Array | None, output: AnyArray,
        window: Window | None = None,
    ) -> None:  # fmt: skip
        """Compute `output` (of the mode's type, written in place) inside `window`, leaving the rest untouched.

        The arrays have the configured shapes; bias is None as configured. `window` holds one slice for each axis of the
        output, step 1; None is the whole.  `ValueError`: shape, window, or not configured.  `TypeError`: dtype.
        """
        if self._configured is None:
            raise ConfigurationError("the operator is not configured: call configure() before run()")
        made = self._configured
        dtype: np.dtype[np.generic] = mode_named(made.mode).dtype
        named = (("input", input), ("weights", weights), ("output", output))
        for (name, array), shape in zip(named, made.shapes, strict=True):
            require_array(name, array, shape, dtype)
        require_bias(bias, made.bias_shape)
        region = region_of(window, made.shapes[2])
        output[region] = conv2d(input, weights, bias, made.parameters, made.geometry, made.mode)[region]
