"""Softmax along the last axis: TFLite's tables of float32 and of 16 bits, fixed point and way of int16, ONNX Runtime's.

    out = exp(b*s * (q - max)) / sum of these / output scale, rounded, + zero        before the bounds

They part next to ties only.  `rows` are arrays of bytes (int8 or uint8), or where that is said of int16, of any number
of axes, one at least; results are int64 of their shape.  `units`, 1 or -1, is by how many units in the last place what
multiplies differences, an integer or float32, is off.  Source: docs/spec/neighbours.md sections 29, 31 and 32.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from sim.golden.derivation import derive_tflite
from sim.golden.fixed_point import (
    INT32_MAX,
    Int64Array,
    divide_by_power_of_two_ties_away,
    doubling_high_multiply,
)
from sim.golden.floating_point import off_by
from sim.golden.layers.gemmlowp import exp_of_minus, one_over_one_plus
from sim.golden.layers.interpolation import Float, interpolated, table_of
from sim.golden.scaling import double_rounding

Steps = dict[str, npt.NDArray[Any]]
DIFFERENCE_BITS: Final = 5
"""Before the point of a difference in fixed point: what is 31 or more below the largest counts as nothing."""
SUM_BITS: Final = 12
_BYTES: Final = 256
_KEPT: Final = 5
"""Powers of e by which sums in ONNX Runtime stay below the largest float32."""
_LARGEST_OF_16: Final = (1 << 16) - 1
_EXP_WIDTH: Final = 10.0
"""Of what is further below the largest, the power counts as that of 10."""
_LONGEST_SHIFT: Final = 15


class SoftmaxScales(NamedTuple):
    """The scales of input and output, and by what the input is multiplied besides."""

    input: np.float32
    output: np.float32
    beta: np.float32


def by_table(
    rows: npt.NDArray[Any], scales: SoftmaxScales, output_zero: int, to_int16: bool = False, units: int = 0
) -> Steps:
    """Every intermediate value: difference, exp (float32), sum, scaled, output.

    Sums are added in float32, one after the other.  To uint8 a half is added in float32 and the rest cut off.

    >>> by_table(np.array([[3, 4, 4]], np.int8), SoftmaxScales(*map(np.float32, (0.1, 1 / 256, 1))), -128)["output"]
    array([[-48, -40, -40]])
    """
    difference = _differences(rows)
    table = _exp(-off_by(scales.input * scales.beta, units))
    powers = table[difference]
    total = np.add.accumulate(powers, axis=-1, dtype=np.float32)[..., -1:]
    scaled = powers * (np.float32(1) / (total * scales.output))
    is_cut = rows.dtype == np.uint8 and not to_int16
    halves = scaled + np.float32(0.5) if is_cut else scaled.astype(np.float64) + 0.5
    output = np.floor(halves).astype(np.int64) + output_zero
    return {"difference": difference, "exp": powers, "sum": total, "scaled": scaled, "output": output}


def by_table_of_16_bits(rows: npt.NDArray[Any], scales: SoftmaxScales, output_zero: int, units: int = 0) -> Steps:
    """The same with a table of uint16, exact sums and a multiplier of 31 bits: difference, exp, sum, output.

    >>> by = SoftmaxScales(*map(np.float32, (0.1, 1 / 256, 1)))
    >>> by_table_of_16_bits(np.array([[3, 4, 4]], np.int8), by, -128)["output"]
    array([[-48, -40, -40]])
    """
    difference = _differences(rows)
    reals = _exp(-off_by(scales.input * scales.beta, units)) * np.float32(_LARGEST_OF_16)
    table = reals.astype(np.float64) + 0.5
    powers = np.minimum(table.astype(np.int64), _LARGEST_OF_16)[difference]
    total = powers.sum(axis=-1, keepdims=True)
    sums, places = np.unique(total, return_inverse=True)
    derived = np.array([derive_tflite(np.float32(1) / (np.float32(one) * scales.output)) for one in sums])
    multipliers, shifts = (numbers[places].reshape(total.shape) for numbers in derived.T)
    output = double_rounding(powers, multipliers, shifts).astype(np.int64) + output_zero
    return {"difference": difference, "exp": powers, "sum": total, "output": output}


def in_fixed_point(
    rows: npt.NDArray[Any], scales: SoftmaxScales, output_zero: int, to_int16: bool = False, units: int = 0
) -> Steps:
    """By gemmlowp's exp and reciprocal: difference, exp (units of 2^-31), sum (of 2^-19), share (of 2^-31), output.

    The output's scale is 1/256, of 16 bits 1/65536, whatever is given.  `ValueError`: beta times the input's scale is
    2^-26 or less, or to bytes a sum 512 or more, where upstream's checks end the program.

    >>> in_fixed_point(np.array([[3, 4, 4]], np.int8), SoftmaxScales(*map(np.float32, (0.1, 0, 1))), -128)["output"]
    array([[-48, -40, -40]])
    """
    fraction = 31 - DIFFERENCE_BITS
    factor = float(scales.beta) * float(scales.input) * 2.0**fraction
    if not factor > 1:
        raise ValueError(f"the scale is {scales.input} and beta {scales.beta}: their product has to be above 2^-26")
    derived, left_shift = derive_tflite(factor)  # upstream's has a limit, from which on the radius is 0 anyway
    multiplier = derived + units
    radius = (((1 << DIFFERENCE_BITS) - 1) << fraction) >> left_shift
    difference = _differences(rows)
    scaled = doubling_high_multiply(-np.minimum(difference, radius) << left_shift, multiplier)
    powers = np.where(difference <= radius, exp_of_minus(-scaled, DIFFERENCE_BITS), 0)
    terms = divide_by_power_of_two_ties_away(powers, SUM_BITS)
    total = terms.astype(np.int64).sum(axis=-1, keepdims=True)
    whole_bits = np.frexp(total.astype(np.float64))[1] - (31 - SUM_BITS) - 1
    right = whole_bits + 31 - (16 if to_int16 else 8)
    if right.size and right.max() > 31:
        raise ValueError(f"a sum of exponentials is {total.max() / 2 ** (31 - SUM_BITS):.6g}: it has to be below 512")
    reciprocal = one_over_one_plus(((total << (SUM_BITS - whole_bits)) & INT32_MAX).astype(np.int32))
    share = doubling_high_multiply(np.broadcast_to(reciprocal, powers.shape), powers)
    output = divide_by_power_of_two_ties_away(share, right).astype(np.int64) + output_zero
    return {"difference": difference, "exp": powers, "sum": total, "share": share, "output": output}


def by_interpolation(
    rows: npt.NDArray[Any], scales: SoftmaxScales, output_zero: int, real: Float, units: int = 0
) -> Steps:
    """Of int16, to units of 2^-15: exp and 1 / (1 + x) by tables that are made in float32 or float64.

    Every intermediate value: difference (from -10 to 0 in 65535 steps), exp (2^-15), sum, reciprocal, output.
    `ValueError`: beta times the input's scale is 5 or more, or a row has more than 65536 numbers, of which upstream's
    integers overflow.

    >>> by = SoftmaxScales(*map(np.float32, (0.001, 1 / 32768, 1)))
    >>> by_interpolation(np.array([[3, 4, 4]], np.int16), by, 0, np.float64)["output"]
    array([[10915, 10926, 10926]])
    """
    derived = derive_tflite(float(scales.input) * float(scales.beta) / (_EXP_WIDTH / _LARGEST_OF_16))
    if derived.left_shift > _LONGEST_SHIFT or rows.shape[-1] > _LARGEST_OF_16 + 1:
        by = scales.beta * scales.input
        raise ValueError(
            f"beta times the scale is {by}, or {rows.shape[-1]:,} numbers are a row: 32 bits do not hold it"
        )
    multiplier = derived.multiplier + units
    difference = double_rounding(-_differences(rows), multiplier, derived.left_shift).astype(np.int64)
    powers_of = table_of(_exp_in(real), _EXP_WIDTH, (-_LARGEST_OF_16, 0), real)
    powers = interpolated(np.maximum(difference + 32767, -32768), powers_of)
    total = powers.sum(axis=-1, keepdims=True)
    bits = np.frexp(total.astype(np.float64))[1]
    share = ((total << (31 - bits)) + (1 << 13)) >> 14
    reciprocals = table_of(_inverse_in(real), 1, (0, _LARGEST_OF_16), real)
    reciprocal = interpolated(np.minimum(share - (3 << 15), 32767), reciprocals)
    output = np.minimum((powers * reciprocal + (1 << (bits - 2))) >> (bits - 1), 32767) + output_zero
    return {"difference": difference, "exp": powers, "sum": total, "reciprocal": reciprocal, "output": output}


def _inverse_in(real: Float) -> Callable[[npt.NDArray[Any]], npt.NDArray[Any]]:
    return lambda x: np.asarray(real(1) / (real(1) + x))


def _exp_in(real: Float) -> Callable[[npt.NDArray[Any]], npt.NDArray[Any]]:
    return lambda x: np.asarray(real(np.exp(x.astype(np.float64))))


def by_shifted_table(rows: npt.NDArray[Any], scales: SoftmaxScales, output_zero: int, units: int = 0) -> Steps:
    """ONNX Runtime's: a table of float32 as large as sums allow, and 1 / output scale cut to a whole number.

    `ValueError`: that times a number of the table leaves float32, of which upstream makes any byte.

    >>> by = SoftmaxScales(*map(np.float32, (0.1, 1 / 256, 1)))
    >>> by_shifted_table(np.array([[3, 4, 4]], np.int8), by, -128)["output"]
    array([[-48, -40, -40]])
    """
    difference = _differences(rows)
    most = np.float32(np.finfo(np.float32).max) / np.float32(rows.shape[-1])
    scale = float(off_by(scales.input, units))
    shift = max(0.0, float(np.log(np.float64(most))) - _KEPT) / scale
    table = np.exp((shift - np.arange(_BYTES)) * scale).astype(np.float32)
    powers = table[difference]
    total = np.add.accumulate(powers, axis=-1, dtype=np.float32)[..., -1:]
    with np.errstate(over="ignore"):
        scaled = powers * np.floor(np.float32(1) / scales.output) / total
    if not np.isfinite(scaled).all():
        raise ValueError(f"1 / {scales.output} times a power of the table leaves float32")
    output = np.rint(scaled).astype(np.int64) + output_zero
    return {"difference": difference, "exp": powers, "sum": total, "scaled": scaled, "output": output}


def in_reals(rows: npt.NDArray[Any], scales: SoftmaxScales, output_zero: int, units: int = 0) -> Steps:
    """The function in float64, rounded to float32, and that in units of the output to even: exp, scaled, output.

    >>> in_reals(np.array([[3, 4, 4]], np.int8), SoftmaxScales(*map(np.float32, (0.1, 1 / 256, 1))), -128)["output"]
    array([[-48, -40, -40]])
    """
    powers = np.exp(float(off_by(scales.input, units)) * -_differences(rows))
    scaled = (powers / powers.sum(axis=-1, keepdims=True)).astype(np.float32) / scales.output
    return {"exp": powers, "scaled": scaled, "output": np.rint(scaled).astype(np.int64) + output_zero}


def _differences(rows: npt.NDArray[Any]) -> Int64Array:
    """How far below the largest of its row each is."""
    wide = rows.astype(np.int64)
    return np.asarray(wide.max(axis=-1, keepdims=True) - wide)


def _exp(factor: np.float32) -> npt.NDArray[np.float32]:
    """Of a factor times each number from 0 to 255, rounded to float32."""
    with np.errstate(over="ignore", under="ignore"):
        products = factor * np.arange(_BYTES, dtype=np.float32)
        return np.exp(products.astype(np.float64)).astype(np.float32)


Way = Callable[..., Steps]
WAYS: Final[Mapping[str, Way]] = {
    "softmax_by_table": by_table,
    "softmax_in_fixed_point": in_fixed_point,
    "softmax_by_table_of_16_bits": by_table_of_16_bits,
}
"""TFLite's, by the names that layers are told by."""
WAYS_TO_INT16: Final[Mapping[str, Way]] = {
    "softmax_by_table": partial(by_table, to_int16=True),
    "softmax_in_fixed_point": partial(in_fixed_point, to_int16=True),
}
"""Of bytes."""
WAYS_OF_INT16: Final[Mapping[str, Way]] = {
    "softmax_by_interpolation": partial(by_interpolation, real=np.float64),
    "softmax_by_interpolation_of_float32": partial(by_interpolation, real=np.float32),
}
WAYS_OF_ONNX: Final[Mapping[str, Way]] = {"softmax_in_reals": in_reals, "softmax_by_shifted_table": by_shifted_table}
"""Of any scale of the output; there is no beta."""
