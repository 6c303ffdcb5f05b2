"""Where the cycles of a timed call or loop go, on the terminal: bounds, pipes, reasons, instructions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import groupby
from typing import Final

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sim.cycles.result import TimedResult
from sim.timing.analysis.bounds import Bounds
from sim.timing.analysis.report import CyclesReport, InstructionRow
from sim.view.sentences import counted, cut

LISTED: Final = 40
"""Instructions of a listing: those that cost most, in the order of the code; the JSON form has all."""
LEFT: Final = 5
"""Fewer than so many are not worth to be left out."""
_USERS: Final = 2
_STEPS: Final = 12
_BAR: Final = 24
_NARROWEST, _WIDEST = 16, 36
"""Characters of an instruction."""
_BESIDE, _REASON = 20, 36
"""Characters beside the instructions of a listing, without costs; of a cost with its reason."""


def show_details(result: TimedResult, console: Console) -> None:
    """Everything about one core."""
    heading = f"{_accounted(result)} on {result.report.core_title}"
    console.print(f"\n[bold]{escape(heading)}[/bold]", highlight=False)
    bounds, cycles = best_bounds(result)
    of = "of all" if bounds is result.report.bounds else f"of {iterations_of(result)}"
    table = columns(f"bound {of}", ">cycles", f">of {cycles_text(cycles)}", "")
    for bound in bounds.all:
        name = f"[bold]{escape(bound.name)}[/bold], binding" if bound is bounds.binding else escape(bound.name)
        share = f"{float(100 * bound.cycles / cycles):.0f} %"
        table.add_row(name, cycles_text(bound.cycles), share, escape(bound.sentence))
    console.print(table)
    table = columns("pipe", ">busy", ">", "", "most with")
    for row in result.report.pipes:
        users = ", ".join(
            f"{text} {cycles_text(Fraction(spent, _times(result)))}" for text, spent in row.users[:_USERS]
        )
        busy = cycles_text(Fraction(row.busy, _times(result)))
        table.add_row(escape(row.pipe), busy, f"{float(100 * row.share):.0f} %", _bar(row.share), escape(users))
    console.print(table)
    console.print(_stalls([result]))
    _show_listing([result], console)
    if part := result.report.repeated:
        path = [f"critical path: {part.repetitions:,} times {cycles_text(part.cycles)} cycles"]
        steps = list(part.steps)
    else:
        path = ["critical path: the most of it"]
        steps = [f"{counted(row.cycles, 'cycle')}: {row.text} {row.reason}" for row in result.report.critical_path]
    path += [f"  {step}" for step in steps[:_STEPS]]
    path += [f"  and {len(steps) - _STEPS:,} more"] if len(steps) > _STEPS else []
    missed = [f"mispredicted {counted(count, 'time')}: {text}" for text, count in result.report.mispredicted.items()]
    for line in (*path, *missed):
        console.print(escape(line), highlight=False, soft_wrap=True)


def show_side_by_side(results: Sequence[TimedResult], console: Console) -> None:
    """The same on several cores: cycles by reason and by instruction."""
    console.print(f"\n[bold]where the cycles of {escape(_accounted(results[0]))} go[/bold]", highlight=False)
    console.print(_stalls(results))
    _show_listing(results, console)


def cycles_text(cycles: Fraction | int | None) -> str:
    """Such as 1,234 and 44.57; "" for None."""
    if cycles is None:
        return ""
    whole = Fraction(cycles).denominator == 1
    return f"{int(cycles):,}" if whole else f"{float(cycles):,.2f}".rstrip("0").rstrip(".")


def columns(*names: str) -> Table:
    """An empty table with these columns; one whose name begins with > is aligned to the right."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0))
    for name in names:
        right = name.startswith(">")
        table.add_column(escape(name.removeprefix(">")), justify="right" if right else "left", overflow="fold")
    return table


def best_bounds(result: TimedResult) -> tuple[Bounds, Fraction]:
    """The bounds that say most, and the cycles that they are of: of an iteration, or of all."""
    hottest = result.report.hottest
    if result.loop:
        return result.loop.bounds, result.loop.timing.per_iteration
    if hottest and hottest.bounds and hottest.cycles_per_iteration is not None:
        return hottest.bounds, hottest.cycles_per_iteration
    return result.report.bounds, Fraction(result.report.cycles)


