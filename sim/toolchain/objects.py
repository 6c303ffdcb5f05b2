"""Any file that holds a compiled function, or can be compiled to one, opened as an image."""

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sim.toolchain import archive
from sim.toolchain.archive import Member
from sim.toolchain.compilers import build, build_text, compiled, compiler_version, is_source, link
from sim.toolchain.image import Image, ImageError, Symbol, defined_globals, nearest, producers, require_aarch64
from sim.toolchain.mangled import functions_called
from sim.toolchain.relocations import relocated
from sim.toolchain.starting import constructed, free_room, resolved
from sim.toolchain.tools import ToolchainError, ToolchainUnavailable

_ELF = b"\x7fELF"
_LIBRARIES = (archive.MAGIC, archive.THIN_MAGIC)
_BITCODE = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")  # bare and wrapped
_E_TYPE, _ET_REL, _ET_DYN = slice(16, 18), 1, 3  # the field of Elf64_Ehdr, System V ABI chapter 4
_GCC_LTO = b"__gnu_lto_slim"
_PLAIN_NAME = re.compile(r"[\w.$@]+")
_MEMBER = re.compile(r"(?s)(?P<library>.+)\((?P<member>[^()]+)\)")
_ADDRESS = re.compile(r"0x[0-9a-f]{1,16}")
_OLD_DIALECT = re.compile(r"unknown relocation \(5(1[2-9]|2\d)\)")  # TLSGD and TLSLD: AAELF64 table 5.7.11.2
_LINKER_SAYS = re.compile(r"^ld\.lld: error: (.+)", re.MULTILINE)


def open_image(
    path: Path, symbol: str, *flags: str, base: int = 0x10000, beside: Sequence[Path] = (), constructors: bool = False
) -> Image:
    """The image in which the symbol is defined, from whatever the content of the file is; its `path` is the given one.

    - source text, by its suffix: compiled with the flags as `build` does;
    - a relocatable object: linked at the base;
    - a static library: linked from the members that the symbol needs; `lib.a(member.o)` names one member, which then
      takes what it lacks from the others;
    - a linked program; a position-independent one is moved up by the base, and gets its dynamic relocations.

    Sources, objects and libraries `beside` are linked with it, unless it is linked already: then that is refused. What
    is compiled already ignores the flags. Objects, libraries and programs get what compilers call on their own, as
    sources do; objects and libraries are kept in the cache by content. What nothing defines is bound as `build` binds
    it. Nothing of the file is executed but, on a machine, the choice of its indirect functions; with `constructors`
    also those, once.

    Of a linked program the symbol may be an address, as in "0x10a4", which it has in the file: one that was stripped
    has no names.

    ImageError, one sentence, for a file that cannot be used and for a symbol that it does not define, with near names;
    else what `build` raises.
    """
    member = _MEMBER.fullmatch(str(path))
    with_it = {f"{number}-{other.name}": _beside(other, flags) for number, other in enumerate(beside)}
    if member and not os.path.exists(path):
        image = _from_member(Path(member["library"]), member["member"], base, with_it)
    elif (content := _content(path)).startswith(_ELF):
        require_aarch64(path, content)
        kind = int.from_bytes(content[_E_TYPE], "little")
        if _GCC_LTO in content:
            raise ImageError(f"{path} holds no machine code but what gcc -flto keeps; compile it without -flto")
        if kind == _ET_REL:
            image = _linked(path, {"kernel.o": content, **with_it}, base)
        elif beside:
            raise ImageError(f"{path} is linked already, so {beside[0]} cannot be linked with it; give its objects")
        else:
            image = Image.read(path)
            if _ADDRESS.fullmatch(symbol) and symbol not in image.symbols:
                image = replace(image, symbols={**image.symbols, symbol: _at_address(image, symbol)})
            image = _loaded(image.moved(base) if kind == _ET_DYN and image.segments[0].address == 0 else image)
    elif content.startswith(_LIBRARIES):
        members = archive.members(path, content)
        files = {"kernel.a": archive.whole(path, content), **with_it}
        try:
            image = _linked(path, files, base, f"--undefined={symbol}")
        except ImageError:
            _defined(path, members, symbol)
            raise
        if symbol not in image.symbols:
            image = _linked(path, files, base, *(f"--undefined={name}" for name in _defined(path, members, symbol)))
    elif content.startswith(_BITCODE):
        raise ImageError(f"{path} is LLVM bitcode, not machine code; compile it without -flto")
    elif beside:
        image = _linked(path, {"kernel.o": compiled(path, *flags), **with_it}, base)
    else:
        image = build(path, *flags, base=base)
    image = replace(image, path=path)
    if _ADDRESS.fullmatch(symbol) and symbol not in image.symbols:
        raise ImageError(f"{path} is not linked, so {symbol} is no address in it: give the name of the function")
    image.symbol(symbol)
    return constructed(image) if constructors else image


def compilers_of(files: Iterable[Path]) -> str:
    """What compiles these sources, or has compiled these objects, libraries and programs, as far as they can tell it.

    ToolchainUnavailable where there is no compiler for a source.
    """
    found = dict[str, None]()
    for file in files:
        told = [compiler_version()] if is_source(file) else _said_by(file)
        found |= dict.fromkeys(told or [f"not told by {file.name}"])
    return ", ".join(found)


