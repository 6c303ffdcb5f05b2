"""LOGISTIC and TANH of int16: the table and what lies between its numbers, scales, what is told, what is refused."""

from __future__ import annotations

import doctest
from fractions import Fraction
from math import exp, floor, tanh
from pathlib import Path

import numpy as np
import pytest

from sim.golden.layers import sigmoid_table
from sim.golden.layers.sigmoid_table import TABLE, TableFactor, factor_of
from sim.models.compare import compared
from sim.models.computed import computed
from sim.models.forward import forward
from sim.models.network import Network, NotComputed
from sim.models.tflite_file import read_tflite
from support.tflite_models import ModelWriter

X, Y = 0, 1
EVERY = np.arange(-32768, 32768, 7).astype(np.int16).reshape(1, -1)
REAL = {"LOGISTIC": lambda x: 1 / (1 + exp(min(-x, 700))), "TANH": tanh}


def network_of(
    folder: Path, operator: str, scale: float, to: float = 2.0**-15, zeros: tuple[int, int] = (0, 0)
) -> Network:
    made = ModelWriter()
    made.tensor("x", "int16", EVERY.shape, scale, zeros[0])
    made.tensor("y", "int16", EVERY.shape, to, zeros[1])
    made.layer(operator, (X,), (Y,))
    made.inputs, made.outputs = [X], [Y]
    path = folder / "net.tflite"
    path.write_bytes(made.content())
    return read_tflite(path)


def between(operator: str, q: int, by: TableFactor) -> int:
    """The straight line in units of 2^-15, to the nearest, ties up; of what is negative the other side."""
    at = floor(Fraction(q * by.multiplier, 2**by.shift) + Fraction(1, 2))
    steps = Fraction(abs(at), 512 if operator == "LOGISTIC" else 256)
    i = int(steps)
    if i >= 255:
        share = Fraction(32767, 32768) if operator == "LOGISTIC" else Fraction(65535, 65536)
    else:
        share = (TABLE[i] + (steps - i) * int(TABLE[i + 1] - TABLE[i])) / Fraction(65536)
    if operator == "LOGISTIC":
        made = (share if at >= 0 else 1 - share) * 2**15
        unit = Fraction(1, 2**10)
    else:
        made = (2 * share - 1 if at >= 0 else 1 - 2 * share) * 2**15
        unit = Fraction(1, 2**8)
    return floor(made + Fraction(1, 2) - (0 if at >= 0 else unit))


@pytest.mark.parametrize("operator", REAL)
@pytest.mark.parametrize("scale", [0.0003, 0.01, 2.0**-12, 2.0**-11, 2.5])
def test_numbers_are_those_of_the_table(operator: str, scale: float, tmp_path: Path) -> None:
    network = network_of(tmp_path, operator, scale)
    made = forward(network, {X: EVERY}, "fp32")[Y]
    by, single = factor_of(operator.lower(), np.float32(scale)), float(np.float32(scale))
    for q, number in zip(EVERY.ravel().tolist(), made.ravel().tolist(), strict=True):
        assert number == between(operator, q, by)
        assert abs(number - REAL[operator](single * q) * 2**15) < 6
    (report,) = compared(network, {X: EVERY, Y: made})
    assert (report.outcome, report.conventions) == ("equal", ("activation_by_table_of_16_bits",))
    made[0, 17] += 1
    (report,) = compared(network, {X: EVERY, Y: made})
    assert (report.outcome, report.differing, report.first) == ("differs", 1, (0, 17))
    assert report.trace is not None
    exact = Fraction(REAL[operator](single * int(EVERY[0, 17]))) * 2**15
    assert abs(report.trace.steps[0].exact - exact) < Fraction(1, 10**6)


def test_the_table_is_that_of_the_logistic() -> None:
    """Each number the nearest one, or one more."""
    for place, number in enumerate(TABLE.tolist()):
        assert number - round(65536 / (1 + exp(-place / 24))) in (0, 1)
    places = np.arange(256)
    moments = [int((places**power * TABLE).sum()) for power in range(3)]
    assert moments == [
        15670629,
        2108062945,
        362728672975,
    ]  # of upstream's numbers, which have the ones more at their places


def test_factors_are_as_large_as_15_bits_hold() -> None:
    assert factor_of("tanh", np.float32(2.0**-11)) == TableFactor(6, 0)
    assert factor_of("logistic", np.float32(2.0**-11)) == TableFactor(24576, 12)
    assert factor_of("logistic", np.float32(1e-9)) == TableFactor(26388, 31)
    for scale in (0.0001, 0.3, 2.6):
        multiplier, shift = factor_of("logistic", np.float32(scale))
        assert 2**14 <= multiplier < 2**15
        assert multiplier == floor(Fraction(float(np.float32(scale))) * 12288 * 2**shift)


@pytest.mark.parametrize(
    ("scale", "to", "zeros", "reason"),
    [
        (0.001, 2.0**-14, (0, 0), r"its output has not the scale 3\.05176e-05 and zero point 0"),
        (0.001, 2.0**-15, (0, 1), "its output has not the scale"),
        (0.001, 2.0**-15, (5, 0), "LOGISTIC of int16 with zero point 5, which TFLite refuses"),
        (2.7, 2.0**-15, (0, 0), r"its tensors do not fit: the scale is 2\.7: up to 2\.66659 it is defined"),
    ],
)
def test_scales_that_are_refused(scale: float, to: float, zeros: tuple[int, int], reason: str, tmp_path: Path) -> None:
    network = network_of(tmp_path, "LOGISTIC", scale, to, zeros)
    with pytest.raises(NotComputed, match=reason):
        computed(network, network.layers[0], {X: EVERY})


def test_examples() -> None:
    assert doctest.testmod(sigmoid_table).failed == 0
