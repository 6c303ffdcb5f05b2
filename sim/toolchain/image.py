"""A linked AArch64 program as it lies in memory, and which source line each address came from.

The only file that imports pyelftools. Malformed input of any kind leaves here as ImageError.
"""

import io
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeVar
from zlib import crc32

from elftools.construct.core import MetaArray
from elftools.construct.lib.container import Container
from elftools.dwarf.dwarfinfo import DWARFInfo
from elftools.elf.descriptions import describe_e_machine
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from isa.errors import LanewiseError
from sim.toolchain.dwarf.code_lines import CodeLines, InlinedCall, SourceLine, code_lines
from sim.toolchain.mangled import functions_called

LARGEST_IMAGE = 256 << 20  # bytes of memory: far above any kernel, far below what a corrupt header asks for

_MOST_ENTRIES = 1 << 16  # of one table of DWARF, such as the files of a unit
_SHF_ALLOC = 2
MISSING_PREFIX = "__lanewise_missing_"
"""What a symbol that nothing defines is called in a linked program; the symbol's own name follows."""
MISSING_ROOM = 1 << 16
"""Bytes from one address that stands for a missing symbol to the next."""
_CONSTRUCTORS = ("SHT_PREINIT_ARRAY", "SHT_INIT_ARRAY")  # types of sections, System V ABI chapter 4

_ADDRESSES = 1 << 64
_THREAD_CONTROL = 16  # bytes at the thread pointer that are the system's
_LARGEST_ALIGNMENT = 1 << 16  # of thread-local variables: the largest page of AArch64
_READS_THREAD_POINTER = re.compile(rb"[\x40-\x5f]\xd0\x3b\xd5")  # MRS of TPIDR_EL0 to any register, Arm ARM C6.2
_PROGRAM_HEADER, _SECTION_HEADER = 56, 64  # sizes of Elf64_Phdr and Elf64_Shdr, System V ABI chapter 4
_PERMISSION_BITS = {"r": 4, "w": 2, "x": 1}  # PF_R, PF_W, PF_X
_SYMBOL_TYPES = ("STT_FUNC", "STT_OBJECT", "STT_NOTYPE")
_Result = TypeVar("_Result")


class ImageError(LanewiseError):
    """A file or a name that cannot be used, as one sentence: what was given, what is allowed, what to do."""


@dataclass(frozen=True)
class Segment:
    """One loadable segment: `data` at `address`, zero-filled to `size` bytes; permissions as in "rx"."""

    address: int
    data: bytes
    size: int
    permissions: str


@dataclass(frozen=True)
class Symbol:
    """A named address; `size` in bytes, 0 where the assembler source gave none."""

    name: str
    address: int
    size: int


class Resolver(NamedTuple):
    """A word of memory at `place` that gets what the function at `function` returns: an indirect function, IFUNC."""

    place: int
    function: int
    name: str


@dataclass(frozen=True)
class ThreadBlock:
    """What a thread gets of its own: `size` bytes, of which the first are a copy of what is in memory at `template`."""

    template: range = range(0)
    size: int = 0
    alignment: int = 1

    @property
    def offset(self) -> int:
        """From the thread pointer to the block, behind two words of the system's (AAELF64, variant 1 of TLS)."""
        return _THREAD_CONTROL + (self.template.start - _THREAD_CONTROL) % self.alignment


@dataclass(frozen=True)
class Unfinished:
    """Where a linked program tells what a loader has to do with it, as addresses; `bias` is how far it was moved.

    `thread` is there where the program has variables of threads, or reads the thread pointer.
    """

    bias: int = 0
    dynamic: range = range(0)
    relocations: tuple[range, ...] = ()
    constructors: tuple[range, ...] = ()
    thread: ThreadBlock | None = None


