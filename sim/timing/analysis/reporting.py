"""From a schedule to its report."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from posixpath import basename

import numpy as np

from sim.timing.analysis.attribution import charge_of, grouped
from sim.timing.analysis.bounds import bounds_of_stream, in_cycles
from sim.timing.analysis.critical_path import CriticalPath, critical_path, repeated_part
from sim.timing.analysis.loop_report import loop_report
from sim.timing.analysis.reasons import Lines, Site, no_lines, numbered_sites, site_of
from sim.timing.analysis.report import CyclesReport, InstructionRow, PathRow, PipeRow, RepeatedRow, UnmodelledRow
from sim.timing.analysis.slack import result_slacks
from sim.timing.analysis.top_down import TopDown, line_of, pipe_uses, top_down
from sim.timing.classes.all_classes import timing_class
from sim.timing.loops.found_loops import FoundLoop, find_loops, hottest
from sim.timing.model.core import Core
from sim.timing.model.schedule import Schedule

_USERS = 3
"""Instructions named beside each pipe."""
_STEPS = 12
"""Steps of the critical path in a report."""


def report(name: str, schedule: Schedule, lines: Lines = no_lines, elements: int | None = None) -> CyclesReport:
    """What a schedule says, with source lines where `lines` knows them.

    `elements` is how many the call worked on.  Raises ValueError for an empty schedule.
    """
    if not schedule.stream:
        raise ValueError(f"{name} executed no instruction: there is nothing to time")
    core, loops, table = schedule.core, find_loops(schedule.stream), top_down(schedule)
    hot, path = hottest(loops), critical_path(schedule)
    reports = {loop.head: loop_report(schedule, loop) for loop in loops}
    bounds = bounds_of_stream(schedule.stream, core)
    steps: Counter[tuple[Site, str]] = Counter()
    for site, reason, cycles in grouped(schedule, path):
        steps[site, reason.sentence(lines)] += cycles
    pipes = []
    for use in pipe_uses(schedule):
        users = tuple((site.described(lines), cycles) for site, cycles in list(use.sites.items())[:_USERS])
        pipes.append(PipeRow(use.pipe, use.busy, Fraction(use.busy, schedule.cycles), users))
    branches = (site_of(schedule.stream[number]) for number in sorted(schedule.mispredicted))
    mispredicted = Counter(site.described(lines) for site in branches)
    return CyclesReport(
        name=name,
        core=core.name,
        core_title=core.title,
        core_error=core_error(core),
        executed=len(schedule.stream),
        cycles=schedule.cycles,
        elements=elements,
        loops=tuple(reports.values()),
        hottest=reports[hot.head] if hot else None,
        bounds=bounds,
        pipes=tuple(pipes),
        stalls={str(group): cycles for group, cycles in table.groups.items()},
        instructions=_listing(schedule, table, hot, lines),
        critical_path=tuple(
            PathRow(site.instruction.text, _place(site, lines), sentence, count)
            for (site, sentence), count in steps.most_common(_STEPS)
        ),
        repeated=_repeated(schedule, path, lines),
        unmodelled=_unmodelled(schedule),
        mispredicted=dict(mispredicted.most_common()),
    )


def core_error(core: Core) -> str:
    """How far a core's figures were from measured kernels, in one sentence."""
    found = "; ".join(f"{one.error} on {one.kernels}" for one in core.about.validation)
    return found or f"{core.name} was not compared with measured kernels"


def _place(site: Site, lines: Lines) -> str:
    line = line_of(site, lines)
    return f"{basename(line[0])}:{line[1]}" if line else ""


def _listing(schedule: Schedule, table: TopDown, hot: FoundLoop | None, lines: Lines) -> tuple[InstructionRow, ...]:
    """By address where there are addresses, as executed where there are none."""
    issues: dict[Site, int] = {}  # of a steady iteration, from its first entry on
    if hot is not None:
        iterations = hot.longest.iterations
        chosen = iterations[-(-3 * len(iterations) // 4) - 1]
        start = schedule.entered[chosen[0]]
        issues = {site_of(schedule.stream[number]): schedule.issued[number] - start for number in reversed(chosen)}
    sites, numbers = numbered_sites(schedule.stream)
    smallest = np.full(len(sites), schedule.cycles, np.int64)
    np.minimum.at(smallest, numbers, result_slacks(schedule))
    least = dict(zip(sites, smallest.tolist(), strict=True))
    rows = (
        InstructionRow(
            pc=account.site.pc, text=account.site.instruction.text, place=_place(account.site, lines),
            executions=account.executions,
            timing_class=timing_class(account.site.instruction.pattern), issue=issues.get(account.site),
            cycles=account.cycles,
            reason=account.main_reason(lines),
            slack=least[account.site],
        )
        for account in table.accounts
    )  # fmt: skip
    return tuple(sorted(rows, key=lambda row: row.pc or 0))


def _repeated(schedule: Schedule, path: CriticalPath, lines: Lines) -> RepeatedRow | None:
    part = repeated_part(schedule, path)
    if part is None:
        return None
    first = path[part.start : part.start + part.period]
    steps = (
        f"{in_cycles(edge.cycles)}: {schedule.stream[edge.target].instruction.text} "
        f"{charge_of(edge).reason(schedule).sentence(lines)}"
        for edge in first
    )
    return RepeatedRow(tuple(steps), part.repetitions, Fraction(part.cycles, part.repetitions))


def _unmodelled(schedule: Schedule) -> tuple[UnmodelledRow, ...]:
    counted = sorted(schedule.unmodelled.items(), key=lambda item: (-item[1], item[0]))
    rows = []
    for timing, count in ((schedule.core.timing(name), count) for name, count in counted):
        uses = ("|".join(use.pipes) + (f"*{use.cycles}" if use.cycles != 1 else "") for use in timing.uses)
        assumed = f"latency {timing.latency}, {' + '.join(uses) or 'no pipe'} ({timing.basis}: {timing.source})"
        rows.append(UnmodelledRow(timing.name, count, timing.status, assumed))
    return tuple(rows)
