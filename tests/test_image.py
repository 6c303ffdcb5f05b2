"""Reading ELF and DWARF: what an image holds, and that a malformed file ends in ImageError and nothing else."""

import contextlib
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isa.decode import decode
from sim.toolchain import compilers as toolchain
from sim.toolchain.dwarf.code_lines import SourceLine
from sim.toolchain.image import LARGEST_IMAGE, Image, ImageError, nearest
from sim.toolchain.objects import open_image

KERNEL = """\
int counter = 7;
int zeros[1000];
const int table[4] = {1, 2, 3, 4};

static int twice(int x) { return x + x; }

int kernel(const int *a, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += twice(a[i]) + table[i & 3] + counter + zeros[i];
    return sum;
}
"""
BASE = 0x10000
CLASS, ENDIANNESS, MACHINE, PHDR_SIZE, SHDR_SIZE = 4, 5, 18, 54, 58  # offsets in Elf64_Ehdr
FIRST_LOAD = 64 + 56  # the second program header, after PT_PHDR
CODE_FLAGS = FIRST_LOAD + 56 + 4  # p_flags of the third, text
P_VADDR, P_FILESZ, P_MEMSZ = FIRST_LOAD + 16, FIRST_LOAD + 32, FIRST_LOAD + 40
LAST_MEMSZ = P_MEMSZ + 2 * 56


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LANEWISE_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield tmp_path_factory.mktemp("sources")


def built(folder: Path, name: str, text: str, *flags: str) -> Image:
    (folder / name).write_text(text)
    return toolchain.build(folder / name, *flags)


@pytest.fixture(scope="module")
def image(folder: Path) -> Image:
    return built(folder, "kernel.c", KERNEL, "-O0")


@pytest.fixture(scope="module")
def good(image: Image) -> bytes:
    return image.path.read_bytes()


def patched(path: Path, elf: bytes, offset: int, new: bytes) -> Path:
    path.write_bytes(elf[:offset] + new + elf[offset + len(new) :])
    return path


def segment_of(image: Image, name: str) -> str:
    address = image.symbol(name).address
    return next(s.permissions for s in image.segments if s.address <= address < s.address + s.size)


@pytest.mark.parametrize(
    ("name", "permissions"), [("kernel", "rx"), ("table", "r"), ("counter", "rw"), ("zeros", "rw")]
)
def test_a_symbol_lies_in_a_segment_of_its_permissions(image: Image, name: str, permissions: str) -> None:
    assert segment_of(image, name) == permissions


def test_memory_past_the_stored_bytes_belongs_to_the_segment(image: Image) -> None:
    writable = image.segments[-1]
    assert writable.size - len(writable.data) == image.symbol("zeros").size


def test_an_initialised_variable_is_in_the_data(image: Image) -> None:
    writable, counter = image.segments[-1], image.symbol("counter")
    assert int.from_bytes(writable.data[counter.address - writable.address :][: counter.size], "little") == 7


def test_a_local_function_is_a_symbol(image: Image) -> None:
    assert image.symbol("twice").size > 0


def test_file_undefined_and_mapping_symbols_are_left_out(image: Image) -> None:
    assert set(image.symbols) == {"counter", "zeros", "table", "twice", "kernel"}


def test_a_symbol_that_nothing_defines_is_left_out(folder: Path) -> None:
    text = "extern int absent __attribute__((weak));\nint *kernel(void) { return &absent; }\n"
    assert set(built(folder, "weak.c", text).symbols) == {"kernel"}


def test_a_symbol_without_a_name_is_left_out(image: Image, good: bytes, tmp_path: Path) -> None:
    (tmp_path / "k.elf").write_bytes(good.replace(b"counter\0", b"\0ounter\0"))
    assert set(Image.read(tmp_path / "k.elf").symbols) == set(image.symbols) - {"counter"}


def test_of_many_names_the_near_ones_or_the_first_are_told_and_how_many_are_left() -> None:
    names = [f"f{number}" for number in range(20)]
    assert nearest("kernal", [*names, "kernel", "kernel"]) == "kernel and 20 more"
    assert nearest("?", names) == "f0, f1, f10, f11, f12, f13, f14, f15 and 12 more"
    assert nearest("?", names[:2]) == "f0, f1"
    assert nearest("?", []) == "none at all"


