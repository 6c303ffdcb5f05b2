"""The scaling rules: the numbers of docs/spec/known_differences.md, and each rule against exact fractions."""

import doctest
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from math import floor
from typing import Any

import numpy as np
import pytest

from sim.golden import scaling
from sim.golden.derivation import derive_tflite
from sim.golden.fixed_point import (
    INT32_MAX,
    INT32_MIN,
    doubling_high_multiply,
    doubling_high_multiply_unsaturated,
    shift_left_saturate,
)
from sim.golden.scaling import (
    double_rounding,
    double_rounding_floor,
    double_rounding_saturating_left,
    double_rounding_ties_up,
    double_rounding_unsaturated,
    integer_scale_floor,
    integer_scale_ties_away,
    scale_float_ties_even,
    shift_after_rounding_in_lanes,
    shift_after_rounding_in_tail,
    single_rounding,
    single_rounding_by_vector,
    single_rounding_narrowed,
    single_rounding_of_long,
)
from support.exact_rounding import float32_nearest, half_away, half_up, wrapped

P = 2**30
Function = Callable[..., np.ndarray[Any, Any]]


def saturated(value: int) -> int:
    return min(max(value, INT32_MIN), INT32_MAX)


def by_two_roundings(
    x: int, q: int, e: int, left: Callable[[int], int] = wrapped, fit: Callable[[int], int] = saturated,
    divide: Callable[[Fraction], int] = half_away,
) -> int:  # fmt: skip
    high = fit(half_up(Fraction(left(x * 2 ** max(e, 0)) * q, 2**31)))
    return divide(Fraction(high, 2 ** max(-e, 0)))


def by_one_rounding(x: int, q: int, e: int) -> int:
    return wrapped(half_up(Fraction(x * q) * Fraction(2) ** (e - 31)))


def by_narrowed(x: int, q: int, e: int) -> int:
    return floor(Fraction(wrapped(wrapped(floor(Fraction(x * q) * Fraction(2) ** (e - 30))) + 1), 2))


def by_vector(x: int, q: int, e: int) -> int:
    right = max(-e, 1)
    return half_up(Fraction(floor(Fraction(wrapped(x * 2 ** (e + right)) * q, 2**31)), 2**right))


def by_lanes(x: int, q: int, e: int) -> int:
    high = saturated(half_up(Fraction(x * q, 2**31)))
    return wrapped(high * 2**e) if e >= 0 else half_away(Fraction(high, 2**-e))


def by_tail(x: int, q: int, e: int) -> int:
    return half_away(Fraction(saturated(half_up(Fraction(x * q, 2**31))), 2 ** (-e % 32)))


EXACT: dict[Function, tuple[Callable[[int, int, int], int], range, bool]] = {
    double_rounding: (by_two_roundings, range(-31, 32), True),
    double_rounding_ties_up: (partial(by_two_roundings, divide=half_up), range(-31, 32), True),
    double_rounding_floor: (partial(by_two_roundings, divide=floor), range(-31, 1), True),
    double_rounding_saturating_left: (partial(by_two_roundings, left=saturated), range(-31, 32), True),
    double_rounding_unsaturated: (partial(by_two_roundings, fit=wrapped), range(-31, 32), True),
    single_rounding: (by_one_rounding, range(-31, 31), False),
    single_rounding_narrowed: (by_narrowed, range(-31, 31), True),
    single_rounding_by_vector: (by_vector, range(-31, 31), False),
    shift_after_rounding_in_lanes: (by_lanes, range(-31, 32), True),
    shift_after_rounding_in_tail: (by_tail, range(-148, 32), True),
}
"""Each rule's exact evaluation, the shifts that it defines, and whether its multiplier may be negative."""
ANY_SHIFT = (shift_after_rounding_in_lanes, shift_after_rounding_in_tail)


