"""Expressions for registers whose numbers happen to be small: counters, lengths, addresses.

The sum of two 64-bit numbers needs 65 bits, which numpy does not have.  Where the numbers that are there stay below a
bound, the same expression fits: it is built again from leaves of that range, and every operator says anew how the
range of its result grows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import add, and_, lshift, mul, or_, rshift, sub, xor
from typing import cast

from isa.lane import Int, Lane, Place, Write, divide, maximum, minimum, pick
from isa.semantics.elementwise import Writes

GROW: dict[str, Callable[[Lane, Lane], Lane]] = {
    "add": add, "subtract": sub, "multiply": mul, "shift_left": lshift, "shift_right": rshift, "and": and_, "or": or_,
    "xor": xor, "minimum": minimum, "maximum": maximum, "divide": divide,
    "less": lambda a, b: a < b, "equal": lambda a, b: a.equals(b),
}  # fmt: skip
"""What makes a node of each operation, with its range."""
BOUNDS = (1 << 62, 1 << 31)
"""Bounds to try: for sums, and for products."""


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
        leaf = _leaf(lane)
        if leaf is not None:
            self.leaves.add(leaf)
            return Lane(lane.op, lane.args, max(lane.low, -self._bound), min(lane.high, self._bound - 1), lane.detail)
        args = self._all(lane.args) if lane.op != "load" else []
        if lane.op in GROW:
            return GROW[lane.op](*args)
        if lane.op == "field":
            lsb, element = cast("tuple[int, Int]", lane.detail)
            return element.field(args[0], lsb) if lsb else element.wrap(args[0])
        if lane.op == "saturate":
            return cast(Int, lane.detail).saturate(args[0])
        return pick(args[0], args[1:-1], args[-1]) if lane.op == "pick" else lane


def _leaf(lane: Lane) -> tuple[Place, Int] | None:
    """The register and the type of its lanes, if a node is a whole general register or a 64-bit lane."""
    if lane.op == "read" and cast(Place, lane.detail).file in ("x", "sp"):
        return cast(Place, lane.detail), Int(64, False)
    if lane.op == "field" and lane.args[0].op == "read" and cast(Place, lane.args[0].detail).file == "v":
        lsb, element = cast("tuple[int, Int]", lane.detail)
        return (cast(Place, lane.args[0].detail), element) if element.bits == 64 and lsb % 64 == 0 else None
    return None
