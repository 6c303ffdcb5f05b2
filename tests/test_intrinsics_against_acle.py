"""Names, prototypes and ranges of immediates, against the table that Arm publishes of them."""

from __future__ import annotations

import pytest

from isa.acle.parameters import LiteralParameter, Parameter
from isa.intrinsics import UnknownIntrinsic, intrinsic, intrinsic_names
from isa.refusals import INTRINSICS, Extension, extension_of_intrinsic
from support.acle_table import derived, signatures

ACLE = signatures()
OF_THE_COMPILERS = {
    "vbsl_p64": "poly64x1_t uint64x1_t poly64x1_t poly64x1_t",
    "vbslq_p64": "poly64x2_t uint64x2_t poly64x2_t poly64x2_t",
}
"""Where the table has a mask of polynomials: clang's and GCC's headers, and ACLE for all other types, have integers."""


def signature(name: str) -> str:
    found = intrinsic(name)
    words = [found.result.c_type, *(immediate_or_type(p) for p in found.parameters)]
    return " ".join(word.replace(" ", "") for word in words)


def immediate_or_type(parameter: Parameter) -> str:
    if isinstance(parameter, LiteralParameter):
        return f"{parameter.low}..{parameter.high}"
    return parameter.c_type


def test_no_name_is_ours_alone() -> None:
    assert set(intrinsic_names()) - set(ACLE) == set()


def test_every_prototype_and_every_range_is_that_of_acle() -> None:
    expected = ACLE | OF_THE_COMPILERS
    assert {name: signature(name) for name in intrinsic_names() if signature(name) != expected[name]} == {}


def test_every_other_name_of_acle_is_refused_by_name() -> None:
    assert {name for name in set(ACLE) - set(intrinsic_names()) if extension_of_intrinsic(name) is None} == set()


def test_no_intrinsic_that_there_is_would_be_refused() -> None:
    assert [name for name in intrinsic_names() if extension_of_intrinsic(name) is not None] == []


@pytest.mark.parametrize("extension", INTRINSICS, ids=lambda extension: extension.pattern)
def test_every_pattern_names_some_intrinsic_of_acle(extension: Extension) -> None:
    assert extension in {extension_of_intrinsic(name) for name in ACLE}


@pytest.mark.parametrize(
    ("name", "feature"),
    [("vluti4q_laneq_u8", "FEAT_LUT"), ("vamaxq_f32", "FEAT_FAMINMAX"), ("vmlalbq_f16_mf8_fpm", "FEAT_FP8")],
)
def test_what_is_refused_is_refused_in_a_sentence(name: str, feature: str) -> None:
    sentence = f"{name}: it belongs to {feature}, which lanewise does not model: use intrinsics that compile with"
    with pytest.raises(UnknownIntrinsic, match=sentence):
        intrinsic(name)


def test_the_table_is_read_from_arms_file_by_prototype_and_ranges() -> None:
    lines = [
        "<SECTION>\tShifts",
        "int16x8_t vshll_n_s8(int8x8_t a, const int n)\ta -> Vn.8B;0 <= n <= 7\tSSHLL\tVd.8H -> result\tA64",
        "int16x8_t vshll_n_s8(int8x8_t a, __builtin_constant_p(n))\ta -> Vn.8B;n == 8\tSHLL\tVd.8H -> result\tA64",
        "void vst1_s8(int8_t *ptr, int8x8_t val)\tval -> Vt.8B;ptr -> Xn\tST1\t\tA64",
    ]
    assert derived("\n".join(lines)) == {"vshll_n_s8": "int16x8_t int8x8_t 0..8", "vst1_s8": "void int8_t* int8x8_t"}
