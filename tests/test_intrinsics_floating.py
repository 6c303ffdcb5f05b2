"""Intrinsics on floating-point values: results that arithmetic alone gives, and what is refused."""

import math
import re
from typing import Any

import pytest

from isa.intrinsics import (
    Program,
    VectorValue,
    bfloat16x4_t,
    float16x4_t,
    float16x8_t,
    float32x2_t,
    float32x4_t,
    float64x1_t,
    float64x2_t,
    int32x2_t,
    int32x4_t,
    intrinsic,
    uint32x4_t,
)

A = float32x4_t(1.5, -2.0, 0.25, 1e30)
B = float32x4_t(2.0, 2.0, -4.0, 1e30)
INF = math.inf
TINY = 2.0**-149
ALL = 2**32 - 1


def lanes(name: str, *arguments: Any) -> tuple[Any, ...]:
    result = intrinsic(name)(*arguments)
    assert isinstance(result, VectorValue)
    return result.lanes


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("vaddq_f32", (A, B), (3.5, 0.0, -3.75, 2 * float32x2_t(1e30, 0).lanes[0])),
        ("vmulq_f32", (A, B), (3.0, -4.0, -1.0, INF)),
        ("vmulq_n_f32", (A, 2), (3.0, -4.0, 0.5, 2 * float32x2_t(1e30, 0).lanes[0])),
        ("vdivq_f32", (A, B), (0.75, -1.0, -0.0625, 1.0)),
        ("vsqrtq_f64", (float64x2_t(2.0, 1e-320),), (math.sqrt(2.0), math.sqrt(1e-320))),
        ("vfmaq_laneq_f32", (A, B, A, 1), (-2.5, -6.0, 8.25, -float32x2_t(1e30, 0).lanes[0])),
        ("vfms_f64", (float64x1_t(1.0), float64x1_t(3.0), float64x1_t(0.5)), (-0.5,)),
        ("vmaxnmq_f32", (float32x4_t(math.nan, 1, 2, 3), A), (1.5, 1.0, 2.0, float32x2_t(1e30, 0).lanes[0])),
        ("vcgtq_f32", (A, B), (0, 0, ALL, 0)),
        ("vcaleq_f32", (A, B), (ALL, ALL, ALL, ALL)),
        ("vcaltq_f32", (A, B), (ALL, 0, ALL, 0)),
        ("vceqzq_f32", (float32x4_t(0.0, -0.0, TINY, math.nan),), (ALL, ALL, 0, 0)),
        ("vcvtq_s32_f32", (float32x4_t(-1.9, 2.5, 3e9, math.nan),), (-1, 2, 2**31 - 1, 0)),
        ("vcvtnq_s32_f32", (float32x4_t(0.5, 1.5, -2.5, -0.5),), (0, 2, -2, 0)),
        ("vcvtaq_s32_f32", (float32x4_t(0.5, 1.5, -2.5, -0.5),), (1, 2, -3, -1)),
        ("vcvtmq_u32_f32", (float32x4_t(0.5, 1.9, -0.5, 7.0),), (0, 1, 0, 7)),
        ("vcvtpq_s32_f32", (float32x4_t(0.5, 1.1, -0.5, 7.0),), (1, 2, 0, 7)),
        ("vcvtq_n_s32_f32", (float32x4_t(0.75, -0.75, 1.0, 0.0), 2), (3, -3, 4, 0)),
        ("vcvtq_n_f32_u32", (uint32x4_t(3, 1, 0, 2**31), 32), (3 * 2.0**-32, 2.0**-32, 0.0, 0.5)),
        ("vcvt_f64_f32", (float32x2_t(0.1, -1.0),), (0.10000000149011612, -1.0)),
        ("vcvt_high_f32_f64", (float32x2_t(1, 2), float64x2_t(3, 1 + 2**-24)), (1.0, 2.0, 3.0, 1.0)),
        ("vcvtx_f32_f64", (float64x2_t(1 + 2**-30, 1.0),), (1 + 2**-23, 1.0)),
        ("vcvt_f16_f32", (float32x4_t(1.0, 65520.0, 2**-24, 2**-26),), (1.0, INF, 2.0**-24, 0.0)),
        ("vcvt_high_f32_f16", (float16x8_t(0, 0, 0, 0, 1, 2, 3, 65504),), (1.0, 2.0, 3.0, 65504.0)),
        ("vcvt_f32_bf16", (bfloat16x4_t(1, -2, 0.5, 3),), (1.0, -2.0, 0.5, 3.0)),
        ("vcvt_bf16_f32", (float32x4_t(1, 1 + 2**-8, 1 + 3 * 2**-8, -1),), (1.0, 1.0, 1 + 2**-6, -1.0)),
        ("vrndaq_f32", (float32x4_t(0.5, -0.5, 2.5, -2.4),), (1.0, -1.0, 3.0, -2.0)),
        ("vrndnq_f32", (float32x4_t(0.5, 1.5, 2.5, -2.4),), (0.0, 2.0, 2.0, -2.0)),
        ("vpaddq_f32", (A, B), (-0.5, float32x2_t(1e30, 0).lanes[0], 4.0, float32x2_t(1e30, 0).lanes[0])),
        ("vbslq_f32", (uint32x4_t(ALL, 0, ALL, 0), A, B), (1.5, 2.0, 0.25, float32x2_t(1e30, 0).lanes[0])),
        ("vextq_f32", (A, B, 3), (float32x2_t(1e30, 0).lanes[0], 2.0, 2.0, -4.0)),
        ("vcombine_f32", (float32x2_t(1, 2), float32x2_t(3, 4)), (1.0, 2.0, 3.0, 4.0)),
        ("vcreate_f32", (0x4000_0000_3F80_0000,), (1.0, 2.0)),
        ("vdup_n_f64", (2.5,), (2.5,)),
        ("vsetq_lane_f32", (9.0, B, 2), (2.0, 2.0, 9.0, float32x2_t(1e30, 0).lanes[0])),
        ("vreinterpretq_s32_f32", (float32x4_t(1, -0.0, 0, INF),), (0x3F80_0000, -(2**31), 0, 0x7F80_0000)),
        ("vcaddq_rot90_f32", (float32x4_t(1, 2, 3, 4), float32x4_t(5, 6, 7, 8)), (-5.0, 7.0, -5.0, 11.0)),
        ("vcmla_laneq_f32", (float32x2_t(1, 1), float32x2_t(2, 3), float32x4_t(0, 0, 4, 5), 1), (9.0, 11.0)),
        ("vcmla_rot90_lane_f32", (float32x2_t(1, 1), float32x2_t(2, 3), float32x2_t(4, 5), 0), (-14.0, 13.0)),
        ("vfmlal_high_f16", (float32x2_t(1, 1), float16x4_t(9, 9, 2, 3), float16x4_t(9, 9, 4, 5)), (9.0, 16.0)),
    ],
)  # fmt: skip
def test_lanes_of_the_result(name: str, arguments: tuple[Any, ...], expected: tuple[float, ...]) -> None:
    assert lanes(name, *arguments) == expected


