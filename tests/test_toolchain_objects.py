"""Opening what is compiled already: objects, libraries, linked programs; and what is refused, in which words."""

from __future__ import annotations

import os
import re
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from sim.machine.machine import Machine
from sim.machine.memory import Memory
from sim.toolchain import starting
from sim.toolchain.archive import members
from sim.toolchain.compilers import build, build_text
from sim.toolchain.image import Image, ImageError
from sim.toolchain.objects import open_image
from sim.toolchain.starting import map_image
from sim.toolchain.tools import ToolchainError, ToolchainUnavailable
from support.elf_originals import CHOICE, TABLES, archived, compiled, linked
from support.sources import SUM, Write, code

pytestmark = pytest.mark.usefixtures("cache")


STACK = 0x7FFE_0000_0000
OTHER = "int other(int a) { return a; }\n"
USES_OTHER = "int other(int); int kernel(int a) { return other(a) + 1; }\n"


def called(image: Image, data: bytes = b"") -> int:
    """What `kernel` returns of 0, or of a pointer to the data."""
    machine = Machine()
    map_image(machine.memory, image)
    machine.memory.map(STACK, 2 * 4096, "rw")
    machine.memory.write(STACK, data)
    machine.x[0], machine.sp, machine.x[30] = STACK if data else 0, STACK + 2 * 4096, 0x7FFF_0000_0000
    machine.pc = image.symbol("kernel").address
    machine.run(0x7FFF_0000_0000, 1_000_000)
    return machine.x[0] & 0xFFFFFFFF


def an_object(folder: Path) -> Path:
    return compiled(folder, "kernel.c", SUM, "-g", "-O1", "-fno-pic")


def an_object_named_otherwise(folder: Path) -> Path:
    return an_object(folder).rename(folder / "kernel.c.bin")


def a_library(folder: Path) -> Path:
    return archived(folder, "kernel.a", an_object(folder), compiled(folder, "other.c", OTHER))


def a_member(folder: Path) -> Path:
    return Path(f"{a_library(folder)}({an_object(folder).name})")


def a_program(folder: Path) -> Path:
    return linked(folder, "kernel.elf", an_object(folder))


def a_shared_library(folder: Path) -> Path:
    return linked(folder, "kernel.so", an_object(folder), flags=("-shared",))


KINDS = (an_object, an_object_named_otherwise, a_library, a_member, a_program, a_shared_library)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_compiled_holds_the_code_of_its_source(tmp_path: Path, kind: Callable[[Path], Path]) -> None:
    expected = code(build_text(SUM, ".c", "-O1"))
    assert code(open_image(kind(tmp_path), "kernel")) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_compiled_keeps_its_source_lines_and_its_path(tmp_path: Path, kind: Callable[[Path], Path]) -> None:
    image = open_image(path := kind(tmp_path), "kernel")
    assert (image.place_of(image.symbol("kernel").address), image.path) == ("kernel.c:1", path)


def test_a_source_is_built_with_the_flags(write: Write) -> None:
    source = write("kernel.c", "int kernel(void) { return NUMBER; }\n")
    assert code(open_image(source, "kernel", "-O1", "-DNUMBER=7")) == code(build(source, "-O1", "-DNUMBER=7"))


@pytest.mark.parametrize("kind", [an_object, a_library, a_shared_library])
def test_what_has_no_address_is_put_at_the_base(tmp_path: Path, kind: Callable[[Path], Path]) -> None:
    image = open_image(kind(tmp_path), "kernel", base=0x40_0000)
    assert image.segments[0].address == 0x40_0000


def test_a_stripped_shared_library_has_the_symbols_that_it_exports(tmp_path: Path) -> None:
    stripped = linked(tmp_path, "kernel.so", an_object(tmp_path), flags=("-shared", "--strip-all"))
    assert set(open_image(stripped, "kernel").symbols) == {"kernel"}


@pytest.mark.parametrize("kind", [an_object, a_library])
def test_the_same_content_is_linked_once(tmp_path: Path, runs: list[str], kind: Callable[[Path], Path]) -> None:
    path = kind(tmp_path)
    runs.clear()
    first = open_image(path, "kernel")
    os.utime(path, (0, 0))
    assert (open_image(path, "kernel"), runs) == (first, ["ld.lld"])


def test_another_content_is_linked_anew(tmp_path: Path) -> None:
    first = open_image(an_object(tmp_path), "kernel")
    changed = compiled(tmp_path, "kernel.c", SUM.replace("+=", "-="), "-g", "-O1", "-fno-pic")
    assert code(open_image(changed, "kernel")) != code(first)


