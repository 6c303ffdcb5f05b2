"""What `lanewise conventions` takes."""

from __future__ import annotations

from typing import Annotated

import typer

from sim.command.signatures.shared import AsJson
from sim.terminal.on_demand import done_by


@done_by("sim.command.asking.conventions:conventions")
def conventions(
    whose: Annotated[
        str, typer.Argument(help="Only those of a runtime or a library, such as onnxruntime, XNNPACK.")
    ] = "",
    between: Annotated[
        tuple[str, str] | None, typer.Option(metavar="A B", help="The smallest input that tells these two apart.")
    ] = None,
    timeout: Annotated[float, typer.Option(min=0.01, max=86_400, help="Seconds for the solver.")] = 60.0,
    as_json: AsJson = False,
) -> None:
    """List the conventions that systems are known to use, by family: formula, who uses it, rows of the differences.

    Those of whole layers follow, as `lanewise model` names them, by the layers that may be them.

    With --between: corners and all numbers of 16 bits are tried, the plainest parameters first; where none tells the
    two apart, the solver is asked for all operands, if both are also written as lane expressions.
    """
