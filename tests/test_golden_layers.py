"""sim.golden.layers at corners: one number after the other by definitions in integers and fractions, and by hand."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import floor

import numpy as np
import pytest

from sim.golden.derivation import Derived
from sim.golden.fixed_point import INT32_MAX
from sim.golden.layers import gemmlowp, hard_swish, leaky_relu, mean, prelu, softmax
from sim.golden.layers.bilinear import Resizing, in_10_bits, in_11_bits, in_float32
from sim.golden.layers.interpolation import table_of
from sim.golden.layers.l2_normalization import reciprocal_root
from sim.golden.layers.sigmoid_table import TABLE, TableFactor, factor_of, looked_up
from sim.golden.layers.sums_in_float32 import by_fours, in_vectors
from sim.golden.scaling import double_rounding
from support.exact_rounding import float32_nearest, half_away, half_up, wrapped

SEED = 23
NEAR_POWERS = sorted({2**n + d for n in range(31) for d in (-1, 0, 1)} - {2**30 + 1})
"""Around the powers of two, from 0 to 2^30."""


def scales(*numbers: float) -> softmax.SoftmaxScales:
    return softmax.SoftmaxScales(*map(np.float32, numbers))


# gemmlowp, in Python's integers; its constants from what they are.


def high(a: int, b: int) -> int:
    return min((a * b + 2**30) >> 31, INT32_MAX)


def limited(x: int) -> int:
    return max(-(2**31), min(INT32_MAX, x))


def of_31_bits(number: Decimal) -> int:
    return int((number * 2**31).to_integral_value())


EXP_OF_EIGHTH = of_31_bits(Decimal("-0.125").exp())
EXP_OF_POWERS = [of_31_bits((-(Decimal(2) ** k)).exp()) for k in range(-2, 5)]


def exp_of_minus(size: int, bits: int) -> int:
    if size == 0:
        return INT32_MAX
    unit = 31 - bits
    quarter = 2 ** (unit - 2)
    low = -size % quarter - quarter
    x = limited(low * 2**bits) + 2**28
    square = high(x, x)
    fourth = half_away(Fraction(high(square, square), 4))
    behind = half_away(Fraction(high(fourth + high(square, x), half_up(Fraction(2**31, 3))) + square, 2))
    result = wrapped(EXP_OF_EIGHTH + high(x + behind, EXP_OF_EIGHTH))
    for k, factor in enumerate(EXP_OF_POWERS, start=-2):
        if k < bits and (low + size) >> (unit + k) & 1:
            result = high(result, factor)
    return result


def twice_over_one_plus(x: int) -> int:
    """2 / (1 + x) in units of 2^-29."""
    half = (x + INT32_MAX + 1) // 2
    made = half_up(Fraction(48 * 2**29, 17)) + high(half, half_up(Fraction(-32 * 2**29, 17)))
    for _ in range(3):
        made += limited(high(made, 2**29 - high(half, made)) * 4)
    return made


def logistic(x: int) -> int:
    above = limited(2 * twice_over_one_plus(exp_of_minus(abs(x), 4)))
    return 2**30 if x == 0 else above if x > 0 else INT32_MAX - above


def tanh(x: int) -> int:
    size = limited((twice_over_one_plus(exp_of_minus(abs(x), 5)) - 2**29) * 4)
    return 0 if x == 0 else size if x > 0 else -size


def test_what_is_shifted_to_the_left_is_held_within_its_bits() -> None:
    values = np.arange(-128, 128)
    for count in range(5):
        made = gemmlowp.Width(8, 3).shifted(values, count).tolist()
        assert made == [max(-128, min(127, value * 2**count)) for value in values.tolist()]


def test_exponentials_of_gemmlowp_are_its_integers() -> None:
    sizes = [*NEAR_POWERS, INT32_MAX, *np.random.default_rng(SEED).integers(0, 2**31, 200).tolist()]
    for bits in (0, 4, 5):
        made = gemmlowp.exp_of_minus(np.array(sizes, np.int32), bits)
        assert made.tolist() == [exp_of_minus(size, bits) for size in sizes]


def test_reciprocals_of_gemmlowp_are_its_integers() -> None:
    numbers = [*NEAR_POWERS, INT32_MAX, INT32_MAX - 1, *np.random.default_rng(SEED).integers(0, 2**31, 300).tolist()]
    made = gemmlowp.one_over_one_plus(np.array(numbers, np.int32))
    assert made.tolist() == [limited(2 * twice_over_one_plus(number)) for number in numbers]


@pytest.mark.parametrize(("ours", "defined"), [(gemmlowp.logistic, logistic), (gemmlowp.tanh, tanh)])
def test_functions_of_gemmlowp_are_its_integers(ours: object, defined: object) -> None:
    sizes = [*NEAR_POWERS, INT32_MAX, *np.random.default_rng(SEED).integers(0, 2**31, 200).tolist()]
    numbers = [sign * size for size in sizes for sign in (1, -1)]
    made = ours(np.array(numbers, np.int32)).tolist()  # type: ignore[operator]  # a function, as the other one
    assert made == [defined(number) for number in numbers]  # type: ignore[operator]


def root_of(total: int) -> tuple[int, int]:
    """docs/spec/neighbours.md section 39."""
    if total <= 1:
        return INT32_MAX, 0
    n = 11
    while total >= 2**29:
        total, n = total // 4, n + 1
    p = (32 - total.bit_length() - 1) // 2 - 1
    total, n = total * 4**p, n - p
    h, x = half_away(Fraction(total // 2, 2)), 2**28
    for _ in range(5):
        cube = limited(high(high(x, x), x) * 2**6)
        x = limited(wrapped(high(x, 3 * 2**27) - high(h, cube)) * 2**3)
    return high(x, 1518500250) * 2 ** max(-n, 0), -max(n, 0)


def test_reciprocal_roots_are_those_of_the_page() -> None:
    sums = [*range(70), *NEAR_POWERS, 2**31 - 1, 2**31 - 2, 3 * 2**28, 3 * 2**29]
    sums += np.random.default_rng(SEED).integers(0, 2**31, 200).tolist()
    multipliers, left_shifts = reciprocal_root(np.array(sums))
    assert list(zip(multipliers.tolist(), left_shifts.tolist(), strict=True)) == [root_of(one) for one in sums]


# Slopes.


@pytest.mark.parametrize("factors_of", [leaky_relu.factors_of, prelu.factors_of])
@pytest.mark.parametrize("other", [0.5, 2.0**29])
def test_factors_of_slopes_are_defined_below_2_to_the_30(factors_of: object, other: float) -> None:
    made = factors_of(2.0**29, other), factors_of(other, 2.0**29)  # type: ignore[operator]  # either of the two
    assert [made[0].above, made[1].below] == [Derived(1 << 30, 30)] * 2
    for pair in ((2.0**30, other), (other, 2.0**30)):
        with pytest.raises(ValueError, match=r"below 2\^30 they are defined"):
            factors_of(*pair)  # type: ignore[operator]


def test_a_slope_of_nothing_does_not_turn_signs() -> None:
    assert [leaky_relu.factors_of(0.5, below).is_turned for below in (0.0, 0.25, -0.25)] == [False, False, True]


def test_nothing_and_what_is_next_to_it_have_the_factor_of_their_side() -> None:
    """Times 3 above, times 5 below."""
    around, by = np.array([-2, -1, 0, 1, 2]), leaky_relu.factors_of(3.0, 5.0)
    assert leaky_relu.leaky_relu(around + 7, 7, by, double_rounding).tolist() == [-10, -5, 0, 3, 6]
    slopes = np.array([1, -2, 3, 3, 3])
    assert prelu.prelu(around, slopes, prelu.factors_of(3.0, 5.0), double_rounding).tolist() == [-10, 10, 0, 3, 6]


def test_ties_of_a_negative_slope_go_the_other_way_where_the_number_is_negated_first() -> None:
    """A half of -3 and -1, ties up, is -1 and 0; of 3 and 1 it is 2 and 1."""
    numbers, by = np.array([-3, -1, 5]), leaky_relu.factors_of(1.0, -0.5)
    made = [leaky_relu.leaky_relu(numbers, 0, by, double_rounding, first).tolist() for first in (False, True)]
    assert made == [[1, 0, 5], [2, 1, 5]]


@pytest.mark.parametrize("factors", [(-32768, 32512), (-256, -32768), (-1, 1)])
def test_slopes_of_8_bits_round_ties_up(factors: tuple[int, int]) -> None:
    values = np.arange(-128, 128)
    exact = [Fraction(128 * (5 - q) * factors[q <= 5], 2**15) for q in values.tolist()]
    assert leaky_relu.leaky_relu_of_8_bits(values, 5, factors).tolist() == [half_up(one) for one in exact]


@pytest.mark.parametrize("power", range(-9, 4))
@pytest.mark.parametrize("part", [1.0, 0.9, 0.5, 0.01])
def test_a_hard_swish_is_the_nearest_byte_or_nearly_so_whichever_way_its_share_is_shifted(
    power: int, part: float
) -> None:
    """Its factor goes from an eighth to 1,000."""
    for mantissa in (1.0, 1.3, 1.7):
        scale = np.float32(mantissa * 2.0**power)
        output_scale = np.float32(scale * part)
        factors, values = hard_swish.factors_of(scale, output_scale), np.arange(-128, 128)
        real = float(scale) * (values - 5)
        wanted = np.clip(real * np.clip(real + 3, 0, 6) / 6 / float(output_scale) + 3, -128, 127)
        for made in (hard_swish.hard_swish, hard_swish.hard_swish_by_vector):
            error = np.clip(made(values, 5, factors, 3), -128, 127) - wanted
            assert np.abs(error).max() < (0.55 if part > 0.1 else 1.5)


@pytest.mark.parametrize(("ratio", "is_taken"), [(127.9, True), (128.0, False), (200.0, False), (300.0, False)])
def test_a_hard_swish_has_an_input_scale_below_128_times_the_output_s(ratio: float, is_taken: bool) -> None:
    if is_taken:
        assert hard_swish.factors_of(np.float32(ratio / 128), np.float32(1 / 128)).output.left_shift == 0
    else:
        with pytest.raises(ValueError, match=f"the input's scale is {ratio:g} of the output's: TFLite takes less"):
            hard_swish.factors_of(np.float32(ratio / 128), np.float32(1 / 128))


@pytest.mark.parametrize("length", range(1, 26))
def test_sums_in_float32_of_whole_numbers_are_exact_in_any_order(length: int) -> None:
    """Every number is added once, wherever a row begins in memory."""
    rows = np.random.default_rng(length).integers(-(2**16), 2**16, (6, length)).astype(np.float32)
    exact = rows.astype(np.int64).sum(1).tolist()
    assert in_vectors(rows).tolist() == exact
    assert by_fours(np.ascontiguousarray(rows.T)).tolist() == exact


def test_the_share_of_a_hard_swish_may_be_shifted_by_31() -> None:
    """The share's factor is scale / 128 over 3 / 2^15: with 3 * 2^22 it is 2^30, with twice that 2^31."""
    assert hard_swish.factors_of(np.float32(3 * 2.0**22), np.float32(2.0**20)).share.left_shift == 31
    with pytest.raises(ValueError, match="it shifts by more than 31 bits"):
        hard_swish.factors_of(np.float32(3 * 2.0**23), np.float32(2.0**20))


