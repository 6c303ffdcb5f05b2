"""A check's report as a table on the terminal."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sim.check.report import Outcome, Report


def show_report(report: Report, console: Console) -> None:
    """Print the table of implementations, every failure, the totals and the line that reproduces them."""
    console.print(_implementations(report))
    for outcome in report.failures:
        console.print(f"[red]FAILED[/red] [bold]{escape(_title(outcome))}[/bold]", highlight=False)
        console.print(escape(outcome.failure) + "\n", highlight=False, soft_wrap=True)
    console.print(_totals(report))
    console.print(_verdict(report), highlight=False)
    console.print(f"reproduce: {escape(report.reproduce)}", highlight=False, soft_wrap=True)


def _title(outcome: Outcome) -> str:
    return f"{outcome.implementation} {outcome.flags}".rstrip()


def _implementations(report: Report) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(report.kernel, no_wrap=True)
    for heading in ("lanes", "instructions", "forms", "QC events"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("code", no_wrap=True)
    table.add_column("golden?", no_wrap=True)
    for outcome in report.outcomes:
        table.add_row(*_row(outcome))
    return table


def _row(outcome: Outcome) -> tuple[str, ...]:
    numbers = (outcome.lanes_compared, outcome.instructions, len(outcome.forms), outcome.qc_events)
    result = "[red]differs[/red]" if outcome.failure else "[green]agrees[/green]"
    if outcome.interrupted and not outcome.failure:
        result = "[yellow]stopped[/yellow]"
    texts = (f"{number:,}" for number in numbers)
    return escape(_title(outcome)), *texts, outcome.code[:8] or "intrinsics", result


def _totals(report: Report) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold")
    table.add_column()
    for name, value in (
        ("compiler", report.compiler),
        ("flags", " ".join(sorted({outcome.flags for outcome in report.outcomes if outcome.code}))),
        ("vectors compared", f"{report.vectors_compared:,}"),
        ("lanes compared", f"{report.lanes_compared:,}"),
        ("distinct binaries", f"{report.distinct_binaries}"),
        ("instruction forms", f"{len(report.forms)}"),
        ("instructions in lockstep", f"{sum(o.instructions for o in report.outcomes if o.code):,}"),
        ("seed", f"{report.seed}"),
    ):
        table.add_row(name, value)
    return table


def _verdict(report: Report) -> str:
    if report.failures:
        return f"[red]FAILED[/red]: {len(report.failures)} of {len(report.outcomes)} implementations"
    if report.interrupted:
        return "[yellow]INTERRUPTED[/yellow]: what was compared until then agrees"
    if report.lanes_compared == 0:
        return "[red]FAILED[/red]: nothing was compared"
    return f"[green]PASSED[/green]: {len(report.outcomes)} implementations agree on every lane"
