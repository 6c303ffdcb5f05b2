"""A layer of usual size in strict lockstep: 3 x 3, 32 to 64 channels, 56 x 56 pixels, every instruction compared."""

from __future__ import annotations

import time

import numpy as np

from sim.call.call import CallResult, CompiledKernel
from sim.call.kernel_image import open_kernel
from sim.kernels import built_in_kernel
from sim.kernels.conv2d.golden import Geometry
from sim.kernels.conv2d.vectors import input_set
from sim.kernels.fully_connected.vectors import random_parameters

SECONDS = 60
MODE = "s8_double_rounding"


def convolution_in_lockstep() -> tuple[CallResult, dict[str, int], float]:
    """The call, how many elements of each engine are not those of the golden reference, and the seconds it took."""
    kernel, rng = built_in_kernel("conv2d", MODE), np.random.default_rng(1)
    parameters, around = random_parameters(rng, MODE, 64), Geometry(1, 1, 1, 1, 1, 1)
    inputs = input_set(rng, (1, 56, 56, 32), (3, 3), around, parameters, MODE, 64)
    image = open_kernel(kernel, kernel.sources[0], "-O2", *kernel.flags)
    compiled = CompiledKernel(image, kernel, max_instructions=1 << 30)
    started = time.monotonic()
    done = compiled.call(kernel.arguments(inputs), 1)
    seconds = time.monotonic() - started
    expected = kernel.golden(inputs)["output"]
    apart = {engine: int((made["output"] != expected).sum()) for engine, made in done.outputs.items()}
    return done, apart, seconds


def test_a_convolution_of_56_pixels_agrees_in_lockstep_within_a_minute() -> None:
    done, apart, seconds = convolution_in_lockstep()
    assert (apart, done.divergence, done.instructions > 20_000_000) == ({"machine": 0, "emulator": 0}, None, True)
    assert seconds < SECONDS
