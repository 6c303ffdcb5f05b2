"""When each instruction of a session's call is executed on a core, and what held it up."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from sim.cycles.cores import named_core
from sim.debug.session import Session
from sim.timing.model.schedule import Schedule
from sim.timing.model.stream import Executed, executed
from sim.timing.native.scheduling import schedule
from sim.view.cycles.timeline_row import row_of

_PART: Final = 4096
"""Instructions of a long call that are timed at once, behind as many that only fill the pipeline."""
_BEYOND: Final = 512
_CAUSE = re.compile(r"\[(\d+)\]")


class InstructionCycles(NamedTuple):
    """An executed instruction on a core: it starts to execute in the cycle `issued`.

    `letters` are its life, as `lanewise cycles --timeline` shows it, from the cycle `start` on, and `reason` what it
    waited for, "" where it did not.
    """

    issued: int
    start: int
    letters: str
    reason: str


class TimedPart(NamedTuple):
    """A part of a call on a core; cycles count from instruction `first` on."""

    first: int
    schedule: Schedule

    def of(self, number: int) -> InstructionCycles | None:
        """An executed instruction; None for one outside of the part."""
        at = number - self.first
        if not 0 <= at < len(self.schedule.stream):
            return None
        row = row_of(self.schedule, at)
        reason = _CAUSE.sub(lambda found: f"#{self.first + int(found[1])}", row.reason)
        return InstructionCycles(self.schedule.issued[at], row.start, row.letters, reason)


class CallCycles:
    """The call of a session on a core, with trained branches and all data in the first cache."""

    def __init__(self, session: Session, core: str) -> None:
        """Raises CoreError for what is no core."""
        self.core = named_core(core)
        self._session = session
        self._parts: dict[int, TimedPart] = {}

    def around(self, number: int) -> TimedPart:
        """The part with an instruction and some hundred others on both sides: all of a call of some thousand."""
        first = max(0, number // _PART - 1) * _PART
        if first not in self._parts:
            session, stream = self._session, list[Executed]()
            here = session.position
            session.goto(first)
            most = 2 * _PART + _BEYOND
            while session.position == first + len(stream) < first + most and (step := session.timeline.step()):
                stream.append(executed(step))
            session.goto(here)
            self._parts[first] = TimedPart(first, schedule(stream, self.core))
        return self._parts[first]
