"""The search for inputs that tell two pipelines apart, and the rows that it saves computing twice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import sim
from sim.explanation.apart import AccumulatorSearch, Channel
from sim.explanation.candidates import Multiplier
from sim.explanation.limits import Limits
from sim.explanation.question import distinct_channels
from sim.explanation.rows import distinct_rows
from sim.explanation.rule import Candidate, Integers, Operands, RuleStep, fits_int32

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1
HALF = 1 << 30


@dataclass(frozen=True, eq=False)
class StepAt:
    """1 from an accumulator on, 0 below it."""

    first: int
    rises: bool = True
    name: str = "step"
    note: str = ""

    def run(self, operands: Operands) -> Integers:
        return (operands["value"] >= self.first).astype(np.int64)

    def steps(self, element: Mapping[str, int]) -> list[RuleStep]:
        return []


class StepInTheTail(StepAt):
    """The same in the last columns; 0 in the others."""

    def run(self, operands: Operands) -> Integers:
        return super().run(operands) * operands["in_tail"]


def candidate(first: int, rises: bool = True) -> Candidate:
    return Candidate(StepAt(first, rises), Limits(("saturated",), -128, 127, np.dtype(np.int8)))


@pytest.fixture
def search() -> AccumulatorSearch:
    """For a factor whose ties lie nowhere near the accumulators of these tests."""
    return AccumulatorSearch([Channel(0, Fraction(1, 1000), 0)], 0, np.dtype(np.int8))


@pytest.mark.parametrize("only", [123456789, -123456789, INT32_MAX - 5, INT32_MIN + 5])
def test_the_one_accumulator_of_2_to_the_32_that_differs_is_found(search: AccumulatorSearch, only: int) -> None:
    apart = search(candidate(only), candidate(only + 1))
    assert [(told.operands, told.first, told.other) for told in apart.directed] == [({"accumulator": only}, 1, 0)]


def test_equality_is_claimed_of_all_accumulators_where_thresholds_agree(search: AccumulatorSearch) -> None:
    apart = search(candidate(123456789), candidate(123456789))
    assert (apart.directed, apart.is_all) == ((), True)


def test_equality_is_not_claimed_of_what_may_fall_again(search: AccumulatorSearch) -> None:
    assert not search(candidate(123456789), candidate(123456790, rises=False)).is_all


def test_what_differs_in_a_tail_alone_is_shown_there(search: AccumulatorSearch) -> None:
    one, other = (Candidate(StepInTheTail(first), candidate(0).limits) for first in (5, 6))
    assert [told.operands for told in search(one, other).directed] == [{"accumulator": 5, "in the last columns": 1}]


@pytest.mark.parametrize("level", [0, 3, -2])
@pytest.mark.parametrize("beside", [Fraction(-1, 32), Fraction(1, 32)])
def test_ties_that_only_the_rounding_before_a_shift_by_4_makes_are_tried(level: int, beside: Fraction) -> None:
    """Half a unit of the product, which the shift makes a 32nd of the output's, beside its half numbers."""
    search = AccumulatorSearch([Channel(0, Fraction(1, 2**20), 4)], 0, np.dtype(np.int8))
    number = int((level + Fraction(1, 2) + beside) * 2**20)
    apart = search(candidate(number, rises=False), candidate(number + 1, rises=False))
    assert [told.operands for told in apart.directed] == [{"accumulator": number}]


EDGES = (-(2**15), 2**15 - 1, INT32_MIN, INT32_MIN + 1, INT32_MAX - 1, INT32_MAX)
AROUND = [sign * 2**bit + step for bit in (16, 23, 30) for sign in (1, -1) for step in (-1, 0, 1)]


@pytest.mark.parametrize("only", [*EDGES, *AROUND])
def test_small_accumulators_powers_of_two_and_ends_are_tried_of_what_may_fall_again(only: int) -> None:
    search = AccumulatorSearch([Channel(0, Fraction(0), 0)], 0, np.dtype(np.int8))
    apart = search(candidate(only, rises=False), candidate(only + 1, rises=False))
    assert [told.operands for told in apart.directed] == [{"accumulator": only}]


@pytest.mark.parametrize(("channels", "searched"), [(1, "65,630"), (2, "700"), (64, "22,400")])
def test_how_many_accumulators_were_tried_is_told(channels: int, searched: str) -> None:
    """Around 15 powers of both signs three each, and four ends, are 94; small ones 2^16, or 256 of each of several."""
    search = AccumulatorSearch([Channel(at, Fraction(0), 0) for at in range(channels)], 0, np.dtype(np.int8))
    apart = search(candidate(5, rises=False), candidate(5, rises=False))
    assert (apart.directed, apart.searched) == ((), f"{searched} accumulators (ties, edges, extremes, small ones)")


