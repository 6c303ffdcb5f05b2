"""Building sources: flags, base, languages, and what an error says."""

import ctypes
import errno
import hashlib
import os
import pwd
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import metadata, util
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import pytest

from sim.toolchain import compilers as toolchain
from sim.toolchain import tools
from sim.toolchain.compilers import build, build_text
from sim.toolchain.host import host_library
from sim.toolchain.tools import CacheUnusable, ToolchainError, ToolchainUnavailable, ToolMissing
from support.sampled import sampled
from support.sources import SUM, Write, code

pytestmark = pytest.mark.usefixtures("cache")


def answering(monkeypatch: pytest.MonkeyPatch, status: int, stderr: str) -> None:
    """Every tool ends with the status and the message."""
    answer = subprocess.CompletedProcess([""], status, "", stderr)
    monkeypatch.setattr(subprocess, "run", lambda *command, **options: answer)


@pytest.fixture
def fresh_version() -> Iterator[None]:
    """The version is asked again, and not remembered."""
    toolchain.compiler_version.cache_clear()
    yield
    toolchain.compiler_version.cache_clear()


def test_optimisation_levels_give_different_code(write: Write) -> None:
    source = write("kernel.c", SUM)
    assert code(build(source, "-O0")) != code(build(source, "-O2"))


def test_a_flag_overrides_a_default(write: Write) -> None:
    source = write("kernel.c", "float kernel(float a, float b, float c) { return a * b + c; }\n")
    assert code(build(source, "-O2", "-ffp-contract=on")) != code(build(source, "-O2"))


def test_neon_intrinsics_compile(write: Write) -> None:
    text = "#include <arm_neon.h>\nint32x4_t kernel(int32x4_t a) { return vqaddq_s32(a, a); }\n"
    assert code(build(write("kernel.c", text), "-O1")) == bytes.fromhex("000ca04ec0035fd6")


@pytest.mark.parametrize("suffix", [".cc", ".cpp", ".cxx"])
def test_cplusplus_builds_without_its_runtime(write: Write, suffix: str) -> None:
    text = 'struct V { virtual int m() { return 1; } }; V v;\nextern "C" int kernel(V *p) { return p->m(); }\n'
    assert code(build(write("kernel" + suffix, text)))


@pytest.mark.parametrize("suffix", [".s", ".S"])
def test_assembly_builds(write: Write, suffix: str) -> None:
    assert code(build(write("kernel" + suffix, ".text\nkernel: ret\n"))).startswith(bytes.fromhex("c0035fd6"))


@pytest.mark.parametrize("base", [0, 0x10000, 0x7F_FFFF_F000])
def test_the_program_begins_at_the_base(write: Write, base: int) -> None:
    assert build(write("kernel.c", SUM), base=base).segments[0].address == base


@pytest.mark.parametrize("base", [0x10010, -4096, 1 << 48])
def test_a_base_that_is_no_page_is_refused(write: Write, base: int) -> None:
    with pytest.raises(ToolchainError, match="multiple of 4096"):
        build(write("kernel.c", SUM), base=base)


@pytest.mark.parametrize("code_model", ["-fno-pic", "-fPIC"])
def test_every_segment_begins_on_a_page(write: Write, code_model: str) -> None:
    image = build(write("kernel.c", "int a = 1;\nint *const b[] = {&a};\n" + SUM), code_model)
    assert [(s.address % 4096, s.permissions) for s in image.segments] == [(0, "r"), (0, "rx"), (0, "rw")]


def test_a_constant_table_of_addresses_is_read_only(write: Write) -> None:
    image = build(write("kernel.c", "int a = 1;\nint *const table[] = {&a};\n"))
    constants = image.segments[0]
    assert constants.address <= image.symbol("table").address < constants.address + constants.size


