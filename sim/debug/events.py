"""What is lost in a lane: conditions on what it was computed from, as expressions that every evaluator reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final, assert_never

from isa.lane import Binary, Constant, Field, Floating, Lane, Load, Pick, Read, Saturate, constant
from sim.check.operand_classes import class_conditions
from sim.prove.claim import any_of

EVENTS: Final = ("tie", "saturated", "wrapped", "rounded", "truncated")
"""All of them, in the order in which they are told."""
_CLASSES: Final = {"tie": "tie", "saturated low": "saturated", "saturated high": "saturated", "wrapped": "wrapped"}


@cache
def event_conditions(lane: Lane, is_vector: bool) -> Mapping[str, Lane]:
    """The events that a lane can meet at all, each with what is 1 where it does.

    That numbers of general registers wrap says nothing, as they may be negative; and minus a number wraps where that is
    the lowest, which is its own negation, whatever a lane without a sign makes of it.
    """
    found: dict[str, list[Lane]] = {}
    for operands, condition in class_conditions(lane).items():
        if operands in _CLASSES and (operands != "wrapped" or is_vector):
            found.setdefault(_CLASSES[operands], []).append(condition)
    if "wrapped" in found and (negated := _negated(lane)) is not None:
        found["wrapped"] = [lane.equals(negated) & negated.equals(0).equals(0)]
    for name, condition in _shifted_out(lane, constant(1)):
        found.setdefault(name, []).append(condition)
    return {name: any_of(found[name]) for name in EVENTS if name in found}


def _negated(lane: Lane) -> Lane | None:
    """What a lane is minus of; None where it is nothing's."""
    total = lane.operand if isinstance(lane, Field) else None
    if isinstance(total, Binary) and total.operator == "subtract" and isinstance(total.a, Constant) and not total.a.low:
        return total.b
    return None


def _shifted_out(lane: Lane, is_taken: Lane) -> Iterator[tuple[str, Lane]]:
    """The right shifts of an expression that lose bits, if what they are in is taken, by whether they round: whether
    half of what is divided by was added.
    """
    match lane:
        case Binary("shift_right", total, count):
            lost = total - ((total >> count) << count)
            adds: Lane = constant(0)
            if isinstance(total, Binary) and total.operator == "add":
                half = (constant(1) << count) >> 1
                adds = (total.a.equals(half) | total.b.equals(half)) & half.equals(0).equals(0)
                yield "rounded", is_taken & adds & lost.equals(half).equals(0)
            yield "truncated", is_taken & adds.equals(0) & lost.equals(0).equals(0)
        case Pick(index, items, otherwise):
            for number, item in enumerate(items):
                yield from _shifted_out(item, is_taken & index.equals(number))
            is_item = any_of(index.equals(number) for number in range(len(items)))
            yield from _shifted_out(otherwise, is_taken & is_item.equals(0))
            return
        case Binary() | Constant() | Read() | Load() | Field() | Saturate() | Floating():
            pass
        case _:
            assert_never(lane)
    for arg in lane.args:
        yield from _shifted_out(arg, is_taken)
