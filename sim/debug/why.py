"""Why a lane is what it is: every instruction and value on its way, back to the inputs, or forward to what it reaches.

The way back is that of a check's blame (`sim.check.origin`), here through calls of any length: recordings say which
instruction was the last to write what is looked for, and only the instructions around it are executed again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from isa.evaluate.exact import Evaluation
from isa.instruction import Instruction, is_kept
from isa.lane import Floating, Load, Pick, Place, Read, walk
from isa.lane import Memory as MemoryPlace
from isa.operands import ELEMENT_LETTERS
from sim.call.call import Recorded
from sim.call.native.recorder import Array, Recording
from sim.check.origin import MEMORY, Byte, Node, OriginWalk, copied_bytes, keeps_number, source_bytes, written_lanes
from sim.debug.conditions import Decides
from sim.debug.events import event_conditions
from sim.debug.parting import marked
from sim.debug.spots import Spot
from sim.debug.timeline import Timeline
from sim.debug.way import LaneWay, WhyStep
from sim.machine.memory import merged

if TYPE_CHECKING:
    from sim.debug.session import Session

FLAGS: Final = Place("nzcv")
MOST: Final = 1000
"""Lanes on a way; of a sum of a million products nobody reads all."""
_FEW, _MANY = 32, 4096
"""Instructions that are executed again together."""
_SOME, _BRANCHES = 12, 3
"""Different loads and stores of which it is looked how their addresses came to be, branches, and steps of each; the
last branches.
"""


def walk_back(timeline: Timeline, spot: Spot, most: int) -> OriginWalk:
    """The way back from what is at a spot now; it ends where so many lanes are on it, those that were kept too."""
    here = timeline.position
    way = OriginWalk(spot.first, spot.size, spot.where)
    number, together = here, _FEW
    while number > 0 and len(way.nodes) + len(way.copies) < most:
        recording = timeline.recording(number - 1)
        written = _last_that_may_write(recording, way, number - recording.start)
        if written is None:
            number = recording.start
            continue
        last = recording.start + written
        first = max(recording.start, last + 1 - together)
        before = len(way.nodes) + len(way.copies)
        for index, recorded in reversed(list(_executed_again(timeline, first, last))):
            if way.wanted.could_come_from(recorded.occurrence.instruction):
                way.take(index, recorded)
        number = first
        is_dense = 8 * (len(way.nodes) + len(way.copies) - before) > together
        together = min(2 * together, _MANY) if is_dense else max(_FEW, together // 2)
    timeline.goto(here)
    return way


def _executed_again(timeline: Timeline, first: int, last: int) -> Iterator[tuple[int, Recorded]]:
    timeline.goto(first)
    for number in range(first, last + 1):
        execution = timeline.execute()
        assert execution is not None  # it was recorded
        yield number, Recorded(execution.step.pc, execution.occurrence)


def _last_that_may_write(recording: Recording, way: OriginWalk, before: int) -> int | None:
    """The last instruction, before one of that number in a recording, that may write what is wanted."""
    places = way.wanted.places
    registers = places - {MEMORY}
    writers = np.array([not registers.isdisjoint(each.places_written) for each in recording.code], bool)
    found = np.flatnonzero(writers[recording.numbers[:before]])[-1:].tolist()
    if MEMORY in places:
        stores = recording.accesses[recording.accesses["writes"] == 1]
        stores = stores[stores["instruction"] < before]
        found += stores["instruction"][overlapping(stores, way.wanted.numbers(MEMORY))][-1:].tolist()
    return max(found, default=None)


def overlapping(accesses: Array, addresses: Iterable[int]) -> Array:
    """Which accesses have one of these bytes."""
    ranges = np.array(merged((address, address + 1) for address in addresses), np.uint64).reshape(-1, 2)
    if not len(ranges):
        return np.zeros(len(accesses), bool)
    at = np.searchsorted(ranges[:, 0], accesses["address"] + accesses["size"], "left")
    ends = np.concatenate([[np.uint64(0)], ranges[:, 1]])
    return np.asarray(ends[at] > accesses["address"])


def why_of(session: Session, spot: Spot) -> LaneWay:
    """How what is at a spot now came to be."""
    here = session.position
    walked = walk_back(session.timeline, spot, MOST)
    found = _Way(session, walked)
    steps = found.steps(spot)
    shown = {(step.number, step.lane) for step in steps}
    reaching = found.addresses()
    addresses, decisions = (
        tuple(step for step in some if (step.number, step.lane) not in shown)
        for some in (reaching, found.decisions(here, reaching))
    )
    told = LaneWay(
        spot=spot, steps=steps, inputs=tuple(found.inputs()), addresses=addresses, decisions=decisions,
        golden=session.golden_steps(spot), is_cut=len(walked.nodes) + len(walked.copies) >= MOST,
    )  # fmt: skip
    session.goto(here)
    return replace(marked(session, told), unoptimized=_lines_unoptimized(session, told))


def _lines_unoptimized(session: Session, way: LaneWay) -> tuple[str, ...]:
    """The source lines that the way of the same lane at -O0 has too; only of an output, of a call that returned."""
    plain = session.unoptimized if session.timeline.returned and session.is_output(way.spot) else None
    if plain is None:
        return ()
    lines = {line.removeprefix("near ") for line in way.lines}
    more = {line for line in plain.why(way.spot.name).lines if line not in lines and not line.startswith("near ")}
    return tuple(sorted(more, key=_by_number))


def _by_number(line: str) -> tuple[str, int]:
    """The order of source lines, "f.c:9" before "f.c:10"; an address has none."""
    file, _, number = line.rpartition(":")
    return (file, int(number)) if number.isdigit() else (line, 0)


class _Way:
    """A way that was walked, as it is told."""

    def __init__(self, session: Session, way: OriginWalk) -> None:
        self._session, self._way = session, way
        self._copies = set(way.copies)
        changed = [node for node in way.copies if not _is_kept(node)]
        flags = set[int]()  # each of them is a lane, and all are told together
        self.nodes = list[Node]()
        for node in sorted([*way.nodes, *changed], key=lambda node: node.index):
            if node.write.place != FLAGS or node.index not in flags:
                self.nodes.append(node)
            if node.write.place == FLAGS:
                flags.add(node.index)

    def steps(self, spot: Spot) -> tuple[WhyStep, ...]:
        """The steps in order; golden steps are looked for in theirs."""
        place = {node: at for at, node in enumerate(self.nodes)}
        made_of: dict[Node, list[int]] = {}
        for node in self.nodes:
            for consumer in node.consumers:
                made_of.setdefault(consumer, []).append(place[node])
        pending, found = self._session.golden_values(spot), list[WhyStep]()
        for node in self.nodes:
            held = ""
            if pending and not _keeps_number(node) and node.holds(pending[0][1]):
                held = pending.pop(0)[0]
            step = _told(self._session, node, node in self._copies)
            found.append(replace(step, golden=held, made_of=tuple(made_of.get(node, ()))))
        return tuple(found)

    def inputs(self) -> Iterator[str]:
        """What the way began with, each once."""
        wanted = self._way.wanted
        yield from dict.fromkeys(self._session.name_of(address) for address in sorted(wanted.numbers(MEMORY)))
        yield from (f"{place} at the call" for place in sorted(map(str, wanted.places - {MEMORY})))

    def addresses(self) -> tuple[WhyStep, ...]:
        """How the addresses came to be of the last things that were loaded and stored on the way."""
        found: dict[tuple[int, str], WhyStep] = {}
        last = {node.recorded.pc: node for node in self.nodes if _address_places(node.recorded.occurrence.instruction)}
        for node in sorted(last.values(), key=lambda node: node.index)[-_SOME:]:
            for place in _address_places(node.recorded.occurrence.instruction):
                self._session.goto(node.index)
                found |= {(step.number, step.lane): step for step in self._short_way(_whole(place))}
        return tuple(found[key] for key in sorted(found))

    def decisions(self, here: int, addresses: Iterable[WhyStep]) -> tuple[WhyStep, ...]:
        """What chose between two values on the way, and what the branches looked at that led to it."""
        session, found = self._session, dict[tuple[int, str], WhyStep]()
        choosing = [(node.index, spot) for node in self.nodes for spot in _choosing_spots(node)]
        for number, spot in list(dict.fromkeys(choosing))[-_SOME:]:
            session.goto(number)
            found |= {(step.number, step.lane): step for step in self._short_way(spot)}
        for branch in self._branches(here, addresses):
            session.goto(branch)
            execution = session.timeline.execute()
            assert execution is not None  # it was found
            pc, instruction = execution.step.pc, execution.step.instruction
            found[branch, "pc"] = WhyStep(
                number=branch, pc=pc, source=session.source_of(pc), inlined=session.inlined_at(pc),
                instruction=instruction.text, lane="pc", value=execution.step.next_pc, bits=64,
                goes_to=session.source_of(execution.step.next_pc) if execution.step.next_pc != pc + 4 else "",
            )  # fmt: skip
            for place in execution.occurrence.registers:
                if place != Place("pc"):
                    session.goto(branch)
                    found |= {(step.number, step.lane): step for step in self._short_way(_whole(place))}
        return tuple(found[key] for key in sorted(found))

    def _branches(self, here: int, addresses: Iterable[WhyStep]) -> list[int]:
        """The last branches before the last step that could have gone elsewhere, and the one before each instruction of
        the way, and of the addresses, when it was executed last.
        """
        of = {each.pc: each.number for each in addresses} | {node.recorded.pc: node.index for node in self.nodes}
        found = dict[int, None]()
        before: int | None = max(of.values(), default=here)
        for _ in range(_BRANCHES):
            before = None if before is None else self._session.find_back(Decides(), before)
            found |= {} if before is None else {before: None}
        for number in sorted(of.values(), reverse=True):
            branch = self._session.find_back(Decides(), number) if len(found) < _SOME else None
            found |= {} if branch is None else {branch: None}
        return list(found)

    def _short_way(self, spot: Spot) -> Iterator[WhyStep]:
        """The last steps to what a register, or a part of it, holds now."""
        way = walk_back(self._session.timeline, spot, _SOME)
        changed = (node for node in way.copies if not _is_kept(node))
        return (_told(self._session, node, node in way.copies) for node in (*way.nodes, *changed))


def reached_from(session: Session, spot: Spot) -> LaneWay:
    """What comes of what is at a spot now."""
    here, timeline = session.position, session.timeline
    reached = {Byte(spot.where, spot.first + i) for i in range(spot.size)}
    steps, number, together = list[WhyStep](), here, _FEW
    while reached and len(steps) < MOST and len(recording := timeline.recording(number)):
        first = _first_that_may_touch(recording, reached, number - recording.start)
        if first is None:
            number = recording.end
            continue
        number = recording.start + first
        found = list(_executed_again(timeline, number, min(number + together, recording.end) - 1))
        before = len(steps)
        for index, recorded in found:
            steps += _reached_by(session, index, recorded, reached)
        number += len(found)
        together = min(2 * together, _MANY) if 8 * (len(steps) - before) > together else max(_FEW, together // 2)
    session.goto(here)
    reached -= {Byte(spot.where, spot.first + i) for i in range(spot.size)}
    memory = sorted(byte.number for byte in reached if byte.where == MEMORY)
    ends = dict.fromkeys(session.name_of(address) for address in memory)
    ends |= dict.fromkeys(
        f"{place} at the end" for place in sorted({str(b.where) for b in reached if b.where != MEMORY})
    )
    return LaneWay(spot=spot, steps=tuple(steps), inputs=tuple(ends), is_cut=len(steps) >= MOST, is_forward=True)


def _first_that_may_touch(recording: Recording, reached: set[Byte], start: int) -> int | None:
    """The first instruction, from one of that number in a recording on, that may read or overwrite what was reached."""
    registers = {byte.where for byte in reached} - {MEMORY}
    touch = [not registers.isdisjoint((*each.places_read, *each.places_written)) for each in recording.code]
    found = (np.flatnonzero(np.array(touch, bool)[recording.numbers[start:]])[:1] + start).tolist()
    memory = [byte.number for byte in reached if byte.where == MEMORY]
    if memory:
        accesses = recording.accesses[recording.accesses["instruction"] >= start]
        found += [int(number) for number in accesses["instruction"][overlapping(accesses, memory)][:1]]
    return min(found, default=None)


def _reached_by(session: Session, index: int, recorded: Recorded, reached: set[Byte]) -> Iterator[WhyStep]:
    """The lanes of an executed instruction that something reached goes into; it is replaced by what was written."""
    evaluation = Evaluation(recorded.occurrence)
    written = list(written_lanes(evaluation, recorded.occurrence.instruction))
    hits = []
    for part in written:
        copied = copied_bytes(part.lane, evaluation)
        if copied is not None:
            hits.append([at for at, byte in enumerate(copied[: len(part.span)]) if byte in reached])
        else:
            comes = not reached.isdisjoint(source_bytes(part.lane, evaluation))
            hits.append(list(range(len(part.span))) if comes else [])
    for part in written:
        reached.difference_update(part.span)
    has_flags = False  # each of them is a lane, and all are told together
    for part, hit in zip(written, hits, strict=True):
        reached.update(part.span[at] for at in hit)
        is_copy = copied_bytes(part.lane, evaluation) is not None
        if hit and not (has_flags and part.write.place == FLAGS):
            has_flags |= part.write.place == FLAGS
            told = part.narrowed(hit) if is_copy else part
            node = told.node(index, recorded, evaluation, set())
            if not _is_kept(node):
                yield _told(session, node, is_copy)


def _is_kept(node: Node) -> bool:
    """Whether it is what its register held there before."""
    number = node.lane * node.bits // node.write.bits
    return number < len(node.write.lanes) and is_kept(node.write, number)


def _keeps_number(node: Node) -> bool:
    """Whether it is only moved, or widened: a step of the golden reference computes something."""
    return node.lane >= len(node.write.lanes) or keeps_number(node.write.lanes[node.lane])


def _told(session: Session, node: Node, is_copy: bool) -> WhyStep:
    """A lane on a way, in words."""
    occurrence, write, pc = node.recorded.occurrence, node.write, node.recorded.pc
    assert pc is not None  # it is machine code
    evaluation = Evaluation(occurrence)
    is_lane = node.lane < len(write.lanes)  # behind the last one are bytes that became zero
    is_vector = isinstance(write.place, Place) and write.place.file == "v"
    conditions = event_conditions(write.lanes[node.lane], is_vector) if is_lane and not is_copy else {}
    return WhyStep(
        number=node.index, pc=pc, source=session.source_of(pc), inlined=session.inlined_at(pc),
        instruction=occurrence.instruction.text,
        lane=_lane_name(session, node, evaluation), value=_number(session, node, evaluation), bits=node.bits,
        is_copy=is_copy, events=tuple(name for name, condition in conditions.items() if evaluation.value(condition)),
    )  # fmt: skip


def _number(session: Session, node: Node, evaluation: Evaluation) -> int | float:
    """What a lane holds: a number of its array's type, or of floating point where that was computed, else signed."""
    place, kind = node.write.place, "i"
    if place == FLAGS:
        return sum((evaluation.value(lane) & 1) << number for number, lane in enumerate(node.write.lanes))
    array = None
    if isinstance(place, MemoryPlace):
        array = session.array_at(evaluation.value(place.address) + node.lane * node.bits // 8)
    if array is not None and array.pointer.type.kind != "V" and 8 * array.pointer.type.itemsize == node.bits:
        kind = array.pointer.type.kind
    elif node.lane < len(node.write.lanes) and any(
        isinstance(n, Floating) for n in walk([node.write.lanes[node.lane]])
    ):
        kind = "f"
    if node.bits not in (8, 16, 32, 64) or (kind, node.bits) == ("f", 8):
        return node.value
    number: int | float = np.frombuffer(node.value.to_bytes(8, "little"), f"<{kind}{node.bits // 8}")[0].item()
    return number


def _lane_name(session: Session, node: Node, evaluation: Evaluation) -> str:
    place = node.write.place
    if isinstance(place, MemoryPlace):
        return session.name_of(evaluation.value(place.address) + node.lane * node.bits // 8)
    if place.file == "v":
        is_zero = (node.lane, node.bits) == (len(node.write.lanes), node.write.bits)  # and all behind it
        last = 128 // node.bits - 1 if is_zero else node.lane
        lanes = str(last) if last == node.lane else f"{node.lane}..{last}"
        return f"{place}.{ELEMENT_LETTERS.get(node.bits, 'b')}[{lanes}]"
    if place.file == "x" and node.bits in ELEMENT_LETTERS and (node.lane or node.bits < 32):
        return f"{place}.{ELEMENT_LETTERS[node.bits]}[{node.lane}]"
    return f"w{place.index}" if (place.file, node.bits) == ("x", 32) else str(place)


def _choosing_spots(node: Node) -> list[Spot]:
    """The parts of registers by which a lane was chosen from two values: of a vector register the bytes alone that were
    looked at, as the others decide nothing here.
    """
    if node.lane >= len(node.write.lanes):
        return []
    evaluation = Evaluation(node.recorded.occurrence)
    read = {
        (byte.where, byte.number)
        for choice in walk([node.write.lanes[node.lane]])
        if isinstance(choice, Pick) and len(choice.items) == 1
        for byte in source_bytes(choice.index, evaluation, decisions=True)
    }
    places = sorted({where for where, _ in read if isinstance(where, Place)}, key=str)
    found = [_whole(place) for place in places if place.file != "v"]
    for place in (place for place in places if place.file == "v"):
        numbers = [number for where, number in read if where == place]
        found += [Spot(str(place), place, low, high - low) for low, high in merged((n, n + 1) for n in numbers)]
    return found


def _whole(place: Place) -> Spot:
    return Spot(str(place), place, 0, max(1, place.bits // 8))


def _address_places(instruction: Instruction) -> list[Place]:
    """The registers of which an instruction makes addresses; the stack's needs no reason."""
    addresses = [node.address for node in walk(instruction.lanes) if isinstance(node, Load)]
    addresses += [w.place.address for w in instruction.writes if isinstance(w.place, MemoryPlace)]
    return sorted({n.place for n in walk(addresses) if isinstance(n, Read) and n.place.file != "sp"}, key=str)
