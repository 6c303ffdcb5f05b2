"""From a real factor to a Q0.31 multiplier and a shift: the constructors of the known systems.

All give `Derived(multiplier, left_shift)`, the factor being multiplier * 2^(left_shift - 31): the shift counts to the
left, although ACL and ArmNN store it to the right. ACL and ArmNN take a float32, so the factor is first rounded to one;
TFLite takes a double. `TypeError`: not a real number. `ValueError`: a factor that the system refuses or leaves
undefined. Source: docs/spec/quantized_multiplier.md sections 2 and 6; Vela's: docs/spec/requantization.md.
"""

from math import copysign, frexp, isfinite, ldexp
from typing import Final, NamedTuple

import numpy as np

from sim.golden.declaration import convention

Real = float | np.floating
EPSILON: Final = float(np.float32(1e-5))  # ACL's constant is a float32
ONE_AND_EPSILON: Final = float(np.float32(1) + np.float32(1e-5))
DOUBLE_BITS: Final = 53  # of a double's significand
LOWEST_LEFT_SHIFT: Final = -31
MULTIPLIER_BITS: Final = 31
VELA_SHIFT_BITS: Final = 6  # of the hardware's field, to the right
VELA_SHIFT_OF_ZERO: Final = 16


class Derived(NamedTuple):
    """A factor as a system keeps it: Q0.31 `multiplier`, and `left_shift` in bits, negative to the right."""

    multiplier: int
    left_shift: int


@convention(
    formula="0 for 0 (-0.0 too), else factor = f * 2^e, 1/2 <= f < 1: (f * 2^31, e), exact",
    users="ArmNN",
    rows=("6", "6b", "6c", "6d"),
)
def derive_armnn(factor: Real) -> Derived:
    """ArmNN 24.08's constructor of QuantizedMultiplierSmallerThanOne.

    Refused unless 0 <= factor < 1, upstream with InvalidArgumentException; NaN too. Factors below 2^-32 give e below
    -31, which the product leaves undefined.

    >>> derive_armnn(0.1)
    Derived(multiplier=1717986944, left_shift=-3)
    """
    real = _float32(factor)
    if not 0 <= real < 1:
        raise ValueError(f"the factor is {real}: ArmNN takes 0 <= factor < 1")
    return _nearest(real)


@convention(
    formula="(1, 0), which is 2^-31, within 1e-5 of 1; 0 within 1e-5 of 0; else as `derive_armnn`",
    users="ACL 19.08",
    rows=("6", "6b"),
)
def derive_acl_19_08(factor: Real) -> Derived:
    """ACL 19.08's calculate_quantized_multiplier_less_than_one.

    Refused below -1e-5 and from 1 + 1e-5 on.

    >>> derive_acl_19_08(1.0), derive_acl_19_08(9e-6)
    (Derived(multiplier=1, left_shift=0), Derived(multiplier=0, left_shift=0))
    """
    real = _acl_factor(factor)
    if real > ONE_AND_EPSILON:
        raise ValueError(f"the factor is {real}: ACL 19.08 takes no factor above 1 + 1e-5")
    if abs(1 - real) < EPSILON:
        return Derived(1, 0)
    derived = _flushed(real)
    if derived.left_shift > 0:
        raise ValueError(f"the factor is {real}: ACL 19.08 refuses the left shift that it needs")
    return derived


@convention(
    formula="0 within 1e-5 of 0; else factor = f * 2^e, 1/2 <= |f| < 1: (f * 2^31, e)",
    users="ACL 20.02 and later",
    rows=("6", "6b", "6d"),
)
def derive_acl_20_02(factor: Real) -> Derived:
    """ACL 20.02's calculate_quantized_multiplier.

    Refused below -1e-5.

    >>> derive_acl_20_02(1.0)
    Derived(multiplier=1073741824, left_shift=1)
    """
    return _flushed(_acl_factor(factor))


@convention(
    formula="factor = f * 2^e, 1/2 <= f < 1: (f * 2^31, e), but 0 for e below -31",
    users="the layers of ACL 20.05 that ask for it",
    rows=("6b", "6c"),
)
def derive_acl_20_05_ignoring_epsilon(factor: Real) -> Derived:
    """ACL 20.05's calculate_quantized_multiplier when its caller sets ignore_epsilon.

    Negative factors are refused.

    >>> derive_acl_20_05_ignoring_epsilon(9e-6), derive_acl_20_05_ignoring_epsilon(2.0**-33)
    (Derived(multiplier=1266637440, left_shift=-16), Derived(multiplier=0, left_shift=0))
    """
    real = _acl_factor(factor)
    if real < 0:
        raise ValueError(f"the factor is {real}: ACL 20.05 without its epsilon takes no negative factor")
    return _zero_below_range(_nearest(real))


