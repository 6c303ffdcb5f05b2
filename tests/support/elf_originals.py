"""Sound ELF files of every kind that can be opened: programs, objects, a library, a shared library."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from sim.toolchain.compilers import clang_command

_ZIG = (sys.executable, "-m", "ziglang")
_C = """
#include <string.h>
typedef struct { int values[40]; struct { short a[2]; unsigned b : 3, c : 7; } parts[2]; union { int i; } u; } row;
static const int table[4] = {1, 2, 3, 4};
int counter = 7, zeros[100];
static int twice(int x) { return x + x; }
int kernel(const row *given, int n)
{
    row copy = *given;
    for (int i = 0; i < n; i++)
        copy.values[i % 40] += twice(i) + table[i & 3] + counter + zeros[i % 100];
    return copy.values[3];
}
"""
_CPP = """
struct Shape { virtual int area() const = 0; virtual ~Shape() {} };
struct Square : Shape { int side; int area() const override { return side * side; } };
extern "C" int kernel(int side) { Square square; square.side = side; const Shape &shape = square; return shape.area(); }
"""

TABLES = """
int x = 3; static int one(int a) { return a + 1; } int two(int a) { return a + 2; }
int *const data[] = {&x}; static int (*const local[])(int) = {one}; int (*const global[])(int) = {two};
__attribute__((weak)) int nothing(int);
int kernel(int a) { return nothing ? -1 : *data[a] + local[a](10) * 100 + global[a](10) * 10000; }
"""
"""Of a program that a loader has to relocate."""
VARIABLES = """
static int seven = 7; __thread int counter = 5; static __thread long zeros[4]; __thread int *where = &seven;
int kernel(int a) { counter += a; zeros[a & 3] += counter; return counter + (int)zeros[a & 3] + *where; }
"""
"""Of a program with variables of its threads."""
CHOICE = """
static int slow(int a) { return a + 1; } static int fast(int a) { return a + 2; }
static void *choose(unsigned long hwcap, const unsigned long *more) { return CHOICE ? (void *)fast : (void *)slow; }
int chosen(int) __attribute__((ifunc("choose")));
int kernel(int a) { return chosen(a); }
"""
"""Of an indirect function; CHOICE stands for a condition."""


def compiled(folder: Path, name: str, text: str, *flags: str) -> Path:
    """The relocatable object of a source with that name."""
    (folder / name).write_text(text)
    made = folder / f"{name}{''.join(flags)}.o"
    same_everywhere = (f"-ffile-prefix-map={folder}=.", "-fdebug-compilation-dir=.")
    _run(*clang_command(), "-c", *flags, "-fno-exceptions", *same_everywhere, str(folder / name), "-o", str(made))
    return made


def archived(folder: Path, name: str, *objects: Path, form: str = "gnu", thin: bool = False) -> Path:
    """A static library of the objects, made anew; the form may be "bsd" too; a thin one only names them."""
    (folder / name).unlink(missing_ok=True)
    thinly = ["--thin"] if thin else []
    _run(*_ZIG, "ar", f"--format={form}", *thinly, "rcs", str(folder / name), *map(str, objects))
    return folder / name


def linked(folder: Path, name: str, *objects: Path, flags: tuple[str, ...] = ()) -> Path:
    """A program with what is undefined left so, or with -shared a library."""
    command = ("ld.lld", "-e", "kernel", "--unresolved-symbols=ignore-all", *flags)
    _run(*_ZIG, *command, *map(str, objects), "-o", str(folder / name))
    return folder / name


def originals(folder: Path) -> None:
    """Fill the folder with one of each: *.elf, *.so, *.o and *.a."""
    new = compiled(folder, "kernel.c", _C, "-g", "-O0", "-fno-pic")
    old = compiled(folder, "kernel.c", _C, "-gdwarf-4", "-O2", "-fno-pic", "-ffunction-sections")
    cpp = compiled(folder, "kernel.cpp", _CPP, "-g", "-O1", "-fno-rtti")
    small = compiled(folder, "small.c", "int kernel(int a) { return a + 1; }\n", "-g", "-O1", "-fPIC")
    linked(folder, "new.elf", new)
    linked(folder, "old.elf", old)
    linked(folder, "compressed.elf", cpp, flags=("--compress-debug-sections=zlib",))
    linked(folder, "shared.so", small, flags=("-shared",))
    archived(folder, "kernel.a", new, cpp)
    archived(folder, "thin.a", new, small, thin=True)
    tables = compiled(folder, "tables.c", TABLES, "-g", "-O1", "-fPIC")
    linked(folder, "tables.so", tables, flags=("-shared", "-z", "nosectionheader"))
    linked(folder, "packed.so", tables, flags=("-pie", "--pack-dyn-relocs=relr"))
    linked(folder, "android.so", tables, flags=("-shared", "--pack-dyn-relocs=android+relr", "--use-android-relr-tags"))
    choice = compiled(folder, "choice.c", CHOICE.replace("CHOICE", "hwcap & 1"), "-O1", "-fPIC")
    linked(folder, "choice.elf", choice)
    linked(folder, "choice.so", choice, flags=("-shared",))
    variables = compiled(folder, "threads.c", VARIABLES, "-g", "-O1", "-fPIC")
    directly = compiled(folder, "threads.c", VARIABLES, "-O1", "-fPIC", "-ftls-model=initial-exec")
    linked(folder, "threads.elf", variables)
    linked(folder, "threads.so", variables, flags=("-shared",))
    linked(folder, "directly.so", directly, flags=("-shared", "-z", "nosectionheader"))


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)
