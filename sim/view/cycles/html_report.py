"""What a page shows of a report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import groupby

from sim.cycles.result import TimedResult
from sim.timing.analysis.report import CyclesReport, InstructionRow
from sim.timing.model.schedule import Schedule
from sim.view.cycles.details import iterations_of
from sim.view.cycles.html import ListingLine, Measure, Section
from sim.view.cycles.sentences import unmodelled, unseen_in_words
from sim.view.cycles.window import steady_window

Source = Callable[[str], str]
"""The text of a source line by its place, "" where it cannot be read."""


def section_of(report: CyclesReport, schedule: Schedule, source: Source) -> Section:
    """The section of a report and its schedule, with the timeline of its hottest loop.  Raises ValueError if empty."""
    loop = report.hottest
    bounds = loop.bounds if loop and loop.bounds else report.bounds
    figures = [("cycles", f"{report.cycles:,}"), ("instructions", f"{report.executed:,}")]
    for name, value in (("iteration", report.cycles_per_iteration), ("element", report.cycles_per_element)):
        if value is not None:
            figures.append((f"cycles per {name}", _text(value)))
    figures.append(("binding bound", f"{bounds.binding.name}, {_text(bounds.binding.cycles)}"))
    notes = [f"How good the figures are: {report.core_error}."] if report.core_error else []
    notes.append(f"Error on unseen kernels: {next(unseen_in_words(schedule.core))}.")
    notes += [f"The hottest loop: {loop.steady}."] if loop else []
    notes += [f"{unmodelled(row)}." for row in report.unmodelled]
    for branch, count in report.mispredicted.items():
        notes.append(f"Mispredicted: {branch}, {'once' if count == 1 else f'{count:,} times'}.")
    pipes = []
    for row in report.pipes:
        if row.busy:
            users = ", ".join(f"{text} {cycles:,}" for text, cycles in row.users)
            sentence = f"{float(100 * row.share):.0f} % busy"
            pipes.append(Measure(row.pipe, row.busy, f"{sentence}: {users}" if users else sentence))
    return Section(
        name=report.core_title,
        figures=figures,
        notes=notes,
        bounded="an iteration" if bounds is not report.bounds else "the whole",
        bounds=[Measure(bound.name, float(bound.cycles), bound.sentence) for bound in bounds.all],
        stalls=[Measure(reason, cycles) for reason, cycles in report.stalls.items()],
        pipes=pipes,
        path=[
            Measure(row.text, row.cycles, f"{row.place}: {row.reason}" if row.place else row.reason)
            for row in report.critical_path
        ],
        listing=list(_listing(report.instructions, source)),
        schedule=schedule,
        shown=steady_window(schedule),
    )


def section_of_result(result: TimedResult) -> Section:
    """The section of what was timed, named after it and the core; the figures of a loop are those of all iterations.

    Raises ValueError if empty.
    """
    section = replace(section_of(result.report, result.schedule, result.source), told=result.told)
    name, said = f"{result.title} on {section.name}", [f"{note[0].upper()}{note[1:]}." for note in result.notes]
    loop = result.loop
    if loop is None:
        return replace(section, name=name, notes=[*section.notes, *said])
    first = loop.reported * loop.copies
    about = f"Everything below is about the first {first:,} of {loop.iterations:,} iterations."
    figures = [
        ("iterations", f"{loop.iterations:,}"),
        ("cycles", f"{loop.timing.cycles:,}"),
        ("cycles per iteration", _text(loop.cycles_per_iteration)),
    ]
    if loop.cycles_per_element is not None:
        figures.append(("cycles per element", _text(loop.cycles_per_element)))
    binding = loop.bounds.binding
    figures.append(("binding bound", f"{binding.name}, {_text(binding.cycles / loop.copies)}"))
    return replace(
        section,
        name=name,
        notes=[*section.notes, about, *said],
        figures=figures,
        bounds=[Measure(bound.name, float(bound.cycles), bound.sentence) for bound in loop.bounds.all],
        bounded=iterations_of(result),
    )


def _listing(instructions: Sequence[InstructionRow], source: Source) -> Iterator[ListingLine]:
    """Instructions in the order of the code, a source line before those that come of it."""
    for (place, calls), group in groupby(instructions, key=lambda row: (row.place, row.inlined)):
        rows = list(group)
        if place:
            text = "  ".join(filter(None, (source(place), calls)))
            yield ListingLine(place=place, text=text, cycles=sum(row.cycles for row in rows), source=True)
        for row in rows:
            yield ListingLine(
                place="" if row.pc is None else f"{row.pc:#x}",
                text=row.text,
                cycles=row.cycles,
                executions=f"{row.executions:,}",
                slack=f"{row.slack:,}",
                why=row.reason if row.cycles else "",
            )


def _text(value: Fraction) -> str:
    return f"{float(value):.2f}".rstrip("0").rstrip(".")
