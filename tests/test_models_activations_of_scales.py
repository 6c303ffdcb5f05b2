"""HARD_SWISH and LEAKY_RELU layers: their integers by other definitions, what made an output, what is refused."""

from __future__ import annotations

import doctest
from collections.abc import Callable
from fractions import Fraction
from math import floor
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from isa import intrinsics
from sim.golden.derivation import Derived, derive_tflite
from sim.golden.layers import hard_swish as swish
from sim.golden.layers import leaky_relu as leaky
from sim.models.compare import LayerReport, compared
from sim.models.computed import computed
from sim.models.forward import forward
from sim.models.network import Network, NotComputed
from sim.models.tflite_file import read_tflite
from support.tflite_models import ModelWriter

EVERY = {name: np.arange(256, dtype=np.uint8).view(name).reshape(1, 256) for name in ("int8", "uint8")}
EVERY["int16"] = np.arange(-(1 << 15), 1 << 15, 61).astype(np.int16).reshape(1, -1)
SCALES = [
    (0.5, 0.25),
    (1.0, 2.0),
    (0.03, 0.02),
    (0.0123, 0.004),
    (0.074, 0.0028),
    (1.0, 1 / 127),
    (2.0**-22, 2.0**-3),
    (40.0, 1.0),
]
X, Y = 0, 1


def network_of(
    folder: Path, operator: str, scales: tuple[float, float], zeros: tuple[int, int] = (3, -5), dtype: str = "int8",
    alpha: float | None = None,
) -> Network:  # fmt: skip
    """One layer on all bytes, or on every 61st int16."""
    made = ModelWriter()
    tensors = [made.tensor(name, dtype, EVERY[dtype].shape, scales[k], zeros[k]) for k, name in enumerate("xy")]
    if alpha is None:
        made.layer(operator, tensors[:1], tensors[1:])
    else:
        made.layer(operator, tensors[:1], tensors[1:], "LeakyReluOptions", Alpha=alpha)
    made.inputs, made.outputs = tensors[:1], tensors[1:]
    path = folder / "net.tflite"
    path.write_bytes(made.content())
    return read_tflite(path)


def report_of(network: Network, output: np.ndarray) -> LayerReport:
    dtype = network.tensors[X].dtype
    (report,) = compared(network, {X: EVERY[dtype], Y: output.astype(dtype).reshape(1, -1)})
    return report


def in_c(numerator: int, denominator: int) -> int:
    """The quotient cut towards zero."""
    return int(Fraction(numerator, denominator))


def high_product(a: int, b: int) -> int:
    """gemmlowp's SaturatingRoundingDoublingHighMul of int16, as its scalar code goes."""
    return in_c(a * b + ((1 << 14) if a * b >= 0 else 1 - (1 << 14)), 1 << 15)


def by_power(x: int, n: int) -> int:
    """gemmlowp's RoundingDivideByPOT of int16, whose mask has 16 bits."""
    mask = ((1 << n) - 1 + (1 << 15)) % (1 << 16) - (1 << 15)
    return (x >> n) + ((x & mask) > (mask >> 1) + (x < 0))


def swished(q: int, zero: int, output_zero: int, scales: tuple[float, float]) -> int:
    """TFLite's reference, number by number."""
    fine = np.float32(1 / 128) * np.float32(scales[0])
    (m, e), (n, f) = (derive_tflite(float(one)) for one in (fine / np.float32(scales[1]), fine / np.float32(3 / 32768)))
    m, n = (min((one + (1 << 15)) >> 16, 32767) for one in (m, n))
    moved = (q - zero) * 128
    scaled = high_product(moved, m)
    share = max(-32768, min(32767, moved << (f - 1))) if f > 0 else moved
    share = high_product(share, n)
    share = max(-32768, min(32767, share * 2)) if f > 0 else by_power(share, -f)
    product = in_c((share + 32768 >> 1) * scaled, 1 << 15)
    placed = (by_power(product, -e) + output_zero + 32768) % 65536 - 32768
    return max(-128, min(127, placed))


@pytest.mark.parametrize("scales", SCALES)
def test_hard_swish_is_the_reference_number_by_number(scales: tuple[float, float], tmp_path: Path) -> None:
    network = network_of(tmp_path, "HARD_SWISH", scales)
    expected = np.array([swished(int(q), 3, -5, scales) for q in EVERY["int8"].ravel()])
    np.testing.assert_array_equal(forward(network, {X: EVERY["int8"]}, "fp32")[Y].ravel(), expected)
    report = report_of(network, expected)
    assert (report.outcome, report.kind, report.conventions[0]) == ("equal", "hard swish", "hard_swish")


