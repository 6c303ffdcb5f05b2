"""An explanation on the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding

from sim.explanation.candidates import SHIFT_READ_OTHERWISE
from sim.explanation.explanation import Explanation, alike_to, as_well, told_by

_SHOWN = 8
"""Matches that are shown; the JSON form has all."""


def show_explanation(explanation: Explanation, console: Console) -> None:
    """The verdict, the matches and the inputs that would tell them apart, the nearest others with traced elements."""
    colour = "green" if explanation.explained else "red"
    console.print(f"[{colour}]{escape(explanation.verdict)}[/{colour}]", highlight=False)
    hints = [f"hint: {hint}" for hint in explanation.hints]
    for sentence in (*explanation.derived, *hints, explanation.contradiction):
        if sentence:
            _show(console, escape(sentence), 2)
    if explanation.matches:
        console.print("\n[bold]gives every element[/bold]")
    for match in explanation.matches[:_SHOWN]:
        used = f" [dim]used by {escape(match.note)}[/dim]" if match.note else ""
        _show(console, f"[green]{escape(match.name)}[/green]{used}", 2)
        for sentence in filter(None, (told_by(match), *alike_to(match))):
            _show(console, escape(sentence), 6)
    if len(explanation.matches) > _SHOWN:
        _show(console, f"... and {len(explanation.matches) - _SHOWN:,} more; --json has them all", 2)
    if explanation.nearest:
        title = "what these data exclude" if explanation.explained else "the nearest"
        console.print(f"\n[bold]{title}[/bold]")
    for near in explanation.nearest:
        differ = "differs" if near.differing == 1 else "differ"
        count = f"{near.differing:,} of {near.of:,} elements {differ}"
        _show(console, f"[red]{escape(near.name)}[/red]: {count}{escape(as_well(near))}", 2)
        for trace in near.traces:
            _show(console, escape(str(trace)), 6)
        if near.traces:
            _show(console, f"[dim]the first through its steps: {escape(near.traces[0].steps_text)}[/dim]", 6)
    # without the other sign of the shift, which nobody asked for
    refused = [(name, reason) for name, reason in explanation.refused if SHIFT_READ_OTHERWISE not in name]
    if refused:
        console.print("\n[bold]not defined for these parameters[/bold]")
    for name, reason in refused:
        _show(console, f"{escape(name)}: {escape(reason)}", 2)


def _show(console: Console, text: str, indent: int) -> None:
    """A paragraph whose every line is indented."""
    console.print(Padding(text, (0, 0, 0, indent)), highlight=False)
