"""Shifts of one lane: by an immediate, by a register, rounding, saturating, inserting (Arm ARM C7.2)."""

from __future__ import annotations

from collections.abc import Callable

from isa.lane import S8, Int, Lane, constant, lift, maximum, minimum, select


def rounding_shift_right(a: Lane, count: Lane | int) -> Lane:
    """Half of the last bit shifted out is added first: ties go up.  A count of 0 leaves `a`."""
    return (a + ((constant(1) << count) >> 1)) >> count


def shift_left(to: Int, a: Lane, count: Lane) -> Lane:
    """SHL, SSHLL, USHLL, SHLL: the low bits; in the long forms none is lost."""
    return to.wrap(a << count)


def shift_right(to: Int, a: Lane, count: Lane) -> Lane:
    """SSHR, USHR: rounded down; SHRN: the low bits of that."""
    return to.wrap(a >> count)


def rounding_right(to: Int, a: Lane, count: Lane) -> Lane:
    """SRSHR, URSHR: ties up; RSHRN: the low bits of that."""
    return to.wrap(rounding_shift_right(a, count))


def shift_right_accumulate(to: Int, accumulator: Lane, a: Lane, count: Lane) -> Lane:
    """SSRA, USRA: rounded down, then added; the sum wraps."""
    return to.wrap(accumulator + (a >> count))


def rounding_right_accumulate(to: Int, accumulator: Lane, a: Lane, count: Lane) -> Lane:
    """SRSRA, URSRA: ties up, then added; the sum wraps."""
    return to.wrap(accumulator + rounding_shift_right(a, count))


def saturating_shift_left(to: Int, a: Lane, count: Lane) -> Lane:
    """SQSHL, UQSHL, SQSHLU by an immediate."""
    return to.saturate(a << count)


def shift_left_insert(to: Int, old: Lane, a: Lane, count: Lane) -> Lane:
    """SLI: the bits below the shifted value stay."""
    return to.wrap((a << count) | (old & (constant(1) << count) - 1))


def shift_right_insert(to: Int, old: Lane, a: Lane, count: Lane) -> Lane:
    """SRI: the bits above the shifted value stay."""
    kept = (old >> (constant(to.bits) - count)) << (constant(to.bits) - count)
    return to.wrap((a >> count) | kept)


def _by_register(a: Lane, count: Lane, right: Callable[[Lane, Lane], Lane], bits: int) -> Lane:
    """Left by the signed low byte of `count`, right where it is negative.

    Beyond the width of the lane the answer no longer changes, so the counts are clamped there: a left shift by
    `bits` leaves no bit of the lane (and is out of range unless the lane is 0), a right shift by `bits` + 1 leaves
    0 or -1 and, rounded, 0.
    """
    by = S8.wrap(count)
    left_count = minimum(maximum(by, 0), bits)
    right_count = minimum(maximum(-by, 0), bits + 1)
    return select(by < 0, right(a, right_count), a << left_count)


def _floor(a: Lane, count: Lane) -> Lane:
    return a >> count


def shift_by_register(to: Int, a: Lane, count: Lane) -> Lane:
    """SSHL, USHL: to the right rounded down."""
    return to.wrap(_by_register(a, count, _floor, to.bits))


def rounding_shift_by_register(to: Int, a: Lane, count: Lane) -> Lane:
    """SRSHL, URSHL: to the right with ties up."""
    return to.wrap(_by_register(a, count, rounding_shift_right, to.bits))


def saturating_shift_by_register(to: Int, a: Lane, count: Lane) -> Lane:
    """SQSHL, UQSHL by a register: saturates to the left, rounded down to the right."""
    return to.saturate(_by_register(a, count, _floor, to.bits))


def saturating_rounding_shift_by_register(to: Int, a: Lane, count: Lane) -> Lane:
    """SQRSHL, UQRSHL: saturates to the left, ties up to the right."""
    return to.saturate(_by_register(a, count, rounding_shift_right, to.bits))


def exclusive_or_rotate(to: Int, a: Lane, b: Lane, count: Lane) -> Lane:
    """XAR: the exclusive or, rotated right."""
    value = a ^ b
    return to.wrap((value >> count) | (value << (lift(to.bits) - count)))
