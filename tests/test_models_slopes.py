"""PRELU, ABS, NEG and L2_NORMALIZATION layers: numbers by fractions, what made an output, and what is refused."""

from __future__ import annotations

import doctest
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from sim.golden.derivation import derive_tflite
from sim.golden.layers import l2_normalization, prelu
from sim.golden.layers.l2_normalization import reciprocal_root
from sim.models.compare import LayerReport, compared
from sim.models.computed import computed
from sim.models.forward import forward
from sim.models.network import Network, NotComputed
from sim.models.tflite_file import read_tflite
from support.exact_rounding import half_away, half_up
from support.tflite_models import ModelWriter

BYTES = np.arange(-128, 128).astype(np.int8).reshape(1, -1)


def network_of(
    folder: Path, operator: str, arrays: Sequence[np.ndarray], scales: Sequence[float | None], zeros: Sequence[int],
    to: str = "", **options: int,
) -> Network:  # fmt: skip
    """One layer; scales and zero points are those of the inputs and of the output, which has both inputs' shape."""
    made = ModelWriter()
    for k, one in enumerate(arrays):
        scale = scales[k]
        made.tensor(f"x_{k}", str(one.dtype), one.shape, () if scale is None else scale, zeros[k])
    shape = np.broadcast_shapes(*(one.shape for one in arrays))
    y = made.tensor("y", to or str(arrays[0].dtype), shape, scales[-1] or 1.0, zeros[-1])
    places = tuple(range(len(arrays)))
    made.layer(operator, places, (y,), "L2NormOptions" if options else "", **options)
    made.inputs, made.outputs = list(places), [y]
    path = folder / "net.tflite"
    path.write_bytes(made.content())
    return read_tflite(path)


def report_of(network: Network, arrays: Sequence[np.ndarray], output: Sequence[int]) -> LayerReport:
    tensor = network.tensors[len(arrays)]
    limits = np.iinfo(tensor.dtype)
    made = np.clip(np.array(output), limits.min, limits.max).astype(tensor.dtype).reshape(tensor.shape)
    (report,) = compared(network, dict(enumerate([*arrays, made])))
    np.testing.assert_array_equal(forward(network, dict(enumerate(arrays)), "double_rounding")[len(arrays)], made)
    return report


def doubled(value: int, multiplier: int, left_shift: int) -> int:
    wide = value << max(left_shift, 0)
    return half_away(Fraction(half_up(Fraction(wide * multiplier, 2**31)), 2 ** max(-left_shift, 0)))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
