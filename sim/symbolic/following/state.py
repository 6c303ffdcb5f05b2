"""What a symbolic machine holds, and what two of them hold together that went different ways."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from isa.lane import Lane, Place
from sim.symbolic.nodes import Simplifier
from sim.symbolic.pieces import BitPiece, Pieces, in_bytes, joined, merged


@dataclass
class SymbolicState:
    """What a machine holds.

    `registers` are in pieces; `memory` has what was written, by byte.  `returns` are the addresses that the functions
    return to which are under way.  `saturated` has the conditions under each of which QC is set.  `assumed` are those
    under which all this holds.
    """

    pc: int
    registers: dict[Place, Pieces]
    memory: dict[int, BitPiece] = field(default_factory=dict)
    returns: tuple[int, ...] = ()
    saturated: tuple[Lane, ...] = ()
    assumed: tuple[Lane, ...] = ()

    def copy(self, pc: int, condition: Lane) -> SymbolicState:
        """The same at another address, under one condition more."""
        return replace(
            self, pc=pc, registers=dict(self.registers), memory=dict(self.memory), saturated=(),
            assumed=(*self.assumed, condition),
        )  # fmt: skip


def merged_states(
    s: Simplifier, first: Callable[[int], BitPiece], condition: Lane, before: SymbolicState, yes: SymbolicState,
    no: SymbolicState,
) -> SymbolicState:  # fmt: skip
    """What is held where both ways of a branch come together: `yes` where a condition is 1, else `no`.

    `before` is what was held at the branch; `first` gives the byte that memory holds before anything is written.
    """
    registers, memory = dict(yes.registers), dict(yes.memory)
    for place, pieces in no.registers.items():
        registers[place] = merged(s, condition, yes.registers[place], pieces)
    unlike = list[tuple[int, BitPiece, BitPiece]]()
    for address in sorted(yes.memory.keys() | no.memory.keys()):
        one, other = (state.memory.get(address) or first(address) for state in (yes, no))
        if unlike and (one == other or address != unlike[-1][0] + 1):
            memory.update(_merged_bytes(s, condition, unlike))
            unlike = []
        if one != other:
            unlike.append((address, one, other))
    memory.update(_merged_bytes(s, condition, unlike))
    nothing = s.number(0)
    saturated = [s.select(condition, one, nothing) for one in yes.saturated]
    saturated += [s.select(condition, nothing, one) for one in no.saturated]
    kept = dict.fromkeys(one for one in (*before.saturated, *saturated) if one is not nothing)
    return SymbolicState(yes.pc, registers, memory, before.returns, tuple(kept), before.assumed)


def _merged_bytes(
    s: Simplifier, condition: Lane, unlike: Sequence[tuple[int, BitPiece, BitPiece]]
) -> Iterator[tuple[int, BitPiece]]:
    """One or the other of adjacent bytes; those of one number stay together."""
    if unlike:
        addresses, ones, others = zip(*unlike, strict=True)
        pieces = merged(s, condition, joined(ones), joined(others))
        yield from zip(addresses, in_bytes(s, pieces), strict=True)
