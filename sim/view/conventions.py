"""The list of conventions, and what tells two of them apart, on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding

from sim.check.separate import Result, Separated
from sim.golden.convention_record import Convention


def show_conventions(conventions: Sequence[Convention], console: Console) -> None:
    """By family: name, rows of spec/known_differences.md, formula, users."""
    for family, members in groupby(conventions, key=lambda convention: convention.family):
        operands = escape(", ".join(operand.name for operand in family.operands))
        console.print(f"[bold underline]{escape(family.name)}[/bold underline] of {operands}", highlight=False)
        for member in members:
            _show(member, console)
        console.print()
    console.print(f"{len(conventions)} conventions; rows are those of spec/known_differences.md", highlight=False)


def _show(convention: Convention, console: Console) -> None:
    rows = f"  row{'s' * (len(convention.rows) > 1)} {', '.join(convention.rows)}" if convention.rows else ""
    console.print(f"  [bold]{escape(convention.name)}[/bold]{rows}", highlight=False)
    for line in (convention.formula, f"used by {convention.users}"):
        console.print(Padding(escape(line), (0, 0, 0, 6)), highlight=False)


def show_separated(separated: Separated, console: Console) -> None:
    """The operands and what both conventions make of them, or how far was searched without finding any."""
    for line in _lines(separated):
        console.print(line, highlight=False, soft_wrap=True)


def _lines(separated: Separated) -> list[str]:
    note = f"; {escape(separated.note)}" if separated.note else ""
    tried = f"{separated.tried:,} sets of operands"
    if separated.verdict == "proved equal":
        return [f"[green]proved equal[/green]{note}"]
    if separated.verdict == "not told apart":
        return [f"[yellow]not told apart[/yellow] by {tried}: corners, and all numbers of 16 bits{note}"]
    names = separated.one.name, separated.other.name
    width = max(len(name) for name in (*names, "exact value"))
    results = [
        f"{escape(name):{width}}  [bold]{_shown(result)}[/bold]"
        for name, result in zip(names, separated.results, strict=True)
    ]
    exact = [] if separated.exact is None else [f"{'exact value':{width}}  {_exact(separated)}"]
    return [f"{escape(_given(separated))}  (the smallest of {tried}{note})", *results, *exact]


def _given(separated: Separated) -> str:
    kinds = {operand.name: operand.kind for operand in separated.one.family.operands}
    return ", ".join(f"{name} {_number(value, kinds[name])}" for name, value in separated.operands.items())


def _number(value: float, kind: str) -> str:
    """As short as its type allows."""
    return str(np.float32(value)) if kind == "float32" else str(value)


def _shown(result: Result) -> str:
    return "refused" if result is None else str(result)


def _exact(separated: Separated) -> str:
    exact = separated.exact
    assert exact is not None
    return str(exact) if exact.denominator == 1 else f"{exact} = {float(exact):.10g}"