def test_an_unknown_symbol_suggests_a_near_name(image: Image) -> None:
    with pytest.raises(ImageError, match=r"no symbol 'kernal'; it defines kernel and 4 more$"):
        image.symbol("kernal")


@pytest.mark.parametrize("dwarf", ["-gdwarf-4", "-gdwarf-5"])
def test_every_instruction_has_a_line_of_its_own_function(folder: Path, dwarf: str) -> None:
    image = built(folder, "kernel.c", KERNEL, "-O0", dwarf)
    kernel = image.symbol("kernel")
    lines = [image.source_line(pc) for pc in range(kernel.address, kernel.address + kernel.size, 4)]
    assert {str(line) for line in lines} == {f"kernel.c:{line}" for line in (7, 8, 9, 10, 11)}


@pytest.mark.parametrize("dwarf", ["-gdwarf-4", "-gdwarf-5"])
def test_a_line_in_a_header_names_the_header(folder: Path, dwarf: str) -> None:
    (folder / "twice.h").write_text("\nint twice(int x) {\n    return x + x;\n}\n")
    image = built(folder, "user.c", '#include "twice.h"\n', dwarf)
    assert image.source_line(image.symbol("twice").address) == SourceLine(str(folder / "twice.h"), 2)


WRAPPERS = """\
#define WRAPPER static inline __attribute__((always_inline, artificial)) int
WRAPPER twice(int x)
{
    return x * 3;
}
WRAPPER both(int x, int y)
{
    return twice(x) ^
           twice(y);
}
static inline __attribute__((always_inline)) int own(int x) {
    return x / 7;
}
"""
CALLER = """\
#include "wrappers.h"
int f(int a, int b) {
    int c = both(a, b);
    int d = own(c);
    return d +
           twice(b);
}
int g(int a, int b) { return both(b, a) * own(f(b, a)); }
"""
OWN = "wrappers.h:12"
GCC = "aarch64-linux-gnu-gcc"


def lines_of(image: Image, name: str) -> list[str]:
    function = image.symbol(name)
    return [str(image.source_line(pc)) for pc in range(function.address, function.address + function.size, 4)]


@pytest.mark.parametrize("dwarf", ["-gdwarf-4", "-gdwarf-5"])
@pytest.mark.parametrize("flags", ["-O0", "-O2", "-O2 -ffunction-sections"])
def test_an_inlined_wrapper_is_of_the_line_that_calls_it(folder: Path, flags: str, dwarf: str) -> None:
    """A function that is no wrapper keeps its own line; in optimised code the parts of both are mixed, and sections
    have no address from which parts are counted.
    """
    (folder / "wrappers.h").write_text(WRAPPERS)
    lines = lines_of(built(folder, "caller.c", CALLER, *flags.split(), dwarf), "f")
    assert {line for line in lines if line.startswith("wrappers.h") or line == "caller.c:3"} == {OWN, "caller.c:3"}


@pytest.mark.skipif(shutil.which(GCC) is None, reason=f"{GCC} is not installed")
@pytest.mark.parametrize("level", ["-O0", "-O2", "-O3"])
def test_an_intrinsic_of_gcc_is_of_the_line_that_calls_it(folder: Path, level: str) -> None:
    text = "#include <arm_neon.h>\nint8x8_t f(const int32_t *a, int32x4_t s) {\n"
    steps = "x = vld1q_s32(a)", "y = vqrdmulhq_s32(x, s)", "z = vrshlq_s32(y, s)"
    text += "".join(f"    int32x4_t {step};\n" for step in steps)
    text += "    return vqmovn_s16(vcombine_s16(vqmovn_s32(z), vqmovn_s32(x)));\n}\n"
    (folder / "of_gcc.c").write_text(text)
    subprocess.run([GCC, level, "-g", "-c", "of_gcc.c"], cwd=folder, check=True)
    image = open_image(folder / "of_gcc.o", "f")
    found = {
        decode(image.code_of("f")[at : at + 4]).text.split()[0]: line
        for at, line in zip(range(0, image.symbol("f").size, 4), lines_of(image, "f"), strict=True)
    }
    expected = {"sqrdmulh": "of_gcc.c:4", "srshl": "of_gcc.c:5", "sqxtn": "of_gcc.c:6"}
    assert {name: found[name] for name in expected} == expected


