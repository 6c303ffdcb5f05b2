"""The trace record: what one instruction did.  Old values make undo and blame free."""

from __future__ import annotations

from typing import NamedTuple

from isa.instruction import Instruction
from isa.lane import Place


class Step(NamedTuple):
    """One executed instruction.

    `index` counts from 0 since the machine was made.  `writes` holds (place, old, new) for every register written,
    FPSR included where it changed; `memory` holds (address, old bytes, new bytes); `reads_memory` holds
    (address, bytes).
    """

    index: int  # type: ignore[assignment]  # hides tuple.index, which no record needs
    pc: int
    instruction: Instruction
    writes: tuple[tuple[Place, int, int], ...]
    memory: tuple[tuple[int, bytes, bytes], ...]
    reads_memory: tuple[tuple[int, bytes], ...]
    next_pc: int
