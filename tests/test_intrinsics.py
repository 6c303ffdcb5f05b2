"""Intrinsics on values: names, prototypes, results and what is refused."""

import re
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from isa import intrinsics
from isa.acle.elements import ELEMENTS, ElementType
from isa.acle.families import RULES
from isa.acle.values import VECTOR_TYPES
from isa.intrinsics import (
    ElementPointer,
    Program,
    UnknownIntrinsic,
    VectorType,
    VectorValue,
    int8x8_t,
    int8x16_t,
    int16x4_t,
    int16x8_t,
    int32x2_t,
    int32x4_t,
    int64x1_t,
    int64x2_t,
    intrinsic,
    intrinsic_names,
    uint8x8_t,
    uint8x16_t,
    uint16x4_t,
    uint16x8_t,
    uint32x4_t,
    vdupq_n_s8,
    vdupq_n_s32,
    vgetq_lane_s32,
    vld1q_s32,
    vqrdmulhq_s32,
    vshrq_n_s32,
)
from isa.rows import TABLE

INT32_MAX, INT32_MIN = 2**31 - 1, -(2**31)
A = int32x4_t(1, -2, INT32_MAX, INT32_MIN)
B = int32x4_t(5, 7, 1, -1)


def lanes(name: str, *arguments: Any) -> tuple[Any, ...]:
    result = intrinsic(name)(*arguments)
    assert isinstance(result, VectorValue)
    return result.lanes


