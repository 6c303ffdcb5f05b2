"""Hard swish of bytes, x * min(max(x + 3, 0), 6) / 6, in 16-bit fixed point as TFLite computes it.

    d = 128 * (q - z)                               the input in 1/128 of its units
    p = H(d, m)                                     in units of the output divided by 2^-e
    r = (limited H(d, n) + 2^15) >> 1               min(max(x + 3, 0), 6) / 6 in units of 2^-15
    out = RDP16(trunc(r * p / 2^15), -e) + zero     before the bounds

H is SQRDMULH of 16 bits, m * 2^e and n * 2^f the factors of `factors_of`.  In vectors the product rounds down and the
shifts round ties up.  Source: docs/spec/neighbours.md section 27.
"""

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from sim.golden.derivation import Derived, derive_tflite
from sim.golden.fixed_point import Int64Array, divided_of_16
from sim.golden.scaling import reduced_multiplier

HIRES: Final = 7
"""Bits by which inputs are moved to the left: a difference of bytes stays within 16."""
BLOCK: Final = 8
"""Numbers that a vector holds: what lies behind the last whole one is computed one by one."""
_UNIT: Final = 1 << 15
_LARGEST_SHIFT: Final = 31
Steps = dict[str, Int64Array]


class HardSwishFactors(NamedTuple):
    """Multipliers of 15 bits with their left shifts: from 1/128 of the input's units to those of the output, and to
    those in which 3 is 2^15."""

    output: Derived
    share: Derived


def factors_of(input_scale: np.float32, output_scale: np.float32) -> HardSwishFactors:
    """Of two scales, divided in float32.

    `ValueError`: the input's scale is 128 times the output's or more, which TFLite refuses, or so large that upstream
    shifts by more bits than an int has.

    >>> factors_of(np.float32(0.5), np.float32(0.25))
    HardSwishFactors(output=Derived(multiplier=16384, left_shift=-5), share=Derived(multiplier=21845, left_shift=6))
    """
    with np.errstate(all="ignore"):  # what is not finite is refused
        fine = np.float32(1 / 128) * input_scale
        to_output, to_share = fine / output_scale, fine / (np.float32(3) / np.float32(_UNIT))
    by_output, by_share = derive_tflite(to_output), derive_tflite(to_share)
    if by_output.left_shift > 0:
        raise ValueError(
            f"the input's scale is {input_scale / output_scale:g} of the output's: TFLite takes less than 128"
        )
    if by_share.left_shift > _LARGEST_SHIFT:
        raise ValueError(f"the input's scale is {input_scale}: it shifts by more than {_LARGEST_SHIFT} bits")
    output, share = (Derived(int(reduced_multiplier(one.multiplier)), one.left_shift) for one in (by_output, by_share))
    return HardSwishFactors(output, share)


def hard_swish(values: npt.NDArray[Any], zero: int, factors: HardSwishFactors, output_zero: int) -> Int64Array:
    """The numbers before the bounds (int64) of bytes and their zero points, as TFLite's reference has them.

    >>> by = factors_of(np.float32(0.5), np.float32(0.25))
    >>> hard_swish(np.array([-128, -3, 0, 4, 20]), 0, by, 10)
    array([10,  8, 10, 17, 50])
    """
    return steps(values, zero, factors, output_zero)["output"]


def hard_swish_by_vector(
    values: npt.NDArray[Any], zero: int, factors: HardSwishFactors, output_zero: int
) -> Int64Array:
    """The same by TFLite's NEON code, which takes whole vectors of eight.

    >>> by = factors_of(np.float32(0.5), np.float32(0.25))
    >>> hard_swish_by_vector(np.array([-128, -3, 0, 4, 20]), 0, by, 10)
    array([10,  9, 10, 17, 50])
    """
    return steps(values, zero, factors, output_zero, in_vectors=True)["output"]


def steps(
    values: npt.NDArray[Any], zero: int, factors: HardSwishFactors, output_zero: int, in_vectors: bool = False
) -> Steps:
    """Every intermediate value (int64, of the shape of `values`): difference, scaled, share, product, shifted, output.

    A share is limited once: upstream does so before its multiply too, which changes nothing.  A sum with the output's
    zero point that leaves 16 bits wraps, as upstream's does.
    """
    shift = _shifted_up if in_vectors else _shifted_away
    difference = values.astype(np.int64) - zero
    fine = difference << HIRES
    scaled = _high_product(fine, factors.output.multiplier)
    left = factors.share.left_shift
    share = _high_product(fine << max(left - 1, 0), factors.share.multiplier)
    share = np.clip(share << 1, -_UNIT, _UNIT - 1) if left > 0 else shift(share, -left)
    share = (share + _UNIT) >> 1
    doubled = share * scaled
    product = doubled >> 15 if in_vectors else np.sign(doubled) * (np.abs(doubled) >> 15)
    shifted = shift(product, -factors.output.left_shift)
    output = (shifted + output_zero).astype(np.int16).astype(np.int64)
    return {
        "difference": difference,
        "scaled": scaled,
        "share": share,
        "product": product,
        "shifted": shifted,
        "output": output,
    }


def _high_product(values: Int64Array, multiplier: int) -> Int64Array:
    """SQRDMULH of 16 bits; multipliers are not negative, so that nothing saturates."""
    return (values * multiplier + (_UNIT >> 1)) >> 15


def _shifted_away(values: Int64Array, count: int) -> Int64Array:
    return divided_of_16(values.astype(np.int16), count).astype(np.int64)


def _shifted_up(values: Int64Array, count: int) -> Int64Array:
    """SRSHL to the right."""
    return (values + (1 << count >> 1)) >> count
