"""Input sets of depthwise_conv2d: for each mode the corner factors and geometries first, then seeded random ones.

As for fully_connected the bias makes one sum of each channel what separates.
"""

from collections.abc import Iterator
from itertools import cycle
from typing import Any, Final

import numpy as np

from sim.kernels.conv2d.golden import Geometry
from sim.kernels.conv2d.vectors import GEOMETRIES, random_geometry
from sim.kernels.depthwise_conv2d.golden import window_sums
from sim.kernels.fully_connected.golden import Parameters
from sim.kernels.fully_connected.vectors import (
    corner_parameters,
    random_bytes,
    random_parameters,
    separating_bias,
)
from sim.kernels.kernel import Inputs

CHANNELS: Final = (1, 7, 8, 9, 17, 0)
WINDOWS: Final = ((1, 8), (3, 2), (2, 9), (1, 17))
"""Channels that have several windows each, and how many."""


def corners(mode: str) -> Iterator[Inputs]:
    """Every geometry with every number of channels; then some separating sums of every corner factor."""
    rng = np.random.default_rng(0)
    for image, window, geometry in GEOMETRIES:
        for channels in CHANNELS:
            parameters = random_parameters(rng, mode, channels)
            yield input_set(rng, (*image, channels), window, geometry, parameters, mode)
    for (channels, windows), (image, window, geometry) in zip(cycle(WINDOWS), GEOMETRIES, strict=False):
        parameters = random_parameters(rng, mode, channels * windows)
        yield input_set(rng, (*image, channels), window, geometry, parameters, mode, windows=windows)
    for parameters in corner_parameters(mode):
        yield input_set(rng, (1, 2, 2, 17), (2, 2), Geometry(), parameters, mode)


def sample(rng: np.random.Generator, mode: str, widest: int = 20) -> Inputs:
    """An image of up to 2 x 5 x 5 pixels of at most so many channels, a window of up to 3 x 3, mostly that.

    One time of four up to three channels have up to so many windows each.
    """
    window = (3, 3) if rng.random() < 3 / 4 else (int(rng.integers(1, 4)), int(rng.integers(1, 4)))
    size, geometry = random_geometry(rng, window)
    batches, channels = int(rng.integers(1, 3)), int(rng.integers(1, widest + 1))
    windows = 1
    if rng.random() < 1 / 4:
        channels, windows = int(rng.integers(1, 4)), int(rng.integers(2, widest + 1))
    parameters = random_parameters(rng, mode, channels * windows)
    has_bias = rng.random() < 7 / 8
    return input_set(
        rng, (batches, *size, channels), window, geometry, parameters, mode, has_bias=has_bias, windows=windows
    )


def typical(mode: str) -> Inputs:
    """A window of 3 x 3 on an image of 5 x 5 pixels of 32 channels."""
    rng = np.random.default_rng(0)
    parameters = random_parameters(rng, mode, 32)
    return input_set(rng, (1, 5, 5, 32), (3, 3), Geometry(1, 1, 1, 1, 1, 1), parameters, mode)


def input_set(
    rng: np.random.Generator, image: tuple[int, ...], window: tuple[int, int], geometry: Geometry,
    parameters: Parameters, mode: str, *, has_bias: bool = True, windows: int = 1,
) -> dict[str, Any]:  # fmt: skip
    """Random bytes, with the bias that makes one sum of most columns one that separates, or without any."""
    columns = image[3] * windows
    input, weights = random_bytes(rng, image, mode), random_bytes(rng, (*window, columns), mode)
    sums = window_sums(input, weights, parameters, geometry)
    bias = separating_bias(rng, sums, parameters, columns) if has_bias else None
    return {"input": input, "weights": weights, "bias": bias, "parameters": parameters, "geometry": geometry}
