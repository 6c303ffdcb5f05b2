"""Golden reference of quantized_multiplier: a real factor made Q0.31 multiplier and shift, then int32 products by it.

    factor -> (multiplier, left shift);  value -> left shift (wraps) -> multiply (ties up) -> right shift (ties away)

One function, several conventions: a *mode* names the system whose constructor and product these are (see `MODES`).
Source: docs/spec/quantized_multiplier.md sections 2, 3 and 6.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from sim.golden.derivation import (
    Derived,
    Real,
    derive_acl_19_08,
    derive_acl_20_02,
    derive_armnn,
    derive_tflite,
)
from sim.golden.fixed_point import (
    Int32Array,
    divide_by_power_of_two_ties_away,
    doubling_high_multiply,
    shift_left_wrap,
    tail_shift,
)
from sim.kernels.names import Modes

Steps = dict[str, Int32Array]
LOWEST_EXPONENT: Final = -148  # of the smallest subnormal float32, as a fraction of 1/2 or more


@dataclass(frozen=True)
class Mode:
    """One convention: the constructor, the left shifts (negative to the right) of its product, and the right shift."""

    source: str
    derive: Callable[[Real], Derived]
    left_shifts: range
    right_shift: Callable[[Int32Array, int], Int32Array] = divide_by_power_of_two_ties_away


MODES: Final = Modes(
    armnn_24_08=Mode(
        source="ArmNN 24.08: the class QuantizedMultiplierSmallerThanOne, on its defined range 0 or 2^-32 up to 1",
        derive=derive_armnn,
        left_shifts=range(-31, 1),
    ),
    x86_count_mod_32=Mode(
        source=(
            "ArmNN 24.08 below 2^-32, where C leaves the shift undefined: x86 counts modulo 32 "
            "(docs/spec/known_differences.md row 6c)"
        ),
        derive=derive_armnn,
        left_shifts=range(LOWEST_EXPONENT, 1),
        right_shift=tail_shift,
    ),
    acl_19_08=Mode(
        source=(
            "ACL 19.08: calculate_quantized_multiplier_less_than_one and its output stage "
            "(docs/spec/known_differences.md rows 6 and 6b)"
        ),
        derive=derive_acl_19_08,
        left_shifts=range(-31, 1),
    ),
    acl_20_02=Mode(
        source=(
            "ACL 20.02: calculate_quantized_multiplier and its output stage, left shifts included "
            "(docs/spec/known_differences.md rows 6, 7, 8)"
        ),
        derive=derive_acl_20_02,
        left_shifts=range(-31, 32),
    ),
    tflite=Mode(
        source=(
            "TFLite, double rounding: QuantizeMultiplier, MultiplyByQuantizedMultiplier "
            "(docs/spec/known_differences.md rows 6, 6c, 6d, 8)"
        ),
        derive=derive_tflite,
        left_shifts=range(-31, 32),
    ),
)


def steps(values: Int32Array, factor: Real, mode: str = "armnn_24_08") -> Steps:
    """Every intermediate value, keyed by step, in order of execution: left shift, multiply, right shift.

    `values` is int32 of any shape; each step is a new int32 array of that shape.
    `TypeError`: another dtype, or a factor that is no real number. `ValueError`: a factor that the constructor refuses,
    or whose shift the product leaves undefined.
    """
    if not isinstance(values, np.ndarray):
        raise TypeError(f"values is a {type(values).__name__}: give a numpy array of dtype int32")
    if values.dtype != np.int32:
        raise TypeError(f"values has dtype {values.dtype}: give int32, nothing is cast silently")
    multiplier, left_shift = defined_parameters(factor, mode)
    shifted = shift_left_wrap(values, max(left_shift, 0))
    multiplied = doubling_high_multiply(shifted, multiplier)
    right_shifted = MODES[mode].right_shift(multiplied, max(-left_shift, 0))
    return {"left shift": shifted, "multiply": multiplied, "right shift": right_shifted}


def quantized_multiplier(values: Int32Array, factor: Real, mode: str = "armnn_24_08") -> Int32Array:
    """The int32 products, of the shape of `values`: the last of `steps`, whose contract and errors it shares.

    >>> quantized_multiplier(np.array([1, 5, -1, -8], np.int32), 0.25)
    array([ 1,  2,  0, -2], dtype=int32)
    """
    return steps(values, factor, mode)["right shift"]


def defined_parameters(factor: Real, mode: str = "armnn_24_08") -> Derived:
    """What the constructor makes of the factor; `ValueError` where it or the product does not define it."""
    rule = MODES[mode]
    derived = rule.derive(factor)
    if derived.left_shift not in rule.left_shifts:
        legal = f"the product of mode {mode} defines {rule.left_shifts[0]}..{rule.left_shifts[-1]}"
        raise ValueError(f"the factor {factor} gives a left shift of {derived.left_shift}: {legal}")
    return derived