def iterations_of(result: TimedResult) -> str:
    """What the details of a loop are about: an iteration, or those that a body of several copies does."""
    copies = result.loop.copies if result.loop else 1
    return "an iteration" if copies == 1 else f"{copies} iterations"


def _accounted(result: TimedResult) -> str:
    """What the details are about."""
    return f"{iterations_of(result)} of the {result.title}" if result.loop else result.title


def _times(result: TimedResult) -> int:
    """How often what the details are about is in the report."""
    return result.loop.reported if result.loop else 1


def _bar(share: Fraction) -> str:
    return "█" * round(share * _BAR)


def _stalls(results: Sequence[TimedResult]) -> Table:
    """Cycles by reason, on one core with a bar beside them."""
    single = len(results) == 1
    table = columns("reason", *([">cycles", ""] if single else [f">{result.report.core}" for result in results]))
    for name in dict.fromkeys(name for result in results for name in result.report.stalls):
        cells = []
        for result in results:
            cycles = result.report.stalls.get(name, 0)
            share = f"{100 * cycles / result.report.cycles:3.0f} %"
            cells.append(f"{cycles_text(Fraction(cycles, _times(result)))} {share}" if cycles else "-")
        bar = [_bar(Fraction(results[0].report.stalls[name], results[0].report.cycles))] if single else []
        table.add_row(escape(name), *cells, *bar)
    return table


def _show_listing(results: Sequence[TimedResult], console: Console) -> None:
    """What the instructions cost on every core, below their source lines; on one core with the main reason too."""
    listed = [_by_mnemonic(result.report) or result.report.instructions for result in results]
    rows = list(zip(*listed, strict=True))
    costs = [">cycles", "mostly"] if len(results) == 1 else [f">{result.report.core}" for result in results]
    table = columns("line", "instruction", *([] if results[0].loop else [">times"]), *costs)
    for column in table.columns:
        column.no_wrap = column.header != "mostly"
    beside = _BESIDE + (sum(len(result.report.core) + 3 for result in results) if len(results) > 1 else _REASON)
    shown, widest = costliest(rows), min(max(console.width - beside, _NARROWEST), _WIDEST)
    files = {row[0].place.rpartition(":")[0] for row in shown if row[0].place}
    for (place, calls), group in groupby(shown, key=lambda row: (row[0].place, row[0].inlined)):
        said = [text for text in (results[0].source(place), calls) if text]
        for number, text in enumerate(said):
            table.add_row("" if number else _line(place, files), f"[dim]{escape(cut(text, widest))}[/dim]")
        for row in group:
            address = "" if row[0].pc is None else f"{row[0].pc:#x}"
            executions = [] if results[0].loop else [f"{row[0].executions:,}"]
            cycles = [cycles_text(Fraction(one.cycles, _times(of))) for one, of in zip(row, results, strict=True)]
            reason = [escape(row[0].reason)] if len(row) == 1 else []
            text = escape(cut(row[0].text, widest))
            table.add_row("" if said else _line(place, files) or address, text, *executions, *cycles, *reason)
    console.print(table)
    if left := len(rows) - len(shown):
        console.print(f"{left:,} instructions that cost less are left out; --json has all", highlight=False)


def _by_mnemonic(report: CyclesReport) -> list[InstructionRow]:
    """One row for each mnemonic of a straight line without addresses; none for other code."""
    rows: dict[str, InstructionRow] = {}
    for row in report.instructions:
        if row.pc is not None:
            return []
        name = row.text.split()[0]
        one = rows.get(name, replace(row, text=name, executions=0, cycles=0))
        rows[name] = replace(one, executions=one.executions + row.executions, cycles=one.cycles + row.cycles)
    return list(rows.values())


def costliest(rows: Sequence[tuple[InstructionRow, ...]]) -> list[tuple[InstructionRow, ...]]:
    """All, if they are few; else those with the most cycles on all cores together, in the order of the code."""
    costs = [sum(row.cycles for row in each) for each in rows]
    most = sorted((number for number, cost in enumerate(costs) if cost), key=lambda number: -costs[number])[:LISTED]
    few = len(rows) <= LISTED or len(rows) - len(most) < LEFT
    return list(rows) if few else [rows[number] for number in sorted(most)]


def _line(place: str, files: Collection[str]) -> str:
    """Only the number where all instructions are of one file."""
    return escape(place) if len(files) > 1 else place.rpartition(":")[2]
