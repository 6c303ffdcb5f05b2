"""Every half-precision number through the unary operations; estimates, conversions to bounded and modular integers."""

from __future__ import annotations

from functools import cache
from math import isfinite, trunc
from random import Random

import pytest

from isa.evaluate.floating import compute
from isa.floating import F16, F32, F64, Float, FloatOperation, Rounding
from isa.lane import Int
from support.floating_reference import AHP, DZC, FZ, IDC, IOC, IXC, MODES, OFC, UFC, Root, integral, rounded, signed
from support.floating_values import FORMATS, decoded, encoded, is_nan, specials, value
from support.sampled import sampled

SEED = 4
HALVES = range(1 << 16)
WHOLE: tuple[Rounding, ...] = ("even", "up", "down", "zero", "away")


@cache
def finite_halves() -> tuple[tuple[int, float], ...]:
    """The bits and the number of every finite half."""
    return tuple((bits, decoded(bits, F16)) for bits in HALVES if isfinite(decoded(bits, F16)))


@cache
def integral_halves(rounding: Rounding) -> tuple[tuple[int, float, int], ...]:
    """The bits and the number of every finite half, and the whole number that it is rounded to."""
    return tuple((bits, number, integral(number, rounding)) for bits, number in finite_halves())


def wrong(operation: FloatOperation, expected: dict[int, tuple[int, int]], fpcr: int = 0) -> list[str]:
    return [hex(bits) for bits, wanted in expected.items() if compute(operation, (bits,), fpcr) != wanted]


@pytest.mark.slow
def test_the_root_of_every_half() -> None:
    positive = {bits: rounded(Root(signed(bits, F16)), F16, "even") for bits, number in finite_halves() if number > 0}
    assert not wrong(FloatOperation("square_root", F16, F16), positive)


@pytest.mark.slow
@pytest.mark.parametrize("exact", [False, True], ids=["frint", "frintx"])
@pytest.mark.parametrize("rounding", sampled(WHOLE, 2))
def test_every_half_rounded_to_an_integral_number(rounding: Rounding, exact: bool) -> None:
    """A zero keeps the sign of the operand; only FRINTX raises inexact."""
    expected = {}
    for bits, number, whole in integral_halves(rounding):
        raised = IXC if exact and whole != number else 0
        expected[bits] = encoded(float(whole), F16) if whole else bits & F16.sign_bit, raised
    name = FloatOperation("to_integral_exact" if exact else "to_integral", F16, F16, rounding)
    assert not wrong(name, expected)


@pytest.mark.slow
@pytest.mark.parametrize("rounding", WHOLE)
@pytest.mark.parametrize("integer", sampled([Int(16, True), Int(16, False), Int(64, True)], 2), ids=str)
def test_every_half_to_an_integer(integer: Int, rounding: Rounding) -> None:
    expected = {}
    for bits, number, whole in integral_halves(rounding):
        clamped = min(max(whole, integer.low), integer.high)
        expected[bits] = clamped, IOC if clamped != whole else IXC if whole != number else 0
    assert not wrong(FloatOperation("to_integer", F16, integer, rounding), expected)


@pytest.mark.slow
@pytest.mark.parametrize("to", [F32, F64], ids=str)
def test_every_half_widens_exactly(to: Float) -> None:
    """A NaN keeps sign and payload at the top of the fraction, and becomes quiet."""
    expected = {}
    for bits in HALVES:
        if is_nan(bits, F16):
            fraction = bits % (1 << 10) << to.fraction_bits - 10
            raised = 0 if bits & 0x200 else IOC
            expected[bits] = (bits >> 15) * to.sign_bit | to.infinity | to.quiet_bit | fraction, raised
        else:
            expected[bits] = encoded(decoded(bits, F16), to), 0
    assert not wrong(FloatOperation("convert", F16, to), expected)