def test_a_sum_that_leaves_16_bits_wraps(tmp_path: Path) -> None:
    """255 * 127.99 and the zero point 255 are more than 32,767: 0, not 255."""
    network = network_of(tmp_path, "HARD_SWISH", (1.0, 1 / 127.99), (0, 255), "uint8")
    made = forward(network, {X: EVERY["uint8"]}, "fp32")[Y].ravel()
    assert made[[250, 255]].tolist() == [255, 0]


def test_hard_swish_is_the_function_within_one(tmp_path: Path) -> None:
    network = network_of(tmp_path, "HARD_SWISH", (0.05, 0.03), (10, 100), "uint8")
    x = (EVERY["uint8"].astype(np.float64) - 10) * 0.05
    exact = np.clip(x * np.clip(x + 3, 0, 6) / 6 / 0.03 + 100, 0, 255)
    assert np.abs(forward(network, {X: EVERY["uint8"]}, "fp32")[Y] - exact).max() <= 1


def in_vectors(values: np.ndarray, factors: swish.HardSwishFactors) -> list[int]:
    """TFLite's NEON code by our intrinsics, up to the zero point."""
    (m, e), (n, f) = factors
    made = list[int]()

    all_of = intrinsics.vdupq_n_s16

    for at in range(0, len(values), swish.BLOCK):
        x = intrinsics.vshlq_n_s16(intrinsics.int16x8_t(*map(int, values[at : at + swish.BLOCK])), 7)
        scaled = intrinsics.vqrdmulhq_n_s16(x, m)
        share = intrinsics.vqrdmulhq_n_s16(intrinsics.vqshlq_s16(x, all_of(max(f - 1, 0))), n)
        share = intrinsics.vqshlq_s16(share, all_of(int(f > 0)))
        share = intrinsics.vrhaddq_s16(intrinsics.vrshlq_s16(share, all_of(min(f, 0))), all_of(32767))
        made += intrinsics.vrshlq_s16(intrinsics.vqdmulhq_s16(share, scaled), all_of(e)).lanes
    return made


@pytest.mark.parametrize("scales", SCALES)
def test_hard_swish_by_vector_is_the_neon_code(scales: tuple[float, float]) -> None:
    factors = swish.factors_of(*map(np.float32, scales))
    values = EVERY["int8"].ravel().astype(np.int64) - 3
    placed = np.array(in_vectors(values, factors)) - 5
    ours = swish.hard_swish_by_vector(values, 0, factors, -5)
    np.testing.assert_array_equal(ours, (placed + 32768) % 65536 - 32768)


def test_what_lies_behind_the_last_vector_is_the_references(tmp_path: Path) -> None:
    """Of 5 numbers, none of which makes a vector, those of the reference are both ways."""
    made = ModelWriter()
    x, y = made.tensor("x", "int8", (5,), 0.5, 0), made.tensor("y", "int8", (5,), 0.25, 0)
    made.layer("HARD_SWISH", (x,), (y,))
    path = tmp_path / "net.tflite"
    path.write_bytes(made.content())
    odd = np.array([-3, -1, 0, 1, 5], np.int8)
    by = swish.factors_of(np.float32(0.5), np.float32(0.25))
    output = swish.hard_swish(odd, 0, by, 0).astype(np.int8)
    assert (output != swish.hard_swish_by_vector(odd, 0, by, 0)).any()
    (report,) = compared(read_tflite(path), {x: odd, y: output})
    assert report.conventions == ("hard_swish", "hard_swish_by_vector")


def test_a_hard_swish_in_vectors_is_named(tmp_path: Path) -> None:
    network = network_of(tmp_path, "HARD_SWISH", (0.5, 0.25))
    by = swish.factors_of(np.float32(0.5), np.float32(0.25))
    output = np.clip(swish.hard_swish_by_vector(EVERY["int8"], 3, by, -5), -128, 127)
    assert report_of(network, output).conventions == ("hard_swish_by_vector",)


def test_a_byte_that_is_off_is_traced(tmp_path: Path) -> None:
    """Byte 0 lies 3 below the zero point: x is -1.5, a quarter of it -1.5 units of the output."""
    network = network_of(tmp_path, "HARD_SWISH", (0.5, 0.25))
    output = forward(network, {X: EVERY["int8"]}, "fp32")[Y].ravel().copy()
    output[0] -= 2
    report = report_of(network, output)
    assert (report.outcome, report.differing, report.usual) == ("differs", 1, "hard_swish")
    assert report.trace is not None
    assert [step.name for step in report.trace.steps] == [
        "scale", "min(max(x + 3, 0), 6) / 6", "product", "shift", "offset", "clamp",
    ]  # fmt: skip
    assert [step.event for step in report.trace.steps[3:]] == ["tie", "", ""]


