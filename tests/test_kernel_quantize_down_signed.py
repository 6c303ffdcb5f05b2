"""quantize_down to int8 and int16: docs/spec/neighbours.md sections 7 and 16, exact fractions, the operator, faults."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.golden.fixed_point import INT32_MAX, INT32_MIN, Int32Array
from sim.kernels.operator import ConfigurationError, TensorInfo
from sim.kernels.quantize_down import MODES
from sim.kernels.quantize_down.configure import QuantizeDown
from sim.kernels.quantize_down.golden import Parameters, effective_bounds, quantize_down
from support.exact_rounding import half_away, half_up, wrapped
from support.planted_source import wrong_lanes

HALF = 2**30
S8, S8_NEW, S16, S16_NEW = "acl_20_02_s8", "acl_20_05_s8", "acl_19_08_s16", "acl_20_05_s16"
WHOLE = {S8: (0, 0), S8_NEW: (INT32_MIN, INT32_MAX), S16: (0, 0), S16_NEW: (INT32_MIN, INT32_MAX)}
"""By mode, bounds that do not bound."""


def out(values: list[int], parameters: Parameters, mode: str) -> list[int]:
    made: list[int] = quantize_down(np.array(values, np.int32), None, parameters, mode).tolist()
    return made


def exact(value: int, parameters: Parameters, limits: tuple[int, int], in_64_bits: bool) -> int:
    """One element from the definition; `in_64_bits` as the tail of 20.05 to int16 does it."""
    right, left = max(parameters.shift, 0), max(-parameters.shift, 0)
    if in_64_bits:
        product = (value * parameters.multiplier * 2**left + 2**30 + 2**63) % 2**64 - 2**63
        high = wrapped(floor(Fraction(product, 2**31)))
    else:
        high = min(half_up(Fraction(wrapped(value * 2**left) * parameters.multiplier, 2**31)), INT32_MAX)
    placed = wrapped(half_away(Fraction(high, 2**right)) + parameters.offset)
    low, high_limit = limits
    lower, upper = effective_bounds_of(parameters, limits)
    return min(max(min(max(placed, low), high_limit), lower), upper)


def effective_bounds_of(parameters: Parameters, limits: tuple[int, int]) -> tuple[int, int]:
    """Of parameters whose bounds are those of `WHOLE` or differ and lie within."""
    bounds = (parameters.minimum, parameters.maximum)
    return limits if bounds in WHOLE.values() else bounds


values = st.lists(st.integers(INT32_MIN, INT32_MAX) | st.sampled_from([INT32_MIN, INT32_MAX, -1, 1, -3]), max_size=19)
multipliers = st.integers(INT32_MIN, INT32_MAX) | st.sampled_from([HALF, INT32_MIN, INT32_MAX, -HALF])


@pytest.mark.parametrize(("mode", "lowest"), [(S8, -31), (S8_NEW, -31), (S16, 0), (S16_NEW, -30)])
@given(data=st.data())
@settings(max_examples=150)
def test_every_element_is_what_the_definition_gives(mode: str, lowest: int, data: st.DataObject) -> None:
    limits = (-128, 127) if "s8" in mode else (-32768, 32767)
    shift = data.draw(st.integers(lowest, 31) | st.sampled_from([lowest, 0, 1]))
    offset = data.draw(st.integers(-300, 300) | st.sampled_from([INT32_MIN, INT32_MAX])) if "s8" in mode else 0
    bounds = data.draw(st.sampled_from([WHOLE[mode], (-100, 99), (limits[0], 5), (-5, limits[1])]))
    parameters, row = Parameters(data.draw(multipliers), shift, offset, *bounds), data.draw(values)
    tail = len(row) - len(row) % 8 if mode == S16_NEW else len(row)
    expected = [exact(value, parameters, limits, i >= tail) for i, value in enumerate(row)]
    assert out(row, parameters, mode) == expected


@pytest.mark.parametrize(("mode", "dtype"), [(S8, "int8"), (S8_NEW, "int8"), (S16, "int16"), (S16_NEW, "int16")])
@pytest.mark.parametrize("shape", [(0,), (9,), (2, 0), (2, 1, 17)])
def test_the_output_has_the_shape_and_the_dtype_of_the_mode(mode: str, dtype: str, shape: tuple[int, ...]) -> None:
    made = quantize_down(np.ones(shape, np.int32), np.ones(shape[-1:], np.int32), Parameters(HALF, 0), mode)
    assert (made.dtype.name, made.shape) == (dtype, shape)


def test_lanes_and_tail_of_int16_part_where_only_the_product_of_the_lowest_saturates() -> None:
    """docs/spec/neighbours.md section 16; 19.08 has one arithmetic for all columns."""
    parameters = Parameters(INT32_MIN, 0, 0, -32768, 32767)
    assert out([INT32_MIN] * 9, parameters, S16_NEW) == [32767] * 8 + [-32768]
    assert out([INT32_MIN] * 9, parameters, S16) == [32767] * 9


def test_lanes_and_tail_of_int16_part_where_the_left_shift_wraps() -> None:
    """docs/spec/neighbours.md section 16."""
    parameters = Parameters(HALF, -2, 0, -32768, 32767)
    assert out([2**30 + 5] * 9, parameters, S16_NEW) == [10] * 8 + [-32768]


@pytest.mark.parametrize(
    ("mode", "bounds", "expected"),
    [(S8, (7, 7), (-128, 127)), (S8_NEW, (7, 7), (7, 7)), (S8_NEW, (-128, 127), (-128, 127)), (S8, (-5, 9), (-5, 9)),
     (S16, (-1, -1), (-32768, 32767)), (S16_NEW, (-40000, 32767), (-32768, 32767)), (S16_NEW, (0, 0), (0, 0))],
)  # fmt: skip
def test_when_a_mode_is_bounded(mode: str, bounds: tuple[int, int], expected: tuple[int, int]) -> None:
    assert effective_bounds(Parameters(HALF, 0, 0, *bounds), mode) == expected


@pytest.mark.parametrize(
    ("mode", "parameters", "sentence"),
    [
        (S8, Parameters(1, 1, 0, -128, 128), "maximum is 128: it must not exceed 127"),
        (S8, Parameters(1, 1, 0, -129, 0), "minimum is -129: it must not be below -128"),
        (S8_NEW, Parameters(1, 1, 0, -129, 0), "minimum is -129: a bound outside -128..127 is not modelled"),
        (S8_NEW, Parameters(1, 1, 0, 2, 1), "minimum 2 is above maximum 1"),
        (S16, Parameters(1, 1, 0, 0, 32768), "maximum is 32768: it must not exceed 32767"),
        (S16, Parameters(1, 1, 2), "offset is 2: mode acl_19_08_s16 adds none, give 0"),
        (S16, Parameters(1, -1), "shift is -1: mode acl_19_08_s16 defines 0..31"),
        (S16_NEW, Parameters(1, -31), "shift is -31: mode acl_20_05_s16 defines -30..31"),
    ],
)
def test_what_a_mode_refuses(mode: str, parameters: Parameters, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        out([1], parameters, mode)


# Upstream's own cases: a bounded int16 output of -2 or -1 to 1 or 2, multipliers 254601600 and 1, shift 1.


@pytest.mark.parametrize("multiplier", [254601600, 1])
@pytest.mark.parametrize(("minimum", "maximum"), [(0, 0), (-2, 1), (-1, 2)])
def test_the_operator_runs_upstreams_cases(multiplier: int, minimum: int, maximum: int) -> None:
    values = np.random.default_rng(0).integers(-6000, 6001, (13, 27), np.int32)
    operator, info, output = QuantizeDown(), TensorInfo(), np.zeros((13, 27), np.int16)
    parameters = Parameters(multiplier, 1, 0, minimum, maximum)
    operator.configure(TensorInfo((13, 27), "S32"), None, info, parameters, S16)
    operator.run(values, None, output)
    limits = (-32768, 32767)
    expected = [exact(int(value), parameters, limits, False) for value in values.flat]
    assert (info.data_type, output.ravel().tolist()) == ("QSYMM16", expected)


def test_each_output_has_the_kernel_of_its_name() -> None:
    names = []
    for mode in ("acl_19_08", S8, S16):
        operator = QuantizeDown()
        operator.configure(TensorInfo((3,), "S32"), None, TensorInfo(), Parameters(1, 1), mode)
        names.append(operator.name())
    stem = "NEGEMMLowpQuantizeDownInt32To{}ScaleByFixedPointKernel"
    assert names == [stem.format(name) for name in ("Uint8", "Int8", "Int16")]


def test_an_output_of_another_type_is_refused_at_configuration_and_at_the_run() -> None:
    operator, values = QuantizeDown(), np.zeros(3, np.int32)
    with pytest.raises(ConfigurationError, match="output has data type QASYMM8: it must be QASYMM8_SIGNED"):
        operator.configure(TensorInfo((3,), "S32"), None, TensorInfo((3,), "QASYMM8"), Parameters(1, 1), S8)
    operator.configure(TensorInfo((3,), "S32"), None, TensorInfo(), Parameters(1, 1), S8)
    with pytest.raises(TypeError, match="output is not a numpy array of int8"):
        operator.run(values, None, np.zeros(3, np.uint8))


def test_a_window_that_begins_elsewhere_moves_the_tail() -> None:
    operator, values = QuantizeDown(), np.full(9, INT32_MIN, np.int32)
    outputs = np.zeros((2, 9), np.int16)
    operator.configure(TensorInfo((9,), "S32"), None, TensorInfo(), Parameters(INT32_MIN, 0, 0, -32768, 32767), S16_NEW)
    operator.run(values, None, outputs[0], (slice(0, 9),))
    operator.run(values, None, outputs[1], (slice(1, 9),))
    assert outputs.tolist() == [[32767] * 8 + [-32768], [0] + [32767] * 8]


PLANTED = [
    (S8, 0, "vrshlq_s32(vqaddq_s32(value, fix), minus_shift)", "vrshlq_s32(value, minus_shift)"),
    (S8, 0, "vcombine_s8(vqmovn_s16(low), vqmovn_s16(high))", "vcombine_s8(vmovn_s16(low), vmovn_s16(high))"),
    (S8, 1, "add(scale_with_left_shift(value, multiplier, shift), offset)",
     "add(scale_with_left_shift(value, multiplier, shift), -offset)"),
    (S8_NEW, 0, "vmaxq_s8(bytes, vdupq_n_s8(lower))", "bytes"),
    (S16, 0, "vcombine_s16(vqmovn_s32(low), vqmovn_s32(high));\n    return vminq", 
     "vcombine_s16(vmovn_s32(low), vqmovn_s32(high));\n    return vminq"),
    (S16, 1, "clamp(clamp(scaled, -32768, 32767), lower, upper)", "clamp(scaled, -32768, 32767)"),
    (S16_NEW, 0, "vdupq_n_s64(INT64_C(1) << 30)", "vdupq_n_s64(0)"),
    (S16_NEW, 1, "i < length - length % 8", "i < length - length % 16"),
    (S16_NEW, 1, "i < length - length % 8", "1"),
]  # fmt: skip


@pytest.mark.parametrize(("mode", "source", "right", "wrong"), PLANTED)
def test_a_planted_fault_is_found(tmp_path: Path, mode: str, source: int, right: str, wrong: str) -> None:
    assert wrong_lanes(MODES[mode], source, right, wrong, tmp_path) > 0


@pytest.mark.slow
@pytest.mark.parametrize("mode", [S8, S16_NEW])
def test_without_a_fault_nothing_is_found(tmp_path: Path, mode: str) -> None:
    assert [wrong_lanes(MODES[mode], source, "return", "return", tmp_path) for source in (0, 1)] == [0, 0]


def bias_of(shape: tuple[int, ...]) -> Int32Array:
    return np.full(shape[-1:], INT32_MAX, np.int32)


@pytest.mark.parametrize("mode", [S8, S16, S16_NEW])
def test_the_bias_wraps_in_every_column(mode: str) -> None:
    made = quantize_down(np.ones(19, np.int32), bias_of((19,)), Parameters(HALF, 31, 0, *WHOLE[mode]), mode)
    assert made.tolist() == [-1] * 19
