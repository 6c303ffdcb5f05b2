"""Lanes that are computed alike, folded into one expression over all of them.

Instructions are written lane by lane.  Two lanes are alike where their expressions differ only in the values of
constants and in the numbers of the lanes they read; such lanes become one `Rolled` expression, whose leaves hold what
differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from isa.evaluate.batch.narrowing import GROW
from isa.evaluate.exact import Evaluation
from isa.evaluate.source import is_bytes
from isa.lane import Int, Lane, Op, Place

_CARRIERS = tuple((f"{letter}{bits // 8}", Int(bits, letter == "i")) for bits in (8, 16, 32, 64) for letter in "ui")
FOLDED = frozenset(("constant", "field", "pick", *GROW))
"""Operations that give a constant for constants.  A saturation sets QC and a floating-point operation heeds FPCR."""
VIEWED = (8, 16, 32, 64)
"""The sizes in bits of the fields that an array of bytes can be viewed as."""


def carrier(low: int, high: int) -> str | None:
    """The smallest numpy integer type that holds the range (`u1` to `i8`: letter and bytes), None where none does."""
    return next((name for name, kind in _CARRIERS if kind.low <= low and high <= kind.high), None)


def is_view(lane: Lane) -> bool:
    """Whether a lane is an element of a register or of loaded memory."""
    if lane.op != "field" or not is_bytes(lane.args[0]):
        return False
    lsb, element = cast(tuple[int, Int], lane.detail)
    return element.bits in VIEWED and lsb % element.bits == 0


@dataclass(frozen=True, eq=False)
class Rolled:
    """One expression over several lanes, `low`..`high` its range in all of them.

    `width` is the number of lanes, 1 where all of them have the same value.  `detail` is that of a `Lane`, but for
    `constant` it holds the values, and for `view` (a field that is an element of bytes) the numbers of the elements
    with their type: `width` of them.
    """

    op: Op | str
    args: tuple[Rolled, ...]
    low: int
    high: int
    detail: object
    width: int

    @property
    def carrier(self) -> str | None:
        """The numpy type that holds it; None where it needs more than 64 bits."""
        return carrier(self.low, self.high)


class Roller:
    """Folds the lanes of one instruction; equal expressions become one node."""

    def __init__(self) -> None:
        self._numbers: dict[object, int] = {}
        self._kinds: dict[Lane, int] = {}
        self._made: dict[object, Rolled] = {}
        self._folded: dict[tuple[Lane, ...], Rolled] = {}

    def groups(self, lanes: Sequence[Lane]) -> list[tuple[list[int], Rolled]]:
        """The lanes sorted by kind: the positions of those that are alike, and their common expression."""
        positions: dict[int, list[int]] = {}
        for position, lane in enumerate(lanes):
            positions.setdefault(self._kind(lane), []).append(position)
        return [(at, self.fold(tuple(lanes[i] for i in at))) for at in positions.values()]

    def fold(self, lanes: tuple[Lane, ...]) -> Rolled:
        """The common expression of lanes that are alike."""
        if lanes not in self._folded:
            alone = len(set(lanes)) == 1
            self._folded[lanes] = self._fold(lanes[:1] if alone else lanes)
        return self._folded[lanes]

    def _fold(self, lanes: tuple[Lane, ...]) -> Rolled:
        first = lanes[0]
        low, high = min(lane.low for lane in lanes), max(lane.high for lane in lanes)
        args = tuple(self.fold(column) for column in zip(*(lane.args for lane in lanes), strict=True))
        if first.op in FOLDED and all(arg.op == "constant" for arg in args):
            return self._constant([_value(lane) for lane in lanes])
        if first.op == "pick" and args[0].op == "constant" and args[0].width == 1:
            return _picked(args)
        if is_view(first):
            _, element = cast(tuple[int, Int], first.detail)
            numbers = [cast(tuple[int, Int], lane.detail)[0] // element.bits for lane in lanes]
            return self._make("view", args, low, high, (_distinct(numbers), element))
        return self._make(first.op, args, low, high, first.detail)

    def _constant(self, values: Sequence[int]) -> Rolled:
        return self._make("constant", (), min(values), max(values), _distinct(values))

    def _make(self, op: Op | str, args: tuple[Rolled, ...], low: int, high: int, detail: object) -> Rolled:
        key = (op, args, low, high, detail)
        if key not in self._made:
            own = len(detail) if op == "constant" else len(detail[0]) if op == "view" else 1  # type: ignore
            width = max([own, *(arg.width for arg in args)])
            self._made[key] = Rolled(op, args, low, high, detail, width)
        return self._made[key]

    def _kind(self, lane: Lane) -> int:
        """Equal for lanes that are alike.  Loads are alike only where they are the same one."""
        if lane not in self._kinds:
            kind: object = (lane.op, lane.detail, *map(self._kind, lane.args))
            if lane.op == "constant":
                kind = "constant"
            elif lane.op == "load":
                kind = lane
            elif is_view(lane):
                kind = (self._kind(lane.args[0]), cast(tuple[int, Int], lane.detail)[1])
            self._kinds[lane] = self._numbers.setdefault(kind, len(self._numbers))
        return self._kinds[lane]


def _distinct(values: Sequence[int]) -> tuple[int, ...]:
    """The values, or one of them where all are equal."""
    return tuple(values[:1]) if len(set(values)) == 1 else tuple(values)


class _Nothing:
    """The state for expressions that read nothing."""

    def read(self, place: Place) -> int:
        raise AssertionError(f"a constant reads {place}")

    def load(self, address: int, size: int) -> bytes:
        raise AssertionError(f"a constant loads {size} bytes at {address:#x}")


def _value(lane: Lane) -> int:
    """The number that an expression of constants is."""
    return Evaluation(_Nothing()).value(lane)


def _picked(args: tuple[Rolled, ...]) -> Rolled:
    """What a pick with a constant index takes."""
    index, *items, otherwise = args
    return items[index.low] if 0 <= index.low < len(items) else otherwise
