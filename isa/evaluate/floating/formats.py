"""Floating-point numbers taken apart and put together, exactly, by Arm's rules (Arm ARM, shared pseudocode).

Too simple to be wrong: numbers are integers times powers of two, and one function rounds.
"""

from __future__ import annotations

from typing import NamedTuple

from isa.floating import F16, Float, Rounding

IOC, DZC, OFC, UFC, IXC, IDC = (1 << bit for bit in (0, 1, 2, 3, 4, 7))
"""The cumulative exception bits of FPSR (Arm ARM C5.2.9)."""
EXCEPTIONS = IOC | DZC | OFC | UFC | IXC | IDC
"""All of them."""
AHP, DN, FZ, FZ16 = (1 << bit for bit in (26, 25, 24, 19))
"""The bits of FPCR that change results, with RMode in bits 23:22 (Arm ARM C5.2.8)."""
MODES = AHP | DN | FZ | FZ16 | 3 << 22
"""All of them, RMode too."""
_MODES: tuple[Rounding, ...] = ("even", "up", "down", "zero")


class Context:
    """What FPCR asks for, and the exceptions raised so far (`raised`, bits of FPSR)."""

    def __init__(self, fpcr: int, rounding: Rounding = "fpcr") -> None:
        self.rounding: Rounding = _MODES[fpcr >> 22 & 3] if rounding == "fpcr" else rounding
        self.default_nan = bool(fpcr & DN)
        self.alternative_half = bool(fpcr & AHP)
        self.flush = bool(fpcr & FZ)
        self.flush_half = bool(fpcr & FZ16)
        self.raised = 0

    def flushes(self, format: Float) -> bool:
        """Whether subnormal numbers of the format count as zero (FZ16 for half precision, FZ for the others)."""
        return self.flush_half if format == F16 else self.flush


class Number(NamedTuple):
    """`significand` times 2 to the power `exponent`, negative where `sign` is 1; a significand of 0 is a zero."""

    sign: int
    significand: int
    exponent: int

    @property
    def is_zero(self) -> bool:
        return self.significand == 0

    @property
    def highest_exponent(self) -> int:
        """The exponent of its leading bit, for a number that is not zero."""
        return self.exponent + self.significand.bit_length() - 1


class Infinity(NamedTuple):
    """An infinity."""

    sign: int
    is_zero: bool = False


class NotANumber(NamedTuple):
    """A NaN, by its bits in its format."""

    bits: int
    format: Float

    @property
    def sign(self) -> int:
        """Its sign bit."""
        return self.bits >> self.format.bits - 1

    @property
    def is_signalling(self) -> bool:
        """Whether its highest fraction bit is 0."""
        return not self.bits & self.format.quiet_bit


Value = Number | Infinity | NotANumber


def unpack(bits: int, format: Float, context: Context, alternative: bool = False) -> Value:
    """The value of some bits (Arm ARM: FPUnpack).

    In the alternative half-precision format the highest exponent is one of numbers (FPUnpackCV).
    """
    sign, fraction = bits >> format.bits - 1, bits & (1 << format.fraction_bits) - 1
    exponent = (bits & format.infinity) >> format.fraction_bits
    lowest = format.lowest_exponent - format.fraction_bits
    if bits & format.infinity == format.infinity and not alternative:
        return NotANumber(bits, format) if fraction else Infinity(sign)
    if exponent:
        return Number(sign, fraction | 1 << format.fraction_bits, lowest + exponent - 1)
    if fraction and context.flushes(format):
        context.raised |= 0 if format == F16 else IDC
        return Number(sign, 0, 0)
    return Number(sign, fraction, lowest)


def zero(format: Float, sign: int) -> int:
    return sign << format.bits - 1


def infinity(format: Float, sign: int) -> int:
    return zero(format, sign) | format.infinity


def largest(format: Float, sign: int) -> int:
    """The finite number of the largest magnitude."""
    return infinity(format, sign) - 1


