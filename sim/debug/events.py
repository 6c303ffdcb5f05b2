"""What is lost in a lane: conditions on what it was computed from, as expressions that every evaluator reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final, assert_never

from isa.lane import Binary, Constant, Field, Floating, Int, Lane, Load, Pick, Read, Saturate, constant, walk
from sim.check.operand_classes import class_conditions
from sim.prove.claim import any_of

EVENTS: Final = ("tie", "saturated", "wrapped", "wrapped as unsigned", "wrapped as signed", "rounded", "truncated")
"""All of them, in the order in which they are told."""
_CLASSES: Final = {"tie": "tie", "saturated low": "saturated", "saturated high": "saturated"}


@cache
def event_conditions(lane: Lane, is_vector: bool) -> Mapping[str, Lane]:
    """The events that a lane can meet at all, each with what is 1 where it does.

    That numbers of general registers wrap says nothing, as they may be negative.  No lane of a vector says whether it
    has a sign either: of a sum and a difference as wide as their operands it is told as which numbers they wrapped,
    "wrapped" alone as both.  Minus a number wraps where that is the lowest, which is its own negation, whatever a lane
    without a sign makes of it.
    """
    found: dict[str, list[Lane]] = {}
    for operands, condition in class_conditions(lane).items():
        if operands in _CLASSES:
            found.setdefault(_CLASSES[operands], []).append(condition)
    if is_vector:
        for name, condition in _wrapped(lane):
            found.setdefault(name, []).append(condition)
    for name, condition in _shifted_out(lane, constant(1)):
        found.setdefault(name, []).append(condition)
    return {name: any_of(found[name]) for name in EVENTS if name in found}


def _wrapped(lane: Lane) -> Iterator[tuple[str, Lane]]:
    """Where the low bits that were kept are not all of what was computed; of bits that were combined none is lost."""
    if (negated := _negated(lane)) is not None:
        yield "wrapped", lane.equals(negated) & negated.equals(0).equals(0)
        return
    for node in walk((lane,)):
        if isinstance(node, Field) and _is_computed(node.operand):
            wraps = node.equals(node.operand).equals(0)
            if (signed := _read_as_signed(node)) is None:
                yield "wrapped", wraps
            else:
                total, kept = signed
                wraps_signed = total.equals(kept).equals(0)
                yield "wrapped", wraps & wraps_signed
                yield "wrapped as unsigned", wraps & wraps_signed.equals(0)
                yield "wrapped as signed", wraps.equals(0) & wraps_signed


def _is_computed(lane: Lane) -> bool:
    match lane:
        case Binary("and" | "or" | "xor") | Binary("subtract", Constant(low=-1)):  # the last is NOT
            return False
    return not isinstance(lane, (Read, Load, Field))


def _read_as_signed(node: Field) -> tuple[Lane, Lane] | None:
    """A sum or a difference of numbers without a sign, as wide as they are, and its low bits, all read with a sign."""
    total, kind = node.operand, node.element
    if not isinstance(total, Binary) or total.operator not in ("add", "subtract") or node.lsb or node.low:
        return None
    if not all(isinstance(arg, Field) and (arg.low, arg.high) == (0, node.high) for arg in total.args):
        return None
    signed = Int(kind.bits, signed=True)
    a, b = (signed.wrap(arg) for arg in total.args)
    return (a + b if total.operator == "add" else a - b), signed.wrap(node)


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