@dataclass(frozen=True, kw_only=True)
class Image:
    """A linked program. `lines` are (start, end, line), sorted, end excluded; `symbols` prefer global to local;
    `inlined` are the calls that compilers have put the function in the place of, sorted.

    `missing` are symbols that nothing defines, each bound to an address where no memory is, so that whoever gets there
    is stopped (`missing_at`); `unfilled` are variables whose content is in a library that is not there.  `needed` are
    the names of such libraries.  `constructors` are functions that start-up code would call, and which were not.
    `resolvers` are words that indirect functions are still to fill, and `unfinished` what a loader is still to do:
    both are empty in what `open_image`, `build` and `link` return.  `thread_pointer` is what TPIDR_EL0 holds in a call,
    0 where the program has no use for it: one thread's variables are in a segment of their own, from that address.
    `file` is the content of the ELF file.
    """

    path: Path
    segments: tuple[Segment, ...]
    symbols: Mapping[str, Symbol]
    lines: tuple[tuple[int, int, SourceLine], ...]
    file: bytes = field(repr=False)
    inlined: tuple[InlinedCall, ...] = ()
    missing: Mapping[str, int] = field(default_factory=dict)
    unfilled: Mapping[str, range] = field(default_factory=dict)
    needed: tuple[str, ...] = ()
    constructors: tuple[int, ...] = ()
    resolvers: tuple[Resolver, ...] = ()
    unfinished: Unfinished = Unfinished()
    thread_pointer: int = 0

    @classmethod
    def read(cls, path: Path) -> "Image":
        """The image in a little-endian 64-bit AArch64 ELF file, as it is; ImageError for anything else.

        Symbols, lines and types that were split off are those of the file that .gnu_debuglink names, where it lies
        beside this one or in .debug there, with the content that this one tells of.
        """
        try:
            data = path.read_bytes()
        except OSError as error:
            raise ImageError(f"cannot read {path}: {error.strerror}; give the path of a linked ELF file") from error
        with _parsing(path):
            elf = _aarch64(path, data)
            segments = _segments(path, elf, data)
            code = [range(s.address, s.address + s.size) for s in segments if "x" in s.permissions]
            told = _split_off(path, elf)
            telling = elf if told is None else _aarch64(path, told)
            told_of_code = _told_of_code(path, telling)
            lines = [entry for entry in told_of_code.lines if any(entry[0] in addresses for addresses in code)]
            # Locals come first in the table (System V ABI), so a global of the same name replaces them.
            entries = _symbol_entries(telling)
            symbols = {name: Symbol(name, entry["st_value"], entry["st_size"]) for name, entry in entries}
            missing = {
                name.removeprefix(MISSING_PREFIX): symbol.address
                for name, symbol in symbols.items()
                if name.startswith(MISSING_PREFIX)
            }
            there = {
                name: symbol
                for name, symbol in symbols.items()
                if name not in missing and not name.startswith(MISSING_PREFIX)
            }
            return Image(
                path=path,
                segments=segments,
                symbols=there,
                lines=tuple(sorted(lines, key=lambda entry: entry[:2])),
                inlined=told_of_code.inlined,
                file=data if told is None else told,
                missing=missing,
                unfinished=replace(_unfinished(elf), thread=_thread_block(path, elf, segments)),
            )

    def moved(self, offset: int) -> "Image":
        """The position-independent program that much further up; the offset in bytes, a multiple of its alignment.

        ImageError where a segment would lie past the last address.
        """
        for segment in self.segments:
            if segment.address + segment.size + offset > _ADDRESSES:
                high = f"a segment at {segment.address:#x}, which cannot be moved up by {offset:#x}"
                raise ImageError(f"{self.path} has {high}; build or copy it again")
        segments = tuple(replace(segment, address=segment.address + offset) for segment in self.segments)
        symbols = {name: replace(symbol, address=symbol.address + offset) for name, symbol in self.symbols.items()}
        lines = tuple((start + offset, end + offset, line) for start, end, line in self.lines)
        inlined = tuple(each.moved(offset) for each in self.inlined)
        left = self.unfinished
        unfinished = Unfinished(
            left.bias + offset,
            _moved(left.dynamic, offset),
            tuple(_moved(table, offset) for table in left.relocations),
            tuple(_moved(table, offset) for table in left.constructors),
            left.thread and replace(left.thread, template=_moved(left.thread.template, offset)),
        )
        return replace(self, segments=segments, symbols=symbols, lines=lines, inlined=inlined, unfinished=unfinished)

    @property
    def absent(self) -> dict[str, range]:
        """The addresses of what nothing here has: missing symbols, and variables that are not filled."""
        return {n: range(at, at + MISSING_ROOM) for n, at in self.missing.items()} | dict(self.unfilled)

    def missing_at(self, address: int) -> str | None:
        """The symbol that an address stands for and that nothing here has, else None."""
        return next((name for name, place in self.absent.items() if address in place), None)

    def symbol(self, name: str) -> Symbol:
        """The defined symbol of that name, or that of the C++ function that a source calls so: `scaled` of `scaled<3>`.

        ImageError with near names when there is none, and with all of them where several functions are called so.
        """
        if name in self.symbols:
            return self.symbols[name]
        if called := functions_called(name, self.symbols):
            if len(called) == 1:
                return self.symbols[next(iter(called))]
            told = ", ".join(f"{linked} ({source})" for linked, source in sorted(called.items()))
            raise ImageError(f"{self.path} has {len(called)} functions {name!r}: give one of {told}")
        if calls := [call for call in self.inlined if name in (call.function, call.function.partition("<")[0])]:
            raise ImageError(f"{self.path} has {name!r} only where it was inlined: {self._callers_of(calls)}")
        # Those in no segment are of debug information, where the assembler's own labels are kept.
        names = [
            one.name
            for one in self.symbols.values()
            if any(0 <= one.address - segment.address <= segment.size for segment in self.segments)
        ]
        raise ImageError(f"{self.path} defines no symbol {name!r}; it defines {nearest(name, names)}")

    def _callers_of(self, calls: Sequence[InlinedCall]) -> str:
        """Which functions with code of their own some calls were inlined in, and what to do about it."""
        starts = [(at, name) for at, name in self._starts if any(at in places for places in self._code)]
        callers = dict[str, dict[SourceLine, None]]()
        for call in calls:
            at = bisect_right(starts, call.start, key=lambda entry: entry[0]) - 1
            outer = self.inlined_calls(call.start)[-1]
            callers.setdefault(starts[at][1] if at >= 0 else "code without a name", {})[outer.line] = None
        told = "; ".join(f"in {name} at {', '.join(map(str, lines))}" for name, lines in callers.items())
        first = next(iter(callers))
        return f"{told}; name {first}, or write __attribute__((noinline)) before the function and compile it again"

    @property
    def _code(self) -> list[range]:
        return [range(s.address, s.address + s.size) for s in self.segments if "x" in s.permissions]

    def source_line(self, address: int) -> SourceLine | None:
        """The line that the instruction at the address was compiled from; None where the compiler recorded none."""
        at = bisect_right(self.lines, address, key=lambda entry: entry[0]) - 1
        return self.lines[at][2] if at >= 0 and address < self.lines[at][1] else None

    def inlined_at(self, address: int) -> str:
        """By which calls an instruction came into the function that it is in, to be read behind its line: "of rounded,
        inlined at fixed.h:21 of scaled, inlined at kernel.c:41"; "" where it was written there.
        """
        return " ".join(map(str, self.inlined_calls(address)))

    def inlined_calls(self, address: int) -> tuple[InlinedCall, ...]:
        """The calls by which an instruction came into the function that it is in, the innermost one first."""
        found = [
            (calls, bisect_right(calls, address, key=lambda call: call.start) - 1) for calls in self._inlined_by_depth
        ]
        return tuple(calls[at] for calls, at in reversed(found) if at >= 0 and address < calls[at].end)

    @cached_property
    def _inlined_by_depth(self) -> list[list[InlinedCall]]:
        """Those of one depth do not overlap."""
        depths = sorted({call.depth for call in self.inlined})
        return [[call for call in self.inlined if call.depth == depth] for depth in depths]

    def from_debug_information(self, read: Callable[[DWARFInfo], _Result]) -> _Result:
        """What `read` makes of the debug information; ImageError where that is malformed."""
        with _parsing(self.path):
            return read(_dwarf(_aarch64(self.path, self.file)))

    @cached_property
    def _starts(self) -> list[tuple[int, str]]:
        """The addresses of all symbols with their names, in order."""
        return sorted((symbol.address, symbol.name) for symbol in self.symbols.values())

    def place_of(self, address: int) -> str:
        """The source line of an instruction as text, "near kernel.c:41" where only an instruction before it in its
        function has one, or in what was inlined at the same call; the line of that call where none has.  "kernel+0x1c"
        where nothing in the function has a line, "0x1101c" where no function is known either.
        """
        own = self.source_line(address)
        if own is not None:
            return str(own)
        segment = max((each.address for each in self.segments if each.address <= address), default=address)
        before = bisect_right(self._starts, address, key=lambda entry: entry[0]) - 1
        start, name = self._starts[before] if before >= 0 else (segment, "")
        if start < segment:
            start, name = segment, ""
        last = bisect_right(self.lines, address, key=lambda entry: entry[0]) - 1
        inlined = self.inlined_at(address)
        for row, _, line in map(self.lines.__getitem__, range(last, -1, -1)):
            if row < start:
                break
            if self.inlined_at(row) == inlined:
                return f"near {line}"
        if calls := self.inlined_calls(address):
            return str(calls[0].line)
        if last >= 0 and self.lines[last][0] >= start:
            return f"near {self.lines[last][2]}"
        return f"{name}+{address - start:#x}" if name else f"{address:#x}"

    def function_at(self, address: int) -> str:
        """The name of the function that an instruction is in; "" where nothing before it in its segment has one."""
        places = next((places for places in self._code if address in places), range(0))
        last = bisect_right(self._starts, address, key=lambda entry: entry[0])
        names = (name for start, name in reversed(self._starts[:last]) if start in places and name[0] != ".")
        return next(names, "")

    def full_place_of(self, address: int) -> str:
        """The source line with the calls by which it came there, if it was inlined: `place_of` and `inlined_at`."""
        return f"{self.place_of(address)} {self.inlined_at(address)}".rstrip()

    def runs_as(self, other: "Image") -> bool:
        """Whether the other is the same program, with the same bytes and names at the same addresses."""
        told = [(each.segments, each.symbols, each.missing, each.constructors) for each in (self, other)]
        return told[0] == told[1]

    def code_of(self, name: str) -> bytes:
        """The machine code of a function; one without a size runs to the end of its segment, padding included.

        ImageError when the name is not defined or is not in an executable segment.
        """
        symbol = self.symbol(name)
        for segment in self.segments:
            offset = symbol.address - segment.address
            if "x" in segment.permissions and 0 <= offset < len(segment.data):
                return segment.data[offset : offset + (symbol.size or segment.size)]
        raise ImageError(f"{name!r} in {self.path} is not a function: give a symbol of an executable segment")


