"""What `lanewise results` takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sim.terminal.on_demand import done_by


@done_by("sim.command.asking.results:results")
def results(
    store: Annotated[Path, typer.Argument(help="What lanewise campaign has written.")],
    run: Annotated[int | None, typer.Option(min=1, help="Which run; default: the last one.")] = None,
    against: Annotated[
        int | None, typer.Option(min=1, help="Compare with this run; default: the campaign's run before.")
    ] = None,
    allow: Annotated[int, typer.Option(min=0, help="End with 0 where no more jobs than that fail.")] = 0,
    new: Annotated[
        bool, typer.Option("--new", help="Count only what did not fail in the run before; nothing in the first.")
    ] = False,
    slower: Annotated[
        float | None, typer.Option(min=0, help="End with 1 where cycles on a core grew by more percent than that.")
    ] = None,
    junit_file: Annotated[Path | None, typer.Option("--junit", help="Write a test case for every job.")] = None,
    html_file: Annotated[
        Path | None, typer.Option("--html", help="Write a page: heat maps, groups, all jobs in a table.")
    ] = None,
    parquet_file: Annotated[
        Path | None, typer.Option("--parquet", help="Write a row for every job as Parquet, for tools of data.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the groups, and what is different, as JSON.")] = False,
) -> None:
    """Say what failed in a campaign, in groups with the smallest case of each, and what is different from before.

    A group is failures of one kernel that part at the same source line under the same conventions.  Exit codes: 0 where
    all jobs have a result and none fails, or no more than --allow; 1 where more fail; 3 where a run is not finished.
    """
