"""The second writing of the conventions: equal to the golden on separating data, and related as the spec says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import product
from typing import Any

import pytest

from isa.evaluate.exact import Evaluation
from isa.lane import S32, Int, Lane
from sim.golden import fixed_point as golden
from sim.prove import conventions_as_lanes as convention
from sim.prove.claim import Claim, ClaimInputs, Finding, Range, input_lane, prove
from sim.prove.conventions import CONVENTION_CLAIMS

LOWEST, HIGHEST, HALF = S32.low, S32.high, 1 << 30
CORNERS = (LOWEST, LOWEST + 1, -HALF - 1, -HALF, -3, -2, -1, 0, 1, 2, 3, 5, 7984, HALF - 1, HALF, HIGHEST - 1, HIGHEST)
TIES = [
    sign * ((2 * k + 1) << n) + off for n in (0, 3, 14, 29) for k in (0, 1) for sign in (1, -1) for off in (-1, 0, 1)
]
NUMBERS = sorted({k for k in (*CORNERS, *TIES) if LOWEST <= k <= HIGHEST})
COUNTS = (0, 1, 2, 4, 15, 30, 31)
ANY_COUNTS = (*COUNTS, -1, -2, -31, -32, 32, 33, 127, 128, 129, 224, 225, 255, 256, 257, LOWEST, HIGHEST)
Writing = Callable[..., Lane]


def value(writing: Writing, kinds: Sequence[Int | Range], numbers: Sequence[int]) -> int:
    inputs = {f"i{k}": number for k, number in enumerate(numbers)}
    lanes = [input_lane(name, kind) for name, kind in zip(inputs, kinds, strict=True)]
    return Evaluation(ClaimInputs(inputs)).value(writing(*lanes))


COUNT = Range(0, 31)
PAIRS: dict[str, tuple[Writing, Callable[..., Any], Int | Range, Sequence[int]]] = {
    "doubling high": (convention.doubling_high, golden.doubling_high_multiply, S32, NUMBERS),
    "nudged": (convention.doubling_high_nudged, golden.doubling_high_multiply, S32, NUMBERS),
    "added": (convention.doubling_high_added, golden.doubling_high_multiply, S32, NUMBERS),
    "ties away": (convention.ties_away, golden.divide_by_power_of_two_ties_away, COUNT, COUNTS),
    "by mask": (convention.ties_away_by_mask, golden.divide_by_power_of_two_ties_away, COUNT, COUNTS),
    "ties up": (convention.ties_up, golden.divide_by_power_of_two_ties_up, COUNT, COUNTS),
    "floor": (convention.floor, golden.shift_right_floor, COUNT, COUNTS),
    "left wrapped": (convention.shift_left_wrapped, golden.shift_left_wrap, COUNT, COUNTS),
    "vector shift": (convention.vector_shift, golden.vector_shift, S32, ANY_COUNTS),
    "tail shift": (convention.tail_shift, golden.tail_shift, S32, ANY_COUNTS),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_a_convention_as_lanes_equals_the_golden(name: str) -> None:
    lanes, reference, kind, others = PAIRS[name]
    points = list(product(NUMBERS, others))
    assert [value(lanes, (S32, kind), p) for p in points] == [int(reference(*p)) for p in points]


@pytest.mark.parametrize("bounds", [(0, 255), (10, 210), (7, 7), (LOWEST, HIGHEST)])
def test_the_clamp_as_lanes_equals_the_golden(bounds: tuple[int, int]) -> None:
    limited = [value(lambda x: convention.clamp(x, *bounds), (S32,), (x,)) for x in NUMBERS]
    assert limited == [int(golden.clamp(x, *bounds)) for x in NUMBERS]


E_RIGHT, E_LEFT, POSITIVE = Range(-31, 0), Range(1, 7), Range(0, HIGHEST)
LISTED: list[tuple[str, Writing, tuple[Int | Range, ...], tuple[int, ...], int]] = [
    ("1 double", convention.double_rounding, (S32, POSITIVE, E_RIGHT), (1, HALF, -1), 1),
    ("1 single", convention.single_rounding, (S32, POSITIVE, E_RIGHT), (1, HALF, -1), 0),
    ("1b double", convention.double_rounding, (S32, POSITIVE, E_RIGHT), (7984, 1583594044, -9), 12),
    ("1b single", convention.single_rounding, (S32, POSITIVE, E_RIGHT), (7984, 1583594044, -9), 11),
    (
        "1b in two shifts",
        convention.single_rounding_in_two_shifts,
        (S32, POSITIVE, E_RIGHT),
        (7984, 1583594044, -9),
        11,
    ),
    ("2 away", convention.double_rounding, (S32, POSITIVE, E_RIGHT), (-2, HALF, -1), -1),
    ("5 saturated", convention.doubling_high, (S32, S32), (LOWEST, LOWEST), HIGHEST),
    ("5 not saturated", convention.doubling_high_not_saturated, (S32, S32), (LOWEST, LOWEST), LOWEST),
    ("8 wrapped", convention.double_rounding, (S32, POSITIVE, E_LEFT), (HALF, HALF, 1), -HALF),
    ("8 64-bit", convention.single_rounding, (S32, POSITIVE, E_LEFT), (HALF, HALF, 1), HALF),
    ("8 saturated", convention.shift_left_saturated, (S32, COUNT), (HALF, 1), HIGHEST),
    ("9c low byte", convention.low_byte, (S32,), (300,), 44),
    ("13 int32", convention.double_rounding, (S32, POSITIVE, E_RIGHT), (5, 1717986918, -3), 1),
    ("13 int64", convention.single_rounding_of_long, (S32, POSITIVE, E_RIGHT), (5, 1717986918, -3), 0),
    ("13 int32 single", convention.single_rounding, (S32, POSITIVE, E_RIGHT), (-65536, 1717986918, -3), -6554),
    ("13 int64 single", convention.single_rounding_of_long, (S32, POSITIVE, E_RIGHT), (-65536, 1717986918, -3), -6553),
    ("17 64-bit", convention.single_rounding, (S32, POSITIVE, Range(0, 7)), (HALF, HALF, 0), 1 << 29),
    ("17 vector", convention.single_rounding_by_vector, (S32, POSITIVE, Range(0, 7)), (HALF, HALF, 0), -(1 << 29)),
    ("neighbours.md integer scale", convention.scaled_by_integer, (S32, S32, S32), (LOWEST, -2, 1), HIGHEST - 1),
]


@pytest.mark.parametrize(("name", "writing", "kinds", "numbers", "listed"), LISTED, ids=[row[0] for row in LISTED])
def test_a_convention_gives_what_the_spec_lists(
    name: str, writing: Writing, kinds: tuple[Int | Range, ...], numbers: tuple[int, ...], listed: int
) -> None:
    assert value(writing, kinds, numbers) == listed, name


BY_NAME = {claim.name: claim for claim in CONVENTION_CLAIMS}


def test_claims_about_conventions_have_names_of_their_own() -> None:
    assert len(BY_NAME) == len(CONVENTION_CLAIMS)


@cache
def finding_of(name: str) -> Finding:
    return prove(BY_NAME[name], 120)


@pytest.mark.parametrize("claim", CONVENTION_CLAIMS, ids=lambda claim: claim.name)
def test_a_claim_about_conventions_holds(claim: Claim) -> None:
    finding = finding_of(claim.name)
    assert finding.supports(claim), finding


SMALLEST = {
    "plain SRSHL is not half away": {"x": -1, "n": 1},  # -0.5: 0 and -1
    "plain >> is not ties up": {"x": 1, "n": 1},  # docs/spec/known_differences.md row 3b: 0 and 1 of 0.5
    "double is not single rounding": {"x": 1, "q": HALF, "e": -1},  # docs/spec/known_differences.md row 1
    "without saturation is not SQRDMULH": {"x": LOWEST, "q": LOWEST},  # docs/spec/known_differences.md row 5
    "SQRDMLAH is not SQADD of SQRDMULH, s16": {"a": -1, "x": -32768, "y": -32768},
    "vector and tail RDP differ from 32 on": {"x": 1, "n": 32},  # quantize_down.md, lanes against tail
}


@pytest.mark.parametrize("name", SMALLEST)
def test_a_difference_is_shown_by_its_smallest_case(name: str) -> None:
    assert finding_of(name).values == SMALLEST[name]
