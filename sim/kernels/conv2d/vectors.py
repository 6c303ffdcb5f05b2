"""Input sets of conv2d: for each mode the corner factors and geometries first, then seeded random ones.

As for fully_connected the bias makes one sum of each column what separates.
"""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from sim.golden.fixed_point import INT32_MAX, INT32_MIN
from sim.kernels.conv2d.golden import Geometry, window_sums
from sim.kernels.fully_connected.golden import Parameters
from sim.kernels.fully_connected.vectors import (
    corner_parameters,
    directed_bias,
    random_bytes,
    random_parameters,
    separating_sums,
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
    top, bottom, left, right = (int(rng.integers(0, window[axis])) for axis in (0, 0, 1, 1))
    height = int(rng.integers(max(window[0] - top - bottom, 1), 6))
    width = int(rng.integers(max(window[1] - left - right, 1), 6))
    geometry = Geometry(int(rng.integers(1, 3)), int(rng.integers(1, 3)), top, bottom, left, right)
    columns, image = (
        int(rng.integers(1, widest + 1)),
        (int(rng.integers(1, 3)), height, width, int(rng.integers(1, most + 1))),
    )
    parameters = random_parameters(rng, mode, columns)
    return input_set(rng, image, window, geometry, parameters, mode, columns, has_bias=rng.random() < 7 / 8)


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
    bias = None
    if has_bias:
        sums = window_sums(input, weights, parameters, geometry)
        sums = sums.reshape(sums.size // max(columns, 1), columns)
        directed = [rng.choice(separating_sums(parameters, j)) for j in range(columns)]
        plain = rng.integers(INT32_MIN, INT32_MAX, columns, endpoint=True)
        wanted = np.where(rng.random(columns) < 7 / 8, directed, plain).astype(np.int32)
        bias = directed_bias(sums, rng.integers(0, len(sums), columns), wanted) if len(sums) else wanted
    return {"input": input, "weights": weights, "bias": bias, "parameters": parameters, "geometry": geometry}
