"""float32 arithmetic: one named function per operation or conversion that numpy does not have as such.

Sums, products and quotients of numpy float32 arrays are rounded once, to nearest, ties to even, and are written as
plain operators wherever that is meant; here is what needs more care.  Operands are float32 arrays of any shape or
float32 numbers that broadcast, results are new arrays; `TypeError` for any other dtype, nothing is cast silently.
NaN and infinity are operands like any other unless a function says otherwise.
Sources: IEEE 754-2008; Arm ARM DDI 0487, FMLA, FCVTNS, FCVTZS; Intel SDM volume 2, CVTPS2DQ.
"""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sim.golden.fixed_point import INT32_MAX, INT32_MIN, Int32Array

Float32Array = npt.NDArray[np.float32]
Float32s = Float32Array | np.float32
Float64Array = npt.NDArray[np.float64]

HALF: Final = np.float32(0.5)


def fused_multiply_add(a: Float32s, b: Float32s, c: Float32s) -> Float32Array:
    """a * b + c, rounded once to float32: what FMLA and a contracted `a * b + c` give.

    Formula: float32(a * b + c) of the exact sum.  The product of two float32 is exact in float64; the sum may need
    more bits, so it is rounded to odd there, after which rounding to float32 rounds as if from the exact sum.
    Used by NEON, AVX2 and AVX-512 where the compiler contracts (docs/spec/quantized_add.md).

    >>> third = np.float32(1 / 3)
    >>> float(fused_multiply_add(third, np.float32(3), np.float32(-1))), float(third * np.float32(3) - np.float32(1))
    (2.9802322387695312e-08, 0.0)
    """
    for name, operand in (("a", a), ("b", b), ("c", c)):
        require_float32(operand, name)
    with np.errstate(all="ignore"):
        product = np.asarray(a, np.float64) * np.asarray(b, np.float64)
        return np.asarray(_sum_rounded_to_odd(product, np.asarray(c, np.float64))).astype(np.float32)


def _sum_rounded_to_odd(x: Float64Array, y: Float64Array) -> Float64Array:
    """x + y; where float64 cannot hold the sum, of its two neighbours the one with an odd last bit.

    The error of the nearest sum is exact in float64 (Knuth's two-sum); it tells on which side the other one lies.
    """
    nearest = np.asarray(x + y)
    of_y = nearest - x
    error = (x - (nearest - of_y)) + (y - of_y)
    is_even = nearest.view(np.int64) & 1 == 0
    other = np.nextafter(nearest, np.copysign(np.inf, error))
    return np.where(np.isfinite(nearest) & (error != 0) & is_even, other, nearest)


def off_by(number: np.float32, units: int) -> np.float32:
    """A number, or the next one above it (`units` 1) or below it (-1).

    >>> float(off_by(np.float32(1), 1)), float(off_by(np.float32(1), -1)), float(off_by(np.float32(1), 0))
    (1.0000001192092896, 0.9999999403953552, 1.0)
    """
    return np.float32(np.nextafter(number, np.float32(np.inf * units))) if units else number


def to_int32_ties_even(values: Float32s) -> Int32Array:
    """To the nearest int32, ties to even; saturates, NaN gives 0: FCVTNS, and nearbyint on AArch64.

    Formula: clamp(rint(v), -2^31, 2^31 - 1).  Used by Simd's NEON add from 7.2.165, its Base on AArch64.

    >>> to_int32_ties_even(np.array([0.5, 1.5, -2.5, np.nan], np.float32))
    array([ 0,  2, -2,  0], dtype=int32)
    """
    return _saturated(np.rint(_wide(values)))


def to_int32_ties_even_indefinite(values: Float32s) -> Int32Array:
    """To the nearest int32, ties to even; -2^31 for NaN and whatever lies outside: CVTPS2DQ, nearbyint on x86.

    Formula: rint(v) where it lies in int32, else -2^31.  Used by Simd's Base, SSE4.1, AVX2 and AVX-512 on x86
    (docs/spec/known_differences.md row 10e).

    >>> to_int32_ties_even_indefinite(np.array([0.5, 1.5, 3e9], np.float32))
    array([          0,           2, -2147483648], dtype=int32)
    """
    rounded = np.rint(_wide(values))
    inside = (rounded >= INT32_MIN) & (rounded <= INT32_MAX)
    return np.where(inside, rounded, INT32_MIN).astype(np.int32)


def to_int32_truncated(values: Float32s) -> Int32Array:
    """To int32 towards zero; saturates, NaN gives 0: FCVTZS and VCVT.

    Formula: clamp(trunc(v), -2^31, 2^31 - 1).  Used by ACL on AArch32 (docs/spec/known_differences.md row 12).

    >>> to_int32_truncated(np.array([0.75, -1.75, -3e9, np.nan], np.float32))
    array([          0,          -1, -2147483648,           0], dtype=int32)
    """
    return _saturated(np.trunc(_wide(values)))


def away_by_half(values: Float32s) -> Float32Array:
    """A half added to what is above 0, subtracted from all else, in float32: the first half of Simd's NEON Round.

    Formula: float32(v + 1/2) if v > 0, else float32(v - 1/2).  Truncated it rounds ties away, but the sum is itself
    rounded: 0.49999997 becomes 1 (docs/spec/known_differences.md row 10c).

    >>> away_by_half(np.array([0.49999997, -0.25, 0], np.float32))
    array([ 1.  , -0.75, -0.5 ], dtype=float32)
    """
    require_float32(values, "values")
    return np.asarray(np.where(values > 0, values + HALF, values - HALF), np.float32)


def _wide(values: Float32s) -> Float64Array:
    """As float64, which holds every float32 and every int32."""
    require_float32(values, "values")
    return np.asarray(values, np.float64)


def _saturated(integral: Float64Array) -> Int32Array:
    return np.clip(np.nan_to_num(integral, nan=0.0, posinf=np.inf, neginf=-np.inf), INT32_MIN, INT32_MAX).astype(
        np.int32
    )


def require_float32(values: Any, name: str) -> None:
    """`TypeError`, which names the operand, for anything but a float32 array or number."""
    if getattr(values, "dtype", None) != np.float32:
        given = getattr(values, "dtype", type(values).__name__)
        raise TypeError(f"{name} is {given}: give float32, nothing is cast silently")
