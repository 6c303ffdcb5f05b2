"""`lanewise kernels`: the built-in kernels listed, and one shown with its modes, arguments and operator."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from sim.kernels import built_in_kernel, kernel_names
from sim.kernels.description import described, description
from sim.terminal.output import print_json, print_shown
from sim.view.kernels import show_description, show_kernels

kernels = typer.Typer(help="The built-in kernels: list them, show what one models.")
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


@kernels.callback(invoke_without_command=True)
def list_kernels(context: typer.Context, as_json: AsJson = False) -> None:
    """List the built-in kernels: what each models, its modes, the page of its arithmetic."""
    if context.invoked_subcommand is not None:
        return
    listed = [described(name) for name in kernel_names()]
    if as_json:
        print_json(listed)
    else:
        print_shown(partial(show_kernels, listed))


@kernels.command()
def show(
    name: Annotated[str, typer.Argument(help="A built-in kernel: quantize_down.")],
    mode: Annotated[str | None, typer.Option(help="One of its modes; default: its first.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show what a kernel models: modes, arguments of the compiled function, operator, and its errors in order.

    The errors are the answers of validate() to faulty calls, made now, in the order in which it looks for them.
    """
    shown = description(built_in_kernel(name, mode))
    if as_json:
        print_json(shown)
    else:
        print_shown(partial(show_description, shown))
