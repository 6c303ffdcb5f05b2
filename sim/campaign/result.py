"""What came of one job: a fixed record, a row of the store, and nothing that needs lanewise to be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Verdict = Literal["agrees", "differs", "not built", "unknown", "stopped"]
VERDICTS: Final[tuple[Verdict, ...]] = ("agrees", "differs", "not built", "unknown", "stopped")
"""What was compared agrees or differs; it could not be built; a proof was not decided; nobody came to the end of it."""
FAILED: Final[tuple[Verdict, ...]] = ("differs", "not built")
FAILURES: Final[tuple[Verdict, ...]] = (*FAILED, "stopped")


@dataclass(frozen=True, kw_only=True)
class JobResult:
    """What came of a job.

    `lanes` are the comparisons (lanes, values, elements proved) and `instructions` those executed, `cycles` the
    estimate of a timing job, `seconds` how long the last attempt took, `attempts` how many there were.  Of what
    differs: `place` is the source line, `convention` the known conventions that make all of what it made, `step` the
    step of the arithmetic at which it parts, `lane` the first wrong lane, `wrong` how many are; `failure` is the
    paragraph.  `code` is a digest of the machine code.  `smallest` is the failing case made small, where its group was.
    """

    verdict: Verdict
    lanes: int = 0
    instructions: int = 0
    cycles: float | None = None
    seconds: float = 0.0
    attempts: int = 1
    place: str = ""
    convention: str = ""
    step: str = ""
    lane: int | None = None
    wrong: int = 0
    code: str = ""
    failure: str = ""
    smallest: str = ""
