"""The tools on this computer as a list on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from isa.errors import pip_install
from sim.doctor import Tool


def show_tools(tools: Sequence[Tool], console: Console) -> None:
    """Print each tool with its version or place, or what its lack costs and how to get it.

    Where the pip of the shell is another Python's, the one to use is told once, below: its path is a line by itself.
    """
    pip = pip_install("").removesuffix(" install ")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("tool", "", "version or place; what its lack costs"):
        table.add_column(column, overflow="fold")
    for tool in tools:
        lack = "[red]missing[/red]" if tool.required else "[yellow]missing[/yellow]"
        state = "[green]found[/green]" if tool.found else lack
        table.add_row(tool.name, state, escape(tool.found or f"{tool.cost}: {tool.remedy.replace(pip, 'pip')}"))
    console.print(table)
    if pip != "pip" and any(not tool.found and pip in tool.remedy for tool in tools):
        console.print(f"pip is here: {escape(pip)}", highlight=False, soft_wrap=True)
    missing = [tool.name for tool in tools if tool.required and not tool.found]
    verdict = f"[red]MISSING[/red] for lanewise check: {', '.join(missing)}" if missing else "lanewise check can run"
    console.print(verdict, highlight=False)
