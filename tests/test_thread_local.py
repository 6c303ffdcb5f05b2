"""Variables of threads and the stack protector, in every model of access and every link.

The expected number is what C says of the program below, by hand.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sim.machine.machine import Machine
from sim.toolchain.image import ImageError
from sim.toolchain.objects import open_image
from sim.toolchain.relocations import THREAD_POINTER
from support.command import lanewise
from support.elf_originals import archived, compiled, linked

VARIABLES = """
static int seven = 7;
__thread int counter = 5;
static __thread long zeros[4];
__thread int *where = &seven;
_Alignas(64) __thread char wide[64] = "abc";
int kernel(int a) {
    counter += a;
    zeros[a & 3] += counter;
    return counter * 1000 + (int)zeros[a & 3] * 10 + *where + wide[1] - 'b' + (int)((unsigned long)wide % 64);
}
int main(void) { return kernel(1); }
"""
OF_3 = 8087
"""8 thousand, 8 tens, 7; each call finds the variables as a thread that starts does."""
UNDEFINED = "extern __thread int other; int kernel(int a) { return a > 5 ? ++other : a; }\n"
PROTECTED = (
    "int kernel(int a) { char t[40]; for (int i = 0; i < 40; i++) ((volatile char *)t)[i] = a; return t[a & 7]; }\n"
)
GCC = "aarch64-linux-gnu-gcc"


def result(file: Path, argument: int = 3) -> object:
    done = lanewise("run", file, "int kernel(int a)", str(argument), "--json")
    return json.loads(done.stdout)["outputs"]["returned"] if not done.exit_code else done.stderr


@pytest.mark.parametrize("flags", [(), ("-fPIC",), ("-fPIC", "-ftls-model=initial-exec")], ids=" ".join)
@pytest.mark.parametrize("link", [None, (), ("-pie",), ("-shared",)], ids=str)
def test_clangs_variables_of_a_thread_are_found(
    tmp_path: Path, flags: tuple[str, ...], link: tuple[str] | None
) -> None:
    if link and not flags:
        flags = ("-fPIE",) if link == ("-pie",) else ("-fPIC", "-O1")
    made = compiled(tmp_path, "t.c", VARIABLES, *flags)
    assert result(made if link is None else linked(tmp_path, "t.elf", made, flags=link)) == OF_3


def test_a_source_has_them_and_each_call_begins_with_them_anew(tmp_path: Path) -> None:
    source = tmp_path / "t.c"
    source.write_text(VARIABLES)
    assert [result(source), result(source)] == [OF_3, OF_3]


@pytest.mark.skipif(shutil.which(GCC) is None, reason=f"{GCC} is not installed")
@pytest.mark.parametrize(
    "flags",
    [
        "-c", "-c -fPIC", "-shared -fPIC", "-shared -fPIC -ftls-model=initial-exec", "-shared -fPIC -mtls-dialect=trad",
        "-static", "-static-pie -fPIE", "-pie -fPIE", "-no-pie",
    ],
)  # fmt: skip
def test_gccs_variables_of_a_thread_are_found(tmp_path: Path, flags: str) -> None:
    (tmp_path / "t.c").write_text(VARIABLES)
    subprocess.run([GCC, "-O1", *flags.split(), "t.c", "-o", "t.elf"], cwd=tmp_path, check=True)
    assert result(tmp_path / "t.elf") == OF_3


def test_a_variable_that_nothing_defines_is_named_where_it_is_read(tmp_path: Path) -> None:
    library = linked(tmp_path, "u.so", compiled(tmp_path, "u.c", UNDEFINED, "-fPIC", "-O1"), flags=("-shared",))
    assert result(library) == 3
    assert "reads 'other', which nothing here defines" in str(result(library, 7))


@pytest.mark.parametrize("flags", [(), ("-fPIC",)], ids=" ".join)
def test_an_object_that_takes_one_from_elsewhere_is_told_what_to_link(tmp_path: Path, flags: tuple[str, ...]) -> None:
    made = compiled(tmp_path, "u.c", UNDEFINED, *flags)
    for file in (made, archived(tmp_path, "u.a", made)):
        assert "nothing defines the thread-local variable 'other': link what does" in str(result(file))
    (tmp_path / "other.c").write_text("__thread int other = 41;\n")
    done = lanewise("run", made, "int kernel(int a)", "7", "--with", tmp_path / "other.c", "--json")
    assert json.loads(done.stdout)["outputs"]["returned"] == 42


@pytest.mark.parametrize("target", ["aarch64-linux-gnu", "aarch64-linux-android"])
def test_the_stack_protector_has_its_guard(tmp_path: Path, target: str) -> None:
    """Linux has a global one; Android's is the sixth word from the thread pointer."""
    (tmp_path / "p.c").write_text(PROTECTED)
    command = [
        sys.executable,
        "-m",
        "ziglang",
        "clang",
        f"--target={target}",
        "-O1",
        "-fstack-protector-all",
        "-c",
        "p.c",
    ]
    subprocess.run(command, cwd=tmp_path, check=True)
    image = open_image(tmp_path / "p.o", "kernel")
    assert result(tmp_path / "p.o") == 3
    assert image.thread_pointer == (THREAD_POINTER if "android" in target else 0)


