"""Ways that an instruction can go: a branch, a selection, a comparison of lanes, a shift by a register, a product."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from typing import Final, Literal, assert_never, get_args

from isa.instruction import Instruction
from isa.lane import Binary, Constant, Field, Floating, Int, Lane, Load, Pick, Place, Read, Saturate, walk
from isa.operands import Extended, General, Immediate, Scalar, Shifted, Vector
from isa.parse import parse

Direction = Literal[
    "taken", "not taken", "true", "false", "shifted left", "shifted right", "negative first", "negative second"
]
WAYS: Final[tuple[Direction, ...]] = ("taken", "not taken", "true", "false")
"""Those of what the code decides; the others are of operands."""
Edge = Literal["equal", "one more", "one less"]
EDGES: Final[tuple[Edge, ...]] = get_args(Edge)
_OF_LANES: Final = ("cmeq", "cmge", "cmgt", "cmhi", "cmhs", "cmle", "cmlt")
_OF_FLAGS: Final = {"cmp": 1, "ccmp": 1, "subs": 1, "cmn": -1, "ccmn": -1, "adds": -1}
"""What compares by flags, and the sign that it gives to its second operand."""
_COMPARING: Final = frozenset(["cmeq", "cmge", "cmgt", "cmhi", "cmhs", "cmle", "cmlt", "cmtst", "cset", "csetm"])
_SHIFTS: Final = re.compile("[su]q?r?shl")


@cache
def direction_conditions(instruction: Instruction) -> Mapping[Direction, tuple[Lane, ...]]:
    """The ways that an instruction can go, each with the conditions of its lanes, 0 or 1, of which one must hold.

    `taken` is a conditional branch, `true` what a selection by flags takes where its condition holds, and a lane of a
    comparison.  A shift by a register goes to the left or to the right; of a product of two signed numbers the first
    or the second may be negative.
    """
    found = defaultdict[Direction, list[Lane]](list)
    mnemonic = instruction.text.partition(" ")[0]
    for write in instruction.writes:
        for lane in write.lanes:
            if mnemonic in _COMPARING:
                found["false"].append(lane.equals(0))
                found["true"].append(lane.equals(0).equals(0))
            for node in walk([lane]):
                match node:
                    case Pick(index, (_,), _) if write.place == Place("pc"):
                        found["taken"].append(index.equals(0).equals(0))
                        found["not taken"].append(index.equals(0))
                    case Pick(index, (_,), _) if _is_of_flags(index):
                        found["true"].append(index.equals(0).equals(0))
                        found["false"].append(index.equals(0))
                    case Pick(Binary("less", count, Constant()), (_,), _) if _SHIFTS.fullmatch(mnemonic):
                        found["shifted right"].append(count < 0)
                        found["shifted left"].append(count > 0)
                    case Binary("multiply", first, second) if first.value is None and second.value is None:
                        found["negative first"] += [first < 0] if first.low < 0 else []
                        found["negative second"] += [second < 0] if second.low < 0 else []
                    case Constant() | Read() | Load() | Field() | Saturate() | Pick() | Binary() | Floating():
                        pass  # it decides nothing
                    case _:
                        assert_never(node)
    return {name: tuple(dict.fromkeys(conditions)) for name, conditions in found.items() if conditions}


@cache
def edge_conditions(instruction: Instruction) -> Mapping[Edge, tuple[Lane, ...]]:
    """Where the first of two integers that are compared is the second, or one more, or one less, lane by lane.

    There alone a comparison with a constant that is one off gives something else, and one that takes equal numbers for
    the other side.
    """
    operands = parse(instruction.pattern.operand_text, instruction.registers)
    name = instruction.form.mnemonic
    match operands[1:] if name in ("subs", "adds") else operands:
        case (General() as one, General() | Shifted() | Extended() | Immediate() as two, *_) if name in _OF_FLAGS:
            element = one.type
            apart = [element.wrap(one.value - two.value * _OF_FLAGS[name])]
        case (_, Vector() | Scalar() as first, Vector() | Scalar() | Immediate() as second) if name in _OF_LANES:
            element = Int(first.bits, signed=False)
            both = zip(first.lanes(False, first.count), second.lanes(False, first.count), strict=True)
            apart = [element.wrap(a - b) for a, b in both]
        case _:
            return {}
    ends: Mapping[Edge, int] = {"equal": 0, "one more": 1, "one less": element.high}
    return {edge: tuple(lane.equals(end) for lane in apart) for edge, end in ends.items()}


def _is_of_flags(index: Lane) -> bool:
    return any(isinstance(node, Read) and node.place == Place("nzcv") for node in walk([index]))
