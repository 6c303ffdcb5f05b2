"""Timed calls and loops on the terminal: the figures of all side by side, then where the cycles go."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sim.cycles.result import Result
from sim.llvm_mca import Estimate
from sim.timing.core import Core
from sim.timing.report import CyclesReport
from sim.view.cycles_details import best_bounds, columns, cycles_text, iterations_of, show_details, show_side_by_side
from sim.view.cycles_sentences import counted, unmodelled


def show_results(title: str, groups: Sequence[Sequence[Result]], console: Console) -> None:
    """Groups of the same call or loop on all cores, side by side; then where the cycles go.

    On one core every group in every detail; on several the first group, a column for each core.
    """
    console.print(f"[bold]{escape(title)}[/bold]", highlight=False)
    for call in dict.fromkeys(results[0].call for results in groups if results[0].call):
        console.print(escape(call), highlight=False, soft_wrap=True)
    console.print(_figures(groups))
    for note in dict.fromkeys(_notes(groups)):
        console.print(escape(note), highlight=False, soft_wrap=True)
    if len(groups[0]) > 1:
        show_side_by_side(groups[0], console)
        return
    for results in groups:
        show_details(results[0], console)


def _figures(groups: Sequence[Sequence[Result]]) -> Table:
    table = columns("", *(f">{result.report.core}" for result in groups[0]))
    table.columns[0].no_wrap = True
    for results in groups:
        table.add_row(f"[bold]{escape(results[0].title)}[/bold]")
        for name, figure in _FIGURES.items():
            cells = [figure(result) for result in results]
            if any(cells):
                table.add_row(f"  {name}", *(escape(cell or "-") for cell in cells))
    return table


def _iterations(result: Result) -> str:
    return f"{result.loop.iterations:,}" if result.loop else ""


def _cycles(result: Result) -> str:
    return cycles_text(result.cycles)


def _microseconds(result: Result) -> str:
    return "" if result.microseconds is None else f"{float(result.microseconds):,.3f}"


def _per_element(result: Result) -> str:
    return cycles_text((result.loop or result.report).cycles_per_element)


def _per_iteration(result: Result) -> str:
    return cycles_text((result.loop or result.report).cycles_per_iteration)


def _steady(result: Result) -> str:
    if result.loop is None:
        return result.report.hottest.steady if result.report.hottest else ""
    timing, copies = result.loop.timing, result.loop.copies
    period = timing.period * copies
    every = "every iteration" if period == 1 else f"every {period} iterations"
    return f"repeats itself {every}, after {timing.warm_up * copies}" if period else "none: the average of all"


def _bound(result: Result) -> str:
    bounds, _ = best_bounds(result)
    copies = result.loop.copies if result.loop else 1
    return f"{cycles_text(bounds.binding.cycles / copies)} {bounds.binding.name}"


def _llvm_mca(result: Result) -> str:
    return cycles_text(result.llvm_mca.cycles) if isinstance(result.llvm_mca, Estimate) else ""


def _llvm_mca_iteration(result: Result) -> str:
    said = result.llvm_mca
    if not isinstance(said, Estimate) or said.per_iteration is None:
        return ""
    return cycles_text(said.per_iteration / (result.loop.copies if result.loop else 1))


_FIGURES: Final[dict[str, Callable[[Result], str]]] = {
    "iterations": _iterations,
    "cycles": _cycles,
    "microseconds": _microseconds,
    "per element": _per_element,
    "per iteration": _per_iteration,
    "steady state": _steady,
    "bound": _bound,
    "llvm-mca": _llvm_mca,
    "llvm-mca per iteration": _llvm_mca_iteration,
}


def _notes(groups: Sequence[Sequence[Result]]) -> Iterator[str]:
    """What the figures are about, how good the cores are known to be, what was assumed, how llvm-mca calculated."""
    for results in groups:
        yield from _iteration(results[0])
        yield from _said(results[0])
    yield from (_known_error(result.report) for result in groups[0])
    yield from (note for result in groups[0] for note in _clock(result.schedule.core))
    for results in groups:
        yield from (note for result in results for note in _assumptions(result))
    for results in groups:
        yield from _about_llvm_mca(results)


def _known_error(report: CyclesReport) -> str:
    said = report.core_error
    return said if said.startswith(report.core) else f"{report.core}: {said}"


def _clock(core: Core) -> Iterator[str]:
    if core.clock:
        yield f"{core.name}: microseconds at {float(core.clock.megahertz):g} MHz, {core.clock.source}"


def _iteration(result: Result) -> Iterator[str]:
    """Which loop an iteration of a call is of."""
    if result.loop:
        yield f"{iterations_of(result)} of {result.title}: {counted(result.loop.instructions, 'instruction')}"
    elif loop := result.report.hottest:
        head = next((row.place for row in result.report.instructions if row.pc == loop.head and row.place), "")
        size = f"{cycles_text(loop.instructions)} instructions, {loop.iterations:,} times"
        yield f"an iteration of {result.title}: {size}, at {head or hex(loop.head)}"


def _said(result: Result) -> Iterator[str]:
    """What was assumed of all loops alike is one line, as the same lines are."""
    yield from (note if result.loop else f"{result.title}: {note}" for note in result.notes)


def _assumptions(result: Result) -> Iterator[str]:
    for row in result.report.unmodelled:
        count = row.executed // (result.loop.reported if result.loop else 1)
        yield f"{result.title} on {result.report.core}: {unmodelled(row._replace(executed=count))}"


def _about_llvm_mca(results: Sequence[Result]) -> Iterator[str]:
    said = [result.llvm_mca for result in results]
    models = ", ".join(f"{one.core} by {_model(one)}" for one in said if isinstance(one, Estimate))
    if models:
        yield f"llvm-mca {next(one.version for one in said if isinstance(one, Estimate))}: {models}"
    yield from (one for one in said if isinstance(one, str))


def _model(said: Estimate) -> str:
    own = bool(said.model) and said.core.replace("-", "").endswith(said.model.lower())
    return "its own model" if own else f"the model of {said.model or 'an unknown core'}"
