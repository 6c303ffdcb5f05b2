"""The compiled engine: finds or makes the unit of a program counter, and runs it in slices."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from ctypes import create_string_buffer, memmove
from functools import cache
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import isa
from isa.errors import LanewiseError
from isa.rows import TABLE
from isa.table import Table
from sim.machine.compiled.native_memory import NativeMemory
from sim.machine.compiled.reach import MOST, Decode, reach, surroundings
from sim.machine.compiled.state import packed, unpack_into
from sim.machine.compiled.text import Why, unit_text
from sim.machine.compiled.time_slice import TimeSlice
from sim.machine.compiled.unit import CompiledUnit, Ran
from sim.machine.errors import ExecutionError
from sim.machine.host_compiler import HostCompiler
from sim.machine.memory import Memory
from sim.machine.registers import RegisterStorage

_AT_ONCE, _PATIENCE = 8, 1000
"""So many units are made when they are met; before each further one twice as many instructions are interpreted as
before the last: code that changes itself is not compiled over and over."""
_STOPS = 16
"""Addresses inside of units at which runs ended; past so many, runs to a further one are interpreted."""

_REASONS = {
    Why.BUDGET: "fewer instructions are allowed than the block has",
    Why.MEMORY: "an access that faults, writes code or crosses regions",
    Why.MODES: "floating point that the host does otherwise in these modes or for these operands",
}


class Left(NamedTuple):
    """So many instructions were executed, up to `pc`; there the interpreter has to go on, where a `reason` is given.

    With one instruction, or with all up to the next branch.
    """

    executed: int
    pc: int
    reason: str = ""
    one: bool = False


class CompiledEngine:
    """Compiled code on the memory and the registers of one machine."""

    def __init__(
        self, compiler: HostCompiler, memory: Memory, registers: RegisterStorage, decode: Decode,
        features: frozenset[str], table: Table,
    ) -> None:  # fmt: skip
        self._compiler, self._memory, self._registers = compiler, memory, registers
        self._decode, self._features, self._table = decode, features, table
        self._native = NativeMemory(memory)
        self._state = create_string_buffer(1024)
        self._units: dict[int, CompiledUnit] = {}
        self._code_version = memory.code_version
        self._stops: set[int] = set()
        self._slice = TimeSlice(0.01, least=1 << 12, largest=1 << 26)
        self._made = self._waiting = 0
        self._broken = ""
        self.executed = 0
        """How many instructions were executed as compiled code."""
        self.interpreted: Counter[tuple[str, str]] = Counter()
        """How many were left to the interpreter, by the form of the first one and the reason."""

    def entered(self) -> Iterator[int]:
        """The addresses of the instructions in the blocks that were entered and have not changed."""
        self._notice_changes(None)
        for unit in self._distinct_units():
            yield from unit.entered()

    def run(self, pc: int, until: int | None, limit: int) -> Left:
        """Execute from `pc` on for a slice: at most `limit` instructions, and not the one at `until`."""
        self._notice_changes(until)
        unit = self._units.get(pc)
        if unit is None:
            found = self._new_unit(pc, until)
            if isinstance(found, str):
                return Left(0, pc, found)
            unit = found
        ran, pc = self._enter(unit, pc, min(limit, self._slice.size))
        self.executed += ran.executed
        match ran.why:
            case Why.NOT_IN_C:
                return Left(ran.executed, pc, unit.reason(pc), one=True)
            case Why.MEMORY | Why.MODES:
                return Left(ran.executed, pc, _REASONS[ran.why], one=ran.why == Why.MODES)
            case Why.BUDGET if ran.executed == 0:
                return Left(0, pc, _REASONS[ran.why])
        return Left(ran.executed, pc)

    def note_interpreted(self, form: str, reason: str, count: int) -> None:
        """So many instructions were interpreted from one of a form on."""
        self.interpreted[form, reason] += count
        self._waiting -= count

    def _enter(self, unit: CompiledUnit, pc: int, budget: int) -> tuple[Ran, int]:
        state, given = self._state, packed(self._registers, pc)
        memmove(state, given, len(given))
        start = perf_counter()
        ran = unit.run(state, budget)
        if ran.why == Why.BUDGET and budget == self._slice.size:
            self._slice.took(perf_counter() - start)
        return ran, unpack_into(self._registers, state.raw)

    def _notice_changes(self, until: int | None) -> None:
        """Forget units of which code has changed, and those that would run past `until`."""
        self._native.refresh()
        if self._code_version != self._memory.code_version:
            self._code_version = self._memory.code_version
            self._keep({unit for unit in self._distinct_units() if unit.is_current()})
        if until is not None and until not in self._stops:
            passing = {unit for unit in self._distinct_units() if unit.has(until)}
            if passing:
                self._stops.add(until)
                self._keep(self._distinct_units() - passing)

    def _distinct_units(self) -> set[CompiledUnit]:
        return set(self._units.values())

    def _keep(self, units: set[CompiledUnit]) -> None:
        self._units = {pc: unit for pc, unit in self._units.items() if unit in units}

    def _new_unit(self, pc: int, until: int | None) -> CompiledUnit | str:
        """The unit that begins at an address; why there is none."""
        if self._broken:
            return self._broken
        if any(unit.has(pc) for unit in self._distinct_units()):
            return "a block was entered in its middle"
        if self._waiting > 0:
            return "code that is new or has changed, again and again"
        if len(self._stops) > _STOPS:
            return "runs end at too many places of the code"
        try:
            self._decode(pc)
        except ExecutionError:
            return "no instruction that can be executed"
        try:
            unit = CompiledUnit(self._library(pc, until), self._memory, self._native)
        except LanewiseError as error:
            self._broken = str(error).splitlines()[0]
            return self._broken
        self._made += 1
        self._waiting = _PATIENCE << min(self._made - _AT_ONCE, 20) if self._made >= _AT_ONCE else 0
        self._units.update(dict.fromkeys(unit.entries - self._units.keys(), unit))
        return unit

    def _library(self, pc: int, until: int | None) -> Path:
        regions = self._memory.regions
        region = regions[bisect_right(regions, pc, key=lambda each: each.start) - 1]
        inside = surroundings(pc, region)
        stops = sorted(stop for stop in {*self._stops, until} if stop is not None and stop in inside)

        def text() -> str:
            return unit_text(reach(pc, inside, stops, self._decode, MOST))

        if self._table is not TABLE:
            made = text()
            return self._compiler(hashlib.sha256(made.encode()).hexdigest(), lambda: made)
        settings = json.dumps([semantics_digest(), sorted(self._features), pc, inside.start, stops])
        code = self._memory.read(inside.start, len(inside)).rstrip(b"\0")
        return self._compiler(hashlib.sha256(settings.encode() + code).hexdigest(), text)


@cache
def semantics_digest() -> str:
    """A digest of all that generated C follows from but its code: the sources of `isa` and of the machine."""
    sources = [*sorted(Path(isa.__file__).parent.rglob("*.py")), *sorted(Path(__file__).parents[1].rglob("*.py"))]
    digest = hashlib.sha256(version("capstone").encode())
    for source in sources:
        digest.update(source.read_bytes())
    return digest.hexdigest()
