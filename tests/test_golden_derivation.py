"""The derivations of a multiplier and a shift: the tables of docs/spec/quantized_multiplier.md, and exact fractions."""

import doctest
import math
from collections.abc import Callable
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
import pytest

from sim.golden import derivation
from sim.golden.derivation import (
    Derived,
    derive_acl_19_08,
    derive_acl_20_02,
    derive_acl_20_05_ignoring_epsilon,
    derive_armnn,
    derive_tflite,
    derive_tflite_single_rounding,
    derive_vela,
)
from sim.golden.scaling import double_rounding, shift_after_rounding_in_tail

P = 2**30
Derive = Callable[[float], Derived]

TFLITE = [
    (0.25, P, -1),
    (0.5 - 5e-9, 2147483627, -1),
    (0.5 - 1e-10, P, 0),
    (0.75, 1610612736, 0),
    (1 - 1e-9, 2147483646, 0),
    (1 + 1e-11, P, 1),
    (1.25, 1342177280, 1),
    (1.5, 1610612736, 1),
    (1.75, 1879048192, 1),
    (2 - 1e-9, 2147483647, 1),
    (2 - 1e-11, P, 2),
    (2.0**-31, P, -30),
    (2.0**-32, P, -31),
    (0.99 * 2.0**-32, 0, 0),
    (2.0**-33, 0, 0),
]


@pytest.mark.parametrize(("factor", "multiplier", "left_shift"), TFLITE)
def test_tflite_gives_its_own_published_table(factor: float, multiplier: int, left_shift: int) -> None:
    assert derive_tflite(factor) == (multiplier, left_shift)


@pytest.mark.parametrize(
    ("factor", "multiplier", "right_shift"),
    [(0.1, 1717986944, 3), (9e-6, 1266637440, 16), (0.99999994, 2147483520, 0), (2.0**-32, P, 31), (2.0**-33, P, 32)],
)
def test_armnn_gives_the_vectors_of_the_spec(factor: float, multiplier: int, right_shift: int) -> None:
    assert derive_armnn(factor) == (multiplier, -right_shift)


@pytest.mark.parametrize(
    ("values", "expected"),
    [(range(1, 9), [1, 1, 1, 1, 2, 2, 2, 2]), (range(-1, -9, -1), [0, -1, -1, -1, -1, -2, -2, -2])],
)
def test_products_by_armnn_of_a_quarter(values: range, expected: list[int]) -> None:
    assert double_rounding(np.array(values), *derive_armnn(0.25)).tolist() == expected


def test_largest_value_by_the_smallest_defined_factor() -> None:
    assert int(double_rounding(2**31 - 1, *derive_armnn(2.0**-32))) == 1


