"""Offsets of a quantized matrix product: which sign they have, which sums a batch uses, the terms that they add.

A product of (A + a) and (B + b) is the product of A and B, plus a * the column sums of B, plus b * the row sums of A,
plus K * a * b, where K is the number of columns of A. Every multiplication and addition wraps in 32 bits.
The contract of fixed_point.py holds: integer operands in int32 that broadcast, new int32 arrays, `TypeError` for
another dtype, `ValueError` for a number outside int32.
Sources: docs/spec/offset_contribution.md; docs/spec/known_differences.md rows 14 and 15.
"""

import numpy as np

from sim.golden.declaration import convention
from sim.golden.fixed_point import Int32Array, Integers, int32_operand, wrap_int32


@convention(
    formula="wrap_int32((a + a_offset) * (b + b_offset))",
    users="ACL and gemmlowp, whose callers pass the negated zero points",
    rows=("14",),
)
def offsets_added(a: Integers, b: Integers, a_offset: Integers, b_offset: Integers) -> Int32Array:
    """One product of a quantized matrix multiplication, its offsets added to the numbers.

    >>> int(offsets_added(5, 7, 2, 3))
    70
    """
    return wrapped_product(_sum(a, a_offset), _sum(b, b_offset))


@convention(
    formula="wrap_int32((a - a_zero) * (b - b_zero))",
    users="ArmNN and ONNX",
    rows=("14",),
)
def zero_points_subtracted(a: Integers, b: Integers, a_zero: Integers, b_zero: Integers) -> Int32Array:
    """One product of a quantized matrix multiplication, the zero points subtracted from the numbers.

    >>> int(zero_points_subtracted(5, 7, 2, 3))
    12
    """
    return wrapped_product(_difference(a, a_zero), _difference(b, b_zero))


@convention(
    formula="sums[batch], or sums[0] where b = 1",
    users="ACL on OpenCL, and on the CPU in later versions",
    rows=("15",),
)
def column_sums_by_batch(column_sums: Integers, batches: int) -> Int32Array:
    """The column sums that each of `batches` batches uses: its own.

    `column_sums` is [columns], shared by all, or [b, columns], where b is 1 or at least `batches`; the result is
    [batches, columns]. `ValueError`: fewer sums than batches, or another rank.

    >>> column_sums_by_batch(np.array([[1], [2]]), 2).tolist()
    [[1], [2]]
    """
    sums = _by_batch(column_sums)
    if len(sums) != 1 and len(sums) < batches:
        raise ValueError(
            f"column sums have {len(sums)} batches, {batches} are needed: give 1, or as many as are needed"
        )
    return np.array(np.broadcast_to(sums[:batches], (batches, sums.shape[1])))


@convention(
    formula="sums[0]",
    users="ACL on NEON in 19.08 to 20.11, where the step from batch to batch is a stride that the tensor does not have",
    rows=("15",),
)
def column_sums_of_first_batch(column_sums: Integers, batches: int) -> Int32Array:
    """The column sums that each of `batches` batches uses: those of batch 0, however many there are.

    Arrays as in `column_sums_by_batch`.

    >>> column_sums_of_first_batch(np.array([[1], [2]]), 2).tolist()
    [[1], [1]]
    """
    sums = _by_batch(column_sums)
    return np.array(np.broadcast_to(sums[:1], (batches, sums.shape[1])))


def wrapped_product(values: Integers, factor: Integers) -> Int32Array:
    """The low 32 bits of a product, as a multiplication of int32 leaves them: a term of the offsets.

    Formula: wrap_int32(x * y).

    >>> int(wrapped_product(2**16, 2**15))
    -2147483648
    """
    return wrap_int32(int32_operand(values, "values") * int32_operand(factor, "factor"))


def _sum(values: Integers, offset: Integers) -> Int32Array:
    return wrap_int32(int32_operand(values, "values") + int32_operand(offset, "offset"))


def _difference(values: Integers, zero: Integers) -> Int32Array:
    return wrap_int32(int32_operand(values, "values") - int32_operand(zero, "zero point"))


def _by_batch(column_sums: Integers) -> Int32Array:
    sums = np.atleast_2d(wrap_int32(int32_operand(column_sums, "column sums")))
    if sums.ndim != 2 or len(sums) == 0:
        raise ValueError(f"column sums have shape {sums.shape}: give [columns] or [batches, columns]")
    return sums
