"""Input sets of activation_table: every byte with scales of every size, every length up to two steps, random ones."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from sim.kernels.activation_table.golden import MODES, AnyArray, Parameters
from sim.kernels.kernel import Inputs

SCALE_POWERS: Final = range(-10, 1)
TELLING: Final = (2.0**-7, 0.011719254776835442, 0.037642188370227814)
"""Scales, found by search, with which float32 and fixed point part on one or two bytes; with most they never do."""


def corners(mode: str) -> Iterator[Inputs]:
    """Every byte, with powers of two and others as scales, zero points in turn; then every length up to 33."""
    limits, rng = np.iinfo(MODES[mode].dtype), np.random.default_rng(0)
    every = np.arange(limits.min, limits.max + 1).astype(MODES[mode].dtype)
    zeros = (0, limits.min, limits.max, 7)
    for number, power in enumerate(SCALE_POWERS):
        for fraction in (1.0, 1.37):
            yield {"input": every, "parameters": Parameters(np.float32(fraction * 2.0**power), zeros[number % 4])}
    for scale in TELLING:
        yield {"input": every, "parameters": Parameters(np.float32(scale))}
    for length in range(34):
        yield {"input": rng.choice(every, length), "parameters": random_parameters(rng, mode)}


def sample(rng: np.random.Generator, mode: str, longest: int = 96) -> Inputs:
    """A row of at most so many random bytes, seldom any scale."""
    length = int(rng.integers(0, longest, endpoint=True))
    limits = np.iinfo(MODES[mode].dtype)
    bytes_: AnyArray = rng.integers(limits.min, limits.max, length, MODES[mode].dtype, endpoint=True)
    return {"input": bytes_, "parameters": random_parameters(rng, mode)}


def random_parameters(rng: np.random.Generator, mode: str) -> Parameters:
    """A scale of 2^-8..2^-2, one in eight of 2^-12..2, one in eight a telling one; any zero point, or the middle."""
    limits = np.iinfo(MODES[mode].dtype)
    low, high = (-12, 1) if rng.random() < 1 / 8 else (-8, -2)
    scale = rng.choice(TELLING) if rng.random() < 1 / 8 else 2.0 ** rng.uniform(low, high)
    zero = int(rng.integers(limits.min, limits.max, endpoint=True))
    middle = (int(limits.min) + int(limits.max) + 1) // 2
    return Parameters(np.float32(scale), zero if rng.random() < 1 / 2 else middle)