NESTED = """\
#define INLINE static inline __attribute__((always_inline)) int
INLINE inner(int x) {
    return x * 3;
}
INLINE outer(int x) {
    return inner(x) ^
           inner(x + 1);
}
"""
USER = """\
#include "nested.h"
int f(int a) {
    int b = outer(a);
    return b -
           inner(b);
}
"""
CALLS = {  # where each call stands in the texts above
    "",
    "of outer, inlined at user.c:3",
    "of inner, inlined at nested.h:6 of outer, inlined at user.c:3",
    "of inner, inlined at nested.h:7 of outer, inlined at user.c:3",
    "of inner, inlined at user.c:5",
}


def calls_of(image: Image, name: str) -> set[str]:
    function = image.symbol(name)
    return {image.inlined_at(pc) for pc in range(function.address, function.address + function.size, 4)}


@pytest.mark.parametrize("dwarf", ["-gdwarf-4", "-gdwarf-5"])
def test_code_that_was_inlined_names_its_function_and_the_lines_of_the_calls(folder: Path, dwarf: str) -> None:
    (folder / "nested.h").write_text(NESTED)
    image = built(folder, "user.c", USER, "-O0", dwarf)
    assert calls_of(image, "f") == CALLS
    assert calls_of(image.moved(1 << 16), "f") == CALLS
    (product, *_) = [call for call in image.inlined if call.function == "inner" and call.line.line == 5]
    assert image.full_place_of(product.start) == "nested.h:3 of inner, inlined at user.c:5"


@pytest.mark.skipif(shutil.which(GCC) is None, reason=f"{GCC} is not installed")
@pytest.mark.parametrize("level", ["-O0", "-O2", "-O3"])
def test_what_gcc_inlined_names_its_function_and_the_lines_of_the_calls(folder: Path, level: str) -> None:
    (folder / "nested.h").write_text(NESTED)
    (folder / "user.c").write_text(USER)
    subprocess.run([GCC, level, "-g", "-c", "user.c"], cwd=folder, check=True)
    found = calls_of(open_image(folder / "user.o", "f"), "f")
    assert found <= CALLS
    assert "of inner, inlined at nested.h:7 of outer, inlined at user.c:3" in found


def test_code_without_a_line_is_of_the_line_of_the_call_that_it_was_inlined_at(folder: Path) -> None:
    """As what an optimizer has made of instructions of several lines; the row before it is of another function."""
    inner = '#define INLINE static inline __attribute__((always_inline)) int\n#line 0 "zero.c"\nINLINE inner(int x) {\n'
    text = f'{inner}#line 0 "zero.c"\nreturn x / 7; }}\nint f(int a) {{\n#line 20\nreturn a ^ inner(a); }}\n'
    image = built(folder, "zero.c", text, "-O1")
    (call,) = [call for call in image.inlined if call.function == "inner"]
    assert image.source_line(call.start) is None
    assert image.place_of(call.start) == "zero.c:20"


def test_the_function_of_an_instruction_is_the_one_that_begins_before_it(image: Image) -> None:
    for name in ("kernel", "twice"):
        start, size = image.symbol(name).address, len(image.code_of(name))
        assert {image.function_at(at) for at in range(start, start + size, 4)} == {name}
    assert image.function_at(image.symbol("table").address) == ""
    assert replace(image, symbols={}).function_at(image.symbol("kernel").address) == ""


def test_a_function_that_is_only_inlined_is_refused_with_its_callers(folder: Path) -> None:
    (folder / "nested.h").write_text(NESTED)
    image = built(folder, "user.c", USER + "int g(int a) { return f(inner(a)); }\n", "-O0")
    says = r"'inner' only where it was inlined: in f at user.c:3, user.c:5; in g at user.c:7; name f, or write __attr"
    with pytest.raises(ImageError, match=says):
        image.symbol("inner")


