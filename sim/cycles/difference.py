"""Two versions of the same on one core: which instruction gained or lost how many cycles."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Final, NamedTuple

from sim.cycles.result import TimedResult
from sim.timing.analysis.report import InstructionRow

_REGISTER: Final = re.compile(r"\b[vqdshbxw][0-9]{1,2}\b")
_BRANCH: Final = re.compile(r"^(bl? |bc?\.\w+ |[ct]bn?z .*, ).*")
"""Up to the place that it goes to, which the versions have elsewhere."""


class InstructionDifference(NamedTuple):
    """An instruction in two versions; "" where one of them lacks it.  Cycles are those charged to it, and their reason.

    Of a loop they are those of its first iterations, in proportion to all.
    """

    before: str
    after: str
    cycles_before: int
    cycles_after: int
    reason_before: str
    reason_after: str

    @property
    def gained(self) -> int:
        """The cycles that the second version takes less with it; negative where it takes more."""
        return self.cycles_before - self.cycles_after

    @property
    def reason(self) -> str:
        """Why the side with more cycles takes them: what went away where it gained, what came where it lost."""
        return f"was: {self.reason_before}" if self.gained > 0 and self.reason_before else self.reason_after


def differences(before: TimedResult, after: TimedResult) -> list[InstructionDifference]:
    """The instructions of both, those that gain or lose most first; together they gain what the version gains.

    Instructions are the same if they stand in the same order and only their registers and labels differ.
    """
    old, new = _charged(before), _charged(after)
    found: list[InstructionDifference] = []
    matcher = SequenceMatcher(None, _shapes(old), _shapes(new), autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            found += [_between(one, other) for one, other in zip(old[a:b], new[c:d], strict=True)]
        else:
            found += [_between(one, None) for one in old[a:b]]
            found += [_between(None, one) for one in new[c:d]]
    return sorted(found, key=lambda one: -abs(one.gained))


def _charged(result: TimedResult) -> list[InstructionRow]:
    """The instructions with the cycles of the whole."""
    rows, of = result.report.instructions, result.report.cycles
    return [replace(row, cycles=round(row.cycles * result.cycles / of)) for row in rows]


def _shapes(rows: Sequence[InstructionRow]) -> list[str]:
    return [_REGISTER.sub("r", _BRANCH.sub(r"\1", row.text)) for row in rows]


def _between(before: InstructionRow | None, after: InstructionRow | None) -> InstructionDifference:
    return InstructionDifference(
        before.text if before else "",
        after.text if after else "",
        before.cycles if before else 0,
        after.cycles if after else 0,
        before.reason if before else "",
        after.reason if after else "",
    )
