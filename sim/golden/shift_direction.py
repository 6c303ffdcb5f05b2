"""Which way a system's "shift" counts: the same numbers read in two ways (docs/spec/known_differences.md row 7)."""

from sim.golden.declaration import convention
from sim.golden.fixed_point import Int32Array, Integers, int32_operand, wrap_int32
from sim.golden.scaling import double_rounding


@convention(
    formula="double_rounding(x, q, -shift), shift -31..31",
    users="ACL, ArmNN and gemmlowp's stage by fixed point",
    rows=("7",),
)
def shift_counts_right(values: Integers, multiplier: Integers, shift: Integers) -> Int32Array:
    """Scale with two roundings by multiplier * 2^(-31 - shift): the shift is one to the right.

    >>> shift_counts_right(4, 2**30, 1)
    array(1, dtype=int32)
    """
    return double_rounding(values, multiplier, wrap_int32(-int32_operand(shift, "shift")))


@convention(
    formula="double_rounding(x, q, shift), shift -31..31",
    users="TFLite, ruy, CMSIS-NN and gemmlowp's stage by exponent",
    rows=("7",),
)
def shift_counts_left(values: Integers, multiplier: Integers, shift: Integers) -> Int32Array:
    """Scale with two roundings by multiplier * 2^(shift - 31): the shift is one to the left.

    >>> shift_counts_left(4, 2**30, 1)
    array(4, dtype=int32)
    """
    return double_rounding(values, multiplier, shift)
