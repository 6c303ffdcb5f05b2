"""Steps for the code of a machine, found by the driver at their addresses, and what they may access."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from ctypes import Array, addressof, c_char, create_string_buffer, memmove
from struct import calcsize, pack, pack_into

from isa.errors import LanewiseError
from isa.instruction import Instruction
from sim.call.guards.bounds import Allowed
from sim.call.guards.convention import traits_of
from sim.call.native.control import CodeEntry, Control, Stop, Trait
from sim.call.native.steps import MOST_REGISTERS, left_to_python, name_of, steps_of
from sim.machine.compiled.native_memory import SITE
from sim.machine.compiled.reach import MOST, reach, surroundings
from sim.machine.compiled.state import packed, unpack_into
from sim.machine.errors import ExecutionError
from sim.machine.machine import Machine
from sim.machine.memory import PAGE
from sim.machine.registers import RegisterStorage, register_number

PATIENCE = 10_000
"""Instructions: they take Python about as long as a compiler takes for the first ones of native code."""
_SHORT, _MOST_DOUBLED = 64, 9
"""After each stay in native code of fewer instructions than that Python goes on for twice as long, up to so often."""

_REASONS = {
    Stop.REFUSED: "an access that faults, writes code, is not the call's or crosses regions",
    Stop.MODES: "floating point that the host does otherwise in these modes or for these operands",
    Stop.GUARD: "what a guard has to look at",
    Stop.DIFFERS: "something differs",
}
_UNKNOWN = "no instruction that can be executed"


class NativeCode:
    """The code of a machine as the driver has it; `control` is all that the driver knows."""

    def __init__(self, machine: Machine, control: Control) -> None:
        self._machine, self._control = machine, control
        self._at = addressof(control)
        self._pages: dict[int, Array[CodeEntry]] = {}
        self._reasons: dict[int, str] = {}
        self._sites: list[Array[c_char]] = []
        self._allowed: Allowed | None = None
        self._table = create_string_buffer(0)
        self._head = create_string_buffer(calcsize("<3Q"))
        self._page_table = create_string_buffer(0)
        self._short_stays = 0

    def drop(self) -> None:
        """Forget all code: some of it has changed."""
        self._pages, self._reasons, self._sites = {}, {}, []
        self._set_pages()

    def reason(self, why: Stop) -> str:
        """Why the driver stopped where the machine is."""
        return _REASONS.get(why, self._reasons.get(self._machine.pc, _UNKNOWN))

    def note_stay(self, executed: int) -> None:
        """Python has to go on after so many instructions."""
        self._short_stays = self._short_stays + 1 if executed < _SHORT else 0

    @property
    def stretch(self) -> int:
        """For how many instructions Python should go on where it has to."""
        return 1 << min(max(self._short_stays - 1, 0), _MOST_DOUBLED)

    def take_went(self) -> list[tuple[int, int]]:
        """Addresses of instructions and where they went on, some of them new since this was asked last."""
        control = self._control
        found = list(zip(control.went_from[: control.went], control.went_to[: control.went], strict=True))
        control.went = 0
        return found

    def load(self) -> None:
        """Let the driver begin where the machine is."""
        self.set_state(Control.state.offset, self._machine.registers, self._machine.pc)

    def set_state(self, offset: int, registers: RegisterStorage, pc: int) -> None:
        """Set one of the driver's states."""
        given = packed(registers, pc)
        memmove(self._at + offset, given, len(given))

    def unload(self) -> None:
        """Let the machine be where the driver is."""
        self._machine.pc = unpack_into(self._machine.registers, bytes(self._control.state))

    def everything(self) -> Allowed:
        """All that is mapped, as its permissions say."""
        regions = self._machine.memory.regions
        return Allowed(tuple((r.start, r.end, "r" in r.permissions, "w" in r.permissions) for r in regions), None)

    def allow(self, allowed: Allowed, anew: bool) -> None:
        """Give the steps what they may access; they leave writes to code, which must be noticed.

        What is allowed already is not given again, but `anew`, where regions have changed.
        """
        if allowed == self._allowed and not anew:
            return
        self._allowed = allowed
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

    def learn(self, pc: int) -> bool:
        """Make steps of what can be reached from an address; whether there is one for it now."""
        region = self._machine.memory.region_at(pc)
        if pc % 4 or region is None or pc in self._reasons:
            return False
        inside = surroundings(pc, region)
        if len(inside) <= 4 * MOST:  # little code is compiled at once, with what is data
            found = dict(self._decoded(inside))
        else:
            found = reach(pc, inside, (), self._machine.decoded_at, MOST).instructions
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
        patterns = {name_of(each): each for each in instructions.values()}
        names = sorted(patterns)
        try:
            steps = dict(zip(names, steps_of([patterns[name] for name in names], self._machine.table), strict=True))
        except LanewiseError as error:
            self._reasons |= dict.fromkeys(instructions, str(error).splitlines()[0])
            return
        count = sum(steps[name_of(each)].accesses for each in instructions.values())
        sites = create_string_buffer(calcsize(SITE) * (count + 1))
        self._sites.append(sites)
        self._forget(sites)
        memory = addressof(sites)
        for pc, each in instructions.items():
            step = steps[name_of(each)]
            if step.refusal or len(each.registers) > MOST_REGISTERS:
                self._reasons[pc] = step.refusal or "more registers than a step has"
                continue
            page = self._pages.setdefault(pc // PAGE * PAGE, (CodeEntry * (PAGE // 4))())
            registers = (*each.registers, *[0] * (MOST_REGISTERS - len(each.registers)))
            nowhere = (2**64 - 1, 2**64 - 1)
            written = (_numbers(each, ("v",)), _numbers(each, ("x", "sp")))
            page[pc % PAGE // 4] = CodeEntry(step.function, memory, nowhere, _traits(each), *written, registers)
            memory += calcsize(SITE) * step.accesses


def _numbers(instruction: Instruction, files: tuple[str, ...]) -> int:
    """The registers of some files that it writes, as bits."""
    return sum({1 << register_number(place) for place in instruction.places_written if place.file in files})


def _traits(instruction: Instruction) -> int:
    traits = traits_of(instruction)
    return (
        Trait.BRANCHES * traits.is_branch
        | Trait.SATURATES * instruction.can_saturate
        | Trait.WRITES_PLATFORM * traits.writes_platform_register
        | Trait.NEEDS_ALIGNED_SP * traits.needs_aligned_sp
    )
