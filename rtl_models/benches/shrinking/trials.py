"""Cases tried in the simulator by what shrinks them: each only once, and within a bound."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Final

from rtl_models.benches.driving.testbench import Wrong

if TYPE_CHECKING:
    from rtl_models.benches.driving.unit_case import Case
CYCLES: Final = 200_000
"""Simulated in all trials of one failure, of which a beat alone takes some twenty: tens of seconds."""
QUESTIONS: Final = 5_000
"""Asked, the repeated ones too: Hypothesis takes its own time for each."""


class Trials:
    """What goes wrong in a case, within bounds that do not depend on the machine: a failure always shrinks alike.

    `run` tries a case; `cycles` says how many were simulated so far.  Beyond the bounds what was not tried before
    counts as good, is not run, and `stopped` is true; the trial that comes to a bound is finished.
    """

    def __init__(
        self, run: Callable[[Case], Wrong | None], cycles: Callable[[], int],
        most_cycles: int = CYCLES, most_questions: int = QUESTIONS,
    ) -> None:  # fmt: skip
        self._run, self._cycles, self._most = run, cycles, (most_cycles, most_questions)
        self._known: dict[Hashable, Wrong | None] = {}
        self._questions = 0
        self.stopped = False

    def problem(self, case: Case) -> Wrong | None:
        """What goes wrong in the case, None where nothing does."""
        key = case.key
        if key not in self._known and not self.enough():
            self._known[key] = self._run(case)
        return self._known.get(key)

    def fails(self, case: Case | None) -> bool:
        """Whether something does; where there is no case, nothing."""
        self._questions += 1
        return case is not None and self.problem(case) is not None

    def enough(self) -> bool:
        """Whether a bound is met, asked where something is still to be tried."""
        self.stopped = self.stopped or self._cycles() >= self._most[0] or self._questions > self._most[1]
        return self.stopped
