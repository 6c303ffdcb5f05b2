"""How much of clang's arm_neon.h and arm_fp16.h the rules give, and why they leave the rest out."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from isa.intrinsics import intrinsic_names

LEFT_OUT = {
    r"mf8": "8-bit floating point (FP8): not in the instruction table",
    r"^v(aes|sha1|sha256|sha512|sm3|sm4)": "cryptography: not in the instruction table",
    r"^vluti[24]": "lookup tables (LUT): not in the instruction table",
    r"^v(ldap1|stl1)q?_lane_": "ordered loads and stores of a lane (RCPC3): not in the instruction table",
    r"^v(amax|amin|scale)q?_f": "absolute extremes and scaling (FAMINMAX, FP8): not in the instruction table",
    r"^vcvth_n_(f16_[su]|[su])(32|64)": "ACLE gives these wider numbers the 16-bit register H; compilers differ",
}
"""The reason why names that match are left out."""


def _declared() -> set[str]:
    spec = find_spec("ziglang")
    assert spec is not None
    assert spec.origin is not None
    include = Path(spec.origin).parent / "lib/include"
    text = (include / "arm_neon.h").read_text() + (include / "arm_fp16.h").read_text()
    functions = re.findall(r"^__ai [^\n]*?\b(v\w+)\([^()]*\) \{", text, re.M)
    return {*functions, *re.findall(r"^#define (v\w+)\(", text, re.M)}


DECLARED = _declared()
MISSING = DECLARED - set(intrinsic_names())


def test_every_missing_intrinsic_has_its_reason() -> None:
    assert {name for name in MISSING if not any(re.search(pattern, name) for pattern in LEFT_OUT)} == set()


@pytest.mark.parametrize("pattern", LEFT_OUT)
def test_every_reason_leaves_something_out_and_nothing_that_is_there(pattern: str) -> None:
    assert {name for name in DECLARED if re.search(pattern, name)} & MISSING
    assert not [name for name in intrinsic_names() if re.search(pattern, name)]


def test_the_integer_intrinsics_are_nearly_all_there() -> None:
    """The bar of the project: 2,900 of the 3,048 that ACLE lists."""
    integer = [name for name in intrinsic_names() if not re.search(r"_b?f(16|32|64)", name)]
    assert len(integer) >= 2900
