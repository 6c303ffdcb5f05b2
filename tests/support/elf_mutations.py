"""Damaged ELF files: each is opened or refused in one sentence, in bounded time and memory."""

from __future__ import annotations

import resource
import signal
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random

from sim.machine.machine import Machine
from sim.toolchain.archive import MAGIC, THIN_MAGIC, members
from sim.toolchain.dwarf.function_types import function_signature, types_in
from sim.toolchain.image import Image, ImageError, defined_globals
from sim.toolchain.objects import open_image
from sim.toolchain.relocations import relocated
from sim.toolchain.starting import map_image, resolved
from sim.toolchain.tools import ToolchainError

SECONDS = 60.0
"""For one file of some ten kilobytes, which takes milliseconds where nothing is wrong and the machine is idle."""
_WAITING = 10
ADDRESS_SPACE = 2 << 30

_HEADER, _SEGMENT, _SECTION = 64, 56, 64  # Elf64_Ehdr, Elf64_Phdr, Elf64_Shdr: System V ABI chapter 4
_EXTREMES = (
    0,
    1,
    2,
    3,
    0x7F,
    0x80,
    0xFF,
    0xFFFF,
    0x7FFF_FFFF,
    0xFFFF_FFFF,
    1 << 40,
    1 << 62,
    (1 << 63) - 1,
    (1 << 64) - 1,
)
_Mutation = Callable[[Random, bytearray], None]


class Overtime(BaseException):
    """The file took too long; no Exception, which the code under test may turn into a sentence."""


def damaged(rng: Random, content: bytes) -> bytes:
    """One to three damages of any kind."""
    data = bytearray(content)
    for _ in range(rng.randint(1, 3)):
        rng.choice(_MUTATIONS)(rng, data)
    return bytes(data)


def flip(rng: Random, data: bytearray) -> None:
    for _ in range(rng.randint(1, 20) if data else 0):
        data[rng.randrange(len(data))] = rng.randrange(256)


def cut(rng: Random, data: bytearray) -> None:
    del data[rng.randint(0, len(data)) :]


def move(rng: Random, data: bytearray) -> None:
    """Bytes of one place also at another, as after a bad copy."""
    start, to, size = rng.randint(0, len(data)), rng.randint(0, len(data)), rng.randint(1, 64)
    data[to : to + size] = data[start : start + size]


def drop(rng: Random, data: bytearray) -> None:
    start = rng.randint(0, len(data))
    del data[start : start + rng.randint(1, 16)]


def stretch(rng: Random, data: bytearray) -> None:
    """An extreme number somewhere, as large as a field may be."""
    _put(rng, data, rng.randint(0, len(data)), rng.choice((1, 2, 4, 8)))


def damage_a_header(rng: Random, data: bytearray) -> None:
    """An extreme number in a field of the file's, a segment's or a section's header."""
    headers = [(0, _HEADER), *_tables(bytes(data))]
    start, size = rng.choice(headers)
    width = rng.choice((2, 4, 8))
    _put(rng, data, start + rng.randrange(0, size, width), width)


def damage_a_section(rng: Random, data: bytearray) -> None:
    """Bytes of one section, so that the small ones of DWARF get their share."""
    sections = [start for start, size in _tables(bytes(data)) if size == _SECTION and start + _SECTION <= len(data)]
    if sections:
        at, size = struct.unpack_from("<QQ", data, rng.choice(sections) + 24)  # sh_offset, sh_size
        for _ in range(rng.randint(1, 8)):
            _put(rng, data, at + rng.randrange(max(size, 1)), rng.choice((1, 1, 1, 2, 4)))


_MUTATIONS: tuple[_Mutation, ...] = (
    flip,
    cut,
    move,
    drop,
    stretch,
    damage_a_header,
    damage_a_section,
    damage_a_section,
)


def _put(rng: Random, data: bytearray, at: int, width: int) -> None:
    value = rng.choice((*_EXTREMES, rng.getrandbits(64))) & (1 << 8 * width) - 1
    if at + width <= len(data):
        data[at : at + width] = value.to_bytes(width, "little")


def _tables(data: bytes) -> Iterator[tuple[int, int]]:
    """Place and size of each header that the file's header tells of, at most sixty of a kind."""
    if data.startswith(b"\x7fELF") and len(data) >= _HEADER:
        segments, sections = struct.unpack_from("<QQ", data, 32)  # e_phoff, e_shoff
        segment_count, _, section_count = struct.unpack_from("<HHH", data, 56)  # e_phnum, e_shentsize, e_shnum
        yield from ((segments + index * _SEGMENT, _SEGMENT) for index in range(min(segment_count, 60)))
        yield from ((sections + index * _SECTION, _SECTION) for index in range(min(section_count, 60)))


def limit_memory() -> None:
    """Of this process and those it starts."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Overtime where what is within takes longer: of the processor, as beside others it takes more by the clock.

    By the clock so many times as much is allowed, which ends what only waits.
    """

    def stop(number: int, frame: object) -> None:
        raise Overtime

    timers = (signal.ITIMER_PROF, signal.SIGPROF, seconds), (signal.ITIMER_REAL, signal.SIGALRM, _WAITING * seconds)
    previous = [signal.signal(number, stop) for _, number, _ in timers]
    for timer, _, most in timers:
        signal.setitimer(timer, most)
    try:
        yield
    finally:
        for (timer, number, _), before in zip(timers, previous, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(number, before)


def read(path: Path) -> None:
    """All that reads such a file without other programs."""
    content = path.read_bytes()
    if content.startswith((MAGIC, THIN_MAGIC)):
        for member in members(path, content):
            defined_globals(member.name, member.content)
    elif content[16:18] == b"\1\0":  # ET_REL
        defined_globals(path, content)
    else:
        image = Image.read(path)
        if content[16:18] == b"\3\0" and image.segments[0].address == 0:  # ET_DYN
            image = image.moved(0x10000)
        image = resolved(relocated(image, lambda names: dict.fromkeys(names, 0)))
        map_image(Machine().memory, image)
        with suppress(ImageError):
            function_signature(image, "kernel")
        with suppress(ImageError):
            types_in(image)("row")


def link(path: Path) -> None:
    open_image(path, "kernel")


def outcome(act: Callable[[Path], None], path: Path) -> str:
    """ "opened" or "refused"; else what went wrong."""
    try:
        with limited(SECONDS):
            act(path)
    except (ImageError, ToolchainError) as error:
        said = str(error).split("\n")[0]
        return f"wrong: {said}" if "MemoryError" in said or "stopped by signal" in said or not said else "refused"
    except Overtime:
        return f"wrong: more than {SECONDS} s"
    except BaseException as error:
        return f"wrong: {type(error).__name__}: {error}"
    return "opened"


def damaged_outcome(folder: Path, option: str, seed: int) -> str:
    """What comes of one of the folder's files, damaged by the seed: "files" are read, "links" linked."""
    rng = Random(seed)
    linkable = ("*.o", "*.a")
    patterns = linkable if option == "links" else (*linkable, "*.elf", "*.elf", "*.so")
    original = rng.choice(sorted(folder.glob(rng.choice(patterns))))
    path = folder / f"{option}-{seed}"
    path.write_bytes(damaged(rng, original.read_bytes()))
    result = outcome(link if option == "links" else read, path)
    path.unlink()
    return result
