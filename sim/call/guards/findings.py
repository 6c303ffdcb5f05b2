"""What the guards of a call find, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from isa.errors import MISMATCH, LanewiseError

Kind = Literal[
    "over-read", "under-read", "over-write", "under-write", "read between rows", "write between rows",
    "write to input", "access below sp", "access to the caller's stack", "wild access", "misaligned access",
    "misaligned sp", "register not preserved", "platform register", "uninitialised", "never written",
    "instruction limit", "unpredictable instruction", "mismatched exclusive", "missing symbol",
]  # fmt: skip
IN_FRONT: Final = "in front of the loop there, where optimizers put what its lines compute once"
"""Of an instruction of which the line may be any of a loop's."""


@dataclass(frozen=True, kw_only=True)
class GuardFinding:
    """One thing that a call did and must not do, or, where `harmless`, need not have done.

    `instruction` (its text), `pc` and `source` (such as "kernel.c:41") say where; they are empty and None where no
    instruction did it, or where none is known, as in a program of intrinsics; `inlined` is what `Image.inlined_at`
    says of it.  `where` names the array, the register or "the stack", `first` to `last` are the bytes of it: of an
    array from its first byte on, of the stack from sp at the call.  `output` and `lane` are the output that it reached.
    `says` is the sentence that follows the instruction.
    """

    kind: Kind
    says: str
    instruction: str = ""
    pc: int | None = None
    source: str = ""
    inlined: str = ""
    where: str = ""
    first: int | None = None
    last: int | None = None
    output: str = ""
    lane: tuple[int, ...] | None = None
    harmless: bool = False

    def __str__(self) -> str:
        place = f"{self.source} {self.inlined}".rstrip()
        at = "" if self.pc is None else f"{self.instruction or 'the instruction'} at {self.pc:#x} ({place}) "
        return f"{self.kind}: {at}{self.says}"


class CallError(LanewiseError):
    """A call that must not go on, or does not come back; the message is one sentence."""

    exit_code = MISMATCH


class GuardError(CallError):
    """A call that a guard has stopped."""

    def __init__(self, finding: GuardFinding) -> None:
        super().__init__(str(finding))
        self.finding = finding


def bytes_text(first: int, last: int) -> str:
    """Such as "bytes 61..63" and "byte 61"."""
    return f"byte {first}" if first == last else f"bytes {first}..{last}"
