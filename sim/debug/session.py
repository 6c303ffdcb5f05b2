"""A session: one call, stood on at any of its instructions.

It is the machine, the call's timeline and what is looked for in it; everything that shows a call, as a server for gdb,
in a terminal or as a trace, is a face of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from isa.errors import LanewiseError, pip_install
from isa.instruction import Instruction
from isa.lane import Place
from sim.call.buffers import PlacedArray
from sim.check.blame import Lineage
from sim.check.compare import Value, as_value
from sim.check.origin import MEMORY, LaneOrigin, bits_of
from sim.debug.calls import DebugError, DebuggedCall, Trouble, debug_other_build
from sim.debug.conditions import At, AtNumber, Meets, Reads, SetsQc, StopCondition, When, Writes
from sim.debug.difference import SessionDifference, difference
from sim.debug.parting import parting_number
from sim.debug.spots import Number, Spot, SpotError, bytes_at, find_spot, lane_numbers
from sim.debug.timeline import Execution, Timeline
from sim.debug.way import LaneWay
from sim.debug.why import reached_from, why_of
from sim.emulator import Emulator
from sim.kernels.extent import element_name, indices_in
from sim.kernels.kernel import steps_at
from sim.kernels.signature import RETURNED, Stack
from sim.machine.errors import ExecutionError
from sim.machine.machine import Machine
from sim.machine.registers import RegisterStorage
from sim.machine.trace import Step
from sim.toolchain.compilers import is_source
from sim.toolchain.image import ImageError

if TYPE_CHECKING:
    from sim.debug.page.widget import SessionWidget

_EVENTS: Final = {"saturates": "saturated", "ties": "tie", "wraps": "wrapped"}
_MOST_UNOPTIMIZED: Final = 1 << 20
"""Instructions of an -O0 build of which it is asked through which lines a lane goes."""
_LINE = re.compile(r"([^:\s]+):(\d+)")


@dataclass(frozen=True)
class Emulated:
    """What the emulator made of one instruction: what registers hold, and memory where the machine wrote."""

    registers: Mapping[Place, int]
    memory: Mapping[int, bytes]


class Session:
    """One call on the machine, from its first instruction on.

    Instructions are numbered from 0 in the order of their execution; `position` is the one that comes next.
    """

    def __init__(self, call: DebuggedCall) -> None:
        """Raises KernelError for the inputs, and ValueError where memory cannot be mapped."""
        self.call = call
        self.machine = Machine()
        self.arrays: Mapping[str, PlacedArray] = call.prepare(self.machine, ())
        self.timeline = Timeline(self.machine, call.until, call.limit)
        self.stack_arguments: Mapping[str, range] = _on_stack(call, self.machine.sp)
        self._emulator: Emulator | None = None

    @property
    def position(self) -> int:
        """The number of the instruction that comes next."""
        return self.timeline.position

    @property
    def is_at_end(self) -> bool:
        """Whether the call has returned, or cannot go on."""
        return self.timeline.is_at_end or self.timeline.returned

    @property
    def instruction(self) -> Instruction | None:
        """The instruction that comes next; None at the end, and where there is none that can be executed."""
        if self.timeline.returned:
            return None
        try:
            return self.machine.instruction_at(self.machine.pc)
        except ExecutionError:
            return None

    @property
    def source(self) -> str:
        """Its source line, such as "kernel.c:41"; "" where nothing is known."""
        return self.source_of(self.machine.pc)

    def source_of(self, pc: int) -> str:
        """The source line of an instruction, such as "kernel.c:41"; "" where nothing is known."""
        place = self.call.image.place_of(pc) if self.call.image is not None else ""
        return place if place.isprintable() else repr(place)  # a file may be named in control sequences

    def inlined_at(self, pc: int) -> str:
        """By which calls an instruction came into its function, behind its line: "of rounded, inlined at kernel.c:41";
        "" where it was written there.
        """
        calls = self.call.image.inlined_at(pc) if self.call.image is not None else ""
        return calls if calls.isprintable() else repr(calls)

    def goto(self, number: int) -> None:
        """Be before instruction `number`, or at the end where there are fewer."""
        self.timeline.goto(number)

    def goto_end(self) -> None:
        """Be where the call has returned, or cannot go on."""
        self.timeline.goto_end()

    def step(self, count: int = 1) -> Step | None:
        """Execute so many instructions; what the last one did, None where the call had ended before."""
        step = None
        if count > 1:
            self.goto(self.position + count - 1)
        if count > 0:
            step = self.timeline.step()
        return step

    def back(self, count: int = 1) -> None:
        """Go back over so many instructions, or to the first one."""
        self.goto(self.position - count)

    @property
    def last(self) -> Step | None:
        """What the instruction before did; None at the first one."""
        if self.position == 0:
            return None
        self.back()
        return self.timeline.step()

    # What is looked for

    def spot(self, text: str) -> Spot:
        """What a text points at: v3, v3.s[2], x5, sp, *0x1000:4, output[3], result, or an argument that travels on the
        stack by its name.  Raises SpotError.
        """
        name, kernel = text.strip(), self.call.kernel
        if (place := self.stack_arguments.get(name)) is not None:
            return Spot(name, MEMORY, place.start, len(place))
        if kernel is not None and name in (passed := kernel.signature.passed()):
            registers = " and ".join(str(piece.location) for piece in passed[name].pieces)
            raise SpotError(f"the argument {name!r} comes in {registers}, which may hold another value here: name that")
        return find_spot(text, self.arrays, self.call.result, self.call.result_size)

    def condition(self, text: str) -> StopCondition:
        """What a text looks for: an address, FILE:LINE, a function or #NUMBER; or what an instruction does: `writes`
        or `reads` a spot, `saturates`, `ties` or `wraps`, alone or with a spot, `sets qc`, or `goes wrong`: it parts
        from the golden reference, machine and emulator differ, or a guard finds something.  Raises SpotError.
        """
        word, _, rest = text.strip().partition(" ")
        if word in ("writes", "reads") and rest:
            return (Writes if word == "writes" else Reads)(self.spot(rest))
        if word in _EVENTS:
            return Meets(_EVENTS[word], self.spot(rest) if rest else None)
        if text.split() == ["sets", "qc"]:
            return SetsQc()
        if text.split() == ["goes", "wrong"]:
            if self.trouble_number is None:
                raise SpotError("nothing is wrong with this call")
            return AtNumber(self.trouble_number, stands_before=False)
        if re.fullmatch(r"#[0-9]{1,19}", text.strip()):
            return AtNumber(int(text.strip()[1:]))
        return At(frozenset(each.start for each in self.code_of(text.strip())))

    def code_of(self, text: str) -> list[range]:
        """The addresses of the code of an address, of FILE:LINE with what was inlined there, or of a function, which
        may have none but where it was inlined.  Raises SpotError.
        """
        image = self.call.image
        if re.fullmatch(r"0[xX][0-9a-fA-F]+", text) and int(text, 16) < 1 << 64:
            return [range(int(text, 16), int(text, 16) + 4, 4)]
        if image is not None and (line := _LINE.fullmatch(text)):
            found = [range(start, end, 4) for start, end, at in image.lines if str(at) == text]
            found += [range(call.start, call.end, 4) for call in image.inlined if str(call.line) == text]
            if not found:
                raise SpotError(f"no instruction was compiled from {line[1]} line {line[2]}")
            return found
        if image is not None and re.match(r"[^\W\d]|\.", text):
            found = [range(call.start, call.end, 4) for call in image.inlined if call.function == text]
            if found and text not in image.symbols:
                return found
            try:
                symbol = image.symbol(text)
            except ImageError as error:
                raise SpotError(str(error)) from None
            return [range(symbol.address, symbol.address + max(symbol.size, 4), 4)]
        raise SpotError(
            f"{text!r} is no address, FILE:LINE, function, #NUMBER, nor what an instruction does, such as "
            "'writes v3.s[2]', 'reads x1', 'saturates', 'ties v0.h[1]', 'sets qc'"
        )

    def find(self, wanted: StopCondition | str | Callable[[Execution], bool], start: int | None = None) -> int | None:
        """The number of the first instruction from `start` on (default: from here) that meets a condition.

        A function is asked of each instruction, which takes longer.  None where the call has none.
        """
        return self._search(wanted, self.position if start is None else start, backwards=False)

    def find_back(
        self, wanted: StopCondition | str | Callable[[Execution], bool], end: int | None = None
    ) -> int | None:
        """The number of the last instruction before `end` (default: before here) that meets a condition, or None."""
        return self._search(wanted, self.position if end is None else end, backwards=True)

    def run_to(self, wanted: StopCondition | str) -> int | None:
        """Go on to where a condition is met: before an instruction at an address, behind one that does something.

        Returns the number of that instruction; None, at the end, where there is none.
        """
        condition = self._condition(wanted)
        found = self._search(condition, self.position + condition.stands_before, backwards=False)
        if found is None:
            self.goto_end()
        else:
            self.goto(found + (not condition.stands_before))
        return found

    def reverse_to(self, wanted: StopCondition | str) -> int | None:
        """Go back to where a condition was met last, standing as `run_to` does; to the start where it never was."""
        condition = self._condition(wanted)
        found = self._search(condition, self.position - (not condition.stands_before), backwards=True)
        self.goto(0 if found is None else found + (not condition.stands_before))
        return found

    def _condition(self, wanted: StopCondition | str | Callable[[Execution], bool]) -> StopCondition:
        if isinstance(wanted, str):
            return self.condition(wanted)
        return wanted if isinstance(wanted, StopCondition) else When(wanted)

    def _search(
        self, wanted: StopCondition | str | Callable[[Execution], bool], number: int, backwards: bool
    ) -> int | None:
        """The nearest instruction that meets a condition: from that number on, or before it."""
        condition, here = self._condition(wanted), self.position
        try:
            for candidate in self._candidates(condition, number, backwards):
                if condition.is_sure or condition.holds(self._executed(candidate)):
                    return candidate
            return None
        finally:
            self.goto(here)

    def _candidates(self, condition: StopCondition, number: int, backwards: bool) -> Iterator[int]:
        if backwards:
            for recording in self.timeline.recordings_back(number):
                found = condition.among(recording) + recording.start
                yield from found[found < number][::-1].tolist()
        else:
            for recording in self.timeline.recordings(max(number, 0)):
                found = condition.among(recording) + recording.start
                yield from found[found >= number].tolist()

    def _executed(self, number: int) -> Execution:
        self.goto(number)
        execution = self.timeline.execute()
        assert execution is not None  # it was recorded
        return execution

    # What there is

    def lanes(self, spot: Spot | str, kind: str, scale: float | None = None, zero_point: int = 0) -> tuple[Number, ...]:
        """The lanes of a spot as they are now, the lowest first; kinds are those of `lane_numbers`, such as s16."""
        found = self.spot(spot) if isinstance(spot, str) else spot
        return lane_numbers(bytes_at(found, self.machine), kind, scale, zero_point)

    def array(self, name: str) -> np.ndarray[Any, Any]:
        """An array of the call as it is now.  Raises SpotError."""
        if name not in self.arrays:
            raise SpotError(f"the call has no array {name!r}: it has {', '.join(self.arrays) or 'none'}")
        placed = self.arrays[name]
        return placed.view(bytearray(self.machine.memory.read(placed.address, placed.size))).copy()

    def emulated(self) -> Emulated | None:
        """What the emulator makes of the instruction before, from the same state; None at the first instruction, and
        where the emulator has no such instruction.
        """
        if self.position == 0:
            return None
        self.back()
        before, pc, machine = RegisterStorage(), self.machine.pc, self.machine
        before.copy(machine.registers)
        step = self.timeline.step()
        assert step is not None  # it was executed before
        if self._emulator is None:
            self._emulator = Emulator(machine.memory)
        emulator, written = self._emulator, list[tuple[int, bytes]]()

        def note(address: int, size: int) -> None:
            written.append((address, machine.memory.read(address, size)))

        for address, old, _ in reversed(step.memory):
            machine.memory.write(address, old)
        emulator.drop_code()
        emulator.load_registers(before)
        emulator.pc = pc
        try:
            emulator.run(max_instructions=1, on_write=note)
            registers = {place: emulator.read(place) for place, _, _ in step.writes if place.file != "monitor"}
            return Emulated(registers, {at: machine.memory.read(at, len(new)) for at, _, new in step.memory})
        except ExecutionError:
            return None
        finally:
            for address, old in reversed(written):
                machine.memory.write(address, old)
            for address, _, new in step.memory:
                machine.memory.write(address, new)

    def golden_steps(self, spot: Spot | str) -> dict[str, Value]:
        """The steps of the golden reference for an element of an output, or for the result; {} where there are none."""
        position = self._output_lane(self.spot(spot) if isinstance(spot, str) else spot)
        if position is None or self.call.kernel is None or not self.call.has_golden:
            return {}
        return {name: as_value(value) for name, value in steps_at(self._all_golden_steps, position).items()}

    @cached_property
    def _all_golden_steps(self) -> Mapping[str, np.ndarray[Any, Any]]:
        kernel = self.call.kernel
        return {} if kernel is None else kernel.golden_steps(self.call.inputs)

    @cached_property
    def unoptimized(self) -> Session | None:
        """The same call of the -O0 build of the same source, at its end; None where it is this one, cannot be built,
        or is long.
        """
        job = self.call.job
        if job.source is None or not is_source(job.source) or "-O0" in job.flags:
            return None
        try:
            other = Session(replace(debug_other_build(self.call, ["-O0"]), limit=_MOST_UNOPTIMIZED))
        except LanewiseError:
            return None
        other.goto_end()
        return other if other.timeline.returned else None

    def is_output(self, spot: Spot) -> bool:
        """Whether it is an element of an output, or the result."""
        return self._output_lane(spot) is not None

    def _output_lane(self, spot: Spot) -> tuple[int, ...] | None:
        """Which element of an output it is; None where it is none."""
        if spot.name == "result":
            return ()
        name, _, rest = spot.name.partition("[")
        kernel = self.call.kernel
        outputs = {pointer.name for pointer in kernel.signature.outputs} if kernel is not None else set()
        if name not in outputs or not rest:
            return None
        placed = self.arrays[name]
        at = indices_in(rest)
        if len(at) == 1 and len(placed.extents) != 1:
            at = [int(index) for index in np.unravel_index(at[0], placed.extents)]
        return tuple(at)

    def show(self) -> SessionWidget:
        """The session as a widget of a notebook, as `lanewise debug --html` writes it as a page.

        It moves the session, which stands where its slider does.  Raises DebugError where anywidget is not installed.
        """
        try:
            from sim.debug.page.widget import SessionWidget
        except ImportError as error:
            install = pip_install("lanewise[notebooks]")
            raise DebugError(f"a session is shown in a notebook by anywidget: {install}") from error
        return SessionWidget(self)

    # Why it is so

    def why(self, spot: Spot | str) -> LaneWay:
        """How what is at a spot now came to be: every instruction on its way, back to the inputs of the call.

        Of an element of an array that is written only later it is the way of what will be written there first.  Raises
        SpotError, and MemoryFault where nothing is mapped.
        """
        found = self.spot(spot) if isinstance(spot, str) else spot
        bytes_at(found, self.machine)  # of what is not mapped there is no way
        way, placed = why_of(self, found), self.array_at(found.first) if found.register is None else None
        if way.steps or placed is None or placed.pointer.direction == "in":
            return way
        here, store = self.position, self.find(Writes(found))
        if store is None:
            return way
        self.goto(store + 1)
        way = replace(why_of(self, found), ahead=store)
        self.goto(here)
        return way

    def slice(self, spot: Spot | str) -> LaneWay:
        """What comes of what is at a spot now: every instruction from here on that it reaches.  Raises as `why`."""
        found = self.spot(spot) if isinstance(spot, str) else spot
        bytes_at(found, self.machine)
        return reached_from(self, found)

    def diff(self, other: Session, spot: str | None = None) -> SessionDifference:
        """Where the data that reach an output lane part first in another session of the same inputs: of another
        compiler, other flags, another source.  Without a `spot` it is the first output lane that differs.

        Raises DebugError where inputs or outputs are not the same ones, and SpotError.
        """
        return difference(self, other, spot)

    @cached_property
    def trouble(self) -> Trouble | None:
        """What is wrong with the call: a divergence, a finding of a guard, a fault, a wrong lane of an output."""
        return self.call.trouble()

    def goto_trouble(self) -> Trouble | None:
        """Stand behind the instruction that is at fault, or before one that cannot be executed; returns what is wrong,
        None where nothing is.
        """
        if self.trouble_number is not None:
            self.goto(self.trouble_number + 1)
        return self.trouble

    @cached_property
    def wrong_way(self) -> LaneWay | None:
        """The way of the wrong lane of an output, as it is at the end of the call; None where none is wrong."""
        mismatch = self.trouble.mismatch if self.trouble is not None else None
        if mismatch is None:
            return None
        here = self.position
        self.goto_end()
        way = self.why(self.spot_of(mismatch.output, mismatch.lane))
        self.goto(here)
        return way

    @cached_property
    def trouble_number(self) -> int | None:
        """The number of the instruction that is at fault; None where nothing is wrong."""
        here, trouble = self.position, self.trouble
        if trouble is None:
            return None
        number: int | None = trouble.before
        if trouble.mismatch is not None:
            number = parting_number(self)
        elif trouble.pc is not None:
            number = self.find_back(At(frozenset([trouble.pc])), trouble.before)
        elif trouble.spot:
            number = self.find_back(f"writes {trouble.spot}", trouble.before)
        else:  # of a lane that is never written no more is known than what a check has found
            places = self.call.image.lines if self.call.image is not None else ()
            starts = [start for start, _, line in places if str(line) in self.call.faults]
            number = self.find_back(At(frozenset(starts)), trouble.before) if starts else None
        self.goto(here)
        return trouble.before if number is None else number

    def golden_values(self, spot: Spot) -> list[tuple[str, int]]:
        """The steps of the golden reference that compute something for an element of an output, and their bits."""
        position, kernel = self._output_lane(spot), self.call.kernel
        if position is None or kernel is None or not self.call.has_golden:
            return []
        steps = {name: bits_of(value) for name, value in steps_at(self._all_golden_steps, position).items()}
        given = {pointer.name: 0 for pointer in kernel.signature.pointers}
        return list(Lineage(address=0, origin=LaneOrigin((), ()), steps=steps, inputs=given).computed_steps.items())

    def spot_of(self, output: str, lane: tuple[int, ...]) -> Spot:
        """An element of an output."""
        return self.spot("result" if output == RETURNED else element_name(output, lane))

    def name_of(self, address: int) -> str:
        """The element of an array that has the byte at an address, or the argument on the stack, or the address."""
        placed = self.array_at(address)
        if placed is not None:
            return element_name(placed.pointer.name, placed.position_of(address))
        return next((name for name, place in self.stack_arguments.items() if address in place), f"*{address:#x}")

    def array_at(self, address: int) -> PlacedArray | None:
        """The array of the call that has the byte at an address."""
        arrays = self.arrays.values()
        return next((each for each in arrays if each.address <= address < each.address + each.size), None)


def _on_stack(call: DebuggedCall, sp: int) -> dict[str, range]:
    """The addresses of the arguments that travel on the stack, from sp at the call on."""
    found = {}
    for name, passed in call.kernel.signature.passed().items() if call.kernel is not None else ():
        parts = [(piece.location.offset, piece.size) for piece in passed.pieces if isinstance(piece.location, Stack)]
        if parts:
            found[name] = range(sp + parts[0][0], sp + parts[-1][0] + parts[-1][1])
    return found
