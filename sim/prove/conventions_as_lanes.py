"""The fixed-point conventions of docs/spec/known_differences.md as lane expressions: their second writing.

The first is `sim.golden.fixed_point`, in numpy; nothing is taken from it or from `isa.semantics`.  Numbers are int32
lanes unless said; `q` is a Q0.31 multiplier, `n` a right shift in 0..31, `e` a left shift where it is positive and a
right shift where it is negative.  The rows meant are those of that file.
"""

from __future__ import annotations

from isa.lane import S32, U8, Int, Lane, constant, divide, maximum, minimum, select

_HALF = 1 << 30
"""Half of the last bit that a Q0.31 product keeps."""
U5 = Int(5, signed=False)


def power_of_two(n: Lane) -> Lane:
    """2^n."""
    return constant(1) << n


def half(n: Lane) -> Lane:
    """Half of 2^n, and 0 where there is nothing to round."""
    return power_of_two(n) >> 1


def doubling_high(x: Lane, q: Lane) -> Lane:
    """x * q / 2^31 with ties up, saturated: gemmlowp's definition, ACL, ArmNN.

    Source: docs/spec/known_differences.md row 5.
    """
    return minimum((x * q + _HALF) >> 31, S32.high)


def doubling_high_nudged(x: Lane, q: Lane) -> Lane:
    """gemmlowp's scalar code: a nudge of the product's sign, then C division, the one overflow apart."""
    product = x * q
    nudged = product + select(product < 0, 1 - _HALF, _HALF)
    overflow = x.equals(q) & x.equals(S32.low)
    return select(overflow, S32.high, S32.wrap(divide(nudged, constant(1 << 31))))


def doubling_high_added(x: Lane, q: Lane) -> Lane:
    """ACL's OpenCL code: half is added and the sum shifted, the one overflow apart."""
    overflow = x.equals(q) & x.equals(S32.low)
    return select(overflow, S32.high, S32.wrap((x * q + _HALF) >> 31))


def doubling_high_not_saturated(x: Lane, q: Lane) -> Lane:
    """CMSIS-NN's arm_nn_doubling_high_mult_no_sat and gemmlowp's SSE4 form.

    Source: docs/spec/known_differences.md rows 5, 19.
    """
    product = x * q
    signs_differ = (x < 0) ^ (q < 0)
    return S32.wrap(divide(product + select(signs_differ, 1 - _HALF, _HALF), constant(1 << 31)))


def ties_away(x: Lane, n: Lane) -> Lane:
    """x / 2^n to nearest, ties away from zero: RDP (docs/spec/known_differences.md row 2)."""
    magnitude = (select(x < 0, -x, x) + half(n)) >> n
    return select(x < 0, -magnitude, magnitude)


def ties_up(x: Lane, n: Lane) -> Lane:
    """x / 2^n to nearest, ties up (docs/spec/known_differences.md rows 2, 3)."""
    return (x + half(n)) >> n


def floor(x: Lane, n: Lane) -> Lane:
    """x / 2^n rounded down: the literal >> (docs/spec/known_differences.md rows 3b, 4)."""
    return x >> n


def ties_away_by_mask(x: Lane, n: Lane) -> Lane:
    """RDP as gemmlowp's scalar code does it: the remainder against a threshold."""
    mask = power_of_two(n) - 1
    threshold = (mask >> 1) + (x < 0)
    return (x >> n) + ((x & mask) > threshold)


def tail_shift(x: Lane, shift: Lane) -> Lane:
    """ACL 19.08's scalar RDP for any int32 shift, on AArch64: the count is taken modulo 32.

    Source: docs/spec/known_differences.md row 8b.
    """
    return ties_away_by_mask(x, U5.field(shift, 0))


def vector_shift(x: Lane, shift: Lane) -> Lane:
    """ACL 19.08's vector RDP for any int32 shift: the low byte of its negative counts.

    Source: docs/spec/known_differences.md row 8b.
    """
    count = S32.wrap(-shift)
    fixed = select((x < 0) & (count < 0), maximum(x - 1, S32.low), x)
    low = count & 255
    by = select(low > 127, low - 256, low)
    right = minimum(maximum(-by, 0), 33)
    left = S32.wrap(fixed << minimum(maximum(by, 0), 32))
    return select(by < 0, (fixed + half(right)) >> right, left)


def shift_left_wrapped(x: Lane, n: Lane) -> Lane:
    """x * 2^n modulo 2^32 (docs/spec/known_differences.md row 8)."""
    return S32.wrap(x << n)


def shift_left_saturated(x: Lane, n: Lane) -> Lane:
    """x * 2^n limited to int32: gemmlowp's scalar code (docs/spec/known_differences.md row 8)."""
    return clamp(x << n, S32.low, S32.high)


def clamp(x: Lane, lower: Lane | int, upper: Lane | int) -> Lane:
    """Limited to lower..upper."""
    return minimum(maximum(x, lower), upper)


def low_byte(x: Lane) -> Lane:
    """The byte that ACL 19.08's fused path stores (docs/spec/known_differences.md row 9c)."""
    return U8.wrap(x)


def double_rounding(x: Lane, q: Lane, e: Lane) -> Lane:
    """TFLite's default, CMSIS-NN's: wrapped left shift, doubling high multiply, ties away.

    Source: docs/spec/known_differences.md row 1.
    """
    shifted = shift_left_wrapped(x, maximum(e, 0))
    return ties_away(doubling_high(shifted, q), maximum(-e, 0))


def single_rounding(x: Lane, q: Lane, e: Lane) -> Lane:
    """TFLite's single rounding, ruy's: the 64-bit product rounded once, ties up.

    Source: docs/spec/known_differences.md row 1.
    """
    return S32.wrap((x * q + power_of_two(constant(30) - e)) >> (constant(31) - e))


def single_rounding_in_two_shifts(x: Lane, q: Lane, e: Lane) -> Lane:
    """CMSIS-NN's single rounding: the half is added to the last bit but one."""
    return S32.wrap((((x * q) >> (constant(30) - e)) + 1) >> 1)


def single_rounding_by_vector(x: Lane, q: Lane, e: Lane) -> Lane:
    """TFLite's NEON form: shift left, high multiply without rounding, rounding shift.

    Source: docs/spec/known_differences.md row 17.
    """
    shifted = S32.wrap(x << maximum(e + 1, 0))
    high = clamp((shifted * q) >> 31, S32.low, S32.high)
    return ties_up(high, maximum(-e, 1))


def single_rounding_of_long(x: Lane, q: Lane, e: Lane) -> Lane:
    """TFLite's overload for int64 x, of 48 bits: the multiplier cut to 15 bits.

    Source: docs/spec/known_differences.md row 13.
    """
    reduced = select(q < 0x7FFF0000, (q + (1 << 15)) >> 16, 0x7FFF)
    return S32.wrap((x * reduced + power_of_two(constant(14) - e)) >> (constant(15) - e))


def scaled_by_integer(x: Lane, offset: Lane, multiplier: Lane) -> Lane:
    """What QuantizeDownInt32ToUint8Scale shifts: everything wraps (docs/spec/known_differences.md row 4)."""
    return S32.wrap(S32.wrap(x + offset) * multiplier)
