"""The report of replayed calls on the terminal."""

from __future__ import annotations

from collections import Counter

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sim.check.replay import Kind
from sim.check.replay_report import ReplayReport

_SHOWN = 10
"""Failing calls that are shown; the JSON form has all."""


def show_replay(report: ReplayReport, console: Console) -> None:
    """How many calls ended how, the first failures, the totals, the verdict and the line that reproduces it."""
    console.print(_counted("calls", report.kinds))
    for form, count in report.unsupported.most_common():
        console.print(f"unsupported in {count:,} calls: {escape(form)}", highlight=False, soft_wrap=True)
    for result in report.failures[:_SHOWN]:
        name = escape(f"line {result.line}, {result.name}" if result.name else f"line {result.line}")
        console.print(f"[red]{result.kind}[/red] [bold]{name}[/bold]: {escape(result.detail)}",
                      highlight=False, soft_wrap=True)  # fmt: skip
    if len(report.failures) > _SHOWN:
        console.print(f"... and {len(report.failures) - _SHOWN:,} more; --json has them all", highlight=False)
    console.print(_totals(report))
    console.print(_verdict(report), highlight=False)
    console.print(f"reproduce: {escape(report.reproduce)}", highlight=False, soft_wrap=True)


def _counted(title: str, counts: Counter[Kind]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(title)
    table.add_column("", justify="right")
    for name, count in counts.most_common():
        table.add_row(f"[{'green' if name == 'passed' else 'red'}]{name}[/]", f"{count:,}")
    return table


def _totals(report: ReplayReport) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    rows = [
        ("engine", report.engine),
        ("instructions", f"{report.instructions:,}"),
        ("instruction forms", f"{len(report.forms)}"),
        ("values compared", f"{sum(result.values for result in report.results):,}"),
    ]
    if report.unverified:
        names = ", ".join(sorted(report.unverified))
        rows.append(("unverified by emulation", f"{report.unverified.total():,} instructions: {names}"))
    table.add_column(style="bold", overflow="fold")
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(name, escape(value))
    return table


def _verdict(report: ReplayReport) -> str:
    if report.failures:
        return f"[red]FAILED[/red]: {len(report.failures):,} of {len(report.results):,} calls"
    if report.interrupted:
        return f"[yellow]INTERRUPTED[/yellow]: the {len(report.results):,} calls until then passed"
    if not report.results:
        return "[red]FAILED[/red]: the file has no calls"
    return f"[green]PASSED[/green]: {len(report.results):,} calls"
