"""Which instructions can be reached from an address, and where blocks of them begin."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final

from isa.evaluate.exact import Evaluation
from isa.instruction import Instruction
from isa.lane import Constant, Lane, Pick, Place, Read, walk
from sim.machine.errors import ExecutionError
from sim.machine.memory import Region

MOST: Final = 4000
"""Instructions that are compiled together."""
_WINDOW: Final = 1 << 20
PC = Place("pc")
Decode = Callable[[int], Instruction]
"""The instruction at an address.  Raises ExecutionError where there is none that can be executed."""


def surroundings(pc: int, region: Region) -> range:
    """The addresses around one, in its region, of which code is compiled together."""
    window = pc // _WINDOW * _WINDOW
    return range(max(region.start, window), min(region.end, window + _WINDOW))


@dataclass(frozen=True)
class Reached:
    """Instructions by address, and the addresses where a block begins."""

    instructions: dict[int, Instruction]
    leaders: frozenset[int]


def reach(entry: int, inside: range, stops: Collection[int], decode: Decode, most: int) -> Reached:
    """At most so many instructions from `entry` on, inside of a range of addresses and at no stop.

    Targets that are computed while the program runs are not known.  After BR, which jumps to one of several places of a
    function, what follows in memory is taken for such places.
    """
    found: dict[int, Instruction] = {}
    leaders, pending, maybe = {entry}, [entry], list[int]()
    while (pending or maybe) and len(found) < most:
        pc = (pending or maybe).pop()
        while pc not in found and pc in inside and pc not in stops and len(found) < most:
            try:
                instruction = found[pc] = decode(pc)
            except ExecutionError:
                break
            if instruction.is_branch:
                next_pcs = targets(instruction, pc)
                if instruction.is_call:  # it returns behind it
                    next_pcs |= {pc + 4}
                if instruction.form.mnemonic == "br" or maybe:
                    maybe.insert(0, pc + 4)
                leaders |= {*next_pcs, pc + 4}
                pending += sorted(next_pcs)
                break
            pc += 4
    return Reached(found, frozenset(leaders & found.keys()))


def targets(instruction: Instruction, pc: int) -> set[int]:
    """Where a branch can go on, as far as that is known beforehand."""
    return set().union(*(_values(w.lanes[0], pc) for w in instruction.writes if w.place == PC))


def _values(lane: Lane, pc: int) -> set[int]:
    if isinstance(lane, Constant):
        return {lane.low}
    if isinstance(lane, Pick):
        return set().union(*(_values(choice, pc) for choice in lane.args[1:]))
    read = {node.place for node in walk([lane]) if isinstance(node, Read)}
    return {Evaluation(_At(pc)).value(lane)} if read == {PC} else set()


class _At:
    """A state of which the program counter alone is known."""

    def __init__(self, pc: int) -> None:
        self._pc = pc

    def read(self, place: Place) -> int:
        if place != PC:
            raise AssertionError(f"of the target of a branch, {place} is not known")
        return self._pc

    def load(self, address: int, size: int) -> bytes:
        raise AssertionError(f"the target of a branch is loaded from {address:#x}")
