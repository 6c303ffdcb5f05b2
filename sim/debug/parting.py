"""Where on the way of a wrong lane a call parts from the golden reference: the step that is marked, and its number."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sim.debug.way import LaneWay

if TYPE_CHECKING:
    from sim.debug.session import Session


def marked(session: Session, way: LaneWay) -> LaneWay:
    """A way on which the step is marked where the wrong lane of the call parts from the golden reference.

    That is of a line that a check has found at fault, or has blamed: the instruction that the check has blamed or
    that this call alone lets one blame, if it is there, else the last one of the line.  Without such a line on the
    way it is what this call lets one blame, unless the check has found the line: then no step is marked.  Without
    golden steps nothing but such a check can know it: what is blamed is only what wrote the lane last.  Nothing
    parts in what holds the value of a golden step, unless the check knows better.  It may have decided what the
    lane became, or made an address.  The way of another lane is not changed.
    """
    call, mismatch = session.call, session.trouble.mismatch if session.trouble is not None else None
    if mismatch is None or session.spot_of(mismatch.output, mismatch.lane)[1:] != way.spot[1:]:
        return way
    is_known = mismatch.parted_at is not None or call.faults
    own = (mismatch.instruction, mismatch.source) if is_known else ("", "")
    blamed = call.blamed
    lines = call.faults or (blamed[1],)
    wanted = [*(each for each in (blamed, own) if each[1] in lines), *lines, *([] if call.faults else [own])]
    for each in filter(any, wanted):
        for name, steps in (("steps", way.steps), ("decisions", way.decisions), ("addresses", way.addresses)):
            at = [n for n, step in enumerate(steps) if each in ((step.instruction, step.source), step.source)]
            # of a line alone it is the last that it computed: its loads part in nothing
            number = next(iter(at[::-1] if each in lines else at), None)
            if number is not None and (call.faults or not steps[number].golden):
                changed: dict[str, Any] = {
                    name: (*steps[:number], replace(steps[number], parts=True), *steps[number + 1 :])
                }
                return replace(way, **changed)
    return way


def parting_number(session: Session) -> int:
    """The number of the instruction where the wrong lane parts; of a line at fault that has no instruction on its
    way, of the last of the nearest line before it that has; without one, of the last that wrote it, or of the call.
    """
    way = session.wrong_way
    assert way is not None  # there is a wrong lane
    number = next((step.number for step in (*way.steps, *way.decisions, *way.addresses) if step.parts), None)
    for fault in (each for each in session.call.faults if number is None and ":" in each):
        file, _, line = fault.rpartition(":")
        places = [(*step.source.rpartition(":")[::2], step.number) for step in way.steps]
        before = [(int(its), at) for name, its, at in places if name == file and int(its) < int(line)]
        number = max(before, default=(0, number))[1]
    if number is None:
        session.goto_end()
        number = way.steps[-1].number if way.steps else session.position - 1
    return number
