"""What the stages of the units compute, as lane expressions: from isa semantics where there is an instruction."""

from __future__ import annotations

from isa.lane import S8, S16, S32, S64, U1, U8, U16, U32, Int, Lane, constant, lift, maximum, minimum, select
from isa.semantics import arithmetic, multiply, shift

U5 = Int(5, signed=False)
U3 = Int(3, signed=False)
U2 = Int(2, signed=False)
U6 = Int(6, signed=False)
S9 = Int(9, signed=True)
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


def outer(high: Lane, low: Lane) -> Lane:
    """Two of four products of halves, side by side."""
    return (high << 32) + low


def crossed(high_low: Lane, low_high: Lane) -> Lane:
    """The other two, which have the same place."""
    return high_low + low_high


def sum_of_tiles(outer: Lane, crossed: Lane) -> Lane:
    """Four products of halves, each at its place; a number beside `outer` is in the sum, too."""
    return S64.wrap(outer + (crossed << 16))


def tiled(a: Lane, b: Lane) -> Lane:
    """A product of 32 by 32 bits in four tiles."""
    a_high, a_low, b_high, b_low = high_half(a), low_half(a), high_half(b), low_half(b)
    return sum_of_tiles(outer(a_high * b_high, a_low * b_low), crossed(a_high * b_low, a_low * b_high))


def both_lowest(a: Lane, b: Lane) -> Lane:
    """Whether two numbers are those whose doubled product saturates."""
    return a.equals(S32.low) & b.equals(S32.low)


def nudge(lowest: Lane) -> Lane:
    """What a product needs before 31 bits are cut off: half of these, taken away where it saturates."""
    return select(lowest, -(1 << 30), 1 << 30)


def high_of_sum(nudged: Lane, crossed: Lane) -> Lane:
    """The upper half of the doubled sum of tiles."""
    return S32.field(sum_of_tiles(nudged, crossed), 31)


def nudged_high_tiled(a: Lane, b: Lane) -> Lane:
    """SQRDMULH as the deep stages do it."""
    a_high, a_low, b_high, b_low = high_half(a), low_half(a), high_half(b), low_half(b)
    nudged = outer(a_high * b_high, a_low * b_low) + nudge(both_lowest(a, b))
    return high_of_sum(nudged, crossed(a_high * b_low, a_low * b_high))


def nudged_high(a: Lane, b: Lane) -> Lane:
    """The same of an exact product."""
    return S32.field(a * b + nudge(both_lowest(a, b)), 31)


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


def sqrdmulh(a: Lane, b: Lane) -> Lane:
    """SQRDMULH of 32 bits."""
    return multiply.rounding_doubling_multiply_high(S32, a, b)


def in_halves(a: Lane, count: Lane) -> Lane:
    """Shifted right but for one bit, rounded down."""
    return S33.wrap((a << 1) >> count)


def rounded_halves(halves: Lane) -> Lane:
    """Halves rounded, ties up; the sum wraps."""
    return S32.wrap((halves >> 1) + (halves & 1))


def coarse_of(count: Lane) -> Lane:
    """The part of a shift that is a number of bytes."""
    return (count >> 3) << 3


def lost_below(a: Lane, count: Lane) -> Lane:
    """Whether any bit below so many is 1."""
    return ((a >> count) << count).equals(a).equals(0)


def rounded_away(halves: Lane, lost: Lane) -> Lane:
    """Halves rounded, ties away from zero; `lost` is whether they were more before they were rounded down."""
    return S32.wrap((halves >> 1) + (halves & 1 & (lost | (halves < 0).equals(0))))


def divided_in_steps(a: Lane, count: Lane) -> Lane:
    """A division by a power of two as the deep stages do it."""
    coarse, fine = in_halves(a, coarse_of(count)), count & 7
    lost = lost_below(a << 1, coarse_of(count)) | lost_below(coarse, fine)
    return rounded_away(S33.wrap(coarse >> fine), lost)


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
    fixed = fixed_where_nearest(value, count, rounding)
    return rounded_halves(S33.wrap(halves_kept(fixed, count, U1.wrap(rounding >> 1))))


def fixed_where_nearest(value: Lane, count: Lane, rounding: Lane) -> Lane:
    """As `fixed_up`, where ties go away from zero."""
    return value - ((value < 0) & (count > 0) & rounding.equals(0))


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
    return high - ((high < 0) & (right > 0) & (rounding & 1).equals(0))


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


def shifted(value: Lane, left: Lane, rounding: Lane) -> Lane:
    """A number shifted left before its product is made, which is for two roundings."""
    return S32.wrap(select(rounding >> 1, value, value << left))


def placed(byte: Lane, is_signed: Lane, offset: Lane, left_shift: Lane) -> Lane:
    """A byte, read as signed or not, with an offset, shifted left."""
    return moved_left(byte_with_offset(byte, is_signed, offset), left_shift)


def byte_with_offset(byte: Lane, is_signed: Lane, offset: Lane) -> Lane:
    """A byte, read as signed or not, and an offset."""
    return added(read_byte(byte, is_signed), offset)


def moved_left(value: Lane, count: Lane) -> Lane:
    """SHL of 32 bits."""
    return shift.shift_left(S32, value, count)


def read_byte(byte: Lane, is_signed: Lane) -> Lane:
    """A byte read as signed or not."""
    return select(is_signed, S8.wrap(byte), byte)


def bounded(value: Lane, low: Lane, high: Lane, is_signed: Lane | int) -> Lane:
    """A number limited to bounds that are bytes; the upper is looked at first, which tells where they are in order."""
    signed = lift(is_signed)
    above, below = value > read_byte(high, signed), value < read_byte(low, signed)
    return select(above, high, select(below, low, U8.wrap(value)))


def bounded_in_steps(value: Lane, low: Lane, high: Lane, is_signed: Lane) -> Lane:
    """The same as the deep stages do it."""
    over, under = is_over(value, high, is_signed), is_under(value, low, is_signed)
    return chosen(fits_in_9(value), value < 0, over, under, low, high, U8.wrap(value))


def fits_in_9(value: Lane) -> Lane:
    """Whether a number needs no more than 9 bits."""
    return (value >> 8).equals(0) | (value >> 8).equals(-1)


def is_over(value: Lane, high: Lane, is_signed: Lane) -> Lane:
    """Whether a number, of which 9 bits are looked at, is more than a bound that is a byte."""
    return S9.wrap(value) > read_byte(high, is_signed)


def is_under(value: Lane, low: Lane, is_signed: Lane) -> Lane:
    """Whether a number, of which 9 bits are looked at, is less than a bound that is a byte."""
    return S9.wrap(value) < read_byte(low, is_signed)


def chosen(fits: Lane, negative: Lane, over: Lane, under: Lane, low: Lane, high: Lane, byte: Lane) -> Lane:
    """A bound, or the byte between them."""
    above, below = select(fits, over, negative.equals(0)), select(fits, under, negative)
    return select(above, high, select(below, low, byte))


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
