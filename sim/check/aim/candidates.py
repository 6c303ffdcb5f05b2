"""Input sets by the hundred that are aimed at a kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import numpy as np

from sim.check.aim.boundaries import boundary_sets, number_sets
from sim.kernels.domain import Domains, Pick, at_random, at_some_extremes, extreme_sets, input_set
from sim.kernels.kernel import Inputs, Kernel, Outputs

SIZES: Final = ((7, 1, 8), (15, 2, 8), (31, 1, 8), (40, 3, 4), (200, 1, 8))
"""Lengths of rows, numbers of rows, and from how many input sets steps are looked for: tails of every length behind
none, one and two steps of sixteen lanes, and many lanes."""
NUMBERS: Final = (31, 1, 8)
"""Of the input sets in which every number among the arguments goes next to a step in its turn."""
LONG: Final = ((1500, 1, 0), (5000, 1, 0), (17, 300, 0), (17, 1500, 0))
"""Lengths and numbers of rows at which sums overflow, along a row and down a column, where the domain has them."""
NEAR: Final = 48
"""Input sets next to steps of each of the sizes at most."""
ELEMENTS, LONG_ELEMENTS = 4096, 32_768
"""Elements of all arrays of an input set at most; of a long one."""


class CandidateSet(NamedTuple):
    """An input set with its golden outputs.

    `is_near` says that output lanes are next to a step of the golden reference, `is_long` that it has many elements.
    """

    inputs: Inputs
    golden: Outputs
    is_near: bool = False
    is_long: bool = False

    @property
    def lanes(self) -> int:
        """Its output lanes."""
        return sum(array.size for array in self.golden.values())

    @property
    def elements(self) -> int:
        """The elements of all its arrays."""
        return _elements(self.inputs) + self.lanes


def candidates(kernel: Kernel, seed: int) -> Iterator[CandidateSet]:
    """The candidates, small ones first, drawn from `seed`.  Raises KernelError for the golden reference."""
    rng, seen = np.random.default_rng((seed, len(SIZES))), set[int]()
    nullable = any(pointer.nullable for pointer in kernel.signature.pointers)
    for length, rows, rounds in (*SIZES, *LONG):
        limit = ELEMENTS if rounds else LONG_ELEMENTS
        while (elements := _size(kernel, length, rows)) > limit and max(length, rows) > 1:
            length, rows = (length // 2, rows) if length >= rows else (length, rows // 2)
        if elements in seen or elements > LONG_ELEMENTS:
            continue
        seen.add(elements)
        near: list[Inputs] = []
        for number in range(rounds):
            drawn = _drawn(kernel, length, rows, rng, nulls=nullable and number % 4 == 3)
            near += boundary_sets(kernel, drawn, rng)
            near += boundary_sets(kernel, _drawn(kernel, length, rows, rng, at_some_extremes), rng)
        for one in near[:NEAR]:
            yield CandidateSet(one, kernel.expected(one), is_near=True)
        some = [_drawn(kernel, length, rows, rng, at_some_extremes) for _ in range(rounds)]
        ends = extreme_sets(kernel.signature, kernel.domain, length, rows)
        for one in (_drawn(kernel, length, rows, rng), *some, *ends):
            yield CandidateSet(one, kernel.expected(one), is_long=not rounds)
    length, rows, rounds = NUMBERS
    for _ in range(rounds):
        for one in number_sets(kernel, _drawn(kernel, length, rows, rng), rng):
            yield CandidateSet(one, kernel.expected(one), is_near=True)


def _drawn(
    kernel: Kernel, length: int, rows: int, rng: np.random.Generator,
    picking: Callable[[Domains, np.random.Generator], Pick] = at_random, nulls: bool = False,
) -> dict[str, Any]:  # fmt: skip
    return input_set(kernel.signature, kernel.domain, picking(kernel.domain, rng), length, rows, nulls)


def _size(kernel: Kernel, length: int, rows: int) -> int:
    """The elements of all arrays of an input set."""
    return _elements(input_set(kernel.signature, kernel.domain, _zeros, length, rows, nulls=False))


def _zeros(_: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    return np.zeros(shape, dtype)


def _elements(inputs: Inputs) -> int:
    return sum(value.size for value in inputs.values() if isinstance(value, np.ndarray))
