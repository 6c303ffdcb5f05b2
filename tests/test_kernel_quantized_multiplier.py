"""quantized_multiplier: the spec's numbers, exact fractions, the operator, and every way to run it."""

import doctest
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
import pytest

from sim.check.check import Job, check_job
from sim.check.vectors import make_vectors
from sim.golden.fixed_point import INT32_MAX, INT32_MIN, Int32Array
from sim.kernels.kernel import built_in_kernel, kernel_modes
from sim.kernels.operator import ConfigurationError, ErrorCode, Window
from sim.kernels.quantized_multiplier import golden, program
from sim.kernels.quantized_multiplier.configure import InvalidArgumentException, QuantizedMultiplier, validate
from sim.kernels.quantized_multiplier.golden import MODES, defined_parameters, quantized_multiplier
from support.exact_rounding import half_away
from support.rivals import hardly_apart

NAME = "quantized_multiplier"
UNTOUCHED = 99


def products(values: Sequence[int] | Int32Array, factor: float, mode: str = "armnn_24_08") -> list[int]:
    return [int(product) for product in quantized_multiplier(np.array(values, np.int32), factor, mode)]


# The golden reference.


def exact_product(value: int, factor: float, mode: str) -> int:
    """Left shift that wraps, product to nearest with ties up, right shift with ties away, in exact numbers."""
    multiplier, shift = defined_parameters(factor, mode)
    shifted = (value * 2 ** max(shift, 0) + 2**31) % 2**32 - 2**31
    high = min(floor(Fraction(shifted * multiplier, 2**31) + Fraction(1, 2)), INT32_MAX)
    right = -shift % 32 if mode == "x86_count_mod_32" else max(-shift, 0)
    return half_away(Fraction(high, 2**right))


@pytest.mark.parametrize("mode", MODES)
def test_products_of_separating_values_are_exact(mode: str) -> None:
    sets = list(built_in_kernel(NAME, mode).corners())
    exact = [[exact_product(int(x), case["factor"], mode) for x in case["values"]] for case in sets]
    assert [products(case["values"], case["factor"], mode) for case in sets] == exact


@pytest.mark.parametrize(
    ("values", "factor", "expected"),
    [
        (list(range(1, 9)), 0.25, [1, 1, 1, 1, 2, 2, 2, 2]),
        (list(range(-1, -9, -1)), 0.25, [0, -1, -1, -1, -1, -2, -2, -2]),
        ([1, -1, 3, -3], 0.5, [1, 0, 2, -1]),
        ([2**31 - 1], 2.0**-32, [1]),
        ([INT32_MIN, INT32_MAX, 7], 0.0, [0, 0, 0]),
        ([100], -0.0, [0]),
    ],
)
def test_armnn_gives_the_vectors_of_the_spec(values: list[int], factor: float, expected: list[int]) -> None:
    assert products(values, factor) == expected


@pytest.mark.parametrize(
    ("value", "factor", "mode", "expected"),
    [
        (100, 1.0, "acl_19_08", 0),
        (100, 1.0, "acl_20_02", 100),
        (100, 1.0, "tflite", 100),
        (10**7, 9e-6, "acl_19_08", 0),
        (10**7, 9e-6, "armnn_24_08", 90),
        (10**7, 9e-6, "tflite", 90),
        (1000, 2.0**-33, "tflite", 0),
        (1000, 2.0**-33, "x86_count_mod_32", 500),
        (25165824, 0.1, "armnn_24_08", 2516583),
        (25165824, 0.1, "tflite", 2516582),
        (2**30, 2.0, "acl_20_02", 0),
        (10000, 0.00097656, "tflite", 10),
        (INT32_MIN, 0.00001, "tflite", -21475),
    ],
)
def test_systems_differ_as_the_rows_say(value: int, factor: float, mode: str, expected: int) -> None:
    assert products([value], factor, mode) == [expected]


