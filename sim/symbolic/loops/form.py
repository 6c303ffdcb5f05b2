"""What a loop carries along: the bits of its state in iteration t, as expressions of t."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final, NamedTuple

from isa.lane import Constant, Field, Int, Lane, Place, Read, walk
from sim.symbolic.call import UNDEFINED
from sim.symbolic.loops.machine import AnyLengthMachine, LoopState
from sim.symbolic.nodes import LinearSum, Simplifier
from sim.symbolic.pieces import BitPiece, Pieces, cut, in_bytes, joined, number

SUM: Final = "sum"
"""The register file of leaves for what some bits have summed up in the iterations before."""
NOT_KNOWN: Final = f"{UNDEFINED}.loop"
"""That of leaves for bits of which nothing is said: what depends on them is not proved."""
SUMS: Final = (16, 32, 64)
"""Bits of what may sum up."""


class Cell(NamedTuple):
    """Some bits of a register, or of memory from an address on."""

    place: Place | int
    lsb: int
    bits: int


class Summed(NamedTuple):
    """What has been summed up when an iteration begins: `start`, and `step` of each one before, modulo 2^bits."""

    start: Lane
    step: Lane
    bits: int


@dataclass
class CarriedForm:
    """The state in each iteration, but for what is as it was when the loop was entered.

    `grown` cells had a number at first, which grows by another each time; `summed` are leaves of sums; `unknown` are
    leaves of which nothing is known.  `covered` is by how much the covered elements of each output grow.
    """

    grown: dict[Cell, tuple[Lane, int]] = field(default_factory=dict)
    summed: dict[Cell, tuple[Lane, Lane]] = field(default_factory=dict)
    unknown: dict[Cell, Lane] = field(default_factory=dict)
    covered: dict[str, int] = field(default_factory=dict)


class Carried:
    """Forms of the states at the head of one loop that is entered in the state `start`."""

    def __init__(self, machine: AnyLengthMachine, start: LoopState, leaves: Iterator[int]) -> None:
        self._machine, self._s, self._start, self._leaves = machine, machine.s, start, leaves
        self.form = CarriedForm(covered=dict.fromkeys(start.covered, 0))

    def guess(self, first: LoopState) -> None:
        """A form that fits the first round, which ends in a state."""
        for name, lane in first.covered.items():
            grown = self._s.difference(lane, self._start.covered[name])
            self.form.covered[name] = grown.low if isinstance(grown, Constant) else 0
        for cell in self._differing(self._start, first):
            self._guess(cell, first)

    def _guess(self, cell: Cell, first: LoopState) -> None:
        was, now = (plain(self._s, self._held(state, cell), cell.bits) for state in (self._start, first))
        grown = self._s.difference(now, was)
        if isinstance(grown, Constant):
            size = 1 << cell.bits
            self.form.grown[cell] = was, (grown.low + size // 2) % size - size // 2
        elif cell.bits in SUMS:
            self.form.summed[cell] = was, self._leaf(SUM, cell.bits)
        else:
            self.form.unknown[cell] = self._leaf(NOT_KNOWN, cell.bits)

    def at(self, iteration: Lane) -> LoopState:
        """The state when an iteration begins."""
        s, form, start = self._s, self.form, self._start
        state = replace(start, registers=dict(start.registers), memory=dict(start.memory), saturated=(), apart=())
        for cell, (was, grown) in form.grown.items():
            self._put(state, cell, s.total(s.sum_of(was).plus(s.sum_of(iteration), grown)))
        for cell, leaf in [*form.unknown.items(), *((cell, leaf) for cell, (_, leaf) in form.summed.items())]:
            self._put(state, cell, leaf)
        state.covered = {
            name: s.total(s.sum_of(lane).plus(s.sum_of(iteration), form.covered[name]))
            for name, lane in start.covered.items()
        }
        return state

    def unlike(self, back: Sequence[LoopState], after: Lane) -> list[Cell | str]:
        """The cells, and the outputs, that rounds do not leave as the form has them in the iteration after."""
        wanted, found = self.at(after), dict[Cell | str, None]()
        for end in back:
            for cell in self._differing(wanted, end):
                found[cell] = None
            for name, lane in wanted.covered.items():
                if self.form.covered[name] and end.covered[name] is not lane:
                    found[name] = None
        for cell in self.form.summed:
            if len({self._step(end, cell) for end in back} - {None}) > 1:
                found[cell] = None
        return list(found)

    def weaken(self, what: Cell | str, first: LoopState, back: Sequence[LoopState]) -> None:
        """Say less of what a round does not leave as it was said."""
        if isinstance(what, str):
            self.form.covered[what] = 0
            return
        had = what in self.form.grown
        for kind in (self.form.grown, self.form.summed, self.form.unknown):
            kind.pop(what, None)
        ends = sorted({at for end in back for at in _ends(self._pieces(end, what.place, what.lsb, what.bits))})
        if had and len(ends) > 1:
            for first_bit, last in pairwise([0, *ends]):
                self._guess(Cell(what.place, what.lsb + first_bit, last - first_bit), first)
        else:
            self.form.unknown[what] = self._leaf(NOT_KNOWN, what.bits)

    def sums(self, back: Sequence[LoopState]) -> dict[Lane, Summed]:
        """What each leaf of a sum is."""
        found = {}
        for cell, (was, leaf) in self.form.summed.items():
            step = self._step(back[0], cell)
            assert step is not None
            found[leaf] = Summed(was, step, cell.bits)
        return found

    def _step(self, end: LoopState, cell: Cell) -> Lane | None:
        """What a round adds to a sum; None where it does something else, or adds what is not known."""
        _, leaf = self.form.summed[cell]
        terms, constant = self._s.sum_of(plain(self._s, self._held(end, cell), cell.bits))
        if terms.get(leaf) != 1:
            return None
        rest = self._s.total(LinearSum({term: times for term, times in terms.items() if term is not leaf}, constant))
        files = {node.place.file for node in walk([rest]) if isinstance(node, Read)}
        return None if any(file == SUM or file.startswith(UNDEFINED) for file in files) else rest

    def _differing(self, one: LoopState, other: LoopState) -> Iterator[Cell]:
        """Where states differ: cells of the form, and besides bits of pieces that both have."""
        form = self.form
        known = [*form.grown, *form.summed, *form.unknown]
        for place, bits in self._places(one, other):
            pieces = [self._pieces(state, place, 0, bits) for state in (one, other)]
            if pieces[0] == pieces[1]:
                continue
            cells = [cell for cell in known if cell.place == place]
            ends = {0, bits, *(end for of in pieces for end in _ends(of))}
            ends |= {end for cell in cells for end in (cell.lsb, cell.lsb + cell.bits)}
            for cell in cells:
                if cell in form.grown and not _alike(
                    self._s, self._held(one, cell), self._held(other, cell), cell.bits
                ):
                    yield cell
                if cell in form.summed and self._step(other, cell) is None:
                    yield cell
            for first, last in pairwise(sorted(ends)):
                if any(cell.lsb <= first < cell.lsb + cell.bits for cell in cells):
                    continue
                part = Cell(place, first, last - first)
                if self._held(one, part) is not self._held(other, part):
                    yield part

    def _places(self, one: LoopState, other: LoopState) -> Iterator[tuple[Place | int, int]]:
        """Registers, and what was written of memory, in as large parts as it was."""
        for place in one.registers:
            yield place, sum(piece.bits for piece in one.registers[place])
        ends = sorted({end for address, size in self._machine.touched for end in (address, address + size)})
        for first, last in pairwise(ends):
            if any(address <= first < address + size for address, size in self._machine.touched):
                yield first, 8 * (last - first)

    def _pieces(self, state: LoopState, place: Place | int, lsb: int, bits: int) -> Pieces:
        if isinstance(place, Place):
            return joined(cut(self._machine.held(state, place), lsb, bits))
        size = (lsb + bits + 7) // 8
        return joined(cut(self._machine.in_memory(state, place, size), lsb, bits))

    def _held(self, state: LoopState, cell: Cell) -> Lane:
        return number(self._s, self._pieces(state, *cell), Int(cell.bits, signed=False))

    def _put(self, state: LoopState, cell: Cell, lane: Lane) -> None:
        piece = BitPiece(lane, 0, cell.bits)
        if isinstance(cell.place, Place):
            held = state.registers[cell.place]
            end = cell.lsb + cell.bits
            rest = sum(part.bits for part in held) - end
            above = cut(held, end, rest) if rest else ()
            state.registers[cell.place] = joined((*(cut(held, 0, cell.lsb) if cell.lsb else ()), piece, *above))
        else:
            size = (cell.lsb + cell.bits + 7) // 8
            held = self._machine.in_memory(state, cell.place, size)
            end = cell.lsb + cell.bits
            above = cut(held, end, 8 * size - end) if end < 8 * size else ()
            whole = joined((*(cut(held, 0, cell.lsb) if cell.lsb else ()), piece, *above))
            state.memory.update(enumerate(in_bytes(self._s, whole), cell.place))

    def _leaf(self, file: str, bits: int) -> Lane:
        return self._s.made(Read(Place(file, next(self._leaves)), 0, (1 << bits) - 1))


def plain(s: Simplifier, lane: Lane, bits: int) -> Lane:
    """A number that is the same modulo 2^bits, without wraps to as many bits or more."""
    size = 1 << bits
    while True:
        while isinstance(lane, Field) and lane.lsb == 0 and lane.element.bits >= bits:
            lane = lane.operand
        terms, constant = s.sum_of(lane)
        kept = {term: times for term, times in terms.items() if times % size}
        if len(kept) == len(terms):
            return lane
        lane = s.total(LinearSum(kept, (constant + size // 2) % size - size // 2))


def _alike(s: Simplifier, one: Lane, other: Lane, bits: int) -> bool:
    """Whether numbers are the same modulo 2^bits, by their form."""
    terms, constant = s.sum_of(s.difference(plain(s, one, bits), plain(s, other, bits)))
    return not any(times % (1 << bits) for times in (*terms.values(), constant))


def _ends(pieces: Pieces) -> Iterator[int]:
    at = 0
    for piece in pieces:
        at += piece.bits
        yield at