def nearest(name: str, names: Iterable[str]) -> str:
    """The names that are like one that is not among them, else the first ones, and how many more there are."""
    every = sorted({one for one in names if one.startswith("__") <= name.startswith("__")})  # not what linkers add
    near = get_close_matches(name, every) or every[:8]
    more = len(every) - len(near)
    return ", ".join(near) + (f" and {more:,} more" if more else "") or "none at all"


def require_aarch64(path: object, data: bytes) -> None:
    """ImageError unless the data is an ELF file for little-endian 64-bit AArch64; the path is what messages name."""
    with _parsing(path):
        _aarch64(path, data)


def defined_globals(path: object, data: bytes) -> frozenset[str]:
    """The names that an object file offers to others.  ImageError as `require_aarch64`, and where it is malformed."""
    with _parsing(path):
        entries = _symbol_entries(_aarch64(path, data))
        return frozenset(name for name, entry in entries if entry["st_info"]["bind"] != "STB_LOCAL")


def undefined_of_threads(path: object, data: bytes) -> frozenset[str]:
    """The thread-local variables that an object file takes from others.  ImageError as `defined_globals`."""
    with _parsing(path):
        table = _aarch64(path, data).get_section_by_name(".symtab")
        symbols = table.iter_symbols() if isinstance(table, SymbolTableSection) else ()
        return frozenset(
            symbol.name
            for symbol in symbols
            if symbol.entry["st_shndx"] == "SHN_UNDEF" and symbol.entry["st_info"]["type"] == "STT_TLS"
        )


