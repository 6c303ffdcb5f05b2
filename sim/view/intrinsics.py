"""The ACLE intrinsics on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from isa.intrinsics import Intrinsic
from sim.view.sentences import counted


def show_intrinsics(functions: Sequence[Intrinsic], console: Console) -> None:
    """A line for each intrinsic: its prototype, its instructions, their extension; then how many there are."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("intrinsic", overflow="fold")
    table.add_column("instructions", overflow="fold")
    table.add_column("extension", no_wrap=True)
    for function in functions:
        instructions = "\n".join(one.text for one in function.instructions) or "none: the same register"
        table.add_row(escape(str(function)), escape(instructions), ", ".join(function.features) or "base")
    console.print(table)
    console.print(counted(len(functions), "intrinsic"), highlight=False)