def test_a_source_whose_name_looks_like_a_flag_builds(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("-kernel.c", SUM)
    monkeypatch.chdir(tmp_path)
    assert code(build(Path("-kernel.c")))


def test_the_compiler_names_its_version() -> None:
    assert re.fullmatch(r"clang \d+\.\d+\.\d+ \(ziglang \d+\.\d+\.\d+\)", toolchain.compiler_version())


@pytest.mark.parametrize(
    ("status", "stderr", "reason"),
    [
        (1, "Traceback:\n  main()\nFileNotFoundError: zig\n", "does not run: FileNotFoundError: zig; run: pip"),
        (-11, "", "it ended with status -11"),
        (0, "", "it ended with status 0"),
    ],
)
@pytest.mark.usefixtures("fresh_version")
def test_a_compiler_that_does_not_run_is_the_environments_fault(
    monkeypatch: pytest.MonkeyPatch, status: int, stderr: str, reason: str
) -> None:
    answering(monkeypatch, status, stderr)
    with pytest.raises(ToolchainUnavailable, match=reason) as refused:
        toolchain.compiler_version()
    assert "\n" not in str(refused.value)


def test_a_compiler_without_its_metadata_says_what_to_install(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(package: str) -> str:
        raise metadata.PackageNotFoundError(package)

    monkeypatch.setattr(metadata, "version", unknown)
    with pytest.raises(ToolMissing, match="pip install --force-reinstall ziglang"):
        build(write("kernel.c", SUM))


@pytest.mark.parametrize("suffix", [".c", ".cpp"])
def test_the_compiler_is_given_the_fixed_flags(write: Write, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []
    original = subprocess.run

    def noted(command: list[str], **options: Any) -> Any:
        commands.append(command)
        return original(command, **options)

    monkeypatch.setattr(subprocess, "run", noted)
    build(source := write("kernel" + suffix, SUM), "-O1")
    given = commands[0][commands[0].index("clang") + 1 : commands[0].index("-O1")]
    silent = {"-c", "-Qunused-arguments", "-isystem"}
    shown = [word for word in given if word[0] == "-" and word not in silent and not word.startswith("-D_LIBCPP")]
    assert shown == list(toolchain.fixed_flags(source))


@pytest.mark.slow
def test_headers_of_the_cpp_library_are_there(write: Write) -> None:
    text = "#include <algorithm>\n#include <array>\n#include <cstdint>\n#include <limits>\n"
    body = "std::array<std::int8_t, 2> a{3, 4}; return std::max(a[0], a[1]) + std::numeric_limits<std::int8_t>::max();"
    assert build(write("kernel.cpp", text + f'extern "C" int f() {{ {body} }}\n'), "-O2").code_of("f")


def test_nothing_compiled_has_no_flags() -> None:
    assert toolchain.fixed_flags() == ()


def test_a_text_builds_as_its_file_does(write: Write) -> None:
    assert code(build_text(SUM, ".c", "-O2")) == code(build(write("kernel.c", SUM), "-O2"))


def test_a_text_of_assembly_builds_at_a_base() -> None:
    image = build_text(".text\nkernel: ret\n", ".s", base=0x40_0000)
    assert (code(image)[:4], image.segments[0].address) == (bytes.fromhex("c0035fd6"), 0x40_0000)


def test_a_text_is_kept_under_its_digest(cache: Path) -> None:
    build_text(SUM, ".c")
    digest = hashlib.sha256(SUM.encode()).hexdigest()[:16]
    assert (
        [file.read_text() for file in cache.glob("source-*")] == [(cache / f"source-{digest}.c").read_text()] == [SUM]
    )


def test_the_same_text_runs_nothing(runs: list[str]) -> None:
    for _ in range(2):
        build_text(SUM, ".c", "-O2")
    assert runs == ["clang", "ld.lld"]


def test_a_kept_text_that_was_damaged_is_written_again(cache: Path) -> None:
    first = build_text(SUM, ".c")
    next(cache.glob("source-*")).write_text("damaged")
    assert build_text(SUM, ".c") == first


@pytest.mark.parametrize("suffix", ["c", "", ".rs", "/../kernel.c"])
def test_a_text_in_no_known_language_leaves_nothing_behind(cache: Path, suffix: str) -> None:
    with pytest.raises(ToolchainError, match="cannot build the text: its suffix must be one of"):
        build_text(SUM, suffix)
    assert not cache.exists()


def test_a_text_that_does_not_compile_carries_the_compilers_message() -> None:
    with pytest.raises(ToolchainError, match=r"source-[0-9a-f]{16}\.c:1:23: error: use of undeclared"):
        build_text("int kernel() { return y; }\n", ".c")


def test_a_text_that_is_no_unicode_is_refused_by_the_compiler() -> None:
    with pytest.raises(ToolchainError, match="error: "):
        build_text("int kernel\udc80() { return 0; }\n", ".c")


def test_a_text_that_cannot_be_kept_says_what_to_set(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANEWISE_CACHE", str(write("file", "")))
    with pytest.raises(CacheUnusable, match="set LANEWISE_CACHE"):
        build_text(SUM, ".c")


def test_a_compile_error_carries_the_compilers_message(write: Write) -> None:
    with pytest.raises(ToolchainError, match=r"kernel.c:1:23: error: use of undeclared identifier 'y'"):
        build(write("kernel.c", "int kernel() { return y; }\n"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("signature", "call"),
    sampled(
        [
            ("int32x4_t kernel(int32x4_t a, int8x16_t b)", "vdotq_s32(a, b, b)"),
            ("int32x4_t kernel(int32x4_t a, int32x4_t b)", "vqrdmlahq_s32(a, b, b)"),
            ("float16x8_t kernel(float16x8_t a)", "vaddq_f16(a, a)"),
            ("float32x4_t kernel(float32x4_t a, float16x8_t b)", "vfmlalq_low_f16(a, b, b)"),
            ("float32x4_t kernel(float32x4_t a)", "vcaddq_rot90_f32(a, a)"),
            ("int32x4_t kernel(int32x4_t a, int8x16_t b)", "vmmlaq_s32(a, b, b)"),
            ("float32x4_t kernel(float32x4_t a, bfloat16x8_t b)", "vbfdotq_f32(a, b, b)"),
            ("int32x4_t kernel(int32x4_t a, int8x16_t b)", "vdotq_s32(vmmlaq_s32(a, b, b), b, b)"),
        ],
        3,
    ),
)
def test_the_flag_named_for_a_missing_feature_builds_the_kernel(write: Write, signature: str, call: str) -> None:
    source = write("kernel.c", f"#include <arm_neon.h>\n{signature} {{ return {call}; }}\n")
    with pytest.raises(ToolchainError) as refused:
        build(source)
    flag = str(refused.value).split("add the flag ")[1].split("\n")[0]
    assert code(build(source, flag))


def test_a_missing_feature_in_assembly_names_its_flag(write: Write) -> None:
    with pytest.raises(ToolchainError, match=r"add the flag -march=armv8.2-a\+dotprod\n"):
        build(write("kernel.s", "kernel: sdot v0.4s, v1.16b, v2.16b\n"))


def test_an_error_in_assembly_is_not_buried_in_warnings(write: Write) -> None:
    with pytest.raises(ToolchainError) as refused:
        build(write("kernel.s", "kernel: frobnicate x0\n"))
    assert "warning" not in str(refused.value)


def test_undefined_symbols_are_all_named(write: Write) -> None:
    names = [f"missing_{index}" for index in range(30)]
    text = "".join(f"int {name}(void);\n" for name in names)
    image = build(write("kernel.c", text + f"int kernel(void) {{ return {'() + '.join(names)}(); }}\n"))
    assert sorted(image.missing) == sorted(names)
    assert len(set(image.missing.values())) == len(names)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("absent.c", "cannot read .*absent.c: No such file"),
        ("folder.c", "cannot read .*folder.c: Is a directory"),
        ("kernel.rs", "its suffix must be one of"),
    ],
)
def test_a_path_that_is_no_source_is_refused(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "folder.c").mkdir()
    with pytest.raises(ToolchainError, match=message):
        build(tmp_path / name)


def test_a_missing_compiler_says_what_to_install(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(util, "find_spec", lambda name: None)
    with pytest.raises(ToolMissing, match="pip install ziglang"):
        build(write("kernel.c", SUM))


@pytest.mark.parametrize("place", ["/proc/nope", "file", "file/below"])
def test_a_cache_that_cannot_be_made_says_what_to_set(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    write("file", "")
    monkeypatch.setenv("LANEWISE_CACHE", str(tmp_path / place))
    with pytest.raises(CacheUnusable, match="set LANEWISE_CACHE"):
        build(write("kernel.c", SUM))


@pytest.mark.parametrize(
    "message",
    [
        "error: unable to open output file '/cache/kernel.o': 'No space left on device'\n1 error generated.\n",
        "ld.lld: warning: no entry\nLLVM ERROR: IO failure on output stream: No space left on device\n",
        "ld.lld: error: failed to open kernel.elf: File too large\n",
    ],
)
def test_a_full_disk_is_the_caches_fault(write: Write, monkeypatch: pytest.MonkeyPatch, message: str) -> None:
    answering(monkeypatch, 1, message)
    with pytest.raises(CacheUnusable, match="free space there or set LANEWISE_CACHE") as refused:
        build(write("kernel.c", SUM))
    assert "\n" not in str(refused.value)


def test_a_source_that_speaks_of_a_full_disk_is_at_fault_itself(write: Write) -> None:
    with pytest.raises(ToolchainError) as refused:
        build(write("kernel.c", f"#error {os.strerror(errno.ENOSPC)}\n"))
    assert not isinstance(refused.value, ToolchainUnavailable)


def test_a_tool_stopped_without_a_word_is_the_environments_fault(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, -9, "")
    with pytest.raises(ToolchainUnavailable, match="clang was stopped by signal 9: free memory"):
        build(write("kernel.c", SUM))


def test_a_compiler_that_is_not_where_its_package_is_is_the_environments_fault(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = ModuleSpec("ziglang", None, origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr(util, "find_spec", lambda name: package)
    with pytest.raises(ToolchainUnavailable, match=rf"cannot run clang: .*{tmp_path}/zig"):
        build(write("kernel.c", SUM))


def test_a_user_without_a_home_is_told_to_set_the_cache(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(uid: int) -> None:
        raise KeyError(uid)

    for name in ("LANEWISE_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    with pytest.raises(CacheUnusable, match=r"no home directory is known.*set LANEWISE_CACHE"):
        build(write("kernel.c", SUM))


def test_rounding_and_atomics_need_no_library(cache: Path, write: Write) -> None:
    rounding = "#include <math.h>\nlong f(float x) { return lrintf(sqrtf(x)); }"
    atomics = "int g(int *p) { return __atomic_fetch_add(p, 1, 5); }"
    assert {"f", "g"} <= set(build(write("k.c", f"{rounding}\n{atomics}"), "-O2").symbols)


TWICE = "#include <stdint.h>\nuint64_t twice(uint64_t a) { return 2 * a; }\n"


def test_a_library_for_this_computer_runs() -> None:
    assert ctypes.CDLL(str(host_library(TWICE))).twice(21) == 42


def test_without_a_compiler_of_the_system_a_library_is_made_by_that_of_the_package(
    runs: list[str], without: Callable[..., None]
) -> None:
    without("cc")
    library = host_library(TWICE)
    assert (ctypes.CDLL(str(library)).twice(21), runs) == (42, ["clang", "ld.lld"])


def test_a_library_is_kept_by_text_and_flags(monkeypatch: pytest.MonkeyPatch) -> None:
    first = host_library(TWICE)
    other = host_library(TWICE, "-DOTHER=1", "-fno-inline")
    changed = host_library(TWICE.replace("2 * a", "3 * a"))
    monkeypatch.setattr(subprocess, "run", None)
    assert (host_library(TWICE), ctypes.CDLL(str(changed)).twice(21)) == (first, 63)
    assert host_library(TWICE, "-DOTHER=1", "-fno-inline") == other


def test_a_library_that_does_not_compile_is_the_texts_fault() -> None:
    with pytest.raises(ToolchainError, match=r"mend what the tool reports\n(?s:.*)library\.c"):
        host_library("int twice(")


def test_a_compiler_that_does_not_end_is_stopped_with_all_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waits for somebody who writes what it includes."""
    os.mkfifo(tmp_path / "endless.h")
    (tmp_path / "kernel.c").write_text('#include "endless.h"\n')
    monkeypatch.setattr(tools, "LONGEST", 0.5)
    with pytest.raises(
        ToolchainUnavailable, match=r"clang does not end: it was stopped after 0\.5 s; give it less"
    ) as told:
        build(tmp_path / "kernel.c", "-O1")
    assert told.value.exit_code == 3
    left = []
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # one that has ended since
            left += [command] if os.fsencode(tmp_path) in command.read_bytes() else []
    assert left == []
