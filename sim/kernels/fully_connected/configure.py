"""The operator: validate(), configure() and run() for every mode, in the form of ACL's.

What is judged are types, shapes and numbers without which the layer is not defined; `output_faults` are those of every
layer.  Source: docs/spec/layers.md section 3.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from sim.golden.fixed_point import Int32Array
from sim.kernels.fully_connected.golden import MODES, AnyArray, Parameters, fully_connected, parameter_faults
from sim.kernels.operator import (
    Shape,
    Status,
    TensorInfo,
    Window,
    format_faults,
    region_of,
    require_array,
    require_bias,
    require_configured,
    require_info,
    require_valid,
    status_of,
)

DATA_TYPES: Final = {"int8": "QASYMM8_SIGNED", "uint8": "QASYMM8"}
"""ACL's names of the types of the modes."""


def data_type_of(mode: str) -> str:
    """ACL's name of the type of a mode's bytes.  `ValueError`: an unknown mode."""
    return DATA_TYPES[MODES[mode].dtype.name]


def validate(
    input: TensorInfo, weights: TensorInfo, bias: TensorInfo | None, output: TensorInfo, parameters: Parameters,
    mode: str = "s8_double_rounding",
) -> Status:  # fmt: skip
    """Whether the operator can be configured; the first fault in order.

    Order: input type, weights type, their shapes, parameters, bias, output type and shape. An empty output passes.
    `TypeError`: no TensorInfo.  `ValueError`: an unknown mode.
    """
    for name, info in (("input", input), ("weights", weights), ("output", output)):
        require_info(name, info)
    return status_of(_faults(input, weights, bias, output, parameters, mode))


def _faults(
    input: TensorInfo, weights: TensorInfo, bias: TensorInfo | None, output: TensorInfo, parameters: Parameters,
    mode: str,
) -> Iterator[str]:  # fmt: skip
    yield from format_faults("input", input, data_type_of(mode))
    yield from format_faults("weights", weights, data_type_of(mode))
    of_input, of_weights = input.shape or (), weights.shape or ()
    if len(of_input) != 2 or len(of_weights) != 2 or of_input[1] != of_weights[1]:
        yield f"input has shape {of_input}, weights {of_weights}: give [rows, depth] and [columns, depth]"
        return
    yield from parameter_faults(parameters, of_weights[0], mode)
    yield from output_faults(bias, output, (of_input[0], of_weights[0]), mode)


def output_faults(bias: TensorInfo | None, output: TensorInfo, shape: Shape, mode: str) -> Iterator[str]:
    """What is wrong with bias and output of a layer that makes this shape, columns last."""
    if bias is not None:
        yield from format_faults("bias", bias, "S32")
        if bias.shape != shape[-1:]:
            yield f"bias has shape {bias.shape}: it must be {shape[-1:]}, one for each column"
    if not output.is_empty:
        yield from format_faults("output", output, data_type_of(mode))
        if output.shape != shape:
            yield f"output has shape {output.shape}: it must be {shape}"


@dataclass(frozen=True, kw_only=True)
class ConfiguredLayer:
    """What configure() of a layer's operator leaves for run(): shapes of input, weights and output, that of the bias,
    None without one, and the golden reference with all else that it takes.
    """

    shapes: tuple[Shape, Shape, Shape]
    bias_shape: Shape | None
    golden: Callable[[AnyArray, AnyArray, Int32Array | None], AnyArray]
    dtype: np.dtype[np.generic]


class LayerOperator:
    """run() of a layer's operator, whose configure() leaves what was `_configured`."""

    def __init__(self) -> None:
        self._configured: ConfiguredLayer | None = None

    def run(
        self, input: AnyArray, weights: AnyArray, bias: Int32Array | None, output: AnyArray,
        window: Window | None = None,
    ) -> None:  # fmt: skip
        """Compute `output` (of the mode's type, written in place) inside `window`, leaving the rest untouched.

        The arrays have the configured shapes; bias is None as configured. `window` holds one slice for each axis of the
        output, step 1; None is the whole.  `ValueError`: shape, window, or not configured.  `TypeError`: dtype.
        """
        made = require_configured(self._configured)
        named = (("input", input), ("weights", weights), ("output", output))
        for (name, array), shape in zip(named, made.shapes, strict=True):
            require_array(name, array, shape, made.dtype)
        require_bias(bias, made.bias_shape)
        region = region_of(window, made.shapes[2])
        output[region] = made.golden(input, weights, bias)[region]


class FullyConnected(LayerOperator):
    """The operator: `configure` once, then `run` on arrays of the configured shapes, whole or window by window."""

    validate = staticmethod(validate)

    def configure(
        self, input: TensorInfo, weights: TensorInfo, bias: TensorInfo | None, output: TensorInfo,
        parameters: Parameters, mode: str = "s8_double_rounding",
    ) -> None:  # fmt: skip
        """Check as `validate` does, give an empty output its shape and type, and remember the shapes.

        `ConfigurationError` carries the status text; `TypeError` and `ValueError` as `validate`.
        """
        require_valid(validate(input, weights, bias, output, parameters, mode))
        shapes = input.shape or (), weights.shape or ()
        output.shape, output.data_type = (shapes[0][0], shapes[1][0]), data_type_of(mode)
        self._configured = ConfiguredLayer(
            shapes=(*shapes, output.shape), bias_shape=None if bias is None else bias.shape or (),
            golden=partial(fully_connected, parameters=parameters, mode=mode), dtype=MODES[mode].dtype,
        )  # fmt: skip
