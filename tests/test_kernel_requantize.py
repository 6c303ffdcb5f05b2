"""requantize: the numbers of docs/spec/neighbours.md, exact fractions, the operator, and every way to run it."""

import doctest
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
import pytest

from sim.check.check import Job, check_job
from sim.check.vectors import make_vectors
from sim.golden.fixed_point import INT32_MAX, INT32_MIN, Int32Array
from sim.kernels.kernel import Inputs, built_in_kernel, kernel_modes
from sim.kernels.requantize import golden
from sim.kernels.requantize.golden import (
    FIXED_POINT,
    FLOAT_SCALE,
    INTEGER_SCALE,
    Channels,
    FloatScale,
    IntegerScale,
    requantize,
    requantize_float,
    requantize_integer,
)
from support.exact_rounding import float32_nearest, half_away, half_up, wrapped
from support.rivals import hardly_apart

NAME = "requantize"
P = 2**30
HALF = np.float32(0.5)
ONE_ROUNDING = ("tflite_single_rounding", "tflite_single_rounding_neon", "ruy")


# Exact evaluations, in fractions.


def high_half(x: int, q: int, e: int) -> int:
    return half_up(Fraction(wrapped(x * 2 ** max(e, 0)) * q, 2**31))


def in_two(x: int, q: int, e: int) -> int:
    return half_away(Fraction(min(high_half(x, q, e), INT32_MAX), 2 ** max(-e, 0)))


def in_two_ties_up(x: int, q: int, e: int) -> int:
    return half_up(Fraction(min(high_half(x, q, e), INT32_MAX), 2 ** max(-e, 0)))


def in_two_unsaturated(x: int, q: int, e: int) -> int:
    return half_away(Fraction(wrapped(high_half(x, q, e)), 2 ** max(-e, 0)))


def in_one(x: int, q: int, e: int) -> int:
    return wrapped(half_up(Fraction(x * q) * Fraction(2) ** (e - 31)))


def in_one_by_vector(x: int, q: int, e: int) -> int:
    right = max(-e, 1)
    return half_up(Fraction(floor(Fraction(wrapped(x * 2 ** (e + right)) * q, 2**31)), 2**right))


def in_one_narrowed(x: int, q: int, e: int) -> int:
    doubled = wrapped(floor(Fraction(x * q) * Fraction(2) ** (e - 30)))
    return wrapped(doubled + 1) // 2


EXACT: dict[str, Callable[[int, int, int], int]] = {
    "tflite_double_rounding": in_two,
    "tflite_single_rounding": in_one,
    "tflite_neon_helper": in_two_ties_up,
    "tflite_single_rounding_neon": in_one_by_vector,
    "cmsis_double_rounding": in_two_unsaturated,
    "cmsis_single_rounding": in_one_narrowed,
    "ruy": in_one,
}


def exact_fixed_point(inputs: Inputs, mode: str) -> list[list[int]]:
    channels, columns = inputs["channels"], inputs["values"].shape[1]
    pairs = list(zip(channels.multipliers, channels.left_shifts, strict=True))
    pairs = pairs * columns if len(pairs) == 1 else pairs
    return [[EXACT[mode](int(x), *pair) for x, pair in zip(row, pairs, strict=True)] for row in inputs["values"]]


@pytest.mark.parametrize("mode", FIXED_POINT)
def test_fixed_point_is_exact_on_the_corners(mode: str) -> None:
    sets = list(built_in_kernel(NAME, mode).corners())
    made = [requantize(case["values"], case["channels"], mode).tolist() for case in sets]
    assert made == [exact_fixed_point(case, mode) for case in sets]


def exact_float(inputs: Inputs) -> list[int]:
    """Clamped in float before the rounding, as XNNPACK's scalar code does; the golden reference clamps after it."""
    by = inputs["parameters"]
    lower, upper = by.minimum - by.zero_point, by.maximum - by.zero_point
    scaled = [float32_nearest(float32_nearest(Fraction(int(x))) * Fraction(float(by.scale))) for x in inputs["values"]]
    return [round(min(max(number, lower), upper)) + by.zero_point for number in scaled]


