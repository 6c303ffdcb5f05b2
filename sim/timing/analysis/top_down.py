"""Where the cycles of a schedule go, from the top down: by reason, by instruction, by source line, by pipe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from sim.timing.analysis.attribution import charged, grouped
from sim.timing.analysis.critical_path import numbered
from sim.timing.analysis.reasons import Lines, Reason, ReasonGroup, Site, no_lines, numbered_sites
from sim.timing.model.schedule import Schedule
from sim.timing.native.arrays import arrays_of

Line = tuple[str, int]
"""A source file and a line of it."""


@dataclass
class Account:
    """What is charged to one instruction of the code over all its executions: cycles by reason."""

    site: Site
    executions: int
    reasons: Counter[Reason] = field(default_factory=Counter)

    @property
    def cycles(self) -> int:
        """All that is charged to it."""
        return self.reasons.total()

    def main_reason(self, lines: Lines = no_lines) -> str:
        """What cost it most, in words; "" where it cost nothing."""
        return max(self.reasons, key=self.reasons.__getitem__).sentence(lines) if self.reasons else ""


@dataclass(frozen=True)
class TopDown:
    """The accounts of all instructions of the code, in the order in which they are first executed.

    Their cycles sum up to those of the schedule.
    """

    accounts: tuple[Account, ...]

    @property
    def groups(self) -> dict[ReasonGroup, int]:
        """Cycles by reason, most first; they sum up to the total."""
        groups: Counter[ReasonGroup] = Counter()
        for account in self.accounts:
            for reason, cycles in account.reasons.items():
                groups[reason.group] += cycles
        return dict(groups.most_common())

    def lines(self, lines: Lines) -> dict[Line | None, int]:
        """Cycles by source line, in the order of the file; None for code without one; they sum up to the total."""
        found: Counter[Line | None] = Counter()
        for account in self.accounts:
            found[line_of(account.site, lines)] += account.cycles
        return dict(sorted(found.items(), key=lambda item: item[0] or ("", 0)))


def line_of(site: Site, lines: Lines) -> Line | None:
    """The source line of an instruction of the code."""
    return lines(site.pc) if site.pc is not None else None


def top_down(schedule: Schedule) -> TopDown:
    """Every cycle of a schedule, by the instruction of the code that it is charged to."""
    sites, numbers = numbered_sites(schedule.stream)
    executions = np.bincount(numbers, minlength=len(sites)).tolist()
    accounts = {site: Account(site, count) for site, count in zip(sites, executions, strict=True)}
    for site, reason, cycles in grouped(schedule, charged(schedule)):
        accounts[site].reasons[reason] += cycles
    return TopDown(tuple(accounts.values()))


@dataclass(frozen=True)
class PipeUse:
    """How long a pipe was busy, in cycles, and with which instructions of the code, most first.

    Until the last instruction is done: that a pipe is still busy then keeps nobody waiting.
    """

    pipe: str
    busy: int
    sites: Mapping[Site, int]


def pipe_uses(schedule: Schedule) -> list[PipeUse]:
    """The use of every pipe of the core, in its order."""
    arrays, (sites, numbers) = arrays_of(schedule), numbered_sites(schedule.stream)
    pipes = schedule.core.pipes
    busy: dict[str, Counter[Site]] = {pipe: Counter() for pipe in pipes}
    if len(arrays.busy_pipe):
        cycles = np.maximum(np.minimum(arrays.busy_to, schedule.cycles) - arrays.busy_from, 0)
        where = np.repeat(numbers, np.diff(arrays.first_use))
        group, first = numbered([arrays.busy_pipe, where])
        totals = np.bincount(group, weights=cycles).tolist()
        for at, total in zip(first.tolist(), totals, strict=True):
            busy[pipes[arrays.busy_pipe[at]]][sites[where[at]]] += int(total)
    return [PipeUse(pipe, sites_of.total(), dict(sites_of.most_common())) for pipe, sites_of in busy.items()]
