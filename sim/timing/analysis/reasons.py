"""Reasons why cycles pass: in sentences for people, in a few groups for tables."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np

from isa.instruction import Instruction
from sim.timing.model.schedule import Schedule, Stall, StallKind
from sim.timing.model.stream import Executed
from sim.timing.native.array_stream import array_stream

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


class ReasonGroup(StrEnum):
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


RESULTS = frozenset({StallKind.OPERAND, StallKind.ACCUMULATOR, StallKind.ADDRESS, StallKind.FLAGS})
"""The kinds that wait for a register."""
_GROUPS = {
    StallKind.WIDTH: ReasonGroup.WIDTH,
    StallKind.PAIRING: ReasonGroup.ORDER,
    StallKind.ORDER: ReasonGroup.ORDER,
    StallKind.PIPE: ReasonGroup.PIPE,
    StallKind.QUEUE: ReasonGroup.QUEUE,
    StallKind.REORDER: ReasonGroup.REORDER,
    StallKind.MISPREDICT: ReasonGroup.MISPREDICT,
    StallKind.BRANCH: ReasonGroup.BRANCH,
    StallKind.STORE: ReasonGroup.STORE,
    StallKind.MEMORY: ReasonGroup.MEMORY,
    **dict.fromkeys(RESULTS, ReasonGroup.RESULT),
}
_SENTENCES = {
    StallKind.WIDTH: "{stage} full",
    StallKind.PAIRING: "must be the first of its cycle",
    StallKind.ORDER: "behind {cause}",
    StallKind.PIPE: "pipe {what} busy with {cause}",
    StallKind.QUEUE: "queue of {what} full",
    StallKind.REORDER: "reorder buffer full, {cause} is not done",
    StallKind.MISPREDICT: "mispredicted branch {cause}",
    StallKind.BRANCH: "taken branches follow each other no faster",
    StallKind.STORE: "waits for the bytes that {cause} stores",
    StallKind.MEMORY: "cache miss",
    StallKind.OPERAND: "waits for {what} from {cause}",
    StallKind.ACCUMULATOR: "waits for the accumulator {what} from {cause}",
    StallKind.ADDRESS: "waits for the address in {what} from {cause}",
    StallKind.FLAGS: "waits for the flags from {cause}",
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
        return self.instruction.text.partition(" ")[0]

    def described(self, lines: Lines) -> str:
        """Mnemonic and place: `sqrdmulh (line 12)`; the address, or the text, where there is no line."""
        if self.pc is None:
            return self.instruction.text
        line = lines(self.pc)
        return f"{self.mnemonic} (line {line[1]})" if line else f"{self.mnemonic} at {self.pc:#x}"


def site_of(one: Executed) -> Site:
    """Where an instruction stands that was executed."""
    return _site(one.pc, one.instruction)


def _site(pc: int | None, instruction: Instruction) -> Site:
    identity = instruction if pc is None else (instruction.pattern.text, instruction.registers)
    return Site(pc, identity, instruction)


class NumberedSites(NamedTuple):
    """Where the instructions of a stream stand: the sites as first executed, and which one each instruction is."""

    sites: tuple[Site, ...]
    numbers: np.ndarray[Any, Any]


def numbered_sites(stream: Sequence[Executed]) -> NumberedSites:
    """The sites of a stream."""
    arrays = array_stream(stream)
    known: dict[Site, int] = {}
    same = [known.setdefault(_site(pc, instruction), len(known)) for pc, instruction in arrays.sites]
    numbers = np.array(same, np.int64)[arrays.site]
    _, first = np.unique(numbers, return_index=True)
    in_order = np.argsort(first)
    place = np.zeros(len(known), np.int64)
    place[numbers[first[in_order]]] = np.arange(len(first))
    sites = list(known)
    return NumberedSites(tuple(sites[number] for number in numbers[first[in_order]].tolist()), place[numbers])


class Reason(NamedTuple):
    """Why an instruction let cycles pass; `cause` is the instruction that it waited for, if it was one."""

    group: ReasonGroup
    activity: Activity
    kind: StallKind
    what: str
    cause: Site | None
    in_order: bool

    def sentence(self, lines: Lines = no_lines) -> str:
        """It in words: `waits for v3 from sqrdmulh (line 12)`."""
        if self.activity in (Activity.EXECUTION, Activity.RETIREMENT):
            return str(self.activity)
        if self.kind is StallKind.NONE:
            return "enters" if self.activity is Activity.ENTRY else "on its way to its pipe"
        cause = self.cause.described(lines) if self.cause else "an earlier instruction"
        stage = "issue" if self.in_order else "dispatch"
        loaded = " (load to use)" if self.group is ReasonGroup.LOAD else ""
        return _SENTENCES[self.kind].format(what=self.what or "it", cause=cause, stage=stage) + loaded


def reason_of(schedule: Schedule, activity: Activity, stall: Stall) -> Reason:
    """The reason that a stall of a schedule is, or an activity without one."""
    cause = schedule.stream[stall.cause] if stall.cause >= 0 else None
    where = site_of(cause) if cause else None
    if activity is Activity.EXECUTION:
        group = ReasonGroup.EXECUTION
    elif activity is Activity.RETIREMENT:
        group = ReasonGroup.RETIREMENT
    elif stall.kind is StallKind.NONE:
        group = ReasonGroup.WIDTH if activity is Activity.ENTRY else ReasonGroup.EXECUTION
    else:
        group = _GROUPS[stall.kind]
        if stall.kind in RESULTS and cause is not None and cause.loads:
            # The new address in a base that a load moves on does not come from memory.
            text = cause.instruction.pattern.operand_text
            moves = stall.what[0] != "v" and (text.endswith("!") or "], " in text)
            if not (moves and any(str(place) == stall.what for place in cause.instruction.places_read)):
                group = ReasonGroup.LOAD
    return Reason(group, activity, stall.kind, stall.what, where, schedule.core.order == "in")