def test_a_library_gives_only_the_members_that_the_symbol_needs(tmp_path: Path) -> None:
    objects = [compiled(tmp_path, name, text) for name, text in (("k.c", USES_OTHER), ("o.c", OTHER), ("s.c", SUM))]
    library = archived(tmp_path, "all.a", *objects[:2])
    assert set(open_image(library, "kernel").symbols) == {"kernel", "other"}
    assert set(open_image(library, "other").symbols) == {"other"}


def test_a_member_takes_what_it_lacks_from_its_library(tmp_path: Path) -> None:
    objects = [compiled(tmp_path, name, text) for name, text in (("k.c", USES_OTHER), ("o.c", OTHER))]
    library = archived(tmp_path, "all.a", *objects)
    assert set(open_image(Path(f"{library}(k.c.o)"), "kernel").symbols) == {"kernel", "other"}


def test_of_two_definitions_a_member_is_chosen_by_its_name(tmp_path: Path) -> None:
    objects = [compiled(tmp_path, f"{n}.c", f"int kernel(void) {{ return {n}; }}\n", "-O1") for n in (1, 2)]
    library = archived(tmp_path, "both.a", *objects)
    codes = [code(open_image(Path(f"{library}({made.name})"), "kernel")) for made in objects]
    assert [int.from_bytes(words[:4], "little") >> 5 & 0xFFFF for words in codes] == [1, 2]  # imm16 of movz


def test_an_object_gets_what_compilers_call_on_their_own(tmp_path: Path) -> None:
    text = "struct s { int v[40]; }; int kernel(struct s *p) { struct s c = *p; return c.v[3]; }\n"
    assert "memcpy" in open_image(compiled(tmp_path, "k.c", text, "-O0"), "kernel").symbols


@pytest.mark.parametrize("style", ["gnu", "bsd"])
def test_long_names_of_members_are_whole(tmp_path: Path, style: str) -> None:
    name = "a_name_longer_than_sixteen_bytes.c"
    made = compiled(tmp_path, name, OTHER)
    library = archived(tmp_path, "l.a", made, form=style)
    assert [member.name for member in members(library, library.read_bytes())] == [f"{name}.o"]


@pytest.mark.parametrize(
    ("kind", "symbol", "message"),
    [
        (an_object, "kernal", r"kernel.c-g-O1-fno-pic.o defines no symbol 'kernal'; it defines kernel$"),
        (a_library, "kernal", r"kernel.a defines no symbol 'kernal'; it defines kernel and 1 more$"),
        (a_library, "zzz", r"kernel.a defines no symbol 'zzz'; it defines kernel, other$"),
        (a_program, "kernal", r"kernel.elf defines no symbol 'kernal'; it defines kernel$"),
        (a_shared_library, "kernal", r"kernel.so defines no symbol 'kernal'; it defines kernel"),
    ],
)
def test_a_missing_symbol_is_answered_with_near_names(
    tmp_path: Path, kind: Callable[[Path], Path], symbol: str, message: str
) -> None:
    with pytest.raises(ImageError, match=message):
        open_image(kind(tmp_path), symbol)


@pytest.mark.parametrize("form", ["{0}", "{1}", "{1}(k.c.o)"], ids=["object", "library", "member"])
def test_symbols_that_nothing_defines_are_bound_to_addresses_without_memory(tmp_path: Path, form: str) -> None:
    text = "int first(void), second(void); int kernel(void) { return first() + second(); }\n"
    made = compiled(tmp_path, "k.c", text)
    library = archived(tmp_path, "k.a", made)
    image = open_image(Path(form.format(made, library)), "kernel")
    assert (set(image.missing), {"first", "second"} & set(image.symbols)) == ({"first", "second"}, set())
    memory = Memory()
    map_image(memory, image)
    assert [memory.region_at(place) for place in image.missing.values()] == [None, None]
    assert [image.missing_at(place + 8) for place in image.missing.values()] == list(image.missing)


def for_x86(path: Path) -> Path:
    content = path.read_bytes()
    at = content.index(b"\x7fELF") + 18  # e_machine
    path.write_bytes(content[:at] + b"\x3e\0" + content[at + 2 :])
    return path


