"""An estimate per unit of work, beside what was measured; and two versions of the same, on the terminal."""

from __future__ import annotations

from typing import Final

from rich.console import Console
from rich.markup import escape

from sim.cycles.difference import differences
from sim.cycles.estimates import CyclesEstimate
from sim.cycles.result import TimedResult
from sim.view.cycles.details import columns

LISTED: Final = 12
"""Instructions of two versions; the JSON form has all."""


def show_estimate(found: CyclesEstimate, console: Console) -> None:
    """What was timed per unit of work, at a clock, and how far from measured cycles, with the reasons of that."""
    heads, rows = found.table()
    table = columns(*heads[:2], *(f">{head}" for head in heads[2:]))
    for row in rows:
        table.add_row(*map(escape, row))
    console.print(table)
    reasons = found.residual_by_reason
    if reasons:
        said = ", ".join(f"{reason} {cycles:+,.0f}" for reason, cycles in list(reasons.items())[:4])
        console.print(f"cycles too many, shared out by the reasons of the estimate: {said}", highlight=False)


def show_differences(before: TimedResult, after: TimedResult, console: Console) -> None:
    """What the second version gains on a core, and with which instructions."""
    gained = before.cycles - after.cycles
    said = f"{after.title} on {after.report.core}: {before.cycles:,} to {after.cycles:,} cycles, {-gained:+,}"
    console.print(f"\n[bold]{escape(said)}[/bold]", highlight=False)
    table = columns("before", "after", ">cycles", ">", ">change", "why")
    for one in differences(before, after)[:LISTED]:
        if one.gained:
            why = one.reason_after or one.reason_before
            cells = one.before or "-", one.after or "-", f"{one.cycles_before:,}", f"{one.cycles_after:,}"
            table.add_row(*map(escape, cells), f"{-one.gained:+,}", escape(why))
    console.print(table)