def separating_values(q: int, e: int, rng: np.random.Generator) -> list[int]:
    """Around the ties of both roundings, the edges of the left shift and of int32, of both signs; a few plain ones."""
    targets = [(2 * k + 1) << max(-e, 0) >> 1 for k in (-3, -2, -1, 0, 1, 2)]
    ties = [(2 * target + odd) * P // q for target in targets for odd in (0, 1)] if q else []
    edges = [sign * (1 << max(31 - e, 0)) >> k for sign in (1, -1) for k in (0, 1)]
    plain = [int(x) for x in rng.integers(INT32_MIN, INT32_MAX, 4)]
    near = [x + step for x in (*ties, *edges) for step in (-1, 0, 1)]
    return [saturated(x) for x in (*near, *plain, INT32_MIN, INT32_MAX, 0, 1, -1, -2)]


@pytest.mark.parametrize("function", EXACT, ids=lambda function: function.__name__)
def test_rule_is_its_exact_evaluation(function: Function) -> None:
    exact, shifts, signed = EXACT[function]
    rng = np.random.default_rng(6)
    multipliers = [P, P + 1, 1583594044, 1717986918, INT32_MAX, 1, 0, *((-P, INT32_MIN, -1) if signed else ())]
    wrong = []
    for e in shifts:
        for q in multipliers:
            values = separating_values(q, e, rng)
            got = function(np.array(values), q, e)
            wrong += [(x, q, e, int(y)) for x, y in zip(values, got, strict=True) if y != exact(x, q, e)]
    assert wrong == []


@pytest.mark.parametrize("e", range(-31, 8))
def test_long_rule_is_its_exact_evaluation(e: int) -> None:
    rng = np.random.default_rng(e + 31)
    values = [int(x) for x in rng.integers(-(2**47), 2**47, 50)] + [5, -65536, -(2**47), 2**47 - 1, 1 << 14, -(1 << 14)]
    for q, m in ((P, 2**14), (1717986918, 26214), (0x7FFEFFFF, 0x7FFF), (INT32_MAX, 0x7FFF), (0x7FFF, 0)):
        exact = [wrapped(half_up(Fraction(x * m) * Fraction(2) ** (e - 15))) for x in values]
        assert single_rounding_of_long(np.array(values), q, e).tolist() == exact


@pytest.mark.parametrize(
    ("function", "divide"),
    [(integer_scale_floor, floor), (integer_scale_ties_away, half_away)],
    ids=["floor", "ties away"],
)
def test_integer_scale_is_its_exact_evaluation(function: Function, divide: Callable[[Fraction], int]) -> None:
    rng = np.random.default_rng(4)
    values = [*range(-9, 10), INT32_MIN, INT32_MAX, *(int(x) for x in rng.integers(INT32_MIN, INT32_MAX, 40))]
    for offset in (-2, 0, 3, INT32_MIN, INT32_MAX):
        for multiplier in (1, 2, -3, 255, INT32_MIN):
            for shift in (0, 1, 2, 13, 31):
                sums = [wrapped(wrapped(x + offset) * multiplier) for x in values]
                exact = [divide(Fraction(total, 2**shift)) for total in sums]
                assert function(np.array(values), offset, multiplier, shift).tolist() == exact


@pytest.mark.parametrize("scale", [0.5, 0.25, 2.0**-32, 0.1, 255.99998, 1.0, 3.0, 0.33333334])
def test_float_scale_rounds_three_times_to_even(scale: float) -> None:
    scale32 = np.float32(scale)
    rng = np.random.default_rng(12)
    small = [k for n in range(-40, 41) for k in (n, int(n / scale), int((n + 0.5) / scale))]
    values = [saturated(v) for v in (*small, 2**24 + 1, 2**24 + 3, INT32_MIN, INT32_MAX, *rng.integers(-P, P, 60))]
    products = [float32_nearest(float32_nearest(Fraction(int(v))) * Fraction(float(scale32))) for v in values]
    assert scale_float_ties_even(np.array(values), scale32).tolist() == [saturated(round(p)) for p in products]


ROWS: dict[str, tuple[Function, tuple[int, ...], Function, tuple[int, ...], tuple[int, int]]] = {
    "1": (double_rounding, (1, P, -1), single_rounding, (1, P, -1), (1, 0)),
    "1b": (double_rounding, (7984, 1583594044, -9), single_rounding, (7984, 1583594044, -9), (12, 11)),
    "2": (double_rounding, (-2, P, -1), double_rounding_ties_up, (-2, P, -1), (-1, 0)),
    "3": (double_rounding_ties_up, (-2, P, -1), double_rounding, (-2, P, -1), (0, -1)),
    "3b": (double_rounding_floor, (1, P, -1), double_rounding, (1, P, -1), (0, 1)),
    "4 at 1": (integer_scale_floor, (1, 0, 1, 1), integer_scale_ties_away, (1, 0, 1, 1), (0, 1)),
    "4 at -1": (integer_scale_floor, (-1, 0, 1, 1), integer_scale_ties_away, (-1, 0, 1, 1), (-1, -1)),
    "4 at 3": (integer_scale_floor, (3, 0, 1, 1), integer_scale_ties_away, (3, 0, 1, 1), (1, 2)),
    "5": (
        doubling_high_multiply, (INT32_MIN, INT32_MIN), doubling_high_multiply_unsaturated, (INT32_MIN, INT32_MIN),
        (2147483647, -2147483648),
    ),
    "7": (double_rounding, (4, P, -1), double_rounding, (4, P, 1), (1, 4)),
    "8, wrap and saturate": (double_rounding, (P, P, 1), double_rounding_saturating_left, (P, P, 1), (-P, P)),
    "8, wrap and 64 bits": (double_rounding, (P, P, 1), single_rounding, (P, P, 1), (-P, P)),
    "8b, lanes and tail": (shift_after_rounding_in_lanes, (1, P, 1), shift_after_rounding_in_tail, (1, P, 1), (2, 0)),
    "8b, 20.02": (shift_after_rounding_in_lanes, (1, P, 1), double_rounding, (1, P, 1), (2, 1)),
    "13, single": (single_rounding, (-65536, 1717986918, -3), single_rounding_of_long, (-65536, 1717986918, -3),
                   (-6554, -6553)),
    "13, double": (double_rounding, (5, 1717986918, -3), single_rounding_of_long, (5, 1717986918, -3), (1, 0)),
    "17": (single_rounding, (P, P, 0), single_rounding_by_vector, (P, P, 0), (2**29, -(2**29))),
    "19": (
        double_rounding_unsaturated, (INT32_MIN, INT32_MIN, 0), double_rounding, (INT32_MIN, INT32_MIN, 0),
        (-(2**31), 2**31 - 1),
    ),
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS)
def test_two_sides_of_the_row_give_its_numbers(row: str) -> None:
    one, one_operands, other, other_operands, results = ROWS[row]
    assert (int(one(*one_operands)), int(other(*other_operands))) == results


def test_share_of_differences_between_one_and_two_roundings_is_that_of_row_1c() -> None:
    rng = np.random.default_rng(1)
    values, multipliers = rng.integers(-(2**20), 2**20, 10**6), rng.integers(P, 2**31, 10**6)
    gaps = {
        e: double_rounding(values, multipliers, e).astype(np.int64) - single_rounding(values, multipliers, e)
        for e in (0, -1, -4, -8, -12)
    }
    percent = [100 * float(np.mean(gap != 0)) for gap in gaps.values()]
    assert percent == pytest.approx([0, 24.9, 3.1, 0.19, 0.012], rel=0.2)
    assert max(int(np.abs(gap).max()) for gap in gaps.values()) == 1


@pytest.mark.parametrize(
    ("function", "lowest", "highest"),
    [
        *((function, shifts[0], shifts[-1]) for function, (_, shifts, _) in EXACT.items() if function not in ANY_SHIFT),
        (single_rounding_of_long, -31, 7),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_a_shift_next_to_those_of_the_rule_is_refused(function: Function, lowest: int, highest: int) -> None:
    for shift in (lowest - 1, highest + 1):
        with pytest.raises(ValueError, match=f"left_shift: {shift} is given, it must lie in"):
            function(1, P, shift)


def test_row_8_needs_a_shift_that_leaves_int32() -> None:
    assert shift_left_saturate(np.array([P, -P, -P - 1]), 1).tolist() == [INT32_MAX, INT32_MIN, INT32_MIN]


def test_published_products_of_tflite() -> None:
    products = [(10000, 0.00097656), (-10000, 0.00097656), (INT32_MIN, 0.00001), (INT32_MAX, 0.00001)]
    assert [int(double_rounding(x, *derive_tflite(m))) for x, m in products] == [10, -10, -21475, 21475]


def test_narrowed_single_rounding_loses_what_twice_the_result_does_not_hold() -> None:
    operands = (np.array([2**30 - 1, INT32_MAX]), INT32_MAX, 0)
    assert single_rounding(*operands).tolist() == [2**30 - 1, 2**31 - 2]
    assert single_rounding_narrowed(*operands).tolist() == [2**30 - 1, -2]


def test_every_example_runs() -> None:
    result = doctest.testmod(scaling)
    assert (result.failed, result.attempted) == (0, 14)


@pytest.mark.parametrize(
    ("function", "operands", "sentence"),
    [
        (single_rounding, (1, -1, 0), "multiplier goes down to -1"),
        (single_rounding_by_vector, (1, -1, 0), "multiplier goes down to -1"),
        (single_rounding_of_long, (2**47, P, 0), "must lie in 48 bits"),
        (integer_scale_floor, (1, 0, 1, 32), "must lie in 0..31"),
        (double_rounding, (2**31, P, 0), "must lie in int32"),
        (scale_float_ties_even, (1, np.float32(256)), "scale is 256.0"),
        (scale_float_ties_even, (1, np.float32(0)), "scale is 0.0"),
        (scale_float_ties_even, (1, np.nextafter(np.float32(2.0**-32), np.float32(0))), "scale is 2.32830"),
        (scale_float_ties_even, (1, np.float32("nan")), "scale is nan"),
    ],
)
def test_number_outside_of_the_rule_is_refused(function: Function, operands: tuple[Any, ...], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        function(*operands)


@pytest.mark.parametrize(
    ("function", "operands"),
    [
        (double_rounding, (1.0, P, 0)),
        (double_rounding, (1, True, 0)),
        (single_rounding_of_long, (1.0, P, 0)),
        (scale_float_ties_even, (1, 0.5)),
    ],
)
def test_operand_of_another_dtype_is_refused(function: Function, operands: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError):
        function(*operands)


def test_operands_broadcast_one_multiplier_a_column() -> None:
    values = np.array([[100, 100], [-100, -100]], np.int32)
    scaled = double_rounding(values, np.array([P, P + (P >> 1)]), np.array([0, 1]))
    assert scaled.tolist() == [[50, 150], [-50, -150]]
