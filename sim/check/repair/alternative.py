"""An instruction with another in its place, and how near the two are."""

from __future__ import annotations

from dataclasses import dataclass

from isa.instruction import Instruction
from isa.lane import Place

NEAR, STEP, ONE_OFF, MISSING, FOLLOWS = range(5)
"""How near an alternative is to what stands there; the last only follows from others that it is tried with."""


@dataclass(frozen=True)
class Alternative:
    """An instruction at an address with another in its place; `rank` says how near, `says` what it is, in words.

    `before` is the register that holds another number before the instruction, which then is as it was: what made that
    number may be at fault as well.
    """

    pc: int
    rank: int
    original: Instruction
    instruction: Instruction
    says: str
    before: Place | None = None

    def __str__(self) -> str:
        return f"{self.original.text} {self.says}"
