"""Numbers of the element types and the bits that stand for them, and values of the types made of them."""

import math
import struct
from collections.abc import Callable
from typing import Any

import pytest

from isa import intrinsics
from isa.acle.elements import ELEMENTS, FloatNumber
from isa.acle.values import SCALAR_TYPES, VECTOR_TYPES
from isa.intrinsics import float16x4_t, float32_t, float32x2_t, float32x4_t, float64x1_t, int8x8_t, uint32x2_t

BF16 = ELEMENTS["bf16"]


@pytest.mark.parametrize("vector_type", [*VECTOR_TYPES, *SCALAR_TYPES], ids=str)
def test_every_type_is_an_attribute_under_its_name_in_c(vector_type: object) -> None:
    assert getattr(intrinsics, str(vector_type)) == vector_type


@pytest.mark.parametrize(("code", "suffix"), [("<e", "f16"), ("<f", "f32"), ("<d", "f64")])
@pytest.mark.parametrize("number", [0.1, -1 / 3, 1e-5, 2.5, -0.0, 6e-8, math.inf, -math.inf, 65504.0])
def test_a_float_is_rounded_to_nearest_even(code: str, suffix: str, number: float) -> None:
    expected = int.from_bytes(struct.pack(code, number), "little")
    assert ELEMENTS[suffix].bits_of(number, "it") == expected


@pytest.mark.parametrize(
    ("number", "bits"),
    [
        (1.0, 0x3F80),
        (1 + 2**-8, 0x3F80),  # a tie, to even
        (1 + 3 * 2**-8, 0x3F82),  # a tie, to even
        (1 + 2**-8 + 2**-40, 0x3F81),  # through float32 this would be the tie
    ],
)
def test_a_float_is_rounded_to_bfloat16_once(number: float, bits: int) -> None:
    assert BF16.bits_of(number, "it") == bits


def test_a_bfloat16_is_the_upper_half_of_a_float32() -> None:
    assert BF16.number(0x4049) == struct.unpack("<f", (0x4049_0000).to_bytes(4, "little"))[0]


def test_a_signalling_nan_keeps_its_bits_as_a_lane() -> None:
    assert [lane.bits for lane in float32x2_t.of_bits(0x7F80_0001_FFC0_1234).lanes] == [0xFFC0_1234, 0x7F80_0001]


def test_a_lane_of_one_value_makes_the_same_bits_in_another() -> None:
    signalling = float32x2_t.of_bits(0x7F80_0001).lanes[0]
    assert float32x2_t(signalling, 0).bits == 0x7F80_0001


def test_a_number_of_another_format_is_converted() -> None:
    third = float32_t(1 / 3)
    assert float64x1_t(third).lanes == (struct.unpack("<f", struct.pack("<f", 1 / 3))[0],)


def test_a_nan_made_of_a_python_float_is_the_default_one() -> None:
    assert float16x4_t(math.nan, 0, 0, 0).bits == 0x7E00


def test_a_scalar_type_makes_a_float_of_its_format() -> None:
    number = float32_t(0.1)
    assert isinstance(number, FloatNumber)
    assert (number, number.bits) == (0.10000000149011612, 0x3DCC_CCCD)


def test_a_scalar_type_makes_any_nan() -> None:
    assert math.isnan(float32_t.of_bits(0x7F80_0001))


def test_an_int_is_a_float_lane_as_in_c() -> None:
    assert float32x2_t(2**24 + 1, -3).lanes == (2.0**24, -3.0)


@pytest.mark.parametrize(
    ("function", "arguments", "error", "sentence"),
    [
        (float32x2_t, (1, "2"), TypeError, "lane 1 of float32x2_t is a number, not str"),
        (
            float32x2_t,
            (1e39, 0),
            ValueError,
            "lane 0 of float32x2_t is float32_t, -3.40282e+38..3.40282e+38, not 1e+39",
        ),
        (float16x4_t, (0, 0, 65520, 0), ValueError, "lane 2 of float16x4_t is float16_t, -65504..65504, not 65520"),
        (float32x4_t, (1, 2, 3), TypeError, "float32x4_t has 4 lanes, not 3"),
        (float32_t, (10**400,), ValueError, "float32_t is float32_t, -3.40282e+38..3.40282e+38, not 1000"),
        (uint32x2_t, (1.0, 2), TypeError, "lane 0 of uint32x2_t is an int, not float"),
        (int8x8_t, (128, *range(7)), ValueError, "lane 0 of int8x8_t is int8_t, -128..127, not 128"),
    ],
)
def test_what_is_refused(
    function: Callable[..., Any], arguments: tuple[Any, ...], error: type[Exception], sentence: str
) -> None:
    with pytest.raises(error) as refusal:
        function(*arguments)
    assert str(refusal.value).startswith(sentence)
