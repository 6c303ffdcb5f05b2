"""SOFTMAX layers: the arithmetics by definitions of their own, which one made an output, and what is refused."""

from __future__ import annotations

import doctest
from collections.abc import Callable
from fractions import Fraction
from math import exp, floor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sim.golden.derivation import Derived, derive_tflite
from sim.golden.layers import gemmlowp, interpolation, softmax
from sim.models.compare import LayerReport, compared
from sim.models.computed import computed
from sim.models.forward import forward
from sim.models.network import Network, NotComputed
from sim.models.tflite_file import read_tflite
from support.tflite_models import ModelWriter

SCALE = 0.0619
TELLING = [41, 106, -108]
"""Next to a tie: 124 by the table, 123 in fixed point, of the second."""
OF_16_BITS = (0.0185, [71, -105, -128])
"""The table of 16 bits gives 119 where the others give 118."""
ROWS = np.array(
    [TELLING, [0, 0, 0], [127, -128, -128], [-128, -128, -128], [5, 4, 3], [-1, 2, 90], [100, 99, -100]], np.int8
)
X, Y = 0, 1


def network_of(
    folder: Path, rows: np.ndarray = ROWS, scale: float = SCALE, beta: float = 1, to: float = 1 / 256, zero: int = 0,
    becomes: str = "",
) -> Network:  # fmt: skip
    """One SOFTMAX, to another type or that of the rows; `zero` moves the output's.  Of int16 both zero points are 0."""
    made, dtype = ModelWriter(), str(rows.dtype)
    becomes, is_wide = becomes or dtype, dtype == "int16"
    x = made.tensor("x", dtype, rows.shape, scale, 0 if is_wide else 3)
    y = made.tensor("y", becomes, rows.shape, to, zero + (0 if is_wide else int(np.iinfo(becomes).min)))
    made.layer("SOFTMAX", (x,), (y,), "SoftmaxOptions", Beta=beta)
    made.inputs, made.outputs = [x], [y]
    path = folder / "net.tflite"
    path.write_bytes(made.content())
    return read_tflite(path)


def report_of(network: Network, rows: np.ndarray, output: np.ndarray) -> LayerReport:
    (report,) = compared(network, {X: rows, Y: output.astype(network.tensors[Y].dtype)})
    return report


def by_table(row: np.ndarray, scale: float, bits: int = 8) -> list[int]:
    """As the scalar code goes, each operation in float32."""
    single, lowest = np.float32, int(np.iinfo(row.dtype).min) if bits == 8 else -(1 << 15)
    powers = [single(exp(-single(scale) * single(int(row.max()) - int(q)))) for q in row]
    total = single(0)
    for power in powers:
        total += power
    inverse = single(1) / (total * single(2.0**-bits))
    rounded = [floor(Fraction(float(power * inverse)) + Fraction(1, 2)) for power in powers]
    return [min((1 << bits) - 1, one) + lowest for one in rounded]


def in_fixed_point(row: np.ndarray, scale: float, bits: int = 8) -> list[int]:
    """In integers and fractions around gemmlowp's two functions; the reciprocal of a sum between 2^k and 2^(k+1)."""
    lowest = int(np.iinfo(row.dtype).min) if bits == 8 else -(1 << 15)
    by = derive_tflite(float(np.float32(scale)) * 2**26)
    differences = [int(q) - int(row.max()) for q in row]
    scaled = [high(difference * 2**by.left_shift, by.multiplier) for difference in differences]
    powers = [int(gemmlowp.exp_of_minus(np.array([-one], np.int32), 5)[0]) for one in scaled]
    total = sum(half_up(Fraction(power, 2**12)) for power in powers)
    whole = total.bit_length() - 20
    fraction = Fraction(total, 2**19) / 2**whole - 1
    reciprocal = int(gemmlowp.one_over_one_plus(np.array([fraction * 2**31], np.int32))[0])
    shares = [half_up(Fraction(high(reciprocal, power), 2 ** (31 - bits + whole))) for power in powers]
    return [min((1 << bits) - 1, share) + lowest for share in shares]


def high(a: int, b: int) -> int:
    return floor(Fraction(a * b, 2**31) + Fraction(1, 2))


