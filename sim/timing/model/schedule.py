"""What a pipeline did with a stream of executed instructions, and why each of them came no earlier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum, auto
from functools import cached_property
from typing import NamedTuple

from sim.timing.model.core import Core
from sim.timing.model.stream import Executed


class StallKind(StrEnum):
    """Why an instruction waited."""

    OPERAND = "operand"
    ACCUMULATOR = "accumulator"
    ADDRESS = "address"
    FLAGS = "flags"
    STORE = "store"  # for an earlier store of the same bytes
    PIPE = "pipe"
    WIDTH = "width"  # all slots of the cycle are taken
    PAIRING = "pairing"  # it must be the first of its cycle
    ORDER = "order"  # behind the instruction before it
    QUEUE = "queue"  # the queue of its pipe is full
    REORDER = "reorder"  # the reorder buffer is full
    MISPREDICT = "mispredict"
    BRANCH = "branch"  # taken branches follow each other no faster
    MEMORY = "memory"  # a cache miss
    NONE = "none"


class Stage(IntEnum):
    """The stages of an instruction, in their order: `Schedule` says what each is."""

    ENTERED = 0
    AVAILABLE = auto()
    ISSUED = auto()
    READY = auto()
    RETIRED = auto()


class Stall(NamedTuple):
    """What an instruction waited for.

    `cause` is the number in the stream of the instruction that made it wait, -1 where there is none; `what` names the
    register (`v3`) or the pipe (`F0`), "" where there is nothing to name.
    """

    kind: StallKind
    cause: int = -1
    what: str = ""


NO_STALL = Stall(StallKind.NONE)


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """The times of every instruction of a stream, in whole cycles from 0 on; all lists have one entry each.

    `entered` is the cycle of dispatch (in order: of issue), `available` the one in which all operands are there,
    `issued` the one in which the last micro-operation starts, `ready` the one from which a consumer can issue,
    `retired` the one from which it is done and everything before it.  `entry_stall` says why it entered no earlier
    after the instruction before it, `operand_stall` what it waited for from `entered` to `available`, `issue_stall`
    from `available` to `issued` (both StallKind.NONE without a wait, and in order).  `pipes` are the (pipe, from, to)
    that it occupied.  `unmodelled` counts by class the instructions whose figures are assumptions of the core file.
    """

    core: Core
    stream: Sequence[Executed]
    classes: Sequence[str]
    entered: Sequence[int]
    available: Sequence[int]
    issued: Sequence[int]
    ready: Sequence[int]
    retired: Sequence[int]
    entry_stall: Sequence[Stall]
    operand_stall: Sequence[Stall]
    issue_stall: Sequence[Stall]
    pipes: Sequence[tuple[tuple[str, int, int], ...]]
    mispredicted: frozenset[int]
    unmodelled: Mapping[str, int]

    @cached_property
    def cycles(self) -> int:
        """Cycles from the first instruction to the end of the last; 0 for an empty stream."""
        return max(self.retired, default=0)
