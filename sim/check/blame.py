"""Blame: from one wrong output lane back through everything that was executed, to where it left the golden reference.

The recorded instructions are walked backwards from the bytes of the output lane.  Each written lane that those bytes
came from is a node, the lanes that it was computed from are its producers: what the expressions of the instruction
read, and of a table lookup or a select only the item that was taken.  Then the steps of the golden reference are
looked for along these nodes, each in what follows from the one before; the first step whose value does not appear is
where the kernel parts from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, cast

import numpy as np

from isa.evaluate.exact import Evaluation
from isa.instruction import Instruction
from isa.lane import Int, Lane, Memory, Place, Write, constant
from sim.check.call import Recorded

MEMORY = "memory"
USUALLY = 0.9
"""Well above the half of the lanes in which a shift that rounds by a correction holds its result before it, and below
all, because a lane can be right although a step of it was wrong."""
ENOUGH = 2
"""A single value would be met by every constant."""


class Byte(NamedTuple):
    """One byte of a register or of memory; flags count as one byte."""

    where: Place | str
    number: int


class FloatBits(int):
    """The bits of a floating-point number: only a lane of its width can hold it, a part of them says nothing."""

    width: int


def bits_of(number: np.generic) -> int:
    """An integer itself; of a floating-point number its `FloatBits`, of every NaN those of the default one."""
    if number.dtype.kind != "f":
        return int(number)
    array = np.array(abs(np.array(np.nan, number.dtype)) if np.isnan(number) else number)
    bits = FloatBits(array.view(f"u{array.itemsize}"))
    bits.width = 8 * array.itemsize
    return bits


class Wanted:
    """The bytes whose origin is looked for, and the nodes that were computed from each."""

    def __init__(self) -> None:
        self._consumers: dict[Place | str, dict[int, set[Node]]] = {}

    def add(self, byte: Byte, consumers: Iterable[Node]) -> None:
        self._consumers.setdefault(byte.where, {}).setdefault(byte.number, set()).update(consumers)

    def get(self, byte: Byte) -> set[Node] | None:
        """The nodes that want the byte; None where it is not wanted."""
        return self._consumers.get(byte.where, {}).get(byte.number)

    def remove(self, byte: Byte) -> None:
        self._consumers.get(byte.where, {}).pop(byte.number, None)

    def numbers(self, where: Place | str) -> Iterable[int]:
        """The wanted bytes of one place."""
        return self._consumers.get(where, {})

    def could_come_from(self, instruction: Instruction) -> bool:
        """Whether the instruction writes a place of which bytes are wanted."""
        return instruction.stores or any(self._consumers.get(place) for place in instruction.places_written)


@dataclass(eq=False)
class Node:
    """One written lane: which executed instruction wrote it, and the lanes that were computed from it."""

    index: int
    recorded: Recorded
    lane: int
    bits: int
    value: int
    consumers: set[Node] = field(default_factory=set)

    def holds(self, value: int) -> bool:
        """Whether the lane is that number, as a signed or as an unsigned one."""
        return -(1 << self.bits - 1) <= value < 1 << self.bits and self.ends(value)

    def ends(self, value: int) -> bool:
        """Whether the lane is the low bits of that number; of a 64-bit lane, its low word is enough.

        A floating-point number must be the whole lane.
        """
        if isinstance(value, FloatBits):
            return self.bits == value.width and self.value == value
        fits_a_word = -(1 << 31) <= value < 1 << 32
        mask = (1 << (32 if fits_a_word and self.bits == 64 else self.bits)) - 1
        return self.value & mask == value & mask


@dataclass(frozen=True)
class Origin:
    """Everything that one output lane came from, earliest first, and the bytes of memory that it started from.

    `readers` are the nodes that were computed from each of those bytes.
    """

    nodes: tuple[Node, ...]
    memory: tuple[int, ...]
    readers: Mapping[int, frozenset[Node]] = field(default_factory=dict)


def origin_of(trace: Sequence[Recorded], address: int, size: int, where: Place | str = MEMORY) -> Origin:
    """Where the bytes at `address`, or those of a register from that byte on, came from."""
    wanted = Wanted()
    for i in range(size):
        wanted.add(Byte(where, address + i), ())
    nodes: list[Node] = []
    for index in reversed(range(len(trace))):
        if wanted.could_come_from(trace[index].occurrence.instruction):
            nodes.extend(_producers(index, trace[index], wanted))
    memory = tuple(sorted(wanted.numbers(MEMORY)))
    readers = {address: frozenset(wanted.get(Byte(MEMORY, address)) or ()) for address in memory}
    return Origin(tuple(reversed(nodes)), memory, readers)


def _producers(index: int, recorded: Recorded, wanted: Wanted) -> list[Node]:
    """The nodes of one executed instruction; `wanted` goes from what it wrote to what it read."""
    evaluation = Evaluation(recorded.occurrence)
    written = [part for write in recorded.occurrence.instruction.writes for part in _parts(write, evaluation)]
    taken = [[wanted.get(byte) for byte in part.span] for part in written]
    for part in written:
        for byte in part.span:
            wanted.remove(byte)
    found = []
    for part, consumers in zip(written, taken, strict=True):
        if _is_copy(part.lane):
            _hand_on(part.lane, consumers, evaluation, wanted)
        elif any(who is not None for who in consumers):
            found.append(_node(index, recorded, part, consumers, evaluation, wanted))
    return found


class _Part(NamedTuple):
    """One written lane and the bytes it went to; past the last lane, the bytes that became zero (no lane)."""

    number: int
    bits: int
    lane: Lane
    span: list[Byte]


def _parts(write: Write, evaluation: Evaluation) -> list[_Part]:
    where, first = _destination(write, evaluation)
    bits = write.bits
    parts = [_Part(i, bits, lane, _span(where, first, i * bits, bits)) for i, lane in enumerate(write.lanes)]
    reached = len(parts) * bits
    if isinstance(where, Place) and reached < where.bits:
        parts.append(_Part(len(parts), bits, constant(0), _span(where, 0, reached, where.bits - reached)))
    return parts


def _is_copy(lane: Lane) -> bool:
    """Whether the lane is moved unchanged: such instructions are looked through, byte by byte."""
    if lane.op == "field":
        lsb, element = cast(tuple[int, Int], lane.detail)
        return lane.args[0].op in ("read", "load") and lsb % 8 == 0 and element.bits % 8 == 0
    return lane.op in ("read", "load")


def _hand_on(lane: Lane, consumers: Sequence[set[Node] | None], evaluation: Evaluation, wanted: Wanted) -> None:
    """Those who wanted the bytes of a copy want the bytes it came from."""
    sources = list(_copied_bytes(lane, evaluation))
    for byte, who in zip(sources, consumers, strict=False):
        if who is not None:
            wanted.add(byte, who)


def _node(
    index: int, recorded: Recorded, part: _Part, consumers: Sequence[set[Node] | None],
    evaluation: Evaluation, wanted: Wanted,
) -> Node:  # fmt: skip
    value = evaluation.value(part.lane) & (1 << part.bits) - 1
    node = Node(index, recorded, part.number, part.bits, value, set().union(*filter(None, consumers)))
    for byte in _sources(part.lane, evaluation):
        wanted.add(byte, (node,))
    return node


def _destination(write: Write, evaluation: Evaluation) -> tuple[Place | str, int]:
    if isinstance(write.place, Memory):
        return MEMORY, evaluation.value(write.place.address)
    return write.place, 0


def _span(where: Place | str, first: int, lsb: int, bits: int) -> list[Byte]:
    return [Byte(where, first + i) for i in range(lsb // 8, (lsb + bits + 7) // 8)]


def _sources(lane: Lane, evaluation: Evaluation) -> Iterator[Byte]:
    """The bytes that the value of an expression came from.

    Left out is what only made an address or decided between two values, and what a zero masked away.
    """
    if lane.op in ("read", "load"):
        yield from _leaf(lane, 0, lane.high.bit_length(), evaluation)
    elif lane.op == "field" and lane.args[0].op in ("read", "load"):
        lsb, element = cast(tuple[int, Int], lane.detail)
        yield from _leaf(lane.args[0], lsb, element.bits, evaluation)
    else:
        for arg in _used(lane, evaluation):
            yield from _sources(arg, evaluation)


def _used(lane: Lane, evaluation: Evaluation) -> tuple[Lane, ...]:
    """The operands that the value of a node came from."""
    if lane.op == "and":
        return tuple(arg for arg in lane.args if evaluation.value(arg) == 0)[:1] or lane.args
    if lane.op != "pick":
        return lane.args
    index, *items, otherwise = lane.args
    at = evaluation.value(index)
    taken = items[at] if 0 <= at < len(items) else otherwise
    return (taken,) if len(items) == 1 else (taken, index)


def _copied_bytes(lane: Lane, evaluation: Evaluation) -> list[Byte]:
    if lane.op == "field":
        lsb, element = cast(tuple[int, Int], lane.detail)
        return _leaf(lane.args[0], lsb, element.bits, evaluation)
    return _leaf(lane, 0, lane.high.bit_length(), evaluation)


def _leaf(lane: Lane, lsb: int, bits: int, evaluation: Evaluation) -> list[Byte]:
    if lane.op == "read":
        return _span(cast(Place, lane.detail), 0, lsb, bits)
    return _span(MEMORY, evaluation.value(lane.args[0]), lsb, bits)


@dataclass(frozen=True)
class Lineage:
    """One output lane: where it is, where it came from, the golden steps there, and its own element of each input.

    `inputs` gives the address of that element for each step that is an input.
    """

    address: int
    origin: Origin
    steps: Mapping[str, int]
    inputs: Mapping[str, int]

    @property
    def is_written(self) -> bool:
        """Whether the call wrote the lane at all; one that is changed in place comes from itself too."""
        return bool(self.origin.nodes) or self.address not in self.origin.memory

    @property
    def is_own(self) -> bool:
        """Whether the lane came from its own elements."""
        return all(address in self.origin.memory for step, address in self.inputs.items() if step in self.steps)

    @cached_property
    def computed_steps(self) -> dict[str, int]:
        """The steps that are no input and change what they are given: another value than the step before."""
        given = {value for step, value in self.steps.items() if step in self.inputs}
        computed = {}
        for step, value in self.steps.items():
            if step not in self.inputs:
                if value not in given:
                    computed[step] = value
                given = {value}
        return computed


@dataclass(frozen=True)
class Parting:
    """Where an output lane leaves the golden reference.

    `step` is the first golden step that is not reproduced and `golden` its value; `agreed` are the steps before it;
    `node` is the first lane computed from the last agreeing value, None where no lane was.
    """

    step: str
    golden: int
    agreed: tuple[str, ...]
    node: Node | None


@dataclass
class Calibration:
    """Which instructions of an implementation compute which golden step, learned from lanes that are right.

    An instruction may hold the value of a step by chance: of those that were seen, only the ones that hold it most
    often are its `makers`, the others are `refuted`.  A step that no instruction holds in at least `USUALLY` of the
    lanes is not computed by itself (`fused`).  Nothing is learned of a step with fewer than
    `ENOUGH` different values.
    """

    makers: dict[str, set[object]] = field(default_factory=dict)
    refuted: dict[str, set[object]] = field(default_factory=dict)
    fused: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, right: Iterable[Lineage], wrong: Lineage) -> Calibration:
        """What right lanes say about the instructions that a wrong lane came through."""
        calibration = cls()
        own = [lineage for lineage in right if lineage.is_own]
        passed = {_instruction(node) for node in wrong.origin.nodes}
        for step in wrong.computed_steps:
            shares = {place: share for place, share in _shares(own, step).items() if place in passed}
            if shares:
                best = max(shares.values())
                if best < USUALLY:
                    calibration.fused.add(step)
                calibration.makers[step] = {instruction for instruction, share in shares.items() if share == best}
                calibration.refuted[step] = set(shares) - calibration.makers[step]
        return calibration

    def agrees(self, node: Node, step: str, value: int) -> bool:
        """Whether the lane is the value of the step; a maker may keep only its low bits."""
        instruction = _instruction(node)
        if instruction in self.makers.get(step, ()):
            return node.ends(value)
        return node.holds(value) and instruction not in self.refuted.get(step, ())


def _shares(lineages: Sequence[Lineage], step: str) -> dict[object, float]:
    """In which share of the lanes that an instruction reached it held the step's value or its low bits.

    Only instructions that were seen with enough different values are counted.
    """
    seen: dict[object, list[tuple[int, bool]]] = {}
    for lineage in lineages:
        value = lineage.computed_steps.get(step)
        if value is not None:
            held = {_instruction(node) for node in lineage.origin.nodes if node.bits >= 8 and node.ends(value)}
            for instruction in {_instruction(node) for node in lineage.origin.nodes}:
                seen.setdefault(instruction, []).append((value, instruction in held))
    return {
        instruction: sum(held for _, held in cases) / len(cases)
        for instruction, cases in seen.items()
        if len({value for value, _ in cases}) >= ENOUGH
    }


def parting(lineage: Lineage, calibration: Calibration) -> Parting | None:
    """The first golden step that a wrong lane does not reproduce; None where the golden steps are none.

    A step that is an input agrees where the lane's own element was read; a step that changes nothing agrees with the
    one before it.  A fused step agrees if the next one does, and is where the lane parts if that does not.  Where all
    steps appear, the last computed one did not reach the output.
    """
    for step in lineage.inputs:
        if step in lineage.steps and lineage.inputs[step] not in lineage.origin.memory:
            return Parting(step, lineage.steps[step], _steps_before(lineage, step), None)
    reachable, last, unsettled = set(lineage.origin.nodes), None, ""
    computed = lineage.computed_steps
    for step, value in computed.items():
        unsettled = unsettled or step
        if step not in calibration.fused:
            matches = {node for node in reachable if calibration.agrees(node, step, value)}
            if not matches:
                break
            last, reachable, unsettled = max(matches, key=lambda node: node.index), _followers(matches), ""
    parted = unsettled or next(reversed(computed), "")
    if not parted:
        return None
    return Parting(parted, computed[parted], _steps_before(lineage, parted), _next_node(lineage, last))


def _steps_before(lineage: Lineage, step: str) -> tuple[str, ...]:
    names = tuple(lineage.steps)
    return names[: names.index(step)]


def _instruction(node: Node) -> object:
    """The same for all executions of one instruction; a program of intrinsics has no addresses, so its form."""
    return node.recorded.pc or node.recorded.occurrence.instruction.form.name


def _followers(nodes: Iterable[Node]) -> set[Node]:
    """The nodes and everything computed from them."""
    found: set[Node] = set()
    pending = list(nodes)
    while pending:
        node = pending.pop()
        if node not in found:
            found.add(node)
            pending.extend(node.consumers)
    return found


def _next_node(lineage: Lineage, last: Node | None) -> Node | None:
    """The first lane that was computed from the last agreeing value, and is another value.

    Where nothing agreed, the first that was computed from the inputs, so none that only prepared a parameter.
    """
    if last is not None:
        changed = [node for node in _followers([last]) if node.value != last.value]
    else:
        readers = [lineage.origin.readers.get(address, frozenset()) for address in lineage.inputs.values()]
        changed = [*_followers(frozenset().union(*readers))] or [*lineage.origin.nodes]
    return min(changed, key=lambda node: node.index, default=None)
