"""Golden reference of the integer add of TFLite and CMSIS-NN with double rounding, from its integers on.

    u = (a + a_offset) << left_shift, likewise v;  total = M(u, a) + M(v, b);  clamp(M(total) + offset, lower, upper)
    M: multiply (Q0.31, ties up), then shift to the right (ties away from zero)

Of the integers that `derived` makes, the output is that of `sim.golden.addition.add_tflite`.
Source: docs/spec/neighbours.md section 13; docs/spec/known_differences.md row 11.
"""

from dataclasses import dataclass

import numpy as np

from sim.golden.addition import LEFT_SHIFT, AddParameters, Uint8Array, to_bytes
from sim.golden.derivation import derive_tflite
from sim.golden.fixed_point import (
    INT32_MAX,
    INT32_MIN,
    Int32Array,
    clamp,
    divide_by_power_of_two_ties_away,
    doubling_high_multiply,
    shift_left_wrap,
)
from sim.kernels.quantized_add.golden import Steps


@dataclass(frozen=True)
class Scale:
    """A factor below 1 as TFLite keeps it: `multiplier` is Q0.31, `shift` is -31..0, negative to the right.

    `multiplier` may be any int32, though TFLite's are never negative.  `ValueError` for numbers out of range.
    """

    multiplier: int
    shift: int = 0

    def __post_init__(self) -> None:
        _require("multiplier", self.multiplier, INT32_MIN, INT32_MAX)
        _require("shift", self.shift, -31, 0)


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The integers of the add: how each operand and the sum are scaled, the zero points 0..255, the bounds.

    `left_shift` is 0..20, 20 in TFLite; `lower` and `upper` are 0..255.  With these no sum leaves int32.  `ValueError`
    for numbers out of range, and for lower > upper.
    """

    a: Scale
    b: Scale
    total: Scale
    a_zero: int = 0
    b_zero: int = 0
    output_zero: int = 0
    left_shift: int = LEFT_SHIFT
    lower: int = 0
    upper: int = 255

    def __post_init__(self) -> None:
        for name in ("a_zero", "b_zero", "output_zero", "lower"):
            _require(name, getattr(self, name), 0, 255)
        _require("left_shift", self.left_shift, 0, LEFT_SHIFT)
        _require("upper", self.upper, self.lower, 255)


def _require(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise ValueError(f"{name} is {value}: it must lie in {low}..{high}")


def derived(parameters: AddParameters) -> Parameters:
    """The integers that TFLite makes of scales and zero points; ReLU becomes the lower bound.

    `ValueError`: a scale that is not above 0 and finite, a zero point outside 0..255, and 2 max(sa, sb) from 2^20 sd
    on, where the sum would be shifted to the left.
    """
    scales = [float(quantization.scale) for quantization in (parameters.a, parameters.b, parameters.output)]
    for scale in scales:
        if not 0 < scale < np.inf:
            raise ValueError(f"the scale is {scale}: the integer add takes finite ones above 0")
    twice_largest, zero = 2 * max(scales[:2]), parameters.output.zero_point
    factors = (scales[0] / twice_largest, scales[1] / twice_largest, twice_largest / (2**LEFT_SHIFT * scales[2]))
    a, b, total = (Scale(*derive_tflite(factor)) for factor in factors)
    return Parameters(
        a=a,
        b=b,
        total=total,
        a_zero=parameters.a.zero_point,
        b_zero=parameters.b.zero_point,
        output_zero=zero,
        lower=zero if parameters.relu else 0,
    )


def steps(a: Uint8Array, b: Uint8Array, parameters: Parameters) -> Steps:
    """Every intermediate value, keyed by step, in order of execution, each of the shape of `a`.

    `a` and `b` are uint8 of one shape.  Keys: a, b, the int32 a offset, a left shift, a multiply, a shift (those of b
    are left out: each step follows from the one before), sum, multiply, shift, offset, and output, uint8.
    """
    operands = []
    for values, zero, scale in ((a, parameters.a_zero, parameters.a), (b, parameters.b_zero, parameters.b)):
        difference = values.astype(np.int32) - np.int32(zero)
        shifted = shift_left_wrap(difference, parameters.left_shift)
        operands.append({"offset": difference, "left shift": shifted, **scaled(shifted, scale)})
    first, second = operands
    total = first["shift"] + second["shift"]
    whole = scaled(total, parameters.total)
    placed = whole["shift"] + np.int32(parameters.output_zero)
    output = to_bytes(clamp(placed, parameters.lower, parameters.upper))
    opened = {f"a {name}": values for name, values in first.items()}
    return {"a": a, "b": b, **opened, "sum": total, **whole, "offset": placed, "output": output}


def scaled(values: Int32Array, scale: Scale) -> dict[str, Int32Array]:
    """Both roundings of one rescaling, by the names of their steps."""
    multiplied = doubling_high_multiply(values, scale.multiplier)
    return {"multiply": multiplied, "shift": divide_by_power_of_two_ties_away(multiplied, -scale.shift)}
