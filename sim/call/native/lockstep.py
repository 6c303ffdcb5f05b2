"""Lockstep in native code, a slice at a time, for as long as nothing asks for Python.

The emulator calls `before_each` of driver.c before each instruction: there all registers of both sides, and all that
either wrote to memory, are compared as they are after the instruction before, then the machine executes the next one by
its step (`sim.call.native.steps`).  The state is precise wherever it stops.  Python executes in lockstep what has no
step, what memory or a guard may refuse, and what the emulator faults on; it makes the report where something differs.

What may be accessed is a table of ranges: the mapped regions, or where guards watch, the bytes that they allow.
"""

from __future__ import annotations

from ctypes import addressof, c_int, c_uint64, c_void_p, cast, create_string_buffer
from struct import pack
from time import perf_counter
from typing import NamedTuple

from isa.errors import MISSING, LanewiseError
from sim.call.guards.bounds import Allowed
from sim.call.guards.watch import Watch
from sim.call.native.code import NativeCode
from sim.call.native.control import Control, Stop, require_same_layout
from sim.call.native.in_place import flag_of_known_pc, registers_in_place
from sim.call.native.status import pieces_of_status
from sim.call.native.steps import driver
from sim.emulator import CHooks, Emulator
from sim.machine.compiled.state import unpack_into
from sim.machine.compiled.time_slice import TimeSlice
from sim.machine.machine import Machine

_LARGEST_SLICE = 1 << 18
"""Instructions."""
_EMULATOR = "the emulator faults or has no such instruction"


class CompiledFault(LanewiseError):
    """Generated C, or the driver, says that something differs where the interpreter sees nothing that does."""

    exit_code = MISSING


class Stay(NamedTuple):
    """So many instructions were executed and agree; then there was a `reason` to go on in Python, or none."""

    executed: int
    reason: str
    differs: bool = False


