"""A question taken apart by a condition that chooses within it: what one branch of code makes, and what the other.

Code that branches on an input leaves a choice between two computations.  For each of them the inputs are fewer, and
forms that had nothing in common become alike: a multiplier that is one number is a shift.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final, NamedTuple

from isa.lane import Binary, Lane, Pick, Place, Read, operands_first
from sim.symbolic.nodes import compared_with, is_condition
from sim.symbolic.simplify import SIMPLIFIER, in_terms_of

MOST_SPLITS: Final = 3
"""Conditions inside of each other that a question is taken apart by: at most eight questions."""


class QuestionCase(NamedTuple):
    """Whether two numbers are equal for all inputs for which `given` is 1.

    `narrowed` has by their places the inputs of fewer values than they had: leaves, or the one number that is left.
    """

    one: Lane
    other: Lane
    given: Lane
    narrowed: Mapping[Place, Lane]


def cases(case: QuestionCase, splits: int = MOST_SPLITS) -> list[QuestionCase]:
    """Cases that together are the case, each of them simplified; the case alone where no condition chooses.

    The conditions are comparisons of an input with a number.
    """
    case = _with_what_is_given(case)
    condition = _condition(case) if splits else None
    if condition is None:
        return [case]
    return [part for holds in (True, False) for part in cases(_under(case, condition, holds), splits - 1)]


def _with_what_is_given(case: QuestionCase) -> QuestionCase:
    """The case with what its condition says of inputs: what is not so for no input need not be chosen by."""
    seen = set[Lane]()
    while (found := _narrower(case, seen)) is not None:
        case = found
    return case


def _narrower(case: QuestionCase, seen: set[Lane]) -> QuestionCase | None:
    """The case with one condition more put in that its own says holds, or does not; None where none is left."""
    for node in operands_first([case.given]):
        compared = compared_with(node)[0]
        if node in seen or not is_condition(node) or not isinstance(compared, Read):
            continue
        for holds in (True, False):
            if not _under(case, node, not holds).given.high and (found := _under(case, node, holds)).given.high:
                seen.add(node)
                return found
    return None


def _condition(case: QuestionCase) -> Lane | None:
    """The condition by which most is chosen."""
    choosing = Counter[Lane]()
    for node in operands_first([case.one, case.other]):
        if isinstance(node, Pick) and is_condition(node.index) and isinstance(compared_with(node.index)[0], Read):
            choosing[node.index] += 1
    return max(choosing, key=lambda condition: choosing[condition], default=None)


def _under(case: QuestionCase, condition: Lane, holds: bool) -> QuestionCase:
    """The case for the inputs for which a condition holds, or for those for which it does not."""
    leaf, number = compared_with(condition)
    assert isinstance(leaf, Read)
    low, high = leaf.low, leaf.high
    if isinstance(condition, Binary) and condition.operator == "less":
        low, high = (low, number - 1) if holds else (number, high)
    elif holds:
        low, high = number, number
    else:
        low, high = low + (low == number), high - (high == number)
    left = SIMPLIFIER.number(low) if low == high else SIMPLIFIER.made(Read(leaf.place, low, high))
    met = condition if holds else SIMPLIFIER.difference(SIMPLIFIER.number(1), condition)
    (met,) = in_terms_of([met], {leaf: left})
    known = {leaf: left, condition: SIMPLIFIER.number(int(holds))}
    one, other, given = in_terms_of([case.one, case.other, case.given], known)
    return QuestionCase(one, other, SIMPLIFIER.computed("and", given, met), {**case.narrowed, leaf.place: left})
