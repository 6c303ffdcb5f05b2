"""Golden reference of quantize_down: ACL's NEGEMMLowpQuantizeDownInt32ToUint8ScaleByFixedPoint, ToInt8 and ToInt16.

    accumulator + bias -> multiply (Q0.31, ties up) -> shift (rounded) -> + offset -> clamp, 0..255 -> bounds

One function, several conventions: a *mode* names what one version, page or code path does (see `MODES`).
Sources: docs/spec/quantize_down.md; docs/spec/neighbours.md section 7 for int8 and int16; what a mode reproduces is
cited at the mode.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Final, TypedDict

import numpy as np
import numpy.typing as npt

from sim.golden.bounds import (
    bounds_19_08,
    bounds_20_05,
    bounds_as_given,
    bounds_fault_19_08,
    limit_on_int32,
    low_byte,
    no_fault,
    order_fault,
)
from sim.golden.fixed_point import (
    INT32_MAX,
    INT32_MIN,
    Int32Array,
    clamp,
    divide_by_power_of_two_ties_away,
    doubling_high_multiply,
    doubling_high_multiply_unsaturated,
    shift_left_wrap,
    shift_right_floor,
    tail_shift,
    vector_shift,
    wrap_int32,
)
from sim.kernels.names import Modes

AnyArray = npt.NDArray[Any]
Steps = dict[str, Int32Array]

BLOCK_COLUMNS: Final = 16  # four int32x4 a step, narrowed to one uint8x16
BLOCK_COLUMNS_OF_INT16: Final = 8
_UINT8: Final = np.dtype(np.uint8)
HIGHEST_RANK: Final = 6  # an ACL tensor has at most six dimensions


@dataclass(frozen=True)
class Parameters:
    """The scalars of the stage, each in int32; `TypeError` or `ValueError` names the one that is not.

    `multiplier` is Q0.31. `shift` counts to the right, in bits. `offset` is added after the shift. `minimum` and
    `maximum` are in output units; what the default 0, 0 means depends on the mode (see `effective_bounds`).
    """

    multiplier: int
    shift: int
    offset: int = 0
    minimum: int = 0
    maximum: int = 0

    def __post_init__(self) -> None:
        for field in fields(self):
            name, value = field.name, getattr(self, field.name)
            if not isinstance(value, int) or isinstance(value, bool):
                raise TypeError(f"{name} is {value!r}: give an int")
            if not INT32_MIN <= value <= INT32_MAX:
                raise ValueError(f"{name} is {value}: it must lie in int32, {INT32_MIN}..{INT32_MAX}")


@dataclass(frozen=True)
class Mode:
    """One convention: what each rule of the stage is in it.

    `shifts` are the shifts it defines. `scale` takes the sum with the bias, the multiplier and the shift to the steps
    of multiply and shift. `bounds_fault` gives the sentence with which (minimum, maximum) are refused, or None, of an
    output of the range that follows. `bounds` gives the (lower, upper) with which `narrowing` brings the values to
    `dtype`, step by step. ACL's name of that type is `output_type`; without `has_offset` there is none to add.
    """

    source: str
    shifts: range
    scale: Callable[[Int32Array, int, int], Steps]
    bounds_fault: Callable[[int, int, int, int], str | None]
    bounds: Callable[[int, int, int, int], tuple[int, int]]
    narrowing: Callable[[Int32Array, tuple[int, int], np.dtype[Any]], Steps]
    dtype: np.dtype[Any] = _UINT8
    output_type: str = "QASYMM8"
    has_offset: bool = True

    @property
    def range(self) -> tuple[int, int]:
        """The lowest and the highest number of the output's type."""
        limits = np.iinfo(self.dtype)
        return int(limits.min), int(limits.max)


def multiply_then(shift_right: Callable[[Int32Array, int], Int32Array]) -> Callable[[Int32Array, int, int], Steps]:
    """The steps multiply, saturated, and shift, by this rule."""

    def scale(biased: Int32Array, multiplier: int, shift: int) -> Steps:
        multiplied = doubling_high_multiply(biased, multiplier)
        return {"multiply": multiplied, "shift": shift_right(multiplied, shift)}

    return scale


