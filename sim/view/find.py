"""What came of a search for an input, as sentences on the terminal."""

from __future__ import annotations

import json
from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape

from sim.check.aim.find import FoundInput

_COLOURS = {"found": "green", "none can": "yellow"}
_AGREES = {
    True: "; the build gives what the golden reference gives",
    False: "; the build does not give what the golden reference gives",
    None: "",
}


def show_found(found: Sequence[tuple[FoundInput, str]], console: Console) -> None:
    """Print each answer: the input, what the build makes of it and the command that calls it; or why there is none."""
    for one, again in found:
        colour = _COLOURS.get(one.verdict, "red")
        build = f"{one.build}: " if one.build else ""
        reason = f": {one.proved or one.reason}" if one.proved or one.reason else ""
        told = f"{escape(build + one.what)}: [{colour}]{one.verdict}[/{colour}]{escape(reason)}"
        if one.inputs is not None:
            told += f", {escape(one.shape)}, and run{_AGREES[one.agrees]}"
        console.print(told, highlight=False, soft_wrap=True)
        for name, value in (one.plain_inputs or {}).items():
            console.print(f"  {escape(name)} = {escape(json.dumps(value))}", highlight=False, soft_wrap=True)
        if again:
            console.print(f"  again: {escape(again)}", highlight=False, soft_wrap=True)