def wrap32(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


def saturate(value: int, low: int, high: int) -> int:
    return min(max(value, low), high)


# Types.


@pytest.mark.parametrize("bits", [4, 128])
def test_an_element_type_that_acle_lacks_is_refused(bits: int) -> None:
    with pytest.raises(ValueError, match=f"int elements have 8, 16, 32, 64 bits, not {bits}"):
        ElementType("s", bits)


# Names.


def test_a_misspelt_name_names_near_ones() -> None:
    with pytest.raises(UnknownIntrinsic, match=r"no intrinsic 'vqrdmulq_s32'; near it are .*vqrdmulhq_s32"):
        intrinsic("vqrdmulq_s32")


def test_an_unknown_name_is_no_attribute_of_the_module() -> None:
    assert not hasattr(intrinsics, "vfrobnicate_s32")


def test_an_unknown_name_cannot_be_imported() -> None:
    with pytest.raises(ImportError, match="vfrobnicate_s32"):
        exec("from isa.intrinsics import vfrobnicate_s32")


def test_an_attribute_that_is_no_intrinsic_is_missed_as_in_any_module() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'helpers'"):
        _ = intrinsics.helpers  # the module's __getattr__ hides this from mypy


def test_the_module_lists_the_intrinsics() -> None:
    assert set(intrinsic_names()) <= set(dir(intrinsics))


def test_every_listed_name_has_an_intrinsic() -> None:
    assert all(intrinsic(name).name == name for name in intrinsic_names())


def test_nothing_is_signed_rounding_doubling_on_unsigned_lanes() -> None:
    assert not [name for name in intrinsic_names() if name.startswith("vqrdmulh") and "_u" in name]


def test_each_rule_gives_an_intrinsic() -> None:
    readings = (r for suffix in ELEMENTS for found in intrinsics._readings_at(suffix).values() for r in found)
    used = {reading.rule for reading in readings if any(True for _ in intrinsics._derived(reading))}
    assert [rule for rule in RULES if rule not in used] == []


# Prototypes: those of clang's arm_neon.h and arm_fp16.h, which are made from ACLE.


def _header() -> str:
    spec = find_spec("ziglang")
    assert spec is not None
    assert spec.origin is not None
    include = Path(spec.origin).parent / "lib/include"
    return "".join((include / f"arm_{name}.h").read_text() for name in ("neon", "fp16", "acle"))


@cache
def _declared() -> dict[str, list[str]]:
    """Result and argument types by name; "" where a macro does not say."""
    text, found = _header(), {}
    neon = r"^__ai [^\n]*?\)\)\) (\w+) (v\w+)\(([^)]*)\) \{"
    checksums = r"^static __inline__ (\w+) [^\n]*\n(__crc32\w+)\(([^)]*)\) \{"
    for match in (*re.finditer(neon, text, re.M), *re.finditer(checksums, text, re.M)):
        found[match[2]] = [match[1], *(argument.rsplit(" ", 1)[0] for argument in match[3].split(", "))]
    for match in re.finditer(r"^#define (v\w+)\(([^)]*)\) __extension__ \(\{ \\\n((?:.*\\\n)*)", text, re.M):
        result = re.search(r"(\w+) __ret\w*;", match[3])
        sources = [re.search(rf"(\w+) __s\w+ = {name};", match[3]) for name in match[2].split(", ")]
        found[match[1]] = [result[1] if result else "void", *(source[1] if source else "" for source in sources)]
    return found


SIGNED_IN_CLANG = {f"vqshlu{letter}_n_s{bits}" for letter, bits in (("b", 8), ("h", 16), ("s", 32), ("d", 64))}
"""ACLE gives them an unsigned result (it is one), clang's header a signed one of the same bits."""


@pytest.mark.slow
def test_every_intrinsic_is_declared_in_clangs_headers() -> None:
    assert set(intrinsic_names()) - set(_declared()) == set()


def test_every_prototype_is_that_of_clangs_headers() -> None:
    assert {name for name in intrinsic_names() if not _agrees(name)} == SIGNED_IN_CLANG


def _agrees(name: str) -> bool:
    found = intrinsic(name)
    types = [found.result.c_type, *(parameter.c_type for parameter in found.parameters)]
    expected = _declared()[name]
    return len(types) == len(expected) and all(
        wanted == got or (not wanted and (got == "const int" or got.endswith("*") or name.startswith("vcreate_")))
        for wanted, got in zip(expected, types, strict=True)
    )


def test_a_prototype_reads_as_in_c() -> None:
    assert str(intrinsic("vqrdmulhq_lane_s32")) == "int32x4_t vqrdmulhq_lane_s32(int32x4_t, int32x2_t, const int)"


# Values.


@pytest.mark.parametrize(("name", "vector_type"), [("vshll_n_s8", int8x8_t), ("vshll_n_u8", uint8x8_t)])
def test_shll_n_takes_a_shift_by_the_whole_width(name: str, vector_type: VectorType) -> None:
    """ACLE maps it to SHLL, which SSHLL and USHLL cannot encode."""
    a = vector_type.of_bits(0x80FF7F0100028182)
    with Program() as program:
        wide = intrinsic(name)(a, 8)
    mnemonics = [instruction.form.mnemonic for instruction in program.instructions]
    assert (wide.lanes, mnemonics) == (tuple(lane * 256 for lane in a.lanes), ["shll"])


def test_shll_high_n_takes_a_shift_by_the_whole_width() -> None:
    with Program() as program:
        wide = intrinsic("vshll_high_n_u32")(uint32x4_t(0, 0, 7, 2**32 - 1), 32)
    assert (wide.lanes, program.instructions[0].text) == ((7 << 32, (2**32 - 1) << 32), "shll2 v1.2d, v0.4s, #32")


def test_shll_n_refuses_a_shift_beyond_the_width() -> None:
    with pytest.raises(ValueError, match=r"vshll_n_s16 takes an immediate 0\.\.16, not 17"):
        intrinsic("vshll_n_s16")(int16x4_t(0, 0, 0, 0), 17)


@pytest.mark.parametrize(("name", "check"), [("__crc32b", 0xCBF43926), ("__crc32cb", 0xE3069283)])
def test_a_checksum_has_the_check_value_that_is_published_of_its_polynomial(name: str, check: int) -> None:
    """That of the digits 1 to 9, from and to inverted numbers: CRC-32/ISO-HDLC, and CRC-32/ISCSI (RFC 3720)."""
    remainder = 0xFFFFFFFF
    for byte in b"123456789":
        remainder = intrinsic(name)(remainder, byte)
    assert remainder ^ 0xFFFFFFFF == check


def test_a_half_in_fixed_point_takes_the_low_16_bits_of_an_integer() -> None:
    assert intrinsic("vcvth_n_f16_s32")(0x1_FFFB, 2) == -5 / 4


def test_a_half_to_fixed_point_is_16_bits_with_zeros_above() -> None:
    assert intrinsic("vcvth_n_s64_f16")(-1.5, 1) == 0xFFFD


def test_a_type_has_acles_name() -> None:
    assert (str(uint8x16_t), str(int64x1_t)) == ("uint8x16_t", "int64x1_t")


def test_the_lanes_of_a_value_are_signed_as_its_type() -> None:
    assert int8x8_t(-1, 2, -3, 4, -5, 6, -7, 127).lanes == (-1, 2, -3, 4, -5, 6, -7, 127)


def test_lane_0_is_lowest_in_the_bits_of_a_value() -> None:
    assert int16x4_t(1, -1, 0, 2).bits == 0x0002_0000_FFFF_0001


def test_a_value_needs_all_its_lanes() -> None:
    with pytest.raises(TypeError, match="int32x4_t has 4 lanes, not 3"):
        int32x4_t(1, 2, 3)


def test_a_lane_that_its_type_does_not_hold_is_refused() -> None:
    with pytest.raises(ValueError, match=r"lane 1 of uint8x8_t is uint8_t, 0\.\.255, not 256"):
        uint8x8_t(0, 256, 0, 0, 0, 0, 0, 0)


def test_a_vector_type_of_96_bits_does_not_exist() -> None:
    with pytest.raises(ValueError, match="no vector type has 3 lanes of s32: 64 or 128 bits in all"):
        intrinsics.VectorType(int32x4_t.element, 3)


# Results, stated as plain arithmetic.

MULTIPLIERS = int32x4_t(2**30, -(2**30), 1518500250, INT32_MIN)


def test_vqrdmulhq_s32() -> None:
    expected = tuple(
        saturate((a * b + 2**30) >> 31, INT32_MIN, INT32_MAX) for a, b in zip(A.lanes, MULTIPLIERS.lanes, strict=True)
    )
    assert lanes("vqrdmulhq_s32", A, MULTIPLIERS) == expected


def test_vqrdmulhq_s32_saturates_only_the_square_of_the_least() -> None:
    assert lanes("vqrdmulhq_s32", A, MULTIPLIERS)[3] == INT32_MAX


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("vaddq_s32", (A, B), tuple(wrap32(a + b) for a, b in zip(A.lanes, B.lanes, strict=True))),
        ("vqaddq_s32", (A, B), (6, 5, INT32_MAX, INT32_MIN)),
        ("vmaxq_s32", (A, B), (5, 7, INT32_MAX, -1)),
        ("vandq_s32", (A, B), (1 & 5, -2 & 7, INT32_MAX & 1, INT32_MIN & -1)),
        ("vbicq_s32", (A, B), (1 & ~5, -2 & ~7, INT32_MAX & ~1, INT32_MIN & ~-1)),
        ("vmvnq_s32", (A,), (-2, 1, INT32_MIN, INT32_MAX)),
        ("vcltq_s32", (A, B), (2**32 - 1, 2**32 - 1, 0, 2**32 - 1)),
        ("vcleq_s32", (B, A), (0, 0, 2**32 - 1, 0)),
        ("vceqzq_s32", (int32x4_t(0, 1, -1, 0),), (2**32 - 1, 0, 0, 2**32 - 1)),
        ("vcltzq_s32", (A,), (0, 2**32 - 1, 0, 2**32 - 1)),
        ("vhaddq_s32", (A, B), tuple((a + b) >> 1 for a, b in zip(A.lanes, B.lanes, strict=True))),
        ("vrshlq_s32", (A, int32x4_t(3, -1, -31, -32)), (8, -1, 1, 0)),
        ("vshrq_n_s32", (A, 31), (0, -1, 0, -1)),
        ("vshrq_n_s32", (A, 32), (0, -1, 0, -1)),
        ("vshlq_n_s32", (A, 4), (16, -32, -16, 0)),
        ("vsraq_n_s32", (B, A, 1), (5 + 0, 7 - 1, 1 + (INT32_MAX >> 1), -1 + (INT32_MIN >> 1))),
        ("vmlaq_s32", (B, A, A), tuple(wrap32(b + a * a) for a, b in zip(A.lanes, B.lanes, strict=True))),
        ("vmlaq_lane_s32", (B, A, int32x2_t(9, -3), 1), (2, 13, wrap32(1 - 3 * INT32_MAX), wrap32(-1 - 3 * INT32_MIN))),
        ("vmulq_laneq_s32", (B, A, 1), (-10, -14, -2, 2)),
        ("vmulq_n_s32", (B, -3), (-15, -21, -3, 3)),
        ("vqrdmulhq_n_s32", (A, 2**30), (1, -1, 2**30, -(2**30))),
        ("vmull_s32", (int32x2_t(INT32_MIN, 3), int32x2_t(INT32_MIN, -4)), (2**62, -12)),
        ("vmull_high_s32", (A, B), (INT32_MAX, -INT32_MIN)),
        ("vaddw_high_s32", (int64x2_t(10, 20), A), (10 + INT32_MAX, 20 + INT32_MIN)),
        ("vmlal_s32", (int64x2_t(1, 2), int32x2_t(-3, 4), int32x2_t(5, 6)), (-14, 26)),
        ("vmovl_s32", (int32x2_t(-1, 7),), (-1, 7)),
        ("vqmovn_s32", (A,), (1, -2, 2**15 - 1, -(2**15))),
        ("vqmovn_high_s32", (int16x4_t(1, 2, 3, 4), A), (1, 2, 3, 4, 1, -2, 2**15 - 1, -(2**15))),
        ("vqmovun_s32", (A,), (1, 0, 2**16 - 1, 0)),
        ("vmovn_s32", (A,), (1, -2, -1, 0)),
        ("vqrshrun_n_s32", (int32x4_t(24, -1, 2**20, 23), 4), (2, 0, 2**16 - 1, 1)),
        ("vpaddlq_s32", (A,), (-1, -1)),
        ("vpaddl_s32", (int32x2_t(INT32_MAX, INT32_MAX),), (2 * INT32_MAX,)),
        ("vcombine_s16", (int16x4_t(1, 2, 3, 4), int16x4_t(5, 6, 7, 8)), (1, 2, 3, 4, 5, 6, 7, 8)),
        ("vget_high_s32", (A,), (INT32_MAX, INT32_MIN)),
        ("vget_low_s32", (A,), (1, -2)),
        ("vdupq_n_s32", (-5,), (-5,) * 4),
        ("vdup_n_s64", (-5,), (-5,)),
        ("vdupq_lane_s32", (int32x2_t(3, 4), 1), (4,) * 4),
        ("vcreate_s16", (0xFFFF_0003_0002_0001,), (1, 2, 3, -1)),
        ("vsetq_lane_s32", (9, A, 2), (1, -2, 9, INT32_MIN)),
        ("vcopyq_lane_s32", (A, 0, int32x2_t(3, 4), 1), (4, -2, INT32_MAX, INT32_MIN)),
        ("vextq_s32", (A, B, 3), (INT32_MIN, 5, 7, 1)),
        ("vrev64q_s32", (B,), (7, 5, -1, 1)),
        ("vzip1q_s32", (A, B), (1, 5, -2, 7)),
        ("vreinterpret_u8_s32", (int32x2_t(-1, 1),), (255, 255, 255, 255, 1, 0, 0, 0)),
        ("vbslq_s32", (uint32x4_t(2**32 - 1, 0, 2**32 - 1, 0), A, B), (1, 7, INT32_MAX, -1)),
        ("vadd_s64", (int64x1_t(2**63 - 1), int64x1_t(1)), (-(2**63),)),
        ("vuqadd_s8", (int8x8_t(*[120] * 8), uint8x8_t(*[255] * 8)), (127,) * 8),
        ("vcls_u8", (uint8x8_t(0, 1, 127, 128, 255, 2, 4, 8),), (7, 6, 0, 0, 7, 5, 4, 3)),
        ("vdotq_s32", (B, int8x16_t(*range(16)), int8x16_t(*[-1] * 16)), (5 - 6, 7 - 22, 1 - 38, -1 - 54)),
        ("vqtbl1_u8", (uint8x16_t(*range(10, 26)), uint8x8_t(0, 15, 16, *range(5))), (10, 25, 0, *range(10, 15))),
    ],
)  # fmt: skip
def test_lanes_of_the_result(name: str, arguments: tuple[Any, ...], expected: tuple[int, ...]) -> None:
    assert lanes(name, *arguments) == expected


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("vgetq_lane_s32", (A, 3), INT32_MIN),
        ("vget_lane_u8", (uint8x8_t(*range(248, 256)), 7), 255),
        ("vget_lane_s8", (int8x8_t(*range(-8, 0)), 0), -8),
        ("vgetq_lane_s64", (int64x2_t(0, -1), 1), -1),
        ("vaddvq_s32", (A,), wrap32(1 - 2 - 1)),
        ("vaddv_s32", (int32x2_t(INT32_MAX, 1),), INT32_MIN),
        ("vaddvq_s64", (int64x2_t(2**62, 2**62),), -(2**63)),
        ("vmaxvq_u16", (uint16x8_t(*range(8)),), 7),
        ("vminv_s32", (int32x2_t(3, -4),), -4),
        ("vaddlvq_s16", (int16x8_t(*[-(2**15)] * 8),), -(2**18)),
        ("vaddlv_s32", (int32x2_t(INT32_MIN, INT32_MIN),), -(2**32)),
    ],
)
def test_a_number_as_the_result(name: str, arguments: tuple[Any, ...], expected: int) -> None:
    assert intrinsic(name)(*arguments) == expected


