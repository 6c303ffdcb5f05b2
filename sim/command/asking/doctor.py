"""`lanewise doctor`: what is installed, what each missing tool costs, how to get it."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial

import typer

from isa.errors import MISSING
from sim.doctor import examine
from sim.terminal.output import print_json, print_shown
from sim.view.doctor import show_tools


def doctor(
    as_json: bool,
) -> None:
    """Do what `lanewise doctor` says: its options are those of `sim.command.signatures.doctor`."""
    tools = examine()
    if as_json:
        print_json("doctor", [asdict(tool) for tool in tools])
    else:
        print_shown(partial(show_tools, tools))
    raise typer.Exit(MISSING if any(tool.required and not tool.found for tool in tools) else 0)
