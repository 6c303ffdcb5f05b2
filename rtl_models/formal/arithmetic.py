"""What the stages of the units compute, as lane expressions: from isa semantics where there is an instruction."""

from __future__ import annotations

from isa.lane import S8, S16, S32, S64, U1, U8, U16, U32, Int, Lane, constant, lift, maximum, minimum, select
from isa.semantics import arithmetic, multiply, shift

U5 = Int(5, signed=False)
U2 = Int(2, signed=False)
U6 = Int(6, signed=False)
S33 = Int(33, signed=True)


def joined(high: Lane, low: Lane) -> Lane:
    """A number of two halves of 16 bits."""
    return (high << 16) + low


def high_half(a: Lane) -> Lane:
    """The upper 16 bits of a number of 32, signed."""
    return S16.field(a, 16)


def low_half(a: Lane) -> Lane:
    """The lower 16 bits, unsigned."""
    return U16.field(a, 0)


def sum_of_tiles(high: Lane, high_low: Lane, low_high: Lane, low: Lane) -> Lane:
    """Four products of halves, each at its place."""
    return S64.wrap((high << 32) + ((high_low + low_high) << 16) + low)


def tiled(a: Lane, b: Lane) -> Lane:
    """A product of 32 by 32 bits in four tiles."""
    a_high, a_low, b_high, b_low = high_half(a), low_half(a), high_half(b), low_half(b)
    return sum_of_tiles(a_high * b_high, a_high * b_low, a_low * b_high, a_low * b_low)


def product(a: Lane, b: Lane) -> Lane:
    """The exact product."""
    return a * b


def sum_of_low_tiles(low: Lane, cross_ab: Lane, cross_ba: Lane) -> Lane:
    """Three products of halves, of the lower 32 bits of a product."""
    return U32.wrap(low + (U16.wrap(cross_ab + cross_ba) << 16))


def tiled_low(a: Lane, b: Lane) -> Lane:
    """The lower 32 bits of a product in three tiles."""
    a_high, a_low, b_high, b_low = (half(x) for x in (a, b) for half in (high_half_unsigned, low_half))
    return sum_of_low_tiles(a_low * b_low, U16.wrap(a_low * b_high), U16.wrap(a_high * b_low))


def high_half_unsigned(a: Lane) -> Lane:
    """The upper 16 bits, unsigned."""
    return U16.field(a, 16)


def product_low(a: Lane, b: Lane) -> Lane:
    """MUL of 32 bits, as an unsigned number."""
    return multiply.multiply(U32, a, b)


def rounded_high(number: Lane) -> Lane:
    """The end of SQRDMULH for every number of 64 bits: also for those that no product is."""
    total = S64.wrap(number + (1 << 30))
    fits = (total >> 63).equals(S64.wrap(total << 1) >> 63)
    return select(fits, S32.field(total, 31), S32.high)


def rounded_product(a: Lane, b: Lane) -> Lane:
    """The end of SQRDMULH, of an exact product."""
    return rounded_high(a * b)


def sqrdmulh(a: Lane, b: Lane) -> Lane:
    """SQRDMULH of 32 bits."""
    return multiply.rounding_doubling_multiply_high(S32, a, b)


def fixed_up(a: Lane, count: Lane) -> Lane:
    """SQADD of -1 to a negative number that is to be shifted: its ties then go down."""
    return arithmetic.saturating_add(S32, a, select((a < 0) & (count > 0), -1, 0))


def in_halves(a: Lane, count: Lane) -> Lane:
    """Shifted right but for one bit, rounded down."""
    return S33.wrap((a << 1) >> count)


def rounded_halves(halves: Lane) -> Lane:
    """Halves rounded, ties up; the sum wraps."""
    return S32.wrap((halves >> 1) + (halves & 1))


def divided_in_steps(a: Lane, count: Lane) -> Lane:
    """A division by a power of two as the deep stages do it."""
    return rounded_halves(in_halves(fixed_up(a, count), count))


def divided(a: Lane, count: Lane) -> Lane:
    """A division by a power of two with ties away: SRSHL(SQADD(a, (a AND -count) >> 31), -count)."""
    fix_up = shift.shift_right(S32, a & -count, constant(31))
    return shift.rounding_shift_by_register(S32, arithmetic.saturating_add(S32, a, fix_up), -count)


def shift_rounded(value: Lane, count: Lane, rounding: Lane) -> Lane:
    """A division by a power of two: with ties away, with ties up, or rounded down."""
    up = shift.rounding_shift_by_register(S32, value, -count)
    return select(rounding >> 1, value >> count, select(rounding & 1, up, divided(value, count)))