@pytest.mark.parametrize("vector_type", VECTOR_TYPES, ids=str)
def test_a_reinterpreted_value_keeps_its_bits(vector_type: intrinsics.VectorType) -> None:
    value = vector_type(*range(vector_type.lanes))
    names = [name for name in intrinsic_names() if re.fullmatch(rf"vreinterpretq?_\w+_{vector_type.element}", name)]
    same_size = [name for name in names if ("q_" in name) == (vector_type.total_bits == 128)]
    assert {intrinsic(name)(value).bits for name in same_size} == {value.bits}


# Refusals.

REFUSED: list[tuple[Callable[..., Any], tuple[Any, ...], type[Exception], str]] = [
    (vqrdmulhq_s32, (A, int16x8_t(*[0] * 8)), TypeError, "vqrdmulhq_s32 takes int32x4_t as argument 2, not int16x8_t"),
    (vqrdmulhq_s32, (A, 3), TypeError, "vqrdmulhq_s32 takes int32x4_t as argument 2, not int"),
    (vqrdmulhq_s32, (A,), TypeError, "vqrdmulhq_s32 takes 2 arguments, not 1"),
    (vdupq_n_s32, (1, 2), TypeError, "vdupq_n_s32 takes 1 argument, not 2"),
    (vshrq_n_s32, (A, 0), ValueError, "vshrq_n_s32 takes an immediate 1..32, not 0"),
    (vshrq_n_s32, (A, 33), ValueError, "vshrq_n_s32 takes an immediate 1..32, not 33"),
    (vshrq_n_s32, (A, "1"), TypeError, "vshrq_n_s32 takes an immediate 1..32, not str"),
    (vgetq_lane_s32, (A, 4), ValueError, "vgetq_lane_s32 takes a lane 0..3, not 4"),
    (vgetq_lane_s32, (A, -1), ValueError, "vgetq_lane_s32 takes a lane 0..3, not -1"),
    (vdupq_n_s8, (128,), ValueError, "argument 1 of vdupq_n_s8 is int8_t, -128..127, not 128"),
    (vdupq_n_s8, (1.5,), TypeError, "argument 1 of vdupq_n_s8 is an int, not float"),
    (vld1q_s32, (ElementPointer(0, "uint8"),), TypeError, "vld1q_s32 takes a pointer to int32, not to uint8"),
    (vld1q_s32, (0,), TypeError, "vld1q_s32 takes an ElementPointer as argument 1, not int"),
    (
        vld1q_s32,
        (ElementPointer(0, "int32"),),
        RuntimeError,
        "a load or store needs memory: call it inside of `with Progr",
    ),
]