CIRCLE = """
.file 1 "a.c"
.file 2 "b.h"
.globl kernel
kernel: .loc 1 1
nop
.loc 2 1
ret
.section .debug_abbrev
.byte 1, 0x11, 1, 0x10, 0x17, 0, 0                      // a unit with DW_AT_stmt_list
.byte 2, 0x2e, 1, 1, 0x13, 0, 0                         // a function with DW_AT_sibling
.byte 3, 0x1d, 0, 0, 0, 0                               // what is inlined, of which there is none
.section .debug_info
.4byte 2f - 1f
1: .2byte 5
.byte 1, 8
.4byte 0
.byte 1
.4byte 0
.byte 2                                                 // 17 bytes from the beginning, where its sibling is, too
.4byte {sibling}
.byte 0, 0
2:
"""


def test_entries_in_a_circle_are_refused(folder: Path) -> None:
    with pytest.raises(ImageError, match=r"corrupt ELF file .*in a circle"):
        built(folder, "circle.s", CIRCLE.format(sibling=17), "-g0")
    assert len(built(folder, "circle.s", CIRCLE.format(sibling=23), "-g0").lines) == 2


def test_line_zero_leaves_an_address_without_a_line(folder: Path) -> None:
    image = built(folder, "rows.c", 'int kernel(int x) {\n#line 0 "rows.c"\n    x *= 3;\n    return x;\n}\n', "-O0")
    kernel = image.symbol("kernel")
    lines = [str(image.source_line(pc)) for pc in range(kernel.address, kernel.address + kernel.size, 4)]
    assert [line for line, _ in groupby(lines)] == ["rows.c:1", "None", "rows.c:1"]


def test_the_end_of_a_sequence_ends_its_last_line(folder: Path) -> None:
    text = "int one(int x) { return x; }\n__attribute__((aligned(64))) int two(int x) { return x; }\n"
    one = (image := built(folder, "apart.c", text, "-ffunction-sections")).symbol("one")
    assert image.source_line(one.address + one.size) is None


def test_an_address_before_the_program_has_no_line(image: Image) -> None:
    assert image.source_line(BASE - 4) is None


def test_lines_are_sorted_and_do_not_overlap(folder: Path) -> None:
    image = built(folder, "late.c", '__attribute__((section("late"))) int last(int x) { return x; }\n' + KERNEL)
    addresses = [address for start, end, _ in image.lines for address in (start, end)]
    assert addresses == sorted(addresses)


def test_no_range_of_lines_is_empty(folder: Path) -> None:
    text = 'void kernel(void) { asm volatile(".loc 0 7\\n.loc 0 8\\nnop"); }\n'
    assert all(start < end for start, end, _ in built(folder, "rows.c", text).lines)


def test_a_program_without_debug_information_has_no_lines(folder: Path) -> None:
    assert built(folder, "kernel.c", KERNEL, "-g0").lines == ()


def test_a_line_outside_the_code_is_dropped(good: bytes, tmp_path: Path) -> None:
    assert Image.read(patched(tmp_path / "k.elf", good, CODE_FLAGS, b"\x04")).lines == ()


def test_a_function_without_lines_has_its_name_and_the_bytes_before_an_instruction_and_not_a_line_of_another(
    image: Image,
) -> None:
    twice, kernel = image.symbol("twice").address, image.symbol("kernel").address
    without = replace(image, lines=tuple(entry for entry in image.lines if (entry[0] < twice) == (kernel < twice)))
    assert image.place_of(twice) == "kernel.c:5"
    assert (without.place_of(twice), without.place_of(twice + 8)) == ("twice+0x0", "twice+0x8")
    assert without.place_of(kernel) == "kernel.c:7"
    assert replace(without, symbols={}, lines=()).place_of(twice) == f"{twice:#x}"
    first, *_ = [entry for entry in without.lines if entry[0] == kernel]
    assert replace(without, lines=(first,)).place_of(first[1]) == "near kernel.c:7"


