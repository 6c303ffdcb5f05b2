"""The activations of quantized_add's mode page, against fractions rounded once a step and against numbers by hand."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sim.golden.addition import (
    ACTIVATIONS,
    RELU,
    Activation,
    AddParameters,
    Quantization,
    add_base,
    add_page,
    add_tflite,
)
from sim.kernels import built_in_kernel
from sim.kernels.operator import ConfigurationError
from sim.kernels.quantized_add import ACTIVATION_NUMBERS
from sim.kernels.quantized_add.configure import InputTensor, QuantizedAdd
from sim.kernels.quantized_add.golden import Tensor, generic_steps, page_steps
from support.exact_rounding import float32_nearest

PARAMETERS = {
    "Identity": (), "ReLU": (), "LeakyRelu": (0.1,), "RestrictRange": (-1.3, 2.7), "Hswish": (3.0, 1 / 6),
    "HardSigmoid": (0.2, 0.5),
}  # fmt: skip


def single(number: float) -> Fraction:
    return float32_nearest(Fraction(number))


def activated(value: Fraction, name: str, given: tuple[float, ...]) -> Fraction:
    """By the definition of each activation, every product and sum rounded."""
    first, second = (single(number) for number in (*given, 0.0, 0.0)[:2])
    if name == "ReLU":
        return max(value, Fraction(0))
    if name == "LeakyRelu":
        return value if value >= 0 else float32_nearest(first * value)
    if name == "RestrictRange":
        return min(max(first, value), second)
    if name == "Hswish":
        return float32_nearest(
            float32_nearest(max(float32_nearest(min(value, first) + first), Fraction(0)) * second) * value
        )
    if name == "HardSigmoid":
        return max(Fraction(0), min(float32_nearest(float32_nearest(value * first) + second), Fraction(1)))
    return value


def page(a: int, b: int, scales: tuple[float, float, float], zeros: tuple[int, int, int], applied: Activation) -> int:
    """The page in fractions; dst is the nearest even integer of the quotient, plus the zero point, clamped."""
    total = float32_nearest(
        float32_nearest(single(scales[0]) * (a - zeros[0])) + float32_nearest(single(scales[1]) * (b - zeros[1]))
    )  # fmt: skip
    value = activated(total, applied.name, PARAMETERS[applied.name])
    return min(max(round(float32_nearest(value / single(scales[2]))) + zeros[2], 0), 255)


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize(
    ("scales", "zeros"),
    [((0.010, 0.020, 0.015), (47, 30, 38)), ((0.05, 0.03, 0.01), (128, 100, 60)), ((0.5, 0.25, 0.125), (9, 200, 3))],
)
def test_the_page_in_fractions(name: str, scales: tuple[float, float, float], zeros: tuple[int, int, int]) -> None:
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 256, (2, 300))
    applied = Activation(name, PARAMETERS[name])
    of_a, of_b, of_output = (Quantization(s, z) for s, z in zip(scales, zeros, strict=True))
    parameters = AddParameters(of_a, of_b, of_output, applied)
    expected = [page(int(x), int(y), scales, zeros, applied) for x, y in zip(a, b, strict=True)]
    assert add_page(a, b, parameters).tolist() == expected


BY_HAND = [
    ("LeakyRelu", (0.25,), [-8, -2, 0, 3], [-2, -0.5, 0, 3]),
    ("LeakyRelu", (2.0,), [-8, 5], [-16, 5]),
    ("RestrictRange", (-1, 6), [-3, 2, 9], [-1, 2, 6]),
    ("RestrictRange", (3, -3), [-9, 0, 9], [-3, -3, -3]),
    ("Hswish", (3, 0.125), [-4, -1, 1, 4], [-0.0, -0.25, 0.5, 3]),
    ("HardSigmoid", (0.25, 0.5), [-4, -1, 0, 9], [0, 0.25, 0.5, 1]),
    ("LeakyRelu", (), [-8, 5], [0, 5]),
    ("RestrictRange", (), [-8, 5], [0, 0]),
    ("LeakyRelu", (0.1,), [np.nan, -0.0], [np.nan, -0.0]),
    ("RestrictRange", (-1, 6), [np.nan], [6]),
    ("HardSigmoid", (1, 0), [np.nan], [1]),
    ("ReLU", (), [np.nan, -0.0], [np.nan, -0.0]),
]


@pytest.mark.parametrize(("name", "given", "values", "expected"), BY_HAND)
def test_numbers_by_hand(name: str, given: tuple[float, ...], values: list[float], expected: list[float]) -> None:
    """What is not a number loses every comparison, so that the other operand is taken."""
    found = Activation(name, given).of(np.array(values, np.float32))
    assert [str(number) for number in found] == [str(number) for number in np.array(expected, np.float32)]


def test_every_operation_of_hard_swish_is_rounded() -> None:
    """In the order of the formula: scale times value first would give another float32 for some of these."""
    values = np.arange(1, 60, dtype=np.float32) / np.float32(4)
    expected = [activated(Fraction(float(value)), "Hswish", (3, 1 / 6)) for value in values]
    found = Activation("Hswish", (3, 1 / 6)).of(values)
    assert [Fraction(float(number)) for number in found] == expected


def test_the_quotient_is_that_of_the_activated_sum() -> None:
    """-8 leaks to -2, by scale 4 a tie at -0.5, which goes to 0; the zero point comes last."""
    parameters = AddParameters(
        Quantization(1, 10), Quantization(1, 0), Quantization(4, 7), Activation("LeakyRelu", (0.25,))
    )
    steps = page_steps(np.array([2], np.uint8), np.array([0], np.uint8), parameters)
    assert {name: values.tolist() for name, values in steps.items()} == {
        "a": [2], "b": [0], "difference": [-8], "real": [-8], "sum": [-8], "leakyrelu": [-2], "quotient": [-0.5],
        "round": [0], "output": [7],
    }  # fmt: skip


def test_float32_outputs_are_activated_too() -> None:
    given = AddParameters(activation=Activation("RestrictRange", (-1, 6)))
    steps = page_steps(np.array([-5, 2, 9], np.float32), np.zeros(3, np.float32), given, "float32")
    assert steps["output"].tolist() == [-1, 2, 6]


# The operator.


def operator(activation: str, given: tuple[float, ...] | None, mode: str = "page", kind: str = "UINT8") -> QuantizedAdd:
    a, b, output = (InputTensor(kind, (3,), zero, 1.0) for zero in (10, 0, 20))
    return QuantizedAdd(a, b, output, activation, mode, activation_parameters=given)


def sums(made: QuantizedAdd) -> list[int]:
    """Of 4, 12 and 30 with 0: reals -6, 2 and 20, output zero point 20."""
    output = np.zeros(3, np.uint8)
    made.forward(np.array([4, 12, 30], np.uint8), np.zeros(3, np.uint8), output)
    return [int(number) for number in output]


@pytest.mark.parametrize(
    ("activation", "given", "expected"),
    [
        ("Identity", None, [14, 22, 40]),
        ("ReLU", (9, 9), [20, 22, 40]),
        ("LeakyRelu", (0.5,), [17, 22, 40]),
        ("RestrictRange", (-1, 6), [19, 22, 26]),
        ("Hswish", (3, 0.125), [20, 21, 35]),
        ("HardSigmoid", (0.25, 0.5), [20, 21, 21]),
        ("LeakyRelu", None, [20, 22, 40]),
    ],
)
def test_forward_applies_the_activation_with_its_parameters(
    activation: str, given: tuple[float, ...] | None, expected: list[int]
) -> None:
    """Hswish of 2 is 5/8 * 2 = 1.25, of 20 it is 6/8 * 20 = 15; HardSigmoid of 2 is 1."""
    assert sums(operator(activation, given)) == expected


@pytest.mark.parametrize("activation", ["Prelu", "Elu", "Mish", "Swish", "Gelu", "leakyrelu"])
def test_what_the_page_leaves_open_is_refused_by_forward(activation: str) -> None:
    with pytest.raises(ConfigurationError, match=f"the activation is {activation}: .* the page leaves open how"):
        sums(operator(activation, (1.0,)))


@pytest.mark.parametrize("mode", ["neon_ties_away", "neon_ties_even_unfused"])
def test_the_library_has_no_code_for_what_the_page_applies(mode: str) -> None:
    with pytest.raises(ConfigurationError, match="NULL pointer, give Identity or ReLU"):
        sums(operator("RestrictRange", (0, 6), mode))


def test_base_ignores_an_activation_with_parameters() -> None:
    assert sums(operator("RestrictRange", (0, 6), "base")) == [14, 22, 40]


def test_more_than_two_parameters_are_refused() -> None:
    with pytest.raises(ValueError, match="there are 3 parameters of RestrictRange: give at most 2"):
        operator("RestrictRange", (0, 6, 9))


def test_an_activation_without_a_definition_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="the activation 'Gelu' is not defined: give one of Identity, ReLU, LeakyRelu"):
        Activation("Gelu")


def test_the_other_additions_know_relu_only() -> None:
    leaky = AddParameters(Quantization(0.1), Quantization(0.1), Quantization(0.1), Activation("LeakyRelu", (0.1,)))
    with pytest.raises(ValueError, match="the activation is LeakyRelu: the integer add knows Identity and ReLU"):
        add_tflite(1, 2, leaky)
    with pytest.raises(ValueError, match="the activation is LeakyRelu: the library knows Identity and ReLU"):
        generic_steps(np.zeros(1, np.float32), np.zeros(1, np.float32), leaky, "float32")


def test_the_folded_form_applies_none() -> None:
    scales = Quantization(1, 10), Quantization(1), Quantization(1, 20)
    found = [add_base(0, 0, AddParameters(*scales, applied)) for applied in (RELU, Activation("RestrictRange", (5, 6)))]
    assert [int(number) for number in found] == [10, 10]


# The kernel.


def test_the_numbers_are_those_of_simd() -> None:
    assert {name: ACTIVATION_NUMBERS[name] for name in ACTIVATIONS} == ACTIVATION_NUMBERS


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_random_vectors_tell_every_activation_from_none(name: str) -> None:
    kernel, rng = built_in_kernel("quantized_add", "page"), np.random.default_rng(1)
    cases = [case for case in (kernel.sample(rng) for _ in range(400)) if case["parameters"].activation.name == name]
    forgotten = kernel.conventions["without_activation"]
    differ = sum(int(np.count_nonzero(_differing(kernel.golden(case), forgotten(case)))) for case in cases)
    assert (differ > 50) is (name != "Identity")


def _differing(one: Any, other: Any) -> Tensor:
    difference: Tensor = one["output"] != other["output"]
    return difference
