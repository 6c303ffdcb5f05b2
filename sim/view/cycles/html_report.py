"""What a page shows of a report."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import groupby
from typing import Any

from sim.cycles.result import LoopResult, Result
from sim.timing.bounds import Bounds
from sim.timing.report import CyclesReport, InstructionRow, PathRow, PipeRow
from sim.timing.schedule import Schedule
from sim.view.cycles.html import Line, Measure, Section
from sim.view.cycles.window import steady_window
from sim.view.cycles_details import iterations_of
from sim.view.cycles_sentences import unmodelled

Source = Callable[[str], str]
"""The text of a source line by its place, "" where it cannot be read."""


def section_of(report: CyclesReport, schedule: Schedule, source: Source) -> Section:
    """The section of a report and its schedule, with the timeline of its hottest loop.  Raises ValueError if empty."""
    loop = report.hottest
    bounds = loop.bounds if loop and loop.bounds else report.bounds
    return Section(
        name=report.core_title,
        figures=list(_figures(report, bounds)),
        notes=list(_notes(report)),
        bounded="an iteration" if bounds is not report.bounds else "the whole",
        bounds=[Measure(bound.name, float(bound.cycles), bound.sentence) for bound in bounds.all],
        stalls=[Measure(reason, cycles) for reason, cycles in report.stalls.items()],
        pipes=[Measure(row.pipe, row.busy, _use(row)) for row in report.pipes if row.busy],
        path=[Measure(row.text, row.cycles, _step(row)) for row in report.critical_path],
        listing=list(_listing(report, source)),
        schedule=schedule,
        shown=steady_window(schedule),
    )


def section_of_result(result: Result) -> Section:
    """The section of what was timed, named after it and the core; the figures of a loop are those of all iterations.

    Raises ValueError if empty.
    """
    section = section_of(result.report, result.schedule, result.source)
    section = replace(section, name=f"{result.title} on {section.name}", notes=[*section.notes, *_said(result)])
    return replace(section, **_of_loop(result, result.loop)) if result.loop else section


def _said(result: Result) -> Iterator[str]:
    if result.loop:
        shown, count = result.loop.reported * result.loop.copies, result.loop.iterations
        yield f"Everything below is about the first {shown:,} of {count:,} iterations."
    yield from (f"{note[0].upper()}{note[1:]}." for note in result.notes)


def _of_loop(result: Result, loop: LoopResult) -> dict[str, Any]:
    """What a section of its first iterations does not know of a loop."""
    bounds = [Measure(bound.name, float(bound.cycles), bound.sentence) for bound in loop.bounds.all]
    return {"figures": list(_loop_figures(loop)), "bounds": bounds, "bounded": iterations_of(result)}


def _loop_figures(loop: LoopResult) -> Iterator[tuple[str, str]]:
    yield "iterations", f"{loop.iterations:,}"
    yield "cycles", f"{loop.timing.cycles:,}"
    yield "cycles per iteration", _text(loop.cycles_per_iteration)
    if loop.cycles_per_element is not None:
        yield "cycles per element", _text(loop.cycles_per_element)
    binding = loop.bounds.binding
    yield "binding bound", f"{binding.name}, {_text(binding.cycles / loop.copies)}"


def _figures(report: CyclesReport, bounds: Bounds) -> Iterator[tuple[str, str]]:
    yield "cycles", f"{report.cycles:,}"
    yield "instructions", f"{report.executed:,}"
    for name, value in (("iteration", report.cycles_per_iteration), ("element", report.cycles_per_element)):
        if value is not None:
            yield f"cycles per {name}", _text(value)
    yield "binding bound", f"{bounds.binding.name}, {_text(bounds.binding.cycles)}"


def _notes(report: CyclesReport) -> Iterator[str]:
    if report.core_error:
        yield f"How good the figures are: {report.core_error}."
    if report.hottest:
        yield f"The hottest loop: {report.hottest.steady}."
    yield from (f"{unmodelled(row)}." for row in report.unmodelled)
    for branch, count in report.mispredicted.items():
        yield f"Mispredicted: {branch}, {_times(count)}."


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _use(row: PipeRow) -> str:
    users = ", ".join(f"{text} {cycles:,}" for text, cycles in row.users)
    return f"{float(100 * row.share):.0f} % busy: {users}" if users else f"{float(100 * row.share):.0f} % busy"


def _step(row: PathRow) -> str:
    return f"{row.place}: {row.reason}" if row.place else row.reason


def _listing(report: CyclesReport, source: Source) -> Iterator[Line]:
    """Instructions in the order of the code, a source line before those that come of it."""
    for place, group in groupby(report.instructions, key=lambda row: row.place):
        rows = list(group)
        if place:
            yield Line(place, source(place), sum(row.cycles for row in rows), source=True)
        yield from map(_instruction, rows)


def _instruction(row: InstructionRow) -> Line:
    address, why = "" if row.pc is None else f"{row.pc:#x}", row.reason if row.cycles else ""
    return Line(address, row.text, row.cycles, f"{row.executions:,}", f"{row.slack:,}", why)


def _text(value: Fraction) -> str:
    return f"{float(value):.2f}".rstrip("0").rstrip(".")