def producers(path: object, data: bytes) -> list[str]:
    """What compilers wrote into the section .comment of an object or a program: "GCC: (Debian 12.2.0-14) 12.2.0".

    ImageError as `defined_globals`.
    """
    with _parsing(path):
        section = _aarch64(path, data).get_section_by_name(".comment")
        said = (section.data() if section is not None else b"").decode("utf-8", "replace").split("\0")
        return [text for text in said if text and not text.startswith("Linker: ")]


@contextmanager
def _parsing(path: object) -> Iterator[None]:
    """ImageError for whatever goes wrong within."""
    try:
        yield
    except ImageError:
        raise
    except Exception as error:  # pyelftools raises whatever its parser met first: KeyError, OverflowError, ...
        cause = f"{type(error).__name__}: {error}"
        raise ImageError(f"{path} is a truncated or corrupt ELF file ({cause}); build or copy it again") from error


def _aarch64(path: object, data: bytes) -> ELFFile:
    if not data.startswith(b"\x7fELF"):
        raise ImageError(f"{path} is not an ELF file; give a linked AArch64 program, or a source file to build()")
    elf = ELFFile(io.BytesIO(data))
    machine = describe_e_machine(elf["e_machine"])
    if elf["e_machine"] != "EM_AARCH64" or elf.elfclass != 64 or not elf.little_endian:
        given = f"{elf.elfclass}-bit {'little' if elf.little_endian else 'big'}-endian {machine}"
        raise ImageError(f"{path} is {given}; only 64-bit little-endian AArch64 runs here: build it for aarch64-linux")
    # Without this, a size of 0 makes pyelftools read one header again for as often as the file says.
    segments_fit = not elf["e_phnum"] or elf["e_phentsize"] == _PROGRAM_HEADER
    sections_fit = not elf["e_shoff"] or elf["e_shentsize"] == _SECTION_HEADER
    if not (segments_fit and sections_fit):
        raise ImageError(f"{path} is a corrupt ELF file (size of a header); build or copy it again")
    return elf