def _said_by(file: Path) -> list[str]:
    """What an object, a library or a program says of its compilers; nothing of one that cannot be opened."""
    member = _MEMBER.fullmatch(str(file)) if not os.path.exists(file) else None
    path = Path(member["library"]) if member else file
    try:
        content = _content(path)
        if not content.startswith(_LIBRARIES):
            return producers(file, content)
        parts = [part for part in archive.members(path, content) if member is None or part.name == member["member"]]
        return [text for part in parts if part.content.startswith(_ELF) for text in producers(file, part.content)]
    except ImageError:
        return []


def _beside(path: Path, flags: Sequence[str]) -> bytes:
    """What is linked with a kernel: a source's object, an object, or a library."""
    if is_source(path):
        return compiled(path, *flags)
    content = _content(path)
    if content.startswith(_LIBRARIES):
        return archive.whole(path, content)
    require_aarch64(path, content)
    if int.from_bytes(content[_E_TYPE], "little") != _ET_REL:
        raise ImageError(f"{path} is linked already, so nothing can be linked with it; give its sources or objects")
    return content


def _loaded(image: Image) -> Image:
    """A linked program as a loader leaves it: what it takes from libraries is what compilers call on their own."""
    beside = list[Image]()

    def bind(names: Collection[str]) -> Mapping[str, int]:
        words = [name for name in names if _PLAIN_NAME.fullmatch(name)]
        if not words:
            return {}
        text = "".join(f'.globl "{name}"\n.xword "{name}"\n' for name in words)
        beside.append(build_text(f".rodata\n{text}", ".s", base=free_room(image)))
        return {**{name: symbol.address for name, symbol in beside[0].symbols.items()}, **beside[0].missing}

    image = relocated(image, bind)
    for other in beside:
        image = replace(
            image,
            segments=(*image.segments, *other.segments),
            symbols={**other.symbols, **image.symbols},
            lines=tuple(sorted((*image.lines, *other.lines), key=lambda entry: entry[:2])),
            missing=other.missing,
        )
    return resolved(image)


def _at_address(image: Image, symbol: str) -> Symbol:
    """What a program that was stripped has at an address."""
    address = int(symbol, 16)
    code = [range(s.address, s.address + s.size, 4) for s in image.segments if "x" in s.permissions]
    if not any(address in places for places in code):
        where = ", ".join(f"{places.start:#x} to {places.stop:#x}" for places in code) or "nowhere"
        raise ImageError(f"{image.path} has no instruction at {symbol}: its code is at {where}")
    return Symbol(symbol, address, 0)


def _content(path: Path) -> bytes:
    try:
        return archive.read_regular(path)
    except OSError as error:
        advice = "give a source, an object, a library or a linked program"
        raise ImageError(f"cannot read {path}: {error.strerror}; {advice}") from error


def _defined(path: Path, members: list[Member], symbol: str) -> Iterable[str]:
    """The symbol, or the C++ functions that a source calls so, found by looking into all of a library: a second for two
    thousand members.  Raises ImageError where it has neither, with what may be wrong with it.
    """
    code = [member for member in members if not member.content.startswith(_BITCODE)]
    names = [name for member in code for name in defined_globals(f"{path}({member.name})", member.content)]
    if found := [symbol] if symbol in names else list(functions_called(symbol, dict.fromkeys(names))):
        return found
    if len(code) < len(members):
        raise ImageError(f"{path} has members of LLVM bitcode, not machine code; compile them without -flto")
    if any(_GCC_LTO in member.content for member in members):
        raise ImageError(f"{path} has members without machine code, made by gcc -flto; compile them without -flto")
    raise ImageError(f"{path} defines no symbol {symbol!r}; it defines {nearest(symbol, names)}")


def _from_member(library: Path, name: str, base: int, with_it: Mapping[str, bytes]) -> Image:
    content = _content(library)
    if not content.startswith(_LIBRARIES):
        raise ImageError(f"{library} is no static library, so it has no member {name!r}; give the file itself")
    members = archive.members(library, content)
    found = [member.content for member in members if member.name == name]
    if len(found) != 1:
        names = nearest(name, [member.name for member in members])
        raise ImageError(f"{library} has {len(found)} members {name!r}, and one is needed; it has {names}")
    if found[0].startswith(_BITCODE):
        raise ImageError(f"{library}({name}) is LLVM bitcode, not machine code; compile it without -flto")
    require_aarch64(f"{library}({name})", found[0])
    if _GCC_LTO in found[0]:
        raise ImageError(f"{library}({name}) holds no machine code but what gcc -flto keeps; compile without -flto")
    files = {"kernel.o": found[0], "kernel.a": archive.whole(library, content), **with_it}
    return _linked(f"{library}({name})", files, base)


def _linked(path: object, files: dict[str, bytes], base: int, *options: str) -> Image:
    """`link`, with what the linker says of a malformed file as one sentence."""
    try:
        return link(files, *options, base=base)
    except ToolchainUnavailable:
        raise
    except ToolchainError as error:
        said = _LINKER_SAYS.search(str(error))
        reason = said[1] if said else "the linker crashes on it"
        advice = "compile it without -mtls-dialect=trad" if _OLD_DIALECT.search(reason) else "build or copy it again"
        raise ImageError(f"{path} cannot be linked: {reason}; {advice}") from error
