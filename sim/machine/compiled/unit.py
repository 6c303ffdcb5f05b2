"""A unit: a compiled library of blocks, loaded, with what one machine needs to run it."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator
from ctypes import CDLL, Array, byref, c_char, c_char_p, c_int, c_int64, c_void_p, create_string_buffer
from functools import cache
from pathlib import Path
from struct import calcsize
from typing import NamedTuple

from sim.machine.compiled.native_memory import SITE, NativeMemory
from sim.machine.compiled.text import Why
from sim.machine.memory import Memory


class _Library:
    """What all machines share."""

    def __init__(self, path: Path) -> None:
        library = CDLL(str(path))
        self.run = library.run
        self.run.argtypes, self.run.restype = (c_void_p, c_void_p, c_void_p, c_void_p), c_int
        described = json.loads(c_char_p.in_dll(library, "description").value or b"")
        self.sites: int = described["sites"]
        self.entries = frozenset[int](described["entries"])
        self.code: list[list[int]] = described["code"]
        self.blocks: list[list[int]] = described["blocks"]
        self.not_in_c = {int(pc, 0): str(reason) for pc, reason in described["not_in_c"].items()}


load = cache(_Library)
"""The library of a file, loaded once."""


class Ran(NamedTuple):
    """How many instructions were executed, and why no more."""

    executed: int
    why: Why


class CompiledUnit:
    """A library on the memory of one machine, which holds the code that it was made of."""

    def __init__(self, path: Path, memory: Memory, native: NativeMemory) -> None:
        self._library = load(path)
        self._memory, self._native = memory, native
        self._code = self._code_now()
        self._sites: Array[c_char] = create_string_buffer(calcsize(SITE) * (self._library.sites + 1))
        self._seen = create_string_buffer(len(self._library.blocks))
        self._version = 0

    @property
    def entries(self) -> frozenset[int]:
        """Where it can be entered."""
        return self._library.entries

    def entered(self) -> Iterator[int]:
        """The addresses of the instructions in the blocks that were entered."""
        for seen, (start, end) in zip(self._seen.raw, self._library.blocks, strict=True):
            if seen:
                yield from range(start, end, 4)

    def has(self, pc: int) -> bool:
        """Whether the instruction at an address is one of its."""
        at = bisect_right(self._library.code, pc, key=lambda bounds: bounds[0]) - 1
        return at >= 0 and pc < self._library.code[at][1]

    def reason(self, pc: int) -> str:
        """Why the instruction at an address is not in C."""
        return self._library.not_in_c[pc]

    def is_current(self) -> bool:
        """Whether memory still holds the code that it was made of."""
        return self._code == self._code_now()

    def run(self, state: Array[c_char], budget: int) -> Ran:
        """Execute from the program counter of a state on, at most so many instructions."""
        if self._version != self._native.version:
            self._sites.raw = self._native.sites(self._library.sites + 1)
            self._version = self._native.version
        left = c_int64(budget)
        why = Why(self._library.run(state, self._sites, self._seen, byref(left)))
        return Ran(budget - left.value, why)

    def _code_now(self) -> bytes:
        return b"".join(self._memory.read(start, end - start) for start, end in self._library.code)
