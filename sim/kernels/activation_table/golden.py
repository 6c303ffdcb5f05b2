"""Golden reference of activation_table: logistic and tanh of bytes, of which TFLite keeps a table of all 256.

    x = scale * (input - zero);  output = bound( f(x) / output scale, rounded ) + output zero

The output's scale and zero point are those that TFLite prescribes: 1/256 and the lowest byte for the logistic, 1/128
and the middle for tanh.  A *mode* names the function, the bytes, and the arithmetic: float32, or fixed point.
Source: docs/spec/neighbours.md section 23.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import frexp
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from sim.golden.fixed_point import divide_by_power_of_two_ties_away
from sim.golden.layers import gemmlowp
from sim.golden.scaling import double_rounding
from sim.kernels.names import Modes

AnyArray = npt.NDArray[Any]
Floats = npt.NDArray[np.float32]
Steps = dict[str, AnyArray]
SCALES: Final = (2.0**-20, 2.0**4)
"""Least and most that a scale may be."""


def logistic(x: Floats) -> Floats:
    """1 / (1 + exp(-x)), each operation rounded to float32."""
    with np.errstate(over="ignore"):
        power = np.exp(-x.astype(np.float64)).astype(np.float32)
    return np.float32(1) / (np.float32(1) + power)


def tanh(x: Floats) -> Floats:
    """Rounded to float32."""
    return np.tanh(x.astype(np.float64)).astype(np.float32)


class Function(NamedTuple):
    """A function in float32 and in fixed point; `units` are how many output steps 1 has, as a power of two.

    `lowest` says that 0 is the lowest byte, else the middle of all.
    """

    in_float: Callable[[Floats], Floats]
    in_fixed_point: Callable[[AnyArray], AnyArray]
    units: int
    lowest: bool


FUNCTIONS: Final[Mapping[str, Function]] = {
    "logistic": Function(logistic, gemmlowp.logistic, 8, True),
    "tanh": Function(tanh, gemmlowp.tanh, 7, False),
}


class Mode(NamedTuple):
    """The function by its name, the bytes, and whether it is in fixed point."""

    source: str
    function: str
    dtype: np.dtype[Any]
    is_fixed: bool = False

    @property
    def output_zero(self) -> int:
        """The zero point that TFLite prescribes."""
        limits = np.iinfo(self.dtype)
        return int(limits.min) if FUNCTIONS[self.function].lowest else (int(limits.min) + int(limits.max) + 1) // 2


_TABLE: Final = "TFLite's kernels without delegates: a table of float32, rounded away"
_FIXED: Final = "TensorFlow Lite Micro: gemmlowp's fixed point"
_UINT8, _INT8 = np.dtype(np.uint8), np.dtype(np.int8)
MODES: Final = Modes(
    logistic_s8=Mode(f"LOGISTIC of int8. {_TABLE}", "logistic", _INT8),
    tanh_s8=Mode(f"TANH of int8. {_TABLE}", "tanh", _INT8),
    logistic_u8=Mode(f"LOGISTIC of uint8. {_TABLE}", "logistic", _UINT8),
    tanh_u8=Mode(f"TANH of uint8. {_TABLE}", "tanh", _UINT8),
    logistic_s8_fixed_point=Mode(f"LOGISTIC of int8. {_FIXED}", "logistic", _INT8, True),
    tanh_s8_fixed_point=Mode(f"TANH of int8. {_FIXED}", "tanh", _INT8, True),
)


@dataclass(frozen=True)
class Parameters:
    """The input's scale, float32 in 2^-20..16, and its zero point.  `TypeError`: another type.  `ValueError`: range."""

    scale: np.float32
    zero: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.scale, np.float32):
            raise TypeError(f"the scale is {self.scale!r}: give a numpy.float32, nothing is rounded silently")
        if not SCALES[0] <= self.scale <= SCALES[1]:
            raise ValueError(f"the scale is {self.scale}: it must lie in 2^-20..16")


