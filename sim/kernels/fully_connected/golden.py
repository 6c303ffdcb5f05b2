"""Golden reference of fully_connected: rows of bytes times the weights of each column, scaled to bytes.

    products = sum over k of (input[r, k] - input zero) * (weights[j, k] - weights zero)
    wrap32(products + bias) -> scaled by the column's factor -> + output zero -> bounded

A *mode* is a type of bytes and the convention by which sums are scaled (see `MODES`); the factor is one for all
columns, or one for each. What is behind the sums is that of every layer: `output_steps`.
Source: docs/spec/layers.md.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sim.golden.fixed_point import INT32_MAX, INT32_MIN, Int32Array, Int64Array, wrap_int32
from sim.kernels.names import Modes
from sim.kernels.requantize.golden import Channels, fixed_point_faults, fixed_point_steps

AnyArray = npt.NDArray[Any]
Steps = dict[str, AnyArray]


@dataclass(frozen=True)
class FloatChannels:
    """float32 scales in 2^-32 up to but not 256, one for each column or one for all.  `TypeError`: another type."""

    scales: tuple[np.float32, ...]

    def __post_init__(self) -> None:
        for scale in self.scales:
            if not isinstance(scale, np.float32):
                raise TypeError(f"a scale is {scale!r}: give a numpy.float32, nothing is rounded silently")


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """Zero points and bounds, both included, in the numbers of their tensors; the factors of the columns."""

    factors: Channels | FloatChannels
    input_zero: int = 0
    weights_zero: int = 0
    output_zero: int = 0
    minimum: int
    maximum: int


@dataclass(frozen=True)
class Mode:
    """The type of all bytes, and the mode of requantize that scales sums; None is by float32, as XNNPACK does."""

    source: str
    dtype: np.dtype[Any]
    rounding: str | None


_ROUNDINGS: Final = {
    "double_rounding": (
        "tflite_double_rounding",
        "TFLite's reference kernels: MultiplyByQuantizedMultiplier in two roundings",
    ),
    "double_rounding_ties_up": (
        "tflite_neon_helper",
        "TFLite's optimised kernels without delegates: SRSHL without a fix-up",
    ),
    "single_rounding": (
        "tflite_single_rounding",
        "TFLite built with TFLITE_SINGLE_ROUNDING, ruy, XNNPACK's rndnu",
    ),
    "fp32": (
        None,
        "XNNPACK's fp32 kernels, which LiteRT's default runs, and ONNX Runtime",
    ),
}
"""What a layer's modes are named by: the mode of requantize, and who scales so (docs/spec/layers.md section 2)."""
MODES: Final = Modes(
    (f"{type_name}_{name}", Mode(f"{source}; {dtype}, {about}", np.dtype(dtype), rounding))
    for type_name, dtype, about in (
        ("s8", "int8", "weights symmetric, by tensor or by channel"),
        ("u8", "uint8", "weights with a zero point"),
    )
    for name, (rounding, source) in _ROUNDINGS.items()
)


def steps(
    input: AnyArray,
    weights: AnyArray,
    bias: Int32Array | None,
    parameters: Parameters,
    mode: str = "s8_double_rounding",
) -> Steps:
    """Every intermediate value, keyed by step, in order of execution, each [rows, columns].

    `input` is [rows, depth] and `weights` [columns, depth] of the mode's type, `bias` int32[columns] or None.
    Steps: products, those of `output_steps`.  `TypeError`: another dtype.  `ValueError`: shapes that do not fit, what
    `parameter_faults` names, or an unknown mode.
    """
    require_bytes("input", input, 2, mode)
    require_bytes("weights", weights, 2, mode)
    if input.shape[1] != weights.shape[1]:
        raise ValueError(f"input has shape {input.shape}, weights {weights.shape}: their depths differ")
    sums = without_zero(input, parameters.input_zero) @ without_zero(weights, parameters.weights_zero).T
    return {"products": sums} | output_steps(sums, bias, parameters, mode)