def half_up(number: Fraction) -> int:
    return floor(number + Fraction(1, 2))


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize(
    ("defined", "name"), [(by_table, "softmax_by_table"), (in_fixed_point, "softmax_in_fixed_point")]
)
def test_bytes_to_int16_are_made_and_named(defined: object, name: str, dtype: str, tmp_path: Path) -> None:
    """The last row is 44377 of 65536 by the table, and 44376 in fixed point."""
    rows = np.concatenate([ROWS, np.array([[85, -26, 73]], np.int8)])
    rows = (rows.view(np.uint8) ^ 128) if dtype == "uint8" else rows
    output = np.array([defined(row, SCALE, 16) for row in rows])  # type: ignore[operator]  # either of the two
    network = network_of(tmp_path, rows, to=2.0**-16, becomes="int16")
    assert report_of(network, rows, output).conventions == (name,)
    if defined is by_table:
        np.testing.assert_array_equal(forward(network, {X: rows}, "fp32")[Y], output)


OF_INT16 = np.array([[0, -200, 300, -4000], [32767, -32768, 0, 1], [5, 5, 5, 5], [0, -70, -9000, -30_000]], np.int16)
SCALE_OF_INT16 = 0.0011
TELLING_OF_TABLES = np.array([[15820, -21288, 28461, -9454]], np.int16)
SCALE_OF_TABLES = 1e-4
"""Two numbers are one more by tables that are made in float64."""


def by_interpolation(row: np.ndarray, scale: float, single: bool = False) -> list[int]:
    """TFLite's reference, number by number: both tables at the places that are needed, in float64 or float32."""
    real = np.float32 if single else np.float64

    def near(x: int, function: Callable[[float], float], low: float, high: float) -> int:
        """x of -32768..32767 in the table of a function between two ends, in units of 2^-15."""
        first, width = real(low), real(high) - real(low)
        place, behind = (x + 32768) // 128, (x + 32768) % 128
        ends = [entry(function, first, width / real(512), place + k) for k in (0, 1)]
        return ends[0] + half_up(Fraction((ends[1] - ends[0]) * behind, 128))

    def entry(function: Callable[[float], float], first: Any, step: Any, place: int) -> int:
        by = real(65536) / (real(2) / real(65535) * real(32767) - real(2) / real(65535) * real(-32768))
        here, middle, behind = (
            real(function(float(x))) * by
            for x in (first + real(place) * step, first + real(place) * step + step / real(2),
                      first + real(place + 1) * step)
        )  # fmt: skip
        line = away((behind + real(away(here))) / real(2)) - away(middle)
        made = away(here) - (away(real(line) / real(2)) if place < 512 else 0)
        return max(-32768, min(32767, made))

    by = derive_tflite(float(np.float32(scale)) * 6553.5)
    differences = [rounded_twice(int(q) - int(row.max()), by) for q in row]
    powers = [near(max(-32768, one + 32767), exp, -10, 0) for one in differences]
    total = sum(powers)
    bits = total.bit_length()
    share = half_up(Fraction(total * 2 ** (31 - bits), 2**14)) - 3 * 2**15
    reciprocal = near(min(32767, share), lambda x: 1 / (1 + x), 0, 1)
    return [half_up(Fraction(power * reciprocal, 2 ** (bits - 1))) for power in powers]


def away(x: Any) -> int:
    number = Fraction(float(x))
    return half_up(number) if number >= 0 else -half_up(-number)


def rounded_twice(x: int, by: Derived) -> int:
    first = half_up(Fraction(x * 2 ** max(by.left_shift, 0) * by.multiplier, 2**31))
    return away(Fraction(first, 2 ** max(-by.left_shift, 0)))


@pytest.mark.parametrize("rows", [OF_INT16, np.random.default_rng(7).integers(-900, 900, (25, 12)).astype(np.int16)])
def test_int16_is_made_and_named(rows: np.ndarray, tmp_path: Path) -> None:
    """Of few numbers and of more, whose sum is cut to 17 bits."""
    network = network_of(tmp_path, rows, SCALE_OF_INT16, to=2.0**-15)
    output = np.array([by_interpolation(row, SCALE_OF_INT16) for row in rows])
    np.testing.assert_array_equal(forward(network, {X: rows}, "fp32")[Y], output)
    assert "softmax_by_interpolation" in report_of(network, rows, output).conventions
    exact = np.exp(SCALE_OF_INT16 * (rows - rows.max(-1, keepdims=True).astype(float)))
    assert np.abs(output / 32768 - exact / exact.sum(-1, keepdims=True)).max() < 2e-3