# Means: what they multiply by, and from where on they round.


@pytest.mark.parametrize(
    ("ratio", "count", "expected"),
    [
        (0.75, 6, (0.75 * 2**31 * 4 // 6, -2)),
        (0.75, 7, (0.75 * 2**31 * 4 // 7, -2)),
        (0.75, 8, (0.75 * 2**31 * 8 // 8, -3)),
        (0.75, 1, (0.75 * 2**31, 0)),
        (3 * 2.0**-32, 8, (0.75 * 2**31 * 2 // 8, -31)),  # of the factor the shift is -30: one is left
        (3 * 2.0**-33, 8, (0.75 * 2**31 // 8, -31)),
    ],
)
def test_the_multiplier_of_a_mean_is_moved_before_it_is_divided(
    ratio: float, count: int, expected: tuple[float, int]
) -> None:
    asked = []

    def rescale(sums: np.ndarray, multiplier: int, left_shift: int) -> np.ndarray:
        asked.append((sums.tolist(), multiplier, left_shift))
        return double_rounding(sums, 0, 0)

    by = mean.MeanScales(np.float32(ratio), 3, np.float32(1), 9)
    assert mean.mean_in_fixed_point(np.array([100]), count, by, rescale).tolist() == [9]
    assert asked == [([100 - 3 * count], *expected)]


@pytest.mark.parametrize(("zero", "bias"), [(0, 0), (7, -1), (4, 0), (-4, 0), (-7, 1), (15, -2), (-15, 2)])
def test_the_zero_point_of_raw_sums_is_scaled_to_the_nearest(zero: int, bias: int) -> None:
    """A tenth of it, with ties away from zero: 1.5 in float32 is 2."""
    by = mean.MeanScales(np.float32(0.1), zero, np.float32(1), 20)
    assert mean.mean_of_raw_sums(np.array([0]), 1, by, double_rounding).tolist() == [20 + bias]


# Logistic and tanh by the table of 16 bits.


def by_the_table(function: str, q: int, by: TableFactor) -> int:
    """docs/spec/neighbours.md section 37."""
    u = half_up(Fraction(q * by.multiplier, 2**by.shift))
    k = 9 if function == "logistic" else 8
    i = abs(u) >> k
    if i >= 255:
        v = 32767 * 2**10 if function == "logistic" else 65535 * 2**8
    else:
        v = int(TABLE[i]) * 2**k + abs(u) % 2**k * int(TABLE[i + 1] - TABLE[i])
    if function == "logistic":
        return (v + 512) // 2**10 if u >= 0 else (2**25 - v + 511) // 2**10
    return (v - 2**23 + 128) // 2**8 if u >= 0 else (2**23 - v + 127) // 2**8


@pytest.mark.parametrize("function", ["logistic", "tanh"])
def test_numbers_next_to_those_of_the_table(function: str) -> None:
    """At both ends of each of its steps, and beyond the last one."""
    unit = 512 if function == "logistic" else 256
    sizes = {unit * i + d for i in (*range(4), *range(252, 260)) for d in (-1, 0, 1, unit // 2)}
    values = [sign * size for size in sizes if size < 2**17 for sign in (1, -1)]
    for by in (TableFactor(1, 0), TableFactor(3, 1), TableFactor(32767, 7)):
        made = looked_up(function, np.array(values), by).tolist()
        assert made == [by_the_table(function, value, by) for value in values]


def test_a_scale_is_doubled_31_times_at_most() -> None:
    """12288 * 2^-40 * 2^31 is 24."""
    assert factor_of("logistic", np.float32(2.0**-40)) == TableFactor(24, 31)


# Tables and softmax.


def test_a_table_is_held_within_16_bits() -> None:
    made = table_of(lambda x: x, 4, (-65535, 65535), np.float64)
    assert made[[0, 192, 193, 256, 319, 320, 512]].tolist() == [-32768, -32768, -32256, 0, 32256, 32767, 32767]


def test_what_is_so_far_below_in_fixed_point_counts_as_nothing_from_its_radius_on() -> None:
    """A quarter is 2^24 units of 2^-26, so 2^25 times a half: the radius is 31 * 2^26 / 2^25."""
    row = np.array([[100, 100 - 61, 100 - 62, 100 - 63, 100 - 64]])
    counted = softmax.in_fixed_point(row, scales(0.25, 0, 1), 0)["exp"] > 0
    assert counted.tolist() == [[True, True, True, False, False]]


@pytest.mark.parametrize("scale", [32.0, 63.0, 64.0, 2.0**40])
def test_of_so_large_a_scale_only_the_largest_counts(scale: float) -> None:
    """From 2^31 units of 2^-26 on upstream's factor is limited, which nothing depends on."""
    made = softmax.in_fixed_point(np.array([[5, 4, 5]]), scales(scale, 0, 1), 0)
    assert (made["exp"].tolist(), made["output"].tolist()) == ([[INT32_MAX, 0, INT32_MAX]], [[128, 0, 128]])


@pytest.mark.parametrize(("count", "output"), [(255, 1), (256, 1), (300, 1), (511, 1)])
def test_sums_below_512_are_computed_in_fixed_point(count: int, output: int) -> None:
    """256 parts of a whole, among so many."""
    made = softmax.in_fixed_point(np.zeros((1, count), np.int8), scales(0.1, 0, 1), 0)["output"]
    assert set(made.ravel().tolist()) == {output}


def test_a_sum_of_512_is_refused_in_fixed_point() -> None:
    with pytest.raises(ValueError, match="a sum of exponentials is 512: it has to be below 512"):
        softmax.in_fixed_point(np.zeros((1, 512), np.int8), scales(0.1, 0, 1), 0)


def by(rows: np.ndarray, scale: float = 0.001, zero: int = 0, beta: float = 1) -> np.ndarray:
    return softmax.by_interpolation(rows, scales(scale, 2.0**-15, beta), zero, np.float64)["output"]


def test_the_only_number_of_a_row_is_the_largest_of_16_bits_before_the_zero_point() -> None:
    """In full it would be 32769: the reciprocal of almost 2 is one more than a half."""
    assert by(np.array([[5]], np.int16), zero=7).tolist() == [[32767 + 7]]


def test_rows_of_more_than_65536_numbers_are_refused_of_int16() -> None:
    with pytest.raises(ValueError, match="65,537 numbers are a row"):
        by(np.zeros((1, 65537), np.int16))
    assert by(np.zeros((65537, 1), np.int16))[-1].tolist() == [32767]
    assert by(np.zeros((1, 65536), np.int16))[0, 0] in (0, 1)  # half a unit


def test_a_scale_from_5_on_is_refused_of_int16_with_what_it_is_times_beta() -> None:
    with pytest.raises(ValueError, match=r"beta times the scale is 6\.0,"):
        by(np.zeros((1, 2), np.int16), 3.0, beta=2.0)
    assert by(np.zeros((1, 2), np.int16), 4.9).tolist() == [[16384, 16384]]


def test_the_share_of_a_sum_next_to_a_power_of_two_is_held_within_16_bits() -> None:
    """Sixteen times 32762 and exp(-5.8476), 94, are 2 below 2^19: to 17 bits 2^17, one more than the table has."""
    row = np.array([[0] * 16 + [-5316]], np.int16)
    made = softmax.by_interpolation(row, scales(0.0011, 2.0**-15, 1), 0, np.float64)
    assert made["sum"].tolist() == [[2**19 - 2]]
    assert made["output"][0, :16].tolist() == [2048] * 16


def test_a_sum_that_leaves_float32_is_refused_by_the_shifted_table() -> None:
    with pytest.raises(ValueError, match="times a power of the table leaves float32"):
        softmax.by_shifted_table(np.array([[3, 4]], np.int8), scales(0.1, 1e-30, 1), 0)


# Bilinear: along one row, between every two small lengths.

OPTIONS = [(False, False), (True, False), (False, True)]
LENGTHS = [(before, behind) for before, behind in product(range(1, 5), range(1, 8))]


def line(dtype: type, before: int) -> np.ndarray:
    """The ends of the type, one after the other."""
    limits = np.iinfo(dtype)
    return np.array([(limits.min, limits.max)[k % 2] for k in range(before)], dtype).reshape(1, 1, before, 1)


def weighted(pixels: list[int], lower: int, upper: int, part: Fraction) -> Fraction:
    """Between two pixels, held within the line."""
    one, other = (pixels[max(0, min(at, len(pixels) - 1))] for at in (lower, upper))
    return one * (1 - part) + other * part


@pytest.mark.parametrize(("corners", "centres"), OPTIONS)
@pytest.mark.parametrize("dtype", [np.int8, np.int16])
def test_a_line_in_10_bits(dtype: type, corners: bool, centres: bool) -> None:
    for before, behind in LENGTHS:
        image, less = line(dtype, before), int(corners and behind > 1)
        pixels, step = image.ravel().tolist(), half_up(Fraction(1024 * (before - less), behind - less))
        places = [Fraction(k * step + (step // 2 - 512 if centres else 0), 1024) for k in range(behind)]
        exact = [weighted(pixels, floor(at), floor(at) + 1, at - floor(at)) for at in places]
        by = Resizing(1, behind, corners, centres)
        assert in_10_bits(image, by).ravel().tolist() == [half_away(one) for one in exact], (before, behind)
        assert in_10_bits(image, by, ties_up=True).ravel().tolist() == [half_up(one) for one in exact]


@pytest.mark.parametrize(("corners", "centres"), OPTIONS)
def test_a_line_in_11_bits_and_in_float32(corners: bool, centres: bool) -> None:
    """Of bytes 0 and 255 a product or sum in float32 next to the exact one rounds as that does, but at ties."""
    for before, behind in LENGTHS:
        image, less = line(np.uint8, before), int(corners and behind > 1)
        pixels, step = image.ravel().tolist(), float32_nearest(Fraction(before - less, behind - less))
        by = Resizing(1, behind, corners, centres)
        for ours in (in_11_bits, in_float32):
            made = ours(image, by).ravel().tolist()
            for k in range(behind):
                at = (k + Fraction(1, 2)) * step - Fraction(1, 2) if centres else k * step
                at = max(Fraction(0), min(at, Fraction(before - 1)))
                exact = weighted(pixels, floor(at), floor(at) + 1, at - floor(at))
                assert abs(made[k] - exact) <= Fraction(1, 2) + Fraction(255, 2**12 if ours is in_11_bits else 2**16)


# What is off by a unit in the last place: which way.

UNITS = (1, -1)


@pytest.mark.parametrize("units", UNITS)
def test_the_multiplier_of_softmax_in_fixed_point_is_off_by_so_many_units(units: int) -> None:
    """0.3 times 0.7 is 0.84 over 4: what is shifted by 24 is multiplied by 0.84 in units of 2^-31."""
    differences, multiplier = (
        range(60),
        half_up(Fraction(np.float32(0.3).item()) * Fraction(np.float32(0.7).item()) * 2**33),
    )
    row = np.array([[100 - difference for difference in differences]])
    made = softmax.in_fixed_point(row, scales(0.3, 0, 0.7), 0, units=units)["exp"][0].tolist()

    def powers(by: int) -> list[int]:
        return [exp_of_minus(-high(-difference * 2**24, by), 5) for difference in differences]

    assert made == powers(multiplier + units) != powers(multiplier - units)


@pytest.mark.parametrize("units", UNITS)
def test_the_multiplier_of_softmax_of_int16_is_off_by_so_many_units(units: int) -> None:
    """4.9 times 65535 / 10 is below 2^15: what is shifted so far is half a unit more or less."""
    left = 15
    multiplier = round(float(np.float32(4.9)) / (10 / 65535) * 2 ** (31 - left))
    row = np.array([[100, 99, 98, 100 - 32767]], np.int16)
    made = softmax.by_interpolation(row, scales(4.9, 2.0**-15, 1), 0, np.float64, units)["difference"][0].tolist()
    assert made == [high(-d * 2**left, multiplier + units) for d in (0, 1, 2, 32767)]
    assert made != [high(-d * 2**left, multiplier - units) for d in (0, 1, 2, 32767)]


@pytest.mark.parametrize("units", UNITS)
def test_the_real_scales_of_softmax_are_off_by_so_many_units(units: int) -> None:
    """Each power is that of the next number of float32; times 128 it is exact."""
    row, scale = np.array([[127, 126, -1]], np.int8), np.nextafter(np.float32(0.25), np.float32(9 * units))
    exact = [Decimal(float(-scale) * below).exp() for below in (0, 1, 128)]
    for way in (softmax.by_table, softmax.by_table_of_16_bits, softmax.in_reals):
        made = way(row, scales(0.25, 1 / 256, 1), 0, units=units)["exp"][0].tolist()
        if way is softmax.by_table_of_16_bits:
            assert made == [int(one * 65535 + Decimal("0.5")) for one in exact]
        elif way is softmax.by_table:
            assert made == [float32_nearest(Fraction(one)) for one in exact]
        else:
            assert made == pytest.approx([float(one) for one in exact], rel=1e-13)


@pytest.mark.parametrize("units", UNITS)
def test_what_a_mean_multiplies_by_is_off_by_so_many_units(units: int) -> None:
    """Integers of 31 bits are one more or less, numbers of float32 the next ones."""
    asked = []

    def rescale(sums: np.ndarray, multiplier: int, left_shift: int) -> np.ndarray:
        asked.append((multiplier, left_shift))
        return double_rounding(sums, 0, 0)

    by = mean.MeanScales(np.float32(0.75), 3, np.float32(1), 9, units)
    for way in (mean.mean_in_fixed_point, mean.mean_of_raw_sums, mean.mean_of_scaled_sums):
        way(np.array([100]), 4, by, rescale)
    assert asked == [(3 * 2**29 + units, -2), (3 * 2**29 + units, -2), (3 * 2**29 + units, 0)]
    sums, one = np.array([3 << 24]), np.nextafter(np.float32(1), np.float32(9 * units))
    by = mean.MeanScales(np.float32(1), 0, np.float32(1), 0, units)
    assert mean.mean_in_float32(sums, 1, by).tolist() == [int(np.float32(3 << 24) * one)]
    assert mean.mean_by_reciprocal(sums, 1, by).tolist() == [int(np.float32(3 << 24) * one)]


@pytest.mark.parametrize("name", [*softmax.WAYS, *softmax.WAYS_OF_ONNX, *softmax.WAYS_OF_INT16])
def test_each_row_of_a_softmax_is_made_by_itself(name: str) -> None:
    """Of three axes, no two of one length; of one alone."""
    way = {**softmax.WAYS, **softmax.WAYS_OF_ONNX, **softmax.WAYS_OF_INT16}[name]
    rows = np.random.default_rng(SEED).integers(-128, 128, (2, 3, 5)).astype(np.int8)
    made = way(rows, scales(0.02, 1 / 256, 1), 3)["output"]
    for place in product(range(2), range(3)):
        assert made[place].tolist() == way(rows[place], scales(0.02, 1 / 256, 1), 3)["output"].tolist()
