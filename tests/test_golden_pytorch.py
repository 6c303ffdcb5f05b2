"""sim.golden.pytorch, and XNNPACK's convert, against docs/spec/requantization.md sections 6, 7 and exact fractions."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sim.golden import (
    AddParameters,
    LayerScales,
    Quantization,
    add_pytorch,
    add_pytorch_tail,
    add_qnnpack,
    add_xnnpack,
    bias_by_reciprocal,
    bias_divided,
    bias_in_reals,
    bias_in_reals_of_products,
    bias_rounded,
    product_in_float,
    product_of_eight_bits,
)
from sim.golden.addition import Activation
from sim.golden.integer_addition import multipliers_of_bits
from support.exact_rounding import half_up

REAL_BIASES = (bias_divided, bias_by_reciprocal, bias_in_reals, bias_in_reals_of_products)
"""Those that do not round the bias by itself."""
NEAR = Fraction(1, 1 << 10)
"""What is nearer to a tie than this may fall on either side."""


def exact_layers(seed: int) -> tuple[Any, np.float32, LayerScales, int, list[Fraction]]:
    rng = np.random.default_rng(seed)
    values, zero = rng.integers(-5000, 5000, 300), int(rng.integers(0, 256))
    bias, scales = np.float32(rng.normal()), LayerScales(*rng.uniform(0.01, 0.2, 3).astype(np.float32))
    of_input, of_weights, of_output = (Fraction(float(one)) for one in (scales.input, scales.weights, scales.output))
    reals = [(int(x) * of_input * of_weights + Fraction(float(bias))) / of_output + zero for x in values]
    return values, bias, scales, zero, reals


@pytest.mark.parametrize("convention", REAL_BIASES, ids=lambda convention: convention.__name__)
def test_a_real_bias_gives_the_nearest_integer_where_no_tie_is_near(convention: Callable[..., Any]) -> None:
    tried = 0
    for seed in range(10):
        *given, reals = exact_layers(seed)
        for made, real in zip(convention(*given), reals, strict=True):
            if abs(real % 1 - Fraction(1, 2)) > NEAR:
                assert made == round(real)
                tried += 1
    assert tried > 2500


def test_qnnpack_scales_the_sum_with_the_bias_as_an_integer() -> None:
    values, bias, scales, zero, _ = exact_layers(3)
    unit = Fraction(float(scales.input)) * Fraction(float(scales.weights))
    whole = round(Fraction(float(bias)) / unit)
    factor = unit / Fraction(float(scales.output))
    for value, made in zip(values, bias_rounded(values, bias, scales, zero), strict=True):
        real = (int(value) + whole) * factor + zero
        assert abs(real % 1 - Fraction(1, 2)) <= NEAR or made == round(real)


@pytest.mark.parametrize("convention", [*REAL_BIASES, bias_rounded], ids=lambda convention: convention.__name__)
def test_channels_have_biases_and_scales_of_their_own_and_int32_saturates(convention: Callable[..., Any]) -> None:
    bias, weights = np.array([0.0, 2.0], np.float32), np.array([0.25, 1e9], np.float32)
    made = convention(np.array([[4, 4], [8, -8]]), bias, LayerScales(np.float32(1), weights, np.float32(1)), 3)
    np.testing.assert_array_equal(made, [[1 + 3, 2**31 - 1], [2 + 3, -(2**31)]])


@pytest.mark.parametrize("name", ["input", "weights", "output"])
@pytest.mark.parametrize("scale", [0.0, -1.0, np.inf, np.nan])
def test_a_scale_that_is_not_above_0_is_refused(name: str, scale: float) -> None:
    ones = {each: np.float32(1) for each in ("input", "weights", "output")}
    with pytest.raises(ValueError, match=f"the scale of the {name} is {scale}: it must be finite and above 0"):
        LayerScales(**{**ones, name: np.float32(scale)})


def test_scales_are_taken_to_the_nearest_float32() -> None:
    of_sums = LayerScales(0.1, 0.2, 0.3).of_sums  # type: ignore[arg-type]  # as a caller without types has them
    assert of_sums.dtype == np.float32
    assert of_sums.item() == (np.float32(0.1) * np.float32(0.2)).item()


def test_a_bias_of_float64_is_refused() -> None:
    ones = LayerScales(np.float32(1), np.float32(1), np.float32(1))
    with pytest.raises(TypeError, match="bias is float64: give float32, nothing is cast silently"):
        bias_divided(1, np.float64(0.5), ones, 0)  # type: ignore[arg-type]


A, B = (array.ravel() for array in np.meshgrid(np.arange(0, 256, 3), np.arange(0, 256, 5)))
SCALES = [(0.05, 3, 0.03, 200, 0.07, 90), (0.5, 128, 0.25, 7, 1.0, 1), (0.011, 0, 0.013, 255, 0.017, 128)]


@pytest.mark.parametrize("add", [add_pytorch, add_pytorch_tail, add_qnnpack], ids=lambda add: add.__name__)
@pytest.mark.parametrize("numbers", SCALES)
def test_an_addition_is_the_nearest_byte_where_no_tie_is_near(
    add: Callable[..., Any], numbers: tuple[float, ...]
) -> None:
    quantizations = [Quantization(numbers[k], int(numbers[k + 1])) for k in (0, 2, 4)]
    of_a, of_b, of_sum = (Fraction(float(one.scale)) for one in quantizations)
    zero_a, zero_b, zero = (one.zero_point for one in quantizations)
    first, second, total = quantizations
    made = add(A, B, AddParameters(first, second, total))
    for a, b, byte in zip(A.tolist(), B.tolist(), made.tolist(), strict=True):
        real = ((a - zero_a) * of_a + (b - zero_b) * of_b) / of_sum + zero
        if abs(real % 1 - Fraction(1, 2)) > NEAR:
            assert byte == min(max(round(real), 0), 255)


def test_the_multipliers_of_an_addition_have_22_bits_in_qnnpack_and_21_in_xnnpack() -> None:
    """A tenth is 1677721.6 / 2^24 and 3355443.2 / 2^25: in 21 bits it becomes more, in 22 less, so 5 pass a tie."""
    tenths = AddParameters(Quantization(0.1), Quantization(0.1), Quantization(1.0))
    assert (int(add_xnnpack(5, 0, tenths)), int(add_qnnpack(5, 0, tenths))) == (1, 0)


def test_qnnpack_refuses_scales_that_are_too_far_apart() -> None:
    with pytest.raises(ValueError, match=r"the larger scale is 256 of the output's: QNNPACK takes 2\^-10 up to 2\^8"):
        add_qnnpack(1, 1, AddParameters(Quantization(256.0), Quantization(1.0), Quantization(1.0)))


def test_qnnpack_multiplies_by_the_reciprocal_of_the_outputs_scale_and_fbgemm_divides_by_it() -> None:
    """3 / 30 is 0.1 in float32, and 5 * 0.1 a tie there, to even 0; 3 * float32(1 / 30) is the next one above 0.1."""
    scales, none = LayerScales(np.float32(3), np.float32(1), np.float32(30)), np.float32(0)
    tenth = np.float32(0.1)
    assert np.float32(3) * (np.float32(1) / np.float32(30)) == np.nextafter(tenth, np.float32(1))
    assert (int(bias_divided(5, none, scales, 0)), int(bias_rounded(5, none, scales, 0))) == (0, 1)


@pytest.mark.parametrize("factor", [0.5, 0.01, 1 / 3, 1.0, 2.7, 127.9, 128.0, 2.0**-8])
def test_eight_bits_behind_the_point_round_ties_up(factor: float) -> None:
    """XNNPACK's convert: docs/spec/requantization.md section 7."""
    multiplier = round(256 * factor)
    values = np.arange(-700, 700)
    exact = [half_up(Fraction(int(value) * multiplier, 256)) for value in values]
    np.testing.assert_array_equal(product_of_eight_bits(values, factor), exact)


