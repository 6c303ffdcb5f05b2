"""How much of clang's arm_neon.h, arm_fp16.h and arm_acle.h the rules give, and that the rest is refused by name."""

import re
from importlib.util import find_spec
from pathlib import Path

from isa.intrinsics import intrinsic_names
from isa.refusals import extension_of_intrinsic


def _declared() -> set[str]:
    spec = find_spec("ziglang")
    assert spec is not None
    assert spec.origin is not None
    include = Path(spec.origin).parent / "lib/include"
    text = (include / "arm_neon.h").read_text() + (include / "arm_fp16.h").read_text()
    functions = re.findall(r"^__ai [^\n]*?\b(v\w+)\([^()]*\) \{", text, re.M)
    checksums = re.findall(r"^(__crc32\w+)\(", (include / "arm_acle.h").read_text(), re.M)
    return {*functions, *checksums, *re.findall(r"^#define (v\w+)\(", text, re.M)}


DECLARED = _declared()
MISSING = DECLARED - set(intrinsic_names())


def test_every_missing_intrinsic_is_refused_by_name() -> None:
    assert {name for name in MISSING if extension_of_intrinsic(name) is None} == set()


def test_the_integer_intrinsics_are_nearly_all_there() -> None:
    """The bar of the project: 2,900 of the 3,048 that ACLE lists."""
    integer = [name for name in intrinsic_names() if not re.search(r"_b?f(16|32|64)", name)]
    assert len(integer) >= 2900
