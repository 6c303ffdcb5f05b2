"""Golden reference of TFLite's integer add of int16 tensors of any scales: zero points are 0, the left shift is 15.

    u = a << left_shift, likewise v;  total = M(u, a) + M(v, b);  clamp(M(total), lower, upper)
    M: multiply (Q0.31, ties up), then shift to the right (ties away from zero)

Source: docs/spec/neighbours.md sections 13 and 24.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sim.golden import scaling
from sim.golden.derivation import derive_tflite
from sim.golden.fixed_point import shift_left_wrap
from sim.golden.integer_addition import LEFT_SHIFTS, Rescale, rescaling_of
from sim.kernels.kernel import Inputs, Outputs
from sim.kernels.quantized_add.golden import Steps
from sim.kernels.quantized_add.golden_tflite import Scale, scaled

Int16Array = npt.NDArray[np.int16]
LEFT_SHIFT: Final = LEFT_SHIFTS[16]
LOWEST, HIGHEST = -32768, 32767


@dataclass(frozen=True, kw_only=True)
class ParametersOf16:
    """How each operand and the sum are scaled, by multipliers of 0 and more; `left_shift` is 0..15; the bounds.

    With these no sum leaves int32.  `ValueError` for numbers out of range, and for lower > upper.
    """

    a: Scale
    b: Scale
    total: Scale
    left_shift: int = LEFT_SHIFT
    lower: int = LOWEST
    upper: int = HIGHEST

    def __post_init__(self) -> None:
        for name in ("a", "b", "total"):
            if getattr(self, name).multiplier < 0:
                raise ValueError(f"the multiplier of {name} is {getattr(self, name).multiplier}: it must be 0 or more")
        if not 0 <= self.left_shift <= LEFT_SHIFT:
            raise ValueError(f"left_shift is {self.left_shift}: it must lie in 0..{LEFT_SHIFT}")
        if not LOWEST <= self.lower <= self.upper <= HIGHEST:
            what = f"give {LOWEST} <= lower <= upper <= {HIGHEST}"
            raise ValueError(f"bounds are {self.lower} and {self.upper}: {what}")


def derived_of_16(a: float, b: float, output: float) -> ParametersOf16:
    """The integers that TFLite makes of three scales.

    `ValueError`: one that is not above 0 and finite, and 2 max(a, b) from 2^15 output on, where the sum would be
    shifted to the left.
    """
    for scale in (a, b, output):
        if not 0 < scale < np.inf:
            raise ValueError(f"the scale is {scale}: the integer add takes finite ones above 0")
    first, second, total = (Scale(*by) for by in rescaling_of((a, b, output), LEFT_SHIFT, derive_tflite))
    return ParametersOf16(a=first, b=second, total=total)


def steps(inputs: Inputs) -> Steps:
    """Every intermediate value, keyed by step, in order of execution, each of the shape of `a`.

    `a` and `b` are int16 of one shape.  Keys: a, b, the int32 a left shift, a multiply, a shift (those of b are left
    out), sum, multiply, shift, and output, int16.
    """
    by: ParametersOf16 = inputs["parameters"]
    operands = []
    for values, scale in ((inputs["a"], by.a), (inputs["b"], by.b)):
        shifted = shift_left_wrap(values.astype(np.int32), by.left_shift)
        operands.append({"left shift": shifted, **scaled(shifted, scale)})
    first, second = operands
    total = first["shift"] + second["shift"]
    whole = scaled(total, by.total)
    output = np.clip(whole["shift"], by.lower, by.upper).astype(np.int16)
    opened = {f"a {name}": values for name, values in first.items()}
    return {"a": inputs["a"], "b": inputs["b"], **opened, "sum": total, **whole, "output": output}


def _otherwise(inputs: Inputs, rescale: Rescale) -> Outputs:
    by: ParametersOf16 = inputs["parameters"]

    def placed(values: npt.NDArray[Any], scale: Scale) -> npt.NDArray[np.int32]:
        return rescale(shift_left_wrap(values.astype(np.int32), by.left_shift), scale.multiplier, scale.shift)

    total = rescale(placed(inputs["a"], by.a) + placed(inputs["b"], by.b), by.total.multiplier, by.total.shift)
    return {"output": np.clip(total, by.lower, by.upper).astype(np.int16)}


OTHERS: Final[Mapping[str, Callable[[Inputs], Outputs]]] = {
    "single_rounding": partial(_otherwise, rescale=scaling.single_rounding_narrowed),
    "ties_up": partial(_otherwise, rescale=scaling.double_rounding_ties_up),
    "shift_rounds_down": partial(_otherwise, rescale=scaling.double_rounding_floor),
}
"""What a port may do instead."""
