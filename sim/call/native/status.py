"""What the emulator computes NZCV, FPSR, FPCR and TPIDR_EL0 from, in pieces of its memory.

While no piece changes, these registers are as they were when they were last read through Unicorn, which is what costs.
The pieces lie beside the other registers (`sim.call.native.in_place`), and are looked for by what changes with values
that are set; a byte that only instructions change lies between such bytes, which is confirmed by executing some.
"""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import string_at
from functools import cache
from random import Random

import numpy as np

from isa.lane import Place
from sim.call.native.in_place import InPlace, registers_in_place
from sim.emulator import Emulator

PIECE, MOST_PIECES = 16, 24
"""Bytes of a piece, and how many there may be: `kept` in driver.c."""
_BEHIND = 1024
"""Bytes behind the vectors that are searched; before them, all from the general registers on."""
_BITS = {"nzcv": 0xF, "fpsr": 0x0800_009F, "fpcr": 0x07C8_0000, "tpidr": 2**64 - 1}
"""The registers, by the bits that are set."""
_TOGETHER = ("nzcv",), ("fpsr", "fpcr"), ("tpidr",)
_EXECUTED = bytes.fromhex("""
ff031feb e1033faa 3f001feb 0200f092 5f0400b1 3f0800b1
02f6034f 2304004f 44d4234e 3f441bd5
02fe034f 2384004f 4414434e 3f441bd5
02106e1e 03e4002f 4418631e 3f441bd5
231c184e 640ce36e 3f441bd5
0318a052 03441bd5 1f441bd5 41d01bd5 42d01bd5
""")
"""Flags: cmp xzr, xzr; mvn x1, xzr; cmp x1, xzr; mov x2, #0x7fffffffffffffff; cmn x2, #1; cmn x1, #2.
Inexact: fmov v2.4s, #1.0; movi v3.4s, #1; fadd v4.4s, v2.4s, v3.4s; msr fpsr, xzr.
In half precision, which has a status of its own: the same of .8h.
Division by zero: fmov d2, #1.0; movi d3, #0; fdiv d4, d2, d3; msr fpsr, xzr.
Saturation in the upper lane alone: mov v3.d[1], x1; uqadd v4.2d, v3.2d, v3.2d; msr fpsr, xzr.
mov w3, #0xc00000; msr fpcr, x3; msr fpcr, xzr; msr tpidr_el0, x1; msr tpidr_el0, x2."""


def pieces_of_status(emulator: Emulator, place: InPlace) -> tuple[int, ...]:
    """Their addresses, none where they are not found.  Its status registers are other ones afterwards."""
    random, spans = Random(1), _spans()
    addresses = [[*range(place.vectors + start, place.vectors + end, PIECE)] for start, end in spans]
    for files, pieces in zip(_TOGETHER, addresses, strict=bool(spans)):
        contents = set[bytes]()
        for _ in range(8):
            _set(emulator, files, random)
            contents.add(_bytes(pieces))
        if len(contents) < 3:  # of 8 random values; another version of the emulator, or another layout
            return ()
    return tuple(address for pieces in addresses for address in pieces)


@cache
def _spans() -> tuple[tuple[int, int], ...]:
    """Where they are, from and to, counted from the vectors, for each of `_TOGETHER`; none where they are not found.

    Searched for once, in an emulator of its own.
    """
    emulator = Emulator()
    place = registers_in_place(emulator)
    if place is None:
        return ()
    random, window = Random(0), (place.general, place.vectors + 32 * place.stride + _BEHIND)
    spans = list[tuple[int, int]]()
    for files in _TOGETHER:
        first = np.frombuffer(string_at(window[0], window[1] - window[0]), np.uint8)
        changed = np.zeros(len(first), bool)
        for _ in range(64):
            _set(emulator, files, random)
            changed |= np.frombuffer(string_at(window[0], len(first)), np.uint8) != first
        found = np.flatnonzero(changed) + window[0] - place.vectors
        if not len(found):
            return ()
        spans.append((int(found[0]) // PIECE * PIECE, (int(found[-1]) // PIECE + 1) * PIECE))
    pieces = [place.vectors + at for span in spans for at in range(*span, PIECE)]
    return tuple(spans) if len(pieces) <= MOST_PIECES and _tell_all(emulator, pieces) else ()


def _tell_all(emulator: Emulator, pieces: Sequence[int]) -> bool:
    """Whether, instruction by instruction, what the pieces hold tells the values of the registers."""
    emulator.memory.map(0, 4096, "rx")
    emulator.memory.write(0, _EXECUTED)
    emulator.pc = 0
    values = dict[bytes, list[int]]()
    for _ in range(len(_EXECUTED) // 4):
        emulator.run(max_instructions=1)
        now = [emulator.read(Place(file)) for file in _BITS]
        if values.setdefault(_bytes(pieces), now) != now:
            return False
    return all(len({*numbers}) > 1 for numbers in zip(*values.values(), strict=True))


def _set(emulator: Emulator, files: Sequence[str], random: Random) -> None:
    for file in files:
        emulator.write(Place(file), random.getrandbits(64) & _BITS[file])


def _bytes(pieces: Sequence[int]) -> bytes:
    return b"".join(string_at(address, PIECE) for address in pieces)
