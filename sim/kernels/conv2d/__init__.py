"""conv2d: a window of weights over images of bytes, channels last, scaled to bytes, as TFLite and XNNPACK do it.

Source: docs/spec/layers.md section 4.  Modes, factors and what is behind the sums are those of fully_connected; the
compiled functions take a pixel of the input's zero point for what a window has outside of the image.
"""

from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from sim.kernels.conv2d import golden, program, vectors
from sim.kernels.fully_connected import (
    factor_arguments,
    level_arguments,
    level_domains,
    levels_and_factors,
    rivals,
    with_factors_of,
)
from sim.kernels.fully_connected.golden import MODES as LAYER_MODES
from sim.kernels.fully_connected.golden import Steps
from sim.kernels.fully_connected.program import SCALES, LayerBytes
from sim.kernels.kernel import Inputs, Kernel, Outputs
from sim.kernels.signature import Pointer, ScalarArgument, Signature

_FOLDER = Path(__file__).parent
_SIZES: Final = (
    "batches", "height", "width", "channels", "columns", "kernel_height", "kernel_width", "out_height", "out_width",
    "stride_y", "stride_x", "top", "left",
)  # fmt: skip


def _golden(inputs: Inputs, mode: str) -> Outputs:
    return {"output": golden.conv2d(**with_factors_of(inputs, mode), mode=mode)}


def _steps(inputs: Inputs, mode: str) -> Steps:
    return golden.steps(**inputs, mode=mode)


def _arguments(inputs: Inputs, mode: str) -> Inputs:
    arrays = {name: inputs[name] for name in ("input", "weights", "bias")}
    geometry, (columns, *window, channels) = inputs["geometry"], inputs["weights"].shape
    outer = golden.output_shape(inputs["input"].shape, inputs["weights"].shape, geometry)
    strides = geometry.stride_y, geometry.stride_x, geometry.top, geometry.left
    sizes = (*inputs["input"].shape, columns, *window, *outer[1:3], *strides)
    padding = np.full(channels, inputs["parameters"].input_zero, LAYER_MODES[mode].dtype)
    levels = levels_and_factors(inputs["parameters"], columns, LAYER_MODES[mode])
    return {**arrays, "padding": padding, **dict(zip(_SIZES, sizes, strict=True)), **levels}


def _kernel(mode: str) -> Kernel:
    rule = LAYER_MODES[mode]
    name = rule.dtype.name
    arguments = (
        Pointer("input", name, ("batches", "height", "width", "channels")),
        Pointer("weights", name, ("columns", "kernel_height", "kernel_width", "channels")),
        Pointer("bias", "int32", ("columns",), nullable=True),
        *factor_arguments(rule),
        Pointer("output", name, ("batches", "out_height", "out_width", "columns"), direction="out"),
        Pointer("padding", name, ("channels",)),
        *(ScalarArgument(size, "uint64") for size in _SIZES),
        *level_arguments(rule),
    )
    return Kernel(
        name="conv2d",
        symbol=f"conv2d_{mode}",
        sources=(_FOLDER / "kernel.c", _FOLDER / "kernel_plain.c"),
        signature=Signature(arguments),
        golden=partial(_golden, mode=mode),
        steps=partial(_steps, mode=mode),
        arguments=partial(_arguments, mode=mode),
        corners=partial(vectors.corners, mode),
        sample=partial(vectors.sample, mode=mode),
        long_sample=partial(vectors.sample, mode=mode, most=40, widest=64),
        program=partial(program.conv2d, SCALES[mode.partition("_")[2]], LayerBytes(name == "uint8")),
        conventions={other: partial(_golden, mode=other) for other in rivals(mode)},
        mode=mode,
        summary=rule.source,
        domain=level_domains(rule),
        flags=("-march=armv8.2-a+dotprod",),
        typical=vectors.typical(mode),
        work=(
            "multiply-accumulate",
            "batches * out_height * out_width * columns * kernel_height * kernel_width * channels",
        ),
    )


MODES = {mode: _kernel(mode) for mode in LAYER_MODES}
KERNEL = MODES["s8_double_rounding"]