@pytest.mark.parametrize("mode", FLOAT_SCALE)
def test_float_scale_is_exact_on_the_corners(mode: str) -> None:
    sets = list(built_in_kernel(NAME, mode).corners())
    made = [requantize_float(case["values"], case["parameters"], mode).tolist() for case in sets]
    assert made == [exact_float(case) for case in sets]


def exact_integer(inputs: Inputs, divide: Callable[[Fraction], int]) -> list[int]:
    by = inputs["parameters"]
    bias = [0] * len(inputs["values"]) if inputs["bias"] is None else inputs["bias"].tolist()
    sums = [wrapped(int(x) + b + by.offset) for x, b in zip(inputs["values"], bias, strict=True)]
    shifted = [divide(Fraction(wrapped(total * by.multiplier), 2**by.right_shift)) for total in sums]
    lower, upper = (0, 255) if by.minimum == by.maximum else (by.minimum, by.maximum)
    return [min(max(number, lower), upper) for number in shifted]


@pytest.mark.parametrize(("mode", "divide"), [("acl_integer_scale", floor), ("gemmlowp_integer_scale", half_away)])
def test_integer_scale_is_exact_on_the_corners(mode: str, divide: Callable[[Fraction], int]) -> None:
    sets = list(built_in_kernel(NAME, mode).corners())
    made = [requantize_integer(case["values"], case["bias"], case["parameters"], mode).tolist() for case in sets]
    assert made == [exact_integer(case, divide) for case in sets]


# The numbers of the spec.


@pytest.mark.parametrize(
    ("x", "q", "e", "results"),
    [
        (1, P, -1, {"tflite_double_rounding": 1, "tflite_single_rounding": 0, "ruy": 0, "cmsis_single_rounding": 0}),
        (7984, 1583594044, -9, {"tflite_double_rounding": 12, "cmsis_double_rounding": 12, "ruy": 11}),
        (-2, P, -1, {"tflite_double_rounding": -1, "tflite_neon_helper": 0}),
        (P, P, 1, {"tflite_double_rounding": -P, "cmsis_double_rounding": -P, "ruy": P, "cmsis_single_rounding": -P}),
        (P, P, 0, {"tflite_single_rounding": 2**29, "tflite_single_rounding_neon": -(2**29)}),
        (INT32_MIN, INT32_MIN, 0, {"tflite_double_rounding": INT32_MAX, "cmsis_double_rounding": INT32_MIN}),
        (4, P, 1, {"tflite_double_rounding": 4}),
    ],
)
def test_fixed_point_modes_give_the_numbers_of_the_rows(x: int, q: int, e: int, results: dict[str, int]) -> None:
    made = {mode: int(requantize(np.array([x], np.int32), Channels((q,), (e,)), mode)[0]) for mode in results}
    assert made == results


@pytest.mark.parametrize(("value", "acl", "gemmlowp"), [(1, 0, 1), (-1, 0, 0), (3, 1, 2), (INT32_MIN, 255, 255)])
def test_integer_scale_gives_the_numbers_of_row_4(value: int, acl: int, gemmlowp: int) -> None:
    by = IntegerScale(-2 if value == INT32_MIN else 0, 1, 1)
    made = [int(requantize_integer(np.array([value], np.int32), None, by, mode)[0]) for mode in INTEGER_SCALE]
    assert made == [acl, gemmlowp]


def test_single_rounding_of_cmsis_loses_the_top_bit_of_large_results() -> None:
    values, by = np.array([2**30 + 1, INT32_MAX], np.int32), Channels((INT32_MAX,), (0,))
    assert requantize(values, by, "cmsis_single_rounding").tolist() == [-(2**30), -2]


