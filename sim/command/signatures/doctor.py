"""What `lanewise doctor` takes."""

from __future__ import annotations

from typing import Annotated

import typer

from sim.terminal.on_demand import done_by


@done_by("sim.command.asking.doctor:doctor")
def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print the tools as JSON.")] = False) -> None:
    """Say what is installed, what each missing tool costs, and how to get it.

    The exit code is 3 where something is missing that `lanewise check` needs.
    """
