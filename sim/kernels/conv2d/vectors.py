"""Input sets of conv2d: for each mode the corner factors and geometries first, then seeded random ones.

As for fully_connected the bias makes one sum of each column what separates.
"""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from sim.kernels.conv2d.golden import Geometry, window_sums
from sim.kernels.fully_connected.golden import Parameters
from sim.kernels.fully_connected.vectors import (
    corner_parameters,
    random_bytes,
    random_parameters,
    separating_bias,
)
from sim.kernels.kernel import Inputs

GEOMETRIES: Final = (
    ((1, 3, 3), (3, 3), Geometry(1, 1, 1, 1, 1, 1)), ((2, 4, 3), (3, 3), Geometry(2, 2, 0, 1, 0, 1)),
    ((1, 5, 4), (1, 1), Geometry(2, 1)), ((1, 3, 3), (1, 1), Geometry(1, 1, 1, 0, 0, 1)),
    ((1, 1, 1), (3, 3), Geometry(1, 1, 1, 1, 1, 1)), ((1, 1, 2), (2, 3), Geometry(3, 1, 4, 4, 3, 3)),
    ((0, 3, 3), (3, 3), Geometry()),
)  # fmt: skip
"""Batches, height and width; the window; its strides and padding, of which one leaves whole windows outside."""
CHANNELS: Final = (1, 3, 16, 17, 32, 0)


def corners(mode: str) -> Iterator[Inputs]:
    """Every geometry with every number of channels; then some separating sums of every corner factor."""
    rng = np.random.default_rng(0)
    for number, (image, window, geometry) in enumerate(GEOMETRIES):
        for channels in CHANNELS:
            columns = (number + channels) % 6
            parameters = random_parameters(rng, mode, columns)
            yield input_set(rng, (*image, channels), window, geometry, parameters, mode, columns)
    for parameters in corner_parameters(mode):
        yield input_set(rng, (1, 2, 2, 1), (2, 2), Geometry(), parameters, mode, 16)


def sample(rng: np.random.Generator, mode: str, most: int = 20, widest: int = 9) -> Inputs:
    """An image of up to 2 x 5 x 5 pixels, a window of up to 3 x 3, at most so many channels and columns."""
    window = (1, 1) if rng.random() < 1 / 4 else (int(rng.integers(1, 4)), int(rng.integers(1, 4)))
    size, geometry = random_geometry(rng, window)
    columns, batches, channels = (int(rng.integers(1, largest + 1)) for largest in (widest, 2, most))
    parameters = random_parameters(rng, mode, columns)
    return input_set(
        rng, (batches, *size, channels), window, geometry, parameters, mode, columns, has_bias=rng.random() < 7 / 8
    )


def random_geometry(rng: np.random.Generator, window: tuple[int, int]) -> tuple[tuple[int, int], Geometry]:
    """The sizes of an image of up to 5 x 5 pixels that the window fits, strides and padding."""
    top, bottom, left, right = (int(rng.integers(0, window[axis])) for axis in (0, 0, 1, 1))
    height = int(rng.integers(max(window[0] - top - bottom, 1), 6))
    width = int(rng.integers(max(window[1] - left - right, 1), 6))
    geometry = Geometry(int(rng.integers(1, 3)), int(rng.integers(1, 3)), top, bottom, left, right)
    return (height, width), geometry


def typical(mode: str) -> Inputs:
    """A window of 3 x 3 on an image of 5 x 5 pixels of 32 channels, to 8."""
    rng = np.random.default_rng(0)
    parameters = random_parameters(rng, mode, 8)
    return input_set(rng, (1, 5, 5, 32), (3, 3), Geometry(1, 1, 1, 1, 1, 1), parameters, mode, 8)


def input_set(
    rng: np.random.Generator, image: tuple[int, ...], window: tuple[int, int], geometry: Geometry,
    parameters: Parameters, mode: str, columns: int, *, has_bias: bool = True,
) -> dict[str, Any]:  # fmt: skip
    """Random bytes, with the bias that makes one sum of most columns one that separates, or without any."""
    input, weights = random_bytes(rng, image, mode), random_bytes(rng, (columns, *window, image[3]), mode)
    sums = window_sums(input, weights, parameters, geometry)
    bias = separating_bias(rng, sums, parameters, columns) if has_bias else None
    return {"input": input, "weights": weights, "bias": bias, "parameters": parameters, "geometry": geometry}
