"""The golden reference of quantize_down against every number and claim of docs/spec/quantize_down.md."""

import doctest
from collections.abc import Callable
from fractions import Fraction
from math import floor

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.golden import fixed_point
from sim.golden.fixed_point import INT32_MAX, INT32_MIN, Int32Array
from sim.kernels.quantize_down import golden
from sim.kernels.quantize_down.golden import Parameters, effective_bounds, quantize_down, steps

MODES = [name for name, rule in golden.MODES.items() if rule.dtype == np.uint8]
HALF = 2**30  # as a Q0.31 multiplier: 0.5
UPSTREAM = Parameters(254601600, 1, 2)
DEFAULTS_OF_20_05 = (INT32_MIN, INT32_MAX)
LANES_AND_TAIL = "acl_19_08_lanes_and_tail"
LEFT_SHIFT = "acl_20_02_left_shift"
NEW_BOUNDS = "acl_20_05_bounds"
FUSED = "acl_19_08_fused"
OLD_BOUNDS = ["acl_19_08", "page", LANES_AND_TAIL, LEFT_SHIFT]
ROUNDING = ["acl_19_08", LANES_AND_TAIL, LEFT_SHIFT, NEW_BOUNDS, FUSED]
CORNERS = [0, *(s * (2**n + d) for n in range(31) for d in (-1, 0, 1) for s in (1, -1)), INT32_MIN, INT32_MIN + 1]

int32s = st.integers(INT32_MIN, INT32_MAX) | st.sampled_from(CORNERS)
uint8s = st.integers(0, 255)
thoroughly = settings(max_examples=400)


def s32(*values: int) -> Int32Array:
    return np.array(values, dtype=np.int32)


def after(step: str, value: int, parameters: Parameters, mode: str = "acl_19_08") -> int:
    return int(steps(s32(value), None, parameters, mode)[step][0])


def out(value: int, parameters: Parameters, mode: str = "acl_19_08") -> int:
    return int(quantize_down(s32(value), None, parameters, mode)[0])


def test_every_docstring_example_runs() -> None:
    result = doctest.testmod(golden)
    assert (result.failed, result.attempted >= 1) == (0, True)


# The plain vectors of the spec, made by upstream's NEON code under emulation.

WHOLE_STAGE = """
-2147483648 -12000 -30 -26 -25 -17 -9 -8 -5 -4 -1 0 1 4 5 8 9 13 25 2134 2143 6000 2147483647
          0      0   0   0   0   1  1  1  1  2  2 2 2 2 3 3 3  3  4  129  129  255        255
"""
BEFORE_OFFSET = """
-30 -26 -25 -17 -9 -8 -5 -4 -1 0 1 4 5 8 9 13 25
 -8  -7  -6  -4 -2 -2 -1 -1  0 0 1 1 2 2 3  4  7
"""


def columns(table: str) -> list[tuple[int, int]]:
    inputs, results = ([int(word) for word in line.split()] for line in table.strip().splitlines())
    return list(zip(inputs, results, strict=True))


@pytest.mark.parametrize("mode", ROUNDING)
@pytest.mark.parametrize(("value", "expected"), columns(WHOLE_STAGE))
def test_plain_vectors_of_the_whole_stage(value: int, expected: int, mode: str) -> None:
    unbounded = {NEW_BOUNDS: DEFAULTS_OF_20_05, FUSED: (0, 255)}.get(mode, (0, 0))
    assert out(value, Parameters(254601600, 1, 2, *unbounded), mode) == expected


@pytest.mark.parametrize("mode", ROUNDING)
@pytest.mark.parametrize(("value", "expected"), columns(BEFORE_OFFSET))
def test_plain_vectors_before_offset_and_clamp(value: int, expected: int, mode: str) -> None:
    assert after("shift", value, Parameters(HALF, 1), mode) == expected


# The rules, and the two single values of the spec.


