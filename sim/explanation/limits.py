"""How a scaled number becomes the output's dtype: the rules of bounds and of narrowing, as what they come to.

The rules of ACL are those of `sim.golden.bounds`, for an output of any integer dtype: 0 and 255 stand for its ends.
Sources: docs/spec/quantize_down.md section 6; docs/spec/neighbours.md section 7;
docs/spec/known_differences.md rows 9, 9b and 9c.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sim.golden.fixed_point import INT32_MAX, INT32_MIN, wrap_int32

Int64Array = npt.NDArray[np.int64]
Refusal = tuple[str, str]
"""The name of what refuses the parameters, and its sentence."""
Range = tuple[int, int]

SATURATED: Final = "saturated"
BOUNDED: Final = "bounded"
"""As all rules of bounds say, with bounds within the type."""
_BOUNDED: Final = ("bounded_unless_equal", "bounded_unless_whole_range", "bounded_then_low_byte")
_IGNORED: Final = "bounds_not_applied"
_LOW_BITS: Final = "wrapped"


@dataclass(frozen=True)
class Limits:
    """Limit to `lower`..`upper`, then keep the bits that `dtype` has; `names` are the rules that come to this."""

    names: tuple[str, ...]
    lower: int
    upper: int
    dtype: np.dtype[Any]

    def apply(self, placed: npt.NDArray[np.integer[Any]]) -> Int64Array:
        limited = np.minimum(np.maximum(placed.astype(np.int64), self.lower), self.upper)  # clip takes twice as long
        return limited if self.saturates else limited.astype(self.dtype).astype(np.int64)

    @cached_property
    def saturates(self) -> bool:
        """Whether no bits are lost."""
        info = np.iinfo(self.dtype)
        return bool(self.lower >= info.min and self.upper <= info.max)

    def event(self, placed: int, result: int) -> str:
        """What happens to a number here: "", or that it is limited or loses bits."""
        if placed == result:
            return ""
        limited = min(max(placed, self.lower), self.upper)
        return f"saturates at {result}" if limited == result else f"keeps the low {8 * self.dtype.itemsize} bits only"


def limits_of(dtype: np.dtype[Any], bounds: Range | None) -> tuple[list[Limits], list[Refusal]]:
    """The rules that come to something of their own with these bounds, and those that refuse them."""
    found: dict[Range, list[str]] = {}
    refused: list[Refusal] = []
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    rules: list[tuple[str, Callable[[], Range]]] = []
    if bounds is not None:
        minimum, maximum = bounds
        rules += [
            (_BOUNDED[0], lambda: _unless_equal(minimum, maximum, low, high)),
            (_BOUNDED[1], lambda: _unless_whole_range(minimum, maximum, low, high)),
            (_BOUNDED[2], lambda: (minimum, maximum)),
        ]
    rules.append((SATURATED if bounds is None else _IGNORED, lambda: (low, high)))
    rules.append((_LOW_BITS, lambda: (INT32_MIN, INT32_MAX)))
    for name, rule in rules:
        try:
            found.setdefault(rule(), []).append(name)
        except ValueError as error:
            refused.append((name, str(error)))
    limits = []
    for (lower, upper), names in found.items():
        if set(_BOUNDED) <= set(names):  # all come to the same, and to saturation where bounds do not matter
            names = [SATURATED] if _IGNORED in names else [BOUNDED]
        limits.append(Limits(tuple(names), lower, upper, dtype))
    return limits, refused


def _unless_equal(minimum: int, maximum: int, low: int, high: int) -> Range:
    if maximum > high:
        raise ValueError(f"maximum is {maximum}: it must not exceed {high}")
    if minimum < low:
        raise ValueError(f"minimum is {minimum}: it must not be below {low}")
    return (low, high) if minimum == maximum else (minimum, maximum)


def _unless_whole_range(minimum: int, maximum: int, low: int, high: int) -> Range:
    if minimum <= low and maximum >= high:
        return low, high
    for name, bound in (("minimum", minimum), ("maximum", maximum)):
        if not low <= bound <= high:
            raise ValueError(f"{name} is {bound}: a bound outside {low}..{high} is not modelled")
    return minimum, maximum


def add_wrapped(values: npt.NDArray[np.integer[Any]], offset: int) -> npt.NDArray[np.int32]:
    """The zero point added in int32, which wraps."""
    return wrap_int32(values.astype(np.int64) + offset)
