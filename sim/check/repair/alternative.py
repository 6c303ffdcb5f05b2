"""An instruction with another in its place, and how near the two are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from isa.instruction import Instruction
from isa.lane import Place

NEAR, STEP, ONE_OFF, MISSING, FOLLOWS = range(5)
"""How near an alternative is to what stands there; the last only follows from others that it is tried with."""


class Beside(NamedTuple):
    """What else may be at fault where another instruction makes every lane right, or is at fault in its place.

    `before` is the register that holds another number before the instruction, which then is as it was: what made that
    number may be at fault as well.  Where that other number is the old one and a constant more, `is_more`, the constant
    may have been left out of any of the addends that the number is a sum of; of a 0, of any sum behind.  So may a
    variable: of what is `MISSING`, `before` is where the result is.

    `calls` are the addresses of the calls of its function for which alone it is another instruction: then these are at
    fault, and not the function.  `table` is where the data were written that hold another number: they are at fault, or
    the instruction, if it alone takes that number.  A number that `is_repeated` is another one in several places:
    what it is used for is told only where it is made as its function opens.  Of a result that `is_bounded` besides, the
    bound may as well have to be on the next line that takes it.
    """

    before: Place | None = None
    is_more: bool = False
    calls: tuple[int, ...] = ()
    table: str = ""
    is_repeated: bool = False
    is_bounded: bool = False


NOTHING: Final = Beside()


@dataclass(frozen=True)
class Alternative:
    """An instruction at an address with another in its place; `rank` says how near, `says` what it is, in words."""

    pc: int
    rank: int
    original: Instruction
    instruction: Instruction
    says: str
    beside: Beside = NOTHING

    @property
    def blamed(self) -> int:
        """The address of what is at fault: the instruction, or else the first of the calls."""
        return self.beside.calls[0] if self.beside.calls else self.pc

    def __str__(self) -> str:
        return f"{self.original.text} {self.says}"


def replaced(changes: Iterable[Alternative]) -> dict[int, Instruction]:
    """By address the instructions that stand there instead."""
    return {change.pc: change.instruction for change in changes}