def default_nan(format: Float) -> int:
    return format.infinity | format.quiet_bit


def invalid(format: Float, context: Context) -> int:
    """The result of an invalid operation."""
    context.raised |= IOC
    return default_nan(format)


def propagated(values: tuple[Value, ...], to: Float, context: Context) -> int | None:
    """The NaN that an operation on these values gives: the first signalling one, else the first quiet one, made quiet.

    None where no value is one (Arm ARM: FPProcessNaNs, FPProcessNaNs3).
    """
    nans = [value for value in values if isinstance(value, NotANumber)]
    if not nans:
        return None
    chosen = next((nan for nan in nans if nan.is_signalling), nans[0])
    if chosen.is_signalling:
        context.raised |= IOC
    return default_nan(to) if context.default_nan else converted_nan(chosen, to)


def converted_nan(nan: NotANumber, to: Float) -> int:
    """A quiet NaN of another format with the highest bits of the payload (Arm ARM: FPConvertNaN)."""
    payload = nan.bits & (nan.format.quiet_bit - 1)
    shift = to.fraction_bits - nan.format.fraction_bits
    moved = payload << shift if shift >= 0 else payload >> -shift
    return zero(to, nan.sign) | default_nan(to) | moved


def rounded(number: Number, to: Float, context: Context, alternative: bool = False) -> int:
    """A number that is not zero, rounded once (Arm ARM: FPRoundBase; FPRoundCV where `alternative`).

    Whether it is tiny is decided before rounding; a tiny result raises underflow only if it is inexact.
    """
    sign, significand, exponent = number
    highest = number.highest_exponent
    if context.flushes(to) and highest < to.lowest_exponent:
        context.raised |= UFC
        return zero(to, sign)
    kept_exponent = max(highest, to.lowest_exponent)
    kept, lost, half = _split(significand, kept_exponent - to.fraction_bits - exponent)
    if lost and highest < to.lowest_exponent:
        context.raised |= UFC
    kept = _rounded_integer(kept, lost, half, sign, context.rounding)
    biased = (kept_exponent - to.lowest_exponent << to.fraction_bits) + kept  # the leading 1 adds 1 to the exponent
    if biased >= (to.sign_bit if alternative else to.infinity):
        if alternative:
            context.raised |= IOC
            return zero(to, sign) | to.sign_bit - 1
        context.raised |= OFC | IXC
        return overflowed(to, sign, context)
    if lost:
        context.raised |= IXC
    return zero(to, sign) | biased


def _split(significand: int, shift: int) -> tuple[int, int, int]:
    """The significand shifted right, what was shifted out, and half of the last bit kept."""
    if shift <= 0:
        return significand << -shift, 0, 1
    return significand >> shift, significand & (1 << shift) - 1, 1 << shift - 1


def _rounded_integer(kept: int, lost: int, half: int, sign: int, rounding: Rounding) -> int:
    if rounding in ("odd", "odd_or_infinity"):
        return kept | (lost != 0)
    away = {
        "even": lost > half or (lost == half and kept & 1 == 1),
        "away": lost >= half,
        "up": lost > 0 and not sign,
        "down": lost > 0 and sign == 1,
        "zero": False,
    }
    return kept + away[rounding]


def overflowed(to: Float, sign: int, context: Context) -> int:
    """Infinity or the largest number, as the rounding mode asks for a result out of range."""
    stays = {"zero": True, "odd": True, "up": sign == 1, "down": sign == 0}
    return largest(to, sign) if stays.get(context.rounding, False) else infinity(to, sign)


def to_integer(number: Number, rounding: Rounding) -> tuple[int, bool]:
    """A number rounded to an integer, and whether that was inexact."""
    kept, lost, half = _split(number.significand, -number.exponent)
    magnitude = _rounded_integer(kept, lost, half, number.sign, rounding)
    return -magnitude if number.sign else magnitude, lost != 0
