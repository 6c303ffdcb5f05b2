"""Why an instruction waited, in few words that name other instructions by their numbers in the stream."""

from __future__ import annotations

from sim.timing.reasons import RESULTS
from sim.timing.schedule import Kind, Schedule, Stall

_DEPENDENCES = RESULTS | {Kind.STORE}
UNHINDERED = frozenset({Kind.NONE, Kind.WIDTH})
"""The kinds that are no delay: the next cycle is the first that has a free slot."""

_WORDS = {
    Kind.OPERAND: "{what} from {cause}",
    Kind.ACCUMULATOR: "accumulator {what} from {cause}",
    Kind.ADDRESS: "address {what} from {cause}",
    Kind.FLAGS: "flags from {cause}",
    Kind.STORE: "bytes stored by {cause}",
    Kind.PIPE: "{what} busy with {cause}",
    Kind.WIDTH: "no slot left",
    Kind.PAIRING: "must be first of its cycle",
    Kind.ORDER: "behind {cause}",
    Kind.QUEUE: "queue of {what} full",
    Kind.REORDER: "reorder buffer full",
    Kind.MISPREDICT: "mispredicted {cause}",
    Kind.BRANCH: "next taken branch",
    Kind.MEMORY: "cache miss",
    Kind.NONE: "",
}


def producers(schedule: Schedule, number: int) -> list[int]:
    """The instructions that an instruction waited for because it needs what they make."""
    stalls = (schedule.entry_stall[number], schedule.operand_stall[number], schedule.issue_stall[number])
    return sorted({stall.cause for stall in stalls if stall.kind in _DEPENDENCES and stall.cause >= 0})


def reason_text(schedule: Schedule, number: int, stall: Stall) -> str:
    """What the instruction of that number waited for, as `v3 from [12] sqrdmulh`; "" where it did not wait."""
    cause = "itself" if stall.cause == number else _named(schedule, stall.cause)
    return _WORDS[stall.kind].format(what=stall.what, cause=cause)


def _named(schedule: Schedule, number: int) -> str:
    return f"[{number}] {schedule.stream[number].instruction.form.mnemonic}" if number >= 0 else "others"
