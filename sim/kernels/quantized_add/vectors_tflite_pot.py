"""Input sets of the add of 16 bits by powers of two: every shift of either operand on corner numbers, random ones."""

from collections.abc import Iterator

import numpy as np

from sim.golden.fixed_point import LARGEST_OF_16
from sim.kernels.kernel import Inputs
from sim.kernels.quantized_add.golden_tflite_pot import SHIFTS, ParametersOfPowers
from sim.kernels.quantized_add.golden_tflite_s16 import HIGHEST, LOWEST, Int16Array
from sim.kernels.quantized_add.vectors_tflite_s16 import NUMBERS, numbers


def ties(shift: int) -> Int16Array:
    """Numbers that a shift to the right by so many bits makes half of one, and next to them."""
    half = (1 << min(shift, LARGEST_OF_16)) >> 1
    found = [sign * odd * half + step for sign in (1, -1) for odd in (1, 3, 5) for step in (-1, 0, 1)]
    return np.array([number for number in found if LOWEST <= number <= HIGHEST], np.int16)


def corners() -> Iterator[Inputs]:
    """Every shift of either operand on every pair of corner numbers; then every length up to two steps and a tail."""
    for shift in SHIFTS:
        edges = np.array(NUMBERS, np.int16)
        moved, kept = (
            part.ravel() for part in np.meshgrid(np.concatenate([edges, ties(-shift)]), edges, indexing="ij")
        )
        yield {"a": kept, "b": moved, "parameters": ParametersOfPowers(b_shift=shift)}
        yield {"a": moved, "b": kept, "parameters": ParametersOfPowers(a_shift=shift, lower=-300, upper=5)}
    for length in range(26):
        parameters = ParametersOfPowers(a_shift=-(length % 5), lower=LOWEST + length, upper=HIGHEST - length)
        yield {"a": np.resize(ties(3), length), "b": np.resize(edges, length), "parameters": parameters}


def sample(rng: np.random.Generator, longest: int = 64) -> Inputs:
    """A random row of at most so many pairs, of shifts that are small most of the time."""
    length = int(rng.integers(0, longest + 1))
    shift = -int(rng.integers(0, 8) if rng.random() < 7 / 8 else rng.integers(0, 32))
    bounds = sorted(rng.integers(LOWEST, HIGHEST, 2).tolist()) if rng.random() < 1 / 4 else (LOWEST, HIGHEST)
    of_a = rng.random() < 1 / 2
    parameters = ParametersOfPowers(
        a_shift=shift if of_a else 0, b_shift=0 if of_a else shift, lower=bounds[0], upper=bounds[1]
    )
    moved = np.where(rng.random(length) < 1 / 2, rng.choice(ties(-shift), length), numbers(rng, length))
    pair = (moved.astype(np.int16), numbers(rng, length))
    a, b = pair if of_a else pair[::-1]
    return {"a": a, "b": b, "parameters": parameters}
