"""Operands worth trying: every number, edges against edges, ties, and seeded random ones with the edges among them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product
from random import Random
from typing import Final

import numpy as np

from isa.lane import Int
from rtl_models.expected import Column, column_dtype

EVERY_BITS: Final = 16
"""Up to so many bits of operands together, every combination is tried."""
_MOST: Final = 6_000
"""Combinations of edges that are tried; where there are more, a seeded sample besides those of the extremes."""
_TIES: Final = 1_000


def seeded() -> Random:
    """Numbers of the scenario that runs: cocotb seeds `random` anew for each, by the seed of the run."""
    return Random(random.random())


def columns(types: Sequence[Int], rows: Sequence[Sequence[int]]) -> list[Column]:
    """Rows of operands as columns."""
    wrapped = [[kind.wrapped(number) for kind, number in zip(types, row, strict=True)] for row in rows]
    return [
        np.array(column, column_dtype(kind)) for kind, column in zip(types, zip(*wrapped, strict=True), strict=True)
    ]


def can_be_exhausted(types: Sequence[Int]) -> bool:
    """Whether there are few enough combinations to try every one."""
    return sum(kind.bits for kind in types) <= EVERY_BITS


def every_combination(types: Sequence[Int]) -> list[Column]:
    """All numbers of all operands."""
    ranges = [np.arange(kind.low, kind.high + 1, dtype=column_dtype(kind)) for kind in types]
    return [grid.ravel() for grid in np.meshgrid(*ranges, indexing="ij")]


def extremes(kind: Int) -> list[int]:
    """The ends of the type and what is next to them and to zero."""
    near = {kind.low, kind.low + 1, -2, -1, 0, 1, 2, kind.high - 1, kind.high}
    return sorted(number for number in near if kind.low <= number <= kind.high)


def edges(kind: Int) -> list[int]:
    """The extremes, the powers of two with their neighbours and negatives, and alternating bits; bytes: every one."""
    if kind.bits <= 8:
        return list(range(kind.low, kind.high + 1))
    powers = {sign * (1 << k) + d for k in range(kind.bits) for sign in (1, -1) for d in (-1, 0, 1)}
    patterns = {kind.wrapped(int(digit * (kind.bits // 4), 16)) for digit in "5a"}
    return sorted({n for n in powers | patterns if kind.low <= n <= kind.high} | set(extremes(kind)))


def edges_by_edges(types: Sequence[Int], rng: Random) -> list[Column]:
    """All combinations of extremes, and those of edges or a sample of them."""
    pools = [edges(kind) for kind in types]
    total = int(np.prod([len(pool) for pool in pools]))
    if total <= _MOST:
        return columns(types, list(product(*pools)))
    sample = [[rng.choice(pool) for pool in pools] for _ in range(_MOST)]
    return columns(types, [*product(*(extremes(kind) for kind in types)), *sample])


def ties(types: Sequence[Int], rng: Random) -> list[Column]:
    """Operands whose product, or whose shift to the right, lies half-way between two results.

    An odd number times 2^k, and as the second operand an odd number times 2^(bits-2-k), or -(k+1) as a shift count:
    the last bit that is dropped is then the lowest that is set.
    """
    rows, first = [], types[0]
    for _ in range(_TIES):
        k, others = rng.randrange(first.bits - 1), []
        for kind in types[1:]:
            if kind.bits == first.bits and rng.random() < 0.8:
                others.append(_odd(k + 2, rng) << (first.bits - 2 - k))
            else:
                others.append(-(k + 1) if kind.signed else k + 1)
        rows.append([_odd(first.bits - k, rng) << k, *others])
    return columns(types, rows)


def bits_by_counts(types: Sequence[Int]) -> list[Column]:
    """Every power of two and its negative, shifted by counts about its width; [] where the last is no shift count."""
    first, count = types[0], types[-1]
    counts = [sign * (first.bits + d) for d in range(-1, 4) for sign in (1, -1)]
    if len(types) != 2 or count == first or not all(count.low <= number <= count.high for number in counts):
        return []
    powers = [sign << k for k in range(first.bits) for sign in (1, -1)]
    return columns(types, list(product(powers, counts)))


def _odd(bits: int, rng: Random) -> int:
    return rng.getrandbits(max(1, bits)) | 1


def random_operands(types: Sequence[Int], rng: Random, count: int) -> list[Column]:
    """Uniform numbers, and one in eight an edge."""
    drawn, found = np.random.default_rng(rng.getrandbits(64)), []
    for kind in types:
        uniform = drawn.integers(kind.low, kind.high, count, column_dtype(kind), endpoint=True)
        special = drawn.choice(np.array(edges(kind), column_dtype(kind)), count)
        found.append(np.where(drawn.random(count) < 1 / 8, special, uniform))
    return found
