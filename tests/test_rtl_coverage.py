"""The functional coverage of operators: its coverpoints, and what fails when they are unmet."""

from __future__ import annotations

import pytest

from rtl_models.benches.coverage.operator import OperatorCoverage
from rtl_models.benches.coverage.stimulus import columns, every_combination
from rtl_models.operators import OPERATORS

SQRDMULH = OPERATORS["sqrdmulh"]


def _after(*rows: tuple[int, int]) -> OperatorCoverage:
    coverage = OperatorCoverage(SQRDMULH, 8)
    coverage.look(columns(SQRDMULH.operand_types(8), rows))
    return coverage


def test_a_class_never_met_is_named() -> None:
    assert "least x greatest" in _after((1, 1)).unmet()


def test_all_pairs_of_bytes_leave_nothing_unmet() -> None:
    coverage = OperatorCoverage(SQRDMULH, 8)
    coverage.look(every_combination(SQRDMULH.operand_types(8)))
    assert coverage.unmet() == []


@pytest.mark.parametrize(
    ("row", "event"), [((-128, -128), "saturated high"), ((64, 1), "tie"), ((-64, 1), "tie"), ((64, 3), "tie")]
)
def test_an_event_is_counted_where_it_happens(row: tuple[int, int], event: str) -> None:
    assert _after(row, (2, 3)).events[event] == 1


def test_how_often_each_coverpoint_was_met_has_those_that_were_not() -> None:
    hits = _after((1, 1)).hits()
    assert (hits["1 x 1"], hits["least x greatest"], hits["saturated high"]) == (1, 0, 0)


def test_an_event_never_met_comes_with_operands_that_meet_it() -> None:
    assert "saturated high, such as with v0 = 0x80, v1 = 0x80" in _after((1, 1)).unmet()


def test_what_cannot_happen_is_no_coverpoint() -> None:
    """UMIN wraps its result, which always fits."""
    operator = OPERATORS["umin"]
    coverage = OperatorCoverage(operator, 8)
    coverage.look(every_combination(operator.operand_types(8)))
    assert (coverage.unmet(), list(coverage.hits())) == ([], list(coverage.operands))
