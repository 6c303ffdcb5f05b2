"""Reasons why cycles pass: in sentences for people, in a few groups for tables."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from isa.instruction import Instruction
from sim.timing.schedule import Kind, Schedule, Stall
from sim.timing.stream import Executed

Lines = Callable[[int], tuple[str, int] | None]
"""The source file and line of a program counter, None where nothing is known."""


def no_lines(pc: int) -> None:
    """For code without debug information."""


class Activity(StrEnum):
    """What an instruction does in a part of its life."""

    ENTRY = "waits to enter"
    OPERANDS = "waits for operands"
    ISSUE = "waits to issue"
    EXECUTION = "executes"
    RETIREMENT = "waits to retire"


class Group(StrEnum):
    """The reasons of a table."""

    WIDTH = "issue width"
    ORDER = "issue pairing"
    RESULT = "result latency"
    LOAD = "load to use"
    PIPE = "pipe busy"
    QUEUE = "queue full"
    REORDER = "reorder buffer full"
    MISPREDICT = "misprediction"
    BRANCH = "taken branches"
    STORE = "store to load"
    MEMORY = "cache miss"
    EXECUTION = "execution"
    RETIREMENT = "retirement"


RESULTS = frozenset({Kind.OPERAND, Kind.ACCUMULATOR, Kind.ADDRESS, Kind.FLAGS})
"""The kinds that wait for a register."""
_GROUPS = {
    Kind.WIDTH: Group.WIDTH,
    Kind.PAIRING: Group.ORDER,
    Kind.ORDER: Group.ORDER,
    Kind.PIPE: Group.PIPE,
    Kind.QUEUE: Group.QUEUE,
    Kind.REORDER: Group.REORDER,
    Kind.MISPREDICT: Group.MISPREDICT,
    Kind.BRANCH: Group.BRANCH,
    Kind.STORE: Group.STORE,
    Kind.MEMORY: Group.MEMORY,
    **dict.fromkeys(RESULTS, Group.RESULT),
}
_SENTENCES = {
    Kind.WIDTH: "{stage} full",
    Kind.PAIRING: "must be the first of its cycle",
    Kind.ORDER: "behind {cause}",
    Kind.PIPE: "pipe {what} busy with {cause}",
    Kind.QUEUE: "queue of {what} full",
    Kind.REORDER: "reorder buffer full, {cause} is not done",
    Kind.MISPREDICT: "mispredicted branch {cause}",
    Kind.BRANCH: "taken branches follow each other no faster",
    Kind.STORE: "waits for the bytes that {cause} stores",
    Kind.MEMORY: "cache miss",
    Kind.OPERAND: "waits for {what} from {cause}",
    Kind.ACCUMULATOR: "waits for the accumulator {what} from {cause}",
    Kind.ADDRESS: "waits for the address in {what} from {cause}",
    Kind.FLAGS: "waits for the flags from {cause}",
}


@dataclass(frozen=True)
class Site:
    """One instruction of the code, as against its executions; `pc` is None where the code has no addresses.

    `identity` tells it from what else stands there: copies with other registers, or all of a program of intrinsics.
    """

    pc: int | None
    identity: Hashable
    instruction: Instruction = field(compare=False)

    @property
    def mnemonic(self) -> str:
        """What stands first in its text."""
        return self.instruction.form.mnemonic

    def described(self, lines: Lines) -> str:
        """Mnemonic and place: `sqrdmulh (line 12)`; the address, or the text, where there is no line."""
        if self.pc is None:
            return self.instruction.text
        line = lines(self.pc)
        return f"{self.mnemonic} (line {line[1]})" if line else f"{self.mnemonic} at {self.pc:#x}"


def site_of(one: Executed) -> Site:
    """Where an instruction stands that was executed."""
    instruction = one.instruction
    if one.pc is None:
        return Site(None, instruction, instruction)
    return Site(one.pc, (instruction.pattern.text, instruction.registers), instruction)


class Reason(NamedTuple):
    """Why an instruction let cycles pass; `cause` is the instruction that it waited for, if it was one."""

    group: Group
    activity: Activity
    kind: Kind
    what: str
    cause: Site | None
    in_order: bool

    def sentence(self, lines: Lines = no_lines) -> str:
        """It in words: `waits for v3 from sqrdmulh (line 12)`."""
        if self.activity in (Activity.EXECUTION, Activity.RETIREMENT):
            return str(self.activity)
        if self.kind is Kind.NONE:
            return "enters" if self.activity is Activity.ENTRY else "on its way to its pipe"
        cause = self.cause.described(lines) if self.cause else "an earlier instruction"
        stage = "issue" if self.in_order else "dispatch"
        loaded = " (load to use)" if self.group is Group.LOAD else ""
        return _SENTENCES[self.kind].format(what=self.what or "it", cause=cause, stage=stage) + loaded


def reason_of(schedule: Schedule, activity: Activity, stall: Stall) -> Reason:
    """The reason that a stall of a schedule is, or an activity without one."""
    cause = schedule.stream[stall.cause] if stall.cause >= 0 else None
    where = site_of(cause) if cause else None
    group = _group(activity, stall, cause)
    return Reason(group, activity, stall.kind, stall.what, where, schedule.core.order == "in")


def _group(activity: Activity, stall: Stall, cause: Executed | None) -> Group:
    if activity is Activity.EXECUTION:
        return Group.EXECUTION
    if activity is Activity.RETIREMENT:
        return Group.RETIREMENT
    if stall.kind is Kind.NONE:
        return Group.WIDTH if activity is Activity.ENTRY else Group.EXECUTION
    loaded = stall.kind in RESULTS and cause is not None and bool(cause.loads)
    return Group.LOAD if loaded and not _moves_base(cause, stall.what) else _GROUPS[stall.kind]


def _moves_base(one: Executed | None, register: str) -> bool:
    """Whether a load has that register as the base that it moves on: the new address does not come from memory."""
    if one is None or register[0] == "v":
        return False
    text = one.instruction.pattern.operand_text
    moves = text.endswith("!") or "], " in text
    return moves and any(str(place) == register for place in one.instruction.places_read)
