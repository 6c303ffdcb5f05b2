"""The symbolic machine with arrays of any length: an access is one of an element, by an index that is an expression.

What is written to an output is not remembered but noted, to be compared with what the reference makes of that index,
and which indices were written: of each output the first so many.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from isa.instruction import Instruction
from isa.lane import Lane
from sim.symbolic.call import element_type
from sim.symbolic.following.lookout import Lookout
from sim.symbolic.following.machine import MOST_INSTRUCTIONS, InstructionStep, SymbolicMachine
from sim.symbolic.following.state import SymbolicState
from sim.symbolic.loops.elements import IndexedElements
from sim.symbolic.loops.facts import Facts
from sim.symbolic.nodes import LinearSum, Simplifier
from sim.symbolic.pieces import BitPiece, Pieces, cut, joined, number
from sim.symbolic.rules.sums import divided_by


class AnyLengthArgument(NamedTuple):
    """An array of a call: its dtype, whether the function writes it, and the lane of its address."""

    name: str
    dtype: str
    is_output: bool
    address: Lane


@dataclass(frozen=True)
class StoredElement:
    """A number that is written to an output, at which index, under which conditions, by which instruction."""

    output: str
    index: Lane
    value: Lane
    conditions: tuple[Lane, ...]
    pc: int


@dataclass
class LoopState(SymbolicState):
    """`covered` says of each output how many of its first elements are written; `apart` are ranges beyond these."""

    covered: Mapping[str, Lane] = field(default_factory=dict)
    apart: tuple[tuple[str, Lane, int], ...] = ()


class AnyLengthMachine(SymbolicMachine):
    """Follows code step by step; `length` is the number of elements of each array.

    While `checking`, accesses must lie inside of their arrays, what is stored is noted in `stored`, and the lookout is
    shown the states.
    """

    def __init__(
        self, s: Simplifier, instruction_at: Callable[[int], Instruction], first: Callable[[int], BitPiece],
        breach: Callable[[int, int, bool, int], str], line_of: Callable[[int], str], length: Lane,
        arrays: Mapping[Lane, AnyLengthArgument], elements: IndexedElements, facts: Facts,
        lookout: Lookout | None = None, most_instructions: int = MOST_INSTRUCTIONS,
    ) -> None:  # fmt: skip
        def observe(state: SymbolicState, value: Callable[[Lane], Lane]) -> None:
            if lookout is not None and self.checking:
                lookout.look(state, value)

        super().__init__(
            s, instruction_at, first, breach, lambda _: True, line_of, observe=observe,
            most_instructions=most_instructions,
        )  # fmt: skip
        self._length, self._arrays, self._elements, self._facts = length, arrays, elements, facts
        self.checking = False
        self.stored: dict[StoredElement, None] = {}
        self.touched: set[tuple[int, int]] = set()

    def access(
        self, work: InstructionStep, state: SymbolicState, address: Lane, size: int, writes: bool, aligned: bool
    ) -> Lane:
        """Where an access goes, which is checked: in an array, or a number."""
        found = self._in_array(address)
        if found is None:
            return super().access(work, state, address, size, writes, aligned)
        array, offset = found
        if aligned:
            raise self.refused(state, "whether the address is aligned is not known")
        if writes != array.is_output:
            verb = "writes the input" if writes else "reads the output"
            raise self.refused(state, f"it {verb} {array.name!r}, which is not followed for any length")
        if self.checking:
            s = self.s
            end = s.total(s.sum_of(offset).plus(LinearSum({}, size)))
            whole = s.computed("multiply", self._length, element_type(array.dtype).bits // 8)
            if not self._facts.at_most(state.assumed, s.number(0), offset):
                raise self.refused(state, f"at some length it may access what lies before {array.name!r}")
            if not self._facts.at_most(state.assumed, end, whole):
                raise self.refused(state, f"at some length it may access what lies behind {array.name!r}")
        return address

    def looked_up(self, work: InstructionStep, state: SymbolicState, address: Lane, size: int, aligned: bool) -> Pieces:
        """What a load reads: no table, whose index may be that of an element."""
        return self.load(state, self.access(work, state, address, size, False, aligned), size)

    def load(self, state: SymbolicState, address: Lane, size: int) -> Pieces:
        """Elements of an array, or what other memory holds."""
        found = self._in_array(address)
        if found is None:
            return super().load(state, address, size)
        array, offset = found
        index, first, width = self._index(state, array, offset)
        bytes_read = [divmod(first + byte, width) for byte in range(size)]
        return joined(
            BitPiece(self._elements.leaf(array.name, self._next(index, at)), 8 * byte, 8) for at, byte in bytes_read
        )

    def store(self, state: SymbolicState, address: Lane, pieces: Pieces) -> None:
        """Note elements of an output, or put bytes into other memory."""
        found = self._in_array(address)
        if found is None:
            self.touched.add((address.low, sum(piece.bits for piece in pieces) // 8))
            super().store(state, address, pieces)
            return
        array, offset = found
        index, first, width = self._index(state, array, offset)
        count, rest = divmod(sum(piece.bits for piece in pieces) // 8, width)
        if first or rest:
            raise self.refused(state, f"it writes parts of elements of {array.name!r}")
        kind = element_type(array.dtype)
        for at in range(count if self.checking else 0):
            value = number(self.s, cut(pieces, at * kind.bits, kind.bits), kind)
            self.stored[StoredElement(array.name, self._next(index, at), value, state.assumed, state.pc)] = None
        assert isinstance(state, LoopState)
        state.apart = (*state.apart, (array.name, index, count))
        self._cover(state)

    def _cover(self, state: LoopState) -> None:
        """Take ranges that were written for covered where they begin at what is, or before it."""
        at_most, grown = self._facts.at_most, True
        while grown:
            grown = False
            for range_written in state.apart:
                name, index, count = range_written
                covered = state.covered[name]
                if index is covered or at_most(state.assumed, index, covered):
                    if index is covered or at_most(state.assumed, covered, index):
                        state.covered = {**state.covered, name: self._next(covered, count)}
                    elif at_most(state.assumed, covered, end := self._next(index, count)):
                        state.covered = {**state.covered, name: end}
                    state.apart = tuple(other for other in state.apart if other is not range_written)
                    grown = True

    def _next(self, index: Lane, by: int) -> Lane:
        return self.s.total(self.s.sum_of(index).plus(LinearSum({}, by)))

    def _in_array(self, address: Lane) -> tuple[AnyLengthArgument, Lane] | None:
        """The array that an address is one of, and the bytes from its beginning."""
        terms, constant = self.s.sum_of(address)
        for term, times in terms.items():
            array = self._arrays.get(term)
            if array is not None and self.s.sum_of(array.address).terms[term] == times:
                rest = LinearSum({other: count for other, count in terms.items() if other is not term}, constant)
                return array, self.s.total(rest)
        return None

    def _index(self, state: SymbolicState, array: AnyLengthArgument, offset: Lane) -> tuple[Lane, int, int]:
        """The element that bytes begin in, the byte of it, and how many it has."""
        width = element_type(array.dtype).bits // 8
        terms, constant = self.s.sum_of(offset)
        if any(times % width for times in terms.values()):
            raise self.refused(state, f"which element of {array.name!r} it accesses is not known")
        first = constant % width
        return self.s.total(divided_by(LinearSum(terms, constant - first), width)), first, width
