"""Where compilers keep variables of -O0 code: every place is looked up in memory after a call that sets them all.

What each must hold is in its name, in the C source.
"""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from sim.machine.machine import Machine
from sim.toolchain.compilers import build_text
from sim.toolchain.dwarf.stack_variables import stack_variables
from sim.toolchain.image import Image
from sim.toolchain.objects import open_image
from sim.toolchain.starting import map_image

GCC = "aarch64-linux-gnu-gcc"
FLAGS = ("", "-gdwarf-4", "-fomit-frame-pointer", "-fno-asynchronous-unwind-tables", "-mbranch-protection=standard")
STACK, RETURN = 0x7000_0000, 0x7800_0000
SOURCE = """
static int more(int a) { return a; }
long f(int v11, long v22)
{
    int v33 = 33;
    char v44 = 44;
    ROOM
    {
        long v55 = 55;
        v44 += CALL - v33;
        {
            short v66 = 66;
            v22 += v55 - v66 + 11;
        }
    }
    return v11 + v22;
}
"""
SOURCES = {
    "a leaf": SOURCE.replace("ROOM", "").replace("CALL", "33"),
    "a caller": SOURCE.replace("ROOM", "").replace("CALL", "more(33)"),
    "a large frame": SOURCE.replace("ROOM", "volatile char room[70000]; room[v11] = 1;").replace("CALL", "more(33)"),
    "an array of a length at run time": SOURCE.replace("ROOM", "volatile char room[v11]; room[0] = 1;").replace(
        "CALL", "more(33)"
    ),
}


def held(image: Image) -> dict[str, int]:
    """The lowest byte of each variable of f(11, 22) once it has returned, by name."""
    machine, code = Machine(), range(image.symbol("f").address, image.symbol("f").address + image.symbol("f").size)
    map_image(machine.memory, image)
    machine.memory.map(STACK - 0x20000, 0x20000, "rw")
    machine.sp, machine.x[30], machine.pc, machine.x[0], machine.x[1] = STACK, RETURN, code.start, 11, 22
    bases = Counter[tuple[int, int]]()
    while machine.pc != RETURN:
        if machine.pc in code:
            bases[machine.sp, machine.x[29]] += 1
        machine.step()
    assert machine.x[0] == 33
    ((sp, frame), _), *_ = bases.most_common()
    base = {31: sp, 29: frame}
    found = [each for each in stack_variables(image) if each.function == code.start]
    return {each.name: machine.memory.read(base[each.register] + each.offset, 1)[0] for each in found}


def expected(held: dict[str, int]) -> dict[str, int]:
    """What the names say, of all variables but the array."""
    return {name: int(name[1:]) for name in held if name != "room"}


@pytest.mark.skipif(shutil.which(GCC) is None, reason=f"{GCC} is not installed")
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("flags", FLAGS)
def test_variables_of_gcc_are_counted_from_where_the_stack_was_at_the_call(
    source: str, flags: str, tmp_path: Path
) -> None:
    (tmp_path / "f.c").write_text(SOURCES[source])
    subprocess.run([GCC, "-O0", "-g", *flags.split(), "-c", "f.c"], cwd=tmp_path, check=True)
    found = held(open_image(tmp_path / "f.o", "f"))
    assert {name: number for name, number in found.items() if name != "room"} == expected(found)
    assert {"v11", "v22", "v33", "v44", "v55", "v66"} <= found.keys()


@pytest.mark.parametrize("source", SOURCES)
def test_variables_of_clang_are_counted_from_a_register(source: str) -> None:
    found = held(build_text(SOURCES[source], ".c", "-O0", "-g"))
    assert {name: number for name, number in found.items() if name != "room"} == expected(found)
    assert {"v11", "v22", "v33", "v44", "v55", "v66"} <= found.keys()
