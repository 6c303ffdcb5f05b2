"""Logistic and tanh of real numbers in float32: rounded once, and by the quotients of polynomials that runtimes have.

Source: docs/spec/neighbours.md section 23.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sim.golden import fused_multiply_add

Float32Array = npt.NDArray[np.float32]
Function = Callable[[Float32Array], Float32Array]
_LOGISTIC: Final = (
    (4.37031012579801e-11, 1.15627324459942e-07, 6.08574864600143e-05, 8.51377133304701e-03, 2.48287947061529e-01),
    (6.10247389755681e-13, 5.76102136993427e-09, 6.29106785017040e-06, 1.70198817374094e-03, 1.16817656904453e-01,
     9.93151921023180e-01),
)  # fmt: skip
_TANH: Final = (
    (-2.76076847742355e-16, 2.00018790482477e-13, -8.60467152213735e-11, 5.12229709037114e-08, 1.48572235717979e-05,
     6.37261928875436e-04, 4.89352455891786e-03),
    (1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03),
)  # fmt: skip
"""Upstream's coefficients of numerator and denominator, of the highest power of x^2 first."""


def _polynomial(coefficients: Sequence[float], square: Float32Array) -> Float32Array:
    """By Horner's rule, each product and sum rounded once."""
    first, *others = (np.float32(number) for number in coefficients)
    total = np.full_like(square, first)
    for number in others:
        total = fused_multiply_add(total, square, np.full_like(square, number))
    return total


def _quotient(x: Float32Array, coefficients: tuple[Sequence[float], Sequence[float]], most: float) -> Float32Array:
    """x * p(x^2) / q(x^2), with x held within its range."""
    held = np.clip(x, np.float32(-most), np.float32(most))
    square = held * held
    numerator = _polynomial(coefficients[0], square) * held
    return np.asarray(numerator / _polynomial(coefficients[1], square))


def logistic_by_quotient(x: Float32Array) -> Float32Array:
    """1/2 and the quotient for |x| <= 18, within 0..1.

    >>> logistic_by_quotient(np.array([0, 40], np.float32))
    array([0.5, 1. ], dtype=float32)
    """
    return np.asarray(np.clip(_quotient(x, _LOGISTIC, 18) + np.float32(0.5), np.float32(0), np.float32(1)))


def tanh_by_quotient(x: Float32Array) -> Float32Array:
    """The quotient for |x| <= 9.

    >>> tanh_by_quotient(np.array([0, 40], np.float32))
    array([0., 1.], dtype=float32)
    """
    return _quotient(x, _TANH, 9)


def _rounded_once(x: Float32Array, function: Callable[[npt.NDArray[Any]], npt.NDArray[Any]]) -> Float32Array:
    return np.asarray(function(x.astype(np.float64)), np.float32)


def _logistic(x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    with np.errstate(over="ignore"):  # of very negative numbers it is 0
        return np.asarray(1 / (1 + np.exp(-x)))


BY_QUOTIENT: Final = "activation_by_quotient"
IN_REALS: Final = "activation_in_reals"
WAYS: Final[Mapping[str, Mapping[str, Function]]] = {
    IN_REALS: {
        "logistic": partial(_rounded_once, function=_logistic),
        "tanh": partial(_rounded_once, function=np.tanh),
    },
    BY_QUOTIENT: {"logistic": logistic_by_quotient, "tanh": tanh_by_quotient},
}
"""By the name of the way, and then of the function."""
USERS: Final = {IN_REALS: "", BY_QUOTIENT: "ONNX Runtime's MLAS, with fused products"}
