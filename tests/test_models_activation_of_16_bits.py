"""LOGISTIC and TANH of int16: the table and what lies between its numbers, scales, what is told, what is refused."""

from __future__ import annotations

import doctest
from fractions import Fraction
from math import exp, floor, tanh
from pathlib import Path

import numpy as np
import pytest

from sim.golden.layers import gemmlowp, sigmoid_table
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
    made[0, 17] += 7  # no arithmetic is so far from another
    (report,) = compared(network, {X: EVERY, Y: made})
    assert (report.outcome, report.differing, report.first) == ("differs", 1, (0, 17))
    assert report.trace is not None
    exact = Fraction(REAL[operator](single * int(EVERY[0, 17]))) * 2**15
    assert abs(report.trace.steps[0].exact - exact) < Fraction(1, 10**6)


def powers(x: int, integer_bits: int) -> int:
    """exp(-x) in units of 2^-15 as gemmlowp has it, step by step; x >= 0 has so many bits before the point."""
    if x == 0:
        return 32767
    quarter = 1 << (13 - integer_bits)
    low = -x % quarter - quarter
    a = max(-32768, low << integer_bits) + 4096
    square = high(a, a)
    third = high(away(high(square, square), 4) + high(square, a), 10923)
    result = 28918 + high(a + away(third + square, 2), 28918)
    for place, factor in enumerate((25520, 19875, 12055, 4435, 600, 11, 0)):
        bit = 13 - integer_bits + place
        if bit < 15 and (low + x) >> bit & 1:
            result = high(result, factor)
    return result


def high(a: int, b: int) -> int:
    return min(floor(Fraction(a * b, 2**15) + Fraction(1, 2)), 32767)


def away(number: int, by: int) -> int:
    size = floor(Fraction(abs(number), by) + Fraction(1, 2))
    return size if number >= 0 else -size


def inverse(power: int) -> int:
    """Of (1 + power) / 2, in units of 2^-13."""
    half = (power + 32768) // 2
    x = 23130 + high(half, -15420)
    for _ in range(3):
        x += max(-32768, min(32767, 4 * high(x, 8192 - high(half, x))))
    return x


def in_fixed_point(operator: str, q: int, doublings: int) -> int:
    q = max(-32768, min(32767, q << doublings))
    if operator == "LOGISTIC":
        positive = min(32767, 2 * inverse(powers(abs(q), 3)))
        return 16384 if q == 0 else positive if q > 0 else 32767 - positive
    size = min(32767, 4 * (inverse(powers(abs(q), 4)) - 8192))
    return size if q > 0 else -size if q else 0


@pytest.mark.slow
@pytest.mark.parametrize(("operator", "doublings"), [("LOGISTIC", 0), ("TANH", 0), ("TANH", 1)])
def test_numbers_of_powers_of_two_are_those_of_fixed_point(operator: str, doublings: int, tmp_path: Path) -> None:
    network = network_of(tmp_path, operator, 2.0 ** (doublings - 12))
    made = np.array([in_fixed_point(operator, q, doublings) for q in EVERY.ravel().tolist()], np.int16)
    (report,) = compared(network, {X: EVERY, Y: made.reshape(EVERY.shape)})
    assert (report.outcome, report.conventions) == ("equal", ("activation_in_fixed_point_of_16_bits",))
    assert all(
        abs(number - REAL[operator](q * 2.0 ** (doublings - 12)) * 2**15) < 18
        for q, number in zip(EVERY.ravel().tolist(), made.tolist(), strict=True)
    )


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
    assert doctest.testmod(gemmlowp).failed == 0
