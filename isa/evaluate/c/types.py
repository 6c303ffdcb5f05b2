"""The integer types of C, and numbers as C writes them."""

from __future__ import annotations

from isa.errors import LanewiseError
from isa.lane import Int

SIZES = (8, 16, 32, 64, 128)
"""The widths in bits of the types; that of 128 is an extension, `__int128`, which gcc and clang have."""
_TYPES = tuple(Int(bits, signed) for bits in SIZES for signed in (False, True))


class NotInC(LanewiseError):
    """What an expression computes has no C here; the message says what it is."""


def smallest(low: int, high: int) -> Int | None:
    """The smallest type that holds the range, unsigned where it can be; None where 128 bits are too few."""
    return next((kind for kind in _TYPES if kind.low <= low and high <= kind.high), None)


def type_of(low: int, high: int) -> Int:
    """The same.  Raises NotInC where 128 bits are too few."""
    kind = smallest(low, high)
    if kind is None:
        raise NotInC(f"a number of {low.bit_length()} to {high.bit_length()} bits does not fit a type of C")
    return kind


def unsigned(bits: int) -> Int:
    """The unsigned type of that width."""
    return Int(bits, False)


def name(kind: Int) -> str:
    """How C calls a type: `int32_t`, `unsigned __int128`."""
    if kind.bits == 128:
        return "__int128" if kind.signed else "unsigned __int128"
    return f"{'' if kind.signed else 'u'}int{kind.bits}_t"


def cast(text: str, of: Int, to: Int) -> str:
    """A number of one type as one of another: the same number where it fits, else that with the same low bits."""
    return text if of == to else f"({name(to)}){text}"


def literal(number: int) -> str:
    """A number that keeps its value beside operands of every type that holds it."""
    if -(1 << 31) <= number < 1 << 31:
        return f"({number})" if number < 0 else str(number)
    if -(1 << 63) < number < 1 << 63:
        return f"({number}LL)" if number < 0 else f"{number}LL"
    if 0 <= number < 1 << 64:
        return f"{number}ULL"
    if number < 0:
        return f"(-1 - (__int128){literal(-1 - number)})"
    high, low = number >> 64, number & (1 << 64) - 1
    wide = "unsigned __int128" if number >> 127 else "__int128"
    return f"(({wide}){high}ULL << 64 | {low}ULL)"


def unsigned_literal(number: int, bits: int) -> str:
    """A number that is not negative as one of the unsigned type of 32, 64 or 128 bits, which arithmetic keeps."""
    if bits == 128:
        return f"(unsigned __int128){literal(number)}"
    return f"{number}{'U' if bits == 32 else 'ULL'}"
