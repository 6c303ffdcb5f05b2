"""sim.golden.addition against the numbers of docs/spec/quantized_add.md sections 2 and 3.

And of docs/spec/known_differences.md rows 10, 10b, 10c, 10d, 10e, 10f and 11.
"""

import doctest
from collections.abc import Callable
from fractions import Fraction
from math import floor

import numpy as np
import pytest

from isa.floating import F32
from sim.golden import addition
from sim.golden.addition import (
    Activation,
    AddParameters,
    Folded,
    Quantization,
    Uint8Array,
    add_avx2,
    add_base,
    add_base_x86,
    add_neon_ties_away,
    add_neon_ties_away_unfused,
    add_neon_ties_even,
    add_neon_ties_even_unfused,
    add_page,
    add_tflite,
    add_tflite_single_rounding,
    add_xnnpack,
    fold,
    fold_contracted,
    larger,
    relu_if,
    smaller,
    sum_a_first_fused,
    sum_a_first_unfused,
    sum_b_first_fused,
    sum_b_first_in_double,
)
from sim.golden.derivation import derive_tflite
from sim.golden.integer_addition import rescaling_of
from support.floating_reference import rounded

Add = Callable[..., Uint8Array]
A, B = np.meshgrid(np.arange(256), np.arange(256), indexing="ij")
"""Every pair of bytes."""
ON_X86 = (add_base_x86, add_avx2)
ON_ARM = (
    add_base, add_neon_ties_away, add_neon_ties_away_unfused, add_neon_ties_even, add_neon_ties_even_unfused,
)  # fmt: skip
EVERY = pytest.mark.parametrize(
    "add",
    [*ON_X86, *ON_ARM, add_page, add_tflite, add_tflite_single_rounding, add_xnnpack],
    ids=lambda add: add.__name__,
)


def parameters(*scales: float, zeros: tuple[int, int, int] = (0, 0, 0), relu: bool = False) -> AddParameters:
    a, b, output = (Quantization(scale, zero) for scale, zero in zip(scales, zeros, strict=True))
    return AddParameters(a, b, output, relu_if(relu))


CENTS = parameters(0.01, 0.01, 0.02)
UPSTREAM = parameters(0.010, 0.020, 0.015, zeros=(47, 30, 38))


def byte(add: Add, a: int, b: int, given: AddParameters) -> int:
    return int(add(a, b, given))


def pairs_apart(one: Add, other: Add, given: AddParameters) -> int:
    """How many of the 65536 pairs of bytes two additions tell apart."""
    return int(np.count_nonzero(one(A, B, given) != other(A, B, given)))


def test_docstring_examples_hold() -> None:
    result = doctest.testmod(addition)
    assert (result.failed, result.attempted > 0) == (0, True)


def test_row_10_the_smallest_tie() -> None:
    assert [byte(add, 0, 1, CENTS) for add in (add_base, add_neon_ties_away, add_neon_ties_even)] == [0, 1, 0]


def test_row_10_a_quarter_of_all_pairs_differ() -> None:
    assert pairs_apart(add_base, add_neon_ties_away, CENTS) == 16384


def test_row_10_the_test_scales_of_upstream_cannot_see_it() -> None:
    assert pairs_apart(add_base, add_neon_ties_away, UPSTREAM) == 0


def test_row_10b_the_page_and_base_differ_at_a_2_b_5() -> None:
    assert (byte(add_page, 2, 5, CENTS), byte(add_base, 2, 5, CENTS)) == (3, 4)


def test_row_10b_4072_pairs_differ() -> None:
    assert pairs_apart(add_page, add_base, CENTS) == 4072


def test_row_10c_just_below_a_half() -> None:
    below = parameters(0.49999997, 1.0, 1.0)
    assert (byte(add_neon_ties_away, 1, 0, below), byte(add_neon_ties_even, 1, 0, below)) == (1, 0)


