"""What `lanewise replay` takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, get_args

import typer

from sim.command.signatures.shared import ALL_PROCESSORS, Jobs, Mode, Processors
from sim.replay.engines import Engine
from sim.terminal.on_demand import done_by

_MOST_INSTRUCTIONS = 10**9


@done_by("sim.command.running.replay:replay_calls")
def replay_calls(
    file: Annotated[Path, typer.Argument(help="Captured calls, one JSON object a line; the .npz lies beside it.")],
    engine: Annotated[str, typer.Option(help=f"One of {', '.join(get_args(Engine))}.")] = "lockstep",
    limit: Annotated[
        int, typer.Option(min=1, max=_MOST_INSTRUCTIONS, help="Instructions that a call may take.")
    ] = 20_000_000,
    line: Annotated[int | None, typer.Option(min=1, help="Only the call on this line.")] = None,
    kernel: Annotated[
        str | None, typer.Option(help="The kernel that is called, by name or file (.py): failing calls are explained.")
    ] = None,
    mode: Mode = None,
    core: Processors = None,
    jobs: Jobs = ALL_PROCESSORS,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Run captured calls again and compare memory and registers with what was recorded.

    A bad line does not stop the others.  No code of the file runs as it is, and nothing of it is
    unpickled.
    """
