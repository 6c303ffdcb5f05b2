"""Inputs that tell pipelines apart, or how far it was searched for them.

Two pipelines that rise with the accumulator are equal for all of int32 if every number that the output can be begins
at the same accumulator: the thresholds, found by bisection, decide where there are few.  Others are tried on
accumulators computed backwards from every tie and edge, on the extremes, and on all of 16 bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from sim.explanation.rule import Candidate, Operands
from sim.golden.fixed_point import INT32_MAX, INT32_MIN

Int64Array = npt.NDArray[np.int64]

_SHOWN: Final = 3
_CHANNELS: Final = 64
"""Channels with parameters of their own that are tried."""
_LEVELS: Final = 1 << 16
_DIRECTED_LEVELS: Final = 520
_STEP: Final = 127
"""Between numbers of 16 bits of which pairs are tried."""
_MOST_THRESHOLDS: Final = 1 << 17
"""Of all channels together: what is bisected in about a second."""


@dataclass(frozen=True)
class Directed:
    """An input that tells two candidates apart: by name what it is, and what the one and the other make of it."""

    operands: Mapping[str, int]
    first: int
    other: int

    def __str__(self) -> str:
        operands = ", ".join(f"{name} {value}" for name, value in self.operands.items())
        return f"{operands}: {self.first} or {self.other}"


@dataclass(frozen=True)
class Apart:
    """What tells a candidate from another: some inputs; or none, how far was searched, and whether it was all."""

    directed: tuple[Directed, ...]
    searched: str
    is_all: bool = False


class Search(Protocol):
    """Compares two candidates on inputs of its own."""

    def __call__(self, one: Candidate, other: Candidate) -> Apart: ...


@dataclass(frozen=True)
class Channel:
    """A channel whose parameters are tried: its index, its factor, and how far the factor shifts to the right."""

    index: int
    factor: Fraction
    right_shift: int


class AccumulatorSearch:
    """Compares candidates on accumulators for the same parameters."""

    def __init__(self, channels: Sequence[Channel], zero_point: int, dtype: np.dtype[Any]) -> None:
        info = np.iinfo(dtype)
        self._channels, self._is_all = channels[:_CHANNELS], len(channels) <= _CHANNELS
        self._low, self._high = int(info.min), int(info.max)
        levels = self._high - self._low
        self._has_few_levels = levels < _LEVELS and levels * len(self._channels) <= _MOST_THRESHOLDS
        wanted = [(channel.index, self._accumulators(channel, zero_point)) for channel in self._channels]
        self._operands = _in_both(_grid(wanted))
        self._results: dict[int, Int64Array] = {}
        self._bisected: dict[int, Int64Array] = {}

    def __call__(self, one: Candidate, other: Candidate) -> Apart:
        """Two that rise are equal if they agree where `one` begins to give a level, and just before."""
        found = differing_inputs(self._run(one), self._run(other), self._operands)
        if found or not (self._has_few_levels and self._is_monotone(one) and self._is_monotone(other)):
            size = len(self._operands["value"]) // 2
            return Apart(found, f"{size:,} accumulators{self._scope} (ties, edges, extremes, small ones)")
        if id(one) not in self._bisected:
            self._bisected[id(one)] = _thresholds(one, self._grid_of_levels)
        first = self._bisected[id(one)]
        for values in (first, first - 1):
            inside = (values >= INT32_MIN) & (values <= INT32_MAX)
            tried = {**{name: array[inside] for name, array in self._grid_of_levels.items()}, "value": values[inside]}
            found = differing_inputs(one.run(tried), other.run(tried), tried)
            if found:
                return Apart(found, "")
        return Apart((), f"all 2^32 accumulators{self._scope}", is_all=self._is_all)

    def _run(self, candidate: Candidate) -> Int64Array:
        if id(candidate) not in self._results:
            self._results[id(candidate)] = candidate.run(self._operands)
        return self._results[id(candidate)]

    def _is_monotone(self, candidate: Candidate) -> bool:
        return candidate.rule.rises and candidate.limits.saturates

    @property
    def _scope(self) -> str:
        return "" if self._is_all else f" of the first {_CHANNELS} channels that have parameters of their own"

    @cached_property
    def _grid_of_levels(self) -> Operands:
        levels = np.arange(self._low + 1, self._high + 1)
        return _in_both(_grid([(channel.index, levels) for channel in self._channels]))

    def _accumulators(self, channel: Channel, zero_point: int) -> Int64Array:
        """Around every tie and edge of the output, the ends of int32 and of what a left shift keeps; small ones."""
        reach = 1 << 15 if len(self._channels) == 1 else 128
        extremes = (INT32_MIN, INT32_MIN + 1, INT32_MAX - 1, INT32_MAX)
        powers = (sign * (1 << bit) + step for bit in range(16, 31) for sign in (1, -1) for step in (-1, 0, 1))
        others = [*extremes, *powers, *self._backwards(channel, zero_point)]
        possible = np.array([value for value in others if INT32_MIN <= value <= INT32_MAX], np.int64)
        return np.unique(np.concatenate([np.arange(-reach, reach), possible]))

    def _backwards(self, channel: Channel, zero_point: int) -> Iterator[int]:
        """Accumulators whose results lie at half numbers, and, before a right shift, half a unit beside them."""
        if not channel.factor:
            return
        halves = max(channel.right_shift, 0) + 1
        over, under = channel.factor.numerator << halves, channel.factor.denominator
        levels: Sequence[int] = range(self._low - 1, self._high + 1)
        if self._high - self._low >= _DIRECTED_LEVELS:
            near = range(-_DIRECTED_LEVELS // 4, _DIRECTED_LEVELS // 4)
            levels = [self._low, self._low - 1, self._high, self._high - 1, *near]
        for level in levels:
            whole = (level - zero_point) << halves
            for wanted in (whole, whole + (1 << halves - 1)):
                for beside in (-1, 0, 1):
                    middle = (wanted + beside) * under // over
                    yield from range(middle - 2, middle + 4)


class PairSearch:
    """Compares candidates on all pairs of bytes, or on some of 16 bits."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        info = np.iinfo(dtype)
        self._is_all = dtype.itemsize == 1
        numbers = np.arange(info.min, info.max + 1, 1 if self._is_all else _STEP, dtype=np.int64)
        a, b = np.meshgrid(numbers, numbers, indexing="ij")
        self._operands: Operands = {"a": a.ravel(), "b": b.ravel()}

    def __call__(self, one: Candidate, other: Candidate) -> Apart:
        found = differing_inputs(one.run(self._operands), other.run(self._operands), self._operands)
        return Apart(found, f"{'all ' * self._is_all}{self._operands['a'].size:,} pairs", is_all=self._is_all)