def _split_off(path: Path, elf: ELFFile) -> bytes | None:
    """The file of the debug information that a program was parted from; None where there is none, or another."""
    link = elf.get_section_by_name(".gnu_debuglink")
    said = b"" if link is None else link.data()
    name, checksum = said.partition(b"\0")[0].decode(errors="replace"), int.from_bytes(said[-4:], "little")
    for folder in (path.parent, path.parent / ".debug") if name and "/" not in name else ():
        if (folder / name).is_file() and (folder / name).stat().st_size <= LARGEST_IMAGE:
            content = (folder / name).read_bytes()
            if crc32(content) == checksum:
                return content
    return None


def _segments(path: Path, elf: ELFFile, data: bytes) -> tuple[Segment, ...]:
    """By address; bounded in sum before anything is copied, since many headers may name the same bytes."""
    may = sum(_PERMISSION_BITS.values())  # what nobody may touch is as good as not there
    headers = [s.header for s in elf.iter_segments("PT_LOAD") if s["p_memsz"] and s["p_flags"] & may]
    size = sum(header["p_memsz"] for header in headers)
    if elf["e_type"] not in ("ET_EXEC", "ET_DYN") or not headers:
        raise ImageError(f"{path} has no loadable segments ({elf['e_type']}); link it first, with ld.lld or build()")
    if size > LARGEST_IMAGE:
        limit = f"at most {LARGEST_IMAGE >> 20} MiB is allowed: make its arrays smaller"
        raise ImageError(f"{path} has segments of {size} bytes of memory; {limit}")
    segments = []
    for header in headers:
        address, size, stored = header["p_vaddr"], header["p_memsz"], header["p_filesz"]
        content = data[header["p_offset"] : header["p_offset"] + stored]
        if len(content) != stored or stored > size or address + size > _ADDRESSES:
            raise ImageError(f"{path} is truncated or corrupt in the segment at {address:#x}; build or copy it again")
        permissions = "".join(letter for letter, bit in _PERMISSION_BITS.items() if header["p_flags"] & bit)
        segments.append(Segment(address, content, size, permissions))
    segments.sort(key=lambda segment: segment.address)
    for one, other in pairwise(segments):
        if other.address < one.address + one.size:
            raise ImageError(f"{path} has two segments at {other.address:#x}; build or copy it again")
    return tuple(segments)


