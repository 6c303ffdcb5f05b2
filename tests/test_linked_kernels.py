"""Kernels of several files, of files that lack something, and of files that have constructors."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from sim.call.kernel_image import left_out
from sim.machine.memory import PAGE
from sim.toolchain.compilers import build_text
from sim.toolchain.image import Image
from sim.toolchain.objects import open_image
from support.command import lanewise
from support.elf_originals import archived, compiled, linked
from support.sampled import sampled

pytestmark = pytest.mark.usefixtures("nothing_aimed")
KERNEL = """
from pathlib import Path
from sim.kernels import Domain, Kernel, parse_prototype
NAME, SIGNATURE = parse_prototype("void mine(const int8_t a[n], int8_t out[n], size_t n)")
KERNEL = Kernel(name=NAME, symbol=NAME, sources=(Path("SOURCE"),), signature=SIGNATURE,
                golden=lambda inputs: {"out": (inputs["a"] >> 1).astype("int8")}, MORE)
"""
CALLS = """
#include <stddef.h>
#include <stdint.h>
int8_t half(int8_t);
void logger(const char *, int);
void mine(const int8_t *a, int8_t *out, size_t n) {
    if (n > LIMIT) logger("long", 1);
    for (size_t i = 0; i < n; i++) out[i] = half(a[i]);
}
"""
HALF = "#include <stdint.h>\nint8_t half(int8_t a) { return a >> 1; }\n"
STATIC = """
#include <cstddef>
#include <cstdint>
static int shift() { return 1; }
struct Settings { int by; Settings() : by(shift()) {} };
static Settings settings __attribute__((init_priority(200)));
int volatile chosen = 0;
static int also = (chosen = settings.by);
extern "C" void mine(const int8_t *a, int8_t *out, size_t n) { for (size_t i = 0; i < n; i++) out[i] = a[i] >> chosen; }
"""
QUICK = ("--opt", "O1", "--vectors", "20", "--json")


def kernel_file(folder: Path, source: str, text: str, more: str = "") -> Path:
    (folder / source).write_text(text)
    (folder / "mine.py").write_text(KERNEL.replace("SOURCE", source).replace("MORE", more))
    return folder / "mine.py"


def checked(*arguments: object) -> tuple[int, dict[str, object]]:
    """The exit code and the JSON of `lanewise check`."""
    done = lanewise("check", *arguments, *QUICK)
    return done.exit_code, json.loads(done.stdout)


def builds(report: dict[str, object]) -> list[dict[str, object]]:
    found = report["implementations"]
    assert isinstance(found, list)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("kind", sampled(["source", "object", "library"], 3))
def test_what_a_kernel_needs_besides_is_linked_with_it(tmp_path: Path, kind: str) -> None:
    made = compiled(tmp_path, "half.c", HALF)
    name = {"source": "half.c", "object": made.name, "library": archived(tmp_path, "half.a", made).name}[kind]
    kernel = kernel_file(tmp_path, "mine.c", CALLS.replace("LIMIT", "1000000"), f'with_sources=(Path("{name}"),)')
    code, report = checked(kernel)
    assert (code, report["passed"]) == (0, True)
    assert [each["left_out"] for each in builds(report)] == [["no call reached what nothing here defines: logger"]]


@pytest.mark.slow
def test_the_command_links_with_it_too_and_says_so_in_what_repeats_it(tmp_path: Path) -> None:
    kernel = kernel_file(tmp_path, "mine.c", CALLS.replace("LIMIT", "1000000"))
    (tmp_path / "half.c").write_text(HALF)
    code, report = checked(kernel, "--with", tmp_path / "half.c")
    assert (code, f"--with {tmp_path / 'half.c'}" in str(report["reproduce"])) == (0, True)


@pytest.mark.parametrize(("limit", "name", "line"), [("1000000", "half", 8), ("0", "logger", 7)])
def test_what_nothing_defines_is_named_with_the_call_that_reaches_it(
    tmp_path: Path, limit: str, name: str, line: int
) -> None:
    code, report = checked(kernel_file(tmp_path, "mine.c", CALLS.replace("LIMIT", limit)))
    said = str(report["first_divergence"])
    assert name not in str(builds(report)[0]["left_out"])
    assert (code, f"(mine.c:{line}) calls '{name}', which nothing here defines: give the file" in said) == (1, True)


def test_a_table_that_nothing_defines_is_named_where_it_is_read(tmp_path: Path) -> None:
    text = "#include <stddef.h>\n#include <stdint.h>\nextern const int8_t table[];\n"
    text += (
        "void mine(const int8_t *a, int8_t *out, size_t n) { for (size_t i = 0; i < n; i++) out[i] = table[a[i] & 7]; }"
    )
    code, report = checked(kernel_file(tmp_path, "mine.c", text), "--cflags", "-fno-vectorize")
    assert (code, "(mine.c:4) reads 'table', which nothing here defines" in str(report["first_divergence"])) == (
        1,
        True,
    )


@pytest.mark.slow
@pytest.mark.usefixtures("verdict_alone")
def test_constructors_that_were_not_run_are_told_and_run_when_asked(tmp_path: Path) -> None:
    kernel = kernel_file(tmp_path, "mine.cpp", STATIC)
    code, report = checked(kernel)
    assert (code, "were not run" in str(builds(report)[0]["left_out"])) == (1, True)
    code, report = checked(kernel, "--constructors")
    assert (code, builds(report)[0]["left_out"]) == (0, [])
    assert " --constructors" in str(report["reproduce"])


PRINTS = """
#include <cstddef>
#include <cstdint>
#include <iostream>
void debug(int n) { std::cout << "n is " << n << std::endl; }
extern "C" void mine(const int8_t *a, int8_t *out, size_t n) {
    if (n > LIMIT) debug(n);
    for (size_t i = 0; i < n; i++) out[i] = a[i] >> 1;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(("limit", "code"), [("1000000", 0), ("0", 1)])
def test_a_file_that_prints_is_refused_only_where_the_kernel_does(tmp_path: Path, limit: str, code: int) -> None:
    done, report = checked(kernel_file(tmp_path, "mine.cpp", PRINTS.replace("LIMIT", limit)))
    reached = "calls '_ZNSt3__113basic_ostreamIcNS_11char_traitsIcEEE6sentryC1ERS3_', which nothing here defines"
    assert (done, reached in str(report["first_divergence"])) == (code, bool(code))


PADDED = """
#include <arm_neon.h>
#include <stddef.h>
struct params { int32_t zero; int8_t bounds[2]; };
void mine(const int8_t *a, const int8_t *weights, int8_t *out, size_t n, const struct params *p) {
    if ((size_t)weights % 16) __builtin_trap();
    for (size_t i = 0; i < n; i += 8) {
        int8x8_t sum = vqadd_s8(vld1_s8(a + i), vld1_s8(weights + 2 * i));
        sum = vmin_s8(vmax_s8(vqadd_s8(sum, vdup_n_s8(p->zero)), vdup_n_s8(p->bounds[0])), vdup_n_s8(p->bounds[1]));
        int8_t lanes[8];
        vst1_s8(lanes, sum);
        for (size_t k = 0; k < 8 && i + k < n; k++) out[i + k] = lanes[k];
    }
}
"""
PADDED_KERNEL = """
from pathlib import Path
import numpy as np
from sim.kernels import Domain, Kernel, parse_prototype

def golden(inputs):
    n, p = len(inputs["a"]), inputs["p"]
    weights = inputs["weights"].reshape(-1, 16)[:, :8].reshape(-1)[:n].astype(int)
    total = np.clip(np.clip(inputs["a"] + weights, -128, 127) + p["zero"], -128, 127)
    low, high = p["bounds"]
    return {"out": np.minimum(np.maximum(total, low), high).astype(np.int8)}

NAME, SIGNATURE = parse_prototype(
    "void mine(const int8_t a[n] OVER, const int8_t weights[(n + 7) / 8 * 16] aligned(16), int8_t out[n], size_t n,"
    " const struct { int32_t zero; int8_t bounds[2]; } *p)"
)
KERNEL = Kernel(name=NAME, symbol=NAME, sources=(Path("mine.c"),), signature=SIGNATURE, golden=golden,
                domain={"p.zero": Domain(-20, 20)})
"""


@pytest.mark.slow
@pytest.mark.parametrize(("over", "passes"), [("over_read(7)", True), ("over_read(6)", False)])
def test_a_kernel_with_computed_extents_alignment_and_parameters_behind_a_pointer(
    tmp_path: Path, over: str, passes: bool
) -> None:
    (tmp_path / "mine.c").write_text(PADDED)
    (tmp_path / "mine.py").write_text(PADDED_KERNEL.replace("OVER", over))
    code, report = checked(tmp_path / "mine.py")
    assert (code, report["passed"]) == (not passes, passes), report["first_divergence"]
    assert passes or "and 6 more declared); if it is meant: over_read(7) on 'a'" in str(report["first_divergence"])


@pytest.mark.slow
@pytest.mark.usefixtures("verdict_alone")
def test_a_wrong_field_behind_the_pointer_is_found(tmp_path: Path) -> None:
    (tmp_path / "mine.c").write_text(PADDED.replace("p->bounds[0]", "p->bounds[1]"))
    (tmp_path / "mine.py").write_text(PADDED_KERNEL.replace("OVER", "over_read(7)"))
    code, report = checked(tmp_path / "mine.py")
    assert (code, report["passed"]) == (1, False)


@pytest.mark.slow
def test_flags_that_all_builds_have_are_printed_once_and_leave_the_table_its_columns(tmp_path: Path) -> None:
    kernel = kernel_file(tmp_path, "mine.c", HALF + CALLS.replace("int8_t half(int8_t);", "").replace("LIMIT", "99999"))
    printed = lanewise("check", kernel, "--opt", "O1,O2", "--vectors", "20", "--cflags", f"-DLONG={'1' * 60}").stdout
    rows = [line.split() for line in printed.splitlines() if line.startswith(" mine")]
    assert [(row[0], row[1], row[-1]) for row in rows] == [
        ("mine", "lanes", "golden?"),
        ("mine.c", "-O1", "agrees"),
        ("mine.c", "-O2", "agrees"),
    ]
    assert printed.count("-DLONG") == 2  # among the flags, and in the command that repeats it


def test_what_a_kernel_needs_besides_is_linked_for_a_proof_too(tmp_path: Path) -> None:
    (tmp_path / "half.c").write_text(HALF)
    kernel = kernel_file(tmp_path, "mine.c", CALLS.replace("LIMIT", "1000000"), 'with_sources=(Path("half.c"),)')
    done = lanewise("prove", kernel, "--lengths", "0..3", "--json")
    assert (done.exit_code, json.loads(done.stdout)["outcome"]) == (0, "proved"), done.stdout


PAGED = """
static const int table[4] = {1, 2, 3, 4};
int counter = 7;
int kernel(int a) { counter += table[a & 3]; return counter; }
"""


def test_segments_may_share_a_page(tmp_path: Path) -> None:
    made = compiled(tmp_path, "paged.c", PAGED, "-O1")
    program = linked(tmp_path, "paged.elf", made, flags=("-z", "max-page-size=64", "-z", "separate-loadable-segments"))
    pages = [segment.address // PAGE for segment in Image.read(program).segments]
    done = lanewise("run", program, "int kernel(int a)", "2", "--json")
    assert len(set(pages)) < len(pages)
    assert json.loads(done.stdout)["outputs"]["returned"] == 10


def test_what_one_of_them_may_not_is_a_finding_on_a_shared_page_too(tmp_path: Path) -> None:
    text = "int counter = 7; int kernel(int a) { *(volatile int *)&kernel = a; return counter; }\n"
    made = compiled(tmp_path, "paged.c", text, "-O1")
    program = linked(tmp_path, "paged.elf", made, flags=("-z", "max-page-size=64", "-z", "separate-loadable-segments"))
    done = lanewise("run", program, "int kernel(int a)", "2")
    assert (done.exit_code, "writes 4 bytes at" in done.stderr) == (1, True)


TAKES = "#include <stdint.h>\nextern volatile int bias;\nvoid mine(const int8_t *a, int8_t *out, unsigned long n)\n"
TAKES += "{ for (unsigned long i = 0; i < n; i++) out[i] = (a[i] >> 1) + (i > LIMIT ? bias : 0); }\n"


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["lockstep", "machine"])
def test_a_variable_whose_content_is_elsewhere_is_refused_where_it_is_read(tmp_path: Path, engine: str) -> None:
    library = linked(
        tmp_path, "libbias.so", compiled(tmp_path, "bias.c", "int bias = 5;\n", "-fPIC"), flags=("-shared",)
    )
    for limit, code in (("1000000", 0), ("0", 1)):
        made = compiled(tmp_path, "takes.c", TAKES.replace("LIMIT", limit), "-O1", "-fno-pic")
        program = linked(tmp_path, "takes.elf", made, library, flags=("-e", "mine"))
        assert list(open_image(program, "mine").unfilled) == ["bias"]
        kernel = kernel_file(tmp_path, "unused.c", "")
        done = lanewise("check", kernel, "--object", program, "--engine", engine, "--vectors", "20")
        assert (done.exit_code, "reads 'bias', which nothing here defines" in done.stdout) == (code, bool(code))
    command = ("capture", kernel, tmp_path / "c.jsonl", "--object", program, "--vectors", "0")
    done = lanewise(*command)
    assert (done.exit_code, "reads 'bias', which nothing here defines" in done.stderr) == (1, True)
    prototype = "void mine(const int8_t a[n], int8_t out[n], size_t n)"
    done = lanewise("cycles", program, prototype, "1,2,3", "zeros:3", "3")
    assert (done.exit_code, "reads 'bias', which nothing here defines" in done.stderr) == (1, True)
    done = lanewise("prove", kernel, "--source", program, "--lengths", "3")
    assert (done.exit_code, "reads 'bias', which nothing here defines" in done.stdout) == (3, True)


@pytest.mark.parametrize(("count", "end"), [(6, "6"), (7, "6, ...")])
def test_of_constructors_that_were_not_run_six_lines_are_told_each_once(count: int, end: str) -> None:
    image = build_text("\n".join(f"int f{number}(void) {{ return {number}; }}" for number in range(count)), ".c")
    functions = [image.symbol(f"f{number}").address for number in range(count)]
    (said,) = left_out(replace(image, constructors=(functions[0], *functions)))
    told = said.partition(" were not run (")[2].partition("): ")[0]
    places = [str(place).rpartition(":")[2] for place in told.split(", ")]
    assert (said.split()[0], ", ".join(places)) == (str(count + 1), f"1, 2, 3, 4, 5, {end}")


@pytest.mark.parametrize(("count", "end"), [(6, "s5"), (7, "s5, ...")])
def test_of_what_nothing_defines_six_names_are_told(count: int, end: str) -> None:
    calls = [f"int s{number}(void); " for number in range(count)]
    text = "".join(calls) + "int f(void) { return " + " + ".join(f"s{n}()" for n in range(count)) + "; }\n"
    (said,) = left_out(build_text(text, ".c"))
    assert said == f"no call reached what nothing here defines: s0, s1, s2, s3, s4, {end}"
