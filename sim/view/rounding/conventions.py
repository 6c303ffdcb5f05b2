"""The list of conventions, and what tells two of them apart, on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding

from sim.golden.registry.record import Convention
from sim.models.rules.conventions import LayerConvention, LayersApart
from sim.prove.separation import Separated


def show_conventions(conventions: Sequence[Convention], of_layers: Sequence[LayerConvention], console: Console) -> None:
    """By family: name, rows of docs/spec/known_differences.md, formula, users; then those of layers, by kind."""
    for family, members in groupby(conventions, key=lambda convention: convention.family):
        operands = escape(", ".join(operand.name for operand in family.operands))
        console.print(f"[bold underline]{escape(family.name)}[/bold underline] of {operands}", highlight=False)
        for member in members:
            rows = f"  row{'s' * (len(member.rows) > 1)} {', '.join(member.rows)}" if member.rows else ""
            console.print(f"  [bold]{escape(member.name)}[/bold]{rows}", highlight=False)
            for line in (member.formula, f"used by {member.users}"):
                console.print(Padding(escape(line), (0, 0, 0, 6)), highlight=False)
        console.print()
    for layers, of_kind in groupby(of_layers, key=lambda convention: convention.layers):
        console.print(f"[bold underline]{escape(', '.join(layers))}[/bold underline], a whole layer", highlight=False)
        for one in of_kind:
            console.print(f"  [bold]{escape(one.name)}[/bold]", highlight=False)
            users = f"; used by {one.users}" if one.users else ""
            console.print(Padding(escape(f"of {', '.join(one.types)}{users}"), (0, 0, 0, 6)), highlight=False)
        console.print()
    rows = "rows are those of docs/spec/known_differences.md in lanewise's sources"
    between = "`lanewise conventions --between ONE OTHER` gives the smallest case of any two"
    count = len(conventions) + len(of_layers)
    console.print(f"{count} conventions; {rows}; {between}", highlight=False)


def show_layers_apart(apart: LayersApart, console: Console) -> None:
    """What an element is made of and what both conventions make of it, or how many were tried without finding any."""
    of = f"{apart.of}, {apart.parameters}" if apart.parameters else apart.of
    if apart.verdict == "not told apart":
        lines = [f"[yellow]not told apart[/yellow] by {apart.tried:,} elements of small layers: {escape(apart.of)}"]
    else:
        operands = ", ".join(f"{name} {value}" for name, value in apart.operands.items())
        lines = [f"{escape(operands)}  ({escape(of)})"]
        width = max(len(name) for name in (*apart.names, "exact value"))
        lines += [
            f"{escape(name):{width}}  [bold]{result}[/bold]"
            for name, result in zip(apart.names, apart.results, strict=True)
        ]
        if apart.exact is not None:
            lines.append(f"{'exact value':{width}}  {float(apart.exact):.10g}")
    for line in lines:
        console.print(line, highlight=False, soft_wrap=True)


def show_separated(separated: Separated, console: Console) -> None:
    """The operands and what both conventions make of them, or how far was searched without finding any."""
    note = f"; {escape(separated.note)}" if separated.note else ""
    tried = f"{separated.tried:,} sets of operands"
    if separated.verdict == "proved equal":
        lines = [f"[green]proved equal[/green]{note}"]
    elif separated.verdict == "not told apart":
        lines = [f"[yellow]not told apart[/yellow] by {tried}: corners, and all numbers of 16 bits{note}"]
    else:
        kinds = {operand.name: operand.kind for operand in separated.one.family.operands}
        operands = ", ".join(
            f"{name} {np.float32(value) if kinds[name] == 'float32' else value!s}"  # as short as its type allows
            for name, value in separated.operands.items()
        )
        lines = [f"{escape(operands)}  (the smallest of {tried}{note})"]
        names = separated.one.name, separated.other.name
        width = max(len(name) for name in (*names, "exact value"))
        for name, result in zip(names, separated.results, strict=True):
            shown = "refused" if result is None else str(result)
            lines.append(f"{escape(name):{width}}  [bold]{shown}[/bold]")
        if (exact := separated.exact) is not None:
            shown = str(exact) if exact.denominator == 1 else f"{exact} = {float(exact):.10g}"
            lines.append(f"{'exact value':{width}}  {shown}")
    for line in lines:
        console.print(line, highlight=False, soft_wrap=True)
