"""Every simplification rule keeps the number: shown for all values of small inputs, on what it replaced."""

from __future__ import annotations

from functools import cache

import pytest

from isa.evaluate.exact import Evaluation
from isa.floating import Rounding
from isa.lane import Binary, Floating, FloatOperation, Lane, Pick, Place, Read, walk
from sim.prove.claim import ClaimInputs
from sim.symbolic import nodes
from sim.symbolic.nodes import Simplifier
from support.symbolic_rules import cut_quotient, disagreement, replaced, rule_names


@cache
def found() -> dict[str, list[tuple[Lane, Lane]]]:
    """What each rule did with random expressions."""
    return replaced(seed=20, count=1500, depth=4, most=12)


@pytest.mark.parametrize("rule", sorted(rule_names()))
def test_a_rule_keeps_the_number_for_all_inputs(rule: str) -> None:
    assert found()[rule], "no expression meets this rule: add one to DIRECTED"
    assert [where for before, after in found()[rule] if (where := disagreement(before, after))] == []


QUOTIENT_LIMIT = 1 << 24
"""A numerator and a divisor that are so much together are integers of single precision, and so is what is between."""


@pytest.mark.parametrize("divisor", [1, 2, 3, 7, -7, 255, 4095, -4096, 4097, 65_535, 1 << 23])
def test_a_quotient_in_single_precision_that_is_cut_is_that_of_integers_next_to_every_power_of_two(
    divisor: int,
) -> None:
    most = QUOTIENT_LIMIT - abs(divisor)
    numerator = Read(Place("n"), -most, most)
    quotient = Simplifier().simplified(cut_quotient(numerator, divisor))
    assert not any(isinstance(node, Floating) for node in walk([quotient]))
    wholes = {(1 << bits) + by for bits in range(25) for by in range(-3, 4)} | {most // abs(divisor)}
    near = {whole * divisor + by for whole in wholes for by in (-1, 0, 1)}
    for n in (n for n in (*near, *(-n for n in near)) if abs(n) <= most):
        rounded = Evaluation(ClaimInputs({})).value(cut_quotient(n, divisor))
        assert rounded == Evaluation(ClaimInputs({"n": n})).value(quotient), n


@pytest.mark.parametrize("divisor", [3, 4097])
def test_a_quotient_of_larger_integers_stays_one_of_floating_point(divisor: int) -> None:
    most = QUOTIENT_LIMIT - divisor + 1
    quotient = Simplifier().simplified(cut_quotient(Read(Place("n"), -most, 0), divisor))
    assert any(isinstance(node, Floating) for node in walk([quotient]))


@pytest.mark.parametrize(("rounding", "fpcr"), [("even", 0), ("away", 0), ("up", 0), ("down", 0), ("zero", 1 << 22)])
def test_a_quotient_that_is_rounded_otherwise_stays_one_of_floating_point(rounding: Rounding, fpcr: int) -> None:
    quotient = Simplifier().simplified(cut_quotient(Read(Place("n"), -9, 9), 2, rounding, fpcr))
    assert any(isinstance(node, Floating) for node in walk([quotient]))


def test_a_quotient_of_much_larger_integers_is_rounded_up_to_a_whole_number() -> None:
    numerator = 8189 * 4097 - 1  # an even number below 2^25, which single precision holds
    assert Evaluation(ClaimInputs({})).value(cut_quotient(numerator, 4097)) == 8189 != numerator // 4097


def _one_item_for_all(s: Simplifier, node: Pick) -> Lane | None:
    return node.items[0] if len(node.items) == 1 else None


def _limit_off_by_one(s: Simplifier, node: Binary) -> Lane | None:
    match node:
        case Binary("less", Binary("shift_right", a, count), number):
            return s.computed("less", a, s.computed("shift_left", s.computed("add", number, 1), count))
    return None


def _difference_turned(s: Simplifier, node: Binary) -> Lane | None:
    return s.difference(node.b, node.a)


def _order_of_any_operands(s: Simplifier, node: Floating) -> Lane | None:
    match node:
        case Floating(FloatOperation("multiply"), (a, b)) if s.sorted((a, b))[0] is b:
            return s.again(node, [b, a, node.fpcr])
    return None


def _smaller_is_larger(s: Simplifier, node: Binary) -> Lane | None:
    return node.b if node.a.high <= node.b.high else None


@pytest.mark.parametrize(
    ("kind", "planted"),
    [
        ("pick", _one_item_for_all),
        ("less", _limit_off_by_one),
        ("subtract", _difference_turned),
        ("minimum", _smaller_is_larger),
        ("floating", _order_of_any_operands),
    ],
)
def test_a_planted_wrong_rule_is_noticed(kind: str, planted: nodes.Rule, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(nodes.RULES, kind, [planted, *nodes.RULES[kind]])
    met = replaced(seed=21, count=200, depth=3, most=12)[planted.__name__]
    assert any(disagreement(before, after) for before, after in met)
