"""Atomic read-modify-write of memory (Arm ARM C6.2: LDADD to SWP, CAS, CASP), as one thread sees it.

One load and one store of the same bytes: the old value goes into a register, a new one into memory.  Acquire and
release order accesses of several threads and mean nothing here.  The address must be a multiple of the size, for which
engines stand, not expressions.
"""

from __future__ import annotations

from collections.abc import Callable

from isa.lane import Int, Lane, Write, load, maximum, minimum, select
from isa.operands import Address, General
from isa.semantics.elementwise import Body, Writes

Combine = Callable[[Int, Lane, Lane], Lane]
"""What an operation makes of the element in memory and of the register: both unsigned, `to` wide."""


def add(to: Int, old: Lane, operand: Lane) -> Lane:
    """LDADD."""
    return to.wrap(old + operand)


def clear_bits(to: Int, old: Lane, operand: Lane) -> Lane:
    """LDCLR: the bits that are 1 in the register become 0."""
    return old & to.wrap(~operand)


def exclusive_or(to: Int, old: Lane, operand: Lane) -> Lane:
    """LDEOR."""
    return old ^ operand


def set_bits(to: Int, old: Lane, operand: Lane) -> Lane:
    """LDSET."""
    return old | operand


def _signed(to: Int, lane: Lane) -> Lane:
    return Int(to.bits, True).wrap(lane)


def larger_signed(to: Int, old: Lane, operand: Lane) -> Lane:
    """LDSMAX."""
    return to.wrap(maximum(_signed(to, old), _signed(to, operand)))


def smaller_signed(to: Int, old: Lane, operand: Lane) -> Lane:
    """LDSMIN."""
    return to.wrap(minimum(_signed(to, old), _signed(to, operand)))


def larger(to: Int, old: Lane, operand: Lane) -> Lane:
    """LDUMAX."""
    return maximum(old, operand)


def smaller(to: Int, old: Lane, operand: Lane) -> Lane:
    """LDUMIN."""
    return minimum(old, operand)


def swap(to: Int, old: Lane, operand: Lane) -> Lane:
    """SWP."""
    return operand


def _element(register: General, bits: int | None) -> Int:
    return Int(bits or register.bits, False)


def _store(address: Address, element: Int, *lanes: Lane) -> Write:
    return Write(address.memory(len(lanes) * element.bits // 8), element.bits, lanes)


def fetch_and(combine: Combine, bits: int | None = None) -> Body:
    """LDADD, ..., SWP: combine memory with the first register; the second gets the old value, zero-extended.

    `bits` is the size in memory, by default that of the registers.
    """

    def body(operand: General, d: General, address: Address) -> Writes:
        element = _element(operand, bits)
        old = load(address.value, element.bits // 8)
        return (_store(address, element, combine(element, old, element.wrap(operand.value))), *d.receive(old))

    return body


def combine_only(combine: Combine, bits: int | None = None) -> Body:
    """STADD, ...: as `fetch_and`, with the old value lost."""

    def body(operand: General, address: Address) -> Writes:
        element = _element(operand, bits)
        old = load(address.value, element.bits // 8)
        return (_store(address, element, combine(element, old, element.wrap(operand.value))),)

    return body


def compare_and_swap(bits: int | None = None) -> Body:
    """CAS: the second register goes to memory if it holds the first; the first gets the old value, zero-extended.

    Where they differ, the old value is stored back: Arm lets it be written or not, and a page that cannot be written
    is a fault either way.
    """

    def body(expected: General, new: General, address: Address) -> Writes:
        element = _element(expected, bits)
        old = load(address.value, element.bits // 8)
        same = old.equals(element.wrap(expected.value))
        return (_store(address, element, select(same, element.wrap(new.value), old)), *expected.receive(old))

    return body


def compare_and_swap_pair(s1: General, s2: General, t1: General, t2: General, address: Address) -> Writes:
    """CASP: as CAS, of two adjacent registers and two adjacent elements; both must be equal."""
    low, high = s1.type.lanes(load(address.value, s1.bits // 4), 2)
    same = low.equals(s1.value) & high.equals(s2.value)
    stored = _store(address, s1.type, select(same, t1.value, low), select(same, t2.value, high))
    return (stored, *s1.receive(low), *s2.receive(high))