@pytest.mark.parametrize(("function", "arguments", "error", "sentence"), REFUSED)
def test_what_is_refused(
    function: Callable[..., Any], arguments: tuple[Any, ...], error: type[Exception], sentence: str
) -> None:
    with pytest.raises(error, match="^" + re.escape(sentence)):
        function(*arguments)


def test_the_lane_of_a_dot_product_counts_groups_of_four_bytes() -> None:
    with pytest.raises(ValueError, match=r"takes a lane 0\.\.1, not 2"):
        intrinsic("vdotq_lane_s32")(A, int8x16_t(*[0] * 16), int8x8_t(*[0] * 8), 2)


def test_a_narrowing_shift_reaches_the_narrow_width() -> None:
    with pytest.raises(ValueError, match=r"takes an immediate 1\.\.16, not 17"):
        intrinsic("vshrn_n_s32")(A, 17)


# Pointers.


def test_a_pointer_advances_by_elements() -> None:
    assert (ElementPointer(100, "int32") + 3).address == 112


def test_a_pointer_to_something_unknown_is_refused() -> None:
    with pytest.raises(TypeError, match=r"a pointer's dtype is one of int8, .*, not 'complex64'"):
        ElementPointer(0, "complex64")


def test_a_pointer_stays_inside_of_the_address_space() -> None:
    with pytest.raises(ValueError, match=r"an address is 0\.\.2\*\*64-1"):
        ElementPointer(0, "int32") + -1


# The table decides.


def test_every_intrinsic_has_its_instruction_in_the_table() -> None:
    mnemonics = {mnemonic for mnemonic, _ in TABLE.forms}
    names = [name for name in intrinsic_names() if not name.startswith("vreinterpret")]
    assert {mnemonic for name in names for mnemonic in intrinsic(name).mnemonic.split("; ")} <= mnemonics


def test_an_unsigned_widening_uses_the_unsigned_instruction() -> None:
    assert lanes("vmovl_u16", uint16x4_t(2**16 - 1, 0, 1, 2))[0] == 2**16 - 1
