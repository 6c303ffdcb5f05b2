"""Every arithmetic row of docs/spec/known_differences.md: what each side gives, by the name of its convention.

The operands are those of the convention's family, in its order; None is a refusal.  Rows of kernels (bounds, shifts
that are not supported, the page) are asserted once more on the kernel's modes, in its own tests.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations

import numpy as np
import pytest

from sim.golden.addition import AddParameters, Quantization, add_base, add_neon_ties_away, add_page
from sim.golden.registry import families
from sim.golden.registry.conventions import CONVENTIONS
from sim.golden.registry.record import Family
from sim.golden.scaling import double_rounding, single_rounding
from sim.prove.separation import Result, result_of

P = 2**30
LOW, HIGH = -(2**31), 2**31 - 1
TENTH_AS_FLOAT, TENTH_AS_DOUBLE = 1717986944, 1717986918
HUNDREDTHS = (0.01, 0, 0.01, 0, 0.02, 0, False)
NOT_FUSED = (0.18, 249, 0.17, 29, 0.1, 100, False)  # of the examples of what is not fused
BYTE_ROUNDINGS = (
    "round_even_then_offset", "round_away_then_offset", "offset_then_round_even", "offset_then_truncate",
)  # fmt: skip
ROUNDED_ONCE = (
    "single_rounding", "single_rounding_ties_away", "single_rounding_floor", "single_rounding_truncated",
)  # fmt: skip
TO_INT8 = ("int8_round_even_then_offset", "int8_reciprocal_round_even_then_offset", "int8_offset_then_round_even")
WITH_REAL_BIAS = ("bias_divided", "bias_by_reciprocal", "bias_rounded", "bias_in_reals")
PYTORCH_TO_INT8 = (
    "int8_offset_then_round_even_fused", "int8_reciprocal_round_even_then_offset", "int8_offset_then_round_even",
)  # fmt: skip
ROWS = {
    "1", "1b", "1c", "2", "3", "3b", "4", "5", "6", "6b", "6c", "6d", "7", "8", "8b", "9", "9b", "9c", "10", "10b",
    "10c", "10d", "10e", "10f", "11", "12", "13", "14", "15", "16", "17", "18", "19",
    "20", "21", "22", "23", "24", "25", "26", "27", "28", "29", "30", "31",
}  # fmt: skip


@dataclass(frozen=True)
class Difference:
    """What conventions of one family give for the same operands."""

    row: str
    sides: tuple[str, ...]
    operands: tuple[float, ...]
    expected: tuple[Result, ...]

    @property
    def results(self) -> tuple[Result, ...]:
        return tuple(result_of(CONVENTIONS[side], self.operands) for side in self.sides)

    def swapped(self, one: int, other: int) -> Difference:
        """The same numbers said of each other's side."""
        sides = list(self.sides)
        sides[one], sides[other] = sides[other], sides[one]
        return replace(self, sides=tuple(sides))


