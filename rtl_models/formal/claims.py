"""Claims about signals: a specification asks for the signals that it speaks of, and so names them.

def specification(read: ReadSignal) -> Statement:
    return {"ready_o": (read("ready_o", U1), read("ready_i", U1) | ~read("valid_o", U1) & 1)}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Protocol, cast

from isa.lane import U1, Int, Lane, constant
from rtl_models.formal.equations.unrolling import WireBits
from sim.prove.claim import Claim, Range, input_lane

Statement = Mapping[str, tuple[Lane, Lane]]
"""What is claimed to be equal, by names."""


class ReadSignal(Protocol):
    """The number on some bits of a wire, from bit `lsb` on; all of them without it."""

    def __call__(self, wire: str, kind: Int, lsb: int | None = None) -> Lane:
        """As a number of this type."""


Value = Callable[[ReadSignal], Lane]
"""A number that signals make up."""


def on(wire: str, kind: Int, lsb: int | None = None) -> Value:
    """The number on some bits of a wire."""
    return lambda read: read(wire, kind, lsb)


def signal_of(wire: str, kind: Int, lsb: int | None, edge: int = 0) -> WireBits:
    """The signal that is read."""
    return WireBits(wire, edge=edge) if lsb is None else WireBits(wire, lsb, kind.bits, edge)


def all_of(conditions: Iterable[Lane]) -> Lane:
    """1 where each of the conditions is 1."""
    every = constant(1)
    for condition in conditions:
        every = every & condition
    return every


def total(lanes: Iterable[Lane]) -> Lane:
    """The exact sum."""
    return sum(lanes, constant(0))


_leaf = cache(input_lane)
"""One node for each signal."""


class Signals:
    """Reads signals as inputs of a claim, after `edge` edges; `kinds` gets the types of all that are read."""

    def __init__(self, edge: int = 0, kinds: dict[str, Int] | None = None) -> None:
        self._edge = edge
        self.kinds: dict[str, Int] = {} if kinds is None else kinds

    def __call__(self, wire: str, kind: Int, lsb: int | None = None) -> Lane:
        """As `ReadSignal`; the type is that of the first time."""
        name = str(signal_of(wire, kind, lsb, self._edge))
        known = self.kinds.setdefault(name, kind)
        return kind.wrap(_leaf(name, known))

    def resets(self) -> Lane:
        """Whether it is reset, or will be an edge later."""
        return (self("rst_ni", U1) & self.after(1)("rst_ni", U1)).equals(0)

    def after(self, edges: int) -> Signals:
        """The signals so many edges later."""
        return Signals(self._edge + edges, self.kinds)


Specification = Callable[[Signals], Statement]


def claim(name: str, specification: Specification, given: Callable[[Signals], Lane] | None = None) -> Claim:
    """That all that the specification equates is equal, wherever `given` is not 0."""
    signals = Signals()
    statement = specification(signals)
    condition = constant(1) if given is None else given(signals)
    inputs = cast(Mapping[str, Int | Range], dict(signals.kinds))
    sides = [{what: pair[k] for what, pair in statement.items()} for k in (0, 1)]
    made = Claim(name, inputs, lambda *_: sides[0], lambda *_: sides[1])
    return made if given is None else replace(made, given=lambda *_: condition)