@pytest.mark.parametrize("factor", [0.0039, 128.1])
def test_a_factor_that_eight_bits_do_not_hold_is_refused(factor: float) -> None:
    with pytest.raises(ValueError, match=rf"the factor is {factor}: it must lie in 2\^-8..2\^7"):
        product_of_eight_bits(1, factor)


@pytest.mark.parametrize("factor", [float("nan"), float("inf"), 1e39])
def test_a_factor_that_is_not_finite_in_float32_is_refused(factor: float) -> None:
    with pytest.raises(ValueError, match="give a number that is finite in float32"):
        product_in_float(1, factor)


def test_the_larger_of_two_factors_gets_all_bits_from_2_to_the_minus_10_up_to_2_to_the_8() -> None:
    """2^-10 is 1/2 times 2^-9, and 255 almost 2^8: 2^20 and 255 * 2^13, of 21 bits."""
    least, most, small = np.float32(2.0**-10), np.float32(255), np.float32(2.0**-12)
    assert multipliers_of_bits(21, small, least, "it") == (2**18, 2**20, 30)
    assert multipliers_of_bits(21, most, small, "it") == (255 * 2**13, 2, 13)
    for factor in (np.nextafter(least, np.float32(0)), np.float32(256)):
        with pytest.raises(ValueError, match=r"of the output's: it takes 2\^-10 up to 2\^8"):
            multipliers_of_bits(21, factor, small, "it")


@pytest.mark.parametrize("add", [add_pytorch, add_pytorch_tail, add_qnnpack], ids=lambda add: add.__name__)
def test_pytorch_fuses_no_other_activation_than_relu(add: Callable[..., Any]) -> None:
    one = Quantization(1.0)
    assert int(add(3, 4, AddParameters(one, one, one, Activation("ReLU")))) == 7
    with pytest.raises(ValueError, match="the activation is LeakyRelu: PyTorch's add knows Identity and ReLU"):
        add(3, 4, AddParameters(one, one, one, Activation("LeakyRelu", (0.5,))))


@pytest.mark.parametrize(("zero", "lowest"), [(10, 10), (-3, 0)])
@pytest.mark.parametrize("add", [add_pytorch, add_pytorch_tail], ids=lambda add: add.__name__)
def test_relu_of_pytorch_is_the_zero_point_within_bytes(add: Callable[..., Any], zero: int, lowest: int) -> None:
    """0 and 5 less zero points of 9 and 0 is -4."""
    scales = Quantization(1.0, 9), Quantization(1.0), Quantization(1.0, zero)
    made = [int(add([0], [5], AddParameters(*scales, Activation(name)))[0]) for name in ("Identity", "ReLU")]
    assert made == [max(zero - 4, 0), lowest]