def steps(input: AnyArray, parameters: Parameters, mode: str = "logistic_s8") -> Steps:
    """Every intermediate value, keyed by step, each of the shape of `input`, which has the mode's dtype.

    In float32: difference, x, function, scaled, rounded, bounds; in fixed point: difference, x (in units of 2^-27),
    function (of 2^-31), rounded, bounds.  `TypeError`: another dtype. `ValueError`: a zero point that is no byte of it,
    or an unknown mode.
    """
    rule = MODES[mode]
    if not isinstance(input, np.ndarray) or input.dtype != rule.dtype:
        raise TypeError(f"input is not a numpy array of {rule.dtype}: nothing is cast silently")
    limits = np.iinfo(rule.dtype)
    if not limits.min <= parameters.zero <= limits.max:
        raise ValueError(f"the zero point is {parameters.zero}: it must lie in {limits.min}..{limits.max}")
    difference = input.astype(np.int32) - parameters.zero
    made = (_in_fixed_point if rule.is_fixed else _in_float)(difference, parameters.scale, rule)
    *_, rounded = made.values()
    placed = rounded.astype(np.int64) + rule.output_zero
    return {"difference": difference} | made | {"bounds": np.clip(placed, limits.min, limits.max)}


def activation_table(input: AnyArray, parameters: Parameters, mode: str = "logistic_s8") -> AnyArray:
    """The bytes, the last of `steps`, whose contract it shares.

    >>> activation_table(np.array([-128, 0, 127], np.int8), Parameters(np.float32(0.05)))
    array([-128,    0,  127], dtype=int8)
    """
    return steps(input, parameters, mode)["bounds"].astype(MODES[mode].dtype)


def _in_float(difference: AnyArray, scale: np.float32, rule: Mode) -> Steps:
    function = FUNCTIONS[rule.function]
    x = difference.astype(np.float32) * scale
    made = function.in_float(x)
    scaled = made * np.float32(1 << function.units)
    return {
        "x": x,
        "function": made,
        "scaled": scaled,
        "rounded": np.trunc(scaled + np.copysign(np.float32(0.5), scaled)),
    }


def _in_fixed_point(difference: AnyArray, scale: np.float32, rule: Mode) -> Steps:
    """What is 15 or more is beyond: the function is 0 or 1 there, -1 or 1."""
    function = FUNCTIONS[rule.function]
    integer_bits = gemmlowp.OF_32_BITS.integer_bits
    fraction, left_shift = frexp(float(scale) * 2.0 ** (31 - integer_bits))
    multiplier = round(fraction * 2**31)
    radius = int(
        (2**gemmlowp.OF_32_BITS.integer_bits - 1) * 2 ** (31 - gemmlowp.OF_32_BITS.integer_bits) / 2**left_shift
    )
    inside = np.abs(difference) < radius
    x = double_rounding(np.where(inside, difference, 0), multiplier, left_shift)
    made = function.in_fixed_point(x)
    rounded = divide_by_power_of_two_ties_away(made, 31 - function.units)
    beyond = np.where(difference > 0, 1 << function.units, 0 if function.lowest else -(1 << function.units))
    return {"x": x, "function": made, "rounded": np.where(inside, rounded, beyond)}


def otherwise(input: AnyArray, parameters: Parameters, mode: str, rounded: Callable[[Floats], Floats]) -> AnyArray:
    """In float32 with another rounding of what is scaled."""
    rule, limits = MODES[mode], np.iinfo(MODES[mode].dtype)
    scaled = _in_float(input.astype(np.int32) - parameters.zero, parameters.scale, rule)["scaled"]
    return np.clip(rounded(scaled) + rule.output_zero, limits.min, limits.max).astype(rule.dtype)


def of_other_bytes(input: AnyArray, parameters: Parameters, mode: str) -> AnyArray:
    """The output of the byte with its top bit flipped: a table that is read by bytes of the other sign."""
    return activation_table((input.view(np.uint8) ^ 128).view(input.dtype), parameters, mode)