@pytest.mark.parametrize("add", [*ON_X86, *ON_ARM], ids=lambda add: add.__name__)
def test_row_10d_the_library_ignores_relu(add: Add) -> None:
    assert byte(add, 0, 0, parameters(1, 1, 1, zeros=(10, 10, 20), relu=True)) == 0


def test_row_10d_the_page_applies_relu() -> None:
    assert byte(add_page, 0, 0, parameters(1, 1, 1, zeros=(10, 10, 20), relu=True)) == 20


@pytest.mark.parametrize(("add", "expected"), [(add, 0) for add in ON_X86] + [(add, 255) for add in ON_ARM])
def test_row_10e_outside_int32(add: Add, expected: int) -> None:
    assert byte(add, 255, 0, parameters(1e8, 1.0, 1.0)) == expected


def test_row_10f_the_constant_is_contracted_under_mfma() -> None:
    """The row prints six digits; of the float32 scales that print so, these have the row's result."""
    given = parameters(0.06571889, 0.06253845, 0.10072092, zeros=(171, 195, 98))
    assert (byte(add_base_x86, 145, 112, given), byte(add_avx2, 145, 112, given)) == (30, 29)


def test_row_10f_is_explained_by_the_constant_alone() -> None:
    given = parameters(0.06571889, 0.06253845, 0.10072092, zeros=(171, 195, 98))
    uncontracted = sum_b_first_fused(145, 112, fold(given))[1]
    assert round(float(uncontracted)) == 30


def test_row_11_the_integer_add_rounds_the_tie_away_as_neon_does() -> None:
    adds = (add_base, add_tflite, add_tflite_single_rounding, add_neon_ties_away)
    assert [byte(add, 0, 1, CENTS) for add in adds] == [0, 1, 1, 1]


def test_the_integer_add_takes_negative_ties_away_only_with_two_roundings() -> None:
    """(0 - 3) / 2 + 10 is 8.5 above a tie at -1.5: away gives 8, up gives 9."""
    given = parameters(0.01, 0.01, 0.02, zeros=(3, 0, 10))
    assert (byte(add_tflite, 0, 0, given), byte(add_tflite_single_rounding, 0, 0, given)) == (8, 9)


def test_xnnpack_rounds_the_sum_once_with_ties_up() -> None:
    """Scales of a half and a quarter are exact in its multipliers: floor(a/2 + b/4 + 1/2) of the centred operands."""
    given = parameters(0.5, 0.25, 1.0, zeros=(101, 90, 128))
    exact = np.floor((A - 101) / 2 + (B - 90) / 4 + 0.5)
    assert np.array_equal(add_xnnpack(A, B, given), np.clip(exact + 128, 0, 255).astype(np.uint8))


@EVERY
def test_every_addition_saturates_at_both_ends_of_a_byte(add: Add) -> None:
    """Scales of 1 and no zero points but 3 of b's: a + b - 3."""
    given = parameters(1.0, 1.0, 1.0, zeros=(0, 3, 0))
    a, b = np.array([0, 0, 1, 100, 200, 200, 255]), np.array([0, 3, 3, 157, 58, 59, 255])
    assert add(a, b, given).tolist() == [
        0, 0, 1, 254, 255, 255, 255,
    ]  # fmt: skip


def test_xnnpack_takes_no_scale_far_from_the_output_s() -> None:
    for scale in (2.0**-11, 2.0**8):
        with pytest.raises(ValueError, match=r"of the output's: XNNPACK takes 2\^-10 up to 2\^8"):
            add_xnnpack(0, 0, parameters(scale, scale / 2, 1.0))