def by_fractions(factor: float) -> Derived:
    """The definition in exact numbers: 1/2 <= |f| < 1, f * 2^31 to nearest with ties away, 2^31 halved, -2^31 not."""
    exact = abs(Fraction(factor))
    e = exact.numerator.bit_length() - exact.denominator.bit_length()
    e += exact >= Fraction(2) ** e
    q = floor(exact / Fraction(2) ** e * 2**31 + Fraction(1, 2))
    q, e = (q // 2, e + 1) if q == 2**31 and factor > 0 else (q, e)
    return Derived(-q if factor < 0 else q, e)


def floats_between(lowest: int, highest: int) -> list[float]:
    """float32 factors of exponents lowest..highest - 1: random ones, powers of two and their neighbours."""
    rng = np.random.default_rng(2)
    random = np.ldexp(rng.uniform(0.5, 1, 2000).astype(np.float32), rng.integers(lowest, highest, 2000) + 1)
    powers = [np.float32(2.0**e) for e in range(lowest, highest)]
    return [float(f) for f in (*random, *powers, *(np.nextafter(p, np.float32(9)) for p in powers))]


def doubles_between(lowest: int, highest: int) -> list[float]:
    """As `floats_between`, with numbers around the ties of 2^-32 of their size, both signs."""
    rng = np.random.default_rng(3)
    ties = [(int(q) + 0.5) * 2.0 ** (int(e) - 31) for q in rng.integers(P, 2**31, 500) for e in (lowest, 0, highest)]
    near = [float(np.nextafter(tie, side)) for tie in ties for side in (0.0, 2.0**60)]
    return [sign * f for f in (*floats_between(lowest, highest), *ties, *near) for sign in (1, -1)]


@pytest.mark.parametrize(
    ("derive", "factors"),
    [
        (derive_armnn, floats_between(-148, 0)),
        (derive_acl_19_08, floats_between(-16, -1)),
        (derive_acl_20_02, floats_between(-16, 100)),
        (derive_acl_20_05_ignoring_epsilon, floats_between(-32, 100)),
        (derive_tflite, doubles_between(-31, 100)),
        (derive_tflite_single_rounding, doubles_between(-31, 28)),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_derivation_is_the_nearest_q31_multiplier(derive: Derive, factors: list[float]) -> None:
    assert [factor for factor in factors if derive(factor) != by_fractions(factor)] == []


def test_armnn_keeps_every_float_exactly_in_multiples_of_128() -> None:
    kept = [(Fraction(f), derive_armnn(f)) for f in floats_between(-120, 0)]
    assert [exact for exact, (q, e) in kept if q * Fraction(2) ** (e - 31) != exact or q % 128] == []


@pytest.mark.parametrize(
    ("derive", "factor", "expected"),
    [
        (derive_armnn, 0.0, (0, 0)),
        (derive_armnn, -0.0, (0, 0)),
        (derive_armnn, 2.0**-149, (P, -148)),
        (derive_acl_19_08, 1.0, (1, 0)),
        (derive_acl_19_08, 1.000009, (1, 0)),
        (derive_acl_19_08, 0.999991, (1, 0)),
        (derive_acl_19_08, 0.99999, (2147462144, 0)),
        (derive_acl_19_08, 9e-6, (0, 0)),
        (derive_acl_19_08, -9e-6, (0, 0)),
        (derive_acl_19_08, 1e-5, by_fractions(float(np.float32(1e-5)))),
        (derive_acl_19_08, -1e-5, by_fractions(float(np.float32(-1e-5)))),
        (derive_acl_20_02, -1e-5, by_fractions(float(np.float32(-1e-5)))),
        (derive_acl_20_02, 9e-6, (0, 0)),
        (derive_acl_20_02, 1.0, (P, 1)),
        (derive_acl_20_02, 0.99999994, (2147483520, 0)),
        (derive_acl_20_02, 1.5, (1610612736, 1)),
        (derive_acl_20_05_ignoring_epsilon, 2.0**-33, (0, 0)),
        (derive_acl_20_05_ignoring_epsilon, 0.0, (0, 0)),
        (derive_tflite, 0.0, (0, 0)),
        (derive_tflite, 2.0**40, (P, 41)),
        (derive_tflite, -(1 - 2.0**-32), (-(2**31), 0)),  # a tie: away from zero
        (derive_tflite, -(1 - 3 * 2.0**-33), (-(2**31) + 1, 0)),
        (derive_tflite, 1 - 2.0**-32, (P, 1)),
        (derive_tflite_single_rounding, 2.0**29, (P, 30)),
        (derive_tflite_single_rounding, 2.0**30, (2147483647, 30)),
    ],
)
def test_special_factor(derive: Derive, factor: float, expected: tuple[int, int]) -> None:
    assert derive(factor) == expected


def by_velas_definition(factor: float) -> tuple[int, int]:
    """Scale and right shift in doubles, as Vela's sources define them (docs/spec/requantization.md)."""
    significand, exponent = math.frexp(factor)
    moved = significand * (1 << 31)
    scale, shift = int(np.trunc(moved + (-0.5 if moved < 0 else 0.5))), 31 - exponent
    return (scale, shift) if 0 <= shift < 64 else (0, 16)


def test_vela_gives_what_its_definition_gives() -> None:
    factors = [*doubles_between(-33, 32), *(factor for factor, _, _ in TFLITE), -0.0, 2.0**31, 2.0**-34]
    made = {factor: (derive_vela(factor).multiplier, 31 - derive_vela(factor).left_shift) for factor in factors}
    wrong = [factor for factor, one in made.items() if one != by_velas_definition(factor)]
    assert wrong == []


def test_vela_is_tflite_where_neither_flushes() -> None:
    """2^31 counts as 2^30 with one more to the left."""
    for factor in doubles_between(-31, 30):
        ours, theirs = derive_vela(factor), derive_tflite(factor)
        assert Fraction(ours.multiplier) * Fraction(2) ** ours.left_shift == (
            Fraction(theirs.multiplier) * Fraction(2) ** theirs.left_shift
        )


def test_a_negative_factor_that_rounds_to_minus_2_31_keeps_its_exponent() -> None:
    """By hand: SQRDMULH(-255, -2^31) = 255, (255 + 2^8) >> 9 = 0; with (-2^30, -8) it would be 128 and 1."""
    derived = derive_tflite(-0.0019531249999964473)
    assert (derived, int(double_rounding(-255, *derived))) == ((-(2**31), -9), 0)


ROWS: dict[str, tuple[int, float, list[tuple[Derive, int]]]] = {
    "6": (100, 1.0, [(derive_acl_19_08, 0), (derive_tflite, 100), (derive_acl_20_02, 100)]),
    "6b": (10**7, 9e-6, [(derive_acl_19_08, 0), (derive_armnn, 90), (derive_tflite, 90)]),
    "6d": (25165824, 0.1, [(derive_acl_19_08, 2516583), (derive_armnn, 2516583), (derive_tflite, 2516582)]),
}


@pytest.mark.parametrize("row", ROWS)
def test_factor_gives_the_products_of_the_row(row: str) -> None:
    value, factor, results = ROWS[row]
    products = [(derive, int(double_rounding(value, *derive(factor)))) for derive, _ in results]
    assert products == results


def test_row_6c_flushed_by_tflite_and_wrapped_by_x86() -> None:
    flushed = double_rounding(1000, *derive_tflite(2.0**-33))
    wrapped = shift_after_rounding_in_tail(1000, *derive_armnn(2.0**-33))
    assert (int(flushed), int(wrapped)) == (0, 500)


def test_row_6d_multipliers_of_a_float_and_of_a_double() -> None:
    assert (derive_armnn(0.1).multiplier, derive_tflite(0.1).multiplier) == (1717986944, 1717986918)


@pytest.mark.parametrize(
    ("derive", "factor", "sentence"),
    [
        (derive_armnn, 1.0, "ArmNN takes 0 <= factor < 1"),
        (derive_armnn, 0.99999999, "ArmNN takes 0 <= factor < 1"),
        (derive_armnn, -1e-9, "ArmNN takes 0 <= factor < 1"),
        (derive_acl_19_08, 1.0000101, "no factor above 1"),
        (derive_acl_19_08, 1.00001, "refuses the left shift"),
        (derive_acl_19_08, -1.1e-5, "none below -1e-5"),
        (derive_acl_20_02, -1.1e-5, "none below -1e-5"),
        (derive_acl_20_05_ignoring_epsilon, -1e-9, "no negative factor"),
        (derive_acl_20_02, 1e39, "finite"),
    ],
)
def test_factor_that_the_system_refuses(derive: Derive, factor: float, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        derive(factor)


ALL: list[Derive] = [
    derive_armnn,
    derive_acl_19_08,
    derive_acl_20_02,
    derive_acl_20_05_ignoring_epsilon,
    derive_tflite,
    derive_tflite_single_rounding,
    derive_vela,
]


@pytest.mark.parametrize("derive", ALL)
@pytest.mark.parametrize("factor", [float("nan"), float("inf"), -float("inf")])
def test_factor_that_is_not_finite_is_refused(derive: Derive, factor: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        derive(factor)


@pytest.mark.parametrize("factor", [True, "0.5", None, 1j])
def test_what_is_no_real_number_is_refused(factor: Any) -> None:
    with pytest.raises(TypeError, match="real number"):
        derive_armnn(factor)


def test_every_example_runs() -> None:
    result = doctest.testmod(derivation)
    assert (result.failed, result.attempted) == (0, 7)
