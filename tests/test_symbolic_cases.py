"""A question taken apart by a condition: its cases hold each input once, and say the same of it."""

from itertools import product

import pytest

from isa.evaluate.exact import Evaluation
from isa.lane import Int, Lane, Place, Read, constant, maximum, operands_first, select
from sim.prove.claim import ClaimInputs
from sim.symbolic.cases import QuestionCase, cases
from sim.symbolic.equality import Equality, decide_all
from sim.symbolic.simplify import simplified

X, Y = Read(Place("x"), -4, 3), Read(Place("y"), 0, 5)
S = Read(Place("s"), 0, 1)
ALWAYS = constant(1)
BY_LESS = select(X < -3, Y * 2, Y * X)
BY_EQUAL = select(Y.equals(2), X * X, select(Y.equals(0), X * 3, X * Y))
BY_ITSELF = select(S, X * Y, select(X < 0, X * X, maximum(X, Y)))


def of(one: Lane, other: Lane, given: Lane = ALWAYS) -> QuestionCase:
    return QuestionCase(simplified(one), simplified(other), simplified(given), {})


CASES = {
    "a comparison": of(BY_LESS, X + Y, Y < 4),
    "a number": of(BY_EQUAL, X + Y),
    "a condition, and one inside": of(BY_ITSELF, BY_LESS, X.equals(Y).equals(0)),
}


@pytest.mark.parametrize("name", CASES)
def test_every_input_is_in_one_case_and_has_the_same_numbers_there(name: str) -> None:
    whole = CASES[name]
    parts = cases(whole)
    assert len(parts) > 1
    for x, y, s in product(range(-4, 4), range(6), range(2)):
        evaluation = Evaluation(ClaimInputs({"x": x, "y": y, "s": s}))
        within = [part for part in parts if all(_is_in(lane, evaluation.value(_leaf(place))) for place, lane in
                                                part.narrowed.items()) and evaluation.value(part.given)]  # fmt: skip
        assert len(within) == evaluation.value(whole.given)
        for part in within:
            assert [evaluation.value(lane) for lane in part[:2]] == [evaluation.value(lane) for lane in whole[:2]]


def _leaf(place: Place) -> Lane:
    return {"x": X, "y": Y, "s": S}[place.file]


def _is_in(lane: Lane, number: int) -> bool:
    return lane.low <= number <= lane.high


def test_a_number_that_an_input_is_wherever_the_condition_holds_is_put_in() -> None:
    within = Int(1, signed=False).wrap(Y.equals(2) - (Y.equals(2) & (X < 0)) * 3 - (Y.equals(2) & S) * 3)
    (case,) = cases(of(X * Y, X * 2, within))
    assert case.one is case.other
    assert case.narrowed[Place("y")].value == 2
    assert not any(part.one is part.other for part in cases(of(X * Y, X * 2, within | (Y < 1))))


def test_a_number_that_an_input_is_not_is_not_chosen_by() -> None:
    (case,) = cases(of(select(X.equals(0), Y, X * Y), X * Y, X.equals(0).equals(0) & (Y < 4)))
    assert case.one is case.other
    assert not any(part.given.high and part.one is part.other for part in cases(of(BY_EQUAL, X * Y, Y.equals(2))))


def test_where_no_comparison_of_an_input_chooses_the_case_is_one() -> None:
    assert len(cases(of(select((X * Y) < 3, X, Y), X))) == 1


def test_what_the_condition_says_of_an_input_holds_in_the_case() -> None:
    (case,) = cases(of(X * Y + 1, X + Y, X.equals(-2) & (Y < 4) & Y.equals(1).equals(0)))
    ends = {place.file: (lane.low, lane.high) for place, lane in case.narrowed.items()}
    assert ends == {"x": (-2, -2), "y": (0, 3)}


def test_cases_of_cases_are_bounded() -> None:
    among: Lane = Y
    for number in range(-4, 4):
        among = select(X.equals(number), Y * (number + 9), among * X)
    assert len(cases(of(among, X))) == 4  # three conditions, each not met where the one before it is


def test_what_differs_in_one_case_only_is_refuted_there() -> None:
    m, a, b = (Read(Place(name), -(2**31), 2**31 - 1) for name in "mab")
    product_of_three = (a * b) * m
    differs = select(m < -(2**31) + 1, (b * a) * m + (a.equals(77_777)), product_of_three)
    found = []
    question = Equality(simplified(differs), simplified(product_of_three), ALWAYS)
    decide_all({"only there": question}, 20, 1, None, lambda _, answer: found.append(answer))
    assert found[0].finding.outcome == "counter-example"
    assert {place.file: value for place, value in found[0].values.items()} == {"m": -(2**31), "a": 77_777, "b": 0}


def test_leaves_of_a_case_have_one_range_each() -> None:
    for part in (part for case in CASES.values() for part in cases(case)):
        leaves = {(node.place, node.low, node.high) for node in operands_first(part[:3]) if isinstance(node, Read)}
        assert len({place for place, _, _ in leaves}) == len(leaves)