@pytest.mark.parametrize("add", [add_tflite, add_tflite_single_rounding, add_xnnpack])
def test_the_integer_add_is_within_one_of_the_exact_sum(add: Add) -> None:
    given = parameters(0.3, 0.7, 1.1, zeros=(100, 90, 128))
    exact = [
        (Fraction(float(given.a.scale)) * (a - 100) + Fraction(float(given.b.scale)) * (b - 90))
        / Fraction(float(given.output.scale)) + 128
        for a in range(0, 256, 5) for b in range(0, 256, 5)
    ]  # fmt: skip
    nearest = np.clip([floor(value + Fraction(1, 2)) for value in exact], 0, 255)
    assert np.abs(add(A[::5, ::5], B[::5, ::5], given).astype(int).ravel() - nearest).max() <= 1


def test_both_operands_of_the_integer_add_are_rescaled_to_half_of_the_larger_scale_or_less() -> None:
    half, quarter, whole = (derive_tflite(factor) for factor in (0.5, 0.25, 2.0**-20))
    assert rescaling_of((3.0, 1.5, 6.0), 20, derive_tflite) == (half, quarter, whole)
    assert rescaling_of((1.5, 3.0, 6.0), 20, derive_tflite) == (quarter, half, whole)


def test_of_two_zeros_the_second_is_the_larger_and_the_smaller() -> None:
    zeros = np.array([0.0, -0.0], np.float32)
    for choose in (larger, smaller):
        assert np.signbit(choose(zeros, zeros[::-1])).tolist() == [True, False]


def test_an_activation_has_two_parameters_at_most() -> None:
    assert Activation("ReLU", (1, 2)).parameters == (1, 2)
    with pytest.raises(ValueError, match="there are 3 parameters of ReLU: give at most 2"):
        Activation("ReLU", (1, 2, 3))


def test_relu_of_the_integer_add_is_the_lower_bound() -> None:
    given = parameters(1, 1, 1, zeros=(10, 10, 20), relu=True)
    assert [byte(add_tflite, a, 10, given) for a in (0, 10, 11)] == [20, 20, 21]


def rounded_once(exact: Fraction) -> np.float32:
    return np.uint32(rounded(exact, F32, "even")[0] if exact else 0).view(np.float32)


def exact_steps(first: Fraction, product: Fraction, addend: Fraction, fused: bool) -> tuple[np.float32, np.float32]:
    """Two multiply-adds, the products rounded where they are not fused."""
    start = rounded_once(first + addend) if fused else rounded_once(Fraction(float(rounded_once(first))) + addend)
    kept = product if fused else Fraction(float(rounded_once(product)))
    return start, rounded_once(Fraction(float(start)) + kept)


@pytest.mark.parametrize(
    ("add", "a_first", "fused"),
    [(sum_a_first_fused, True, True), (sum_a_first_unfused, True, False), (sum_b_first_fused, False, True)],
)
def test_the_sums_equal_exact_steps_rounded_once_each(
    add: Callable[..., tuple[np.float32, np.float32]], a_first: bool, fused: bool
) -> None:
    rng = np.random.default_rng(10)
    folded = Folded(*rng.normal(0, 1, 3).astype(np.float32))
    found = []
    for a, b in rng.integers(0, 256, (300, 2)):
        products = [int(a) * Fraction(float(folded.a_factor)), int(b) * Fraction(float(folded.b_factor))]
        first, second = products if a_first else products[::-1]
        found.append(exact_steps(first, second, Fraction(float(folded.constant)), fused) == add(int(a), int(b), folded))
    assert all(found)


def test_base_loses_in_float64_what_a_fused_sum_keeps() -> None:
    """97 * factor is half-way between 0.5 and its neighbour above; a tiny constant decides, if it was not lost."""
    half_way = (Fraction(1, 2) + Fraction(1, 2**25)) / 97
    folded = Folded(np.float32(0), np.float32(float(half_way)), np.float32(2.0**-80))
    assert Fraction(float(folded.b_factor)) == half_way
    assert [float(add(0, 97, folded)[1]) for add in (sum_b_first_in_double, sum_b_first_fused)] == [0.5, 0.5 + 2.0**-24]