@pytest.mark.slow
def test_every_alternative_half_widens_to_a_number() -> None:
    """Exponents go up to 31 there: (1 + f/1024) * 2^(e-15)."""
    expected = {}
    for bits in HALVES:
        exponent, fraction = bits >> 10 & 31, bits & 1023
        number = (fraction + 1024) * 2.0 ** (exponent - 25) if exponent else fraction * 2.0**-24
        expected[bits] = encoded(-number if bits >> 15 else number, F32), 0
    assert not wrong(FloatOperation("convert", F16, F32), expected, AHP)


def fields(bits: int, format: Float) -> tuple[int, int, int]:
    """Sign, exponent field, and the fraction at the top of 52 bits, as the estimates take a number apart."""
    fraction = bits % (1 << format.fraction_bits) << 52 - format.fraction_bits
    return bits >> format.bits - 1, (bits & format.infinity) >> format.fraction_bits, fraction


def joined(sign: int, exponent: int, fraction: int, format: Float) -> int:
    return sign * format.sign_bit | exponent << format.fraction_bits | fraction >> 52 - format.fraction_bits


def reciprocal_estimate(bits: int, format: Float) -> tuple[int, int]:
    """Arm ARM, FPRecipEstimate and RecipEstimate in the default mode: bit fields throughout."""
    sign, exponent, fraction = fields(bits, format)
    if exponent == 0 and fraction == 0:
        return sign * format.sign_bit | format.infinity, DZC
    if exponent == 0 and abs(decoded(bits, format)) < 2.0 ** (-format.highest_exponent - 1):
        return sign * format.sign_bit | format.infinity, OFC | IXC
    if exponent == 0:
        top = fraction >> 51
        exponent, fraction = (0, fraction << 1) if top else (-1, fraction << 2)
        fraction %= 1 << 52
    scaled = 256 + (fraction >> 44)
    estimate = ((1 << 19) // (2 * scaled + 1) + 1) // 2
    result_exponent = {16: 29, 32: 253, 64: 2045}[format.bits] - exponent
    fraction = estimate % 256 << 44
    if result_exponent == 0:
        fraction = 1 << 51 | fraction >> 1
    elif result_exponent == -1:
        result_exponent, fraction = 0, 1 << 50 | fraction >> 2
    return joined(sign, result_exponent, fraction, format), 0


def root_estimate(bits: int, format: Float) -> tuple[int, int]:
    """Arm ARM, FPRSqrtEstimate and RecipSqrtEstimate of a positive number."""
    _, exponent, fraction = fields(bits, format)
    if exponent == 0:
        while fraction >> 51 == 0:
            fraction, exponent = fraction << 1, exponent - 1
        fraction = fraction << 1 & (1 << 52) - 1
    a = 256 + (fraction >> 44) if exponent % 2 == 0 else 128 + (fraction >> 45)
    a = 2 * a + 1 if a < 256 else (a // 2 * 2 + 1) * 2
    b = 512
    while a * (b + 1) * (b + 1) < 1 << 28:
        b += 1
    result_exponent = ({16: 44, 32: 380, 64: 3068}[format.bits] - exponent) // 2
    return joined(0, result_exponent, (b + 1) // 2 % 256 << 44, format), 0


def numbers(format: Float) -> list[int]:
    """All finite halves; of the others many."""
    if format == F16:
        return [bits for bits, _ in finite_halves()]
    rng = Random(SEED)
    some = (*specials(format), *(value(rng, format) for _ in range(3000)))
    return [bits for bits in some if bits & format.infinity != format.infinity]


@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_reciprocal_estimates_are_those_of_the_manual(format: Float) -> None:
    expected = {bits: reciprocal_estimate(bits, format) for bits in numbers(format)}
    assert not wrong(FloatOperation("reciprocal_estimate", format, format), expected)


@pytest.mark.slow
@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_reciprocal_root_estimates_are_those_of_the_manual(format: Float) -> None:
    expected = {bits: root_estimate(bits, format) for bits in numbers(format) if 0 < bits < format.sign_bit}
    assert not wrong(FloatOperation("reciprocal_root_estimate", format, format), expected)


@pytest.mark.parametrize(
    ("bits", "fpcr", "result", "raised"),
    [
        (0x7E800000, FZ, 0, UFC), (0x7E7FFFFF, FZ, 0x00800000, 0), (0x00400000, FZ, 0x7F800000, DZC | IDC),
        (0x001FFFFF, MODES["zero"], 0x7F7FFFFF, OFC | IXC), (0x801FFFFF, MODES["up"], 0xFF7FFFFF, OFC | IXC),
        (0x801FFFFF, MODES["down"], 0xFF800000, OFC | IXC), (0x7F800000, 0, 0, 0), (0xFF800000, 0, 0x80000000, 0),
    ],
)  # fmt: skip
def test_reciprocal_estimates_at_the_ends(bits: int, fpcr: int, result: int, raised: int) -> None:
    assert compute(FloatOperation("reciprocal_estimate", F32, F32), (bits,), fpcr) == (result, raised)


@pytest.mark.parametrize(
    ("bits", "result"), [(0x3F800000, 0x40000000), (0, 0x7F000000), (0x807FFFFF, 0xFF000000), (0x7F7FFFFF, 0x00800000)]
)
def test_the_reciprocal_exponent_is_the_field_inverted(bits: int, result: int) -> None:
    """FRECPX: 127 becomes 128; zeros and subnormal numbers 254."""
    assert compute(FloatOperation("reciprocal_exponent", F32, F32), (bits,), 0) == (result, 0)


@pytest.mark.parametrize("rounding", ["even", "up", "down", "zero"])
@pytest.mark.parametrize("format", [F32, F64], ids=str)
@pytest.mark.parametrize("bits", [32, 64])
def test_what_does_not_fit_an_integer_becomes_the_lowest_one(bits: int, format: Float, rounding: Rounding) -> None:
    """FRINT32X to FRINT64Z: invalid then, and for infinities and NaNs, DN or not (FPRoundIntN)."""
    operation = FloatOperation("to_integral_bounded", format, format, rounding, integer=Int(bits, True))
    lowest, expected, rng = encoded(-(2.0 ** (bits - 1)), format), {}, Random(SEED)
    for operand in (*specials(format), *(value(rng, format) for _ in range(2000))):
        number = decoded(operand, format)
        whole = integral(number, rounding) if isfinite(number) else 1 << 99
        fits = -(1 << bits - 1) <= whole < 1 << bits - 1
        inside = encoded(float(whole), format) if fits and whole else operand & format.sign_bit
        expected[operand] = (inside, IXC if whole != number else 0) if fits else (lowest, IOC)
    assert not wrong(operation, expected)
    assert not wrong(operation, expected, 1 << 25)


def test_a_double_becomes_a_word_modulo_2_to_the_32() -> None:
    """FJCVTZS: bit 32 of the node is Z; set where nothing was lost, minus zero included among the losses."""
    operation, rng, expected = FloatOperation("to_integer_modulo", F64, Int(33, False)), Random(SEED), {}
    for bits in (*specials(F64), *(value(rng, F64) for _ in range(3000))):
        number = decoded(bits, F64)
        whole = trunc(number) if isfinite(number) else 1 << 32
        in_range, exact = -(2**31) <= whole < 2**31, whole == number and bits != F64.sign_bit
        raised = 0 if in_range and whole == number else IXC if in_range else IOC
        expected[bits] = whole % 2**32 | (in_range and exact) << 32, raised
    assert not wrong(operation, expected)


@pytest.mark.parametrize(
    ("fpcr", "bits", "result", "raised"),
    [(0, 1, 0, IXC), (FZ, 1, 0, IDC), (FZ, 0, 1 << 32, 0), (FZ, 1 << 63, 0, 0), (FZ, 1 | 1 << 63, 0, IDC)],
)
def test_a_subnormal_double_becomes_zero_but_not_exactly(fpcr: int, bits: int, result: int, raised: int) -> None:
    """FPToFixedJS clears Z where the fraction bits are not zero though the value, flushed, is."""
    operation = FloatOperation("to_integer_modulo", F64, Int(33, False))
    assert compute(operation, (bits,), fpcr) == (result, raised)
