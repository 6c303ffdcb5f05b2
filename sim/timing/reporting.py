"""From a schedule to its report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from posixpath import basename

from sim.timing.attribution import charge_of
from sim.timing.bounds import bounds_of_stream, in_cycles
from sim.timing.core import ClassTiming, Core, Use
from sim.timing.critical_path import Edge, critical_path, repeated_part
from sim.timing.found_loops import FoundLoop, found_loops, hottest
from sim.timing.loop_report import loop_report
from sim.timing.reasons import Lines, Site, no_lines, site_of
from sim.timing.report import CyclesReport, InstructionRow, PathRow, PipeRow, RepeatedRow, UnmodelledRow
from sim.timing.schedule import Schedule
from sim.timing.slack import slacks
from sim.timing.top_down import TopDown, line_of, pipe_uses, top_down

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
    core, loops, table = schedule.core, found_loops(schedule.stream), top_down(schedule)
    hot, path = hottest(loops), critical_path(schedule)
    reports = {loop.head: loop_report(schedule, loop) for loop in loops}
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
        bounds=bounds_of_stream(schedule.stream, core),
        pipes=_pipe_rows(schedule, lines),
        stalls={str(group): cycles for group, cycles in table.groups.items()},
        instructions=_listing(schedule, table, hot, lines),
        critical_path=_path_rows(schedule, path, lines),
        repeated=_repeated(schedule, path, lines),
        unmodelled=_unmodelled(schedule),
        mispredicted=_mispredicted(schedule, lines),
    )


def core_error(core: Core) -> str:
    """How far a core's figures were from measured kernels, in one sentence."""
    found = "; ".join(f"{one.error} on {one.kernels}" for one in core.about.validation)
    return found or f"{core.name} was not compared with measured kernels"


def _place(site: Site, lines: Lines) -> str:
    line = line_of(site, lines)
    return f"{basename(line[0])}:{line[1]}" if line else ""


def _pipe_rows(schedule: Schedule, lines: Lines) -> tuple[PipeRow, ...]:
    return tuple(
        PipeRow(
            use.pipe,
            use.busy,
            Fraction(use.busy, schedule.cycles),
            tuple((site.described(lines), cycles) for site, cycles in list(use.sites.items())[:_USERS]),
        )
        for use in pipe_uses(schedule)
    )


def _listing(schedule: Schedule, table: TopDown, hot: FoundLoop | None, lines: Lines) -> tuple[InstructionRow, ...]:
    """By address where there are addresses, as executed where there are none."""
    classes = {site_of(one): name for one, name in zip(schedule.stream, schedule.classes, strict=True)}
    issues, least = _steady_issues(schedule, hot), _least_slack(schedule)
    rows = (
        InstructionRow(
            account.site.pc, account.site.instruction.text, _place(account.site, lines), account.executions,
            classes[account.site], issues.get(account.site), account.cycles, account.main_reason(lines),
            least[account.site],
        )
        for account in table.accounts
    )  # fmt: skip
    return tuple(sorted(rows, key=lambda row: row.pc or 0))


def _least_slack(schedule: Schedule) -> dict[Site, int]:
    found: dict[Site, int] = {}
    for one, slack in zip(schedule.stream, slacks(schedule), strict=True):
        site = site_of(one)
        found[site] = min(found.get(site, slack.result), slack.result)
    return found


def _steady_issues(schedule: Schedule, hot: FoundLoop | None) -> dict[Site, int]:
    """When each instruction of a steady iteration issues, from its first entry on."""
    if hot is None:
        return {}
    iterations = hot.longest.iterations
    chosen = iterations[-(-3 * len(iterations) // 4) - 1]
    start = schedule.entered[chosen[0]]
    return {site_of(schedule.stream[number]): schedule.issued[number] - start for number in reversed(chosen)}


def _path_rows(schedule: Schedule, path: Sequence[Edge], lines: Lines) -> tuple[PathRow, ...]:
    cycles: Counter[tuple[Site, str]] = Counter()
    for edge in path:
        cycles[site_of(schedule.stream[edge.target]), charge_of(edge).reason(schedule).sentence(lines)] += edge.cycles
    return tuple(
        PathRow(site.instruction.text, _place(site, lines), reason, count)
        for (site, reason), count in cycles.most_common(_STEPS)
    )


def _repeated(schedule: Schedule, path: Sequence[Edge], lines: Lines) -> RepeatedRow | None:
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
    timings = ((schedule.core.timing(name), count) for name, count in counted)
    return tuple(UnmodelledRow(timing.name, count, timing.status, _assumed(timing)) for timing, count in timings)


def _assumed(timing: ClassTiming) -> str:
    pipes = " + ".join(map(_use, timing.uses)) or "no pipe"
    return f"latency {timing.latency}, {pipes} ({timing.basis}: {timing.source})"


def _use(use: Use) -> str:
    return "|".join(use.pipes) + (f"*{use.cycles}" if use.cycles != 1 else "")


def _mispredicted(schedule: Schedule, lines: Lines) -> dict[str, int]:
    branches = (site_of(schedule.stream[number]) for number in sorted(schedule.mispredicted))
    return dict(Counter(site.described(lines) for site in branches).most_common())
