"""Hard floating-point operands: every class, the edges of every range, halfway cases, cancellation.

Bits are turned into numbers by `struct`, so that nothing here can repeat a mistake of the package.  The caller seeds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import isfinite, ldexp
from random import Random
from struct import pack, unpack

from isa.floating import BF16, F16, F32, F64, Float

LETTERS = {F16: ("e", "H"), F32: ("f", "I"), F64: ("d", "Q")}
"""How `struct` names the numbers of a format, and their bits."""
FORMATS = (F16, F32, F64)


def decoded(bits: int, format: Float) -> float:
    """The number, exactly; the payload of a NaN is lost."""
    if format == BF16:
        return decoded(bits << 16, F32)
    letter, unsigned = LETTERS[format]
    number: float = unpack(letter, pack(unsigned, bits))[0]
    return number


def encoded(number: float, format: Float) -> int:
    """The nearest bits; infinity beyond the largest number.  Of bfloat16, the bits toward zero."""
    if format == BF16:
        return encoded(number, F32) >> 16
    letter, unsigned = LETTERS[format]
    try:
        bits: int = unpack(unsigned, pack(letter, number))[0]
    except OverflowError:
        return format.infinity | (format.sign_bit if number < 0 else 0)
    return bits


def is_nan(bits: int, format: Float) -> bool:
    """Whether the exponent field is full and the fraction is not zero."""
    return bits & (format.sign_bit - 1) > format.infinity


@cache
def specials(format: Float) -> tuple[int, ...]:
    """Every class in both signs: zeros, subnormal and normal edges, halves, integer edges, infinities, NaNs."""
    one, ulp = (format.highest_exponent) << format.fraction_bits, 1
    lowest, quiet = 1 << format.fraction_bits, format.quiet_bit
    positive = [0, 1, 2, 3, lowest >> 1, lowest - 1, lowest, lowest + ulp, 2 * lowest, one - ulp, one, one + ulp]
    positive += [format.infinity - 2, format.infinity - 1, format.infinity]
    positive += [format.infinity | payload for payload in (1, quiet - 1, quiet, quiet | 5, 2 * quiet - 1)]
    positive += [encoded(halves / 2, format) for halves in range(1, 12)]
    for edge in (8, 15, 16, 24, 31, 32, 52, 53, 63, 64):
        if edge <= format.highest_exponent:
            middle = encoded(ldexp(1, edge), format)
            positive += [middle - 1, middle, middle + 1]
    return tuple(positive + [format.sign_bit | bits for bits in positive])


def value(rng: Random, format: Float) -> int:
    """One operand of any class."""
    kind = rng.randrange(10)
    if kind < 4:
        return rng.choice(specials(format))
    if kind == 4:
        return rng.getrandbits(format.bits)
    if kind == 5:
        return rng.choice((0, format.sign_bit))
    return _near(rng, format, rng.randrange(-format.fraction_bits - 3, format.fraction_bits + 4))


def _near(rng: Random, format: Float, exponent: int) -> int:
    """A number of that exponent, kept in the range of normal ones, with few or many fraction bits."""
    exponent = min(max(exponent, format.lowest_exponent), format.highest_exponent)
    fraction = rng.getrandbits(format.fraction_bits)
    kept = rng.choice((format.fraction_bits, format.fraction_bits, 4, 1))
    fraction = rng.choice((fraction, fraction >> format.fraction_bits - kept << format.fraction_bits - kept))
    near_one = rng.choice((fraction, 0, 1, (1 << format.fraction_bits) - 1))
    fraction = rng.choice((fraction, near_one))
    sign = rng.getrandbits(1) << format.bits - 1
    return sign | exponent + format.highest_exponent << format.fraction_bits | fraction


def _finite(rng: Random, format: Float) -> int:
    """A number that is neither infinite nor a NaN."""
    while True:
        bits = value(rng, format)
        if bits & format.infinity != format.infinity:
            return bits


def _shaken(rng: Random, bits: int) -> int:
    """The number or one of its neighbours, in either sign."""
    return max(bits + rng.choice((0, 0, 0, 1, -1, 2, -2)), 0)


def _around(rng: Random, number: float, format: Float) -> int:
    return _shaken(rng, encoded(number, format)) & 2 * format.sign_bit - 1 if isfinite(number) else format.infinity


def _independent(rng: Random, format: Float) -> tuple[int, int]:
    return value(rng, format), value(rng, format)


def _cancelling(rng: Random, format: Float) -> tuple[int, int]:
    """Numbers of almost the same magnitude."""
    a = _finite(rng, format)
    return a, (_shaken(rng, a) ^ rng.choice((0, format.sign_bit))) & 2 * format.sign_bit - 1


def _half_a_unit_apart(rng: Random, format: Float) -> tuple[int, int]:
    """A number, and about half of its last bit, where sums tie."""
    exponent = rng.randrange(format.lowest_exponent + format.fraction_bits + 1, format.highest_exponent + 1)
    a = _near(rng, format, exponent)
    half = encoded(ldexp(rng.choice((1, -1)), exponent - format.fraction_bits - 1), format)
    return a, _shaken(rng, half)


def _product_at_an_edge(rng: Random, format: Float) -> tuple[int, int]:
    """Factors whose product is about the smallest normal or subnormal number, one, or the largest number."""
    edges = (format.infinity - 1, 1 << format.fraction_bits, 1, 2, 5, format.highest_exponent << format.fraction_bits)
    target, a = decoded(rng.choice(edges), format), _finite(rng, format)
    number = decoded(a, format)
    return a, _around(rng, target / number, format) if number else format.infinity - 1


def _quotient_at_an_edge(rng: Random, format: Float) -> tuple[int, int]:
    """A dividend and a divisor whose quotient is about the smallest normal or the largest number."""
    target = decoded(rng.choice((format.infinity - 1, 1 << format.fraction_bits)), format)
    b = _near(rng, format, rng.randrange(-4, 4))
    return _around(rng, target * decoded(b, format), format), b


_PAIRS: tuple[Callable[[Random, Float], tuple[int, int]], ...] = (
    _independent, _cancelling, _half_a_unit_apart, _product_at_an_edge, _quotient_at_an_edge,
)  # fmt: skip


def pair(rng: Random, format: Float) -> tuple[int, int]:
    """Two operands, often at an edge of what they make."""
    return rng.choice(_PAIRS)(rng, format)


def triple(rng: Random, format: Float) -> tuple[int, int, int]:
    """Addend and two factors, often with a sum that nearly cancels or nearly ties."""
    return rng.choice(_TRIPLES)(rng, format)


def _addend_any(rng: Random, format: Float) -> tuple[int, int, int]:
    return (value(rng, format), *pair(rng, format))


def _addend_cancels(rng: Random, format: Float) -> tuple[int, int, int]:
    a, b = _near(rng, format, rng.randrange(-6, 6)), _finite(rng, format)
    return _around(rng, -decoded(a, format) * decoded(b, format), format), a, b


def _addend_below(rng: Random, format: Float) -> tuple[int, int, int]:
    """A product that ties, or nearly, and an addend far below it."""
    a, b = (_near(rng, format, rng.randrange(-3, 3)) for _ in range(2))
    down = rng.randrange(format.fraction_bits - 2, 3 * format.fraction_bits)
    return _near(rng, format, -down), a & ~0 << format.fraction_bits // 2, b & ~0 << format.fraction_bits // 2


def _product_half_a_unit(rng: Random, format: Float) -> tuple[int, int, int]:
    """An addend, and about half of its last bit as a product: that times (1 + d) (1 - d), or less regular."""
    p = format.fraction_bits
    exponent = rng.randrange(-3, 4) if format == F16 else rng.randrange(-20, 20)
    below, d = exponent - p - 1, 1 << rng.randrange(p - 1)
    first = encoded(ldexp(1, below // 2), format) + rng.choice((d, d, d, -d, 0))
    second = encoded(ldexp(1, below - below // 2), format) - rng.choice((2 * d, 2 * d, 1, 0))
    return _near(rng, format, exponent), first | rng.choice((0, format.sign_bit)), second


def _result_at_an_edge(rng: Random, format: Float) -> tuple[int, int, int]:
    """A sum about the smallest normal number, in the subnormal range, or about the largest number."""
    a, b = _product_at_an_edge(rng, format)
    edges = (format.infinity - 1, 1 << format.fraction_bits, 1, 0, rng.getrandbits(format.fraction_bits))
    return _shaken(rng, rng.choice(edges)) | rng.choice((0, format.sign_bit)), a, b


def _product_far_below(rng: Random, format: Float) -> tuple[int, int, int]:
    """An addend at an edge, and a product that changes it by far less than its last bit."""
    edges = (1 << format.fraction_bits, format.infinity - 1, format.highest_exponent << format.fraction_bits)
    addend = _shaken(rng, rng.choice(edges)) | rng.choice((0, format.sign_bit))
    down = format.fraction_bits // 2 + rng.randrange(format.highest_exponent // 2)
    exponent = (max(addend & format.infinity, 1) >> format.fraction_bits) - format.highest_exponent
    return addend, _near(rng, format, exponent // 2 - down), _near(rng, format, exponent - exponent // 2 - down)


_TRIPLES: tuple[Callable[[Random, Float], tuple[int, int, int]], ...] = (
    _addend_any, _addend_cancels, _addend_below, _product_half_a_unit, _result_at_an_edge,
    _product_far_below,
)  # fmt: skip


def halfway(rng: Random, of: Float, to: Float) -> int:
    """A number of one format about half-way between two neighbours of a smaller one."""
    low = rng.choice((value(rng, to), rng.getrandbits(to.fraction_bits))) & to.sign_bit - 1
    middle = (decoded(low, to) + decoded(min(low + 1, to.infinity - 1), to)) / 2
    return max(encoded(rng.choice((1, -1)) * middle, of) + rng.choice((0, 1, -1)), 0)


def integer(rng: Random, bits: int) -> int:
    """An unsigned number of so many bits: ties of every precision and their neighbours, powers of two, edges."""
    precision = rng.choice((11, 24, 53))
    tie = (rng.getrandbits(precision) << 1 | 1) << rng.randrange(max(bits - precision - 1, 1))
    near = (1 << rng.randrange(bits)) + rng.randrange(-2, 3)
    number = rng.choice((tie + rng.choice((0, 1, -1)), near, rng.getrandbits(bits), rng.randrange(-2048, 2048)))
    return rng.choice((1, -1)) * number % (1 << bits)
