"""numpy functions generated from expressions: what Batch runs.

One function is compiled for each pattern (see `isa.instruction`) and then bound to registers.  It computes one
instruction on many machines at once: lanes that are computed alike are one operation over members by lanes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Protocol, cast

import numpy as np

from isa.evaluate.batch.arithmetic import Array
from isa.evaluate.batch.narrowing import BOUNDS, Narrowed
from isa.evaluate.batch.source import Source, columns, register_text
from isa.evaluate.rolling import Rolled, Roller
from isa.instruction import Instruction, Pattern
from isa.lane import Field, Load, Memory, Place, Read, Write
from isa.semantics.elementwise import Writes


class Frame(Protocol):
    """The members that an instruction runs on, all of them at the same place in the code.

    Arrays have a row for each member: `vectors` of 16 bytes, `general` (x0..x30, sp) and `flags` (nzcv, fpsr, fpcr,
    monitor, tpidr) of one number.  A function puts other arrays into the lists and changes none in place.
    """

    vectors: list[Array]
    general: list[Array]
    flags: list[Array]

    @property
    def pc(self) -> Array:
        """The address of the instruction, as a column."""

    @property
    def members(self) -> int:
        """The number of members."""

    def load(self, addresses: Array, size: int) -> Array:
        """Rows of `size` bytes, a fresh array; raises where a member must not read them."""

    def writable(self, addresses: Array, size: int) -> Callable[[Array], None]:
        """What stores rows of bytes at these addresses; raises where a member must not write them."""


Run = Callable[[Frame], Array | None]
"""Executes one instruction on a frame; returns the next program counters if the instruction writes them.