@pytest.mark.slow
def test_error_is_at_most_a_half_and_half_a_bit_of_the_shift() -> None:
    rng = np.random.default_rng(7)
    values = [int(x) for x in rng.integers(INT32_MIN, INT32_MAX, 4000)]
    worst = []
    for factor in (float(np.float32(f)) for f in rng.uniform(2.0**-12, 1, 20)):
        shift = -defined_parameters(factor).left_shift
        bound = Fraction(1, 2) + (Fraction(1, 2 ** (shift + 1)) if shift else 0)
        errors = [abs(y - Fraction(factor) * x) for x, y in zip(values, products(values, factor), strict=True)]
        worst.append(max(errors) <= bound)
    assert worst == [True] * 20


def test_products_rise_with_the_value() -> None:
    values = np.arange(-3000, 3000, dtype=np.int32)
    assert [f for f in (0.25, 0.1, 0.999, 0.003) if (np.diff(quantized_multiplier(values, f)) < 0).any()] == []


def test_every_example_runs() -> None:
    result = doctest.testmod(golden)
    assert (result.failed, result.attempted) == (0, 1)


@pytest.mark.parametrize(
    ("factor", "mode", "sentence"),
    [
        (2.0**-33, "armnn_24_08", "gives a left shift of -32: the product of mode armnn_24_08 defines -31..0"),
        (2.0**31, "tflite", "gives a left shift of 32"),
        (2.0**31, "acl_20_02", "gives a left shift of 32"),
        (1.0, "armnn_24_08", "ArmNN takes 0 <= factor < 1"),
        (0.5, "armnn", "unknown mode 'armnn': give one of armnn_24_08"),
    ],
)
def test_factor_that_the_mode_does_not_define_is_refused(factor: float, mode: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        products([1], factor, mode)


@pytest.mark.parametrize("values", [[1, 2], np.array([1], np.int64), np.array([1.0])])
def test_values_of_another_type_are_refused(values: Any) -> None:
    with pytest.raises(TypeError, match="int32"):
        quantized_multiplier(values, 0.5)


# The operator.


@pytest.mark.parametrize(
    ("factor", "mode", "accepted"),
    [
        (0.5, "armnn_24_08", True),
        (0.0, "armnn_24_08", True),
        (-0.0, "armnn_24_08", True),
        (2.0**-149, "armnn_24_08", True),
        (1.0, "armnn_24_08", False),
        (-0.1, "armnn_24_08", False),
        (float("nan"), "armnn_24_08", False),
        (1.0, "acl_19_08", True),
        (1.1, "acl_19_08", False),
        (-1.0, "acl_20_02", False),
        (1.1, "acl_20_02", True),
        (-1.0, "tflite", True),
        (float("inf"), "tflite", False),
    ],
)
def test_constructor_accepts(factor: float, mode: str, accepted: bool) -> None:
    assert (validate(factor, mode).code is ErrorCode.OK) is accepted


@pytest.mark.parametrize(
    ("factor", "mode", "error"),
    [
        (1.0, "armnn_24_08", InvalidArgumentException),
        (float("nan"), "x86_count_mod_32", InvalidArgumentException),
        (2.0, "acl_19_08", ConfigurationError),
    ],
)
def test_refused_factor_raises_what_upstream_raises(factor: float, mode: str, error: type[Exception]) -> None:
    with pytest.raises(ConfigurationError) as raised:
        QuantizedMultiplier().configure(factor, (4,), mode)
    assert (type(raised.value), str(raised.value)) == (error, validate(factor, mode).description)


def test_configure_returns_what_the_constructor_makes() -> None:
    assert QuantizedMultiplier().configure(0.1, ()) == (1717986944, -3)


@pytest.mark.parametrize("window", [None, (slice(0, 2), slice(1, 5)), (slice(1, 1), slice(None)), (slice(2, 3),) * 2])
def test_run_computes_its_window_and_nothing_else(window: Window | None) -> None:
    values = np.random.default_rng(1).integers(INT32_MIN, INT32_MAX, (3, 7), dtype=np.int32)
    made, operator = np.full((3, 7), UNTOUCHED, np.int32), QuantizedMultiplier()
    operator.configure(0.3, (3, 7))
    operator.run(values, made, window)
    expected = np.full((3, 7), UNTOUCHED, np.int32)
    inside = window or (slice(None), slice(None))
    expected[inside] = quantized_multiplier(values, 0.3)[inside]
    assert made.tolist() == expected.tolist()


@pytest.mark.parametrize("shape", [(0,), (0, 4), (3, 0), ()])
def test_array_of_any_shape_keeps_it(shape: tuple[int, ...]) -> None:
    values, made, operator = np.full(shape, 4, np.int32), np.full(shape, UNTOUCHED, np.int32), QuantizedMultiplier()
    operator.configure(0.5, shape)
    operator.run(values, made)
    assert np.array_equal(made, np.full(shape, 2))


def run_of(values: Any, made: Any, window: Any = None, factor: float = 0.5) -> None:
    operator = QuantizedMultiplier()
    operator.configure(factor, (4,))
    operator.run(values, made, window)


FOUR = np.zeros(4, np.int32)


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        ((FOUR.astype(np.int64), FOUR), TypeError, "values is not a numpy array of int32"),
        ((FOUR, FOUR.astype(np.uint8)), TypeError, "products is not a numpy array of int32"),
        ((FOUR[:3], FOUR), ValueError, r"values has shape \(3,\): it was configured as \(4,\)"),
        ((FOUR, FOUR.reshape(2, 2)), ValueError, "products has shape"),
        ((FOUR, FOUR, (slice(0, 5),)), ValueError, "give 0 <= start <= stop <= 4"),
        ((FOUR, FOUR, (3,)), TypeError, "give a slice"),
        ((FOUR, FOUR, None, 2.0**-40), ValueError, "the product of mode armnn_24_08 defines -31..0"),
    ],
)
def test_run_refuses(arguments: tuple[Any, ...], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        run_of(*arguments)


def test_run_before_configure_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="call configure"):
        QuantizedMultiplier().run(FOUR, FOUR)