_ROUNDED: Final = multiply_then(divide_by_power_of_two_ties_away)


def left_or_right(biased: Int32Array, multiplier: int, shift: int) -> Steps:
    """The steps multiply and shift, ties away; a negative shift goes to the left before the multiply, and wraps."""
    if shift >= 0:
        return _ROUNDED(biased, multiplier, shift)
    shifted = shift_left_wrap(biased, -shift)
    return {"shift": shifted, "multiply": doubling_high_multiply(shifted, multiplier)}


def lanes_and_tail_of_int16(biased: Int32Array, multiplier: int, shift: int) -> Steps:
    """As `left_or_right` in whole 8-blocks; the last N mod 8 columns keep 64 bits of the product until it is rounded.

    It is shifted left too, and after the rounding cut to int32. Shift -30..31; what is beyond 64 bits wraps, as it
    does on AArch64, though C leaves it undefined. One step. Source: docs/spec/neighbours.md section 16.
    """
    split = biased.shape[-1] // BLOCK_COLUMNS_OF_INT16 * BLOCK_COLUMNS_OF_INT16
    *_, lanes = left_or_right(biased[..., :split], multiplier, shift).values()
    tail = biased[..., split:]
    if shift >= 0:
        last = divide_by_power_of_two_ties_away(doubling_high_multiply_unsaturated(tail, multiplier), shift)
    else:
        product = (tail.astype(np.int64) * multiplier) << -shift
        last = wrap_int32((product + (1 << 30)) >> 31)
    return {"multiply and shift": np.concatenate([lanes, last], axis=-1)}


def shift_lanes_and_tail(values: Int32Array, shift: int) -> Int32Array:
    """Shift the columns of whole 16-blocks by `vector_shift` and the last N mod 16 by `tail_shift`.

    int32 of any rank from 1, last axis N; any int32 shift. Source: docs/spec/quantize_down.md section 3.
    """
    split = values.shape[-1] // BLOCK_COLUMNS * BLOCK_COLUMNS
    lanes, tail = values[..., :split], values[..., split:]
    return np.concatenate([vector_shift(lanes, shift), tail_shift(tail, shift)], axis=-1)


def saturate_then_bound(values: Int32Array, bounds: tuple[int, int], dtype: np.dtype[Any]) -> Steps:
    """The steps clamp, to the range of the output, and bounds."""
    limits = np.iinfo(dtype)
    clamped = clamp(values, int(limits.min), int(limits.max))
    return {"clamp": clamped, "bounds": clamp(clamped, *bounds)}


def bound_then_low_byte(values: Int32Array, bounds: tuple[int, int], dtype: np.dtype[Any]) -> Steps:
    """The steps bounds, max then min on int32, so that the upper wins where it is the smaller, and low byte.

    Source: docs/spec/neighbours.md section 5; docs/spec/known_differences.md row 9c. Upstream leaves the fix-up of
    the shift out when the lower bound reaches the offset; that shows only where the offset addition wraps, and is
    modelled in kernel fused_output_stage.
    """
    bounded = limit_on_int32(values, *bounds)
    return {"bounds": bounded, "low byte": low_byte(bounded)}


_ROUNDED_SHIFTS: Final = range(0, 32)
_SHIFTS_WITH_LEFT: Final = range(-31, 32)
_ALL_SHIFTS: Final = range(INT32_MIN, INT32_MAX + 1)


class _Output(TypedDict):
    dtype: np.dtype[Any]
    output_type: str
    has_offset: bool


_INT8: Final[_Output] = {"dtype": np.dtype(np.int8), "output_type": "QASYMM8_SIGNED", "has_offset": True}
_INT16: Final[_Output] = {"dtype": np.dtype(np.int16), "output_type": "QSYMM16", "has_offset": False}