Where the frame raises, nothing has been changed.
"""


def bind(instruction: Instruction) -> Run:
    """A function that executes `instruction`."""
    return _factory(instruction.pattern)(*instruction.registers)


@cache
def _factory(pattern: Pattern) -> Callable[..., Run]:
    text, constants = generate(pattern.open_writes(), pattern.register_count, pattern.text)
    scope = dict(constants)
    exec(compile(text, f"<batch of {pattern.text}>", "exec"), scope)
    return cast("Callable[..., Run]", scope["bind"])


def generate(writes: Writes, register_count: int, title: str) -> tuple[str, dict[str, object]]:
    """The text of a function `bind`, and the constants that it names."""
    function = _Function(writes, Source())
    small_lines, constants = _small(writes) if function.source.exact_steps else ([], {})
    numbers = ", ".join(f"r{k}" for k in range(register_count))
    head = [f"def bind({numbers}):", f" # {title}", " def run(S):"]
    head += ["  V, X, F, members = S.vectors, S.general, S.flags, S.members"]
    body = [f"  {line}" for line in (*small_lines, *function.lines)]
    return "\n".join([*head, *body, " return run", ""]), constants | function.source.constants


def _small(writes: Writes) -> tuple[list[str], dict[str, object]]:
    """The lines that do it all where the numbers in the registers are small enough; none where that is no gain."""
    for bound in BOUNDS:
        narrowed = Narrowed(writes, bound)
        function = _Function(narrowed.writes, Source("s"))
        if not function.source.exact_steps and narrowed.leaves:
            kinds = [(place, "i8" if element.signed else "u8") for place, element in narrowed.leaves]
            tests = ", ".join(sorted(f"{register_text(place)}.view({kind!r})" for place, kind in kinds))
            lines = [f" {line}" for line in (*function.lines, "return")]
            return [f"if below({bound}, {tests}):", *lines], function.source.constants
    return [], {}


def column(value: Any, kind: str, members: int) -> Array:
    """A fresh column of that type from a number or a column."""
    filled = np.empty((members, 1), kind)
    filled[...] = value
    return filled


_NUMPY: dict[str, object] = {
    "column": column, "empty": np.empty, "zeros": np.zeros, "repeat": np.repeat, "where": np.where,
    "minimum": np.minimum, "maximum": np.maximum, "concatenate": np.concatenate, "stack": np.stack,
}  # fmt: skip


_COLUMNS = {"nzcv": "u1", "fpsr": "u4", "fpcr": "u4", "monitor": "O"}
"""The types of the registers that do not have 64 bits."""


def _unit(positions: list[int], bits: int) -> int:
    """The size in bits of the largest numbers that the lanes at these positions make up."""
    units = (64, 32, 16)
    adjacent = positions == list(range(positions[0], positions[-1] + 1))
    fits = (unit for unit in units if adjacent and not any(n * bits % unit for n in (positions[0], len(positions))))
    return next(fits, bits)


class _Function:
    """The lines of one function: everything is computed first, then memory is written, then registers."""

    def __init__(self, writes: Writes, source: Source) -> None:
        self.source = source
        self.source.constants |= _NUMPY
        self._roller = Roller()
        self._checks: list[str] = []
        self._stores: list[str] = []
        self._commits: list[str] = []
        self._return: list[str] = []
        for number, write in enumerate(writes):
            self._write(write, number)
        notes = [f"if {note} is not None: F[1] = F[1] | {note}" for note in self.source.notes]
        self.lines = [*self.source.lines, *self._checks, *self._stores, *self._commits, *notes, *self._return]

    def _write(self, write: Write, number: int) -> None:
        if isinstance(write.place, Memory):
            ((_, address),) = self._roller.groups([write.place.address])
            data = self._bytes(write, write.place.size, number)
            at = self.source.column(address, "u8")
            self._checks.append(f"store{number} = S.writable({at}, {write.place.size})")
            self._stores.append(f"store{number}({data})")
        elif write.place.file == "v":
            self._commits.append(f"{register_text(write.place)} = {self._bytes(write, 16, number)}")
        elif write.place.file == "pc":
            self._return = [f"return {self.source.name(self._number(write))}"]
        elif write.place.file == "zr":
            self.source.name(self._number(write))  # a load may fault, floating point raises its exceptions
        else:
            self._commits.append(f"{register_text(write.place)} = {self.source.name(self._number(write))}")

    def _bytes(self, write: Write, size: int, number: int) -> str:
        """A fresh array of the lanes of a write as rows of bytes, zero where they do not reach."""
        made = f"o{number}"
        full = len(write.lanes) * write.bits == 8 * size
        self.source.lines.append(f"{made} = {'empty' if full else 'zeros'}((members, {size}), 'u1')")
        for positions, node in self._roller.groups(write.lanes):
            self.source.lines.append(f"{made}{self._part(positions, node, write.bits)}")
        return made

    def _part(self, positions: list[int], node: Rolled, bits: int) -> str:
        if bits == 128:
            return f".view('u8'){columns([2 * positions[0], 2 * positions[0] + 1])} = {self._halves(node)}"
        value, lane = self._low_bits(node, bits), f"u{bits // 8}"
        unit = _unit(positions, bits) if node.width == len(positions) and node.carrier is not None else bits
        if unit > bits:
            wider = [position * bits // unit for position in positions[:: unit // bits]]
            return f".view('u{unit // 8}'){columns(wider)} = joined({value}, {lane!r}, 'u{unit // 8}')"
        return f".view({lane!r}){columns(positions)} = {value}"

    def _halves(self, node: Rolled) -> str:
        if isinstance(node.node, (Read, Load)):
            return f"{self.source.data(node)}.view('u8')"
        if isinstance(node.node, Field) and isinstance(node.args[0].node, (Read, Load)):
            word = node.node.lsb // 64
            return f"{self.source.data(node.args[0])}.view('u8')[:, {word}:{word + 2}]"
        return f"halves({self.source.value(node)})"

    def _low_bits(self, node: Rolled, bits: int) -> str:
        if node.number is not None:
            return str(node.number & (1 << bits) - 1)
        value = self.source.value(node)
        return value if node.carrier is not None or bits > 64 else f"field({value}, 0, {bits}, False)"

    def _number(self, write: Write) -> str:
        """The lanes of a write as a fresh column of the register's type."""
        kind = _COLUMNS.get(cast(Place, write.place).file, "u8")
        bits, parts = write.bits, []
        nodes = [self._roller.fold((lane,)) for lane in write.lanes]
        for i, node in enumerate(nodes):
            text = self._low_bits(node, bits)
            if node.low < 0 or node.high >> bits:
                text = f"column({text}, 'u{bits // 8}', members)"
            parts.append(f"column({text}, {kind!r}, members)" + (f" << {i * bits}" if i else ""))
        return " | ".join(parts)
