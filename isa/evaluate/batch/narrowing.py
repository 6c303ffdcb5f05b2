"""Expressions for registers whose numbers happen to be small: counters, lengths, addresses.

The sum of two 64-bit numbers needs 65 bits, which numpy does not have.  Where the numbers that are there stay below a
bound, the same expression fits: it is built again from leaves of that range, and every operator says anew how the
range of its result grows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from isa.lane import (
    U64,
    Binary,
    Constant,
    Field,
    Floating,
    Int,
    Lane,
    Load,
    Operator,
    Pick,
    Place,
    Read,
    Saturate,
    Write,
    divide,
    maximum,
    minimum,
    pick,
)
from isa.semantics.elementwise import Writes

BOUNDS = (1 << 62, 1 << 31)
"""Bounds to try: for sums, and for products."""


def grown(operator: Operator, a: Lane, b: Lane) -> Lane:
    """A node of that operation, with the range that its operands give it."""
    match operator:
        case "add":
            return a + b
        case "subtract":
            return a - b
        case "multiply":
            return a * b
        case "divide":
            return divide(a, b)
        case "shift_left":
            return a << b
        case "shift_right":
            return a >> b
        case "and":
            return a & b
        case "or":
            return a | b
        case "xor":
            return a ^ b
        case "minimum":
            return minimum(a, b)
        case "maximum":
            return maximum(a, b)
        case "less":
            return a < b
        case "equal":
            return a.equals(b)
        case _:
            assert_never(operator)


class Narrowed:
    """The expressions of some writes with every 64-bit register lane in -bound..bound - 1.

    `leaves` are the registers that this must be true of: as unsigned numbers of general registers, as lanes of the
    type of vector registers.
    """

    def __init__(self, writes: Writes, bound: int) -> None:
        self.leaves: set[tuple[Place, Int]] = set()
        self._bound = bound
        self._built: dict[Lane, Lane] = {}
        self.writes = tuple(Write(w.place, w.bits, self._all(w.lanes)) for w in writes)

    def _all(self, lanes: Sequence[Lane]) -> list[Lane]:
        return [self._lane(lane) for lane in lanes]

    def _lane(self, lane: Lane) -> Lane:
        if lane not in self._built:
            self._built[lane] = self._build(lane)
        return self._built[lane]

    def _build(self, lane: Lane) -> Lane:
        low, high = max(lane.low, -self._bound), min(lane.high, self._bound - 1)
        match lane:
            case Constant() | Load() | Floating():
                return lane
            case Read(place):
                if place.file not in ("x", "sp"):
                    return lane
                self.leaves.add((place, U64))
                return Read(place, low, high)
            case Field(Read(Place("v") as place) as register, lsb, element) if element.bits == 64 and lsb % 64 == 0:
                self.leaves.add((place, element))
                return Field(register, lsb, element, low, high)
            case Field(operand, lsb, element):
                source = self._lane(operand)
                return element.field(source, lsb) if lsb else element.wrap(source)
            case Saturate(operand, element):
                return element.saturate(self._lane(operand))
            case Pick(index, items, otherwise):
                return pick(self._lane(index), self._all(items), self._lane(otherwise))
            case Binary(operator, a, b):
                return grown(operator, self._lane(a), self._lane(b))
            case _:
                assert_never(lane)
