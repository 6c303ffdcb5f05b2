"""What `lanewise prove` takes."""

from __future__ import annotations

from typing import Annotated

import typer

from sim.command.signatures.shared import ALL_PROCESSORS, LONGEST, Jobs
from sim.terminal.on_demand import done_by


@done_by("sim.command.running.prove:prove")
def prove(
    what: Annotated[str, typer.Argument(help="Part of a claim's name, a glob, or FILE.py; default: all claims.")] = "",
    list_only: Annotated[bool, typer.Option("--list", help="Name the claims, prove nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    timeout: Annotated[float, typer.Option(min=0.01, max=LONGEST, help="Seconds for one claim.")] = 60,
    jobs: Jobs = ALL_PROCESSORS,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Prove anew what an earlier run decided.")] = False,
) -> None:
    """Decide claims for all inputs: that instructions compute what Arm's manual says, and how conventions relate.

    A verdict is proved, the smallest counter-example with both computations, or unknown with the reason.  FILE.py
    holds claims of your own, in a list named CLAIMS of sim.prove.Claim; the file is run.
    """
