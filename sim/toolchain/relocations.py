"""What a dynamic loader writes into a program before it runs: addresses that only it knows.

The tables are read from the memory of the program, where the dynamic segment points to them (System V ABI, chapter 5;
ELF for the Arm 64-bit Architecture, 5.7.16 and 7.7), so that a program without sections has them too; a static program
without a dynamic segment has them in sections.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from enum import IntEnum
from typing import Final, NamedTuple

from sim.toolchain.image import Image, ImageError, Resolver, Segment, Unfinished

Bind = Callable[[Collection[str]], Mapping[str, int]]
"""The addresses of symbols that the program does not define, by name."""

_WORD: Final = struct.Struct("<Q")
_ADDRESSES: Final = 1 << 64
_MOST_ENTRIES: Final = 1 << 22
"""Of one table: a library of 256 MiB has a quarter of that."""


_SAME_INFO, _SAME_STEP, _SAME_ADDEND, _HAS_ADDEND = 1, 2, 4, 8
"""Flags of a group of Android's packed relocations."""


class DynamicTag(IntEnum):
    """Entries of the dynamic segment that matter here."""

    NULL, NEEDED, STRTAB, SYMTAB, RELA, RELASZ = 0, 1, 5, 6, 7, 8
    REL, PLTRELSZ, JMPREL = 17, 2, 23
    INIT_ARRAY, INIT_ARRAYSZ, PREINIT_ARRAY, PREINIT_ARRAYSZ = 25, 27, 32, 33
    RELRSZ, RELR = 35, 36
    ANDROID_REL, ANDROID_RELA, ANDROID_RELASZ = 0x6000000F, 0x60000011, 0x60000012
    ANDROID_RELR, ANDROID_RELRSZ = 0x6FFFE000, 0x6FFFE001


class RelocationKind(IntEnum):
    """Relocations of a linked program (AAELF64 table 5.7.16)."""

    NONE, ABS64, COPY, GLOB_DAT, JUMP_SLOT, RELATIVE = 0, 257, 1024, 1025, 1026, 1027
    TLS_DTPMOD, TLS_DTPREL, TLS_TPREL, TLSDESC, IRELATIVE = 1028, 1029, 1030, 1031, 1032


_OF_SYMBOL: Final = (RelocationKind.ABS64, RelocationKind.GLOB_DAT, RelocationKind.JUMP_SLOT)
_THREAD_LOCAL: Final = (
    RelocationKind.TLS_DTPMOD,
    RelocationKind.TLS_DTPREL,
    RelocationKind.TLS_TPREL,
    RelocationKind.TLSDESC,
)
THREAD_POINTER: Final = 0x7F00_0000_0000
"""Far from stack and arrays, and aligned as no variable asks for more."""
_THREAD_ROOM: Final = 64
"""Bytes from the thread pointer that are there in any case: with Android's eight words, of which the sixth is the stack
protector's (bionic, tls_defines.h)."""
_DESCRIBED: Final = THREAD_POINTER - (1 << 16)
_ROOM_AROUND: Final = 1 << 16
_GET_ADDRESS: Final = _DESCRIBED + 8
_ACCESS_CODE: Final = struct.pack("<6I", 0xF9400400, 0xD65F03C0, 0xD53BD041, 0xF9400400, 0x8B010000, 0xD65F03C0)
"""What a loader lends to programs that do not know where a variable is.

For descriptors: ldr x0, [x0, #8]; ret.  As __tls_get_addr: mrs x1, tpidr_el0; ldr x0, [x0, #8]; add x0, x0, x1; ret.
In both the second word of what x0 points to says how far behind the thread pointer the variable is.
"""
_STB_WEAK, _STT_GNU_IFUNC, _SHN_UNDEF = 2, 10, 0


class _Relocation(NamedTuple):
    """`symbol` is a number of the symbol table, 0 for none."""

    place: int
    kind: int
    symbol: int
    addend: int


class _Symbol(NamedTuple):
    name: str
    value: int
    size: int
    is_weak: bool
    is_resolver: bool
    is_defined: bool


