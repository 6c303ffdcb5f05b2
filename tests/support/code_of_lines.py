"""Executed code that a test writes down, each instruction with the number of its source line, 0 for none."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from sim.check.repair.code import ExecutedCode
from support.one_instruction import named

START = 0x100
Lines = Sequence[tuple[str, int]]


class Symbol(NamedTuple):
    """A function, or data."""

    name: str
    address: int
    size: int = 0


class Segment(NamedTuple):
    """Some bytes of the program."""

    address: int
    data: bytes


class OfLines:
    """An image as far as `ExecutedCode` asks for it."""

    def __init__(self, lines: Lines, symbols: Sequence[Symbol], segments: Sequence[Segment]) -> None:
        self._lines, self.segments = lines, segments
        self.symbols: Mapping[str, Symbol] = {symbol.name: symbol for symbol in symbols}

    def place_of(self, pc: int) -> str:
        line = self._lines[(pc - START) // 4][1]
        return f"f.c:{line}" if line else f"f+{pc - START:#x}"

    def from_debug_information(self, read: Callable[[Any], Any]) -> list[Any]:
        """Of no variables."""
        return []

    def function_at(self, pc: int) -> str:
        before = [symbol for symbol in self.symbols.values() if symbol.address <= pc]
        return max(before, key=lambda symbol: symbol.address).name if before else ""

    def code_of(self, name: str) -> bytes:
        """Without a loop."""
        return b""

    def inlined_at(self, pc: int) -> str:
        return ""


def code_of(lines: Lines, symbols: Sequence[Symbol] = (), segments: Sequence[Segment] = ()) -> ExecutedCode:
    """The code from START on; slots of the stack are those of "[sp, #...]"."""
    image: Any = OfLines(lines, symbols, segments)
    instructions = {START + 4 * at: named(text) for at, (text, _) in enumerate(lines)}
    found = {pc: re.search(r"\[sp(?:, #(\w+))?\]", one.text) for pc, one in instructions.items()}
    return ExecutedCode(image, START, instructions, {pc: int(m[1] or "0", 0) for pc, m in found.items() if m})
