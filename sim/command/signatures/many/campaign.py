"""What `lanewise campaign` takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sim.command.signatures.shared import ALL_PROCESSORS, Jobs
from sim.terminal.on_demand import done_by


@done_by("sim.command.running.campaign:campaign")
def campaign(
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="What is to be done; docs/campaigns.md says how.")],
    touched: Annotated[
        list[Path] | None, typer.Argument(metavar="[FILES]...", help="Only jobs that read one of these; default: all.")
    ] = None,
    store: Annotated[
        Path | None, typer.Option(help="Where results are kept; default: FILE.sqlite beside the file.")
    ] = None,
    jobs: Jobs = ALL_PROCESSORS,
    scheduler: Annotated[
        str | None,
        typer.Option(help="A Dask scheduler, such as tcp://10.0.0.1:8786; local: a cluster of --jobs processes here."),
    ] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Say what would be done, in which order, and do nothing.")] = (
        False
    ),
    again: Annotated[
        bool, typer.Option("--again", help="Do again what was stopped without a verdict: crashes, timeouts, errors.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print how it went as JSON.")] = False,
) -> None:
    """Do all jobs of a file that have no result yet, here or on a cluster, and keep what comes of them.

    Each job is known by a digest of what it asks, of the files that it reads and of the versions of all that computes,
    so nothing is done twice: where a campaign was stopped, by Ctrl-C, kill -9 or a full disk, the same command goes on.
    """