def test_the_code_of_a_function_is_its_instructions(folder: Path) -> None:
    image = built(folder, "two.c", "int one(int x) { return x; }\nint two(int x) { return x; }\n", "-O1")
    assert image.code_of("one") == bytes.fromhex("c0035fd6")


def test_the_code_of_a_function_without_a_size_runs_to_the_end_of_its_segment(folder: Path) -> None:
    image = built(folder, "bare.s", ".text\nkernel: nop\nloop: ret\n")
    code = image.segments[1]
    assert image.code_of("kernel") == code.data
    assert code.data.startswith(bytes.fromhex("1f2003d5c0035fd6"))


def test_the_code_of_a_variable_is_refused(image: Image) -> None:
    with pytest.raises(ImageError, match=r"'counter' .* is not a function"):
        image.code_of("counter")


def test_a_global_symbol_replaces_a_local_one_of_the_same_name(folder: Path, tmp_path: Path) -> None:
    image = built(folder, "same.s", ".text\nlocal1: nop\n.globl global\nglobal: ret\n")
    renamed = image.path.read_bytes().replace(b"local1\0", b"global\0")
    (tmp_path / "same.elf").write_bytes(renamed)
    assert Image.read(tmp_path / "same.elf").symbol("global").address == image.symbol("global").address


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match=r"cannot read .*absent.elf: No such file"):
        Image.read(tmp_path / "absent.elf")


def test_a_file_that_is_no_elf_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match="is not an ELF file"):
        Image.read(patched(tmp_path / "k.c", b"int kernel;", 0, b""))


@pytest.mark.parametrize(
    ("offset", "new", "message"),
    [
        (MACHINE, (62).to_bytes(2, "little"), "64-bit little-endian Advanced Micro Devices X86-64"),
        (ENDIANNESS, b"\x02" + bytes(12) + (183).to_bytes(2, "big"), "64-bit big-endian AArch64"),
        (CLASS, b"\x01", "32-bit"),
        (PHDR_SIZE, b"\x00", "size of a header"),
        (SHDR_SIZE, b"\x00", "size of a header"),
        (P_MEMSZ, (LARGEST_IMAGE + 1).to_bytes(8, "little"), "at most 256 MiB"),
        (P_FILESZ, (1 << 20).to_bytes(8, "little") * 2, "truncated or corrupt in the segment"),
        (P_MEMSZ, (1).to_bytes(8, "little"), "truncated or corrupt in the segment"),
        (P_VADDR, bytes([255] * 8), "truncated or corrupt in the segment"),
    ],
)
def test_a_header_out_of_bounds_is_refused(good: bytes, tmp_path: Path, offset: int, new: bytes, message: str) -> None:
    with pytest.raises(ImageError, match=message):
        Image.read(patched(tmp_path / "k.elf", good, offset, new))


@pytest.mark.parametrize(("more", "refused"), [(0, False), (1, True)])
def test_an_image_of_the_largest_size_is_read(
    image: Image, good: bytes, tmp_path: Path, more: int, refused: bool
) -> None:
    size = LARGEST_IMAGE - sum(segment.size for segment in image.segments[:-1]) + more
    path = patched(tmp_path / "k.elf", good, LAST_MEMSZ, size.to_bytes(8, "little"))
    with pytest.raises(ImageError, match="at most 256 MiB") if refused else contextlib.nullcontext():
        assert Image.read(path).segments[-1].size == size


def test_a_segment_without_memory_is_left_out(image: Image, good: bytes, tmp_path: Path) -> None:
    path = patched(tmp_path / "k.elf", good, P_FILESZ, bytes(16))
    assert Image.read(path).segments == image.segments[1:]


def test_segments_that_overlap_are_refused(image: Image, good: bytes, tmp_path: Path) -> None:
    path = patched(tmp_path / "k.elf", good, P_VADDR, (image.segments[1].address + 8).to_bytes(8, "little"))
    with pytest.raises(ImageError, match="has two segments at 0x"):
        Image.read(path)


