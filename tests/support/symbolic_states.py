"""Symbolic states whose leaves stand for the bits of a concrete one, and what they are when these bits are put back."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from random import Random

from isa.evaluate.exact import Evaluation
from isa.instruction import Instruction
from isa.lane import Field, Int, Lane, Load, Memory, Place, Read, walk
from sim.machine.machine import Machine
from sim.machine.registers import VISIBLE_PLACES
from sim.symbolic.following.machine import RAISED, SymbolicMachine, Ways
from sim.symbolic.following.state import SymbolicState
from sim.symbolic.nodes import Simplifier
from sim.symbolic.pieces import BitPiece, Pieces, number

MONITOR, PC, FPSR, FPCR = Place("monitor"), Place("pc"), Place("fpsr"), Place("fpcr")
ALWAYS_KNOWN = (Place("sp"), MONITOR, FPCR)
WIDTHS = (8, 16, 32, 64, 128)


@dataclass
class Leaves:
    """The values of leaves, as an evaluation asks for them."""

    values: dict[Place, int] = field(default_factory=dict)

    def read(self, place: Place) -> int:
        return self.values[place]

    def load(self, address: int, size: int) -> bytes:
        raise AssertionError(f"memory at {address:#x} is asked for")

    def pieces(self, s: Simplifier, name: str, value: int, bits: int, size: int, signed: bool) -> Pieces:
        """So many bits of a value in leaves of one size."""
        found, element = [], Int(min(size, bits), signed)
        for at in range(0, bits, element.bits):
            place = Place(f"leaf.{name}", at)
            self.values[place] = element.wrapped(value >> at)
            found.append(BitPiece(s.made(Read(place, element.low, element.high)), 0, element.bits))
        return tuple(found)

    def value(self, lane: Lane) -> int:
        """What an expression is where the leaves have their values."""
        return Evaluation(self).value(lane)


def known_places(instruction: Instruction) -> set[Place]:
    """The registers on which depends where an instruction reads, writes or goes on, conditions apart."""
    lanes = [node.address for node in walk(instruction.lanes) if isinstance(node, Load)]
    for write in instruction.writes:
        if isinstance(write.place, Memory):
            lanes.append(write.place.address)
        elif write.place == PC and isinstance(write.lanes[0], Read | Field):
            lanes.append(write.lanes[0])
    return {node.place for node in walk(lanes) if isinstance(node, Read)}


def symbolic_state(
    s: Simplifier, machine: Machine, rng: Random, known: Collection[Place]
) -> tuple[SymbolicState, Leaves]:
    """The state of a machine, everything in leaves but the known registers."""
    leaves, registers = Leaves(), dict[Place, Pieces]()
    for place in (*VISIBLE_PLACES, MONITOR):
        value = machine.registers.read(place)
        if place in known or place in ALWAYS_KNOWN:
            registers[place] = (BitPiece(s.number(value), 0, place.bits),)
        else:
            size = 1 if place.file == "nzcv" else rng.choice(WIDTHS)
            registers[place] = leaves.pieces(s, str(place), value, place.bits, size, rng.random() < 0.3)
    return SymbolicState(machine.pc, registers), leaves


def symbolic_machine(s: Simplifier, machine: Machine, leaves: Leaves, rng: Random) -> SymbolicMachine:
    """A symbolic machine over the memory of a machine, its bytes in leaves."""
    sizes: dict[int, BitPiece] = {}

    def byte(address: int) -> BitPiece:
        if address not in sizes:
            at = address & -4
            word = int.from_bytes(machine.memory.read(at, 4), "little")
            (piece,) = leaves.pieces(s, f"memory.{at}", word, 32, 32, rng.random() < 0.5)
            sizes.update({at + i: BitPiece(piece.lane, 8 * i, 8) for i in range(4)})
        return sizes[address]

    return SymbolicMachine(s, machine.instruction_at, byte, _no_breach, lambda _: True, hex)


def _no_breach(address: int, size: int, writes: bool, sp: int) -> str:
    return ""


def next_pc(ways: int | Ways, leaves: Leaves) -> int:
    """Where it goes on where the leaves have their values."""
    if isinstance(ways, int):
        return ways
    return ways.taken if leaves.value(ways.condition) else ways.not_taken


def note_raised(symbolic: SymbolicMachine, state: SymbolicState, leaves: Leaves, machine: Machine) -> None:
    """Which exceptions an operation on symbols raised is not told: here it is what the machine raised."""
    lowest = symbolic.held(state, FPSR)[0].lane
    if isinstance(lowest, Read) and lowest.place.file == RAISED:
        leaves.values.setdefault(lowest.place, machine.fpsr & 255)


def differences(
    s: Simplifier, symbolic: SymbolicMachine, state: SymbolicState, leaves: Leaves, machine: Machine
) -> list[str]:
    """Where a symbolic state, with the leaves' values, is not that of a machine."""
    found = []
    note_raised(symbolic, state, leaves, machine)
    for place in VISIBLE_PLACES:
        wanted = machine.read(place)
        got = leaves.value(number(s, symbolic.held(state, place), Int(place.bits, signed=False)))
        if got != wanted:
            found.append(f"{place} is {got:#x}, not {wanted:#x}")
    for address, piece in state.memory.items():
        got, wanted = leaves.value(number(s, (piece,), Int(8, signed=False))), machine.memory.read(address, 1)[0]
        if got != wanted:
            found.append(f"the byte at {address:#x} is {got:#x}, not {wanted:#x}")
    return found