def _unfinished(elf: ELFFile) -> Unfinished:
    """A static program has no dynamic segment; its tables are in sections, which no program with one needs."""
    dynamic = next((range(s["p_vaddr"], s["p_vaddr"] + s["p_filesz"]) for s in elf.iter_segments("PT_DYNAMIC")), None)
    if dynamic is not None:
        return Unfinished(dynamic=dynamic)
    loaded = [s for s in elf.iter_sections() if s["sh_flags"] & _SHF_ALLOC and s["sh_size"]]
    places = [(s["sh_type"], range(s["sh_addr"], s["sh_addr"] + s["sh_size"])) for s in loaded]
    relocations = tuple(place for kind, place in places if kind == "SHT_RELA")
    return Unfinished(relocations=relocations, constructors=tuple(p for kind, p in places if kind in _CONSTRUCTORS))


def _thread_block(path: Path, elf: ELFFile, segments: tuple[Segment, ...]) -> ThreadBlock | None:
    """Of PT_TLS; an empty one where there is none and code reads the thread pointer all the same."""
    header = next((segment.header for segment in elf.iter_segments("PT_TLS") if segment["p_memsz"]), None)
    if header is None:
        reads = any("x" in segment.permissions and _READS_THREAD_POINTER.search(segment.data) for segment in segments)
        return ThreadBlock() if reads else None
    address, stored, size, alignment = (header[key] for key in ("p_vaddr", "p_filesz", "p_memsz", "p_align"))
    is_power_of_two = alignment & (alignment - 1) == 0
    if stored > size or size > LARGEST_IMAGE or not is_power_of_two or alignment > _LARGEST_ALIGNMENT:
        raise ImageError(f"{path} has a corrupt segment of thread-local variables; build or copy it again")
    return ThreadBlock(range(address, address + stored), size, max(alignment, 1))


def _moved(places: range, offset: int) -> range:
    return range(places.start + offset, places.stop + offset)


def _symbol_entries(elf: ELFFile) -> Iterator[tuple[str, Container]]:
    """Of the defined symbols; a stripped library keeps those that it exports.

    Left out are mapping symbols ($x and $d, ELF for the Arm 64-bit Architecture 5.5.4), which are no name of anything.
    """
    table = elf.get_section_by_name(".symtab") or elf.get_section_by_name(".dynsym")
    if not isinstance(table, SymbolTableSection):  # without sections, what is exported is in the dynamic segment
        table = next(iter(elf.iter_segments("PT_DYNAMIC")), None)
    for symbol in () if table is None else table.iter_symbols():
        name, entry = symbol.name, symbol.entry
        kind = entry["st_info"]["type"]
        if name and not name.startswith("$") and kind in _SYMBOL_TYPES and entry["st_shndx"] != "SHN_UNDEF":
            yield name, entry


def _bound_arrays() -> None:
    """Repairs pyelftools: a file of a few bytes may count billions of entries of no bytes, and all would be made."""
    parse = MetaArray._parse

    def bounded(array: MetaArray, stream: BinaryIO, context: Container) -> object:
        if (count := array.countfunc(context)) > _MOST_ENTRIES:
            raise ValueError(f"{count} entries in one table")
        return parse(array, stream, context)

    MetaArray._parse = bounded


_bound_arrays()


def _dwarf(elf: ELFFile) -> DWARFInfo:
    """Of this file alone, and as it is linked."""
    return elf.get_dwarf_info(relocate_dwarf_sections=False, follow_links=False)


def _told_of_code(path: Path, elf: ELFFile) -> CodeLines:
    """What debug information says of the code.

    The size is bounded before anything is unpacked: sections may be compressed, or be zeros that the file does not
    hold; those of the older compressed form (.zdebug_info) do not tell what they will be.
    """
    if elf.has_section(".zdebug_info"):
        raise ImageError(f"{path} has debugging information in GNU's old compressed form; strip it or compile it again")
    size = sum(section.data_size for section in elf.iter_sections() if section.name.startswith(".debug"))
    if size > LARGEST_IMAGE:
        limit = f"at most {LARGEST_IMAGE >> 20} MiB is allowed: strip it"
        raise ImageError(f"{path} has {size} bytes of debugging information; {limit}")
    return code_lines(_dwarf(elf))