def relocated(image: Image, bind: Bind) -> Image:
    """The program with its relocations applied; what nothing defines is bound to what `bind` says of it.

    Indirect functions are left in `resolvers`, for their code decides.  The variables of one thread are put behind a
    thread pointer.  Raises ImageError for tables that are malformed or of another kind.
    """
    if image.unfinished == Unfinished():
        return image
    return _Loader(image).loaded(bind)


def _signed_numbers(data: bytes) -> Iterator[int]:
    """SLEB128 numbers of 64 bits (DWARF 5, 7.6), up to one that is not whole or longer."""
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if shift > 70:
            return
        if not byte & 128:
            yield value - (1 << shift) if byte & 64 else value
            value = shift = 0


class _Loader:
    """The memory of a program, as it is written to."""

    def __init__(self, image: Image) -> None:
        self._image = image
        self._data = [bytearray(segment.data) for segment in image.segments]
        self._starts = [segment.address for segment in image.segments]
        entries = self._tags(image.unfinished.dynamic)
        self._tag = dict(entries)
        self._bias = image.unfinished.bias
        self._thread = image.unfinished.thread
        self._lends = False
        self._thread_offset = self._thread.offset if self._thread is not None else 0
        self._needed = [self._string(value) for tag, value in entries if tag == DynamicTag.NEEDED]

    def loaded(self, bind: Bind) -> Image:
        relocations = list(self._relocations())
        symbols = {r.symbol: self._symbol(r.symbol) for r in relocations if r.symbol}
        unknown = {
            symbols[r.symbol].name: symbols[r.symbol].size if r.kind == RelocationKind.COPY else 0
            for r in relocations
            if r.symbol
            and (r.kind == RelocationKind.COPY or not (symbols[r.symbol].is_defined or symbols[r.symbol].is_weak))
        }  # fmt: skip
        lent = {"__tls_get_addr": _GET_ADDRESS} if "__tls_get_addr" in unknown else {}
        bound = {**bind([name for name, size in unknown.items() if not size and name not in lent]), **lent}
        self._lends = bool(lent)
        resolvers, unfilled = list[Resolver](), dict[str, range]()
        for place, kind, number, addend in relocations:
            symbol = symbols.get(number, _Symbol("", 0, 0, False, False, True))
            if kind == RelocationKind.RELATIVE:
                self._store(place, self._bias + addend)
            elif kind == RelocationKind.IRELATIVE:
                self._store(place, 0)
                resolvers.append(Resolver(place, (self._bias + addend) % _ADDRESSES, ""))
            elif kind == RelocationKind.COPY:
                unfilled[symbol.name] = range(place, place + symbol.size)
            elif kind in _OF_SYMBOL and symbol.is_resolver and symbol.is_defined:
                self._store(place, 0)
                resolvers.append(Resolver(place, (self._bias + symbol.value) % _ADDRESSES, symbol.name))
            elif kind in _OF_SYMBOL and symbol.is_defined:
                self._store(place, (self._bias if number else 0) + symbol.value + addend)
            elif kind in _OF_SYMBOL:
                self._store(place, bound[symbol.name] + addend if symbol.name in bound else 0)  # a weak one is null
            elif kind in _THREAD_LOCAL:
                variable = self._thread_offset + symbol.value + addend
                if not symbol.is_defined and symbol.name in bound:
                    variable = bound[symbol.name] + addend - THREAD_POINTER
                self._store_thread_local(place, kind, variable)
            elif kind != RelocationKind.NONE:
                raise self._refused(f"dynamic relocations of the kind {kind}, which is none of AArch64's for a program")
        segments = tuple(
            replace(segment, data=bytes(data)) for segment, data in zip(self._image.segments, self._data, strict=True)
        ) + tuple(self._thread_segments())
        return replace(
            self._image,
            segments=segments,
            unfinished=Unfinished(),
            needed=tuple(self._needed),
            resolvers=tuple(resolvers),
            unfilled=unfilled,
            constructors=tuple(self._constructors()),
            thread_pointer=THREAD_POINTER if self._thread is not None else 0,
        )

    def _store_thread_local(self, place: int, kind: int, variable: int) -> None:
        """Of a variable so far behind the thread pointer (AAELF64 5.7.16); offsets in a module count from there."""
        if kind == RelocationKind.TLSDESC:
            self._lends = True
            self._store(place, _DESCRIBED)
            self._store(place + 8, variable)
        else:
            self._store(place, 1 if kind == RelocationKind.TLS_DTPMOD else variable)

    def _thread_segments(self) -> Iterator[Segment]:
        """The variables of a thread as it starts, and the function that descriptors of variables name."""
        thread = self._thread
        if thread is None:
            return
        end = THREAD_POINTER + thread.offset + max(thread.size, _THREAD_ROOM)
        for segment in self._image.segments:
            first, last = segment.address - _ROOM_AROUND, segment.address + segment.size + _ROOM_AROUND
            if first < end and last > _DESCRIBED:
                raise self._refused(f"a segment at {segment.address:#x}, where the variables of a thread are put")
        variables = self._bytes(thread.template.start, len(thread.template))
        data = bytes(thread.offset) + variables
        if self._lends:
            yield Segment(_DESCRIBED, _ACCESS_CODE, len(_ACCESS_CODE), "rx")
        yield Segment(THREAD_POINTER, data, max(thread.offset + thread.size, _THREAD_ROOM), "rw")

    def _relocations(self) -> Iterator[_Relocation]:
        tag = self._tag
        if DynamicTag.REL in tag or DynamicTag.ANDROID_REL in tag:
            raise self._refused("dynamic relocations without addends (DT_REL), which AArch64 has not")
        words = [
            (tag.get(DynamicTag.RELR, 0), tag.get(DynamicTag.RELRSZ, 0)),
            (tag.get(DynamicTag.ANDROID_RELR, 0), tag.get(DynamicTag.ANDROID_RELRSZ, 0)),
        ]
        for place in (place for start, size in words for place in self._relative(start, size)):
            yield _Relocation(place, RelocationKind.RELATIVE, 0, self._word(place))
        if DynamicTag.ANDROID_RELA in tag:
            yield from self._packed(tag[DynamicTag.ANDROID_RELA], tag.get(DynamicTag.ANDROID_RELASZ, 0))
        tables = [
            (tag.get(DynamicTag.RELA, 0), tag.get(DynamicTag.RELASZ, 0)),
            (tag.get(DynamicTag.JMPREL, 0), tag.get(DynamicTag.PLTRELSZ, 0)),
        ]
        moved = [range(self._bias + start, self._bias + start + size) for start, size in tables if size]
        for table in [*moved, *self._image.unfinished.relocations]:
            for offset, info, addend in struct.iter_unpack("<QQq", self._bytes(table.start, _size(table) // 24 * 24)):
                yield _Relocation(self._bias + offset, info & 0xFFFFFFFF, info >> 32, addend)

    def _relative(self, start: int, size: int) -> Iterator[int]:
        """The places of a table of RELR: an address, or 63 bits for the words behind the last ones."""
        place = 0
        for (entry,) in _WORD.iter_unpack(self._bytes(self._bias + start, size // 8 * 8) if size else b""):
            if entry & 1:
                yield from (place + 8 * bit for bit in range(63) if entry >> bit + 1 & 1)
                place += 8 * 63
            else:
                yield self._bias + entry
                place = self._bias + entry + 8

    def _packed(self, start: int, size: int) -> Iterator[_Relocation]:
        """Android's packed table, of groups of relocations that share what their flags say.

        Source: the packed relocations of LLVM's lld and of bionic's linker: "APS2", then SLEB128 numbers.
        """
        data = self._bytes(self._bias + start, size)
        if data[:4] != b"APS2":
            raise self._refused("packed relocations of another form than Android's APS2")
        numbers = _signed_numbers(data[4:])
        try:
            left, offset, addend = next(numbers), next(numbers), 0
            if left * 8 > sum(map(len, self._data)):
                raise self._refused("more packed relocations than it has words")
            while left > 0:
                count, flags = next(numbers), next(numbers)
                if not 0 < count <= left:
                    raise self._refused("packed relocations in groups of a wrong size")
                step = next(numbers) if flags & _SAME_STEP else None
                info = next(numbers) if flags & _SAME_INFO else None
                if not flags & _HAS_ADDEND:
                    addend = 0
                elif flags & _SAME_ADDEND:
                    addend += next(numbers)
                for _ in range(count):
                    offset += next(numbers) if step is None else step
                    kind = next(numbers) if info is None else info
                    addend += next(numbers) if flags & _HAS_ADDEND and not flags & _SAME_ADDEND else 0
                    place, symbol = (self._bias + offset) % (1 << 64), (kind >> 32) % (1 << 32)
                    yield _Relocation(place, kind % (1 << 32), symbol, (addend + (1 << 63)) % (1 << 64) - (1 << 63))
                left -= count
        except StopIteration:
            raise self._refused("packed relocations that end too early") from None

    def _constructors(self) -> Iterator[int]:
        """The functions of the arrays that start-up code goes through, in its order."""
        tag = self._tag
        pairs = (
            (DynamicTag.PREINIT_ARRAY, DynamicTag.PREINIT_ARRAYSZ),
            (DynamicTag.INIT_ARRAY, DynamicTag.INIT_ARRAYSZ),
        )
        arrays = [(self._bias + tag[start], tag.get(size, 0)) for start, size in pairs if start in tag]
        arrays += [(array.start, _size(array)) for array in self._image.unfinished.constructors if not arrays]
        for start, size in arrays:
            for (function,) in _WORD.iter_unpack(self._bytes(start, size // 8 * 8)):
                if function not in (0, _ADDRESSES - 1):  # both stand for none
                    yield function

    def _tags(self, dynamic: range) -> list[tuple[int, int]]:
        entries = list[tuple[int, int]]()
        for tag, value in struct.iter_unpack("<QQ", self._bytes(dynamic.start, _size(dynamic) // 16 * 16)):
            if tag == DynamicTag.NULL:
                break
            entries.append((tag, value))
        return entries

    def _symbol(self, number: int) -> _Symbol:
        entry = self._bytes(self._bias + self._tag.get(DynamicTag.SYMTAB, 0) + 24 * number, 24)
        name, info, _, section, value, size = struct.unpack("<IBBHQQ", entry)
        weak, resolver = info >> 4 == _STB_WEAK, info & 15 == _STT_GNU_IFUNC
        return _Symbol(self._string(name), value, size, weak, resolver, section != _SHN_UNDEF)

    def _string(self, offset: int) -> str:
        start = self._bias + self._tag.get(DynamicTag.STRTAB, 0) + offset
        number = self._segment(start)
        data, at = self._data[number], start - self._starts[number]
        end = data.find(b"\0", at)
        if not 0 <= end - at < 1 << 16:
            raise self._refused("a name that does not end")
        return data[at:end].decode(errors="replace")

    def _segment(self, address: int) -> int:
        number = bisect_right(self._starts, address) - 1
        if number < 0 or address - self._starts[number] >= len(self._data[number]):
            raise self._refused(f"a dynamic table or relocation at {address:#x}, outside of what it stores")
        return number

    def _bytes(self, address: int, size: int) -> bytes:
        if not size:
            return b""
        number = self._segment(address)
        start = address - self._starts[number]
        found = bytes(self._data[number][start : start + size])
        if len(found) != size or size > 24 * _MOST_ENTRIES:
            raise self._refused(f"a dynamic table at {address:#x} that is longer than what it stores")
        return found

    def _word(self, address: int) -> int:
        return int.from_bytes(self._bytes(address, 8), "little")

    def _store(self, address: int, value: int) -> None:
        number = self._segment(address)
        start = address - self._starts[number]
        if start + 8 > len(self._data[number]):
            raise self._refused(f"a relocation at {address:#x}, outside of what it stores")
        self._data[number][start : start + 8] = _WORD.pack(value % _ADDRESSES)

    def _refused(self, what: str) -> ImageError:
        return ImageError(f"{self._image.path} has {what}; build or copy it again, or give the object files")


def _size(places: range) -> int:
    """As `len`, which has no number for what a damaged file may say."""
    return places.stop - places.start


def bounds(segments: tuple[Segment, ...]) -> range:
    """From the first address of a program to the end of its last segment."""
    return range(segments[0].address, max(segment.address + segment.size for segment in segments))
