"""Executed instructions by address: their source lines, where a number was made, and what is kept on the stack."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import cached_property
from typing import Final, NamedTuple

from isa.instruction import Instruction
from isa.lane import Place
from sim.toolchain.branches import is_before_loop, with_targets
from sim.toolchain.dwarf.code_lines import SourceLine
from sim.toolchain.dwarf.data_lines import data_lines
from sim.toolchain.dwarf.stack_variables import stack_variables
from sim.toolchain.image import Image, ImageError

_SLOT: Final = re.compile(r"(?P<verb>ld|st)u?r(?P<part>s?[bhw]?) (?P<letter>[bhsdqwx])(?P<number>\d+|zr), \[[^\]]*\]")
_MOVE: Final = re.compile(r"f?mov (?P<to>[dwx])\d+, (?P<source>[vdwx])(?P<number>\d+)(?:\.d\[(?P<half>\d)\])?")

_LITERAL: Final = re.compile(r"ldr (?P<letter>[dq])\d+, \[x(?P<number>\d+)(?:, #(?P<offset>\w+))?\]")
REGISTER: Final = re.compile(r"\b(?P<letter>[wxvbhsdq])(?P<number>\d+)\b")
_FRAME: Final = re.compile(r"(?:mov x29, sp|add x29, sp, #(?P<offset>\w+))")
"""What lays a function's frame out, so many bytes up from the stack pointer."""
_ROOM: Final = re.compile(r"sub sp, sp, #(?P<bytes>\w+)(?:, lsl #(?P<shift>\d+))?")
_SP: Final = 31
"""The number that debug information has for the stack pointer."""
_ADDRESS: Final = re.compile(r"(?:adrp?|add) x\d+, (?:x(?P<source>\d+), )?#(?P<number>\w+)")
"""What makes an address that is known, or goes on from one."""


class Access(NamedTuple):
    """A load or store of a slot of the stack, which is so many bytes up from the stack pointer.

    `part` and `letter` say how, as in "sb" and "w" of `ldrsb w0, [sp]`; `register` is None for the zero register.
    """

    is_load: bool
    part: str
    letter: str
    register: Place | None
    slot: int


class Source(NamedTuple):
    """An instruction that a number came through; of its result the number is what lies from bit `lsb` on."""

    pc: int
    lsb: int


def place_of(register: re.Match[str]) -> Place:
    """The place of a register in the text of an instruction, which `REGISTER` found."""
    return Place("x" if register["letter"] in "wx" else "v", int(register["number"]))


