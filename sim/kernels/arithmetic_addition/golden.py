"""Golden reference of arithmetic_addition: ACL's NEArithmeticAddition on integers and on quantized numbers.

Integers are added in their own type, which wraps or saturates.  Quantized ones are made float32, added there and
quantized again: in whole blocks by the reciprocal of the scale, ties to even after the zero point was added; in the
columns behind them by the quotient, ties away before it.  So the two differ, and a *mode* says what was contracted.
Source: docs/spec/neighbours.md sections 14 and 19.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from sim.golden.byte_rounding import offset_then_round_even, offset_then_round_even_fused, round_away_then_offset
from sim.golden.floating_point import to_int32_ties_even
from sim.kernels.names import Modes

AnyArray = npt.NDArray[Any]
Steps = dict[str, AnyArray]


class Quantized(NamedTuple):
    """Scales and zero points of both inputs and of the output; the zero points of int16 are 0."""

    a_scale: float
    b_scale: float
    output_scale: float
    a_zero: int = 0
    b_zero: int = 0
    output_zero: int = 0


class Mode(NamedTuple):
    """The type, ACL's name of it, and how it is added; `block` is the columns of a step of a quantized one."""

    source: str
    dtype: np.dtype[Any]
    data_type: str
    saturates: bool = True
    is_fused: bool = False
    block: int = 0


_UINT8, _INT16 = np.dtype(np.uint8), np.dtype(np.int16)
MODES: Final = Modes(
    u8_wrap=Mode("v19.08, U8 with ConvertPolicy WRAP", _UINT8, "U8", saturates=False),
    u8_saturate=Mode("v19.08, U8 with ConvertPolicy SATURATE", _UINT8, "U8"),
    s16_wrap=Mode("v19.08, S16 with ConvertPolicy WRAP", _INT16, "S16", saturates=False),
    s16_saturate=Mode("v19.08, S16 with ConvertPolicy SATURATE", _INT16, "S16"),
    qasymm8_unfused=Mode("v19.08, QASYMM8 in a build that contracts nothing", _UINT8, "QASYMM8", block=16),
    qasymm8_fused=Mode(
        "v19.08, QASYMM8 in a build that contracts vmlaq_f32 to FMLA", _UINT8, "QASYMM8", is_fused=True, block=16
    ),
    qsymm16=Mode("v19.08, QSYMM16 in a build that contracts nothing", _INT16, "QSYMM16", block=8),
)


def steps(a: AnyArray, b: AnyArray, quantized: Quantized | None = None, mode: str = "u8_wrap") -> Steps:
    """Every intermediate value, keyed by step: add; of a quantized mode dequantize a, dequantize b, add, quantize.

    `a` and `b` are of the mode's dtype and one shape of rank 1 or more; blocks begin with the last axis. `quantized`
    is for the quantized modes. `TypeError`: another dtype. `ValueError`: shapes, or an unknown mode.
    """
    rule = MODES[mode]
    for name, array in (("a", a), ("b", b)):
        if not isinstance(array, np.ndarray) or array.dtype != rule.dtype:
            raise TypeError(f"{name} is not a numpy array of {rule.dtype}: nothing is cast silently")
    if a.shape != b.shape or not a.ndim:
        raise ValueError(f"a has shape {a.shape} and b {b.shape}: give one shape, of rank 1 or more")
    if not rule.block:
        limits, added = np.iinfo(rule.dtype), a.astype(np.int64) + b
        return {"add": (np.clip(added, limits.min, limits.max) if rule.saturates else added).astype(rule.dtype)}
    if quantized is None:
        raise ValueError(f"mode {mode} needs scales: give Quantized(...)")
    return _quantized_steps(a, b, quantized, rule)


def one_arithmetic(a: AnyArray, b: AnyArray, quantized: Quantized, mode: str, in_blocks: bool) -> AnyArray:
    """The sums of a quantized mode, all of them as in whole blocks or as in the tail; otherwise as `steps`."""
    rule = MODES[mode]._replace(block=1 if in_blocks else a.shape[-1] + 1)
    return _quantized_steps(a, b, quantized, rule)["quantize"]


def _quantized_steps(a: AnyArray, b: AnyArray, quantized: Quantized, rule: Mode) -> Steps:
    real_a = (a.astype(np.int32) - quantized.a_zero).astype(np.float32) * np.float32(quantized.a_scale)
    real_b = (b.astype(np.int32) - quantized.b_zero).astype(np.float32) * np.float32(quantized.b_scale)
    total: npt.NDArray[np.float32] = real_a + real_b
    split = a.shape[-1] // rule.block * rule.block
    lanes, tail = total[..., :split], total[..., split:]
    scale, zero = np.float32(quantized.output_scale), quantized.output_zero
    if rule.dtype == _INT16:
        whole, rest = _int16_lanes(lanes, scale), _int16_tail(tail, scale)
    else:
        by_lanes = offset_then_round_even_fused if rule.is_fused else offset_then_round_even
        whole, rest = by_lanes(lanes, scale, zero), round_away_then_offset(tail, scale, zero)
    added = np.concatenate([whole, rest], axis=-1)
    return {"dequantize a": real_a, "dequantize b": real_b, "add": total, "quantize": added}


def arithmetic_addition(
    a: AnyArray, b: AnyArray, quantized: Quantized | None = None, mode: str = "u8_wrap"
) -> AnyArray:
    """The sums, the last of `steps`, whose contract it shares.

    >>> arithmetic_addition(np.array([200], np.uint8), np.array([100], np.uint8), mode="u8_saturate")
    array([255], dtype=uint8)
    """
    *_, last = steps(a, b, quantized, mode).values()
    return last


def quantized_of(arguments: Mapping[str, Any], mode: str) -> Quantized | None:
    """Scales and zero points among the arguments of a kernel of the mode."""
    fields = {name: arguments[name] for name in Quantized._fields if name in arguments}
    return Quantized(**fields) if MODES[mode].block else None


def _int16_lanes(total: npt.NDArray[np.float32], scale: np.float32) -> AnyArray:
    return _saturated(to_int32_ties_even(total * (np.float32(1) / scale)))


def _int16_tail(total: npt.NDArray[np.float32], scale: np.float32) -> AnyArray:
    quotient = (total / scale).astype(np.float64)
    return _saturated(np.sign(quotient) * np.floor(np.abs(quotient) + 0.5))


def _saturated(numbers: AnyArray) -> AnyArray:
    return np.clip(numbers, -32768, 32767).astype(np.int16)
