"""ADD of 16 bits whose scales are powers of two: by shifts or as any other, and which one made an output."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import floor
from pathlib import Path

import numpy as np
import pytest
import tflite

from sim.models.compare import LayerReport, compared
from sim.models.forward import forward
from sim.models.network import Network
from sim.models.tflite_file import read_tflite
from support.tflite_models import ModelWriter

CASES = [(0, 0), (0, 1), (3, 0), (0, 15), (12, 0)]
"""By how many powers of two the scale of each operand lies below that of the output."""
HALVED = (2.0**-9, 2.0**-10, 2.0**-9)
A, B, Y = range(3)
Tensors = dict[int, np.ndarray]


def network_of(folder: Path, scales: Sequence[float], marked: bool = True, relu: int = 0) -> Network:
    """One ADD; scales are those of both operands and of the output."""
    made = ModelWriter()
    tensors = [made.tensor(name, "int16", (1, 4096), scale) for name, scale in zip("aby", scales, strict=True)]
    made.layer("ADD", tensors[:2], tensors[2:], "AddOptions", PotScaleInt16=marked, FusedActivationFunction=relu)
    made.inputs, made.outputs = tensors[:2], tensors[2:]
    path = folder / "net.tflite"
    path.write_bytes(made.content())
    return read_tflite(path)


def drawn(size: int = 32768) -> Tensors:
    rng = np.random.default_rng(6)
    return {number: rng.integers(-size, size, (1, 4096)).astype(np.int16) for number in (A, B)}


def away(number: Fraction) -> int:
    """To the nearest, half-way away from zero."""
    size = floor(abs(number) + Fraction(1, 2))
    return size if number >= 0 else -size


def by_shifts(given: Tensors, shifts: tuple[int, int], lowest: int = -32768) -> np.ndarray:
    """As section 24 of the neighbours has it, in fractions."""
    pairs = zip(given[A].ravel().tolist(), given[B].ravel().tolist(), strict=True)
    sums = [sum(away(Fraction(x, 2**shift)) for x, shift in zip(pair, shifts, strict=True)) for pair in pairs]
    return np.clip(sums, lowest, 32767).astype(np.int16).reshape(1, -1)


def report_of(network: Network, tensors: Tensors) -> LayerReport:
    (report,) = compared(network, tensors)
    return report


@pytest.mark.parametrize("shifts", CASES)
@pytest.mark.parametrize("relu", [tflite.ActivationFunctionType.NONE, tflite.ActivationFunctionType.RELU])
def test_a_sum_by_shifts_is_named_and_made(shifts: tuple[int, int], relu: int, tmp_path: Path) -> None:
    scales = [2.0 ** (-9 - shift) for shift in (*shifts, 0)]
    network, given = network_of(tmp_path, scales, relu=relu), drawn()
    expected = by_shifts(given, shifts, lowest=0 if relu else -32768)
    np.testing.assert_array_equal(forward(network, given, "single_rounding")[Y], expected)
    report = report_of(network, given | {Y: expected})
    assert (report.outcome, "add_tflite_pot" in report.conventions) == ("equal", True)


def test_each_of_the_two_sums_is_named_where_they_part(tmp_path: Path) -> None:
    """-1 + 1/2 is 0 where the operand is rounded, and -1 where the sum is."""
    marked, given = network_of(tmp_path, HALVED), drawn(size=9)
    shifted = forward(marked, given, "double_rounding")[Y]
    whole = forward(network_of(tmp_path, HALVED, marked=False), given, "double_rounding")[Y]
    assert report_of(marked, given | {Y: shifted}).conventions == ("add_tflite_pot",)
    assert "add_tflite" in report_of(marked, given | {Y: whole}).conventions
    assert "add_tflite_pot" not in report_of(marked, given | {Y: whole}).conventions


def test_a_tie_that_is_cut_off_is_told(tmp_path: Path) -> None:
    network, given = network_of(tmp_path, HALVED), drawn(size=9)
    given[A][0, 7], given[B][0, 7], output = -4, -3, by_shifts(given, (0, 1))
    output[0, 7] = -5
    report = report_of(network, given | {Y: output})
    assert (report.outcome, report.usual, report.first) == ("differs", "add_tflite_pot", (0, 7))
    assert report.trace is not None
    told = [(step.name, step.event) for step in report.trace.steps]
    assert told[:2] == [("b by 2^-1", "tie"), ("sum", "")], told


def test_what_tflite_refuses_or_takes_for_no_power_is_no_sum_by_shifts(tmp_path: Path) -> None:
    given = drawn(size=900)
    for scales in ((2.0**-8, 2.0**-9, 2.0**-9), (2.0**-10, 2.0**-10, 2.0**-9)):
        network = network_of(tmp_path, scales)
        assert Y not in forward(network, given, "double_rounding")
    network = network_of(tmp_path, (0.3, 0.25, 0.5))
    report = report_of(network, given | {Y: forward(network, given, "double_rounding")[Y]})
    assert (report.outcome, report.conventions[0], "add_tflite_pot" in report.conventions) == (
        "equal", "add_tflite", False,
    )  # fmt: skip