def test_a_program_without_use_for_it_has_no_thread_pointer(tmp_path: Path) -> None:
    made = compiled(tmp_path, "k.c", "int kernel(int a) { return a + 1; }\n", "-O1")
    assert open_image(made, "kernel").thread_pointer == 0


@pytest.mark.parametrize(("field", "value"), [(40, 1 << 60), (32, 1 << 40), (48, 3), (48, 1 << 40), (16, 0x123456789)])
def test_a_damaged_segment_of_variables_is_refused(tmp_path: Path, field: int, value: int) -> None:
    """p_memsz, p_filesz, p_align twice, p_vaddr."""
    file = linked(tmp_path, "t.elf", compiled(tmp_path, "t.c", VARIABLES, "-O1"))
    data = bytearray(file.read_bytes())
    start = int.from_bytes(data[32:40], "little")
    headers = [start + 56 * i for i in range(int.from_bytes(data[56:58], "little"))]
    (at,) = (at for at in headers if int.from_bytes(data[at : at + 4], "little") == 7)  # PT_TLS
    data[at + field : at + field + 8] = value.to_bytes(8, "little")
    file.write_bytes(data)
    with pytest.raises(ImageError, match=r"thread-local|outside of what it stores"):
        open_image(file, "kernel")


def test_the_thread_pointer_is_a_register_of_the_machine() -> None:
    machine = Machine(engine="interpreted")
    machine.memory.map(0x1000, 0x1000, "rx")
    machine.memory.write(0x1000, b"".join(w.to_bytes(4, "little") for w in (0xD53BD041, 0x91000421, 0xD51BD041)))
    machine.tpidr, machine.pc = -1, 0x1000
    machine.run(max_instructions=3)
    assert (machine.x[1], machine.tpidr) == (0, 0)


def test_a_program_that_lies_where_they_are_put_is_refused(tmp_path: Path) -> None:
    made = compiled(tmp_path, "t.c", VARIABLES, "-O1")
    there = linked(tmp_path, "t.elf", made, flags=(f"--image-base={THREAD_POINTER - (1 << 16):#x}",))
    with pytest.raises(ImageError, match="where the variables of a thread are put"):
        open_image(there, "kernel")


@pytest.mark.parametrize("alignment", [16, 64, 4096])
def test_variables_are_aligned_as_they_ask(tmp_path: Path, alignment: int) -> None:
    text = f"_Alignas({alignment}) __thread int x = 3;\n"
    text += f"int kernel(int a) {{ return (unsigned long)&x % {alignment} + x + a; }}\n"
    made = compiled(tmp_path, "t.c", text, "-O1", "-fPIC")
    assert [result(file) for file in (made, linked(tmp_path, "t.so", made, flags=("-shared",)))] == [6, 6]
