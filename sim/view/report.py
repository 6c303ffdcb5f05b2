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
    table = Table(box=box.SIMPLE_HEAD, title=f"{report.kernel} against its golden reference", title_justify="left")
    table.add_column("implementation")
    table.add_column("flags")
    for heading in ("lanes compared", "instructions", "forms", "calls with QC"):
        table.add_column(heading, justify="right")
    table.add_column("code")
    table.add_column("result")
    for outcome in report.outcomes:
        table.add_row(*_row(outcome))
    return table


def _row(outcome: Outcome) -> tuple[str, ...]:
    numbers = (outcome.lanes_compared, outcome.instructions, len(outcome.forms), outcome.saturated_calls)
    result = "[red]failed[/red]" if outcome.failure else "[green]agrees[/green]"
    texts = (f"{number:,}" for number in numbers)
    return outcome.implementation, outcome.flags, *texts, outcome.code[:8] or "intrinsics", result


def _totals(report: Report) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column()
    for name, value in (
        ("compiler", report.compiler),
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
    if report.interrupted:
        return "[red]INTERRUPTED[/red]: what was compared until then is above"
    if report.lanes_compared == 0:
        return "[red]FAILED[/red]: nothing was compared"
    if report.failures:
        return f"[red]FAILED[/red]: {len(report.failures)} of {len(report.outcomes)} implementations"
    return f"[green]PASSED[/green]: {len(report.outcomes)} implementations agree on every lane"
