"""`lanewise kernels`: the built-in kernels listed, and one shown with its modes, arguments and operator."""

from __future__ import annotations

from functools import partial

import typer

from sim.kernels import built_in_kernel, kernel_names
from sim.kernels.description import described, description
from sim.terminal.output import print_json, print_shown
from sim.view.kernels import show_description, show_kernels


def list_kernels(
    context: typer.Context,
    as_json: bool,
) -> None:
    """Do what `lanewise kernels` says: its options are those of `sim.command.signatures.kernels`."""
    if context.invoked_subcommand is not None:
        return
    listed = [described(name) for name in kernel_names()]
    if as_json:
        print_json("kernels", listed)
    else:
        print_shown(partial(show_kernels, listed))


def show(
    name: str,
    mode: str | None,
    as_json: bool,
) -> None:
    """Do what `lanewise kernels show` says: its options are those of `sim.command.signatures.kernels`."""
    shown = description(built_in_kernel(name, mode))
    if as_json:
        print_json("kernels-show", shown)
    else:
        print_shown(partial(show_description, shown))