def half_away(number: Fraction) -> int:
    size = floor(abs(number) + Fraction(1, 2))
    return size if number >= 0 else -size


def rounded_twice(x: int, by: Derived) -> int:
    """The multiply with ties up, the shift with ties away, in fractions."""
    high = floor(Fraction(x * 2 ** max(by.left_shift, 0) * by.multiplier, 2**31) + Fraction(1, 2))
    return half_away(Fraction(high, 2 ** max(-by.left_shift, 0)))


def rounded_once(x: int, by: Derived) -> int:
    return floor(Fraction(x * by.multiplier, 2 ** (31 - by.left_shift)) + Fraction(1, 2))


def of_8_bits(x: int, factor: float) -> int:
    """128 * -x by the factor in units of -1/256, ties up."""
    units = round(Fraction(factor) * -256)
    return floor(Fraction(-x * 128 * units, 2**15) + Fraction(1, 2))


def leaked(
    scales: tuple[float, float], alpha: float, scaled: Callable[[int, float], int], turned: bool = True,
    dtype: str = "int8",
) -> np.ndarray:  # fmt: skip
    """Of every number, zero points 3 and -5; `turned`: a negative alpha's product is negated, not its factor."""
    above, slope = np.float32(scales[0]) / np.float32(scales[1]), np.float32(alpha)
    below = float(np.float32(scales[0]) * slope / np.float32(scales[1]))
    made, limits = [], np.iinfo(dtype)
    for q in EVERY[dtype].ravel().tolist():
        x = q - 3
        if x >= 0:
            placed = scaled(x, float(above))
        elif turned and below < 0:
            placed = -scaled(x, -below)
        else:
            placed = scaled(x, below)
        made.append(max(limits.min, min(limits.max, placed - 5)))
    return np.array(made)


@pytest.mark.parametrize(
    ("scaled", "name"),
    [
        (lambda x, by: rounded_twice(x, derive_tflite(by)), "double_rounding"),
        (lambda x, by: rounded_once(x, derive_tflite(by)), "single_rounding"),
    ],
)
@pytest.mark.parametrize("alpha", [0.25, -0.5, 0.1])
def test_a_leaky_relu_of_two_multipliers_is_named(
    scaled: Callable[[int, float], int], name: str, alpha: float, tmp_path: Path
) -> None:
    network = network_of(tmp_path, "LEAKY_RELU", (0.5, 1.0), alpha=alpha)
    output = leaked((0.5, 1.0), alpha, scaled)
    report = report_of(network, output)
    assert (report.outcome, report.kind, name in report.conventions) == ("equal", "leaky ReLU", True)
    roundings = {one for one in report.conventions if one.endswith("_rounding")}
    assert roundings == {name} or alpha == 0.1, "ties tell them apart"
    if name == "double_rounding":
        np.testing.assert_array_equal(forward(network, {X: EVERY["int8"]}, "fp32")[Y].ravel(), output)


@pytest.mark.parametrize("alpha", [0.25, -0.5, 0.1])
def test_a_leaky_relu_of_8_bits_is_named(alpha: float, tmp_path: Path) -> None:
    network = network_of(tmp_path, "LEAKY_RELU", (0.3, 0.7), alpha=alpha)
    output = leaked((0.3, 0.7), alpha, of_8_bits, turned=False)
    assert report_of(network, output).conventions == ("leaky_relu_of_8_bits",)


@pytest.mark.parametrize("above", [2.0**-8, 2.0**7])
@pytest.mark.parametrize("size", [2.0**-8, -(2.0**-8), 2.0**7, -(2.0**7 - 2.0**-8)])
def test_the_outermost_factors_of_8_bits_are_taken_and_the_next_are_not(above: float, size: float) -> None:
    """XNNPACK compares the quotient of the scales, and its product with alpha, with these bounds."""

    def factors(above: np.float32, below: np.float32) -> tuple[int, int]:
        return leaky.factors_of_8_bits(above, np.float32(1), below / above)

    first, second = np.float32(above), np.float32(size)
    assert factors(first, second) == (-256 * above, -256 * size)
    beyond = np.float32(0 if above < 1 else np.inf), np.float32(0 if abs(size) < 1 else np.copysign(np.inf, size))
    for pair in ((np.nextafter(first, beyond[0]), second), (first, np.nextafter(second, beyond[1]))):
        with pytest.raises(ValueError, match="XNNPACK takes those of size 2"):
            factors(*pair)