def test_numbers_below_zero_have_slopes(dtype: str, tmp_path: Path) -> None:
    """Every byte by four slopes, of any scales: 0.031 to 0.02, the slopes in units of 0.013."""
    limits, of_slopes = np.iinfo(dtype), "int8" if dtype == "int16" else dtype
    x = np.arange(limits.min, limits.max + 1, 1 if limits.bits == 8 else 251).astype(dtype).reshape(-1, 1)
    slopes = (np.array([-100, -3, 5, 90]) + (128 if dtype == "uint8" else 0)).astype(of_slopes)
    zeros = (0, 2, 0) if dtype == "int16" else (10, 130 if dtype == "uint8" else 2, 20)
    scales = [np.float32(one) for one in (0.031, 0.013, 0.02)]
    network = network_of(tmp_path, "PRELU", (x, slopes), list(map(float, scales)), zeros)
    above, below = (float(one) for one in (scales[0] / scales[2], scales[0] * scales[1] / scales[2]))
    output = []
    for q, alpha in np.broadcast(x, slopes):
        d, slope = int(q) - zeros[0], int(alpha) - zeros[1]
        made = doubled(d, *derive_tflite(above)) if d >= 0 else doubled(d * slope, *derive_tflite(below))
        output.append(made + zeros[2])
    report = report_of(network, (x, slopes), output)
    assert (report.outcome, report.kind) == ("equal", "PReLU")
    assert report.conventions[0] in ("double_rounding", "double_rounding of scales_in_float32")
    at = int(np.flatnonzero((np.array(output) > limits.min) & (np.array(output) < zeros[2]))[0])
    output[at] += 1
    tensor = network.tensors[2]
    wrong = np.clip(output, limits.min, limits.max).astype(dtype).reshape(tensor.shape or ())
    (report,) = compared(network, {0: x, 1: slopes, 2: wrong})
    assert (report.outcome, report.differing, report.first) == ("differs", 1, (at // 4, at % 4))
    assert report.trace is not None
    d, slope = int(x[at // 4, 0]) - zeros[0], int(slopes[at % 4]) - zeros[1]
    exact = d * slope * Fraction(float(scales[0])) * Fraction(float(scales[1])) / Fraction(float(scales[2]))
    assert (report.trace.steps[0].name, report.trace.steps[0].exact) == ("scale and slope", exact)


@pytest.mark.slow
def test_slopes_in_float32_and_float64_are_told_apart(tmp_path: Path) -> None:
    x, slopes = np.arange(-32768, 32768).astype(np.int16).reshape(1, -1), np.array([127], np.int8)
    scales = [np.float32(one) for one in (0.031, 0.0133, 0.02)]
    wide = [float(one) for one in scales]
    network = network_of(tmp_path, "PRELU", (x, slopes), wide, (0, 0, 0))
    by = {
        32: (float(scales[0] / scales[2]), float(scales[0] * scales[1] / scales[2])),
        64: (wide[0] / wide[2], wide[0] * wide[1] / wide[2]),
    }
    for bits, (above, below) in by.items():
        first, second = derive_tflite(above), derive_tflite(below)
        made = [doubled(q, *first) if q >= 0 else doubled(q * 127, *second) for q in x.ravel().tolist()]
        output = np.clip(made, -32768, 32767).astype(np.int16).reshape(1, -1)
        (report,) = compared(network, {0: x, 1: slopes, 2: output})
        told = [name for name in report.conventions if name.startswith("double_rounding")]
        assert told == [f"double_rounding of scales_in_float{bits}"]


@pytest.mark.parametrize("scales", [(0.031, 0.02), (0.25, 1.0), (0.5, 0.5)])
def test_absolute_values_are_scaled(scales: tuple[float, float], tmp_path: Path) -> None:
    by = derive_tflite(float(np.float32(scales[0]) / np.float32(scales[1])))
    network = network_of(tmp_path, "ABS", (BYTES,), scales, (3, -5))
    report = report_of(network, (BYTES,), [doubled(abs(q - 3), *by) - 5 for q in BYTES.ravel().tolist()])
    assert (report.outcome, report.kind) == ("equal", "absolute value")


def test_the_lowest_byte_stays_what_it_is(tmp_path: Path) -> None:
    network = network_of(tmp_path, "NEG", (BYTES,), (0.5, 0.5), (0, 0))
    made = forward(network, {0: BYTES}, "fp32")[1]
    assert made.ravel().tolist() == [-128, *range(127, -128, -1)]


@pytest.mark.parametrize(("dtype", "zero"), [("int8", 0), ("uint8", 128)])
def test_numbers_are_divided_by_the_root_of_their_squares(dtype: str, zero: int, tmp_path: Path) -> None:
    """Within one step of what the real function has, and by the multiplier of the reciprocal root."""
    rng, limits = np.random.default_rng(8), np.iinfo(dtype)
    x = rng.integers(limits.min, limits.max, (60, 5), dtype, endpoint=True)
    x[:3] = 5 + limits.min + 128 + np.array([[0] * 5, [1, 0, 0, 0, 0], [1, -1, 0, 0, 2]])
    centre = int(limits.min) + 133
    network = network_of(tmp_path, "L2_NORMALIZATION", (x,), (0.05, 2.0**-7), (centre, zero), FusedActivationFunction=0)
    output = []
    for row in x.astype(int) - centre:
        total = int((row**2).sum())
        multiplier, left_shift = (int(one) for one in reciprocal_root(np.array(total)))
        for d in row.tolist():
            made = doubled(d * 128, multiplier, left_shift) if zero else doubled(d, multiplier, left_shift + 7)
            assert abs(made - 128 * d / max(total, 1) ** 0.5) < (0.76 if zero else 0.51)  # uint8 is rounded twice
            output.append(made + zero)
    report = report_of(network, (x,), output)
    assert (report.outcome, report.kind, report.conventions[0]) == (
        "equal",
        "L2 normalization",
        "l2_by_double_rounding",
    )


def test_reciprocal_roots_are_near_the_real_ones() -> None:
    sums = np.unique(np.concatenate([np.arange(2000), 2 ** np.arange(31), 2 ** np.arange(1, 31) - 1, [2**31 - 1]]))
    multipliers, left_shifts = reciprocal_root(sums)
    assert (left_shifts <= 0).all()
    made = multipliers / 2.0**31 * 2.0**left_shifts
    np.testing.assert_allclose(made, 1 / np.sqrt(np.maximum(sums, 1)), rtol=3e-5)


X = np.zeros((1, 4), np.int8)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda to: network_of(to, "PRELU", (X, X.astype(np.int16)), (0.5, 0.5, 0.5), (0, 0, 0)),
         "PRELU of int8 with slopes of int16 to int8 is not computed"),
        (lambda to: network_of(to, "PRELU", (X, X), (0.5, None, 0.5), (0, 0, 0)), "x_1 has no scale"),
        (lambda to: network_of(to, "PRELU", (X, X), (1e30, 1e-3, 1e-30), (0, 0, 0)), "its tensors do not fit"),
        (lambda to: network_of(to, "ABS", (X,), (0.5, 0.5), (0, 0), to="int16"), "ABS of int8 to int16"),
        (lambda to: network_of(to, "ABS", (X.astype(np.uint8),), (0.5, 0.5), (0, 0)), "ABS of uint8 to uint8"),
        (lambda to: network_of(to, "NEG", (X,), (0.5, 0.25), (0, 0)), "its output has another scale than its input"),
        (lambda to: network_of(to, "NEG", (X,), (0.5, 0.5), (3, 3)), "NEG of int8, or that does not count from zero"),
        (lambda to: network_of(to, "L2_NORMALIZATION", (X,), (0.5, 0.25), (0, 0)), r"not the scale 0\.0078125"),
        (lambda to: network_of(to, "L2_NORMALIZATION", (X,), (0.5, 2.0**-7), (0, 1)), r"not the scale 0\.0078125"),
        (lambda to: network_of(to, "L2_NORMALIZATION", (X,), (0.5, 2.0**-7), (0, 0), to="int16"), "of int8 to int16"),
        (lambda to: network_of(to, "L2_NORMALIZATION", (X,), (0.5, 2.0**-7), (0, 0), FusedActivationFunction=1),
         "it has the activation RELU, which TFLite refuses"),
    ],
)  # fmt: skip
def test_what_is_not_computed_is_named(make: Callable[[Path], Network], reason: str, tmp_path: Path) -> None:
    network = make(tmp_path)
    given = {k: np.zeros((1, 4), network.tensors[k].dtype) for k in network.inputs}
    with pytest.raises(NotComputed, match=reason):
        computed(network, network.layers[0], given)


def test_squares_that_leave_32_bits_are_refused(tmp_path: Path) -> None:
    x = np.full((1, 40_000), -128, np.int8)
    network = network_of(tmp_path, "L2_NORMALIZATION", (x,), (0.5, 2.0**-7), (127, 0))
    with pytest.raises(NotComputed, match=r"a sum of squares is 2,601,000,000: below 2\^31 they are computed"):
        computed(network, network.layers[0], {0: x})


def test_examples() -> None:
    assert [doctest.testmod(module).failed for module in (prelu, l2_normalization)] == [0, 0]