DIFFERENCES = (
    Difference("1", ("double_rounding", "single_rounding"), (1, P, -1), (1, 0)),
    Difference("1b", ("double_rounding", "single_rounding"), (7984, 1583594044, -9), (12, 11)),
    Difference("2", ("double_rounding", "double_rounding_ties_up"), (-2, P, -1), (-1, 0)),
    Difference("3", ("double_rounding_ties_up", "double_rounding"), (-2, P, -1), (0, -1)),
    Difference("3b", ("double_rounding_floor", "double_rounding"), (1, P, -1), (0, 1)),
    Difference("4", ("integer_scale_floor", "integer_scale_ties_away"), (1, 0, 1, 1), (0, 1)),
    Difference("4", ("integer_scale_floor", "integer_scale_ties_away"), (3, 0, 1, 1), (1, 2)),
    Difference(
        "4",
        ("shift_right_floor", "divide_by_power_of_two_ties_away", "divide_by_power_of_two_ties_up"),
        (-1, 1),
        (-1, -1, 0),
    ),
    Difference("5", ("doubling_high_multiply", "doubling_high_multiply_unsaturated"), (LOW, LOW), (HIGH, LOW)),
    Difference(
        "6",
        ("product_acl_19_08", "product_tflite", "product_acl_20_02", "product_armnn"),
        (100, 1.0),
        (0, 100, 100, None),
    ),
    Difference("6b", ("product_acl_19_08", "product_armnn", "product_tflite"), (10**7, 9e-6), (0, 90, 90)),
    Difference(
        "6c", ("product_tflite", "product_armnn_count_mod_32", "product_armnn"), (1000, 2.0**-33), (0, 500, None)
    ),
    Difference(
        "6d",
        ("derive_acl_20_02", "derive_armnn", "derive_tflite"),
        (0.1,),
        ((TENTH_AS_FLOAT, -3), (TENTH_AS_FLOAT, -3), (TENTH_AS_DOUBLE, -3)),
    ),
    Difference(
        "6d", ("product_acl_20_02", "product_armnn", "product_tflite"), (25165824, 0.1), (2516583, 2516583, 2516582)
    ),
    Difference("7", ("shift_counts_right", "shift_counts_left"), (4, P, 1), (1, 4)),
    Difference(
        "8",
        ("double_rounding", "double_rounding_saturating_left", "single_rounding"),
        (2**30, P, 1),
        (-(2**30), 2**30, 2**30),
    ),
    Difference(
        "8b",
        ("shift_after_rounding_in_lanes", "shift_after_rounding_in_tail", "double_rounding"),
        (1, P, 1),
        (2, 0, 1),
    ),
    Difference(
        "9", ("bounded_unless_equal", "bounded_then_low_byte", "bounded_unless_whole_range"), (50, 0, 0), (50, 0, 0)
    ),
    Difference(
        "9b", ("bounded_unless_equal", "bounded_then_low_byte", "bounded_unless_whole_range"), (50, 7, 7), (50, 7, 7)
    ),
    Difference("9c", ("bounded_unless_equal", "bounded_then_low_byte"), (300, 0, 300), (None, 44)),
    Difference("10", ("add_base", "add_neon_ties_away"), (0, 1, *HUNDREDTHS), (0, 1)),
    Difference("10b", ("add_page", "add_base"), (2, 5, *HUNDREDTHS), (3, 4)),
    Difference("10c", ("add_neon_ties_away", "add_base"), (1, 0, 0.49999997, 0, 1.0, 0, 1.0, 0, False), (1, 0)),
    Difference("10d", ("add_base", "add_page"), (0, 0, 1.0, 10, 1.0, 10, 1.0, 20, True), (0, 20)),
    Difference("10e", ("add_base_x86", "add_neon_ties_away"), (255, 0, 1e8, 0, 1.0, 0, 1.0, 0, False), (0, 255)),
    Difference(
        "10f",
        ("add_base_x86", "add_avx2"),
        (145, 112, 0.06571889, 171, 0.06253845, 195, 0.10072092, 98, False),
        (30, 29),
    ),
    Difference("11", ("add_base", "add_tflite", "add_neon_ties_away"), (0, 1, *HUNDREDTHS), (0, 1, 1)),
    Difference("12", BYTE_ROUNDINGS, (0.5, 1.0, 0), (0, 1, 0, 0)),
    Difference("12", BYTE_ROUNDINGS, (0.5, 1.0, 1), (1, 2, 2, 1)),
    Difference("12", BYTE_ROUNDINGS, (1.5, 1.0, 1), (3, 3, 2, 2)),
    Difference("12", BYTE_ROUNDINGS, (0.75, 1.0, 0), (1, 1, 1, 0)),
    Difference("12", BYTE_ROUNDINGS, (-0.5, 1.0, 1), (1, 0, 0, 0)),
    Difference("13", ("double_rounding", "single_rounding_of_long"), (5, TENTH_AS_DOUBLE, -3), (1, 0)),
    Difference("13", ("single_rounding", "single_rounding_of_long"), (-65536, TENTH_AS_DOUBLE, -3), (-6554, -6553)),
    Difference("14", ("offsets_added", "zero_points_subtracted"), (5, 7, 2, 3), (70, 12)),
    Difference("15", ("column_sums_by_batch", "column_sums_of_first_batch"), (1, 2, 1), (2, 1)),
    Difference("16", ("product_armnn", "product_in_float"), (1, 0.25), (1, 0)),
    Difference("17", ("single_rounding", "single_rounding_by_vector"), (2**30, P, 0), (2**29, -(2**29))),
    Difference("18", ("completed_by_zeros", "completed_by_padding"), (5, 9, 17, 17), (0, 9)),
    Difference("19", ("doubling_high_multiply_unsaturated", "doubling_high_multiply"), (LOW, LOW), (LOW, HIGH)),
    Difference("20", ROUNDED_ONCE, (1, P, 0), (1, 1, 0, 0)),
    Difference("20", ROUNDED_ONCE, (-1, P, 0), (0, -1, -1, 0)),
    Difference(
        "21", ("single_rounding_of_long_narrowed", "single_rounding_of_long"), (2**30, HIGH, 1), (-65536, 2147418112)
    ),
    Difference(
        "22",
        ("single_rounding_by_vector", "single_rounding_by_vector_saturating_left", "single_rounding"),
        (HIGH, P, 0),
        (0, 2**29, 2**30),
    ),
    Difference(
        "23",
        ("scale_then_offset_floor", "scale_then_offset_floor_wrapped"),
        (2**30, 3, 1, 1),
        (1610612736, -536870912),
    ),
    Difference("24", ("product_xnnpack", "product_by_magic_number"), (2**22 + 1, 1.0), (4194305, 4194304)),
    Difference("24", ("product_xnnpack", "product_by_magic_number"), (-(2**22) - 1, 1.0), (-4194305, -4194306)),
    Difference(
        "25",
        ("round_even_then_offset", "reciprocal_round_even_then_offset"),
        (0.273939937, 0.00214854861, 0),
        (127, 128),
    ),
    Difference("26", TO_INT8, (0.5, 1.0, 1), (1, 1, 2)),
    Difference("26", TO_INT8, (0.273939937, 0.00214854861, -1), (126, 127, 126)),
    Difference("27", ("add_pytorch", "add_pytorch_tail"), (0, 1, 0.5, 0, 0.5, 0, 1.0, 1, False), (1, 2)),
    Difference("27", ("add_qnnpack", "add_xnnpack"), (0, 0, 0.5, 1, 0.5, 0, 1.0, 10, False), (9, 10)),
    Difference("28", WITH_REAL_BIAS, (0, 2.5, 3.0, 1.0, 5.0, 0), (0, 1, 1, 0)),
    Difference("28", WITH_REAL_BIAS, (2, 0.125, 0.5, 0.5, 1.0, 0), (1, 1, 0, 1)),
    Difference("29", ("bias_divided", "bias_in_reals"), (1, 0.0, 0.5, 1.0, 1.0, 1), (1, 2)),
    Difference("29", ("bias_in_reals", "bias_in_reals_of_products"), (3, 0.0, 3.0, 7.0, 2.0, 0), (32, 31)),
    Difference("30", PYTORCH_TO_INT8, (0.5, 1.0, 1), (2, 1, 2)),
    Difference("30", PYTORCH_TO_INT8, (-0.95, 0.1, 10), (1, 0, 0)),
    Difference("31", ("product_of_eight_bits", "product_xnnpack"), (130, 0.01), (2, 1)),
)
SWAPS = [
    (difference, one, other)
    for difference in DIFFERENCES
    for one, other in combinations(range(len(difference.sides)), 2)
    if difference.expected[one] != difference.expected[other]
]


