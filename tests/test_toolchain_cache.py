"""The cache of built programs: when it is used, and when it is not."""

import hashlib
import json
import os
import shutil
import time
from importlib import metadata
from pathlib import Path

import pytest

from sim.toolchain import kept
from sim.toolchain.compilers import build
from sim.toolchain.dwarf.code_lines import SourceLine
from sim.toolchain.tools import ToolchainError
from support.sources import HEADER_USER, SUM, Write, code

pytestmark = pytest.mark.usefixtures("cache")


@pytest.mark.parametrize(("variable", "below"), [("XDG_CACHE_HOME", "lanewise"), ("HOME", ".cache/lanewise")])
def test_the_cache_has_a_place_by_default(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, below: str
) -> None:
    monkeypatch.delenv("LANEWISE_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv(variable, str(tmp_path / "home"))
    assert build(write("kernel.c", SUM)).path.parent == tmp_path / "home" / below


def test_a_second_build_runs_nothing(write: Write, runs: list[str]) -> None:
    source = write("kernel.c", SUM)
    first = build(source, "-O2")
    assert (build(source, "-O2"), runs) == (first, ["clang", "ld.lld"])


@pytest.mark.parametrize("name", ["factor.h", "a b#c$d.h"])
def test_a_changed_header_builds_again(write: Write, name: str) -> None:
    source = write("kernel.c", HEADER_USER.replace("factor.h", name))
    write(name, "#define FACTOR 3\n")
    first = build(source)
    write(name, "#define FACTOR 5\n")
    assert code(build(source)) != code(first)


def test_a_header_that_stays_the_same_runs_nothing(write: Write, runs: list[str]) -> None:
    write("a b#c$d.h", "#define FACTOR 3\n")
    source = write("kernel.c", HEADER_USER.replace("factor.h", "a b#c$d.h"))
    build(source)
    build(source)
    assert runs == ["clang", "ld.lld"]


def test_a_changed_source_builds_again(write: Write) -> None:
    first = build(write("kernel.c", SUM))
    assert code(build(write("kernel.c", SUM.replace("+=", "-=")))) != code(first)


def test_a_change_that_leaves_size_and_time_is_noticed(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though the digests of all files are remembered, as they are when nothing has changed for a while."""
    monkeypatch.setattr(kept, "_SETTLED", -(1 << 62))
    source = write("kernel.c", HEADER_USER)
    header = write("factor.h", "#define FACTOR 3\n")
    first, before = build(source), header.stat()
    header.write_text("#define FACTOR 5\n")
    os.utime(header, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert code(build(source)) != code(first)


def test_what_has_changed_just_now_is_read_again(write: Write) -> None:
    """The system's clock may not have moved on before another change."""
    source = write("kernel.c", SUM)
    build(source)
    assert source not in kept._digests


def test_an_edit_taken_back_runs_nothing(write: Write, runs: list[str]) -> None:
    for text in (SUM, SUM.replace("+=", "-="), SUM):
        build(write("kernel.c", text))
    assert runs == ["clang", "ld.lld"] * 2


def test_another_compiler_builds_again(write: Write, runs: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    build(source := write("kernel.c", SUM))
    monkeypatch.setattr(metadata, "version", lambda package: "9.9.9")
    build(source)
    assert runs == ["clang", "ld.lld"] * 2


def test_the_same_text_under_another_name_keeps_its_own_name(write: Write) -> None:
    build(write("one.c", SUM))
    other = build(write("two.c", SUM))
    assert str(other.source_line(other.symbol("kernel").address)) == "two.c:1"


def test_another_working_directory_resolves_flags_anew(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write("kernel.c", '#include "twice.h"\n')
    for place in (tmp_path / "one", tmp_path / "two"):
        place.mkdir()
        (place / "twice.h").write_text("int twice(int x) { return x + x; }\n")
        monkeypatch.chdir(place)
        image = build(source, "-I.")
    line = image.source_line(image.symbol("twice").address)
    assert line == SourceLine(f"{tmp_path}/two/./twice.h", 1)


@pytest.mark.parametrize("suffix", [".s", ".S"])
def test_a_changed_assembler_include_builds_again(write: Write, suffix: str) -> None:
    source = write("kernel" + suffix, '.include "number.inc"\n.text\nkernel: mov w0, #NUMBER\nret\n')
    write("number.inc", ".set NUMBER, 3\n")
    first = build(source)
    write("number.inc", ".set NUMBER, 5\n")
    assert code(build(source)) != code(first)


def test_a_header_saved_while_compiling_is_not_trusted(write: Write, runs: list[str]) -> None:
    later = time.time() + 86_400
    os.utime(write("factor.h", "#define FACTOR 3\n"), (later, later))
    source = write("kernel.c", HEADER_USER)
    build(source)
    build(source)
    assert runs == ["clang", "ld.lld"] * 2


@pytest.mark.parametrize(
    "damage", ["", "{", "{}", "[]", "7", '{"kernel.c": 0}', '{"./k.elf": "0"}', "[" * 9999, "\udc80"]
)
def test_a_damaged_cache_entry_is_built_again(write: Write, cache: Path, damage: str) -> None:
    source = write("kernel.c", SUM)
    first = build(source)
    next(cache.glob("*.json")).write_text(damage, errors="surrogateescape")
    assert build(source) == first


def test_an_entry_that_names_another_file_is_built_again(write: Write, cache: Path) -> None:
    source = write("kernel.c", SUM)
    first = build(source)
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    next(cache.glob("*.json")).write_text(json.dumps({str(source): digest}))
    assert build(source) == first


def test_what_a_killed_process_left_behind_is_removed(write: Write, cache: Path) -> None:
    for name, age in (("tmpold", 7200), ("tmpyoung", 60)):
        (cache / name).mkdir(parents=True)
        (cache / name / "kernel.o").write_bytes(b"half")
        os.utime(cache / name, (time.time() - age,) * 2)
    build(write("kernel.c", SUM))
    assert [left.name for left in cache.glob("tmp*")] == ["tmpyoung"]


def test_a_damaged_program_in_the_cache_is_built_again(write: Write) -> None:
    source = write("kernel.c", SUM)
    first = build(source)
    first.path.write_bytes(first.path.read_bytes()[:100])
    assert build(source) == first


def test_an_emptied_cache_is_built_again(write: Write, cache: Path) -> None:
    source = write("kernel.c", SUM)
    first = build(source)
    shutil.rmtree(cache)
    assert build(source) == first


def test_a_failed_build_leaves_nothing_behind(write: Write, cache: Path) -> None:
    with pytest.raises(ToolchainError):
        build(write("kernel.c", "int kernel() { return y; }\n"))
    assert list(cache.iterdir()) == []


def test_a_cache_entry_lists_what_the_program_was_built_from(write: Write, cache: Path) -> None:
    header, source = write("factor.h", "#define FACTOR 3\n"), write("kernel.c", HEADER_USER)
    image = build(source)
    assert set(json.loads(next(cache.glob("*.json")).read_text())) == {str(image.path), str(source), str(header)}


def test_the_shells_include_paths_are_not_seen(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    write("elsewhere/factor.h", "#define FACTOR 3\n")
    monkeypatch.setenv("CPATH", str(tmp_path / "elsewhere"))
    with pytest.raises(ToolchainError, match=r"'factor.h' file not found"):
        build(write("kernel.c", HEADER_USER))