MODES: Final = Modes(
    acl_19_08=Mode(
        source="v19.08 kernel and its reference: ties away, minimum == maximum is not bounded",
        shifts=_ROUNDED_SHIFTS,
        scale=_ROUNDED,
        bounds_fault=bounds_fault_19_08,
        bounds=bounds_19_08,
        narrowing=saturate_then_bound,
    ),
    acl_20_02_left_shift=Mode(
        source=(
            "v20.02: as 19.08, and a negative shift is a wrapping left shift before the multiply "
            "(docs/spec/known_differences.md rows 7, 8, 8b)"
        ),
        shifts=_SHIFTS_WITH_LEFT,
        scale=left_or_right,
        bounds_fault=bounds_fault_19_08,
        bounds=bounds_19_08,
        narrowing=saturate_then_bound,
    ),
    acl_20_05_bounds=Mode(
        source=(
            "v20.05: as 20.02, left shift included, with the new rule for bounds (docs/spec/known_differences.md row 9)"
        ),
        shifts=_SHIFTS_WITH_LEFT,
        scale=left_or_right,
        bounds_fault=order_fault,
        bounds=bounds_20_05,
        narrowing=saturate_then_bound,
    ),
    page=Mode(
        source=(
            "the public page of 19.08: a literal >> "
            "(docs/spec/known_differences.md row 3b); all else as 19.08, the page being silent there"
        ),
        shifts=_ROUNDED_SHIFTS,
        scale=multiply_then(shift_right_floor),
        bounds_fault=bounds_fault_19_08,
        bounds=bounds_19_08,
        narrowing=saturate_then_bound,
    ),
    acl_19_08_lanes_and_tail=Mode(
        source=(
            "v19.08 kernel for any shift, supported or not: 16-column blocks and tail shift apart "
            "(docs/spec/known_differences.md row 8b)"
        ),
        shifts=_ALL_SHIFTS,
        scale=multiply_then(shift_lanes_and_tail),
        bounds_fault=bounds_fault_19_08,
        bounds=bounds_19_08,
        narrowing=saturate_then_bound,
    ),
    acl_19_08_fused=Mode(
        source=(
            "v19.08 fused AArch64 path: always bounded, on int32, then the low byte "
            "(docs/spec/known_differences.md rows 9, 9b, 9c)"
        ),
        shifts=_ROUNDED_SHIFTS,
        scale=_ROUNDED,
        bounds_fault=no_fault,
        bounds=bounds_as_given,
        narrowing=bound_then_low_byte,
    ),
    acl_20_02_s8=Mode(
        source="v20.02, ToInt8: as 20.02 to uint8, clamped to -128..127, where minimum == maximum is not bounded",
        shifts=_SHIFTS_WITH_LEFT,
        scale=left_or_right,
        bounds_fault=bounds_fault_19_08,
        bounds=bounds_19_08,
        narrowing=saturate_then_bound,
        **_INT8,
    ),
    acl_20_05_s8=Mode(
        source="v20.05, ToInt8: as 20.02, with the new rule for bounds (docs/spec/known_differences.md row 9)",
        shifts=_SHIFTS_WITH_LEFT,
        scale=left_or_right,
        bounds_fault=order_fault,
        bounds=bounds_20_05,
        narrowing=saturate_then_bound,
        **_INT8,
    ),
    acl_19_08_s16=Mode(
        source="v19.08, ToInt16: as 19.08 to uint8 without an offset, clamped to -32768..32767",
        shifts=_ROUNDED_SHIFTS,
        scale=_ROUNDED,
        bounds_fault=bounds_fault_19_08,
        bounds=bounds_19_08,
        narrowing=saturate_then_bound,
        **_INT16,
    ),
    acl_20_05_s16=Mode(
        source=(
            "v20.05, ToInt16: with the left shift of 20.02 and the new rule for bounds; the last N mod 8 columns "
            "multiply in 64 bits (docs/spec/neighbours.md section 16)"
        ),
        shifts=range(-30, 32),
        scale=lanes_and_tail_of_int16,
        bounds_fault=order_fault,
        bounds=bounds_20_05,
        narrowing=saturate_then_bound,
        **_INT16,
    ),
)