@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda difference: f"row {difference.row}")
def test_both_sides_give_what_the_row_says(difference: Difference) -> None:
    assert difference.results == difference.expected


@pytest.mark.parametrize(
    ("difference", "one", "other"), SWAPS, ids=[f"row {d.row}, {d.sides[i]}, {d.sides[j]}" for d, i, j in SWAPS]
)
def test_the_row_fails_when_two_sides_are_swapped(difference: Difference, one: int, other: int) -> None:
    with pytest.raises(AssertionError):
        test_both_sides_give_what_the_row_says(difference.swapped(one, other))


def test_every_row_has_two_sides_that_differ_but_the_one_that_only_counts() -> None:
    assert {difference.row for difference, _, _ in SWAPS} == ROWS - {"1c"}


def test_every_side_of_a_row_declares_that_row() -> None:
    sides = {(difference.row, side) for difference in DIFFERENCES for side in difference.sides}
    assert {(row, side) for row, side in sides if row not in CONVENTIONS[side].rows} == set()


@pytest.mark.parametrize("family", [families.QUANTIZED_ADD, families.REAL_BIAS], ids=lambda family: family.name)
def test_parameters_that_are_tried_are_those_with_which_two_sides_are_known_to_differ(family: Family) -> None:
    known = {one.operands[family.swept :] for one in DIFFERENCES if CONVENTIONS[one.sides[0]].family is family}
    assert set(family.parameters) <= known | {NOT_FUSED}