class NativeLockstep:
    """One machine, and an emulator of its own on the memory of another one."""

    def __init__(self, machine: Machine, memory_of: Emulator, fpsr_mask: int, fpcr_mask: int) -> None:
        """Raises LanewiseError where there is no compiler for this computer."""
        self._machine = machine
        self._driver = driver()
        require_same_layout(self._driver)
        self._settle, self._undo_mine, self._undo_both = (
            getattr(self._driver, name) for name in ("settle", "undo_mine", "undo_both")
        )
        self._settle.argtypes, self._settle.restype = (c_void_p, c_uint64), c_int
        for function in (self._undo_mine, self._undo_both):
            function.argtypes, function.restype = (c_void_p,), None
        self._control = Control(fpsr_mask=fpsr_mask, fpcr_mask=fpcr_mask)
        self._at = addressof(self._control)
        before_each, on_write = (
            cast(getattr(self._driver, name), c_void_p).value or 0 for name in ("before_each", "on_write")
        )
        self.emulator = Emulator(memory_of.memory, CHooks(before_each, on_write, self._at))
        self._connect()
        self._code = NativeCode(machine, self._control)
        self._versions = (-1, -1)
        self._regions: object = None
        self._everything = Allowed((), None)
        self._mapped = create_string_buffer(0)
        self._branch = (c_uint64 * _LARGEST_SLICE)()
        self._control.branch = addressof(self._branch)
        self._slice = TimeSlice(0.02, least=1 << 14, largest=_LARGEST_SLICE)
        self._went = set[tuple[int, int]]()
        self.executed = 0
        """How many instructions were executed, compared, and agree."""

    def run(self, until: int, most: int, watch: Watch | None) -> Stay:
        """From the machine's state up to `until`, or for so many instructions, or until Python has to go on.

        All is then as Python's lockstep would have it: machine, emulator, memory, watch.
        """
        machine, control, start = self._machine, self._control, self.executed
        self._notice_changes(watch)
        self._load(watch)
        reason, differs = "", False
        while machine.pc != until and self.executed - start < most:
            why = self._run_slice(until, most - (self.executed - start), watch)
            if why in (Stop.GOES_ON, Stop.BUDGET, Stop.FULL):
                continue
            if why == Stop.NO_STEP and self._code.learn(machine.pc):
                continue
            reason = _EMULATOR if why is None else self._code.reason(why)
            differs = why == Stop.DIFFERS
            break
        if watch is not None:
            watch.seen_at, watch.changed_memory = control.seen_pc, bool(control.changed)
            unpack_into(watch.seen, bytes(control.seen))
        stayed = self.executed - start
        if reason:
            self._code.note_stay(stayed)
        return Stay(stayed, reason, differs)

    @property
    def stretch(self) -> int:
        """For how many instructions Python should go on where it has to."""
        return self._code.stretch

    @property
    def written(self) -> list[tuple[int, int]]:
        """What the emulator wrote by the last instruction: addresses (from, to)."""
        log = self._control.theirs
        return [(store.address, store.address + store.size) for store in log.stores[: log.count]]

    def undo_mine(self) -> None:
        """Take back what the machine did of the instruction after which something differs."""
        self._undo_mine(self._at)
        self._code.unload()

    def take_qc_events(self) -> int:
        """How many instructions saturated since this was asked last."""
        events, self._control.qc_events = self._control.qc_events, 0
        return int(events)

    def take_went(self) -> set[tuple[int, int]]:
        """Addresses of instructions and where they went on, some of them new since this was asked last."""
        found, self._went = self._went, set()
        return found

    def _connect(self) -> None:
        """Tell the driver of its emulator."""
        control, interface = self._control, self.emulator.c_interface
        control.emulator, control.read_registers, control.stop = interface[:3]
        control.numbers[:] = interface.registers
        control.pc_is_known = flag_of_known_pc(self.emulator) or 0
        place = registers_in_place(self.emulator)
        if place is not None:
            control.x_in_place, control.v_in_place, control.v_stride = place
            pieces = pieces_of_status(self.emulator, place)
            control.kept[: len(pieces)], control.pieces = pieces, len(pieces)

    def _load(self, watch: Watch | None) -> None:
        """Let driver and emulator begin where the machine is."""
        machine, control = self._machine, self._control
        self._code.load()
        self.emulator.load_registers(machine.registers)
        self.emulator.pc = machine.pc
        control.guarded = watch is not None
        if watch is not None:
            control.platform_seen = watch.platform_register is not None
            control.seen_pc, control.changed = watch.seen_at % 2**64, watch.changed_memory
            self._code.set_state(Control.seen.offset, watch.seen, control.seen_pc)

    def _run_slice(self, until: int, most: int, watch: Watch | None) -> Stop | None:
        """Execute for a while; why no more, None where the emulator cannot go on."""
        control, budget = self._control, min(most, self._slice.size)
        control.why = control.pending = control.done = control.branches = control.overflowed = 0
        control.mine.count = control.theirs.count = 0
        control.left = budget
        control.branches_before = 0 if watch is None else len(watch.branches)
        begun = perf_counter()
        precise = self.emulator.run_in_c(until)
        if control.done == budget == self._slice.size:
            self._slice.took(perf_counter() - begun)
        why = Stop(control.why)
        if precise and why == Stop.GOES_ON:
            why = Stop(self._settle(self._at, self.emulator.pc))
        if not precise:
            self._undo_both(self._at)
        if why == Stop.DIFFERS:
            self._note(watch)
            return why
        self._code.unload()
        self._note(watch)
        stopped_early = why == Stop.GOES_ON and self._machine.pc != until
        return why if precise and not stopped_early else None

    def _note(self, watch: Watch | None) -> None:
        """Count what agrees, and tell the watch where branches led."""
        control = self._control
        self._went.update(self._code.take_went())  # before the next slice: the driver has room for so many
        self.executed += control.done
        self._machine.instructions_executed += control.done
        if watch is not None and control.branches:
            watch.branches.frombytes(memoryview(self._branch).cast("B")[: 8 * control.branches])
        if watch is not None and watch.platform_register is None and control.platform_seen:
            pc = control.platform_pc
            watch.platform_register = self._machine.instruction_at(pc), pc

    def _notice_changes(self, watch: Watch | None) -> None:
        """Take notice of code that was written, of regions that were mapped, and of what the call may access."""
        memory, theirs = self._machine.memory, self.emulator.memory
        versions = memory.code_version, theirs.code_version
        if versions != self._versions:
            self._versions = versions
            self.emulator.drop_code()
            self._code.drop()
        regions = theirs.regions
        anew = regions != self._regions
        if anew:
            self._regions = regions
            rows = [pack("<3Q", region.start, region.end - region.start, region.host) for region in regions]
            self._mapped = create_string_buffer(b"".join(rows))
            self._control.region, self._control.regions = addressof(self._mapped), len(rows)
            self._control.last_region = 0
            self._everything = self._code.everything()
        self._code.allow(self._everything if watch is None else watch.bounds.allowed, anew)
