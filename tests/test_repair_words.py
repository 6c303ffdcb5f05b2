"""What a repair is told with: variables by their names, branches by the line they go to, functions and their calls."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from sim.check.check import Job
from sim.check.repair.fault import FaultLines
from sim.check.repair.place import find_fault
from sim.check.vectors import make_vectors
from sim.kernels import Domain, Kernel, parse_prototype
from sim.machine.machine import Machine
from sim.toolchain.branches import is_before_loop, with_targets
from sim.toolchain.compilers import build, build_text
from sim.toolchain.dwarf.stack_variables import stack_variables
from sim.toolchain.image import Image
from sim.toolchain.starting import map_image
from support.command import lanewise
from support.elf_originals import compiled
from support.sampled import sampled

pytestmark = pytest.mark.usefixtures("cache")

GCC = "aarch64-linux-gnu-gcc"
SOURCE = """#include <stdint.h>
static int32_t scaled(int32_t value, int32_t multiplier) {
    int32_t wide = value * multiplier;
    return wide >> 2;
}
static int32_t bounded(int32_t value, int32_t low) {
    if (value < low)
        return low;
    return value;
}
void kernel(const int32_t *a, int32_t *out, int n, int32_t low) {
    for (int i = 0; i < n; i++) {
        int32_t more = a[i] + 3;
        out[i] = bounded(scaled(more, 5), low);
    }
}
"""


def fault_of(right: str, wrong: str, folder: Path, source: str = SOURCE, gcc: bool = False) -> str:
    """What is said of the kernel with a mistake in it, of a source or of what GCC made of it."""
    assert source.count(right) == 1
    (folder / "k.c").write_text(source.replace(right, wrong))
    name, signature = parse_prototype("void kernel(const int32_t a[n], int32_t out[n], int n, int32_t low)")
    kernel = Kernel(
        name=name, symbol=name, sources=(folder / "k.c",), signature=signature,
        domain={"a": Domain(-900, 900), "low": Domain(-100, 100), "n": Domain(0, 40)},
        golden=lambda i: {"out": np.maximum(((i["a"] + 3) * 5) >> 2, i["low"]).astype(np.int32)},
    )  # fmt: skip
    job = Job(kernel.sources[0], ("-O2",))
    if gcc:
        subprocess.run([GCC, "-O0", "-g", "-c", "k.c"], cwd=folder, check=True)
        job = Job(folder / "k.o", ())
    return str(find_fault(kernel, job, make_vectors(kernel, 300, seed=1)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    sampled([
        (
            "value * multiplier", "value + multiplier",
            "fault among k.c:3 (in scaled), k.c:14 (calls scaled): every lane is right with add w8, w8, w9 as "
            "mul w8, w8, w9 (w8 is value, w9 is multiplier, it makes wide), compiled at -O0",
        ),
        (
            "value < low", "value > low",
            "fault among k.c:7 (in bounded), k.c:14 (calls bounded): every lane is right with b.le k.c:9 as b.gt k.c:9"
            ", compiled at -O0",
        ),
        (
            "return value;", "return low;",
            "fault among k.c:9 (in bounded), k.c:14 (calls bounded): every lane is right with ldr w8, [sp, #4] with "
            "value (set at k.c:6) ([sp, #4] is low), compiled at -O0",
        ),
        (
            "a[i] + 3", "a[i] + 4",
            "fault at k.c:13: every lane is right with add w8, w8, #4 as add w8, w8, #3 (it makes more), "
            "compiled at -O0",
        ),
        (
            "i < n", "i < n - 1",
            "fault at k.c:12: every lane is right with subs w9, w9, #1 as subs w9, w9, #0 (w9 is n), compiled at -O0",
        ),
    ], 3),
)  # fmt: skip
def test_a_repair_names_variables_lines_and_functions(right: str, wrong: str, told: str, tmp_path: Path) -> None:
    assert fault_of(right, wrong, tmp_path) == told


@pytest.mark.slow
def test_variables_of_a_large_frame_have_their_names(tmp_path: Path) -> None:
    """Its frame pointer is laid out before it has room for its variables."""
    large = SOURCE.replace("int32_t wide =", "volatile int64_t room[200]; room[value & 127] = 1; int32_t wide =")
    called = large.replace("return wide >> 2;", "return bounded(wide, wide) >> 2;")
    source = called.replace("static int32_t scaled", "static int32_t bounded(int32_t, int32_t);\nstatic int32_t scaled")
    (tmp_path / "k.c").write_text(source)
    assert "sub sp, sp, #" in texts_of(build(tmp_path / "k.c", "-O0"), "scaled")
    told = fault_of("value * multiplier", "value + multiplier", tmp_path, source)
    assert "as mul w8, w8, w9 (w8 is value, w9 is multiplier, it makes wide)" in told


@pytest.mark.slow
@pytest.mark.skipif(shutil.which(GCC) is None, reason=f"{GCC} is not installed")
def test_a_repair_of_what_gcc_compiled_names_variables(tmp_path: Path) -> None:
    """It counts them from where the stack pointer was at the call."""
    told = fault_of("value * multiplier", "value + multiplier", tmp_path, gcc=True)
    assert re.search(r"every lane is right with add w\d, w\d, w\d as mul", told)
    assert sorted(re.findall(r"w\d is (\w+)", told)) == ["multiplier", "value"]
    assert "it makes wide" in told


def texts_of(image: Image, symbol: str) -> str:
    machine = Machine()
    map_image(machine.memory, image)
    start = image.symbol(symbol).address
    return "; ".join(machine.disassembly_at(start + at) for at in range(0, len(image.code_of(symbol)), 4))


BLOCKS = """int f(int *a, long b) {
    int first = 1;
    { int inner = 2; first += inner; }
    { int inner = 3; first += inner + *a + (int)b; }
    return first;
}
"""


def test_variables_have_places_in_their_function() -> None:
    image = build_text(BLOCKS, ".c", "-O0", "-g")
    start = image.symbol("f").address
    found = stack_variables(image)
    assert {each.function for each in found} == {start}
    assert sorted(each.name for each in found) == ["a", "b", "first", "inner", "inner"]
    assert len({each[2:] for each in found}) == 5
    assert stack_variables(build_text(BLOCKS, ".c", "-O0", "-g0")) == []


def test_a_branch_is_told_by_where_it_goes(tmp_path: Path) -> None:
    (tmp_path / "k.c").write_text(SOURCE)
    image = build(tmp_path / "k.c", "-O0")
    start = image.symbol("bounded").address
    line = next(at for at, _, told in image.lines if str(told) == "k.c:9")
    for text, told in {
        f"bl #{start:#x}": "bl bounded",
        f"b.hs #{line:#x} as b.lo #{line:#x}": "b.hs k.c:9 as b.lo k.c:9",
        f"cbz w0, #{line:#x}": "cbz w0, k.c:9",
        f"tbnz x3, #0x2a, #{line:#x}": "tbnz x3, #0x2a, k.c:9",
        f"add x0, x0, #{line:#x}": f"add x0, x0, #{line:#x}",
        f"bic w0, w0, #{line:#x}": f"bic w0, w0, #{line:#x}",
        "b #0x10": "b 0x10",
    }.items():
        assert with_targets(text, image) == told
    stripped = build_text(SOURCE, ".c", "-O0", "-g0")
    assert with_targets(f"b #{stripped.symbol('bounded').address + 8:#x}", stripped) == "b bounded+0x8"


def test_of_faults_on_several_lines_it_is_said_which_calls_which() -> None:
    fault = FaultLines(lines=("k.h:3", "k.c:9"), repairs=("add as sub",), roles=("in f", "calls f"))
    assert str(fault) == "fault among k.h:3 (in f), k.c:9 (calls f): every lane is right with add as sub"


HOISTED = """#include <stdint.h>
void kernel(const int32_t *a, int32_t *restrict out, int n, const int32_t *restrict scale) {
    for (int i = 0; i < n; i++) {
        int32_t by = scale[1] * 3 + 7;
        out[i] = a[i] * by;
    }
}
"""
IN_FRONT = "in front of the loop there, where optimizers put what its lines compute once"


def test_what_a_loop_computes_once_stands_in_front_of_it(tmp_path: Path) -> None:
    (tmp_path / "h.c").write_text(HOISTED)
    for level, some in (("-O0", False), ("-O2", True)):
        image = build(tmp_path / "h.c", level)
        start = image.symbol("kernel").address
        addresses = range(start, start + len(image.code_of("kernel")), 4)
        before = [at for at in addresses if is_before_loop(at, image)]
        told = texts_of(image, "kernel").split("; ")
        (scale,) = (
            at for at, text in zip(addresses, told, strict=True) if re.fullmatch(r"ldr w\d+, \[x\d, #4\]", text)
        )
        assert (scale in before, bool(before)) == (some, some)  # it is of line 4
        assert not any(str(image.source_line(at)) == "h.c:5" for at in before)


@pytest.mark.slow
def test_a_finding_in_front_of_a_loop_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "h.c").write_text(HOISTED)
    monkeypatch.chdir(tmp_path)
    for level, some in (("O0", False), ("O2", True)):
        stopped = lanewise("run", "h.c", "kernel", "1,2", "zeros:2", "2", "5", "--opt", level, columns=400)
        assert stopped.exit_code == 1
        assert "reads bytes 4..7, past the end of 'scale'" in stopped.output
        assert (f"; it stands {IN_FRONT}" in stopped.output) is some


@pytest.mark.slow
def test_a_fault_in_front_of_a_loop_of_what_is_compiled_already_says_so(tmp_path: Path) -> None:
    text = "void kernel(const int32_t a[n], int32_t out[n], int n, const int32_t scale[2])"
    name, signature = parse_prototype(text)
    for level, some in (("-O0", False), ("-O2", True)):
        made = compiled(tmp_path, "h.c", HOISTED, "-g", level)
        kernel = Kernel(
            name=name, symbol=name, sources=(made,), signature=signature,
            domain={"a": Domain(-900, 900), "scale": Domain(-9, 9), "n": Domain(0, 40)},
            golden=lambda i: {"out": i["a"] * (i["scale"][1] * 3 + 6)},
        )  # fmt: skip
        told = str(find_fault(kernel, Job(made, ()), make_vectors(kernel, 100, seed=1)))
        assert "#7 as add" in told
        assert (f"({IN_FRONT})" in told) is some