# The rows that say how often two sides differ.


@pytest.mark.parametrize(
    ("left_shift", "percent"),
    [(0, 0.0), (-1, 24.9), (-4, 3.1), (-8, 0.19), (-12, 0.012)],
    ids=lambda number: str(number),
)
def test_row_1c_how_often_two_roundings_differ_from_one(left_shift: int, percent: float) -> None:
    """Of two million seeded values the share lies within four standard deviations of the row's, and its last digit."""
    share, count = _excesses(left_shift).astype(bool).mean(), 2_000_000
    deviation = 4 * (percent / 100 * (1 - percent / 100) / count) ** 0.5
    last_digit = 10.0 ** -len(str(percent).partition(".")[2]) / 100
    assert abs(share - percent / 100) <= deviation + last_digit


@pytest.mark.parametrize("left_shift", [-1, -4, -8, -12])
def test_row_1c_two_roundings_end_one_farther_from_zero_where_they_differ(left_shift: int) -> None:
    assert set(_excesses(left_shift).tolist()) == {0, 1}


@cache
def _excesses(left_shift: int) -> np.ndarray:
    """How much farther from zero two roundings end than one, for values of 20 bits and any multiplier."""
    rng = np.random.default_rng(25087)
    values = rng.integers(-(2**19), 2**19, 2_000_000)
    multipliers = rng.integers(P, 2**31, 2_000_000)
    double = double_rounding(values, multipliers, left_shift).astype(np.int64)
    return np.asarray(np.sign(values) * (double - single_rounding(values, multipliers, left_shift)))


def _all_bytes() -> tuple[np.ndarray, np.ndarray]:
    a, b = np.divmod(np.arange(65536), 256)
    return a, b


_SCALES = AddParameters(Quantization(0.01), Quantization(0.01), Quantization(0.02))


def test_row_10_neon_is_one_more_on_16384_of_65536_pairs() -> None:
    excess = add_neon_ties_away(*_all_bytes(), _SCALES).astype(int) - add_base(*_all_bytes(), _SCALES)
    assert np.bincount(excess).tolist() == [65536 - 16384, 16384]


def test_row_10b_page_and_base_differ_on_4072_pairs() -> None:
    assert np.count_nonzero(add_page(*_all_bytes(), _SCALES) != add_base(*_all_bytes(), _SCALES)) == 4072