@pytest.mark.parametrize(
    ("zero_point", "level", "is_tried"),
    [
        (0, -131, False),
        (0, -130, True),
        (0, 40, True),
        (0, 127, True),
        (0, 128, False),
        (50, 127, True),
        (50, 128, False),
    ],
)
def test_ties_around_every_level_and_the_one_below_the_lowest_are_tried(
    zero_point: int, level: int, is_tried: bool
) -> None:
    """By a thousandth, and less the zero point."""
    search = AccumulatorSearch([Channel(0, Fraction(1, 1000), 0)], zero_point, np.dtype(np.int8))
    tie = 1000 * (level - zero_point) + 500
    apart = search(candidate(tie, rises=False), candidate(tie + 1, rises=False))
    assert bool(apart.directed) == is_tried


def test_rows_whose_key_takes_more_than_63_bits_stay_apart() -> None:
    wide = np.array([INT32_MIN, INT32_MAX, 0, 1], np.int32)
    operands = {"a": np.array([0, 1, INT32_MIN, INT32_MAX], np.int32), "b": wide, "c": wide}
    rows = distinct_rows(operands, np.array([5, 5, 5, 5]))
    assert len(rows) == 4


def test_equal_elements_are_computed_once_and_counted_all() -> None:
    found = sim.explain(np.full(10, 99, np.int8), accumulators=np.full(10, 4), multiplier=HALF, shift=1)
    assert (found.distinct, found.nearest[0].differing, found.nearest[0].of) == (1, 10, 10)


def test_bias_lies_along_the_axis_of_the_channels() -> None:
    accumulators = np.array([[0, 4], [0, 4]])
    output = np.array([[1, 2], [2, 3]], np.int8)  # (x + bias) / 4, bias 4 and 8
    found = sim.explain(output, accumulators=accumulators, bias=np.array([4, 8]), multiplier=HALF, shift=1, axis=0)
    assert "double_rounding" in found.names


def test_a_threshold_that_comes_later_in_the_first_candidate_is_found_too(search: AccumulatorSearch) -> None:
    apart = search(candidate(123456790), candidate(123456789))
    assert [(told.operands, told.first, told.other) for told in apart.directed] == [({"accumulator": 123456789}, 0, 1)]


def test_int16_of_many_channels_is_not_bisected() -> None:
    channels = [Channel(at, Fraction(1, 1000 + at), 0) for at in range(64)]
    step = Candidate(StepAt(123456789), Limits(("saturated",), -(2**15), 2**15 - 1, np.dtype(np.int16)))
    assert not AccumulatorSearch(channels, 0, np.dtype(np.int16))(step, step).is_all


@pytest.mark.parametrize(
    ("lower", "upper", "placed", "result", "event"),
    [
        (-128, 127, 200, 127, "saturates at 127"),
        (-128, 127, -200, -128, "saturates at -128"),
        (-128, 127, 127, 127, ""),
        (INT32_MIN, INT32_MAX, 200, -56, "keeps the low 8 bits only"),
        (0, 255, 200, -56, "keeps the low 8 bits only"),
    ],
)
def test_what_limits_do_to_a_number_is_named(lower: int, upper: int, placed: int, result: int, event: str) -> None:
    limits = Limits(("some",), lower, upper, np.dtype(np.int8))
    assert (limits.apply(np.array([placed])).tolist(), limits.event(placed, result)) == ([result], event)


@pytest.mark.parametrize(
    ("lower", "upper", "saturates"), [(-128, 127, True), (-129, 127, False), (-128, 128, False), (0, 6, True)]
)
def test_limits_saturate_where_no_bits_are_lost(lower: int, upper: int, saturates: bool) -> None:
    assert Limits(("some",), lower, upper, np.dtype(np.int8)).saturates is saturates


@pytest.mark.parametrize(
    ("number", "fits"), [(INT32_MIN, True), (INT32_MAX, True), (INT32_MIN - 1, False), (INT32_MAX + 1, False)]
)
def test_both_ends_of_int32_fit_it(number: int, fits: bool) -> None:
    assert fits_int32(number) is fits


def test_a_sample_of_rows_has_both_ends() -> None:
    rows = distinct_rows({"value": np.arange(10)}, np.arange(10))
    assert [rows.sample(size).yours.tolist() for size in (4, 10)] == [[0, 3, 6, 9], list(range(10))]


def test_a_channel_of_each_factor_and_shift_is_searched_with_its_right_shift() -> None:
    factor = Multiplier(np.array([HALF, HALF, HALF]), np.array([-3, 1, -3]))
    channels = distinct_channels(factor)
    assert [(one.factor, one.right_shift) for one in channels] == [(Fraction(1, 16), 3), (Fraction(1), -1)]


@pytest.mark.parametrize("level", [-130, -7, 7, 129])
def test_of_wide_outputs_ties_on_both_sides_of_zero_are_tried(level: int) -> None:
    """By 2^-13: no small accumulator, no power of two and no extreme is at these."""
    tie = (level << 13) + (1 << 12)
    search: Any = AccumulatorSearch([Channel(0, Fraction(1, 1 << 13), 13)], 0, np.dtype(np.int32))
    at_tie = SimpleNamespace(run=lambda operands: (operands["value"] == tie).astype(np.int64))
    nowhere = SimpleNamespace(run=lambda operands: np.zeros(len(operands["value"]), np.int64))
    assert {one.operands["accumulator"] for one in search(at_tie, nowhere).directed} == {tie}
