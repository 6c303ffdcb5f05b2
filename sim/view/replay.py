"""The report of replayed calls on the terminal."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sim.replay.report import ReplayReport
from sim.view.sentences import counted, until_then

_SHOWN = 10
"""Failing calls that are shown; the JSON form has all."""


def show_replay(report: ReplayReport, console: Console) -> None:
    """How many calls ended how, the first failures, the totals, the verdict and the line that reproduces it."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("calls")
    table.add_column("", justify="right")
    for kind, count in report.kinds.most_common():
        table.add_row(f"[{'green' if kind == 'passed' else 'red'}]{kind}[/]", f"{count:,}")
    console.print(table)
    for form, count in report.unsupported.most_common():
        console.print(f"unsupported in {counted(count, 'call')}: {escape(form)}", highlight=False, soft_wrap=True)
    for result in report.failures[:_SHOWN]:
        name = escape(f"line {result.line}, {result.name}" if result.name else f"line {result.line}")
        console.print(f"[red]{result.kind}[/red] [bold]{name}[/bold]: {escape(result.detail)}",
                      highlight=False, soft_wrap=True)  # fmt: skip
    if len(report.failures) > _SHOWN:
        console.print(f"... and {len(report.failures) - _SHOWN:,} more; --json has them all", highlight=False)
    for sentence in report.explanation:
        console.print(escape(sentence), highlight=False, soft_wrap=True)
    totals = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    totals.add_column(style="bold", overflow="fold")
    totals.add_column(overflow="fold")
    totals.add_row("engine", escape(report.engine))
    totals.add_row("instructions", f"{report.instructions:,}")
    if report.engine == "lockstep":
        totals.add_row("in native code", escape(str(report.native)))
    totals.add_row("instruction forms", f"{len(report.forms)}")
    totals.add_row("values compared", f"{sum(result.values for result in report.results):,}")
    if report.unverified:
        forms = escape(", ".join(sorted(report.unverified)))
        totals.add_row("unverified by emulation", f"{report.unverified.total():,} instructions: {forms}")
    console.print(totals)
    if report.interrupted:
        found = until_then(len(report.failures), len(report.results), "call", "failed")
        verdict = f"[yellow]INTERRUPTED[/yellow]: {found}"
    elif report.failures:
        verdict = f"[red]FAILED[/red]: {len(report.failures):,} of {counted(len(report.results), 'call')}"
    elif not report.results:
        verdict = "[red]FAILED[/red]: the file has no calls"
    else:
        verdict = f"[green]PASSED[/green]: {counted(len(report.results), 'call')}"
        if report.engine == "lockstep" and not any(result.values for result in report.results):
            verdict += ", machine and emulator alike: no line records what the call left"
    console.print(verdict, highlight=False)
    console.print(f"reproduce: {escape(report.reproduce)}", highlight=False, soft_wrap=True)
    if report.debug:
        console.print(f"debug: {escape(report.debug)}", highlight=False, soft_wrap=True)
