"""What `fmla_byte` and `float_to_byte` do with the bits of float32: lane expressions of whole numbers, step by step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from isa.lane import U1, U8, U32, Int, Lane, constant, maximum, minimum, select
from rtl_models.formal.claims import all_of

U4, U9, U10, U23, U24, U33, U59 = (Int(bits, signed=False) for bits in (4, 9, 10, 23, 24, 33, 59))
WINDOW = Int(84, signed=False)
"""The magnitude of a sum: a product of 32 bits, 26 below it, 26 above."""
SUM = Int(85, signed=True)
MOVES = (64, 32, 16, 8, 4, 2, 1)
"""By what a magnitude is moved, one after the other, where that much is above it."""
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


def exponent(number: Lane) -> Lane:
    """That of a subnormal number is that of the lowest that are not."""
    return maximum(_field(number), constant(1))


def product(byte: Lane, multiplicand: Lane) -> Lane:
    """The exact product of the byte and a significand."""
    return U32.wrap(byte * multiplicand)


def product_exponent(byte: Lane, factor: Lane) -> Lane:
    """That of the factor; 0 where the product is 0."""
    return select(byte.equals(0), 0, exponent(factor))


def gap(of_product: Lane, of_addend: Lane) -> Lane:
    """By the exponents how far the top of the addend lies below that of the window; 0 where the product does."""
    return U9.wrap(maximum(of_product - of_addend + 34, constant(0)))


def room(top: Lane, distance: Lane) -> Lane:
    """How far the top of the window lies above the lowest exponent: by the addend's, and how far that lies below."""
    return U10.wrap(top + distance - 1)


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


def placed(addend: Lane, distance: Lane) -> Lane:
    """The addend so far below the top of the window, but not beyond its end."""
    return (addend << 60) >> minimum(distance, constant(60))


def total(multiplied: Lane, addend: Lane, subtract: Lane) -> Lane:
    """Both in the window, the product above 26 bits."""
    return SUM.wrap((multiplied << 26) + select(subtract, -addend, addend))


def magnitude(number: Lane) -> Lane:
    """That of the sum."""
    return WINDOW.wrap(select(number < 0, -number, number))


def moved(number: Lane, free: Lane, powers: Sequence[int] = MOVES) -> tuple[Lane, Lane]:
    """A magnitude, its leading 1 moved to the top by these powers of two, and the room that is left."""
    for places in powers:
        moves = (number >> (WINDOW.bits - places)).equals(0) & (free < places).equals(0)
        below = Int(WINDOW.bits - places, signed=False).field(number, 0)
        number = select(moves, below << places, number)
        free = U10.wrap(select(moves, free - places, free))
    return number, free


def unrounded(normalised: Lane, spare: Lane) -> Lane:
    """Exponent and fraction as they are before they are rounded."""
    field = select(U1.field(normalised, 83), U10.wrap(spare + 1), 0)
    return (field << 23) + U23.field(normalised, 60)


def of_unrounded(normalised: Lane, is_below: Lane, kinds: Lane) -> Lane:
    """No number, infinite, its sign, whether it goes up: four bits, the first the highest."""
    goes_up = U1.field(normalised, 59) & (U1.field(normalised, 60) | (U59.field(normalised, 0) > 0))
    is_nan, is_infinite, sign, subtract = _bits(kinds)
    turns = select(normalised.equals(0), subtract & sign, is_below)
    sign = sign ^ select(is_infinite, 0, turns)
    return U4.wrap((is_nan << 3) + (is_infinite << 2) + (sign << 1) + goes_up)


def rounded(number: Lane, kinds: Lane) -> Lane:
    """The bits of the result."""
    is_nan, is_infinite, sign, goes_up = _bits(kinds)
    number = U33.wrap(number + goes_up)
    bounded = select(is_infinite | (number < INFINITY).equals(0), INFINITY, number)
    return U32.wrap(select(is_nan, DEFAULT_NAN, (sign << 31) + bounded))


def _bits(kinds: Lane) -> Iterator[Lane]:
    """Four, the highest first."""
    return (U1.field(kinds, bit) for bit in (3, 2, 1, 0))


def multiply_add(accumulator: Lane, byte: Lane, factor: Lane) -> Lane:
    """The whole of it: FMLA of a byte."""
    kinds, top = flags(accumulator, byte, factor), exponent(accumulator)
    distance = gap(product_exponent(byte, factor), top)
    addend = placed(significand(accumulator), distance)
    number = total(product(byte, significand(factor)), addend, U1.field(kinds, 0))
    normalised, spare = moved(magnitude(number), room(top, distance))
    return rounded(unrounded(normalised, spare), of_unrounded(normalised, number < 0, kinds))


def add_scaled(accumulator: Lane, byte: Lane, factor: Lane, unfused: Lane) -> Lane:
    """A product added, rounded by itself too where it is `unfused`."""
    scaled = multiply_add(constant(MINUS_ZERO), byte, factor)
    return multiply_add(accumulator, select(unfused, 1, byte), select(unfused, scaled, factor))


def places(value: Lane) -> Lane:
    """The significand with 24 bits behind the point, of a number of 0.5 up to 256."""
    return U32.wrap((_fraction(value) + (1 << 23)) << U4.wrap(_field(value) - 126))


def of_places(value: Lane, ties_away: Lane) -> Lane:
    """Whether the byte is 0, 255, 1 whatever the places say; whether ties go away: four bits, the first the highest."""
    field, is_one = _field(value), ties_away & value.equals(_BELOW_HALF)
    is_nan = field.equals(255) & (_fraction(value) > 0)
    is_zero = _sign(value) | is_nan | ((field < 126) & is_one.equals(0))
    return U4.wrap((is_zero << 3) + ((field < 135).equals(0) << 2) + (is_one << 1) + ties_away)


def byte_of(number: Lane, kinds: Lane) -> Lane:
    """The places rounded to a byte."""
    is_zero, is_most, is_one, ties_away = _bits(kinds)
    whole, half, rest = number >> 24, U1.field(number, 23), U23.field(number, 0)
    goes_up = half & (ties_away | (whole & 1) | (rest > 0))
    nearest = select(is_one, 1, minimum(whole + goes_up, constant(255)))
    return U8.wrap(select(is_zero, 0, select(is_most, 255, nearest)))


def to_byte(value: Lane, ties_away: Lane) -> Lane:
    """Rounded to a byte: to even, or what is left of the sum with a half; what is below 0 or no number is 0."""
    return byte_of(places(value), of_places(value, ties_away))
