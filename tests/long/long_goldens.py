"""Conventions against the systems of docs/spec/requantization.md, in integers: 200,000 drawn numbers each."""

from __future__ import annotations

import pytest
from test_golden_one_rounding import IDS, wrong

from support.requantization_systems import CASES, Case

DRAWN = 200_000
SEED = 1804


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_convention_gives_what_its_system_computes(case: Case) -> None:
    assert wrong(case, SEED, DRAWN)[:3] == []