@convention(
    formula=(
        "factor = f * 2^e, 1/2 <= |f| < 1: (f * 2^31 to nearest, ties away, e); 2^31, not -2^31, becomes 2^30 "
        "with e + 1; 0 for e below -31"
    ),
    users="TFLite's default build, and by those who prepare CMSIS-NN's parameters",
    rows=("6", "6c", "6d"),
)
def derive_tflite(factor: Real) -> Derived:
    """TFLite's QuantizeMultiplier, from a double.

    >>> derive_tflite(0.1)
    Derived(multiplier=1717986918, left_shift=-3)
    """
    return _zero_below_range(_nearest(_finite(factor)))


@convention(
    formula="as `derive_tflite`, but e above 30 becomes (2^31 - 1, 30)",
    users="TFLite's single-rounding build",
)
def derive_tflite_single_rounding(factor: Real) -> Derived:
    """TFLite's QuantizeMultiplier in the single-rounding build.

    >>> derive_tflite_single_rounding(2.0**40)
    Derived(multiplier=2147483647, left_shift=30)
    """
    derived = derive_tflite(factor)
    return Derived(2**31 - 1, 30) if derived.left_shift > 30 else derived


@convention(
    formula="factor = f * 2^e, 1/2 <= |f| < 1: (f * 2^31 to nearest, ties away, e); 0 unless e is -32..31",
    users="Vela, for weights and elementwise operations of Ethos-U",
)
def derive_vela(factor: Real) -> Derived:
    """Vela's quantise_scale, from a double: 32 bits and a shift of 6, 0 to 63 to the right of the whole product.

    A factor just below a power of two keeps the multiplier 2^31, which no int32 holds; as a product it is what 2^30
    with e + 1 is.  Source: docs/spec/requantization.md section 1.

    >>> derive_vela(0.1), derive_vela(2 - 1e-11), derive_vela(0.75 * 2.0**-32), derive_vela(2.0**40)
    ... # doctest: +NORMALIZE_WHITESPACE
    (Derived(multiplier=1717986918, left_shift=-3), Derived(multiplier=2147483648, left_shift=1),
     Derived(multiplier=1610612736, left_shift=-32), Derived(multiplier=0, left_shift=15))
    """
    fraction, exponent = frexp(_finite(factor))
    if not 0 <= MULTIPLIER_BITS - exponent < 1 << VELA_SHIFT_BITS:
        return Derived(0, MULTIPLIER_BITS - VELA_SHIFT_OF_ZERO)
    return Derived(_multiplier(fraction), exponent)


def _multiplier(fraction: float) -> int:
    """A fraction between -1 and 1 times 2^31 to nearest, ties away from zero, in exact integers."""
    dropped = DOUBLE_BITS - MULTIPLIER_BITS
    magnitude = (abs(int(ldexp(fraction, DOUBLE_BITS))) + (1 << dropped >> 1)) >> dropped
    return int(copysign(magnitude, fraction))


def _nearest(real: float) -> Derived:
    """The multiplier to nearest, ties away from zero, in exact integers; a float32 leaves nothing to round."""
    fraction, exponent = frexp(real)
    multiplier = _multiplier(fraction)
    if multiplier == 1 << MULTIPLIER_BITS:  # upstream compares with 2^31 only: -2^31 is an int32
        multiplier, exponent = multiplier >> 1, exponent + 1
    return Derived(multiplier, exponent)


def _zero_below_range(derived: Derived) -> Derived:
    return Derived(0, 0) if derived.left_shift < LOWEST_LEFT_SHIFT else derived


def _flushed(real: float) -> Derived:
    return Derived(0, 0) if abs(real) < EPSILON else _nearest(real)


def _acl_factor(factor: Real) -> float:
    real = _float32(factor)
    if real < -EPSILON:
        raise ValueError(f"the factor is {real}: ACL takes none below -1e-5")
    return real


def _float32(factor: Real) -> float:
    with np.errstate(over="ignore"):
        return _finite(float(np.float32(_finite(factor))))


def _finite(factor: Real) -> float:
    if isinstance(factor, bool) or not isinstance(factor, int | float | np.floating):
        raise TypeError(f"the factor is {factor!r}: give a real number")
    if not isfinite(factor):
        raise ValueError(f"the factor is {factor}: give a finite number")
    return float(factor)
