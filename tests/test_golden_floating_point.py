"""sim.golden.floating_point against exact fractions."""

import doctest
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from isa.floating import F32
from sim.golden import floating_point
from sim.golden.floating_point import (
    Float32Array,
    away_by_half,
    fused_multiply_add,
    to_int32_ties_even,
    to_int32_ties_even_indefinite,
    to_int32_truncated,
)
from support.floating_reference import rounded

SEED = 754
EDGES = np.array([0.5, 1.5, 2.5, 0.49999997, 254.5, 2**24 + 1, 2**31 - 128, -(2**31)], np.float32)


def random_float32(rng: np.random.Generator, count: int) -> Float32Array:
    """Any finite bits."""
    values = rng.integers(0, 2**32, 2 * count, np.uint32).view(np.float32)
    return values[np.isfinite(values)][:count]


def near_ties(rng: np.random.Generator, count: int) -> tuple[Float32Array, Float32Array, Float32Array]:
    """Products of 24 bits by 8 that need more than float32 has, and addends far below them: the sums need more than
    float64 has, and lie next to a tie of float32."""
    a = rng.integers(2**23, 2**24, count).astype(np.float32)
    b = rng.integers(1, 2**8, count).astype(np.float32)
    c = rng.choice([-1, 0, 1], count) * 2.0 ** rng.integers(-80, 20, count)
    return a, b, c.astype(np.float32)


def exactly(a: np.float32, b: np.float32, c: np.float32) -> int:
    """The bits of a * b + c, exact and then rounded once."""
    return rounded(Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c)), F32, "even")[0]


def mismatches(a: Float32Array, b: Float32Array, c: Float32Array) -> list[tuple[float, ...]]:
    """Where the sum is not 0, whose sign fractions do not have."""
    bits = fused_multiply_add(a, b, c).view(np.uint32)
    cases = zip(a, b, c, bits, strict=True)
    return [
        (float(x), float(y), float(z)) for x, y, z, got in cases if got << 1 & 0xFFFFFFFF and exactly(x, y, z) != got
    ]


def test_docstring_examples_hold() -> None:
    result = doctest.testmod(floating_point)
    assert (result.failed, result.attempted > 0) == (0, True)


def test_a_fused_multiply_add_of_any_numbers_is_rounded_once() -> None:
    rng = np.random.default_rng(SEED)
    values = (random_float32(rng, 3000) for _ in range(3))
    assert mismatches(*values) == []


def test_a_fused_multiply_add_next_to_a_tie_is_rounded_once() -> None:
    assert mismatches(*near_ties(np.random.default_rng(SEED), 5000)) == []


@pytest.mark.parametrize("b", [1 + 2.0**-12, 1 + 3 * 2.0**-12])
def test_a_sum_less_than_units_of_float64_beside_a_tie_is_rounded_once(b: float) -> None:
    """Times 1 + 2^-12 these are halfway between two numbers of float32, the lower of which is even, or odd."""
    quarters = np.arange(-9, 10).astype(np.float32) * np.float32(2.0**-54)
    assert mismatches(np.full_like(quarters, 1 + 2.0**-12), np.full_like(quarters, b), quarters) == []


def test_rounding_to_float64_first_would_be_seen() -> None:
    """Else the test above could not fail."""
    a, b, c = near_ties(np.random.default_rng(SEED), 5000)
    twice = (a.astype(np.float64) * b + c).astype(np.float32)
    assert np.count_nonzero(twice != fused_multiply_add(a, b, c)) > 20


@pytest.mark.parametrize(
    ("a", "b", "c", "expected"),
    [
        (np.inf, 0.0, 1.0, np.nan),
        (np.inf, 1.0, -np.inf, np.nan),
        (3e38, 2.0, -np.inf, -np.inf),
        (3e38, 2.0, 0.0, np.inf),
        (3e38, 2.0, -3e38, 3e38),
        (1e-30, 1e-30, 0.0, 0.0),
        (-1e-30, 1e-30, 0.0, -0.0),
        (1.0, -0.0, -0.0, -0.0),
        (1.0, 1.0, -1.0, 0.0),
    ],
)
def test_fused_multiply_adds_at_the_edges(a: float, b: float, c: float, expected: float) -> None:
    result = fused_multiply_add(np.float32(a), np.float32(b), np.float32(c))
    assert str(result) == str(np.float32(expected))


@pytest.mark.parametrize("sign", [1, -1])
def test_ties_go_to_even(sign: int) -> None:
    expected = [sign * round(Fraction(float(value))) for value in EDGES]
    assert to_int32_ties_even(np.float32(sign) * EDGES).tolist() == [min(value, 2**31 - 1) for value in expected]


def test_numbers_outside_int32_saturate_on_arm() -> None:
    values = np.array([2**31, 3e9, np.inf, -3e9, -np.inf, np.nan], np.float32)
    highest, lowest = 2**31 - 1, -(2**31)
    assert to_int32_ties_even(values).tolist() == [highest, highest, highest, lowest, lowest, 0]


def test_numbers_outside_int32_become_the_lowest_on_x86() -> None:
    values = np.array([2**31, 3e9, np.inf, -3e9, -np.inf, np.nan, -(2**31), 2**31 - 128], np.float32)
    assert to_int32_ties_even_indefinite(values).tolist() == [-(2**31)] * 7 + [2**31 - 128]


def test_truncation_goes_towards_zero_and_saturates() -> None:
    values = np.array([1.75, -1.75, 3e9, -np.inf, np.nan], np.float32)
    assert to_int32_truncated(values).tolist() == [1, -1, 2**31 - 1, -(2**31), 0]


def test_a_half_added_to_a_number_just_below_a_half_makes_one() -> None:
    """docs/spec/known_differences.md row 10c."""
    assert to_int32_truncated(away_by_half(np.array([0.49999997], np.float32))).tolist() == [1]


def test_truncation_after_a_half_was_added_takes_ties_away_from_zero() -> None:
    values = np.array([0.5, -0.5, 1.5, -1.5, 2.5, 0.0], np.float32)
    assert to_int32_truncated(away_by_half(values)).tolist() == [1, -1, 2, -2, 3, 0]


@pytest.mark.parametrize("place", range(3))
def test_a_fused_multiply_add_takes_float32_alone(place: int) -> None:
    operands = [np.ones(2, np.float64 if at == place else np.float32) for at in range(3)]
    with pytest.raises(TypeError, match=f"{'abc'[place]} .*give float32"):
        fused_multiply_add(*operands)  # type: ignore[arg-type]  # float64 is what is refused


@pytest.mark.parametrize("values", [np.array([1.5]), 1.5, np.array([1])])
@pytest.mark.parametrize("function", [to_int32_ties_even, to_int32_truncated, away_by_half])
def test_other_types_are_not_cast(function: Callable[[object], object], values: object) -> None:
    with pytest.raises(TypeError, match="give float32"):
        function(values)