def fully_connected(
    input: AnyArray,
    weights: AnyArray,
    bias: Int32Array | None,
    parameters: Parameters,
    mode: str = "s8_double_rounding",
) -> AnyArray:
    """The bytes [rows, columns], the last of `steps`, whose contract and errors it shares.

    >>> by = Parameters(factors=Channels((2**30,), (-1,)), input_zero=1, minimum=-128, maximum=127)
    >>> fully_connected(np.array([[3, 5]], np.int8), np.array([[1, 2], [0, -3]], np.int8), None, by)
    array([[ 3, -3]], dtype=int8)
    """
    return steps(input, weights, bias, parameters, mode)["bounds"].astype(MODES[mode].dtype)


def without_zero(array: AnyArray, zero: int) -> Int64Array:
    """Bytes in int64, counted from their zero point."""
    return array.astype(np.int64) - zero


def output_steps(sums: Int64Array, bias: Int32Array | None, parameters: Parameters, mode: str) -> Steps:
    """What a layer does with its sums of products, [..., columns]: accumulate, scaling, zero point, bounds.

    The scaling has the steps of requantize's mode, or convert, scale and round, each to nearest with ties to even.
    The bounds act on the exact sum with the zero point.  Raises as `steps`.
    """
    columns, rule = sums.shape[-1], MODES[mode]
    for fault in parameter_faults(parameters, columns, mode):
        raise ValueError(fault)
    if bias is not None and (bias.dtype, bias.shape) != (np.dtype(np.int32), (columns,)):
        raise ValueError(f"bias is {bias.dtype}{list(bias.shape)}: it must be int32[{columns}]")
    accumulated = wrap_int32(sums + (0 if bias is None else bias.astype(np.int64)))
    if isinstance(parameters.factors, Channels):
        assert rule.rounding is not None
        scaled: Steps = dict(fixed_point_steps(accumulated, parameters.factors, rule.rounding))
    else:
        converted = accumulated.astype(np.float32)
        by_scale = converted * np.array(parameters.factors.scales, np.float32)
        rounded = np.clip(np.rint(by_scale).astype(np.float64), INT32_MIN, INT32_MAX).astype(np.int64)
        scaled = {"convert": converted, "scale": by_scale, "round": rounded}
    *_, last = scaled.values()
    placed = last.astype(np.int64) + parameters.output_zero
    bounded = np.clip(placed, parameters.minimum, parameters.maximum)
    return {"accumulate": accumulated} | scaled | {"zero point": placed, "bounds": bounded}


def parameter_faults(parameters: Parameters, columns: int, mode: str) -> Iterator[str]:
    """A sentence for each fault: the factors, the zero points, the bounds and their order."""
    rule, factors = MODES[mode], parameters.factors
    if isinstance(factors, Channels) != (rule.rounding is not None):
        yield f"mode {mode} does not scale by {type(factors).__name__}"
        return
    if isinstance(factors, Channels):
        assert rule.rounding is not None
        yield from fixed_point_faults(factors, columns, rule.rounding)
    else:
        if len(factors.scales) not in (1, columns):
            yield f"there are {len(factors.scales)} scales: give one, or {columns}"
        for scale in factors.scales:
            if not 2.0**-32 <= scale < 256:
                yield f"a scale is {scale}: it must lie in 2^-32 up to, not including, 256"
    limits = np.iinfo(rule.dtype)
    for name in ("input_zero", "weights_zero", "output_zero", "minimum", "maximum"):
        number = getattr(parameters, name)
        if not limits.min <= number <= limits.max:
            yield f"{name} is {number}: it must lie in {limits.min}..{limits.max}"
    if rule.dtype == np.int8 and parameters.weights_zero:
        yield f"weights_zero is {parameters.weights_zero}: weights of int8 are symmetric, it must be 0"
    if parameters.minimum > parameters.maximum:
        yield f"minimum {parameters.minimum} is above maximum {parameters.maximum}"


def require_bytes(name: str, array: AnyArray, rank: int, mode: str) -> None:
    """Raise `TypeError` for an array of another dtype than the mode's, `ValueError` for another rank."""
    dtype = MODES[mode].dtype
    if not isinstance(array, np.ndarray) or array.dtype != dtype:
        raise TypeError(f"{name} is not a numpy array of {dtype}: nothing is cast silently")
    if array.ndim != rank:
        raise ValueError(f"{name} has shape {array.shape}: give {rank} axes")
