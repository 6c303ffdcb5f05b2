"""A recorded program of intrinsics as a stream, on the real registers that it is allocated to."""

from __future__ import annotations

import re

from isa.acle.assembly import POOL
from isa.acle.program import Program
from isa.evaluate.exact import Evaluation, execute
from isa.instruction import Instruction
from isa.lane import Memory, Place
from isa.rows import TABLE
from sim.timing.model.stream import Executed

STACK = 0x7FFE_0000_0000
"""Where the stack pointer is when the function is called."""
CONSTANTS = 0x7FFD_0000_0000
"""Where its constants lie."""
_LABEL = re.compile(rf"(?P<low>:lo12:)?{re.escape(POOL)}\+(?P<offset>\d+)")
_PAGE = 1 << 12


class _OwnMemory:
    """The stack pointer and the address registers of the lines that the allocation adds, and what they access."""

    def __init__(self) -> None:
        self.registers = {Place("sp"): STACK}
        self.loads: list[tuple[int, int]] = []
        self.stores: list[tuple[int, int]] = []

    def read(self, place: Place) -> int:
        return self.registers.get(place, 0)

    def write(self, place: Place, value: int) -> None:
        self.registers[place] = value

    def load(self, address: int, size: int) -> bytes:
        self.loads.append((address, size))
        return bytes(size)

    def store(self, address: int, data: bytes) -> None:
        self.stores.append((address, len(data)))

    def executed(self, instruction: Instruction) -> Executed:
        """What it does to memory.  Of registers only addresses matter, and those hold no data."""
        self.loads, self.stores = [], []
        execute(instruction, self)
        return Executed(None, instruction, tuple(self.loads), tuple(self.stores), instruction.is_branch, None)


def program_stream(program: Program) -> list[Executed]:
    """All lines of `program.allocated()` in order, its frame, spills, copies and constants included, up to `ret`.

    Recorded loads and stores have the addresses that they had when the program ran; the stack is under `STACK`, the
    constants are from `CONSTANTS` on.  There are no program counters.  Raises ValueError as `Program.allocated`.
    """
    own, stream = _OwnMemory(), []
    for line in program.allocated().lines:
        if line.instruction is None:
            mnemonic, _, operands = _LABEL.sub(_address, line.text).partition(" ")
            stream.append(own.executed(TABLE.instruction(mnemonic, operands)))
            continue
        occurrence = program.trace[line.number]
        evaluation = Evaluation(occurrence)
        loads = tuple((address, len(data)) for address, data in occurrence.memory.items())
        places = [written.place for written in occurrence.instruction.writes if isinstance(written.place, Memory)]
        stores = tuple((evaluation.value(place.address), place.size) for place in places)
        stream.append(Executed(None, line.instruction, loads, stores, False, None))
    return stream


def _address(label: re.Match[str]) -> str:
    address = CONSTANTS + int(label["offset"])
    return f"#{address % _PAGE if label['low'] else address - address % _PAGE:#x}"