def test_tables_of_float32_and_float64_are_told_apart(tmp_path: Path) -> None:
    row = TELLING_OF_TABLES
    network = network_of(tmp_path, row, SCALE_OF_TABLES, to=2.0**-15)
    for single, name in ((False, "softmax_by_interpolation"), (True, "softmax_by_interpolation_of_float32")):
        output = np.array([by_interpolation(row[0], SCALE_OF_TABLES, single)])
        assert report_of(network, row, output).conventions == (name,)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize(
    ("defined", "name"), [(by_table, "softmax_by_table"), (in_fixed_point, "softmax_in_fixed_point")]
)
def test_each_way_is_made_and_named(defined: object, name: str, dtype: str, tmp_path: Path) -> None:
    rows = (ROWS.view(np.uint8) ^ 128) if dtype == "uint8" else ROWS
    output = np.array([defined(row, SCALE) for row in rows])  # type: ignore[operator]  # either of the two above
    np.testing.assert_array_equal(
        softmax.WAYS[name](rows, softmax.SoftmaxScales(*map(np.float32, (SCALE, 1 / 256, 1))), 0)["output"].clip(
            0, 255
        ),
        output - int(np.iinfo(dtype).min),
    )
    report = report_of(network_of(tmp_path, rows), rows, output)
    assert (report.outcome, report.kind) == ("equal", "softmax")
    assert set(report.conventions) & {"softmax_by_table", "softmax_in_fixed_point"} == {name}


def test_sums_are_added_in_float32_one_after_the_other() -> None:
    """By exact sums the last but three would be 85."""
    row = np.array([-125, 46, 104, 52, 9, 76, -118, -36, 120, 19, -7, 13], np.int8)
    by = softmax.SoftmaxScales(*map(np.float32, (0.0211, 1 / 256, 1)))
    output = softmax.by_table(row, by, -128)["output"].tolist()
    assert (output, output[8]) == (by_table(row, 0.0211), 86 - 128)


@pytest.mark.parametrize(("dtype", "output"), [("uint8", 1), ("int8", 0), ("uint8 to int16", 0)])
def test_a_half_is_added_in_float32_to_uint8_alone(dtype: str, output: int) -> None:
    """The number before a half: with a half in float32 it is 1."""
    row, scales = np.array([[0, 1]], dtype.split()[0]), map(np.float32, (0.1, 0.950041651725769, 1))
    steps = softmax.by_table(row, softmax.SoftmaxScales(*scales), 0, "int16" in dtype)
    assert (steps["scaled"][0, 0], steps["output"][0, 0]) == (np.nextafter(np.float32(0.5), np.float32(0)), output)


def test_what_is_further_away_than_the_exponential_s_32_is_nothing() -> None:
    scales = softmax.SoftmaxScales(*map(np.float32, (0.25, 0, 1)))
    steps = softmax.in_fixed_point(np.array([[127, 126, -1, -128]], np.int8), scales, -128)
    assert (steps["exp"][0, 1] > 0, steps["exp"][0, 2:].tolist()) == (True, [0, 0])
    assert steps["output"][0, 2:].tolist() == [-128, -128]


def test_the_least_scale_in_fixed_point_is_the_next_above_2_to_the_minus_26() -> None:
    least = np.nextafter(np.float32(2.0**-26), np.float32(1))
    rows = np.array([[-128, 127]], np.int8)
    assert softmax.in_fixed_point(rows, softmax.SoftmaxScales(least, np.float32(0), np.float32(1)), 0)[
        "output"
    ].tolist() == [[128, 128]]
    with pytest.raises(ValueError, match=r"above 2\^-26"):
        softmax.in_fixed_point(rows, softmax.SoftmaxScales(*map(np.float32, (2.0**-26, 0, 1))), 0)


def test_a_network_is_run_by_the_table(tmp_path: Path) -> None:
    made = forward(network_of(tmp_path), {X: ROWS}, "double_rounding")[Y]
    assert made.tolist() == [by_table(row, SCALE) for row in ROWS]