def effective_bounds(parameters: Parameters, mode: str = "acl_19_08") -> tuple[int, int]:
    """The (lower, upper) that the step bounds applies: in the output's range, all of it when not bounded.

    Of the fused path they are as given.

    `ValueError` when the mode refuses (minimum, maximum). Source: docs/spec/quantize_down.md section 6.
    """
    rule = MODES[mode]
    fault = rule.bounds_fault(parameters.minimum, parameters.maximum, *rule.range)
    if fault is not None:
        raise ValueError(f"{fault} (mode {mode})")
    return rule.bounds(parameters.minimum, parameters.maximum, *rule.range)


def steps(accumulators: Int32Array, bias: Int32Array | None, parameters: Parameters, mode: str = "acl_19_08") -> Steps:
    """Every intermediate value, keyed by step, in order of execution.

    `accumulators` is int32 of rank 1 to 6, zero-size axes allowed, last axis N; `bias` is int32[N] or None. Keys:
    accumulator, bias, multiply, shift, offset, clamp, bounds; a left shift puts shift before multiply, and the fused
    path ends in bounds, low byte; acl_20_05_s16 has the one step multiply and shift. Without an offset there is no
    step offset. Each value is a new int32 array of the shape of `accumulators`, as it stands after that step.
    `TypeError`: not an int32 array. `ValueError`: rank, bias shape, or a shift, offset, bound or name that the mode
    refuses.
    Source: docs/spec/quantize_down.md section 2.
    """
    _require_tensor(accumulators, bias)
    rule, shift = MODES[mode], parameters.shift
    if not rule.shifts[0] <= shift <= rule.shifts[-1]:
        alike = {name: other for name, other in MODES.items() if other.dtype == rule.dtype}
        able = ", ".join(name for name, other in alike.items() if other.shifts[0] <= shift <= other.shifts[-1])
        legal = f"{rule.shifts[0]}..{rule.shifts[-1]}"
        raise ValueError(f"shift is {shift}: mode {mode} defines {legal}; modelled by: {able}")
    if not rule.has_offset and parameters.offset:
        raise ValueError(f"offset is {parameters.offset}: mode {mode} adds none, give 0")
    bounds = effective_bounds(parameters, mode)
    biased = accumulators.copy() if bias is None else wrap_int32(accumulators.astype(np.int64) + bias)
    scaled = rule.scale(biased, parameters.multiplier, shift)
    *_, last = scaled.values()
    placed = {"offset": wrap_int32(last.astype(np.int64) + parameters.offset)} if rule.has_offset else {}
    narrowed = rule.narrowing(placed.get("offset", last), bounds, rule.dtype)
    return {"accumulator": accumulators.copy(), "bias": biased, **scaled, **placed, **narrowed}


def quantize_down(
    accumulators: Int32Array, bias: Int32Array | None, parameters: Parameters, mode: str = "acl_19_08"
) -> AnyArray:
    """The output, of the mode's dtype and the shape of `accumulators`: the last of `steps`, whose contract it shares.

    >>> quantize_down(np.array([-30, 0, 25], np.int32), None, Parameters(254601600, 1, offset=2))
    array([0, 2, 4], dtype=uint8)
    """
    *_, last = steps(accumulators, bias, parameters, mode).values()
    return last.astype(MODES[mode].dtype)


def _require_tensor(accumulators: Int32Array, bias: Int32Array | None) -> None:
    _require_int32_array("accumulators", accumulators)
    if not 1 <= accumulators.ndim <= HIGHEST_RANK:
        raise ValueError(f"accumulators have rank {accumulators.ndim}: give 1 to {HIGHEST_RANK} axes")
    if bias is None:
        return
    _require_int32_array("bias", bias)
    if bias.shape != accumulators.shape[-1:]:
        raise ValueError(f"bias has shape {bias.shape}: it must be {accumulators.shape[-1:]}, one for each column")


def _require_int32_array(name: str, array: AnyArray) -> None:
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{name} is a {type(array).__name__}: give a numpy array of dtype int32")
    if array.dtype != np.int32:
        raise TypeError(f"{name} has dtype {array.dtype}: give int32, nothing is cast silently")
