"""The built-in kernels on the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

Described = Mapping[str, Any]
"""As `sim.kernels.description` makes it."""


def show_kernels(kernels: Sequence[Described], console: Console) -> None:
    """A table with a row for each kernel."""
    table = _table("kernel", "modes", "models")
    for kernel in kernels:
        table.add_row(kernel["kernel"], str(len(kernel["modes"])), f"{escape(kernel['models'])}\n{kernel['spec']}")
    console.print(table)


def show_description(shown: Described, console: Console) -> None:
    """Modes, arguments, operator and errors of one kernel in one mode."""
    _line(f"[bold]{shown['kernel']}[/bold]  {escape(shown['models'])}", console)
    _line(f"arithmetic: {shown['spec']}\n", console)
    modes = _table("mode", "models")
    for mode in shown["modes"]:
        modes.add_row(mode["mode"], escape(mode["summary"]))
    console.print(modes)
    _line(f"\nmode {shown['mode']}: [bold]{shown['function']}[/bold] of {', '.join(shown['sources'])}\n", console)
    arguments = _table("argument", "type", "direction", "domain")
    for argument in shown["arguments"]:
        arguments.add_row(*(escape(argument[key]) for key in ("name", "type", "direction", "domain")))
    console.print(arguments)
    if (operator := shown["operator"]) is None:
        _line(f"\nno operator stands for mode {shown['mode']}", console)
        return
    _line(f"\noperator [bold]{operator['class']}[/bold]\n", console)
    for method in operator["methods"]:
        parameters = []
        for one in method["parameters"]:
            default = f" = {one['default']}" if one["default"] else ""
            parameters.append(f"{one['name']}: {one['type']}{default}")
        _line(f"[bold]{method['name']}[/bold]({escape(', '.join(parameters))})", console)
        _line(f"    {escape(method['does'])}", console)
    _line("\nwhat validate() accepts\n", console)
    for name, value in operator["accepted"].items():
        _line(f"    {name} {escape(value)}", console)
    if kernel := operator["kernel"]:
        window = ", ".join(f"{start}..{stop} step {step}" for start, stop, step in kernel["window"])
        border = ", ".join(f"{side} {width}" for side, width in kernel["border_size"].items())
        parallel = "parallelisable" if kernel["is_parallelisable"] else "not parallelisable"
        _line(f"\n{kernel['name']} of it: window {window}; border {border}; {parallel}", console)
    _line("\nwhat it refuses, in the order of its checks\n", console)
    errors = _table("given instead", "code", "error")
    for error in operator["errors"]:
        given = ", ".join(f"{name} {value}" for name, value in error["given"].items())
        errors.add_row(escape(given), error["code"], escape(error["description"]))
    console.print(errors)


def _line(text: str, console: Console) -> None:
    console.print(text, highlight=False, soft_wrap=True)


def _table(*columns: str) -> Table:
    table = Table(box=SIMPLE_HEAD, show_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table