@pytest.mark.parametrize("offset", [0x1000, 0x40_0000])
def test_a_moved_image_is_the_same_further_up(image: Image, offset: int) -> None:
    moved, kernel = image.moved(offset), image.symbol("kernel").address
    assert moved.code_of("kernel") == image.code_of("kernel")
    assert moved.symbol("kernel").address == kernel + offset
    assert moved.source_line(kernel + offset) == image.source_line(kernel)


def test_a_segment_that_would_be_moved_past_the_last_address_is_refused(image: Image) -> None:
    with pytest.raises(ImageError, match=r"has a segment at 0x1\w+, which cannot be moved up by 0xf{11}f0000"):
        image.moved((1 << 64) - BASE)


LINE_TABLE = """
.globl kernel
kernel: ret
.section .debug_abbrev
.byte 1, 0x11, 0, 0x10, 0x17, 0, 0, 0                   // a unit with DW_AT_stmt_list
.section .debug_info
.4byte 2f - 1f
1: .2byte 5
.byte 1, 8
.4byte 0
.byte 1
.4byte 0
2:
.section .debug_line
.4byte 6f - 3f
3: .2byte 5
.byte 8, 0
.4byte 5f - 4f
4: .byte 4, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1
.byte 0, {directories}                                  // directories without any field
.byte 0, 0
5:
6:
"""


@pytest.mark.parametrize("directories", ["0xff, 0xff, 0xff, 0xff, 0x0f", "0x81, 0x80, 0x04"])
def test_a_table_of_more_entries_than_any_has_is_refused(folder: Path, directories: str) -> None:
    with pytest.raises(ImageError, match=r"(4294967295|65537) entries in one table"):
        built(folder, "table.s", LINE_TABLE.format(directories=directories), "-g0")


def test_debugging_information_in_the_old_compressed_form_is_refused(folder: Path) -> None:
    text = '.globl kernel\nkernel: ret\n.section .zdebug_info,"",@progbits\n.byte 0\n'
    with pytest.raises(ImageError, match="GNU's old compressed form; strip it"):
        built(folder, "old.s", text, "-g0")


def test_debugging_information_that_the_file_does_not_hold_is_refused(good: bytes, tmp_path: Path) -> None:
    elf = bytearray(good)
    table, count = int.from_bytes(elf[40:48], "little"), int.from_bytes(elf[60:62], "little")  # e_shoff, e_shnum
    for header in range(table, table + 64 * count, 64):
        if elf[header + 4 : header + 16] == bytes([1, *bytes(11)]):  # SHT_PROGBITS that is not loaded
            elf[header + 4], elf[header + 32 : header + 40] = 8, (1 << 30).to_bytes(8, "little")  # SHT_NOBITS
    (tmp_path / "k.elf").write_bytes(elf)
    with pytest.raises(ImageError, match="bytes of debugging information; at most 256 MiB"):
        Image.read(tmp_path / "k.elf")


def test_an_object_that_is_not_linked_is_refused(good: bytes, tmp_path: Path) -> None:
    with pytest.raises(ImageError, match="link it first"):
        Image.read(patched(tmp_path / "k.o", good, 56, b"\x00\x00"))  # e_phnum: an object has no program headers


def test_a_truncated_file_is_refused(good: bytes, tmp_path: Path) -> None:
    with pytest.raises(ImageError, match="truncated or corrupt"):
        Image.read(patched(tmp_path / "k.elf", good[: len(good) // 2], 0, b""))


@pytest.mark.slow
@settings(max_examples=400)
@given(data=st.data())
def test_a_damaged_file_raises_image_error_or_nothing(
    good: bytes, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    damaged = bytearray(good)
    places = st.integers(0, len(good) - 1)
    for place, byte in data.draw(st.dictionaries(places, st.integers(0, 255), min_size=1, max_size=20)).items():
        damaged[place] = byte
    path = tmp_path_factory.getbasetemp() / "damaged.elf"
    path.write_bytes(damaged[: data.draw(st.integers(len(good) // 2, len(good)))])
    with contextlib.suppress(ImageError):
        Image.read(path)