@pytest.mark.parametrize(
    ("step", "value", "parameters", "expected"),
    [
        pytest.param("bounds", 10, Parameters(HALF, 0, INT32_MAX), 0, id="single value: offset INT_MAX"),
        pytest.param("shift", INT32_MIN, Parameters(INT32_MIN, 23), 256, id="single value: INT_MIN squared, shifted"),
        pytest.param("bounds", INT32_MIN, Parameters(INT32_MIN, 23), 255, id="single value: INT_MIN squared, output"),
        pytest.param("multiply", 1, Parameters(HALF, 0), 1, id="multiply breaks ties up, positive"),
        pytest.param("multiply", -1, Parameters(HALF, 0), 0, id="multiply breaks ties up, negative"),
        pytest.param("multiply", INT32_MIN, Parameters(INT32_MIN, 0), INT32_MAX, id="multiply saturates"),
        pytest.param("multiply", 100, Parameters(-HALF, 0), -50, id="multiplier may be negative"),
        pytest.param("shift", 2, Parameters(HALF, 1), 1, id="shift breaks ties away, positive"),
        pytest.param("shift", -2, Parameters(HALF, 1), -1, id="shift breaks ties away, negative"),
        pytest.param("shift", 1, Parameters(HALF, 1), 1, id="two roundings: 1 times a quarter is 1"),
        pytest.param("shift", 7, Parameters(HALF, 0), 4, id="shift 0 leaves the product"),
        pytest.param("offset", 2, Parameters(HALF, 0, INT32_MAX), INT32_MIN, id="offset wraps up"),
        pytest.param("offset", -2, Parameters(HALF, 0, INT32_MIN), INT32_MAX, id="offset wraps down"),
        pytest.param("bounds", INT32_MAX, Parameters(HALF, 0, INT32_MAX), 0, id="offset INT_MAX: positive becomes 0"),
        pytest.param("bounds", 0, Parameters(HALF, 0, INT32_MAX), 255, id="offset INT_MAX: 0 becomes 255"),
        pytest.param("bounds", 0, Parameters(HALF, 0, 0, 255, 255), 0, id="ReLU at zero point 255 is lost"),
    ],
)
def test_value_after_step(step: str, value: int, parameters: Parameters, expected: int) -> None:
    assert after(step, value, parameters) == expected


@pytest.mark.parametrize(
    ("values", "bias", "expected"),
    [
        pytest.param(s32(INT32_MAX, INT32_MIN), s32(1, -1), [INT32_MIN, INT32_MAX], id="wraps"),
        pytest.param(np.zeros((2, 1, 3), np.int32), s32(1, 2, 3), [[[1, 2, 3]]] * 2, id="every axis but the last"),
        pytest.param(s32(*CORNERS), None, CORNERS, id="none is zeros"),
    ],
)
def test_bias_step(values: Int32Array, bias: Int32Array | None, expected: list[object]) -> None:
    assert steps(values, bias, UPSTREAM)["bias"].tolist() == expected


def saturate(value: int, lower: int, upper: int) -> int:
    return min(max(value, lower), upper)


@thoroughly
@given(int32s)
def test_clamp_equals_max_0_then_narrowing_with_saturation_twice(value: int) -> None:
    narrowed = saturate(saturate(max(value, 0), -(2**15), 2**15 - 1), 0, 255)
    assert after("clamp", 0, Parameters(0, 0, value)) == narrowed


@thoroughly
@given(uint8s, uint8s, uint8s)
def test_bounds_are_the_same_as_max_then_min_and_min_then_max(value: int, one: int, other: int) -> None:
    minimum, maximum = sorted((one, other))
    lower, upper = (minimum, maximum) if minimum != maximum else (0, 255)
    vector, tail = min(max(value, lower), upper), max(lower, min(upper, value))
    assert (out(0, Parameters(0, 0, value, minimum, maximum)),) * 2 == (vector, tail)


@thoroughly
@given(int32s, uint8s, uint8s)
def test_reference_order_bounds_before_clamp_is_the_same(value: int, one: int, other: int) -> None:
    minimum, maximum = sorted((one, other))
    bounded = value if minimum == maximum else saturate(value, minimum, maximum)
    assert out(0, Parameters(0, 0, value, minimum, maximum)) == saturate(bounded, 0, 255)


# Bounds.


