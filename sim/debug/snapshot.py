"""What is to be seen of one executed instruction: what it read and wrote, the emulator and the golden reference beside.

Every face that shows lanes shows these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from isa.evaluate.exact import Evaluation
from isa.instruction import Instruction
from isa.lane import Place
from isa.operands import ELEMENT_LETTERS
from sim.check.compare import Value
from sim.debug.events import event_conditions
from sim.debug.session import Emulated, Session
from sim.debug.spots import kind_of
from sim.debug.stepping import operands_read
from sim.debug.timeline import Execution
from sim.debug.trace.selection import Selection, shown_registers
from sim.debug.way import LaneWay


@dataclass(frozen=True, kw_only=True)
class ShownOperand:
    """Some bytes of a register or of memory, in order, which an instruction read or wrote.

    `name` is that of the instruction's text (v4.4s, v1.s[0], x5), of an element of an array, or an address; `kind` is
    the type of lanes of `sim.debug.spots.lane_numbers` that they are first shown as.  Of what was written `before` are
    the bytes that were there, and `emulator` those that the emulator writes; None where nothing is known.  `events`
    say of a vector register what was lost, as in `WhyStep`, and in which lanes.
    """

    name: str
    where: Place | int
    kind: str
    data: bytes
    before: bytes | None = None
    emulator: bytes | None = None
    events: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


class GoldenLane(NamedTuple):
    """A lane on the way of an output element, named as in v3.s[2], and what it holds, beside the golden reference.

    `step` is the step of the golden reference that it belongs to and `expected` its value, which differs where the way
    `parts` from it, and may differ behind that.
    """

    lane: str
    value: int | float
    step: str
    expected: Value
    parts: bool

    def __str__(self) -> str:
        held = f"{self.step}: {self.lane} is {self.value}"
        told = held if self.value == self.expected else f"{held}, golden {self.expected}"
        return f"{told}, parts here" if self.parts else told


@dataclass(frozen=True, kw_only=True)
class ShownInstruction:
    """Instruction `number` of a call as it was executed, and the lanes of a way that it wrote."""

    number: int
    pc: int
    source: str
    instruction: Instruction
    read: tuple[ShownOperand, ...]
    written: tuple[ShownOperand, ...]
    golden: tuple[GoldenLane, ...] = ()


def snapshot_of(session: Session, golden: Mapping[int, Sequence[GoldenLane]] | None = None) -> ShownInstruction | None:
    """The instruction before the one that comes next; None at the first one.

    `golden` are the lanes that `golden_lanes` found on a way, by instruction.
    """
    if session.position == 0:
        return None
    session.back()
    execution = session.timeline.execute()
    assert execution is not None  # it was executed before
    step, number = execution.step, session.position - 1
    return ShownInstruction(
        number=number, pc=step.pc, source=session.source_of(step.pc), instruction=step.instruction,
        read=tuple(_read(session, execution)), written=tuple(_written(session, execution, session.emulated())),
        golden=tuple((golden or {}).get(number, ())),
    )  # fmt: skip


def instructions_around(session: Session, before: int, behind: int) -> list[tuple[int, int, Instruction]]:
    """So many executed instructions before the one that comes next, and from it on: number, address, instruction."""
    here, found = session.position, list[tuple[int, int, Instruction]]()
    for recording, numbers in Selection(max(0, here - before), here + behind).recordings(session):
        for at in numbers.tolist():
            pc = int(recording.pcs[at])
            found.append((recording.start + at, pc, recording.instructions[pc]))
    session.goto(here)
    return found


def golden_lanes(session: Session, way: LaneWay) -> dict[int, list[GoldenLane]]:
    """The lanes on the way of an output element that belong to a step of the golden reference, by instruction.

    These are those that hold what a step has, in order, the one that parts from them, and the element itself.
    """
    found = dict[int, list[GoldenLane]]()
    if not way.golden or not way.steps:
        return found
    names, expected = list(way.golden), way.golden
    mismatch = session.trouble.mismatch if session.trouble is not None else None
    at = -1
    for step in way.steps:
        name = ""
        if step.parts:
            named = mismatch.parted_at if mismatch is not None else None
            name = named if named is not None and named in expected else names[min(at + 1, len(names) - 1)]
        elif step.golden:
            at, name = names.index(step.golden), step.golden
        elif step is way.steps[-1]:
            name = names[-1]
        if name:
            value, golden = step.value, expected[name]
            if isinstance(value, int) and isinstance(golden, int) and (value - golden) % (1 << step.bits) == 0:
                value = golden  # the same bits: no lane says whether it is signed
            found.setdefault(step.number, []).append(GoldenLane(step.lane, value, name, golden, step.parts))
    return found


def _read(session: Session, execution: Execution) -> Iterator[ShownOperand]:
    """Registers as the instruction's text names them, each once, those that are stored as lanes of what they are
    stored to; then memory.
    """
    step, registers = execution.step, execution.occurrence.registers
    stored = [named_memory(session, address, data)[1] for address, _, data in step.memory]
    for name, place, bits, lanes in operands_read(step.instruction):
        if place in registers:
            data = registers[place].to_bytes(16, "little")[lanes.start * bits // 8 : lanes.stop * bits // 8]
            own = f"s{min(bits, 64)}"
            if place.file == "v" and stored and stored[0][0] != "x" and not 8 * len(data) % int(stored[0][1:]):
                own = stored[0]
            yield ShownOperand(name=name, where=place, kind=own, data=data)
    for address, data in step.reads_memory:
        name, kind = named_memory(session, address, data)
        yield ShownOperand(name=name, where=address, kind=kind, data=data)


def _written(session: Session, execution: Execution, emulated: Emulated | None) -> Iterator[ShownOperand]:
    step = execution.step
    shown = {each.place: each for each in shown_registers(step.instruction)}
    loaded = [named_memory(session, address, data)[1] for address, data in step.reads_memory]
    for place, old, new in step.writes:
        if place.file in ("monitor", "pc"):
            continue
        name, kind, size = str(place), f"x{max(8, place.bits)}", max(1, place.bits // 8)
        if place in shown:
            name, size = shown[place].name, shown[place].lanes * int(shown[place].dtype[-1])
            kind = f"{'f' if 'f' in shown[place].dtype else 's'}{8 * size // shown[place].lanes}"
            if (
                loaded
                and loaded[0][0] != "x"
                and any(w.place == place and w.bits == 128 for w in step.instruction.writes)
            ):
                kind = loaded[0]
                name = f"{place}.{128 // int(kind[1:])}{ELEMENT_LETTERS[int(kind[1:])]}"
        before, after = (value.to_bytes(16, "little")[:size] for value in (old, new))
        theirs = emulated.registers.get(place) if emulated is not None else None
        yield ShownOperand(
            name=name, where=place, kind=kind, data=after, before=before,
            emulator=None if theirs is None else theirs.to_bytes(16, "little")[:size],
            events=_events(execution, place) if place.file == "v" else {},
        )  # fmt: skip
    for address, before, after in step.memory:
        name, kind = named_memory(session, address, after)
        theirs_there = emulated.memory.get(address) if emulated is not None else None
        yield ShownOperand(name=name, where=address, kind=kind, data=after, before=before, emulator=theirs_there)


def _events(execution: Execution, place: Place) -> Mapping[str, tuple[int, ...]]:
    evaluation, found = Evaluation(execution.occurrence), dict[str, list[int]]()
    for write in execution.step.instruction.writes:
        if write.place == place:
            for number, lane in enumerate(write.lanes):
                for event, condition in event_conditions(lane, is_vector=True).items():
                    if evaluation.value(condition):
                        found.setdefault(event, []).append(number)
    return {event: tuple(lanes) for event, lanes in found.items()}


def named_memory(session: Session, address: int, data: bytes) -> tuple[str, str]:
    """The name and the type of lanes of some bytes of memory: those of the array that has them as whole elements, where
    one has, else hexadecimal.
    """
    placed = session.array_at(address)
    name = session.name_of(address)
    size = next(size for size in (8, 4, 2, 1) if len(data) % size == 0)
    kind = kind_of(placed.pointer.type) if placed is not None else None
    if (
        placed is None
        or kind is None
        or any(each % placed.pointer.type.itemsize for each in (len(data), address - placed.address))
    ):
        return name, f"x{8 * size}"
    return name, kind
