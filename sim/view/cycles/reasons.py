"""Why an instruction waited, in few words that name other instructions by their numbers in the stream."""

from __future__ import annotations

from sim.timing.analysis.reasons import RESULTS
from sim.timing.model.schedule import Schedule, Stall, StallKind

_DEPENDENCES = RESULTS | {StallKind.STORE}
UNHINDERED = frozenset({StallKind.NONE, StallKind.WIDTH})
"""The kinds that are no delay: the next cycle is the first that has a free slot."""

_WORDS = {
    StallKind.OPERAND: "{what} from {cause}",
    StallKind.ACCUMULATOR: "accumulator {what} from {cause}",
    StallKind.ADDRESS: "address {what} from {cause}",
    StallKind.FLAGS: "flags from {cause}",
    StallKind.STORE: "bytes stored by {cause}",
    StallKind.PIPE: "{what} busy with {cause}",
    StallKind.WIDTH: "no slot left",
    StallKind.PAIRING: "must be first of its cycle",
    StallKind.ORDER: "behind {cause}",
    StallKind.QUEUE: "queue of {what} full",
    StallKind.REORDER: "reorder buffer full",
    StallKind.MISPREDICT: "mispredicted {cause}",
    StallKind.BRANCH: "next taken branch",
    StallKind.MEMORY: "cache miss",
    StallKind.NONE: "",
}


def producers(schedule: Schedule, number: int) -> list[int]:
    """The instructions that an instruction waited for because it needs what they make."""
    stalls = (schedule.entry_stall[number], schedule.operand_stall[number], schedule.issue_stall[number])
    return sorted({stall.cause for stall in stalls if stall.kind in _DEPENDENCES and stall.cause >= 0})


def reason_text(schedule: Schedule, number: int, stall: Stall) -> str:
    """What the instruction of that number waited for, as `v3 from [12] sqrdmulh`; "" where it did not wait."""
    if stall.cause == number:
        cause = "itself"
    elif stall.cause >= 0:
        cause = f"[{stall.cause}] {schedule.stream[stall.cause].instruction.text.partition(' ')[0]}"
    else:
        cause = "others"
    return _WORDS[stall.kind].format(what=stall.what, cause=cause)