def test_multiply_accumulate_rounds_the_product_first() -> None:
    near_one = float32x2_t(1 + 2**-12, 1 + 2**-12)
    product_rounded = 1 + 2**-11  # the exact square has 2^-24 more, which float32 does not hold
    assert lanes("vmla_f32", float32x2_t(-1, -product_rounded), near_one, near_one) == (2**-11, 0.0)


def test_fused_multiply_accumulate_rounds_once() -> None:
    near_one = float32x2_t(1 + 2**-12, 1 + 2**-12)
    assert lanes("vfma_f32", float32x2_t(-1, -(1 + 2**-11)), near_one, near_one)[1] == 2**-24


def test_multiply_accumulate_is_recorded_as_two_instructions() -> None:
    with Program() as program:
        intrinsic("vmlaq_f32")(A, B, B)
    assert [i.text.split()[0] for i in program.instructions] == ["fmul", "fadd"]


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("vgetq_lane_f32", (A, 1), -2.0),
        ("vaddvq_f32", (float32x4_t(1, 2, 3, 4),), 10.0),
        ("vmaxvq_f32", (A,), A.lanes[3]),
        ("vminv_f32", (float32x2_t(3, -4),), -4.0),
        ("vaddvq_f64", (float64x2_t(0.5, 0.25),), 0.75),
        ("vabds_f32", (1.0, 3.5), 2.5),
        ("vaddh_f16", (1.0, 2**-11), 1.0),
        ("vcvts_s32_f32", (-1.9,), -1),
        ("vcvtas_s64_f32", (2.5,), 3),
        ("vcvth_f16_s64", (2**40,), INF),
        ("vcvtd_f64_u64", (2**64 - 1,), 2.0**64),
        ("vcvtxd_f32_f64", (1 + 2**-30,), 1 + 2**-23),
        ("vpmaxqd_f64", (float64x2_t(1, 2),), 2.0),
        ("vfmas_lane_f32", (1.0, 2.0, float32x2_t(0, 3), 1), 7.0),
        ("vceqd_f64", (1.0, 1.0), 2**64 - 1),
    ],
)
def test_a_number_as_the_result(name: str, arguments: tuple[Any, ...], expected: float) -> None:
    assert intrinsic(name)(*arguments) == expected


REFUSED: list[tuple[str, tuple[Any, ...], type[Exception], str]] = [
    ("vaddq_f32", (A, int32x4_t(1, 2, 3, 4)), TypeError, "vaddq_f32 takes float32x4_t as argument 2, not int32x4_t"),
    ("vaddq_f32", (A, 1.0), TypeError, "vaddq_f32 takes float32x4_t as argument 2, not float"),
    ("vmulq_n_f32", (A, "2"), TypeError, "argument 2 of vmulq_n_f32 is a number, not str"),
    (
        "vmulq_n_f32",
        (A, 1e39),
        ValueError,
        "argument 2 of vmulq_n_f32 is float32_t, -3.40282e+38..3.40282e+38, not 1e+39",
    ),
    ("vfmaq_lane_f32", (A, A, float32x2_t(1, 2), 2), ValueError, "vfmaq_lane_f32 takes a lane 0..1, not 2"),
    ("vcmlaq_lane_f32", (A, A, float32x2_t(1, 2), 1), ValueError, "vcmlaq_lane_f32 takes a lane 0..0, not 1"),
    ("vcvtq_n_s32_f32", (A, 33), ValueError, "vcvtq_n_s32_f32 takes an immediate 1..32, not 33"),
    ("vcvt_f32_s32", (float32x2_t(1, 2),), TypeError, "vcvt_f32_s32 takes int32x2_t as argument 1, not float32x2_t"),
    ("vcvt_f32_s32", (int32x2_t(1, 2), 3), TypeError, "vcvt_f32_s32 takes 1 argument, not 2"),
    ("vaddh_f16", (65520.0, 0), ValueError, "argument 1 of vaddh_f16 is float16_t, -65504..65504, not 65520.0"),
]


@pytest.mark.parametrize(("name", "arguments", "error", "sentence"), REFUSED)
def test_what_is_refused(name: str, arguments: tuple[Any, ...], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=f"^{re.escape(sentence)}$"):
        intrinsic(name)(*arguments)
