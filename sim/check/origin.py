"""Where an output lane came from, back through everything that was executed.

The recorded instructions are walked backwards from the bytes of the output lane.  Each written lane that those bytes
came from is a node, the lanes that it was computed from are its producers: what the expressions of the instruction
read, and of a table lookup or a select only the item that was taken.  Of a bound that was chosen that is the bound
alone; what it was compared with is found through what decided it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, assert_never

import numpy as np

from isa.evaluate.exact import Evaluation
from isa.instruction import Instruction
from isa.lane import (
    Binary,
    Constant,
    Field,
    Floating,
    Lane,
    Load,
    Memory,
    Pick,
    Place,
    Read,
    Saturate,
    Write,
    constant,
)
from sim.call.call import Recorded

MEMORY = "memory"
PC = Place("pc")


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


class WantedBytes:
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

    @property
    def places(self) -> set[Place | str]:
        """The registers, and `MEMORY`, of which bytes are wanted."""
        return {where for where, bytes_ in self._consumers.items() if bytes_}

    def numbers(self, where: Place | str) -> Iterable[int]:
        """The wanted bytes of one place."""
        return self._consumers.get(where, {})

    def have_some_of(self, where: Place | str, first: int, size: int) -> bool:
        """Whether one of these bytes is wanted."""
        return any(0 <= number - first < size for number in self.numbers(where))

    def could_come_from(self, instruction: Instruction) -> bool:
        """Whether the instruction writes a place of which bytes are wanted."""
        return (instruction.stores and bool(self._consumers.get(MEMORY))) or any(
            self._consumers.get(place) for place in instruction.places_written
        )


@dataclass(eq=False, kw_only=True)
class Node:
    """One written lane: which executed instruction wrote it, and the lanes that were computed from it.

    `write` is that of the instruction in which it is lane number `lane`, of `bits`.
    """

    index: int
    recorded: Recorded
    write: Write
    lane: int
    bits: int
    value: int
    consumers: set[Node] = field(default_factory=set)

    def holds(self, value: int) -> bool:
        """Whether the lane is that number, as a signed or as an unsigned one."""
        return -(1 << self.bits - 1) <= value < 1 << self.bits and self.ends(value)

    def ends(self, value: int) -> bool:
        """Whether the lane is the low bits of that number; of a 64-bit lane, its low word is enough.

        A floating-point number must be the whole lane.  Zeros say nothing of a number that is not zero: whatever was
        shifted far enough to the left ends in them.
        """
        if isinstance(value, FloatBits):
            return self.bits == value.width and self.value == value
        fits_a_word = -(1 << 31) <= value < 1 << 32
        mask = (1 << (32 if fits_a_word and self.bits == 64 else self.bits)) - 1
        return self.value & mask == value & mask and (value == 0 or value & mask != 0)

    def sources(self) -> set[Place | str]:
        """The registers, and `MEMORY`, that the value was computed from."""
        if self.lane >= len(self.write.lanes):  # past the last lane: a zero
            return set()
        evaluation = Evaluation(self.recorded.occurrence)
        return {byte.where for byte in source_bytes(self.write.lanes[self.lane], evaluation)}


@dataclass(frozen=True)
class LaneOrigin:
    """Everything that one output lane came from, earliest first, and the bytes of memory that it started from.

    `readers` are the nodes that were computed from each of those bytes.
    """

    nodes: tuple[Node, ...]
    memory: tuple[int, ...]
    readers: Mapping[int, frozenset[Node]] = field(default_factory=dict)


class OriginWalk:
    """The way back from the bytes at `address`, or from those of a register from that byte on.

    `wanted` are those whose origin is still looked for, `nodes` what they came from until now, the last one first;
    `copies` are the lanes that were only moved on the way, with the nodes that were computed from them.  With
    `decisions` a select comes from what decided it too.
    """

    def __init__(self, address: int, size: int, where: Place | str = MEMORY, decisions: bool = False) -> None:
        self.wanted = WantedBytes()
        self._decisions = decisions
        for i in range(size):
            self.wanted.add(Byte(where, address + i), ())
        self.nodes: list[Node] = []
        self.copies: list[Node] = []

    def take(self, index: int, recorded: Recorded) -> None:
        """Go back over the executed instruction of that number."""
        for node, is_copy in _producers(index, recorded, self.wanted, self._decisions):
            (self.copies if is_copy else self.nodes).append(node)

    def add_decision(self, branch: Recorded) -> None:
        """Look for what an executed branch looked at, too."""
        evaluation = Evaluation(branch.occurrence)
        for lane in branch.occurrence.instruction.lanes:
            for byte in source_bytes(lane, evaluation, decisions=True):
                if byte.where != PC:
                    self.wanted.add(byte, ())

    def origin(self) -> LaneOrigin:
        """What was found: all of it, once everything is taken that the wanted bytes could come from."""
        memory = tuple(sorted(self.wanted.numbers(MEMORY)))
        readers = {address: frozenset(self.wanted.get(Byte(MEMORY, address)) or ()) for address in memory}
        return LaneOrigin(tuple(reversed(self.nodes)), memory, readers)


def origin_of(trace: Sequence[Recorded], address: int, size: int, where: Place | str = MEMORY) -> LaneOrigin:
    """Where the bytes at `address`, or those of a register from that byte on, came from."""
    return _walked(trace, OriginWalk(address, size, where)).origin()


def decided_origin_of(trace: Sequence[Recorded], address: int, size: int, where: Place | str = MEMORY) -> LaneOrigin:
    """Where those bytes came from, and what decided that: by way of selects, and of the branch before each step.

    Branches that decided a decision are left out: these are loops.
    """
    plain = _walked(trace, OriginWalk(address, size, where))
    steps = {node.index for node in (*plain.nodes, *plain.copies)}
    walk = OriginWalk(address, size, where, decisions=True)
    is_before = False
    for index in reversed(range(len(trace))):
        instruction = trace[index].occurrence.instruction
        if walk.wanted.could_come_from(instruction):
            walk.take(index, trace[index])
        if index in steps:
            is_before = True
        elif is_before and decides(instruction):
            walk.add_decision(trace[index])
            is_before = False
    return walk.origin()


def decides(instruction: Instruction) -> bool:
    """Whether it is a branch to one of two places; those to where a register points are none."""
    read = set(instruction.places_read) - {PC}
    return instruction.is_branch and bool(read) and instruction.form.mnemonic not in ("br", "blr", "ret")


def _walked(trace: Sequence[Recorded], walk: OriginWalk) -> OriginWalk:
    for index in reversed(range(len(trace))):
        if walk.wanted.could_come_from(trace[index].occurrence.instruction):
            walk.take(index, trace[index])
    return walk


def _producers(index: int, recorded: Recorded, wanted: WantedBytes, decisions: bool) -> Iterator[tuple[Node, bool]]:
    """The wanted lanes of one executed instruction, and whether it only moved them.

    `wanted` goes from what it wrote to what it read.
    """
    evaluation = Evaluation(recorded.occurrence)
    writes = [
        write for write in recorded.occurrence.instruction.writes if wanted.have_some_of(*_reach(write, evaluation))
    ]
    written = [part for write in writes for part in _parts(write, evaluation)]
    taken = [[wanted.get(byte) for byte in part.span] for part in written]
    for part in written:
        for byte in part.span:
            wanted.remove(byte)
    for part, consumers in zip(written, taken, strict=True):
        if all(who is None for who in consumers):
            continue
        copied = copied_bytes(part.lane, evaluation)
        told = part if copied is None else part.narrowed([at for at, who in enumerate(consumers) if who is not None])
        node = told.node(index, recorded, evaluation, set().union(*filter(None, consumers)))
        if copied is not None:  # who wanted the bytes of a copy wants the bytes it came from
            for byte, who in zip(copied, consumers, strict=False):
                if who is not None:
                    wanted.add(byte, who)
        else:
            for byte in source_bytes(part.lane, evaluation, decisions):
                wanted.add(byte, (node,))
        yield node, copied is not None


class WrittenLane(NamedTuple):
    """One lane of a write and the bytes it went to; past the last lane, the bytes that became zero (a constant)."""

    write: Write
    number: int
    bits: int
    lane: Lane
    span: list[Byte]

    def narrowed(self, bytes_: Sequence[int]) -> WrittenLane:
        """The smallest lane of a moved one that has these of its bytes, which ascend."""
        size = self.bits // 8
        while size > 1 and bytes_[0] // (size // 2) == bytes_[-1] // (size // 2):
            size //= 2
        at = bytes_[0] // size
        number = self.number * self.bits // 8 // size + at
        return WrittenLane(
            self.write, number, 8 * size, self.lane >> 8 * size * at, self.span[at * size : (at + 1) * size]
        )

    def node(self, index: int, recorded: Recorded, evaluation: Evaluation, consumers: set[Node]) -> Node:
        """What an executed instruction of that number wrote there."""
        value = evaluation.value(self.lane) & (1 << self.bits) - 1
        return Node(
            index=index, recorded=recorded, write=self.write, lane=self.number, bits=self.bits, value=value,
            consumers=consumers,
        )  # fmt: skip


def written_lanes(evaluation: Evaluation, instruction: Instruction) -> Iterator[WrittenLane]:
    """All that an execution of an instruction wrote, lane by lane."""
    for write in instruction.writes:
        yield from _parts(write, evaluation)


def _reach(write: Write, evaluation: Evaluation) -> tuple[Place | str, int, int]:
    """Where its bytes lie, from which one on, and how many they are; flags count as one byte."""
    if isinstance(write.place, Memory):
        return MEMORY, evaluation.value(write.place.address), len(write.lanes) * write.bits // 8
    return write.place, 0, (write.place.bits + 7) // 8


def _parts(write: Write, evaluation: Evaluation) -> list[WrittenLane]:
    where, first, _ = _reach(write, evaluation)
    bits = write.bits
    parts = [
        WrittenLane(write, i, bits, lane, _span(where, first, i * bits, bits)) for i, lane in enumerate(write.lanes)
    ]
    reached = len(parts) * bits
    if isinstance(where, Place) and reached < where.bits:
        parts.append(WrittenLane(write, len(parts), bits, constant(0), _span(where, 0, reached, where.bits - reached)))
    return parts


def _span(where: Place | str, first: int, lsb: int, bits: int) -> list[Byte]:
    return [Byte(where, first + i) for i in range(lsb // 8, (lsb + bits + 7) // 8)]


def copied_bytes(lane: Lane, evaluation: Evaluation) -> list[Byte] | None:
    """The bytes that a lane is moved from unchanged, which is looked through; None where it is computed."""
    if isinstance(lane, (Read, Load)):
        return _leaf(lane, 0, lane.high.bit_length(), evaluation)
    if not isinstance(lane, Field) or not isinstance(lane.operand, (Read, Load)):
        return None
    whole_bytes = lane.lsb % 8 == 0 and lane.element.bits % 8 == 0
    return _leaf(lane.operand, lane.lsb, lane.element.bits, evaluation) if whole_bytes else None


def keeps_number(lane: Lane) -> bool:
    """Whether a lane is what was read or loaded, or a part of it, in another width perhaps: nothing is computed."""
    return isinstance(lane, (Read, Load)) or (isinstance(lane, Field) and keeps_number(lane.operand))


def source_bytes(lane: Lane, evaluation: Evaluation, decisions: bool = False) -> Iterator[Byte]:
    """The bytes that the value of an expression came from.

    Left out is what only made an address, what a zero masked away, and without `decisions` what decided between two
    values.
    """
    if isinstance(lane, (Read, Load)):
        yield from _leaf(lane, 0, lane.high.bit_length(), evaluation)
        return
    if isinstance(lane, Field) and isinstance(lane.operand, (Read, Load)):
        yield from _leaf(lane.operand, lane.lsb, lane.element.bits, evaluation)
        return
    used: tuple[Lane, ...] = lane.args
    match lane:
        case Binary(operator):
            match operator:
                case "and":
                    used = tuple(arg for arg in lane.args if evaluation.value(arg) == 0)[:1] or lane.args
                case "add" | "subtract" | "multiply" | "divide" | "shift_left" | "shift_right" | "or" | "xor":
                    pass
                case "minimum" | "maximum" | "less" | "equal":
                    pass
                case _:
                    assert_never(operator)
        case Pick(index, items, otherwise):
            at = evaluation.value(index)
            taken = items[at] if 0 <= at < len(items) else otherwise
            used = (taken,) if len(items) == 1 and not decisions else (taken, index)
        case Constant() | Field() | Saturate() | Floating():
            pass
        case _:
            assert_never(lane)
    for arg in used:
        yield from source_bytes(arg, evaluation, decisions)


def _leaf(lane: Lane, lsb: int, bits: int, evaluation: Evaluation) -> list[Byte]:
    if isinstance(lane, Read):
        return _span(lane.place, 0, lsb, bits)
    assert isinstance(lane, Load)
    return _span(MEMORY, evaluation.value(lane.address), lsb, bits)
