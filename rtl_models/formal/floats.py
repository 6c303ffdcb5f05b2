"""What `fmla_byte` and `float_to_byte` do with the bits of float32: lane expressions of whole numbers, step by step."""

from __future__ import annotations

from isa.lane import U1, U8, U32, Int, Lane, constant, maximum, minimum, select
from rtl_models.formal.claims import all_of

U4, U9, U10, U23, U24, U33, U59 = (Int(bits, signed=False) for bits in (4, 9, 10, 23, 24, 33, 59))
WINDOW = Int(84, signed=False)
"""The magnitude of a sum: a product of 32 bits, 26 below it, 26 above."""
SUM = Int(85, signed=True)
INFINITY = 0x7F800000
DEFAULT_NAN = 0x7FC00000
MINUS_ZERO = 1 << 31
_BELOW_HALF = 0x3EFFFFFF


def _sign(number: Lane) -> Lane:
    return U1.field(number, 31)


def _field(number: Lane) -> Lane:
    return U8.field(number, 23)


def _fraction(number: Lane) -> Lane:
    return U23.field(number, 0)


def significand(number: Lane) -> Lane:
    """The fraction, with the leading 1 of a number that is not subnormal."""
    return U24.wrap(select(_field(number) > 0, 1 << 23, 0) + _fraction(number))


def _exponent(number: Lane) -> Lane:
    return maximum(_field(number), constant(1))


def product(byte: Lane, factor: Lane) -> Lane:
    """The exact product of the byte and the significand."""
    return U32.wrap(byte * significand(factor))


def gap(accumulator: Lane, byte: Lane, factor: Lane) -> Lane:
    """How far the top of the addend lies below that of the window; 0 where the product is that far below."""
    of_product = select(byte.equals(0), 0, _exponent(factor))
    return U9.wrap(maximum(of_product - _exponent(accumulator) + 34, constant(0)))


def room(accumulator: Lane, byte: Lane, factor: Lane) -> Lane:
    """How far the top of the window lies above the lowest exponent."""
    return U10.wrap(_exponent(accumulator) + gap(accumulator, byte, factor) - 1)


def subtracts(accumulator: Lane, factor: Lane) -> Lane:
    """Whether the addend has not the sign of the product."""
    return _sign(accumulator) ^ _sign(factor)


def flags(accumulator: Lane, byte: Lane, factor: Lane) -> Lane:
    """No number, infinite, its sign, `subtracts`: four bits, the first the highest."""
    infinite, by_infinite = (_field(number).equals(255) for number in (accumulator, factor))
    nans = [
        all_of([infinite, _fraction(accumulator) > 0]),
        all_of([by_infinite, (_fraction(factor) > 0) | byte.equals(0)]),
        all_of([infinite, by_infinite, subtracts(accumulator, factor)]),
    ]
    is_nan = nans[0] | nans[1] | nans[2]
    sign = select(infinite & by_infinite.equals(0), _sign(accumulator), _sign(factor))
    return U4.wrap((is_nan << 3) + ((infinite | by_infinite) << 2) + (sign << 1) + subtracts(accumulator, factor))


def total(multiplied: Lane, addend: Lane, distance: Lane, subtract: Lane) -> Lane:
    """Both in the window: the product above 26 bits, the addend so far below the top, but not beyond its end."""
    placed = (addend << 60) >> minimum(distance, constant(60))
    return SUM.wrap((multiplied << 26) + select(subtract, -placed, placed))


def moved(number: Lane, free: Lane) -> tuple[Lane, Lane]:
    """The magnitude, its leading 1 moved to the top as far as there is room, and the room that is left."""
    magnitude = WINDOW.wrap(select(number < 0, -number, number))
    for places in (64, 32, 16, 8, 4, 2, 1):
        moves = (magnitude >> (WINDOW.bits - places)).equals(0) & (free < places).equals(0)
        below = Int(WINDOW.bits - places, signed=False).field(magnitude, 0)
        magnitude = select(moves, below << places, magnitude)
        free = U10.wrap(select(moves, free - places, free))
    return magnitude, free


def rounded(normalised: Lane, spare: Lane, is_below: Lane, kinds: Lane) -> Lane:
    """The bits of the result."""
    field = select(U1.field(normalised, 83), U10.wrap(spare + 1), 0)
    goes_up = U1.field(normalised, 59) & (U1.field(normalised, 60) | (U59.field(normalised, 0) > 0))
    number = U33.wrap((field << 23) + U23.field(normalised, 60) + goes_up)
    is_nan, is_infinite, sign, subtract = (U1.field(kinds, bit) for bit in (3, 2, 1, 0))
    turns = select(normalised.equals(0), subtract & sign, is_below)
    sign = sign ^ select(is_infinite, 0, turns)
    magnitude = select(is_infinite | (number < INFINITY).equals(0), INFINITY, number)
    return U32.wrap(select(is_nan, DEFAULT_NAN, (sign << 31) + magnitude))


def multiply_add(accumulator: Lane, byte: Lane, factor: Lane) -> Lane:
    """The whole of it: FMLA of a byte."""
    kinds = flags(accumulator, byte, factor)
    distance, addend = gap(accumulator, byte, factor), significand(accumulator)
    number = total(product(byte, factor), addend, distance, U1.field(kinds, 0))
    normalised, spare = moved(number, room(accumulator, byte, factor))
    return rounded(normalised, spare, number < 0, kinds)


def add_scaled(accumulator: Lane, byte: Lane, factor: Lane, unfused: Lane) -> Lane:
    """A product added, rounded by itself too where it is `unfused`."""
    scaled = multiply_add(constant(MINUS_ZERO), byte, factor)
    return multiply_add(accumulator, select(unfused, 1, byte), select(unfused, scaled, factor))


def to_byte(value: Lane, ties_away: Lane) -> Lane:
    """Rounded to a byte: to even, or what is left of the sum with a half; what is below 0 or no number is 0."""
    field = _field(value)
    places = significand(value) << maximum(minimum(field - 126, constant(8)), constant(0))
    whole, half, rest = places >> 24, U1.field(places, 23), U23.field(places, 0)
    goes_up = half & (ties_away | (whole & 1) | (rest > 0))
    small = select(field < 126, ties_away & value.equals(_BELOW_HALF), minimum(whole + goes_up, constant(255)))
    is_nan = field.equals(255) & (_fraction(value) > 0)
    return U8.wrap(select(_sign(value) | is_nan, 0, select(field < 135, small, 255)))
