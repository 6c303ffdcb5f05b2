"""Bounds of fused activations: exact fractions, corners, and what output stages of ACL make of them."""

from __future__ import annotations

import doctest
from fractions import Fraction

import numpy as np
import pytest

from sim.golden import (
    activation_bounds_acl_19_08,
    activation_bounds_tflite,
    bounded_then_low_byte,
    bounded_unless_equal,
    bounded_unless_whole_range,
)
from sim.golden import bounds as module
from support.exact_rounding import half_away

REALS = {"NONE": (None, None), "RELU": (0, None), "RELU6": (0, 6), "RELU_N1_TO_1": (-1, 1)}


def placed(real: int, scale: float, zero: int) -> int:
    """Of the quotient in float32, exactly."""
    return zero + half_away(Fraction(float(np.float32(real) / np.float32(scale))))


def test_every_docstring_example_runs() -> None:
    result = doctest.testmod(module)
    assert (result.failed, result.attempted) == (0, 5)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16"])
@pytest.mark.parametrize("activation", REALS)
def test_bounds_of_tflite_are_those_of_exact_fractions(activation: str, dtype: str) -> None:
    rng, (least, most), apart = np.random.default_rng(4), (np.iinfo(dtype).min, np.iinfo(dtype).max), []
    for scale in (1.0, 0.4, 2.0, 4.0, 12.0, *rng.uniform(0.001, 0.2, 200).tolist()):
        zero = int(rng.integers(least, most, endpoint=True))
        low, high = REALS[activation]
        expected = (
            least if low is None else max(placed(low, scale, zero), least),
            most if high is None else min(placed(high, scale, zero), most),
        )
        found = activation_bounds_tflite(activation, scale, zero, dtype)
        apart += [(scale, zero, found, expected)] if found != expected else []
    assert apart == []


@pytest.mark.parametrize(
    ("activation", "zero", "a", "b", "expected"),
    [
        ("NONE", 7, 0, 0, (0, 255)),
        ("RELU", 7, 6, -6, (7, 255)),
        ("RELU", 255, 0, 0, (255, 255)),
        ("BOUNDED_RELU", 7, 6, -6, (7, 19)),
        ("BOUNDED_RELU", 7, 500, 0, (7, 255)),
        ("LU_BOUNDED_RELU", 7, 6, -1, (5, 19)),
        ("LU_BOUNDED_RELU", 7, 1.25, -1.25, (4, 10)),
        ("LU_BOUNDED_RELU", 7, 500, -500, (0, 255)),
    ],
)
def test_bounds_of_acl(activation: str, zero: int, a: float, b: float, expected: tuple[int, int]) -> None:
    """1.25 / 0.5 is a tie, which goes away from zero on both sides."""
    assert activation_bounds_acl_19_08(activation, 0.5, zero, a, b) == expected


@pytest.mark.parametrize(
    ("convention", "expected"),
    [(bounded_unless_equal, 100), (bounded_unless_whole_range, 255), (bounded_then_low_byte, 255)],
)
def test_a_relu_with_zero_point_255_is_lost_in_the_kernel_alone(convention: object, expected: int) -> None:
    """docs/spec/neighbours.md section 9: later versions and the fused path bound."""
    bounds = activation_bounds_acl_19_08("RELU", 0.05, 255)
    assert int(convention(np.array([100]), *bounds)[0]) == expected  # type: ignore[operator]


@pytest.mark.parametrize(
    ("activation", "scale", "dtype", "message"),
    [
        ("TANH", 0.1, "int8", "the fused activation TANH is not computed: give one of NONE, RELU, RELU_N1_TO_1, RELU6"),
        ("RELU", 0.1, "int32", "the dtype is int32: give one of uint8, int8, int16"),
        ("RELU", 0.0, "int8", r"the scale is 0\.0: it must be above 0 and finite"),
        ("RELU", float("nan"), "int8", "the scale is nan"),
        ("RELU6", 1e-10, "int8", "6 in its units is no int32"),
        ("RELU6", 1e-39, "int8", "6 in its units is no int32"),
        ("RELU_N1_TO_1", 2.0**-31, "int8", "-1 in its units is no int32"),
    ],
)
def test_what_tflite_does_not_bound_is_refused(activation: str, scale: float, dtype: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        activation_bounds_tflite(activation, scale, 0, dtype)


def test_a_small_scale_leaves_relu_alone() -> None:
    """As upstream: 0 is 0 in any unit."""
    assert activation_bounds_tflite("RELU", 1e-10, -128) == (-128, 127)


def test_a_scale_by_which_a_bound_is_just_an_int32_is_taken() -> None:
    scale = np.nextafter(np.float32(2.0**-31), np.float32(1))
    assert activation_bounds_tflite("RELU_N1_TO_1", scale, 5, "int16") == (-(2**15), 2**15 - 1)


@pytest.mark.parametrize(
    ("minimum", "maximum", "equal", "whole"),
    [
        (0, 0, [0, 0, 1, 254, 255, 255], [0] * 6),
        (1, 254, [1, 1, 1, 254, 254, 254], [1, 1, 1, 254, 254, 254]),
        (0, 255, [0, 0, 1, 254, 255, 255], [0, 0, 1, 254, 255, 255]),
        (0, 300, None, [0, 0, 1, 254, 255, 255]),
        (-5, 255, None, [0, 0, 1, 254, 255, 255]),
    ],
)
def test_bytes_next_to_both_ends(minimum: int, maximum: int, equal: list[int] | None, whole: list[int]) -> None:
    """19.08 refuses bounds that are no bytes; to 20.05 those that cover all bytes are none."""
    values = np.array([-1, 0, 1, 254, 255, 256])
    assert bounded_unless_whole_range(values, minimum, maximum).tolist() == whole
    if equal is not None:
        assert bounded_unless_equal(values, minimum, maximum).tolist() == equal


def test_bounds_in_the_wrong_order_are_refused_in_the_words_of_bounds() -> None:
    for convention in (bounded_unless_whole_range, bounded_unless_equal):
        with pytest.raises(ValueError, match="minimum 7 is above maximum 3: give minimum <= maximum"):
            convention(0, 7, 3)


def test_a_bound_outside_of_signed_bytes_is_taken_where_its_low_byte_is_the_end() -> None:
    """-384 is -128 less 256, and 639 is 127 more 512; the low byte of -129 is 127, that of INT32_MIN 0."""
    assert module.bounds_20_05(-384, 5, -128, 127) == (-128, 5)
    assert module.bounds_20_05(5, 639, -128, 127) == (5, 127)
    for minimum in (-129, -(2**31)):
        with pytest.raises(ValueError, match=rf"minimum is {minimum}: a bound outside -128\.\.127 is not modelled"):
            module.bounds_20_05(minimum, 5, -128, 127)


@pytest.mark.parametrize(
    ("activation", "scale", "zero", "message"),
    [
        ("TANH", 0.1, 0, "the activation TANH is not merged: give one of NONE, RELU, BOUNDED_RELU, LU_BOUNDED_RELU"),
        ("RELU", 0.1, 256, r"the zero point is 256: it must lie in 0\.\.255"),
        ("RELU", 0.1, -1, r"the zero point is -1: it must lie in 0\.\.255"),
        ("RELU", float("inf"), 0, "the scale is inf"),
    ],
)
def test_what_acl_does_not_merge_is_refused(activation: str, scale: float, zero: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        activation_bounds_acl_19_08(activation, scale, zero)
