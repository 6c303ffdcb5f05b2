"""Golden reference of TFLite's add of int16 tensors whose scales are powers of two: one operand is shifted right.

    clamp(sat16(kept + D(moved, n)), lower, upper);  D: divide by 2^n, to the nearest, ties away from zero

Source: docs/spec/neighbours.md section 24.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np

from sim.golden.fixed_point import (
    Int32Array,
    clamp,
    divide_by_power_of_two_ties_away,
    divide_by_power_of_two_ties_up,
    divided_of_16,
    shift_right_floor,
)
from sim.kernels.kernel import Inputs, Outputs
from sim.kernels.quantized_add import golden_tflite_s16
from sim.kernels.quantized_add.golden import Steps
from sim.kernels.quantized_add.golden_tflite_s16 import HIGHEST, LOWEST, Int16Array, derived_of_16

SHIFTS: Final = range(-31, 1)
_NEAR: Final = np.float32(1e-3)
Divide = Callable[[Int16Array, int], Int32Array]
"""Numbers of 16 bits by 2^n, n 0..31."""


@dataclass(frozen=True, kw_only=True)
class ParametersOfPowers:
    """The shifts of both operands, -31..0, negative to the right, one of them 0; and the bounds.

    `ValueError` for numbers out of range, two shifts, and lower > upper.
    """

    a_shift: int = 0
    b_shift: int = 0
    lower: int = LOWEST
    upper: int = HIGHEST

    def __post_init__(self) -> None:
        for name in ("a_shift", "b_shift"):
            if getattr(self, name) not in SHIFTS:
                raise ValueError(f"{name} is {getattr(self, name)}: it must lie in {SHIFTS[0]}..{SHIFTS[-1]}")
        if self.a_shift and self.b_shift:
            raise ValueError(f"shifts are {self.a_shift} and {self.b_shift}: one operand must have the output's scale")
        if not LOWEST <= self.lower <= self.upper <= HIGHEST:
            what = f"give {LOWEST} <= lower <= upper <= {HIGHEST}"
            raise ValueError(f"bounds are {self.lower} and {self.upper}: {what}")


def log2_of(scale: float) -> int | None:
    """The exponent of what TFLite takes for a power of two: log2 within 0.001 of it, in float32; None for all else.

    >>> log2_of(0.25), log2_of(0.2501), log2_of(0.3)
    (-2, -2, None)
    """
    single = np.float32(scale)
    if not 0 < single < np.inf:
        return None
    exact = np.log(single) * (np.float32(1) / np.log(np.float32(2)))
    nearest = np.round(exact)
    return int(nearest) if abs(exact - nearest) < _NEAR else None


def derived_of_powers(a: float, b: float, output: float) -> ParametersOfPowers:
    """The shifts that TFLite makes of three scales.

    `ValueError`: one is no power of two, so that `derived_of_16` is what TFLite does; or they do not go together, which
    TFLite refuses: one operand has the output's scale, the other that or a smaller one.

    >>> derived_of_powers(0.25, 0.0625, 0.25).b_shift
    -2
    """
    first, second, whole = (log2_of(scale) for scale in (a, b, output))
    if first is None or second is None or whole is None:
        raise ValueError(f"scales are {a}, {b} and {output}: not all of them are powers of two")
    return ParametersOfPowers(a_shift=first - whole, b_shift=second - whole)


def steps(inputs: Inputs, divide: Divide = divided_of_16, saturates: bool = True) -> Steps:
    """Every intermediate value, keyed by step, in order of execution, each of the shape of `a`.

    `a` and `b` are int16 of one shape.  Keys: a, b, the int32 shift, of b where the shift of a is 0 and else of a, and
    sum, and output, int16.
    """
    by: ParametersOfPowers = inputs["parameters"]
    a, b = inputs["a"], inputs["b"]
    kept, moved, shift = (b, a, by.a_shift) if by.a_shift else (a, b, by.b_shift)
    divided = divide(moved, -shift)
    exact = kept.astype(np.int32) + divided
    total = clamp(exact, LOWEST, HIGHEST) if saturates else exact.astype(np.int16).astype(np.int32)
    output = clamp(total, by.lower, by.upper).astype(np.int16)
    return {"a": a, "b": b, "shift": divided, "sum": total, "output": output}


def _otherwise(inputs: Inputs, divide: Divide = divided_of_16, saturates: bool = True) -> Outputs:
    return {"output": steps(inputs, divide, saturates)["output"]}


def _divided_in_32_bits(values: Int16Array, count: int) -> Int32Array:
    """Without the mask of 16 bits."""
    return divide_by_power_of_two_ties_away(values.astype(np.int32), count)


def _of_any_scales(inputs: Inputs) -> Outputs:
    """What TFLite makes of the same scales where they are not taken for powers of two."""
    by: ParametersOfPowers = inputs["parameters"]
    given = replace(derived_of_16(2.0**by.a_shift, 2.0**by.b_shift, 1.0), lower=by.lower, upper=by.upper)
    return {"output": golden_tflite_s16.steps({**inputs, "parameters": given})["output"]}


OTHERS: Final[Mapping[str, Callable[[Inputs], Outputs]]] = {
    "ties_up": partial(_otherwise, divide=partial(divided_of_16, divide=divide_by_power_of_two_ties_up)),
    "shift_rounds_down": partial(_otherwise, divide=partial(divided_of_16, divide=shift_right_floor)),
    "divided_in_32_bits": partial(_otherwise, divide=_divided_in_32_bits),
    "sum_wraps": partial(_otherwise, saturates=False),
    "tflite_s16": _of_any_scales,
}
"""What a port may do instead."""