class ExecutedCode:
    """The instructions of a build that were executed, by address; `slots` are those of the stack that they reach."""

    def __init__(
        self, image: Image, entry: int, instructions: Mapping[int, Instruction], slots: Mapping[int, int]
    ) -> None:
        self._slots = slots
        self.instructions = instructions
        self.entry = entry
        self._image = image
        self._addresses = sorted(instructions)

    def line(self, pc: int) -> str:
        """The source line of an instruction, or the nearest one before it in its function; of code without any, all is
        as on one line.
        """
        place = self._image.place_of(pc)
        return place.removeprefix("near ") if ":" in place else "no source line"

    def address(self, pc: int) -> str:
        """Where an instruction is in the code, such as "kernel+0x1c (0x1101c)"."""
        return f"{self._image.place_of(pc)} ({pc:#x})"

    def with_targets(self, text: str) -> str:
        """Text with the places that branches in it go to, in the place of their addresses."""
        return with_targets(text, self._image)

    def is_before_loop(self, pc: int) -> bool:
        """Whether an instruction may be of any line of a loop that it stands in front of."""
        return is_before_loop(pc, self._image)

    def inlined(self, line: str, changed: Iterable[int]) -> str:
        """By which calls the code of a line came into its function, or those of its instructions that are changed."""
        of_line = [pc for pc in changed if self.line(pc) == line]
        places = of_line or [pc for pc in self._addresses if self.line(pc) == line]
        return " and ".join(filter(None, dict.fromkeys(map(self._image.inlined_at, places))))

    def start(self, pc: int) -> int:
        """Where the function begins that an instruction is in."""
        return max((start for start in self._starts if start <= pc), default=self.entry)

    def keeps_frame(self, pc: int) -> bool:
        """Whether the function of an instruction keeps its return address and its caller's frame at x29."""
        return (self.start(pc), Place("x", 29)) in self._writers

    @cached_property
    def _starts(self) -> list[int]:
        return sorted(symbol.address for symbol in self._image.symbols.values())

    def data_at(self, address: int) -> tuple[str, int]:
        """The source line on which the program's data at an address begin, or else what they are called, and how many
        bytes lie before it; "" where there are none.
        """
        for symbol in self._image.symbols.values():
            if symbol.address <= address < symbol.address + symbol.size:
                line = self._data_lines.get(symbol.address)
                return str(line) if line is not None else f"the data of {symbol.name}", address - symbol.address
        return "", 0

    @cached_property
    def _data_lines(self) -> dict[int, SourceLine]:
        try:
            return data_lines(self._image)
        except ImageError:
            return {}

    def variable(self, pc: int) -> str:
        """What a source calls the variable that an instruction keeps on the stack or fetches from there; "" where that
        is not told.
        """
        access = self.accesses.get(pc)
        return "" if access is None else self._names.get((self.start(pc), access.slot), "")

    def kept(self, pc: int) -> str:
        """What an instruction keeps on the stack, in words: a variable by its name, if that is told, and its line."""
        name = self.variable(pc)
        return f"{name} (set at {self.line(pc)})" if name else f"what {self.line(pc)} keeps"

    def told(self, pc: int) -> str:
        """Which variables an instruction works on, in words, as far as that is told: "[sp, #12] is n", or "w8 is a, it
        makes sum" where it is kept behind the instruction on the same line.
        """
        instruction, found = self.instructions[pc], dict[str, str]()
        if (match := _SLOT.fullmatch(instruction.text)) and self.variable(pc):
            found[match[0][match[0].index("[") :]] = self.variable(pc)
        for register in REGISTER.finditer(instruction.text):
            place = place_of(register)
            made = next(self.sources(pc, place), None) if place in instruction.places_read else None
            access = self.accesses.get(made.pc) if made is not None else None
            if made is not None and access is not None and access.is_load and self.variable(made.pc):
                found.setdefault(register[0], self.variable(made.pc))
        words = [f"{what} is {name}" for what, name in found.items()]
        behind = (at for at in self._addresses if at > pc and self.line(at) == self.line(pc))
        for at in (at for at in behind if self.variable(at) and not self.accesses[at].is_load):
            kept = self.accesses[at].register
            if kept is not None and (made := next(self.sources(at, kept), None)) is not None and made.pc == pc:
                words.append(f"it makes {self.variable(at)}")
        return ", ".join(words)

    @cached_property
    def _names(self) -> dict[tuple[int, int], str]:
        """The variables of the source, by their function and slot."""
        try:
            variables = stack_variables(self._image)
        except ImageError:
            return {}
        frames = self._frames()
        found: dict[tuple[int, int], dict[str, None]] = {}
        for each in variables:
            base = 0 if each.register == _SP else frames.get(each.function)
            if base is not None:
                found.setdefault((each.function, base + each.offset), {})[each.name] = None
        return {place: next(iter(names)) for place, names in found.items() if len(names) == 1}

    def _frames(self) -> dict[int, int]:
        """By function, how far up from the stack pointer its frame at x29 is once it has its variables."""
        found = dict[int, int]()
        for pc in self._addresses:
            text, start = self.instructions[pc].text, self.start(pc)
            if match := _FRAME.fullmatch(text):
                found[start] = int(match["offset"] or "0", 0)
            elif start in found and (match := _ROOM.fullmatch(text)):
                found[start] += int(match["bytes"], 0) << int(match["shift"] or "0")
            elif start in found and text.startswith("and sp, "):  # how far that moves it is not said
                del found[start]
        return found

    def function(self, pc: int) -> str:
        """The name of the function that an instruction is in; "" where it has none."""
        return self._image.function_at(pc)

    def is_signed(self, pc: int, slot: int) -> bool:
        """Whether a variable of the function that an instruction is in has a sign: a short one, by how it is loaded."""
        start = self.start(pc)
        loads = (a for at, a in self.accesses.items() if a.is_load and a.slot == slot and self.start(at) == start)
        parts = {access.part for access in loads}
        return not parts & {"b", "h"} or bool(parts & {"sb", "sh"})

    def opens(self, pc: int) -> bool:
        """Whether an instruction is of the line at which its function opens, where arguments and constants are kept."""
        return self.line(pc) == self.line(self.start(pc))

    @cached_property
    def accesses(self) -> dict[int, Access]:
        """Loads and stores of slots of the stack, by address."""
        found = {}
        for pc, instruction in self.instructions.items():
            match = _SLOT.fullmatch(instruction.text)
            if match is not None and pc in self._slots:
                number, letter = match["number"], match["letter"]
                register = None if number == "zr" else Place("x" if letter in "wx" else "v", int(number))
                found[pc] = Access(match["verb"] == "ld", match["part"], letter, register, self._slots[pc])
        return found

    def registers(self, pc: int) -> Set[Place]:
        """The registers that the function of an instruction reads or writes."""
        return self._registers.get(self.start(pc), frozenset())

    @cached_property
    def _registers(self) -> dict[int, set[Place]]:
        found: dict[int, set[Place]] = {}
        for pc, instruction in self.instructions.items():
            found.setdefault(self.start(pc), set()).update(instruction.places_read, instruction.places_written)
        return found

    def accesses_of(self, pc: int) -> tuple[list[int], list[int]]:
        """The stores and the loads of the slot that an instruction reaches, in its function."""
        stores, loads = list[int](), list[int]()
        for at, access in self.accesses.items():
            if access.slot == self.accesses[pc].slot and self.start(at) == self.start(pc):
                (loads if access.is_load else stores).append(at)
        return stores, loads

    @cached_property
    def _stores(self) -> dict[tuple[int, int], list[int]]:
        """By function and slot the stores there, in order."""
        found: dict[tuple[int, int], list[int]] = {}
        for pc in self._addresses:
            access = self.accesses.get(pc)
            if access is not None and not access.is_load:
                found.setdefault((self.start(pc), access.slot), []).append(pc)
        return found

    @cached_property
    def _writers(self) -> dict[tuple[int, Place], list[int]]:
        found: dict[tuple[int, Place], list[int]] = {}
        for pc in self._addresses:
            for place in self.instructions[pc].places_written:
                found.setdefault((self.start(pc), place), []).append(pc)
        return found

    def sources(self, pc: int, register: Place) -> Iterator[Source]:
        """The instructions that a number came through that is in a register at an address, the last one first.

        Through slots of the stack and moves to the one that computed it, by the order of addresses: it ends where that
        does not tell.
        """
        start, at, lsb = self.start(pc), pc, 0
        while True:
            before = max((p for p in self._writers.get((start, register), ()) if p < at), default=None)
            if before is None:
                return
            yield Source(before, lsb)
            access, move = self.accesses.get(before), _MOVE.fullmatch(self.instructions[before].text)
            if access is not None:
                stored = max((p for p in self._stores.get((start, access.slot), ()) if p < before), default=None)
                if stored is None:
                    return
                at = stored
                yield Source(at, lsb)
                kept = self.accesses[at].register
                if kept is None:
                    return
                register = kept
            elif move is not None:
                register, at = Place("x" if move["source"] in "wx" else "v", int(move["number"])), before
                lsb += 64 * int(move["half"] or 0)
            else:
                return

    def only_passes_on(self, pc: int) -> bool:
        """Whether an instruction keeps on the stack or fetches from there what its own line made or kept before."""
        access = self.accesses.get(pc)
        if access is None:
            return False
        if access.is_load:
            stores = [at for at in self._stores.get((self.start(pc), access.slot), ()) if at < pc]
            return bool(stores) and self.line(stores[-1]) == self.line(pc)
        made = next(self.sources(pc, access.register), None) if access.register is not None else None
        return made is not None and self.line(made.pc) == self.line(pc)

    def is_literal(self, pc: int) -> bool:
        """Whether an instruction loads a constant of the program into a vector register."""
        match = _LITERAL.fullmatch(self.instructions[pc].text)
        if match is None:
            return False
        register = Place("x", int(match["number"]))
        made = next(self.sources(pc, register), None)
        if made is not None and self.instructions[made.pc].form.mnemonic == "add":
            made = next(self.sources(made.pc, register), None)
        return made is not None and self.instructions[made.pc].form.mnemonic in ("adr", "adrp")

    def literal(self, pc: int) -> bytes | None:
        """The constant of the program that an instruction loads into a vector register, always from one address."""
        match = _LITERAL.fullmatch(self.instructions[pc].text)
        if match is None:
            return None
        at, register, address = pc, Place("x", int(match["number"])), int(match["offset"] or "0", 0)
        while (made := next(self.sources(at, register), None)) is not None:
            part = _ADDRESS.fullmatch(self.instructions[made.pc].text)
            if part is None:
                return None
            address += int(part["number"], 0)
            if part["source"] is None:
                return self._data_at(address, 16 if match["letter"] == "q" else 8)
            at, register = made.pc, Place("x", int(part["source"]))
        return None

    def _data_at(self, address: int, size: int) -> bytes | None:
        for segment in self._image.segments:
            if segment.address <= address <= segment.address + len(segment.data) - size:
                return segment.data[address - segment.address :][:size]
        return None

    def users(self, pc: int) -> Iterator[int]:
        """The instructions of other lines behind that take what this line makes of it, by order of addresses."""
        made = {pc}
        for at in (a for a in self._addresses if a > pc and self.start(a) == self.start(pc)):
            reads = self.instructions[at].places_read
            if any(source.pc in made for register in reads for source in self.sources(at, register)):
                if self.line(at) != self.line(pc):
                    yield at
                else:
                    made.add(at)

    @cached_property
    def variables(self) -> dict[int, dict[int, int]]:
        """By function, the slots of what several lines keep or take: variables, each with the first store there."""
        loads: dict[tuple[int, int], set[str]] = {}
        for pc, access in self.accesses.items():
            if access.is_load:
                loads.setdefault((self.start(pc), access.slot), set()).add(self.line(pc))
        found: dict[int, dict[int, int]] = {}
        for (start, slot), stores in self._stores.items():
            if loads.get((start, slot), set()) != {self.line(pc) for pc in stores}:
                found.setdefault(start, {})[slot] = stores[0]
        return found
