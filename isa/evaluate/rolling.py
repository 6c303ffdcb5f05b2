"""Lanes that are computed alike, folded into one expression over all of them.

Instructions are written lane by lane.  Two lanes are alike where their expressions differ only in the values of
constants and in the numbers of the lanes they read; such lanes become one `Rolled` expression, whose leaves hold what
differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, TypeGuard, assert_never

from isa.evaluate.exact import Evaluation
from isa.evaluate.source import is_bytes
from isa.lane import Binary, Constant, Field, Floating, Int, Lane, Load, Operator, Pick, Place, Read, Saturate, head

_TYPES = tuple((f"{letter}{bits // 8}", Int(bits, letter == "i")) for bits in (8, 16, 32, 64) for letter in "ui")
_CARRIERS = tuple((name, kind.low, kind.high) for name, kind in _TYPES)
VIEWED = (8, 16, 32, 64)
"""The sizes in bits of the fields that an array of bytes can be viewed as."""


def carrier(low: int, high: int) -> str | None:
    """The smallest numpy integer type that holds the range (`u1` to `i8`: letter and bytes), None where none does."""
    return next((name for name, least, most in _CARRIERS if least <= low and high <= most), None)


def needs_low_bits_only(operator: Operator) -> bool:
    """Whether the low bits of the result need no more than as many low bits of the operands."""
    match operator:
        case "add" | "subtract" | "multiply" | "and" | "or" | "xor" | "shift_left":
            return True
        case "divide" | "shift_right" | "minimum" | "maximum" | "less" | "equal":
            return False
        case _:
            assert_never(operator)


def is_view(lane: Lane) -> TypeGuard[Field]:
    """Whether a lane is an element of a register or of loaded memory."""
    if not isinstance(lane, Field) or not is_bytes(lane.operand):
        return False
    return lane.element.bits in VIEWED and lane.lsb % lane.element.bits == 0


class Values(NamedTuple):
    """Constants: a number for each lane, or one that is the same in all."""

    numbers: tuple[int, ...]


class View(NamedTuple):
    """Fields that are elements of bytes: the number of the element for each lane, or one for all."""

    numbers: tuple[int, ...]
    element: Int


Node: TypeAlias = Values | View | Lane
"""What a rolled expression is: leaves that differ from lane to lane, or the node of one of the lanes for all."""


@dataclass(frozen=True, eq=False)
class Rolled:
    """One expression over several lanes, `low`..`high` its range in all of them.

    `width` is the number of lanes, 1 where all of them have the same value.  Of a `node` that is one of many only what
    it is counts: its own operands and range are those of one lane, the common ones are `args`, `low` and `high`.
    """

    node: Node
    args: tuple[Rolled, ...]
    low: int
    high: int
    width: int

    @property
    def number(self) -> int | None:
        """The number that all lanes are, if they are a constant."""
        return self.low if isinstance(self.node, Values) and self.width == 1 else None

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
        match first:
            case Constant():
                return self._constant([lane.low for lane in lanes])
            case Field() | Binary() | Pick() if all(isinstance(arg.node, Values) for arg in args):
                return self._constant([Evaluation(_Nothing()).value(lane) for lane in lanes])
            case Pick() if args[0].number is not None:  # the last item is for all other numbers
                return args[args[0].number + 1] if 0 <= args[0].number < len(args) - 2 else args[-1]
            case Field() if is_view(first):
                numbers = [lane.lsb // lane.element.bits for lane in lanes if isinstance(lane, Field)]
                return self._make(View(_distinct(numbers), first.element), args, low, high)
            case Read() | Load() | Field() | Saturate() | Pick() | Binary() | Floating():
                return self._make(first, args, low, high)
            case _:
                assert_never(first)

    def _constant(self, values: Sequence[int]) -> Rolled:
        return self._make(Values(_distinct(values)), (), min(values), max(values))

    def _make(self, node: Node, args: tuple[Rolled, ...], low: int, high: int) -> Rolled:
        own, what = (len(node.numbers), node) if isinstance(node, (Values, View)) else (1, head(node))
        key = (what, args, low, high)
        if key not in self._made:
            self._made[key] = Rolled(node, args, low, high, max([own, *(arg.width for arg in args)]))
        return self._made[key]

    def _kind(self, lane: Lane) -> int:
        """Equal for lanes that are alike.  Loads are alike only where they are the same one."""
        if lane not in self._kinds:
            kind: object
            if isinstance(lane, Constant):
                kind = Constant
            elif isinstance(lane, Load):
                kind = lane
            elif is_view(lane):
                kind = (self._kind(lane.operand), lane.element)
            else:
                kind = (head(lane), *map(self._kind, lane.args))
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