@pytest.mark.parametrize(("turned", "name"), [(True, "double_rounding"), (False, "double_rounding_of_negated")])
def test_a_leaky_relu_of_int16_is_named(turned: bool, name: str, tmp_path: Path) -> None:
    """By a negative alpha ties go the other way where the number is negated first; 8 bits are no candidate."""
    network = network_of(tmp_path, "LEAKY_RELU", (0.5, 1.0), alpha=-0.5, dtype="int16")
    output = leaked((0.5, 1.0), -0.5, lambda x, by: rounded_twice(x, derive_signed(by)), turned, "int16")
    assert report_of(network, output).conventions == (name,)
    if turned:
        np.testing.assert_array_equal(forward(network, {X: EVERY["int16"]}, "fp32")[Y].ravel(), output)


def derive_signed(by: float) -> Derived:
    """TFLite's multiplier, with the sign of the factor."""
    size = derive_tflite(abs(by))
    return Derived(-size.multiplier if by < 0 else size.multiplier, size.left_shift)


def test_factors_in_float64_are_told_from_those_in_float32(tmp_path: Path) -> None:
    """-1 * 127 / 2 is a tie in float32, and more than that by the exact quotient of float32(1 / 127)."""
    network = network_of(tmp_path, "LEAKY_RELU", (1.0, 1 / 127), alpha=0.5)
    output = leaked((1.0, 1 / 127), 0.5, lambda x, by: rounded_twice(x, derive_tflite(by)))
    tie = int(np.flatnonzero(EVERY["int8"].ravel() == 2)[0])
    assert "double_rounding of scales_in_float32" in report_of(network, output).conventions
    output[tie] -= 1
    assert report_of(network, output).conventions == (
        "double_rounding of scales_in_float64", "single_rounding of scales_in_float64",
    )  # fmt: skip


def test_a_tie_of_a_leaky_relu_is_traced(tmp_path: Path) -> None:
    """Byte 0 lies 3 below the zero point: the multiply makes -1 of -1.5."""
    network = network_of(tmp_path, "LEAKY_RELU", (0.5, 0.5), alpha=0.5)
    output = leaked((0.5, 0.5), 0.5, lambda x, by: rounded_twice(x, derive_tflite(by)))
    output[0] += 2
    report = report_of(network, output)
    assert (report.first, report.usual) == ((0, 0), "double_rounding")
    assert report.trace is not None
    told = [(step.name, step.value, step.exact, step.event) for step in report.trace.steps]
    assert told[:2] == [
        ("scale and alpha", -1, Fraction(-3, 2), "tie"), ("offset", -6, Fraction(-13, 2), ""),
    ]  # fmt: skip


def test_what_a_runtime_refuses_is_one_sentence(tmp_path: Path) -> None:
    for operator, scales, message, alpha in (
        ("HARD_SWISH", (1.0, 1 / 128), "the input's scale is 128 of the output's: TFLite takes less than 128", None),
        ("LEAKY_RELU", (1.0, 1e-20), "the factors are 1e.20 and 5e.19: below 2.30 they are defined", 0.5),
        ("LEAKY_RELU", (1.0, 1.0), "give a finite number", float("nan")),
        ("HARD_SWISH", (1e30, 1e-20), "give a finite number", None),
        ("HARD_SWISH", (3e7, 3e7), "the input's scale is 30000000.0: it shifts by more than 31 bits", None),
        ("LEAKY_RELU", (1e30, 1e-20), "give a finite number", 0.5),
    ):
        network = network_of(tmp_path, operator, scales, alpha=alpha)
        with pytest.raises(NotComputed, match=message):
            computed(network, network.layers[0], {X: EVERY["int8"]})
        assert Y not in forward(network, {X: EVERY["int8"]}, "fp32")


def test_other_types_are_not_computed(tmp_path: Path) -> None:
    network = network_of(tmp_path, "HARD_SWISH", (0.5, 0.25))
    for dtype, told in (
        (np.int16, "TFLite has no HARD_SWISH of int16: all its kernels refuse it"),
        (np.int32, "HARD_SWISH of int32, or with a scale for each channel, is not computed"),
    ):
        with pytest.raises(NotComputed, match=told):
            computed(network, network.layers[0], {X: EVERY["int8"].astype(dtype)})


@pytest.mark.parametrize(("module", "count"), [(swish, 5), (leaky, 5)])
def test_every_docstring_example_runs(module: ModuleType, count: int) -> None:
    result = doctest.testmod(module)
    assert (result.failed, result.attempted) == (0, count)
