"""What `lanewise kernels` takes."""

from __future__ import annotations

from typing import Annotated

import typer

from sim.command.signatures.shared import AsJson
from sim.terminal.on_demand import done_by

kernels = typer.Typer(help="The built-in kernels: list them, show what one models.")


@kernels.callback(invoke_without_command=True)
@done_by("sim.command.asking.kernels:list_kernels")
def list_kernels(context: typer.Context, as_json: AsJson = False) -> None:
    """List the built-in kernels: what each models, its modes, the page of its arithmetic."""


@kernels.command()
@done_by("sim.command.asking.kernels:show")
def show(
    name: Annotated[str, typer.Argument(help="A built-in kernel: quantize_down.")],
    mode: Annotated[str | None, typer.Option(help="One of its modes; default: its first.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show what a kernel models: modes, arguments of the compiled function, operator, and its errors in order.

    The errors are the answers of validate() to faulty calls, made now, in the order in which it looks for them.
    """
