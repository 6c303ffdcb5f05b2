"""A machine whose registers and memory hold lane expressions instead of numbers.

Instructions are those of the table: what one writes is worked out from its own expressions, with what registers and
memory hold in the place of their leaves.  Where a branch depends on data, both ways are followed to where they come
together, and what they leave differently is chosen by the condition; a way that no input takes may fail.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import gcd
from types import MappingProxyType
from typing import NamedTuple, assert_never

from isa.errors import MISMATCH, LanewiseError
from isa.instruction import Instruction
from isa.lane import (
    Binary,
    Constant,
    Field,
    Floating,
    Int,
    Lane,
    Load,
    Memory,
    Pick,
    Place,
    Read,
    Saturate,
    Write,
    pick,
    read,
    walk,
)
from sim.machine.alignment import must_be_aligned, require_aligned
from sim.machine.errors import ExecutionError
from sim.symbolic.bitwise import on_longer_lanes
from sim.symbolic.following.flow import EXIT, Flow
from sim.symbolic.following.state import SymbolicState, merged_states
from sim.symbolic.nodes import LinearSum, Simplifier
from sim.symbolic.pieces import BitPiece, Pieces, cut, in_bytes, joined, number

PC, SP, FPSR = Place("pc"), Place("sp"), Place("fpsr")
QC_BIT = 27
RAISED = "raised"
"""The register file of leaves for the exceptions that floating point on symbols raised: which is not told."""
MOST_FORKS = 32
"""Branches on data inside of each other."""
MOST_LOOKED_UP = 256
"""Addresses of which a load reads one by an index that depends on data: what an index of a byte can choose."""
MOST_INSTRUCTIONS = 1_000_000
"""Instructions that a run follows where nobody says how many."""


Observe = Callable[[SymbolicState, Callable[[Lane], Lane]], None]


class NotFollowed(LanewiseError):
    """Code that cannot be followed for all inputs: the instruction, its address, its source line where known, why."""

    exit_code = MISMATCH

    def __init__(self, pc: int, text: str, reason: str, line: str) -> None:
        super().__init__(f"at {pc:#x}, {text} ({line}): {reason}")
        self.pc, self.text, self.reason, self.line = pc, text, reason, line


class Ways(NamedTuple):
    """Where a branch goes: to one address where a condition on data is 1, else to another."""

    condition: Lane
    taken: int
    not_taken: int


class SymbolicMachine:
    """Executes machine code on states; `executed` counts instructions, `branches` has those that go
    where data says, or read what it chooses, and which data.

    `instruction_at` decodes; `first` gives the byte that memory holds before anything is written, and raises where none
    may be read; `breach` says what is wrong with an access (address, size, whether it writes, sp), "" for nothing;
    `line_of` gives the source line of an address.  `places` has the leaves that stand for addresses of arrays, each
    with what it is multiplied by and the address at which the array is held here: an address that is one of them and
    a number is followed.
    `is_possible` says of conditions whether some input meets them all, or that it does not know (True).
    `observe` is given each state before its instruction is executed, and what gives the value of an expression of what
    the instruction reads.  `most_instructions` it follows, those of all ways together.  `stopped_under` are the
    conditions under which it went where it could not be followed.
    """

    def __init__(
        self, s: Simplifier, instruction_at: Callable[[int], Instruction], first: Callable[[int], BitPiece],
        breach: Callable[[int, int, bool, int], str], is_possible: Callable[[tuple[Lane, ...]], bool],
        line_of: Callable[[int], str], places: Mapping[Lane, tuple[int, int]] = MappingProxyType({}),
        observe: Observe | None = None, most_instructions: int = MOST_INSTRUCTIONS,
    ) -> None:  # fmt: skip
        self.s, self.places = s, places
        self._observe, self.most_instructions = observe, most_instructions
        self.executed = 0
        self.branches: dict[str, frozenset[str]] = {}
        self._instruction_at, self._first, self._breach = instruction_at, first, breach
        self._is_possible, self.line_of = is_possible, line_of
        self._flow = Flow(instruction_at)
        self._aligned: dict[Instruction, bool] = {}
        self._met: Exception | None = None
        self.stopped_under: tuple[Lane, ...] = ()

    def run(self, state: SymbolicState, until: int, depth: int = 0) -> SymbolicState:
        """Follow the code from a state until its program counter is there, in the same function; returns what is then.

        Raises NotFollowed, and what an instruction raises that some input executes.
        """
        level = len(state.returns)
        while state.pc != until or len(state.returns) != level:
            if self.executed >= self.most_instructions:
                raise self._refused(state.pc, f"it did not end within {self.most_instructions:,} instructions")
            pc = state.pc
            ways = self.step(state)
            if isinstance(ways, Ways):
                self._depends(pc, ways.condition)
                state = self._follow_both(pc, state, ways, until, depth)
            else:
                state.pc = ways
            if state.returns and state.pc == state.returns[-1] and len(state.returns) > level:
                state.returns = state.returns[:-1]
        return state

    def _depends(self, pc: int, lane: Lane) -> None:
        """Note the inputs on which it depends where an instruction goes, or what it reads."""
        names = {node.place.file for node in walk([lane]) if isinstance(node, Read)}
        at = f"{self._instruction_at(pc).text} ({self.line_of(pc)})"
        self.branches[at] = self.branches.get(at, frozenset()) | names

    def _follow_both(self, pc: int, state: SymbolicState, ways: Ways, until: int, depth: int) -> SymbolicState:
        """Both ways of a branch, to where they come together."""
        if depth == MOST_FORKS:
            raise self._refused(pc, f"it branches on data inside of {MOST_FORKS} others: a loop that data ends?")
        join = self._flow.join(pc)
        if join == EXIT:
            join = state.returns[-1] if state.returns else until
        opposite = self.s.difference(self.s.number(1), ways.condition)
        ends, failures = list[tuple[Lane, SymbolicState]](), list[ExecutionError | NotFollowed]()
        for condition, way in ((ways.condition, ways.taken), (opposite, ways.not_taken)):
            side = state.copy(way, condition)
            try:
                ends.append((condition, self.run(side, join, depth + 1)))
            except (ExecutionError, NotFollowed) as error:
                if error is self._met:  # met under more conditions, and so under fewer
                    raise
                if self._is_possible(side.assumed):
                    self._met, self.stopped_under = error, side.assumed
                    raise
                failures.append(error)
        if not ends:
            raise failures[0]
        if len(ends) == 1:
            ((_, end),) = ends
            end.assumed, end.saturated = state.assumed, (*state.saturated, *end.saturated)
            return end
        (condition, yes), (_, no) = ends
        return merged_states(self.s, self._first, condition, state, yes, no)

    def step(self, state: SymbolicState) -> int | Ways:
        """Execute one instruction; where it goes on is returned, and the program counter left."""
        instruction = self._instruction_at(state.pc)
        if instruction.traps:
            raise self._refused(state.pc, "it ends the run on purpose")
        if instruction not in self._aligned:
            self._aligned[instruction] = must_be_aligned(instruction)
        self.executed += 1
        if self._observe is not None:
            self._observe(state, InstructionStep(self, state, False).value)
        work = InstructionStep(self, state, self._aligned[instruction])
        registers, stores = list[tuple[Place, Pieces]](), list[tuple[Lane, Pieces]]()
        target: int | Ways = (state.pc + 4) % 2**64
        for write in self._writes(instruction, state):
            if write.place == PC:
                target = work.target(write.lanes[0])
                continue
            pieces = joined(piece for lane in write.lanes for piece in work.pieces(lane, write.bits))
            if isinstance(write.place, Memory):
                address = work.address(write.place.address, write.place.size, writes=True)
                stores.append((address, cut(pieces, 0, 8 * write.place.size)))
            elif write.place.file != "zr":
                registers.append((write.place, joined(cut(pieces, 0, write.place.bits))))
        for address, pieces in stores:
            self.store(state, address, pieces)
        state.registers.update(registers)
        new = dict.fromkeys((*state.saturated, *work.saturated))
        state.saturated = tuple(new)
        if work.raises:
            raised = self.s.made(Read(Place(RAISED, self.executed), 0, 255))
            low, high = cut(state.registers[FPSR], 0, 8), cut(state.registers[FPSR], 8, 24)
            state.registers[FPSR] = (BitPiece(raised, 0, 8), *high) if low else high
        if instruction.is_call:
            state.returns = (*state.returns, state.pc + 4)
        return target

    def _writes(self, instruction: Instruction, state: SymbolicState) -> Sequence[Write]:
        ends = set[int]()
        for place in instruction.places_read:
            if place.file == "v":
                at = 0
                for piece in state.registers[place]:
                    at += piece.bits
                    ends.add(at)
        return on_longer_lanes(instruction, tuple(ends)) if ends else instruction.writes

    def load(self, state: SymbolicState, address: Lane, size: int) -> Pieces:
        """What bytes of memory hold, at an address that `access` gave."""
        return self.in_memory(state, address.low, size)

    def looked_up(self, work: InstructionStep, state: SymbolicState, address: Lane, size: int, aligned: bool) -> Pieces:
        """What a load reads, at one address or at one of a table by an index that depends on data.

        All of the table must be readable, whether each index is met or not.
        """
        parts = self.s.sum_of(address)
        here = [term for term, times in parts.terms.items() if self.places.get(term, (0, 0))[0] == times][:1]
        index = {term: times for term, times in parts.terms.items() if term not in here}
        step = gcd(*index.values())
        number_of = self.s.total(LinearSum({term: times // step for term, times in index.items()}, 0))
        if not index or aligned or number_of.high - number_of.low >= MOST_LOOKED_UP:
            return self.load(state, self.access(work, state, address, size, False, aligned), size)
        base, entries = parts.constant + sum(self.places[term][1] for term in here), list[Lane]()
        for entry in range(number_of.low, number_of.high + 1):
            at = base + step * entry
            try:
                self.check(work, state, at, size, False, aligned)
            except NotFollowed as error:
                raise self.refused(state, f"the address that it reads depends on data, and {error.reason}") from None
            entries.append(number(self.s, self.in_memory(state, at, size), Int(8 * size, signed=False)))
        self._depends(state.pc, number_of)
        chosen = pick(self.s.computed("subtract", number_of, number_of.low), entries[:-1], entries[-1])
        return (BitPiece(self.s.made(chosen), 0, 8 * size),)

    def in_memory(self, state: SymbolicState, address: int, size: int) -> Pieces:
        """What bytes from an address on are."""
        memory = state.memory
        return joined(memory.get(at) or self._first(at) for at in range(address, address + size))

    def store(self, state: SymbolicState, address: Lane, pieces: Pieces) -> None:
        """Put bytes into memory, at an address that `access` gave."""
        state.memory.update(enumerate(in_bytes(self.s, pieces), address.low))

    def access(
        self, work: InstructionStep, state: SymbolicState, address: Lane, size: int, writes: bool, aligned: bool
    ) -> Lane:
        """Where an access goes, which is checked: a number."""
        terms, constant = self.s.sum_of(address)
        for term, times in terms.items() if len(terms) == 1 else ():
            if self.places.get(term, (0, 0))[0] == times:
                address = self.s.number(self.places[term][1] + constant)
        if not isinstance(address, Constant):
            verb = "writes" if writes else "reads"
            raise self.refused(state, f"the address that it {verb} depends on data")
        self.check(work, state, address.low, size, writes, aligned)
        return address

    def held(self, state: SymbolicState, place: Place) -> Pieces:
        """What a register holds; of FPSR with the QC that instructions set."""
        if place == PC:
            return (BitPiece(self.s.number(state.pc), 0, 64),)
        if place.file == "zr":
            return (BitPiece(self.s.number(0), 0, 64),)
        pieces = state.registers[place]
        if place == FPSR and state.saturated:
            qc = number(self.s, cut(pieces, QC_BIT, 1), Int(1, signed=False))
            for condition in state.saturated:
                qc = self.s.computed("maximum", qc, condition)
            return joined((*cut(pieces, 0, QC_BIT), BitPiece(qc, 0, 1), *cut(pieces, QC_BIT + 1, 31 - QC_BIT)))
        return pieces

    def check(
        self, work: InstructionStep, state: SymbolicState, address: int, size: int, writes: bool, aligned: bool
    ) -> None:
        """Let an access be made, or raise."""
        if aligned:
            require_aligned(address, size)
        after = next((w.lanes[0] for w in self._instruction_at(state.pc).writes if w.place == SP), read(SP))
        known = [end.low for end in (work.value(read(SP)), work.value(after)) if isinstance(end, Constant)]
        if not known:
            raise self._refused(state.pc, "the stack pointer depends on data")
        reason = self._breach(address, size, writes, min(known))
        if reason:
            raise self._refused(state.pc, reason)

    def _refused(self, pc: int, reason: str) -> NotFollowed:
        return NotFollowed(pc, self._instruction_at(pc).text, reason, self.line_of(pc))

    def refused(self, state: SymbolicState, reason: str) -> NotFollowed:
        """The error for the instruction that a state is at."""
        return self._refused(state.pc, reason)


class InstructionStep:
    """One instruction's expressions on one state."""

    def __init__(self, machine: SymbolicMachine, state: SymbolicState, aligned: bool) -> None:
        self.saturated: list[Lane] = []
        self.raises = False
        self._machine, self._s, self._state, self._aligned = machine, machine.s, state, aligned
        self._values: dict[Lane, Lane] = {}
        self._loaded: dict[Lane, Pieces] = {}

    def address(self, lane: Lane, size: int, writes: bool) -> Lane:
        """Where an access goes, which is checked."""
        return self._machine.access(self, self._state, self.value(lane), size, writes, self._aligned)

    def target(self, lane: Lane) -> int | Ways:
        """Where a branch goes."""
        condition, taken, not_taken = self._s.number(1), lane, self._s.number(0)
        if isinstance(lane, Pick) and len(lane.items) == 1:
            condition, taken, not_taken = map(self.value, (lane.index, lane.otherwise, lane.items[0]))
        else:
            taken = self.value(lane)
        if not isinstance(taken, Constant) or not isinstance(not_taken, Constant):
            raise self._machine.refused(self._state, "where it goes depends on data")
        if isinstance(condition, Constant):
            return taken.low if condition.low else not_taken.low
        return Ways(condition, taken.low, not_taken.low)

    def pieces(self, lane: Lane, bits: int) -> Pieces:
        """The low bits of an expression; of one that only moves bits they are the same pieces."""
        if isinstance(lane, Read | Load):
            return cut(self._source(lane), 0, bits)
        if isinstance(lane, Field) and isinstance(lane.operand, Read | Load):
            size = lane.element.bits
            if size >= bits or not lane.element.signed:
                return cut(cut(self._source(lane.operand), lane.lsb, size), 0, bits)
        return (BitPiece(self.value(lane), 0, bits),)

    def _source(self, lane: Read | Load) -> Pieces:
        if isinstance(lane, Read):
            return self._machine.held(self._state, lane.place)
        if lane not in self._loaded:
            address = self.value(lane.address)
            self._loaded[lane] = self._machine.looked_up(self, self._state, address, lane.size, self._aligned)
        return self._loaded[lane]

    def value(self, lane: Lane) -> Lane:
        """What an expression is on the state."""
        found = self._values.get(lane)
        if found is None:
            found = self._values[lane] = self._computed(lane)
        return found

    def _computed(self, lane: Lane) -> Lane:
        s = self._s
        match lane:
            case Constant():
                return s.number(lane.low)
            case Field(Read() | Load() as source, lsb, element):  # bits of what is held
                return number(s, cut(self._source(source), lsb, element.bits), element)
            case Read():
                return number(s, self._source(lane), Int(lane.place.bits, signed=False))
            case Load():
                return number(s, self._source(lane), Int(8 * lane.size, signed=False))
            case Saturate(operand, element):
                inner = self.value(operand)
                below, not_above = (s.computed("less", inner, end) for end in (element.low, element.high + 1))
                outside = s.difference(s.number(1), s.difference(not_above, below))
                if outside.high:
                    self.saturated.append(outside)
                return s.again(lane, [inner])
            case Floating():
                args = [self.value(arg) for arg in lane.args]
                self.raises |= not lane.operation.silent
                return s.again(lane, args)
            case Field() | Pick() | Binary():
                return s.again(lane, [self.value(arg) for arg in lane.args])
            case _:
                assert_never(lane)
