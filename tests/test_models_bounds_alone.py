"""RELU and its like as layers of their own, and real numbers that become int16: which convention made an output."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import floor
from pathlib import Path

import numpy as np
import pytest

from sim.golden.derivation import derive_tflite
from sim.models.compare import LayerReport, compared
from sim.models.computed import computed
from sim.models.forward import forward
from sim.models.network import Network, NotComputed
from sim.models.tflite_file import read_tflite
from support.tflite_models import ModelWriter

X, Y = 0, 1
REALS = {"RELU": (0, 10**9), "RELU6": (0, 6), "RELU_N1_TO_1": (-1, 1)}


def network_of(
    folder: Path, operator: str, dtypes: tuple[str, str], count: int, scales: tuple[float | None, float],
    zeros: tuple[int, int],
) -> Network:  # fmt: skip
    """One layer on a row of so many numbers; real ones have no scale."""
    made = ModelWriter()
    x = made.tensor("x", dtypes[0], (1, count), () if scales[0] is None else scales[0], zeros[0])
    y = made.tensor("y", dtypes[1], (1, count), scales[1], zeros[1])
    made.layer(operator, (x,), (y,))
    made.inputs, made.outputs = [x], [y]
    path = folder / "net.tflite"
    path.write_bytes(made.content())
    return read_tflite(path)


def report_of(network: Network, x: np.ndarray, output: list[int]) -> LayerReport:
    made = np.array(output, network.tensors[Y].dtype).reshape(x.shape)
    (report,) = compared(network, {X: x, Y: made})
    return report


def half_up(number: Fraction) -> int:
    return floor(number + Fraction(1, 2))


def half_away(number: Fraction) -> int:
    return half_up(number) if number >= 0 else -half_up(-number)


def every(dtype: str) -> np.ndarray:
    """All bytes, or of int16 those around 0 and every 61st number: all remainders of powers of two."""
    limits = np.iinfo(dtype)
    numbers = np.arange(limits.min, limits.max + 1)
    is_taken = (numbers % 61 == 0) | (np.abs(numbers) < 256) | (dtype != "int16")
    return np.asarray(numbers[is_taken], dtype).reshape(1, -1)


@pytest.mark.parametrize(
    ("operator", "dtype"),
    [(name, dtype) for name in REALS for dtype in ("int8", "uint8", "int16")][:-1],
)
def test_bounds_alone_scale_and_bound(operator: str, dtype: str, tmp_path: Path) -> None:
    """By a quarter: of 2 and 6 the multiply makes 1 and 3 of 2^-1, which double rounding takes away from zero."""
    zeros = (20, 30) if dtype == "uint8" else (3, -5)
    scales, x, limits = (0.25, 1.0), every(dtype), np.iinfo(dtype)
    low, high = REALS[operator]
    by, output = derive_tflite(0.25), []
    for q in x.ravel().tolist():
        scaled = half_away(Fraction(half_up(Fraction((q - zeros[0]) * by.multiplier, 2**31)), 2**-by.left_shift))
        lowest, highest = max(limits.min, zeros[1] + low), min(limits.max, zeros[1] + high)
        output.append(max(lowest, min(highest, scaled + zeros[1])))
    network = network_of(tmp_path, operator, (dtype, dtype), x.size, scales, zeros)
    report = report_of(network, x, output)
    assert (report.outcome, report.kind, "double_rounding" in report.conventions) == ("equal", "bounds alone", True)
    assert "single_rounding" not in report.conventions or operator == "RELU_N1_TO_1"
    np.testing.assert_array_equal(forward(network, {X: x}, "double_rounding")[Y].ravel(), output)


def test_a_quotient_of_scales_in_float32_is_told_from_one_in_float64(tmp_path: Path) -> None:
    """LiteRT divides in float32, TensorFlow Lite Micro in float64."""
    x, scales = every("int16"), (np.float32(0.031), np.float32(0.02))
    network = network_of(tmp_path, "RELU", ("int16", "int16"), x.size, (0.031, 0.02), (0, 0))
    for quotient, bits in ((float(scales[0] / scales[1]), 32), (float(scales[0]) / float(scales[1]), 64)):
        by = derive_tflite(quotient)
        products = [half_up(Fraction(max(int(q), 0) * 2**by.left_shift * by.multiplier, 2**31)) for q in x.ravel()]
        report = report_of(network, x, [min(32767, product) for product in products])
        roundings = {name for name in report.conventions if name.startswith("double_rounding of derive_tflite")}
        assert roundings == {f"double_rounding of derive_tflite of scales_in_float{bits}"}


def test_bounds_that_tflite_does_not_have_are_refused(tmp_path: Path) -> None:
    network = network_of(tmp_path, "RELU_N1_TO_1", ("int16", "int16"), 4, (0.25, 1.0), (0, 0))
    with pytest.raises(NotComputed, match="TFLite has no RELU_N1_TO_1 of int16"):
        computed(network, network.layers[0], {X: np.zeros((1, 4), np.int16)})


SCALE = np.float32(0.0031)
ROUNDED: dict[str, tuple[bool, Callable[[Fraction], int]]] = {
    "round_even_then_offset": (False, round),
    "round_away_then_offset": (False, half_away),
    "reciprocal_round_even_then_offset": (True, round),
}


@pytest.mark.parametrize("name", ROUNDED)
def test_real_numbers_that_become_int16_are_named(name: str, tmp_path: Path) -> None:
    """Halves of steps, some beyond the ends; a product with the reciprocal leaves some of the ties."""
    x = (np.arange(-70_000, 70_000, 7) * (np.float32(0.5) * SCALE)).astype(np.float32).reshape(1, -1)
    by_reciprocal, rounded = ROUNDED[name]
    units = x * (np.float32(1) / SCALE) if by_reciprocal else x / SCALE
    output = [max(-32768, min(32767, rounded(Fraction(float(one))) + 77)) for one in units.ravel()]
    network = network_of(tmp_path, "QUANTIZE", ("float32", "int16"), x.size, (None, float(SCALE)), (0, 77))
    assert report_of(network, x, output).conventions == (name,)
    output[10_000] += 1
    report = report_of(network, x, output)
    assert report.trace is not None
    assert report.trace.steps[0].exact == Fraction(float(x.ravel()[10_000])) / Fraction(float(SCALE)) + 77
