"""What instructions went through in a pipeline, gathered into a schedule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sim.timing.model.core import Core
from sim.timing.model.operation import Operation
from sim.timing.model.schedule import Schedule, Stall
from sim.timing.model.stream import Executed

Busy = tuple[str, int, int]
"""A pipe, and the cycles from which and to which it is occupied."""
Times = Sequence[int]


def gathered(
    core: Core, stream: Sequence[Executed], operations: Sequence[Operation], times: Sequence[Times],
    stalls: Sequence[Sequence[Stall]], pipes: Sequence[tuple[Busy, ...]], mispredicted: Sequence[bool],
) -> Schedule:  # fmt: skip
    """The schedule of a stream; `times` are entered, available, issued, ready, retired, `stalls` those in between."""
    entered, available, issued, ready, retired = times
    entry_stall, operand_stall, issue_stall = stalls
    timings = [operation.timing for operation in operations]
    return Schedule(
        core=core, stream=stream, classes=[timing.name for timing in timings], entered=entered, available=available,
        issued=issued, ready=ready, retired=retired,
        entry_stall=entry_stall, operand_stall=operand_stall, issue_stall=issue_stall, pipes=pipes,
        mispredicted=frozenset(number for number, wrong in enumerate(mispredicted) if wrong),
        unmodelled=Counter(timing.name for timing in timings if timing.status != "modelled"),
    )  # fmt: skip