def test_each_column_has_its_own_channel() -> None:
    by = Channels((P, P, 3 * 2**29), (0, 1, -1))
    assert requantize(np.array([[100, 100, 100], [-7, -7, -7]], np.int32), by).tolist() == [[50, 100, 38], [-3, -7, -3]]


def test_one_channel_is_every_column() -> None:
    values = np.arange(-20, 20, dtype=np.int32).reshape(4, 10)
    one, each = Channels((P,), (-2,)), Channels((P,) * 10, (-2,) * 10)
    assert requantize(values, one).tolist() == requantize(values, each).tolist()


def test_every_example_runs() -> None:
    result = doctest.testmod(golden)
    assert (result.failed, result.attempted) == (0, 3)


# What the golden reference refuses.

ROW = np.zeros((2, 3), np.int32)


@pytest.mark.parametrize(
    ("channels", "mode", "sentence"),
    [
        (Channels((P, P), (0, 0)), "ruy", "there are 2 multipliers and 2 shifts: give one of each, or 3"),
        (Channels((P,), (0, 0, 0)), "ruy", "there are 1 multipliers and 3 shifts"),
        (Channels((-1,), (0,)), "ruy", "the multiplier -1 is not defined: ruy takes 0..2147483647"),
        (Channels((-1,), (0,)), "tflite_single_rounding", "the multiplier -1 is not defined"),
        (Channels((2**31,), (0,)), "tflite_double_rounding", "the multiplier 2147483648 is not defined"),
        (Channels((P,), (8,)), "ruy", "the left shift 8 is not defined: ruy takes -31..7"),
        (Channels((P,), (31,)), "tflite_double_rounding", "the left shift 31 is not defined"),
        (Channels((P,), (-32,)), "cmsis_double_rounding", "the left shift -32 is not defined"),
        (Channels((P,), (0,)), "tflite", "unknown mode 'tflite': give one of tflite_double_rounding"),
    ],
)
def test_channels_that_the_mode_does_not_define_are_refused(channels: Channels, mode: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        requantize(ROW, channels, mode)


@pytest.mark.parametrize(
    ("parameters", "mode", "sentence"),
    [
        (FloatScale(np.float32(0), 0, -128, 127), "xnnpack_fp32_qs8", "scale is 0.0"),
        (FloatScale(np.float32(-1), 0, -128, 127), "xnnpack_fp32_qs8", "scale is -1.0"),
        (FloatScale(np.float32("nan"), 0, -128, 127), "xnnpack_fp32_qs8", "scale is nan"),
        (FloatScale(np.float32("inf"), 0, -128, 127), "xnnpack_fp32_qs8", "scale is inf"),
        (FloatScale(np.float32(256), 0, -128, 127), "xnnpack_fp32_qs8", "scale is 256.0"),
        (FloatScale(HALF, 128, -128, 127), "xnnpack_fp32_qs8", r"zero_point is 128: it must lie in -128..127"),
        (FloatScale(HALF, 0, -1, 255), "xnnpack_fp32_qu8", r"minimum is -1: it must lie in 0..255"),
        (FloatScale(HALF, 0, 0, 256), "xnnpack_fp32_qu8", "maximum is 256"),
        (FloatScale(HALF, 0, 7, 7), "xnnpack_fp32_qu8", "minimum 7 is not below maximum 7"),
    ],
)
def test_float_scale_that_is_not_defined_is_refused(parameters: FloatScale, mode: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        requantize_float(ROW, parameters, mode)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        (IntegerScale(0, 1, 32), "the right shift is 32"),
        (IntegerScale(0, 1, -1), "the right shift is -1"),
        (IntegerScale(2**31, 1, 0), "offset is 2147483648"),
        (IntegerScale(0, 2**31, 0), "multiplier is 2147483648"),
        (IntegerScale(0, 1, 0, 0, 256), "maximum is 256: it must not exceed 255"),
        (IntegerScale(0, 1, 0, -1, 9), "minimum is -1: it must not be below 0"),
        (IntegerScale(0, 1, 0, 9, 8), "minimum 9 is above maximum 8"),
    ],
)
def test_integer_scale_that_is_not_defined_is_refused(parameters: IntegerScale, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        requantize_integer(ROW, None, parameters)


@pytest.mark.parametrize("make", [lambda x: Channels((x,), (0,)), lambda x: Channels((1,), (x,))])
@pytest.mark.parametrize("number", [1.0, True, None, "1"])
def test_channel_that_is_no_integer_is_refused(make: Callable[[Any], Channels], number: Any) -> None:
    with pytest.raises(TypeError, match="give an integer"):
        make(number)


@pytest.mark.parametrize(
    "make",
    [
        lambda: FloatScale(0.5, 0, 0, 255),  # type: ignore[arg-type]
        lambda: FloatScale(HALF, 0.0, 0, 255),  # type: ignore[arg-type]
        lambda: IntegerScale(0, 1.5, 0),  # type: ignore[arg-type]
        lambda: requantize(ROW.astype(np.int64), Channels((1,), (0,))),
        lambda: requantize_float([1], FloatScale(HALF, 0, 0, 100)),  # type: ignore[arg-type]
        lambda: requantize_integer(ROW, ROW[0].astype(np.int64), IntegerScale(0, 1, 0)),
    ],
)
def test_other_type_is_refused(make: Callable[[], Any]) -> None:
    with pytest.raises(TypeError):
        make()


def test_bias_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match=r"bias has shape \(2,\): it must be \(3,\)"):
        requantize_integer(ROW, np.zeros(2, np.int32), IntegerScale(0, 1, 0))


