"""Which branches a simple predictor gets wrong.

Directions: the counter (two bits) of the longest of a few histories of this branch that has been seen, TAGE in its
simplest form (Seznec and Michaud, "A case for (partially) tagged geometric history length branch prediction", 2006)
with tables without limit.  A branch never seen is predicted taken if it goes backwards.  Returns are predicted by a
stack of calls, other indirect branches by their last target.
"""

from __future__ import annotations

from collections.abc import Sequence

from isa.instruction import Instruction
from isa.lane import Place
from sim.timing.model.stream import Executed
from sim.toolchain.branches import branch_target

HISTORIES = (0, 8, 32)
"""Directions of earlier branches that an entry is told apart by."""
TRAINING = 8
"""Earlier runs that train a warm predictor at most."""
_LONGEST = (1 << HISTORIES[-1]) - 1
CALLS = ("bl", "blr")
INDIRECT = ("br", "blr", "ret")


def has_direction(instruction: Instruction) -> bool:
    """Whether a direct branch is taken or not by a condition, which reads more than the program counter."""
    return instruction.is_branch and instruction.places_read not in ((), (Place("pc"),))


def goes_back(instruction: Instruction, pc: int) -> bool:
    """Whether a direct branch at an address leads to before it, or to itself."""
    target = branch_target(instruction.text)
    return target is not None and target <= pc


class Predictor:
    """Sees branches in the order of execution, and says of each whether it was predicted wrong."""

    def __init__(self) -> None:
        self._counters: dict[tuple[int, int, int], int] = {}
        self._targets: dict[int, int | None] = {}
        self._calls: list[int] = []
        self._history = 0

    @property
    def entries(self) -> int:
        """How many histories and targets it knows."""
        return len(self._counters) + len(self._targets)

    def mispredicts(self, one: Executed) -> bool:
        """Whether this branch was predicted wrong; it is learned then.  False without an address, and for no branch."""
        instruction, pc = one.instruction, one.pc
        mnemonic = instruction.form.mnemonic
        if pc is None:
            return False
        if mnemonic in CALLS:
            self._calls.append(pc + 4)
        if mnemonic == "ret":
            return bool(self._calls) and self._calls.pop() != one.next_pc
        if mnemonic in INDIRECT:
            wrong = self._targets.get(pc) != one.next_pc
            self._targets[pc] = one.next_pc
            return wrong
        if not has_direction(instruction):
            return False
        keys = [(pc, length, self._history & (1 << length) - 1) for length in HISTORIES]
        known = [key for key in keys if key in self._counters]
        guess = self._counters[known[-1]] >= 2 if known else goes_back(instruction, pc)
        for key in keys:
            if key in known:
                self._counters[key] = min(3, self._counters[key] + 1) if one.taken else max(0, self._counters[key] - 1)
            else:
                self._counters[key] = 2 if one.taken else 1
        self._history = (self._history << 1 | one.taken) & _LONGEST
        return guess != one.taken


def mispredictions(stream: Sequence[Executed], warm: bool) -> frozenset[int]:
    """The numbers of the branches of a stream that are predicted wrong.

    `warm`: after earlier identical runs, until they show it nothing new (`TRAINING` of them at most).
    """
    predictor = Predictor()
    branches = [(number, one) for number, one in enumerate(stream) if one.instruction.is_branch]
    wrong, known = _wrong(predictor, branches), 0
    for _ in range(TRAINING if warm else 0):
        if predictor.entries == known:
            break
        known = predictor.entries
        wrong = _wrong(predictor, branches)
    return wrong


def _wrong(predictor: Predictor, branches: list[tuple[int, Executed]]) -> frozenset[int]:
    return frozenset(number for number, one in branches if predictor.mispredicts(one))