def test_every_way_is_the_function_within_one() -> None:
    rng = np.random.default_rng(2)
    for beta in (1.0, 0.5):
        rows = rng.integers(-128, 128, (50, 20)).astype(np.int8)
        powers = np.exp(0.03 * beta * (rows - rows.max(-1, keepdims=True).astype(float)))
        exact = powers / powers.sum(-1, keepdims=True) * 256 - 128
        by = softmax.SoftmaxScales(*map(np.float32, (0.03, 1 / 256, beta)))
        for way in softmax.WAYS.values():
            assert np.abs(way(rows, by, -128)["output"] - exact).max() < 0.51


def test_the_table_of_16_bits_is_named(tmp_path: Path) -> None:
    """65535 * exp(-0.0185 * 176) is 2525.01: 2525 of 68060 is 9.4975 of 256, and 65535 is 246.502."""
    scale, row = OF_16_BITS
    rows = np.array([row[:2]], np.int8)
    report = report_of(network_of(tmp_path, rows, scale), rows, np.array([[119, -118]]))
    assert report.conventions == ("softmax_by_table_of_16_bits",)
    report = report_of(network_of(tmp_path, rows, scale), rows, np.array([[118, -118]]))
    assert report.conventions == ("softmax_by_table", "softmax_in_fixed_point")


def test_a_byte_that_none_makes_is_traced(tmp_path: Path) -> None:
    output = np.array([by_table(row, SCALE) for row in ROWS])
    output[4, 1] += 1
    report = report_of(network_of(tmp_path), ROWS, output)
    assert (report.outcome, report.first, report.usual) == ("differs", (4, 1), "softmax_by_table")
    assert report.trace is not None
    assert report.trace.inputs == {"byte": 4, "place": 13}
    assert report.trace.steps[0].name == "exp of -0.0619 of 2.82353"
    assert abs(report.trace.steps[0].exact - report.trace.steps[0].value) < Fraction(1, 2)


def test_what_is_refused_is_one_sentence(tmp_path: Path) -> None:
    for network, message in (
        (network_of(tmp_path, to=1 / 128), r"its output has not the scale 0\.00390625 and zero point -128"),
        (network_of(tmp_path, zero=1), r"its output has not the scale 0\.00390625 and zero point -128"),
        (network_of(tmp_path, beta=0), r"its beta is 0\.0, times the scale no positive number"),
        (network_of(tmp_path, beta=float("inf")), "its beta is inf, times the scale no positive number"),
    ):
        with pytest.raises(NotComputed, match=message):
            computed(network, network.layers[0], {X: ROWS})
    network = network_of(tmp_path)
    with pytest.raises(NotComputed, match="SOFTMAX of int16 to int8"):
        computed(network, network.layers[0], {X: ROWS.astype(np.int16)})
    network = network_of(tmp_path, OF_INT16, to=2.0**-16)
    with pytest.raises(NotComputed, match=r"not the scale 3\.05176e-05 and zero point 0"):
        computed(network, network.layers[0], {X: OF_INT16})


def test_scales_of_which_upstreams_integers_overflow_have_no_convention(tmp_path: Path) -> None:
    network = network_of(tmp_path, OF_INT16, 5.1, to=2.0**-15)
    assert Y not in forward(network, {X: OF_INT16}, "fp32")
    assert report_of(network, OF_INT16, np.zeros(OF_INT16.shape)).conventions == ()
    output = forward(network_of(tmp_path, OF_INT16, 4.9, to=2.0**-15), {X: OF_INT16}, "fp32")[Y]
    assert output[2].tolist() == [8192] * 4


def test_where_the_references_checks_end_the_program_it_is_no_candidate(tmp_path: Path) -> None:
    """900 numbers that are alike sum up to more than 512; a scale of 2^-30 is below the smallest."""
    rows = np.zeros((1, 900), np.int8)
    report = report_of(network_of(tmp_path, rows), rows, np.full((1, 900), -128))
    assert report.conventions == ("softmax_by_table", "softmax_by_table_of_16_bits")
    report = report_of(network_of(tmp_path, scale=2.0**-30), ROWS, np.full(ROWS.shape, -43))
    assert report.conventions == ("softmax_by_table", "softmax_by_table_of_16_bits")


def test_every_docstring_example_runs() -> None:
    results = [doctest.testmod(module) for module in (softmax, gemmlowp, interpolation)]
    assert [(one.failed, one.attempted) for one in results] == [(0, 9), (0, 6), (0, 2)]
