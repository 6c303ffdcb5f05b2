"""Every simplification rule keeps the number: shown for all values of small inputs, on what it replaced."""

from __future__ import annotations

from functools import cache

import pytest

from isa.lane import Binary, Floating, FloatOperation, Lane, Pick
from sim.symbolic import nodes
from sim.symbolic.nodes import Simplifier
from support.symbolic_rules import disagreement, replaced, rule_names


@cache
def found() -> dict[str, list[tuple[Lane, Lane]]]:
    """What each rule did with random expressions."""
    return replaced(seed=20, count=1500, depth=4, most=12)


@pytest.mark.parametrize("rule", sorted(rule_names()))
def test_a_rule_keeps_the_number_for_all_inputs(rule: str) -> None:
    assert found()[rule], "no expression meets this rule: add one to DIRECTED"
    assert [where for before, after in found()[rule] if (where := disagreement(before, after))] == []


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
