"""When a beat is offered and when a result is taken: endless generators of a bool a cycle, seeded where random."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from random import Random
from typing import Final

Decisions = Iterator[bool]
Pattern = Callable[[Random], Decisions]


def always(_: Random) -> Decisions:
    """In every cycle."""
    return repeat(True)


def sometimes(rng: Random) -> Decisions:
    """In about every other cycle, each decided alone."""
    while True:
        yield rng.random() < 0.5


def in_bursts(rng: Random) -> Decisions:
    """Runs and pauses of random lengths; a pause is often longer than any pipeline but that of floats."""
    while True:
        yield from repeat(True, rng.randint(1, 24))
        yield from repeat(False, rng.randint(1, 40))


def seldom(rng: Random) -> Decisions:
    """Once in about five cycles, so that the pipeline has gaps and is empty now and then."""
    while True:
        yield rng.random() < 1 / 5


def replayed(decisions: Sequence[bool]) -> Decisions:
    """Those noted of another run, then always."""
    return chain(decisions, repeat(True))


@dataclass
class Noted:
    """Decisions that are noted as they are made."""

    decisions: Decisions
    noted: list[bool]

    def __iter__(self) -> Decisions:
        return self

    def __next__(self) -> bool:
        self.noted.append(next(self.decisions))
        return self.noted[-1]


@dataclass(frozen=True)
class StallPattern:
    """A pattern of both sides: when the driver offers a beat, and when the receiver takes a result."""

    offers: Pattern
    takes: Pattern


STALLS: Final[Mapping[str, StallPattern]] = {
    "never": StallPattern(always, always),
    "sometimes": StallPattern(sometimes, sometimes),
    "long_stall": StallPattern(always, in_bursts),
    "idle_input": StallPattern(seldom, always),
    "bursts": StallPattern(in_bursts, in_bursts),
}
"""By name; each is a class of the functional coverage."""