def test_negative_size_is_refused() -> None:
    with pytest.raises(ValueError, match="sizes of 0 or more"):
        QuantizedMultiplier().configure(0.5, (-1,))


# Every way to run it.


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("source", [0, 1, None], ids=["kernel.c", "kernel_plain.c", "program"])
def test_implementation_agrees_with_the_golden_reference(mode: str, source: int | None) -> None:
    kernel = built_in_kernel(NAME, mode)
    job = Job(None, ()) if source is None else Job(kernel.sources[source], ("-O2",))
    outcome = check_job(kernel, job, make_vectors(kernel, 300, 1), lambda done: None, engine="machine")
    assert (outcome.failure, outcome.vectors > 1000) == ("", True)


@pytest.mark.parametrize("mode", ["armnn_24_08", "acl_20_02"])
def test_compiled_kernel_agrees_with_the_emulator_in_lockstep(mode: str) -> None:
    kernel = replace(built_in_kernel(NAME, mode), corners=lambda: iter(()))
    job = Job(kernel.sources[0], ("-O1",))
    outcome = check_job(kernel, job, make_vectors(kernel, 200, 2), lambda done: None)
    assert (outcome.failure, outcome.vectors >= 200) == ("", True)


EQUAL = {"armnn_24_08": ["x86_count_mod_32"], "x86_count_mod_32": ["armnn_24_08"]}
"""Modes of one and the same arithmetic on the factors that both define."""


@pytest.mark.parametrize("mode", MODES)
def test_random_vectors_separate_the_mode_from_every_convention(mode: str) -> None:
    assert hardly_apart(built_in_kernel(NAME, mode), 400) == EQUAL.get(mode, [])


def test_default_mode_comes_first() -> None:
    assert kernel_modes(NAME) == tuple(MODES)


@pytest.mark.parametrize(
    ("function", "shift"),
    [
        (program.with_right_shift, 32),
        (program.with_right_shift, -1),
        (program.with_count_mod_32, -1),
        (program.with_left_shift, 32),
    ],
)
def test_program_refuses_a_shift_that_it_does_not_define(function: Any, shift: int) -> None:
    with pytest.raises(ValueError, match=f"shift is {shift}: it must be"):
        function(None, None, 0, 2**30, shift)