@pytest.mark.parametrize("mode", OLD_BOUNDS)
@pytest.mark.parametrize("bounds", [(0, 0), (7, 7), (254, 254), (255, 255), (0, 255)])
def test_not_bounded_until_20_02(bounds: tuple[int, int], mode: str) -> None:
    assert effective_bounds(Parameters(HALF, 0, 0, *bounds), mode) == (0, 255)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("value", "expected"), [(0, 10), (40, 20), (200, 50)])
def test_distinct_bounds_apply_in_every_mode(value: int, expected: int, mode: str) -> None:
    assert out(value, Parameters(HALF, 0, 0, 10, 50), mode) == expected


WIDER = [(DEFAULTS_OF_20_05, (0, 255)), ((-5, 300), (0, 255)), ((INT32_MIN, 100), (0, 100)), ((9, INT32_MAX), (9, 255))]
WITHIN = [((0, 255), (0, 255)), ((0, 0), (0, 0)), ((7, 7), (7, 7)), ((0, 254), (0, 254)), ((1, 255), (1, 255))]


@pytest.mark.parametrize(("bounds", "expected"), WIDER + WITHIN)
def test_20_05_is_bounded_unless_the_range_covers_0_to_255(bounds: tuple[int, int], expected: tuple[int, int]) -> None:
    assert effective_bounds(Parameters(HALF, 0, 0, *bounds), NEW_BOUNDS) == expected


@pytest.mark.parametrize(
    ("modes", "bounds", "sentence"),
    [
        (OLD_BOUNDS, (0, 300), "maximum is 300: it must not exceed 255"),
        (OLD_BOUNDS, (-1, 300), "maximum is 300: it must not exceed 255"),
        (OLD_BOUNDS, (-1, 255), "minimum is -1: it must not be below 0"),
        ([*OLD_BOUNDS, NEW_BOUNDS], (9, 8), "minimum 9 is above maximum 8"),
        ([NEW_BOUNDS], (-5, 200), "minimum is -5: a bound outside 0..255 is not modelled"),
        ([NEW_BOUNDS], (10, 300), "maximum is 300: a bound outside 0..255 is not modelled"),
    ],
)
def test_refused_bounds(modes: list[str], bounds: tuple[int, int], sentence: str) -> None:
    for mode in modes:
        with pytest.raises(ValueError, match=sentence):
            steps(s32(0), None, Parameters(HALF, 0, 0, *bounds), mode)


# Same name, different arithmetic: the rows of docs/spec/known_differences.md that modes reproduce.


@pytest.mark.parametrize(
    ("value", "sides", "expected"),
    [
        pytest.param(1, [("acl_19_08", HALF, 1, 0), ("page", HALF, 1, 0)], (1, 0), id="3b code, page"),
        pytest.param(4, [("acl_19_08", HALF, 1, 0), (LEFT_SHIFT, HALF, -1, 0)], (1, 4), id="7 right, left"),
        pytest.param(1, [(LANES_AND_TAIL, HALF, -1, 0), (LEFT_SHIFT, HALF, -1, 0)], (0, 1), id="8b tail, 20.02"),
        pytest.param(100, [("acl_19_08", HALF, 0, 0), (NEW_BOUNDS, HALF, 0, 0)], (50, 0), id="9 bounds 0 0"),
        pytest.param(100, [("acl_19_08", HALF, 0, 7), (NEW_BOUNDS, HALF, 0, 7)], (50, 7), id="9b bounds 7 7"),
        pytest.param(100, [("acl_19_08", HALF, 0, 0), (FUSED, HALF, 0, 0)], (50, 0), id="9 fused, bounds 0 0"),
        pytest.param(100, [("acl_19_08", HALF, 0, 7), (FUSED, HALF, 0, 7)], (50, 7), id="9b fused, bounds 7 7"),
    ],
)
def test_two_sides_differ(value: int, sides: list[tuple[str, int, int, int]], expected: tuple[int, int]) -> None:
    results = [out(value, Parameters(q, shift, 0, bound, bound), mode) for mode, q, shift, bound in sides]
    assert tuple(results) == expected


def test_row_8_left_shift_wraps_before_the_multiply() -> None:
    assert after("multiply", 2**30, Parameters(HALF, -1), LEFT_SHIFT) == -(2**30)