def shift_rounded_in_steps(value: Lane, count: Lane, rounding: Lane) -> Lane:
    """The same as the deep stages do it."""
    fixed = S32.wrap(fixed_where_nearest(value, count, rounding))
    return rounded_halves(S33.wrap(halves_kept(fixed, count, U1.wrap(rounding >> 1))))


def fixed_where_nearest(value: Lane, count: Lane, rounding: Lane) -> Lane:
    """As `fixed_up`, where ties go away from zero."""
    return saturated_sum(value, select((value < 0) & (count > 0) & rounding.equals(0), -1, 0))


def halves_kept(fixed: Lane, count: Lane, down: Lane) -> Lane:
    """As `in_halves`, without the half where it is not to be rounded."""
    halves = in_halves(fixed, count)
    return S33.wrap(halves - (halves & down))


def scaled_in_steps(whole: Lane, high: Lane, left: Lane, right: Lane, rounding: Lane) -> Lane:
    """A product scaled as `scale_rounded` does it: `high` is what the first of two roundings makes of it."""
    number = S64.wrap(number_of(whole, fixed_for(high, right, rounding), rounding))
    return rounded_halves(in_halves_of(number, places_of(left, right, rounding)))


def fixed_for(high: Lane, right: Lane, rounding: Lane) -> Lane:
    """As `fixed_up`, where ties of the second rounding go away from zero."""
    return saturated_sum(high, select((high < 0) & (right > 0) & (rounding & 1).equals(0), -1, 0))


def number_of(whole: Lane, fixed: Lane, rounding: Lane) -> Lane:
    """The product, or what two roundings have left of it, in 2^-31."""
    return select(rounding >> 1, whole, fixed << 31)


def places_of(left: Lane, right: Lane, rounding: Lane) -> Lane:
    """How far the number goes to the right until it is in halves."""
    return U6.wrap(right + 30 - select(rounding >> 1, left, 0))


def in_halves_of(number: Lane, places: Lane) -> Lane:
    """Shifted right, rounded down; what is above 33 bits is lost."""
    return S33.wrap(number >> places)


def scaled(whole: Lane, high: Lane, left: Lane, right: Lane, rounding: Lane) -> Lane:
    """A product, and its high half by SQRDMULH, divided: with ties away, with ties up, or with this rounding alone."""
    once = S32.wrap(((whole << left) + (constant(1) << (right + 30))) >> (right + 31))
    up = shift.rounding_shift_by_register(S32, high, -right)
    return select(rounding >> 1, once, select(rounding & 1, up, divided(high, right)))


def scaled_product(a: Lane, b: Lane, left: Lane, right: Lane, rounding: Lane) -> Lane:
    """The product of two numbers, `scaled`."""
    return scaled(a * b, sqrdmulh(a, b), left, right, rounding)


def scaled_product_in_steps(a: Lane, b: Lane, left: Lane, right: Lane, rounding: Lane) -> Lane:
    """The same in steps, of the exact product alone."""
    return scaled_in_steps(a * b, rounded_product(a, b), left, right, rounding)


def shifted(value: Lane, left: Lane, rounding: Lane) -> Lane:
    """A number shifted left before its product is made, which is for two roundings."""
    return S32.wrap(select(rounding >> 1, value, value << left))


def placed(byte: Lane, is_signed: Lane, offset: Lane, left_shift: Lane) -> Lane:
    """A byte, read as signed or not, with an offset, shifted left."""
    return shift.shift_left(S32, added(read_byte(byte, is_signed), offset), left_shift)


def read_byte(byte: Lane, is_signed: Lane) -> Lane:
    """A byte read as signed or not."""
    return select(is_signed, S8.wrap(byte), byte)


def bounded(value: Lane, low: Lane, high: Lane, is_signed: Lane | int) -> Lane:
    """A number limited to bounds that are bytes; the upper is looked at first, which tells where they are in order."""
    signed = lift(is_signed)
    above, below = value > read_byte(high, signed), value < read_byte(low, signed)
    return select(above, high, select(below, low, U8.wrap(value)))


def clamped_byte(value: Lane, low: Lane, high: Lane, is_signed: Lane | int) -> Lane:
    """min(max(value, low), high), the bounds and the result being bytes read as signed or not."""
    signed = lift(is_signed)
    return U8.wrap(minimum(maximum(value, read_byte(low, signed)), read_byte(high, signed)))


def saturated_sum(a: Lane, b: Lane) -> Lane:
    """SQADD of 32 bits."""
    return arithmetic.saturating_add(S32, a, b)


def added(a: Lane, b: Lane) -> Lane:
    """ADD of 32 bits."""
    return arithmetic.add(S32, a, b)
