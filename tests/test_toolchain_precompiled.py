"""arm_neon.h is read once for sources that begin with it, and nobody can tell from what is made of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from sim.toolchain import compilers
from sim.toolchain.compilers import build, compiled
from sim.toolchain.tools import ToolchainError
from support.sampled import sampled

Write = Callable[[str, str], Path]
BODY = "int32x4_t kernel(int32x4_t a, int32x4_t b) { return vqaddq_s32(a, b); }\n"
NEON = "/* Saturating. */\n// Lanes.\n\n#include <arm_neon.h>\n#include <stdint.h>\n" + BODY


@pytest.fixture(autouse=True)
def nothing_read(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither in this process nor in the cache."""
    monkeypatch.setattr(compilers, "_read_for", Counter())


def headers(cache: Path) -> list[Path]:
    return list(cache.glob("*.pch"))


def other(write: Write, number: int, text: str = NEON) -> Path:
    """A source that was not built before."""
    return write(f"kernel_{number}.c", text + f"int kernel_{number}(void) {{ return {number}; }}\n")


@pytest.mark.slow
def test_the_second_source_with_the_same_flags_has_the_header_made(write: Write, cache: Path) -> None:
    made = []
    for number in range(3):
        build(other(write, number), "-O2")
        made.append(len(headers(cache)))
    assert made == [0, 1, 1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "flags",
    sampled([["-O0"], ["-O1"], ["-O2"], ["-O3"], ["-Os"], ["-O2", "-march=armv8.2-a+dotprod"]], 5),
)
def test_the_object_is_the_same_byte_by_byte(
    flags: list[str], write: Write, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, objects = write("kernel.c", NEON), []
    for room in ("without", "with"):
        monkeypatch.setenv("LANEWISE_CACHE", str(cache / room))
        if room == "with":
            compiled(other(write, 1), *flags)
        objects.append(compiled(first, *flags))
    assert (len(headers(cache / "without")), len(headers(cache / "with"))) == (0, 1)
    assert objects[0] == objects[1]


@pytest.mark.parametrize(
    "text",
    [
        BODY.replace("int32x4_t", "int").replace("vqaddq_s32(a, b)", "a + b"),
        "#define KEPT 1\n" + NEON,
        "// continued \\\n#include <arm_neon.h>\n#include <arm_neon.h>\n" + BODY,
        "/* not the end *\\\n/ int x; /* */\n#include <arm_neon.h>\n" + BODY,
        '#include "first.h"\n' + NEON,
        "/* one */\n#define KEPT 1\n/* two */\n" + NEON,
        "/* many */\n" * 1000 + "#include <stdint.h>\n",
    ],
    ids=[
        "no header", "a definition before", "in a continued comment", "an end of a comment in two lines", "another",
        "a definition between comments", "many comments",
    ],
)  # fmt: skip
def test_a_source_that_does_not_begin_with_it_reads_it_itself(text: str, write: Write, cache: Path) -> None:
    write("first.h", "")
    for number in range(3):
        compiled(other(write, number, text), "-O2")
    assert headers(cache) == []


@pytest.mark.slow
def test_other_flags_may_change_what_is_read(write: Write, cache: Path) -> None:
    for number in range(3):
        compiled(other(write, number), "-O2", "-DKEPT=1")
    assert headers(cache) == []


@pytest.mark.slow
def test_a_source_that_does_not_include_it_lacks_it_all_the_same(write: Write) -> None:
    for number in range(2):
        compiled(other(write, number), "-O2")
    with pytest.raises(ToolchainError, match="unknown type name 'int32x4_t'"):
        compiled(other(write, 3, BODY), "-O2")


@pytest.mark.slow
def test_what_is_said_of_a_mistake_does_not_change(write: Write) -> None:
    wrong, said = write("wrong.c", NEON + "int wrong(void) { return vnothing(); }\n"), []
    for number in range(3):
        with pytest.raises(ToolchainError) as refused:
            compiled(wrong, "-O2")
        said.append(str(refused.value))
        compiled(other(write, number), "-O2")
    assert "vnothing" in said[0]
    assert said == [said[0]] * 3


def test_a_header_that_clang_does_not_take_is_done_without(
    write: Write, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = compiled(write("kernel.c", NEON), "-O2")

    def damaged(_: object, scratch: Path) -> tuple[Path, list[Path]]:
        (scratch / "neon.pch").write_bytes(b"damaged")
        return scratch / "neon.pch", []

    monkeypatch.setattr(compilers, "_header_made", damaged)
    monkeypatch.setenv("LANEWISE_CACHE", str(cache / "another"))
    assert compiled(write("kernel.c", NEON), "-O2") == expected
    assert len(headers(cache / "another")) == 1


@pytest.mark.slow
def test_a_build_knows_the_headers_that_were_read_before(write: Write, cache: Path) -> None:
    """So that one of them that changes has what includes it built again."""
    for number in range(2):
        build(other(write, number), "-O2")
    listed = [entry.read_text().count("arm_neon.h") for entry in cache.glob("*.json")]
    assert listed == [1] * 3
