"""Lockstep in native code, a slice at a time, for as long as nothing asks for Python.

The emulator calls `before_each` of driver.c before each instruction: there all registers of both sides, and all that
either wrote to memory, are compared as they are after the instruction before, then the machine executes the next one by
its step (`sim.call.native.steps`).  The state is precise wherever it stops.  Python executes in lockstep what has no
step, what memory or a guard may refuse, and what the emulator faults on; it makes the report where something differs.

What may be accessed is a table of ranges: the mapped regions, or where guards watch, the bytes that they allow.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from ctypes import Array, addressof, c_char, c_int, c_uint64, c_void_p, cast, create_string_buffer, memmove
from struct import calcsize, pack, pack_into
from time import perf_counter
from typing import NamedTuple

from isa.errors import MISSING, LanewiseError
from isa.instruction import Instruction
from sim.call.guards.bounds import Allowed
from sim.call.guards.convention import traits_of
from sim.call.guards.watch import Watch
from sim.call.native.control import CodeEntry, Control, Stop, Trait, require_same_layout
from sim.call.native.in_place import registers_in_place
from sim.call.native.steps import MOST_REGISTERS, driver, left_to_python, steps_of
from sim.emulator import CHooks, Emulator
from sim.machine.compiled.native_memory import SITE
from sim.machine.compiled.reach import reach
from sim.machine.compiled.state import packed, unpack_into
from sim.machine.errors import ExecutionError
from sim.machine.machine import Machine
from sim.machine.memory import PAGE
from sim.machine.registers import RegisterStorage

_MOST = 4000
"""Instructions that are compiled together."""
_WINDOW = 1 << 20
_SLICE = 0.02
"""Seconds after which Python sees Ctrl-C."""
_FIRST_SLICE, _LARGEST_SLICE = 1 << 14, 1 << 18
"""Instructions of a slice."""
_SHORT, _MOST_DOUBLED = 64, 9
"""After each stay in native code of fewer instructions than that Python goes on for twice as long, up to so often."""

_REASONS = {
    Stop.REFUSED: "an access that faults, writes code, is not the call's or crosses regions",
    Stop.MODES: "floating point that the host does otherwise in these modes or for these operands",
    Stop.GUARD: "what a guard has to look at",
    Stop.DIFFERS: "something differs",
}
_EMULATOR = "the emulator faults or has no such instruction"
_UNKNOWN = "no instruction that can be executed"


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
        self._pages: dict[int, Array[CodeEntry]] = {}
        self._reasons: dict[int, str] = {}
        self._sites: list[Array[c_char]] = []
        self._versions = (-1, -1)
        self._regions: object = None
        self._everything = Allowed((), None)
        self._allowed: Allowed | None = None
        self._table = create_string_buffer(0)
        self._head = create_string_buffer(calcsize("<3Q"))
        self._mapped = create_string_buffer(0)
        self._page_table = create_string_buffer(0)
        self._branch = (c_uint64 * _LARGEST_SLICE)()
        self._control.branch = addressof(self._branch)
        self._slice = _FIRST_SLICE
        self.executed = 0
        """How many instructions were executed, compared, and agree."""
        self._short_stays = 0

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
            if why == Stop.NO_STEP and self._learn(machine.pc):
                continue
            reason = _EMULATOR if why is None else _REASONS.get(why, self._reasons.get(machine.pc, _UNKNOWN))
            differs = why == Stop.DIFFERS
            break
        if watch is not None:
            watch.seen_at, watch.changed_memory = control.seen_pc, bool(control.changed)
            unpack_into(watch.seen, bytes(control.seen))
        stayed = self.executed - start
        if reason:
            self._short_stays = self._short_stays + 1 if stayed < _SHORT else 0
        return Stay(stayed, reason, differs)

    @property
    def stretch(self) -> int:
        """For how many instructions Python should go on where it has to."""
        return 1 << min(max(self._short_stays - 1, 0), _MOST_DOUBLED)

    @property
    def written(self) -> list[tuple[int, int]]:
        """What the emulator wrote by the last instruction: addresses (from, to)."""
        log = self._control.theirs
        return [(store.address, store.address + store.size) for store in log.stores[: log.count]]

    def undo_mine(self) -> None:
        """Take back what the machine did of the instruction after which something differs."""
        self._undo_mine(self._at)
        self._unload()

    def take_qc_events(self) -> int:
        """How many instructions saturated since this was asked last."""
        events, self._control.qc_events = self._control.qc_events, 0
        return int(events)

    def take_went(self) -> list[tuple[int, int]]:
        """Addresses of instructions and where they went on, some of them new since this was asked last."""
        control = self._control
        found = list(zip(control.went_from[: control.went], control.went_to[: control.went], strict=True))
        control.went = 0
        return found

    def _connect(self) -> None:
        """Tell the driver of its emulator."""
        control, interface = self._control, self.emulator.c_interface
        control.emulator, control.read_registers, control.stop = interface[:3]
        control.numbers[:] = interface.registers
        place = registers_in_place(self.emulator)
        if place is not None:
            control.x_in_place, control.v_in_place, control.v_stride = place

    def _load(self, watch: Watch | None) -> None:
        """Let driver and emulator begin where the machine is."""
        machine, control = self._machine, self._control
        self._set_state(Control.state.offset, machine.registers, machine.pc)
        self.emulator.load_registers(machine.registers)
        self.emulator.pc = machine.pc
        control.guarded = watch is not None
        if watch is not None:
            control.platform_seen = watch.platform_register is not None
            control.seen_pc, control.changed = watch.seen_at % 2**64, watch.changed_memory
            self._set_state(Control.seen.offset, watch.seen, control.seen_pc)

    def _set_state(self, offset: int, registers: RegisterStorage, pc: int) -> None:
        """Set one of the driver's states."""
        given = packed(registers, pc)
        memmove(self._at + offset, given, len(given))

    def _unload(self) -> None:
        """Let the machine be where the driver is."""
        self._machine.pc = unpack_into(self._machine.registers, bytes(self._control.state))

    def _run_slice(self, until: int, most: int, watch: Watch | None) -> Stop | None:
        """Execute for a while; why no more, None where the emulator cannot go on."""
        control, budget = self._control, min(most, self._slice)
        control.why = control.pending = control.done = control.branches = control.overflowed = 0
        control.mine.count = control.theirs.count = 0
        control.left = budget
        control.branches_before = 0 if watch is None else len(watch.branches)
        begun = perf_counter()
        precise = self.emulator.run_in_c(until)
        if control.done == budget == self._slice:
            fitting = int(budget * _SLICE / (perf_counter() - begun))
            self._slice = max(_FIRST_SLICE, min(fitting, 4 * budget, _LARGEST_SLICE))
        why = Stop(control.why)
        if precise and why == Stop.GOES_ON:
            why = Stop(self._settle(self._at, self.emulator.pc))
        if not precise:
            self._undo_both(self._at)
        if why == Stop.DIFFERS:
            self._note(watch)
            return why
        self._unload()
        self._note(watch)
        stopped_early = why == Stop.GOES_ON and self._machine.pc != until
        return why if precise and not stopped_early else None

    def _note(self, watch: Watch | None) -> None:
        """Count what agrees, and tell the watch where branches led."""
        control = self._control
        self.executed += control.done
        self._machine.instructions_executed += control.done
        if watch is not None and control.branches:
            watch.branches.extend(self._branch[: control.branches])
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
            self._pages, self._reasons, self._sites = {}, {}, []
            self._set_pages()
        regions = theirs.regions
        if regions != self._regions:
            self._regions = regions
            rows = [pack("<3Q", region.start, region.end - region.start, region.host) for region in regions]
            self._mapped = create_string_buffer(b"".join(rows))
            self._control.region, self._control.regions = addressof(self._mapped), len(rows)
            self._control.last_region = 0
            ranges = ((r.start, r.end, "r" in r.permissions, "w" in r.permissions) for r in memory.regions)
            self._everything, self._allowed = Allowed(tuple(ranges), None), None
        allowed = self._everything if watch is None else watch.bounds.allowed
        if allowed != self._allowed:
            self._allowed = allowed
            self._set_allowed(allowed)

    def _set_allowed(self, allowed: Allowed) -> None:
        """Give the steps what they may access; they leave writes to code, which must be noticed."""
        memory, rows, ranges = self._machine.memory, list[bytes](), list(allowed.ranges)
        stack = memory.region_at(allowed.stack_top - 1) if allowed.stack_top is not None else None
        low, top = (stack.start, allowed.stack_top or 0) if stack is not None else (0, 0)
        for start, end, readable, writable in sorted([*ranges, (low, top, True, True)]):
            region = memory.region_at(start)
            if start < end and region is not None and end <= region.end:
                allows = readable and "r" in region.permissions, writable and region.permissions in ("w", "rw")
                rows.append(pack("<5Q", start, end - start, region.host + start - region.start, *allows))
        self._table = create_string_buffer(b"".join(rows))
        pack_into("<3Q", self._head, 0, len(rows), addressof(self._table), self._at + Control.mine.offset)
        for sites in self._sites:
            self._forget(sites)
        for log in (self._control.mine, self._control.theirs):
            log.stack, log.stack_size = low, top - low

    def _forget(self, sites: Array[c_char]) -> None:
        """Let accesses know no region yet."""
        sites.raw = pack(SITE, 0, 0, 0, addressof(self._head)) * (len(sites) // calcsize(SITE))

    def _set_pages(self) -> None:
        rows = [pack("<2Q", start, addressof(page)) for start, page in sorted(self._pages.items())]
        self._page_table = create_string_buffer(b"".join(rows))
        self._control.page, self._control.pages = addressof(self._page_table), len(rows)
        self._control.last_page = 0

    def _learn(self, pc: int) -> bool:
        """Make steps of what can be reached from an address; whether there is one for it now."""
        region = self._machine.memory.region_at(pc)
        if pc % 4 or region is None or pc in self._reasons:
            return False
        window = pc // _WINDOW * _WINDOW
        inside = range(max(region.start, window), min(region.end, window + _WINDOW))
        if len(inside) <= 4 * _MOST:  # little code is compiled at once, with what is data
            found = dict(self._decoded(inside))
        else:
            found = reach(pc, inside, (), self._machine.decoded_at, _MOST).instructions
        fresh = {at: each for at, each in found.items() if at not in self._reasons and not self._has_step(at)}
        self._reasons |= {at: reason for at, each in fresh.items() if (reason := left_to_python(each))}
        self._make_steps({at: each for at, each in fresh.items() if at not in self._reasons})
        self._set_pages()
        return self._has_step(pc)

    def _decoded(self, inside: range) -> Iterator[tuple[int, Instruction]]:
        """All that can be executed."""
        for pc in inside[::4]:
            with suppress(ExecutionError):
                yield pc, self._machine.decoded_at(pc)

    def _has_step(self, pc: int) -> bool:
        page = self._pages.get(pc // PAGE * PAGE)
        return page is not None and bool(page[pc % PAGE // 4].step)

    def _make_steps(self, instructions: dict[int, Instruction]) -> None:
        """Fill the entries of instructions by address."""
        patterns = {(each.form.name, each.pattern.operand_text): each for each in instructions.values()}
        names = sorted(patterns)
        try:
            steps = dict(zip(names, steps_of([patterns[name] for name in names], self._machine.table), strict=True))
        except LanewiseError as error:
            self._reasons |= dict.fromkeys(instructions, str(error).splitlines()[0])
            return
        count = sum(steps[each.form.name, each.pattern.operand_text].accesses for each in instructions.values())
        sites = create_string_buffer(calcsize(SITE) * (count + 1))
        self._sites.append(sites)
        self._forget(sites)
        memory = addressof(sites)
        for pc, each in instructions.items():
            step = steps[each.form.name, each.pattern.operand_text]
            if step.refusal or len(each.registers) > MOST_REGISTERS:
                self._reasons[pc] = step.refusal or "more registers than a step has"
                continue
            page = self._pages.setdefault(pc // PAGE * PAGE, (CodeEntry * (PAGE // 4))())
            registers = (*each.registers, *[0] * (MOST_REGISTERS - len(each.registers)))
            nowhere = (2**64 - 1, 2**64 - 1)
            page[pc % PAGE // 4] = CodeEntry(step.function, memory, nowhere, _traits(each), registers)
            memory += calcsize(SITE) * step.accesses


def _traits(instruction: Instruction) -> int:
    traits = traits_of(instruction)
    return (
        Trait.BRANCHES * traits.is_branch
        | Trait.SATURATES * instruction.can_saturate
        | Trait.WRITES_PLATFORM * traits.writes_platform_register
        | Trait.NEEDS_ALIGNED_SP * traits.needs_aligned_sp
    )
