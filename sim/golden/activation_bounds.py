"""What a fused activation comes to: the bounds of a layer's output, in the output's own numbers.

Real bounds are divided by the output's scale in float32, rounded to nearest with ties away from zero, and placed by the
zero point. What a stage makes of the two numbers is another matter: see `sim.golden.bounds`.
Sources: docs/spec/neighbours.md sections 9 and 26.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from sim.golden.byte_rounding import round_away_then_offset
from sim.golden.fixed_point import INT32_MAX, INT32_MIN

REALS: Final[Mapping[str, tuple[float | None, float | None]]] = {
    "NONE": (None, None),
    "RELU": (0.0, None),
    "RELU_N1_TO_1": (-1.0, 1.0),
    "RELU6": (0.0, 6.0),
}
"""The activations that TFLite fuses as bounds, by its names, with their bounds as real numbers."""
ACL_ACTIVATIONS: Final = ("NONE", "RELU", "BOUNDED_RELU", "LU_BOUNDED_RELU")
"""Those that ACL merges into the output stage; NONE stands for no activation."""
DTYPES: Final = ("uint8", "int8", "int16")


def activation_bounds_tflite(
    activation: str, scale: np.float32 | float, zero_point: int, dtype: str = "int8"
) -> tuple[int, int]:
    """The bounds by CalculateActivationRangeQuantized: an end of the dtype, or a real bound where that is nearer.

    `scale` is that of the output, taken as float32, `dtype` uint8, int8 or int16. NONE gives the ends of the dtype.
    `ValueError`: another activation or dtype, a scale that is not above 0 and finite, or so small that a bound leaves
    int32, which TFLite refuses too.

    >>> activation_bounds_tflite("RELU6", 0.0235, -128), activation_bounds_tflite("RELU_N1_TO_1", 0.4, 10)
    ((-128, 127), (7, 13))
    """
    if activation not in REALS:
        raise ValueError(f"the fused activation {activation} is not computed: give one of {', '.join(REALS)}")
    if dtype not in DTYPES:
        raise ValueError(f"the dtype is {dtype}: give one of {', '.join(DTYPES)}")
    _require_scale(scale)
    least, most = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    low, high = REALS[activation]
    return (
        least if low is None else max(_placed(low, scale, zero_point), least),
        most if high is None else min(_placed(high, scale, zero_point), most),
    )


def activation_bounds_acl_19_08(
    activation: str, scale: np.float32 | float, zero_point: int, a: float = 0.0, b: float = 0.0
) -> tuple[int, int]:
    """The (minimum, maximum) that NEGEMMConvolutionLayer gives its output stage, of uint8.

    `a` is the upper bound of BOUNDED_RELU and LU_BOUNDED_RELU, `b` the lower one of the latter, as real numbers; each
    saturates to 0..255. A RELU whose zero point is 255 gives (255, 255), which the stage of 19.08 takes for "not
    bounded", so that the activation is lost (`bounded_unless_equal`).
    `ValueError`: another activation, a zero point outside of 0..255, or a scale that is not above 0 and finite.

    >>> activation_bounds_acl_19_08("BOUNDED_RELU", 0.05, 3, a=6.0), activation_bounds_acl_19_08("RELU", 0.05, 255)
    ((3, 123), (255, 255))
    """
    if activation not in ACL_ACTIVATIONS:
        raise ValueError(f"the activation {activation} is not merged: give one of {', '.join(ACL_ACTIVATIONS)}")
    if not 0 <= zero_point <= 255:
        raise ValueError(f"the zero point is {zero_point}: it must lie in 0..255")
    _require_scale(scale)
    if activation == "NONE":
        return 0, 255
    lower, upper = (int(round_away_then_offset(np.float32(real), np.float32(scale), zero_point)) for real in (b, a))
    return (
        lower if activation == "LU_BOUNDED_RELU" else zero_point,
        255 if activation == "RELU" else upper,
    )


def _require_scale(scale: np.float32 | float) -> None:
    if not 0 < np.float32(scale) < np.inf:
        raise ValueError(f"the scale is {scale}: it must be above 0 and finite")


def _placed(real: float, scale: np.float32 | float, zero_point: int) -> int:
    """A real bound in the numbers of a tensor, which has no ends yet."""
    with np.errstate(over="ignore"):
        quotient = float(np.float32(real) / np.float32(scale))
    rounded = np.copysign(np.floor(abs(quotient) + 0.5), quotient)
    if not INT32_MIN <= rounded <= INT32_MAX:
        raise ValueError(f"the scale is {scale}: {real:g} in its units is no int32")
    return zero_point + int(rounded)
