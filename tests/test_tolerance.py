"""How near is near enough: absolute, relative, and in representable numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sim.kernels import Tolerance
from sim.kernels.tolerance import agreement

INF, NAN = float("inf"), float("nan")


def agrees(got: float, expected: float, tolerance: Tolerance, dtype: str = "float32") -> bool:
    return bool(agreement(np.array([got], dtype), np.array([expected], dtype), tolerance)[0])


@pytest.mark.parametrize(
    ("tolerance", "got", "expected", "near"),
    [
        (Tolerance(absolute=0.5), 1.5, 1.0, True),
        (Tolerance(absolute=0.5), 1.75, 1.0, False),
        (Tolerance(relative=0.25), 5.0, 4.0, True),
        (Tolerance(relative=0.25), 4.0, 5.5, False),
        (Tolerance(ulps=1), 1.0 + 2**-23, 1.0, True),
        (Tolerance(ulps=1), 1.0 + 2**-22, 1.0, False),
        (Tolerance(ulps=2), 2**-149, -(2**-149), True),
        (Tolerance(ulps=1), 2**-149, -(2**-149), False),
        (Tolerance(ulps=1), 0.0, -0.0, True),
        (Tolerance(absolute=1e308), INF, 1.0, False),
        (Tolerance(absolute=1.0), INF, INF, True),
        (Tolerance(absolute=1.0), NAN, 1.0, False),
        (Tolerance(absolute=1.0), NAN, NAN, True),
        (Tolerance(ulps=9), INF, 3.4028234663852886e38, False),
    ],
)
def test_a_lane_is_near_or_not(tolerance: Tolerance, got: float, expected: float, near: bool) -> None:
    assert agrees(got, expected, tolerance) == near


def test_the_distance_of_extremes_of_64_bits_does_not_wrap() -> None:
    assert not agrees(1.7e308, -1.7e308, Tolerance(ulps=5), "float64")


def test_integers_have_no_tolerance() -> None:
    assert agreement(np.array([1]), np.array([2]), Tolerance(absolute=5)).tolist() == [False]


@pytest.mark.parametrize("wrong", [{"ulps": -1}, {"absolute": INF}, {"relative": INF}, {"absolute": NAN}])
def test_a_tolerance_that_means_nothing_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="cannot be negative, infinite or no number"):
        Tolerance(**wrong)