@pytest.mark.parametrize(
    ("mode", "shift", "middle"),
    [(LEFT_SHIFT, -1, ["shift", "multiply"]), (NEW_BOUNDS, -1, ["shift", "multiply"])]
    + [(mode, 1, ["multiply", "shift"]) for mode in MODES if mode != FUSED]
    + [(LANES_AND_TAIL, -1, ["multiply", "shift"])],
)
def test_steps_come_in_order_of_execution(mode: str, shift: int, middle: list[str]) -> None:
    names = list(steps(s32(1), None, Parameters(HALF, shift), mode))
    assert names == ["accumulator", "bias", *middle, "offset", "clamp", "bounds"]


# The fused path.


@pytest.mark.parametrize(
    ("placed", "minimum", "maximum", "expected"),
    [
        pytest.param(300, 0, 300, 44, id="row 9c: the low byte of 300"),
        pytest.param(-5, -5, 200, 251, id="the low byte of -5"),
        pytest.param(300, 0, 255, 255, id="a maximum of 255 saturates"),
        pytest.param(-300, 0, 255, 0, id="a minimum of 0 saturates"),
        pytest.param(150, 200, 100, 100, id="bounds in the wrong order: the maximum is applied last"),
        pytest.param(INT32_MIN, INT32_MIN, INT32_MAX, 0, id="no bounds at all: the low byte of INT_MIN"),
    ],
)
def test_the_fused_path_bounds_on_32_bits_then_stores_the_low_byte(
    placed: int, minimum: int, maximum: int, expected: int
) -> None:
    assert out(0, Parameters(HALF, 0, placed, minimum, maximum), FUSED) == expected


def test_the_kernel_refuses_the_bounds_that_the_fused_path_takes() -> None:
    with pytest.raises(ValueError, match="maximum is 300: it must not exceed 255"):
        out(0, Parameters(HALF, 0, 300, 0, 300))


def test_the_fused_path_ends_in_bounds_and_low_byte() -> None:
    taken = steps(s32(600), None, Parameters(HALF, 0, 0, 0, 300), FUSED)
    assert {name: int(value[0]) for name, value in list(taken.items())[-3:]} == {
        "offset": 300,
        "bounds": 300,
        "low byte": 44,
    }


def test_the_bounds_of_the_fused_path_are_those_given() -> None:
    assert effective_bounds(Parameters(HALF, 0, 0, -5, 300), FUSED) == (-5, 300)


# Lanes against tail.


@pytest.mark.parametrize(
    ("value", "shift", "lanes", "tail"),
    [(10, -1, 10, 0), (10, -2, 20, 0), (10, -3, 40, 0), (10, -4, 80, 0), (1, -1, 2, 0), (1, 32, 0, 1), (10, 256, 5, 5)],
)
def test_columns_0_to_15_and_column_16(value: int, shift: int, lanes: int, tail: int) -> None:
    row = quantize_down(np.full(17, value, np.int32), None, Parameters(HALF, shift), LANES_AND_TAIL)
    assert row.tolist() == [lanes] * 16 + [tail]


@pytest.mark.parametrize(("length", "in_lanes"), [(0, 0), (1, 0), (15, 0), (16, 16), (31, 16), (32, 32), (33, 32)])
def test_the_last_n_mod_16_columns_are_the_tail(length: int, in_lanes: int) -> None:
    grid = quantize_down(np.full((2, length), 10, np.int32), None, Parameters(HALF, -1), LANES_AND_TAIL)
    assert grid.tolist() == [[10] * in_lanes + [0] * (length - in_lanes)] * 2


