"""One instruction on three engines from one state: generated Python, the exact evaluator, the emulator.

All registers, the flags, QC, FPCR, the program counter and the data are compared; where an instruction stops, the
class of the error and its place.  What the emulator keeps of a store that faults is not compared (it is not precise).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from typing import NamedTuple, TypeVar

from isa.decode import decode
from isa.evaluate import exact
from isa.instruction import Instruction
from isa.lane import Place
from sim.call.definitions import excused
from sim.emulator import Emulator
from sim.machine.errors import ExecutionError, MemoryFault, Trap
from sim.machine.machine import Machine
from sim.machine.registers import VISIBLE_PLACES, RegisterStorage
from sim.verify.states import CODE, DATA, DATA_SIZE, FPCR_BITS, FPSR_BITS

LITERALS = CODE + 0x400
"""Where the page of code has data, for literal loads."""
_LOAD_EXCLUSIVE, _CLEAR_EXCLUSIVE = CODE + 8, CODE + 16
_CLREX = 0xD5033F5F
_MONITOR = Place("monitor")


Engine = TypeVar("Engine", Machine, Emulator)


class InstructionOutcome(NamedTuple):
    """Whether the instruction faulted, on all engines alike, and the first difference between them or ""."""

    faulted: bool
    difference: str


@cache
def _emulator() -> Emulator:
    """One for all benches, of which one is used at a time: to make it takes longer than to run a form."""
    return _mapped(Emulator())


def _mapped(engine: Engine) -> Engine:
    engine.memory.map(CODE, 4096, "rx")
    engine.memory.map(DATA, DATA_SIZE, "rw")
    return engine


class Bench:
    """The three engines, each with the same page of code and the same data.  The next bench takes the emulator over."""

    def __init__(self, data: bytes) -> None:
        self.machine, self.exact, self.emulator = _mapped(Machine()), _mapped(Machine()), _emulator()
        self.engines = (self.machine, self.exact, self.emulator)
        self.instruction: Instruction
        for engine in self.engines:
            engine.memory.write(DATA, data)
            engine.memory.write(LITERALS, random.Random(1).randbytes(0x810))
            engine.memory.write(_CLEAR_EXCLUSIVE, _CLREX.to_bytes(4, "little"))

    def give_up(self) -> None:
        """The next bench has an emulator of its own: who knows what this one was left in."""
        _emulator.cache_clear()

    def set_word(self, word: int) -> None:
        """The instruction that `run` executes."""
        code = word.to_bytes(4, "little")
        # LDXR or LDXP of the size and address of a store exclusive; it loads into the zero register (and another).
        address, is_pair = word >> 5 & 31, word >> 21 & 1
        second = (address + 1) % 31 if is_pair else 31
        exclusive_load = word & ~(0x1F << 16 | 0xFC1F) | 1 << 22 | 31 << 16 | second << 10 | 31
        for engine in self.engines:
            engine.memory.write(CODE, code)
            engine.memory.write(_LOAD_EXCLUSIVE, exclusive_load.to_bytes(4, "little"))
        self.instruction = decode(code, CODE)

    def set_monitor(self, opened: bool) -> None:
        """Open the monitors of machine and emulator for the address of a store exclusive, or close them.

        Nothing happens where the instruction does not read the monitor.
        """
        if _MONITOR not in self.instruction.places_read:
            return
        self.emulator.load_registers(self.machine.registers)
        for engine in (self.machine, self.emulator):
            engine.pc = _LOAD_EXCLUSIVE if opened else _CLEAR_EXCLUSIVE
            engine.run(max_instructions=1)

    def run(self, emulated: bool = True) -> InstructionOutcome:
        """Execute the instruction from the machine's registers on every engine and compare them.

        The emulator does not take part where `emulated` is false.
        """
        machine, emulator = self.machine, self.emulator
        machine.pc = self.exact.pc = emulator.pc = CODE
        self.exact.registers.copy(machine.registers)
        emulator.load_registers(machine.registers)
        stops = [
            _stop(lambda: machine.run(max_instructions=1)),
            _stop(lambda: exact.execute(self.instruction, self.exact)),
        ]
        if not stops[1] and self.instruction.traps and self.exact.pc == CODE:
            stops[1] = f"{Trap.__name__} at {CODE:#x}"
        if emulated:  # a branch ends the run by `until`, since its target is not mapped
            until = machine.pc if machine.pc != CODE else None
            stops.append(_stop(lambda: emulator.run(until=until, max_instructions=1)))
        if len(set(stops)) > 1:
            engines = zip(("machine", "exact", "emulator"), stops, strict=False)
            return InstructionOutcome(
                True, "stopped: " + ", ".join(f"{name} {stop or 'not at all'}" for name, stop in engines)
            )
        precise = emulated and stops[0] == ""
        found = self._register_difference(precise)
        if not found and self.instruction.stores:
            mine, plain, other = (engine.memory.read(DATA, DATA_SIZE) for engine in self.engines)
            if not precise:  # after a fault the emulator gets the machine's memory
                emulator.memory.write(DATA, mine)
                other = mine
            found = _first_byte(mine, plain, "exact") or _first_byte(mine, other, "emulator")
        return InstructionOutcome(stops[0].startswith(MemoryFault.__name__), found)

    def _register_difference(self, emulated: bool) -> str:
        machine, emulator = self.machine, self.emulator
        found = difference("exact", machine.registers, self.exact.registers, machine.pc, self.exact.pc)
        if found or not emulated:
            return found
        if machine.pc == emulator.pc and emulator.agrees(machine.registers, FPSR_BITS, FPCR_BITS):
            return ""
        others = emulator.registers()
        for place in excused(self.instruction):
            others.write(place, machine.registers.read(place))
        return difference("emulator", machine.registers, others, machine.pc, emulator.pc)


def _stop(execute: Callable[[], object]) -> str:
    """What stops an engine, and where; "" where nothing does."""
    try:
        execute()
    except ExecutionError as error:
        return f"{type(error).__name__} at {error.pc if error.pc is not None else CODE:#x}"
    return ""


def _first_byte(machine: bytes, other: bytes, name: str) -> str:
    if machine == other:
        return ""
    at = next(i for i in range(len(machine)) if machine[i] != other[i])
    return f"memory at {DATA + at:#x}: machine {machine[at]:#04x}, {name} {other[at]:#04x}"


def difference(name: str, machine: RegisterStorage, other: RegisterStorage, pc: int, other_pc: int) -> str:
    """The first register in which `other` differs from the machine, with both values; "" where none does."""
    if pc != other_pc:
        return f"pc: machine {pc:#x}, {name} {other_pc:#x}"
    if vars(machine) == vars(other):
        return ""
    masks = {"fpsr": FPSR_BITS, "fpcr": FPCR_BITS}
    for place in VISIBLE_PLACES:
        mask = masks.get(place.file, -1)
        mine, others = machine.read(place) & mask, other.read(place) & mask
        if mine != others:
            return f"{place}: machine {mine:#x}, {name} {others:#x}"
    return ""
