"""What `lanewise capture` takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sim.command.signatures.shared import Cflags, Include, March, Mode, RandomLanes, Seed
from sim.terminal.on_demand import done_by
from sim.terminal.output import print_text


def _print_script(wanted: bool) -> None:
    if wanted:
        print_text(str(Path(__file__).parents[2] / "attached" / "gdb_script.py"))
        raise typer.Exit


@done_by("sim.command.running.capture:capture_calls")
def capture_calls(
    kernel: Annotated[
        str,
        typer.Argument(help="A kernel, or the path of a kernel file (.py); - for calls that gdb's script hands over."),
    ],
    file: Annotated[Path, typer.Argument(help="Where to write the calls (.jsonl); their bytes go beside it (.npz).")],
    seed: Seed = 1,
    vectors: RandomLanes = 2000,
    opt: Annotated[str, typer.Option(help="Optimisation level of the source.")] = "O2",
    mode: Mode = None,
    object_file: Annotated[
        Path | None, typer.Option("--object", help="Call the function in this file; default: the first source.")
    ] = None,
    march: March = None,
    cflags: Cflags = "",
    include: Include = None,
    gdb: Annotated[
        bool,
        typer.Option(
            "--gdb",
            callback=_print_script,
            is_eager=True,
            help='Print where the script for gdb is, which captures calls of a running process: gdb -x "$(lanewise '
            'capture --gdb)" PROGRAM, then lanewise-capture FUNCTION FILE.jsonl.',
        ),
    ] = False,
) -> None:
    """Call a kernel with the input sets of a check, on the lane machine, and write every call with what it left.

    The recorded results are the machine's own: `lanewise check` says whether they are right.

    In gdb, the script that --gdb names captures calls of a running process, here or on a board, with the results of
    that process.
    """