def differing_inputs(first: Int64Array, second: Int64Array, operands: Operands) -> tuple[Directed, ...]:
    """The inputs of the smallest magnitude for which two results differ; those in a tail only where no others do.

    Accumulators have the names that a reader knows, and nothing beside them that tells nothing.
    """
    at = np.flatnonzero(first != second)
    in_tail = operands.get("in_tail", np.zeros(len(first)))[at] == 1
    at = at if in_tail.all() else at[~in_tail]
    size = np.zeros(at.size, np.int64)  # of places there is none: the first come first
    for name in operands.keys() & {"value", "a", "b", "sum"}:
        size += np.abs(operands[name][at])
    at = at[np.argsort(size, kind="stable")][:_SHOWN]
    found = []
    for i in at:
        shown = {name: int(array[i]) for name, array in operands.items()}
        if "value" in shown:
            channel = {"channel": shown["channel"]} if operands["channel"].any() else {}
            tail = {"in the last columns": 1} if shown["in_tail"] else {}
            shown = {"accumulator": shown["value"], **channel, **tail}
        found.append(Directed(shown, int(first[i]), int(second[i])))
    return tuple(found)


def _thresholds(candidate: Candidate, grid: Operands) -> Int64Array:
    """For each level of the grid, in "value", the smallest accumulator that gives it or more; 2^31 where none does."""
    levels = grid["value"]
    low, high = np.full(levels.shape, INT32_MIN, np.int64), np.full(levels.shape, INT32_MAX + 1, np.int64)
    for _ in range(33):
        middle = (low + high) >> 1
        reached = candidate.run({**grid, "value": np.minimum(middle, INT32_MAX)}) >= levels
        high = np.where(reached, middle, high)
        low = np.where(reached, low, np.minimum(middle + 1, high))
    return high


def _in_both(grid: Operands) -> Operands:
    """A grid in whole blocks of columns, and then again in the last ones."""
    return {name: np.concatenate([array, array + (name == "in_tail")]) for name, array in grid.items()}


def _grid(wanted: Sequence[tuple[int, Int64Array]]) -> Operands:
    """Values with their channels, in no tail."""
    values = np.concatenate([values for _, values in wanted])
    channels = np.concatenate([np.full(values.shape, index, np.int64) for index, values in wanted])
    return {"value": values, "channel": channels, "in_tail": np.zeros(values.shape, np.int64)}