@pytest.mark.parametrize("shift", range(32))
def test_lanes_tail_and_default_agree_for_0_to_31(shift: int) -> None:
    parameters = Parameters(INT32_MAX, shift, 100)
    one, other = (quantize_down(s32(*CORNERS), None, parameters, m) for m in ("acl_19_08", LANES_AND_TAIL))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("modes", "shift", "sentence"),
    [
        (["acl_19_08", "page"], -1, rf"0\.\.31; modelled by: {LEFT_SHIFT}, {NEW_BOUNDS}, {LANES_AND_TAIL}$"),
        (["acl_19_08", "page"], 32, rf"0\.\.31; modelled by: {LANES_AND_TAIL}$"),
        ([LEFT_SHIFT, NEW_BOUNDS], -32, rf"-31\.\.31; modelled by: {LANES_AND_TAIL}$"),
        ([LEFT_SHIFT, NEW_BOUNDS], 32, rf"-31\.\.31; modelled by: {LANES_AND_TAIL}$"),
    ],
)
def test_an_undefined_shift_is_refused_naming_its_modes(modes: list[str], shift: int, sentence: str) -> None:
    for mode in modes:
        with pytest.raises(ValueError, match=f"shift is {shift}: mode {mode} defines {sentence}"):
            quantize_down(s32(0), None, Parameters(HALF, shift), mode)


# The whole stage against Python integers and fractions.


def wrap(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


def ties_up(value: Fraction) -> int:
    return floor(value + Fraction(1, 2))


def ties_away(value: Fraction) -> int:
    return ties_up(value) if value >= 0 else -ties_up(-value)


def exact(value: int, bias: int, parameters: Parameters, right_shift: Callable[[Fraction], int] = ties_away) -> int:
    left, right = max(-parameters.shift, 0), max(parameters.shift, 0)
    quotient = Fraction(wrap(wrap(value + bias) * 2**left) * parameters.multiplier, 2**31)
    scaled = right_shift(Fraction(min(ties_up(quotient), INT32_MAX), 2**right))
    return saturate(wrap(scaled + parameters.offset), 0, 255)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "lowest", "right_shift"),
    [*((mode, -31 if mode in (LEFT_SHIFT, NEW_BOUNDS) else 0, ties_away) for mode in ROUNDING), ("page", 0, floor)],
)
@thoroughly
@given(data=st.data())
def test_the_stage_equals_exact_fractions(
    mode: str, lowest: int, right_shift: Callable[[Fraction], int], data: st.DataObject
) -> None:
    value, bias, multiplier = (data.draw(int32s) for _ in range(3))
    shift, offset = data.draw(st.integers(lowest, 31)), data.draw(int32s | st.integers(-9, 300))
    parameters = Parameters(multiplier, shift, offset, 0, 255)  # not bounded in any mode
    result = quantize_down(s32(value), s32(bias), parameters, mode)
    assert result.tolist() == [exact(value, bias, parameters, right_shift)]


@pytest.mark.parametrize("multiplier", [INT32_MIN, -HALF, -1, 0, 1, 254601600, HALF, INT32_MAX])
@pytest.mark.parametrize("shift", [0, 1, 2, 15, 30, 31])
@pytest.mark.parametrize("offset", [INT32_MIN, -1, 0, 128, INT32_MAX])
def test_what_the_upstream_grid_lacks_equals_exact_fractions(multiplier: int, shift: int, offset: int) -> None:
    parameters = Parameters(multiplier, shift, offset)
    expected = [exact(value, 0, parameters) for value in CORNERS]
    assert quantize_down(s32(*CORNERS), None, parameters).tolist() == expected


# What the grid of the upstream tests cannot see (the grid itself runs in test_kernel_quantize_down_configure.py).

SWEEP = np.arange(-12000, 12001, dtype=np.int32)


def test_the_grid_cannot_tell_its_two_multipliers_apart() -> None:
    one, other = (quantize_down(SWEEP, None, Parameters(m, 1, 2)) for m in (254601600, 254601601))
    np.testing.assert_array_equal(one, other)


def test_the_grid_sees_ties_up_on_16_inputs_all_in_minus_29_to_minus_5() -> None:
    halved = fixed_point.divide_by_power_of_two_ties_up(fixed_point.doubling_high_multiply(SWEEP, 254601600), 1)
    differing = SWEEP[np.clip(halved + 2, 0, 255) != quantize_down(SWEEP, None, UPSTREAM)]
    assert (len(SWEEP), len(differing), differing.min(), differing.max()) == (24001, 16, -29, -5)


