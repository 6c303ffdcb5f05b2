"""What `lanewise cache` takes."""

from __future__ import annotations

from typing import Annotated

import typer

from sim.command.signatures.shared import AsJson
from sim.terminal.on_demand import done_by

Clear = Annotated[bool, typer.Option("--clear", help="Remove what is kept; it is made again when needed.")]
OlderThan = Annotated[
    float, typer.Option(min=0, metavar="DAYS", help="With --clear: only what was not used for so many days.")
]


@done_by("sim.command.asking.cache:cache")
def cache(
    clear_it: Clear = False,
    older_than: OlderThan = 0,
    as_json: AsJson = False,
) -> None:
    """Say what is kept of what was compiled, built and proved, and where, or clear it.

    Programs, simulators and proofs are kept by the content of all that they are made of, and listed by kind. Beyond
    4 GiB what was used least recently goes by itself.
    """
