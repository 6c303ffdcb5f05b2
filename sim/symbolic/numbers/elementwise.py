"""What numpy's operations on integers make of one element, as lanes: exact first, then brought into numpy's dtype.

Operands are lanes that lie in the dtypes of numpy's loop (`ufunc.resolve_dtypes`).  What numpy defines where C does not
is kept: a shift by the width or more, or by a negative count; a division by zero, which is 0 and a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from isa.evaluate.exact import Evaluation
from isa.lane import Binary, Constant, Int, Lane, constant, divide, lift, pick
from isa.lane import maximum as larger_of
from isa.lane import minimum as smaller_of
from sim.prove.claim import ClaimInputs

DType = np.dtype[Any]
TRUE: Final = constant(1)
FALSE: Final = constant(0)


def element_type(dtype: DType) -> Int:
    """The element type of an integer dtype; of booleans a bit.  Raises ValueError for any other."""
    if dtype.kind not in "iub":
        raise ValueError(f"{dtype} is no integer type")
    return Int(1 if dtype.kind == "b" else 8 * dtype.itemsize, dtype.kind == "i")


def cast(lane: Lane, dtype: DType) -> Lane:
    """The number as numpy stores it in the dtype: the low bits; of booleans whether it is not 0."""
    return nonzero(lane) if dtype.kind == "b" else element_type(dtype).wrap(lane)


def settled(lane: Lane) -> Lane:
    """The number that an operation on numbers is; any other operation as it is."""
    if lane.args and all(isinstance(arg, Constant) for arg in lane.args):
        return constant(Evaluation(ClaimInputs({})).value(lane))
    return lane


def nonzero(lane: Lane) -> Lane:
    """1 where the number is not 0."""
    if lane.low == 0 and lane.high <= 1:
        return lane
    return negated(equal(lane, FALSE))


def negated(condition: Lane) -> Lane:
    """1 where the condition, 0 or 1, is 0."""
    return settled(TRUE - condition)


def less(a: Lane, b: Lane) -> Lane:
    """1 where a < b, decided by the ranges where they decide it."""
    if a.high < b.low:
        return TRUE
    return FALSE if a.low >= b.high or a is b else a < b


def equal(a: Lane, b: Lane) -> Lane:
    """1 where both are the same number, decided by the ranges where they decide it."""
    if a.high < b.low or b.high < a.low:
        return FALSE
    return TRUE if a is b or (a.value is not None and a.value == b.value) else a.equals(b)


def smaller(a: Lane, b: Lane) -> Lane:
    """The smaller number, which is an operand where the ranges decide it."""
    return a if a.high <= b.low else b if b.high <= a.low else smaller_of(a, b)


def larger(a: Lane, b: Lane) -> Lane:
    """The larger number, which is an operand where the ranges decide it."""
    return b if a.high <= b.low else a if b.high <= a.low else larger_of(a, b)


def chosen(condition: Lane, yes: Lane, no: Lane) -> Lane:
    """`yes` where the condition, 0 or 1, is 1."""
    if condition.value is not None or yes is no:
        return yes if condition.value != 0 else no
    return pick(condition, (no,), yes)


def shifted_left(a: Lane, count: Lane, bits: int) -> Lane:
    """a * 2^count, 0 in the low bits where the count is none of 0..bits - 1."""
    return settled(a << _known_count(count, bits))


def shifted_right(a: Lane, count: Lane, bits: int) -> Lane:
    """floor(a / 2^count), by all bits where the count is none of 0..bits - 1."""
    return settled(a >> _known_count(count, bits))


def _known_count(count: Lane, bits: int) -> Lane:
    if count.low >= 0 and count.high < bits:
        return count
    return chosen(less(count, FALSE), constant(bits), larger(smaller(count, constant(bits)), FALSE))


def floored_quotient(a: Lane, b: Lane) -> Lane:
    """floor(a / b), and 0 where b is 0."""
    quotient = settled(divide(a, b))
    if a.low >= 0 and b.low >= 0:
        return quotient
    rest = settled(a - settled(quotient * b))
    opposite = settled(less(rest, FALSE) ^ less(b, FALSE))
    down = settled(settled(nonzero(rest) & opposite) & nonzero(b))
    return settled(quotient - down)


def floored_rest(a: Lane, b: Lane) -> Lane:
    """a - b * floor(a / b), and 0 where b is 0."""
    return chosen(nonzero(b), settled(a - settled(b * floored_quotient(a, b))), FALSE)


def difference(a: Lane, b: Lane) -> Lane:
    """a - b; (x ^ 2^n) - 2^n, which extends the sign of x in n + 1 bits, is that signed number."""
    match a, b:
        case Binary("xor", x, Constant(sign)), Constant(other) if sign == other > 0 == sign & (sign - 1):
            if x.low >= 0 and x.high < 2 * sign:
                return Int(sign.bit_length(), signed=True).wrap(x)
    return settled(a - b)


def both_bits(a: Lane, b: Lane) -> Lane:
    """a & b; of a mask of the low bits it is the number that these are."""
    for mask, other in ((a, b), (b, a)):
        if mask.value is not None and mask.low > 0 == mask.low & (mask.low + 1):
            return Int(mask.low.bit_length(), signed=False).wrap(other)
    return settled(a & b)


def multiplied(a: Lane, b: Lane) -> Lane:
    """a * b; of a sign or a condition it is a choice, which a solver knows better than a product."""
    few, other = (a, b) if b.high - b.low > a.high - a.low else (b, a)
    if few.value is not None or few.low < -1 or few.high > 1:
        return settled(a * b)
    not_positive = chosen(less(few, FALSE), settled(-other), FALSE)
    return chosen(less(FALSE, few), other, not_positive)


def sign_of(a: Lane) -> Lane:
    """-1, 0 or 1."""
    return settled(less(FALSE, a) - less(a, FALSE))


Elementwise = Callable[..., Lane]
ELEMENTWISE: Final[Mapping[np.ufunc, Elementwise]] = {
    np.add: lambda bits, a, b: settled(a + b),
    np.subtract: lambda bits, a, b: difference(a, b),
    np.multiply: lambda bits, a, b: multiplied(a, b),
    np.negative: lambda bits, a: settled(-a),
    np.positive: lambda bits, a: a,
    np.absolute: lambda bits, a: a if a.low >= 0 else larger(a, settled(-a)),
    np.sign: lambda bits, a: sign_of(a),
    np.square: lambda bits, a: settled(a * a),
    np.minimum: lambda bits, a, b: smaller(a, b),
    np.maximum: lambda bits, a, b: larger(a, b),
    np.fmin: lambda bits, a, b: smaller(a, b),
    np.fmax: lambda bits, a, b: larger(a, b),
    np.floor_divide: lambda bits, a, b: floored_quotient(a, b),
    np.remainder: lambda bits, a, b: floored_rest(a, b),
    np.left_shift: lambda bits, a, b: shifted_left(a, b, bits),
    np.right_shift: lambda bits, a, b: shifted_right(a, b, bits),
    np.bitwise_and: lambda bits, a, b: both_bits(a, b),
    np.bitwise_or: lambda bits, a, b: settled(a | b),
    np.bitwise_xor: lambda bits, a, b: settled(a ^ b),
    np.invert: lambda bits, a: negated(a) if bits == 1 else settled(~a),
    np.less: lambda bits, a, b: less(a, b),
    np.greater: lambda bits, a, b: less(b, a),
    np.less_equal: lambda bits, a, b: negated(less(b, a)),
    np.greater_equal: lambda bits, a, b: negated(less(a, b)),
    np.equal: lambda bits, a, b: equal(a, b),
    np.not_equal: lambda bits, a, b: negated(equal(a, b)),
    np.logical_and: lambda bits, a, b: settled(nonzero(a) & nonzero(b)),
    np.logical_or: lambda bits, a, b: settled(nonzero(a) | nonzero(b)),
    np.logical_xor: lambda bits, a, b: settled(nonzero(a) ^ nonzero(b)),
    np.logical_not: lambda bits, a: negated(nonzero(a)),
}
"""By numpy's function: the exact number that it makes of operands in its loop's dtype of so many bits."""

COMPARISONS: Final = frozenset({np.less, np.greater, np.less_equal, np.greater_equal, np.equal, np.not_equal})
"""Those that compare the exact numbers, of whatever integer types."""

FOLDS: Final[Mapping[np.ufunc, tuple[Elementwise, int | None]]] = {
    np.add: (lambda a, b: settled(a + b), 0),
    np.multiply: (lambda a, b: settled(a * b), 1),
    np.minimum: (smaller, None),
    np.maximum: (larger, None),
    np.logical_and: (lambda a, b: settled(nonzero(a) & nonzero(b)), 1),
    np.logical_or: (lambda a, b: settled(nonzero(a) | nonzero(b)), 0),
    np.bitwise_and: (lambda a, b: settled(a & b), -1),
    np.bitwise_or: (lambda a, b: settled(a | b), 0),
    np.bitwise_xor: (lambda a, b: settled(a ^ b), 0),
}
"""What a reduction does with two numbers, and what it begins with; None where it begins with the first."""


def lane_of(number: Any) -> Lane:
    """A number of an array of objects as a lane: one that numpy put there is a plain integer."""
    return number if isinstance(number, Lane) else lift(int(number))
