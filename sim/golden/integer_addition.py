"""The integer add of TFLite and CMSIS-NN by its parts: the three rescalings and the sum; multipliers of other systems'.

    u = (a - za) << shift, v likewise;  M(M(u, first) + M(v, second), third), before the zero point and the bounds

The shift is 20 for bytes and 15 for 16 bits, so that a difference stays within int32.
Sources: docs/spec/neighbours.md section 13; TFLite's `kernels/add.cc`, Prepare, for 16 bits.
"""

from collections.abc import Callable
from math import frexp, ldexp
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from sim.golden.derivation import Derived
from sim.golden.fixed_point import Int32Array, shift_left_wrap, wrap_int32

LEFT_SHIFTS: Final = {8: 20, 16: 15}
"""Of both operands, by the bits that they have: upstream's constants."""
Rescale = Callable[[Int32Array, int, int], Int32Array]


class AddRescaling(NamedTuple):
    """The rescalings of both operands, which come out at half the larger scale or less, and that of their sum."""

    first: Derived
    second: Derived
    total: Derived


def rescaling_of(
    scales: tuple[float, float, float], left_shift: int, derive: Callable[[float], Derived]
) -> AddRescaling:
    """That of the scales of a, b and the output: a / 2m, b / 2m and 2m / (2^shift * output), m being the larger."""
    a, b, output = scales
    twice_largest = 2 * max(a, b)
    return AddRescaling(
        derive(a / twice_largest), derive(b / twice_largest), derive(twice_largest / (2**left_shift * output))
    )


def add_rescaled(
    a: npt.NDArray[Any],
    b: npt.NDArray[Any],
    rescaling: AddRescaling,
    left_shift: int,
    rescale: Rescale,
    subtracts: bool = False,
) -> Int32Array:
    """The sum of integers without their zero points (any integer dtype), in units of the output, without its own.

    Or their difference: what is taken off is rounded as it stands, so that its ties go as those of a sum.

    >>> half = AddRescaling(Derived(2**30, 0), Derived(2**30, 0), Derived(2**30, -18))
    >>> from sim.golden.scaling import double_rounding
    >>> add_rescaled(np.array([3]), np.array([4]), half, 20, double_rounding)
    array([7], dtype=int32)
    >>> add_rescaled(np.array([3]), np.array([4]), half, 20, double_rounding, subtracts=True)
    array([-1], dtype=int32)
    """
    left, right = (
        rescale(shift_left_wrap(np.asarray(x, np.int64), left_shift), *by)
        for x, by in ((a, rescaling.first), (b, rescaling.second))
    )
    sign = -1 if subtracts else 1
    return rescale(wrap_int32(left.astype(np.int64) + sign * right.astype(np.int64)), *rescaling.total)


def multipliers_of_bits(bits: int, first: np.float32, second: np.float32, system: str) -> tuple[int, int, int]:
    """The multipliers of both operands and the right shift, of their scales over the output's.

    The larger factor gets so many bits.  `ValueError`, which names the system, where that one is not 2^-10 up to 2^8,
    as upstream asserts.  Source: `src/microparams-init.c` of google/XNNPACK, xnn_init_qs8_add_minmax.

    >>> multipliers_of_bits(21, np.float32(0.5), np.float32(0.25), "XNNPACK")
    (1048576, 524288, 21)
    """
    larger = float(max(first, second))
    if not 2.0**-10 <= larger < 2.0**8:
        raise ValueError(f"the larger scale is {larger:g} of the output's: {system} takes 2^-10 up to 2^8")
    shift = bits - frexp(larger)[1]
    return round(ldexp(float(first), shift)), round(ldexp(float(second), shift)), shift
