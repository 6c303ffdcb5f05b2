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
from sim.explanation import apart as apart_module
from sim.explanation.apart import AccumulatorSearch, Channel, PairSearch, differing_inputs
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


@dataclass(frozen=True, eq=False)
class StepFrom(StepAt):
    """From one level to the next."""

    level: int = 0

    def run(self, operands: Operands) -> Integers:
        return self.level + super().run(operands)


@pytest.mark.parametrize("level", [-128, 126])
def test_what_differs_at_the_lowest_or_the_highest_level_alone_is_found(search: AccumulatorSearch, level: int) -> None:
    limits = Limits(("saturated",), -128, 127, np.dtype(np.int8))
    one, other = (Candidate(StepFrom(first, level=level), limits) for first in (123456789, 123456790))
    apart = search(one, other)
    assert [(told.operands, told.first, told.other) for told in apart.directed] == [
        ({"accumulator": 123456789}, level + 1, level)
    ]


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


def arrays(**columns: list[int]) -> dict[str, Any]:
    return {name: np.array(column) for name, column in columns.items()}


def told(first: list[int], other: list[int], operands: dict[str, Any]) -> list[tuple[dict[str, int], int, int]]:
    found = differing_inputs(np.array(first), np.array(other), operands)
    return [(dict(one.operands), one.first, one.other) for one in found]


def test_the_smallest_accumulators_that_tell_two_apart_are_shown_three_of_them() -> None:
    one = arrays(value=[5, -3, 2, 9, 1, -7], channel=[0] * 6, in_tail=[0] * 6)
    assert told([10, 11, 12, 13, 14, 15], [0, 1, 2, 3, 14, 5], one) == [
        ({"accumulator": 2}, 12, 2), ({"accumulator": -3}, 11, 1), ({"accumulator": 5}, 10, 0),
    ]  # fmt: skip
    assert told([10] * 6, [10] * 6, one) == []


def test_those_in_a_tail_are_shown_only_where_no_others_tell() -> None:
    some = arrays(value=[5, -3, 2, 1], channel=[0, 0, 4, 0], in_tail=[0, 0, 1, 1])
    assert told([1, 1, 1, 1], [2, 1, 2, 2], some) == [({"accumulator": 5, "channel": 0}, 1, 2)]
    assert told([1, 1, 1, 1], [1, 1, 2, 2], some) == [
        ({"accumulator": 1, "channel": 0, "in the last columns": 1}, 1, 2),
        ({"accumulator": 2, "channel": 4, "in the last columns": 1}, 1, 2),
    ]


def test_of_two_operands_the_sum_of_their_magnitudes_counts_and_of_places_the_order() -> None:
    pairs = arrays(a=[1, -5, 3], b=[-9, 2, 3])
    assert [operands for operands, *_ in told([1, 1, 1], [2, 2, 2], pairs)] == [
        {"a": 3, "b": 3}, {"a": -5, "b": 2}, {"a": 1, "b": -9},
    ]  # fmt: skip
    assert [operands for operands, *_ in told([1, 1], [2, 2], arrays(sum=[-9, 8]))] == [{"sum": 8}, {"sum": -9}]
    assert [operands for operands, *_ in told([1, 1], [2, 2], arrays(place=[9, 2]))] == [{"place": 9}, {"place": 2}]


class OfPairs(StepAt):
    """1 for one pair."""

    def run(self, operands: Operands) -> Integers:
        found: Integers = ((operands["a"] == self.first) & (operands["b"] == -self.first)).astype(np.int64)
        return found


@pytest.mark.parametrize(
    ("dtype", "number", "searched", "is_all"),
    [
        ("int8", 127, "all 65,536 pairs", True), ("int8", -127, "all 65,536 pairs", True),
        ("uint8", 0, "all 65,536 pairs", True), ("int16", 0, "267,289 pairs", False),
    ],
)  # fmt: skip
def test_all_pairs_of_bytes_are_tried_and_some_of_wide_numbers(
    dtype: str, number: int, searched: str, is_all: bool
) -> None:
    """Of 16 bits every 127th number of 65,536, so 517 of each operand."""
    search, limits = PairSearch(np.dtype(dtype)), Limits(("saturated",), -128, 127, np.dtype(np.int8))
    one, other = Candidate(OfPairs(number), limits), Candidate(OfPairs(1 << 40), limits)
    same = search(other, other)
    assert (same.directed, same.searched, same.is_all) == ((), searched, is_all)
    if is_all:
        (found,) = search(one, other).directed
        assert (found.operands, found.first, found.other) == ({"a": number, "b": -number}, 1, 0)


class OfChannel(StepAt):
    """A step in channel 7 alone."""

    def run(self, operands: Operands) -> Integers:
        found: Integers = super().run(operands) * (operands["channel"] == 7)
        return found


def test_the_channel_is_told_in_which_two_part() -> None:
    limits = candidate(0).limits
    search = AccumulatorSearch([Channel(at, Fraction(1, 1000), 0) for at in (3, 7)], 0, np.dtype(np.int8))
    found = search(Candidate(OfChannel(123456789), limits), Candidate(OfChannel(123456790), limits))
    assert [dict(one.operands) for one in found.directed] == [{"accumulator": 123456789, "channel": 7}]
    assert found.searched == ""


@pytest.mark.parametrize(("channels", "is_all"), [(4, True), (5, False)])
def test_of_many_channels_the_first_are_searched_which_is_said(
    channels: int, is_all: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apart_module, "_CHANNELS", 4)
    search = AccumulatorSearch([Channel(at, Fraction(1, 1000 + at), 0) for at in range(channels)], 0, np.dtype(np.int8))
    same = search(candidate(123456789), candidate(123456789))
    scope = "" if is_all else " of the first 4 channels that have parameters of their own"
    assert (same.searched, same.is_all) == (f"all 2^32 accumulators{scope}", is_all)


@pytest.mark.parametrize(
    ("limit", "number", "is_all"),
    [
        ("_MOST_THRESHOLDS", 510, True),
        ("_MOST_THRESHOLDS", 509, False),
        ("_LEVELS", 256, True),
        ("_LEVELS", 255, False),
    ],
)
def test_all_thresholds_are_bisected_up_to_so_many(
    limit: str, number: int, is_all: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of bytes there are 255 in each of two channels."""
    monkeypatch.setattr(apart_module, limit, number)
    search = AccumulatorSearch([Channel(at, Fraction(1, 1000), 0) for at in range(2)], 0, np.dtype(np.int8))
    assert search(candidate(123456789), candidate(123456789)).is_all == is_all


def test_what_does_not_saturate_may_fall_again() -> None:
    search = AccumulatorSearch([Channel(0, Fraction(1, 1000), 0)], 0, np.dtype(np.int8))
    wrapping = Candidate(StepAt(123456789), Limits(("wrapped",), INT32_MIN, INT32_MAX, np.dtype(np.int8)))
    assert [search(*two).is_all for two in ((wrapping, candidate(0)), (candidate(0), candidate(0)))] == [False, True]