def test_the_constant_is_made_in_three_rounded_steps() -> None:
    given = parameters(0.06571889, 0.06253845, 0.10072092, zeros=(171, 195, 98))
    folded = fold(given)
    products = [
        rounded_once(Fraction(float(factor)) * zero)
        for factor, zero in ((folded.a_factor, 171), (folded.b_factor, 195))
    ]
    total = rounded_once(sum((Fraction(float(product)) for product in products), Fraction(0)))
    assert folded.constant == rounded_once(98 - Fraction(float(total)))


def test_the_contracted_constant_keeps_the_first_product() -> None:
    given = parameters(0.06571889, 0.06253845, 0.10072092, zeros=(171, 195, 98))
    folded = fold_contracted(given)
    second = rounded_once(Fraction(float(folded.b_factor)) * 195)
    total = rounded_once(Fraction(float(folded.a_factor)) * 171 + Fraction(float(second)))
    assert folded.constant == rounded_once(98 - Fraction(float(total)))


@pytest.mark.parametrize("scale", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("add", [*ON_X86, *ON_ARM], ids=lambda add: add.__name__)
def test_a_scale_that_is_not_finite_gives_0(add: Add, scale: float) -> None:
    """Infinity times the zero point 0, or less the infinity in t, is NaN, and NaN gives 0 on every backend."""
    assert not add(A, B, parameters(scale, 1.0, 1.0, zeros=(0, 0, 9))).any()


@EVERY
@pytest.mark.parametrize("value", [-1, 256])
def test_operands_outside_of_a_byte_are_refused(add: Add, value: int) -> None:
    with pytest.raises(ValueError, match=rf"{value} is given, every number must lie in 0\.\.255"):
        add(value, 0, CENTS)


@EVERY
def test_operands_of_other_types_are_refused(add: Add) -> None:
    with pytest.raises(TypeError, match="integer array"):
        add(np.array([1.0]), np.array([1]), CENTS)


def test_relu_keeps_nan_and_the_sign_of_zero() -> None:
    kept = addition.rectify(np.array([-0.0, 0.0, np.nan, -1], np.float32))
    assert np.signbit(kept[:2]).tolist() == [True, False]
    np.testing.assert_array_equal(kept, np.array([0, 0, np.nan, 0], np.float32))


@EVERY
def test_operands_broadcast(add: Add) -> None:
    sums = add(np.arange(3)[:, None], np.arange(4), UPSTREAM)
    assert sums.tolist() == [[byte(add, a, b, UPSTREAM) for b in range(4)] for a in range(3)]


@pytest.mark.parametrize("scale", [0.0, -1.0, np.inf, np.nan])
def test_the_integer_add_refuses_scales_that_it_does_not_define(scale: float) -> None:
    with pytest.raises(ValueError, match="the scale of b"):
        add_tflite(0, 0, parameters(1.0, scale, 1.0))


@pytest.mark.parametrize("zero", [-1, 256])
def test_the_integer_add_refuses_a_zero_point_outside_of_a_byte(zero: int) -> None:
    with pytest.raises(ValueError, match=f"zero point of a is {zero}: it must lie in"):
        add_tflite(0, 0, parameters(1.0, 1.0, 1.0, zeros=(zero, 0, 0)))


def test_a_scale_is_kept_as_the_nearest_float32() -> None:
    """Of a tenth the significand is 13421772.8, so rounded up."""
    scale = Quantization(0.1).scale
    assert (type(scale), Fraction(float(scale))) == (np.float32, Fraction(13421773, 2**27))


@pytest.mark.parametrize(("zero", "error"), [(2**31, ValueError), (1.0, TypeError), (True, TypeError)])
def test_zero_points_that_are_no_int32_are_refused(zero: int, error: type[Exception]) -> None:
    with pytest.raises(error, match="zero_point is"):
        Quantization(1.0, zero)