@pytest.mark.parametrize("kind", [an_object, a_library, a_program])
def test_another_architecture_is_named(tmp_path: Path, kind: Callable[[Path], Path]) -> None:
    with pytest.raises(ImageError, match="is 64-bit little-endian Advanced Micro Devices X86-64; only"):
        open_image(for_x86(kind(tmp_path)), "kernel")


@pytest.mark.parametrize(
    ("at", "new", "message"),
    [(4, b"\1", "32-bit"), (5, b"\2" + bytes(12) + b"\0\xb7", "big-endian"), (40, b"\xff" * 4, "cannot be linked: ")],
)
def test_an_object_with_a_wrong_header_is_refused(tmp_path: Path, at: int, new: bytes, message: str) -> None:
    path = an_object(tmp_path)
    content = path.read_bytes()
    path.write_bytes(content[:at] + new + content[at + len(new) :])
    with pytest.raises(ImageError, match=message) as refused:
        open_image(path, "kernel")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("kind", [an_object, a_library, a_program])
@pytest.mark.parametrize("size", [9, 70, 700])
def test_a_truncated_file_is_refused_in_one_sentence(tmp_path: Path, kind: Callable[[Path], Path], size: int) -> None:
    path = kind(tmp_path)
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(ImageError) as refused:
        open_image(path, "kernel")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"!<thin>\n", "defines no symbol 'kernel'; it defines none at all"),
        (b"!<thin>\n" + b"/dev/zero/".ljust(58) + b"`\n", "is a truncated or corrupt archive at byte 8"),
        (b"!<arch>\n", "defines no symbol 'kernel'; it defines none at all"),
        (b"!<arch>\nnonsense", "is a truncated or corrupt archive at byte 8"),
        (b"BC\xc0\xde", "is LLVM bitcode, not machine code; compile it without -flto"),
    ],
)
def test_a_file_that_holds_no_machine_code_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "kernel.o").write_bytes(content)
    with pytest.raises(ImageError, match=message):
        open_image(tmp_path / "kernel.o", "kernel")


@pytest.mark.parametrize(("member", "message"), [("", "has members of"), ("(k.c-flto.o)", r"\(k\.c-flto\.o\) is")])
def test_a_library_of_bitcode_is_refused_by_its_name(tmp_path: Path, member: str, message: str) -> None:
    library = archived(tmp_path, "k.a", compiled(tmp_path, "k.c", SUM, "-flto"))
    with pytest.raises(ImageError, match=f"{message} LLVM bitcode, not machine code; compile (it|them) without -flto"):
        open_image(Path(f"{library}{member}"), "sum")


@pytest.mark.parametrize("content", [b"", b"hello", b"INPUT(/etc/passwd)"])
def test_a_file_of_no_kind_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "kernel.o").write_bytes(content)
    with pytest.raises(ToolchainError, match="neither an ELF file nor a library, and of a source its suffix must be"):
        open_image(tmp_path / "kernel.o", "kernel")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("absent.o", "cannot read .*absent.o: No such file"),
        ("absent.a(k.o)", "cannot read .*absent.a: No such file"),
        ("/dev/zero", "cannot read /dev/zero: it is no regular file"),
        ("k" * 300, "cannot read .*k: File name too long"),
        (f"{'k' * 300}.a(k.o)", "cannot read .*k.a: File name too long"),
        ("k.c(k.o)", "k.c is no static library, so it has no member 'k.o'"),
    ],
)
def test_a_path_that_cannot_be_read_is_refused(tmp_path: Path, write: Write, name: str, message: str) -> None:
    write("k.c", SUM)
    with pytest.raises(ImageError, match=message):
        open_image(tmp_path / name, "kernel")


def test_a_missing_member_is_answered_with_near_names(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match=r"has 0 members 'other.o', and one is needed; it has other.c.o"):
        open_image(Path(f"{a_library(tmp_path)}(other.o)"), "kernel")


@pytest.mark.slow
def test_what_a_needed_library_defines_is_missing(tmp_path: Path) -> None:
    needed = linked(tmp_path, "libm.so", compiled(tmp_path, "other.c", OTHER, "-fPIC"), flags=("-shared",))
    program = linked(tmp_path, "k.elf", compiled(tmp_path, "k.c", USES_OTHER), needed)
    image = open_image(program, "kernel")
    assert (set(image.missing), [Path(name).name for name in image.needed]) == ({"other"}, ["libm.so"])