def test_in_the_grid_negative_results_are_nearly_all_clipped() -> None:
    placed = steps(SWEEP[SWEEP < 0], None, UPSTREAM)["offset"]
    assert (placed > 0).mean() < 0.002


# The contract: shapes, dtypes, errors.


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", [(0,), (17,), (3, 0), (0, 5), (2, 1, 16), (2, 1, 1, 2, 3, 17), (1, 0, 1, 1, 1, 4)])
def test_output_is_uint8_of_the_same_shape(shape: tuple[int, ...], mode: str) -> None:
    result = quantize_down(np.ones(shape, np.int32), np.ones(shape[-1:], np.int32), UPSTREAM, mode)
    assert (result.dtype.name, result.shape) == ("uint8", shape)


@pytest.mark.parametrize("mode", MODES)
def test_every_step_is_a_new_int32_array_of_the_same_shape(mode: str) -> None:
    values = np.ones((2, 17), np.int32)
    taken = steps(values, None, UPSTREAM, mode).values()
    assert {(v.dtype.name, v.shape, np.shares_memory(v, values)) for v in taken} == {("int32", (2, 17), False)}


@pytest.mark.parametrize("mode", MODES)
def test_output_is_the_last_step(mode: str) -> None:
    parameters = Parameters(HALF, 3, 5, 4, 200)
    *_, last = steps(s32(*CORNERS), None, parameters, mode).values()
    np.testing.assert_array_equal(quantize_down(s32(*CORNERS), None, parameters, mode), last)


def test_strided_arrays_are_read_in_place() -> None:
    values = np.arange(-24, 24, dtype=np.int32).reshape(6, 8)
    np.testing.assert_array_equal(quantize_down(values.T, None, UPSTREAM), quantize_down(values, None, UPSTREAM).T)


@pytest.mark.parametrize("dtype", [np.int64, np.uint32, np.int16, np.float32, np.bool_, ">i4"])
def test_another_dtype_is_refused(dtype: npt.DTypeLike) -> None:
    with pytest.raises(TypeError, match=r"accumulators has dtype .*: give int32"):
        quantize_down(np.zeros(4, dtype), None, UPSTREAM)


@pytest.mark.parametrize(
    ("values", "bias", "mode", "sentence"),
    [
        ([1, 2], None, "acl_19_08", "accumulators is a list: give a numpy array"),
        (s32(1), np.zeros(1, np.int64), "acl_19_08", "bias has dtype int64: give int32"),
        (np.array(1, np.int32), None, "acl_19_08", "rank 0: give 1 to 6 axes"),
        (np.zeros((1,) * 7, np.int32), None, "acl_19_08", "rank 7: give 1 to 6 axes"),
        (s32(1, 2), s32(1), "acl_19_08", r"bias has shape \(1,\): it must be \(2,\)"),
        (s32(1, 2), s32(1, 2, 3), "acl_19_08", r"bias has shape \(3,\): it must be \(2,\)"),
        (s32(1, 2), s32(1, 2).reshape(1, 2), "acl_19_08", r"bias has shape \(1, 2\): it must be \(2,\)"),
        (s32(1), None, "acl", f"unknown mode 'acl': give one of {', '.join(golden.MODES)}"),
    ],
)
def test_refused_arguments(values: Int32Array, bias: Int32Array | None, mode: str, sentence: str) -> None:
    with pytest.raises((TypeError, ValueError), match=sentence):
        quantize_down(values, bias, UPSTREAM, mode)


@pytest.mark.parametrize("name", ["multiplier", "shift", "offset", "minimum", "maximum"])
@pytest.mark.parametrize(
    ("value", "sentence"),
    [(v, "it must lie in int32") for v in (INT32_MIN - 1, INT32_MAX + 1)] + [(v, "give an int") for v in (True, None)],
)
def test_parameters_that_are_not_int32_are_refused(name: str, value: int, sentence: str) -> None:
    with pytest.raises((TypeError, ValueError), match=f"{name} is {value}: {sentence}"):
        Parameters(**{"multiplier": 0, "shift": 0} | {name: value})


def test_parameters_default_to_zeros() -> None:
    assert Parameters(1, 2) == Parameters(1, 2, 0, 0, 0)