# Every way to run it.


@pytest.mark.parametrize("mode", kernel_modes(NAME))
@pytest.mark.parametrize("source", [0, 1, None], ids=["intrinsics", "plain", "program"])
def test_implementation_agrees_with_the_golden_reference(mode: str, source: int | None) -> None:
    kernel = built_in_kernel(NAME, mode)
    job = Job(None, ()) if source is None else Job(kernel.sources[source], ("-O2",))
    outcome = check_job(kernel, job, make_vectors(kernel, 300, 1), lambda done: None, engine="machine")
    assert (outcome.failure, outcome.vectors > 1000) == ("", True)


@pytest.mark.parametrize("mode", ["tflite_single_rounding", "xnnpack_fp32_qs8", "gemmlowp_integer_scale"])
def test_compiled_kernel_agrees_with_the_emulator_in_lockstep(mode: str) -> None:
    kernel = replace(built_in_kernel(NAME, mode), corners=lambda: iter(()))
    job = Job(kernel.sources[0], ("-O1",))
    outcome = check_job(kernel, job, make_vectors(kernel, 200, 2), lambda done: None)
    assert (outcome.failure, outcome.vectors >= 200) == ("", True)


EQUAL = {"tflite_single_rounding": ["ruy"], "ruy": ["tflite_single_rounding"]}
"""Modes of one and the same arithmetic on the shifts that both define."""


@pytest.mark.parametrize("mode", kernel_modes(NAME))
def test_random_vectors_separate_the_mode_from_every_convention(mode: str) -> None:
    assert hardly_apart(built_in_kernel(NAME, mode), 500) == EQUAL.get(mode, [])


def test_modes_come_in_the_order_of_their_families() -> None:
    assert kernel_modes(NAME) == (*FIXED_POINT, *FLOAT_SCALE, *INTEGER_SCALE)


@pytest.mark.parametrize("rows", [0, 2])
def test_no_columns_give_no_output(rows: int) -> None:
    empty: Int32Array = np.zeros((rows, 0), np.int32)
    assert requantize(empty, Channels((), ())).shape == (rows, 0)