def test_what_compilers_call_on_their_own_is_put_beside_a_program_that_takes_it_from_a_library(tmp_path: Path) -> None:
    text = "void *memset(void *, int, unsigned long); int kernel(char *p) { memset(p, 7, 300); return p[299]; }\n"
    made = compiled(tmp_path, "k.c", text, "-fPIC", "-O1", "-fno-builtin")
    image = open_image(linked(tmp_path, "k.so", made, flags=("-shared",)), "kernel")
    assert ("memset" in image.symbols, image.missing) == (True, {})
    assert called(image, data=bytes(320)) == 7


@pytest.mark.parametrize(
    "flags",
    [
        ("-shared",), ("-shared", "-z", "nosectionheader"), ("-pie",), ("-shared", "--pack-dyn-relocs=relr"),
        ("-shared", "-z", "now"), ("-shared", "--strip-all"), ("-shared", "--pack-dyn-relocs=android"),
        ("-pie", "--pack-dyn-relocs=android+relr", "--use-android-relr-tags"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_dynamic_relocations_are_applied(tmp_path: Path, flags: tuple[str, ...]) -> None:
    path = linked(tmp_path, "k.so", compiled(tmp_path, "k.c", TABLES, "-fPIC", "-O1"), flags=flags)
    assert called(open_image(path, "kernel")) == 121103


ALL_OF_THEM = "(hwcap >> 20 & hwcap >> 62 & 1) && more[0] == 24 && (more[2] >> 13 & 1)"


@pytest.mark.parametrize("flags", [(), ("-shared",), ("-pie",)], ids=" ".join)
@pytest.mark.parametrize(("choice", "result"), [("hwcap >> 22 & 1", 1), (ALL_OF_THEM, 2)], ids=["no SVE", "DOTPROD"])
def test_an_indirect_function_is_the_one_that_its_code_chooses(
    tmp_path: Path, flags: tuple[str, ...], choice: str, result: int
) -> None:
    made = compiled(tmp_path, "k.c", CHOICE.replace("CHOICE", choice), "-fPIC", "-O1")
    assert called(open_image(linked(tmp_path, "k.elf", made, flags=flags) if flags else made, "kernel")) == result


@pytest.mark.parametrize("choice", ["*(int *)8", "({ for (;;); 1; })", "(*(int volatile *)choose = 1)"])
def test_an_indirect_function_that_cannot_be_asked_is_missing(
    tmp_path: Path, choice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starting, "_LIMIT", 10_000)
    made = compiled(tmp_path, "k.c", CHOICE.replace("CHOICE", choice), "-O1")
    (name,) = open_image(made, "kernel").missing
    assert "(an indirect function, whose choice fails: " in name


def test_an_indirect_function_past_the_last_address_is_missing(tmp_path: Path) -> None:
    made = compiled(tmp_path, "k.c", CHOICE.replace("CHOICE", "hwcap & 1"), "-fPIC", "-O1")
    library = linked(tmp_path, "k.so", made, flags=("-shared",))
    # Of the symbol: global, STT_GNU_IFUNC; its section; its value (Elf64_Sym, System V ABI chapter 4).
    content, changed = re.subn(rb"(?s)(\x1a\0.\0)...\0{5}", rb"\g<1>" + struct.pack("<q", -4), library.read_bytes())
    library.write_bytes(content)
    assert changed
    (name,) = open_image(library, "kernel").missing
    assert name.startswith("chosen (an indirect function, whose choice fails: ")


CONSTRUCTED = 'int f(); int made = f(); int f() { return 3; }\nextern "C" int kernel() { return made; }\n'


@pytest.mark.parametrize(("run", "result"), [(False, 0), (True, 3)])
@pytest.mark.parametrize("flags", [None, ("-shared",), ("-pie",)], ids=["source", "shared", "pie"])
def test_constructors_run_when_they_are_asked_for(
    tmp_path: Path, run: bool, result: int, flags: tuple[str, ...] | None
) -> None:
    (tmp_path / "kernel.cpp").write_text(CONSTRUCTED)
    path = tmp_path / "kernel.cpp"
    if flags is not None:
        path = linked(tmp_path, "k.so", compiled(tmp_path, "kernel.cpp", CONSTRUCTED, "-fPIC", "-O0"), flags=flags)
    image = open_image(path, "kernel", constructors=run)
    assert (called(image), len(image.constructors)) == (result, not run)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("*(int *)8", r"has a constructor ._GLOBAL__sub_I_kernel.cpp.0x0. that cannot be run: at 0x\w+, ldr"),
        (
            "g()",
            "constructor ._GLOBAL__sub_I_kernel.cpp.0x0. that cannot be run: it uses '_Z1gv', which nothing defines",
        ),
    ],
)
def test_a_constructor_that_cannot_be_run_is_refused_in_one_sentence(write: Write, body: str, message: str) -> None:
    source = write("kernel.cpp", CONSTRUCTED.replace("3;", f"{body};").replace("int f();", "int f(); int g();", 1))
    with pytest.raises(ImageError, match=message) as refused:
        open_image(source, "kernel", "-O0", constructors=True)
    assert "\n" not in str(refused.value)


def test_a_thin_archive_takes_its_members_from_where_they_lie(tmp_path: Path) -> None:
    objects = [compiled(tmp_path, name, text) for name, text in (("k.c", USES_OTHER), ("o.c", OTHER))]
    library = archived(tmp_path, "thin.a", *objects, thin=True)
    assert set(open_image(library, "kernel").symbols) == {"kernel", "other"}
    assert set(open_image(Path(f"{library}(o.c.o)"), "other").symbols) == {"other"}
    objects[1].unlink()
    with pytest.raises(ImageError, match=r"thin.a is a thin archive, and its member .*o.c.o cannot be read: No such"):
        open_image(library, "kernel")


def test_a_thin_archive_that_names_what_no_file_can_be_called_is_refused(tmp_path: Path) -> None:
    rows = [(b"//", 302, b"k" * 300 + b"/\n"), (b"/0", 9, b"")]
    members = [b"%-48s%-10d`\n%s" % row for row in rows]
    (tmp_path / "thin.a").write_bytes(b"!<thin>\n" + b"".join(members))
    with pytest.raises(ImageError, match=r"its member .*k cannot be read: File name too long"):
        open_image(tmp_path / "thin.a", "kernel")


def test_a_variable_that_the_compiler_computes_needs_no_constructor(write: Write) -> None:
    text = CONSTRUCTED.replace("int f(); int made = f(); int f() {", "constexpr int f() {").replace(
        "}\n", "} int made = f();\n", 1
    )
    assert code(open_image(write("kernel.cpp", text), "kernel", "-O0"))


@pytest.mark.slow
def test_a_linked_program_that_grows_out_of_nothing_is_refused(tmp_path: Path) -> None:
    made = compiled(tmp_path, "k.s", '.text\n.globl kernel\nkernel: ret\n.section a,"a"\n.p2align 28\n.zero 1 << 20\n')
    with pytest.raises(ImageError, match="at most 256 MiB is allowed"):
        open_image(made, "kernel")


def test_a_linker_that_crashes_blames_the_object(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = an_object(tmp_path)
    monkeypatch.setattr(subprocess, "run", lambda *a, **o: subprocess.CompletedProcess([""], -11, "", ""))
    with pytest.raises(ImageError, match="cannot be linked: the linker crashes on it"):
        open_image(made, "kernel")


GCC_BYTES = "\t.text\n\t.globl kernel\nkernel:\n\tmovi\tv0.16b, 0xffffffffffffff88\n\tmovi v1.8b, {}\n\tret\n"


def test_bytes_as_gcc_spells_them_are_assembled(write: Write) -> None:
    source = write("kernel.s", GCC_BYTES.format("0xfffffffffffffffe"))
    expected = code(build_text("kernel: movi v0.16b, #0x88\nmovi v1.8b, #0xfe\nret\n", ".s"))
    assert code(build(source))[:12] == expected[:12]


def test_assembly_of_gcc_keeps_its_name_and_lines(write: Write) -> None:
    image = build(write("a b.s", GCC_BYTES.format("0xfffffffffffffffe")))
    kernel = image.symbol("kernel").address
    assert [str(image.source_line(kernel + at)) for at in (0, 4, 8)] == [f"a b.s:{line}" for line in (4, 5, 6)]


def test_a_byte_that_does_not_fit_is_still_refused_by_its_line(write: Write) -> None:
    with pytest.raises(ToolchainError, match=r"kernel.s:5:.*immediate must be an integer in range"):
        build(write("kernel.s", GCC_BYTES.format("0xfffffffffffff0fe")))


def test_a_lack_of_room_is_no_fault_of_the_object(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANEWISE_CACHE", str(tmp_path / "kernel.c" / "below"))
    with pytest.raises(ToolchainUnavailable, match="set LANEWISE_CACHE"):
        open_image(an_object(tmp_path), "kernel")
