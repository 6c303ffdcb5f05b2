"""Pages of the reference that are made of what the program itself says: help texts, conventions, instructions.

`conf.py` writes them anew with every build.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from functools import partial
from itertools import groupby
from textwrap import wrap
from typing import Any

from rich.console import Console
from typer.main import get_command
from typer.testing import CliRunner

from isa.catalogue import forms_matching
from isa.instruction import Form
from sim.command.app import app
from sim.golden.registry.conventions import CONVENTIONS
from sim.models.rules.conventions import examples
from sim.prove.separation import separate
from sim.view.isa import show_mnemonics
from sim.view.rounding.conventions import show_separated

COLUMNS = 100
"""Of what is shown as on a terminal."""


def help_page() -> Iterator[str]:
    """`--help` of every command, and of every command of a group."""
    yield from (
        "# Help texts",
        "",
        "What `lanewise NAME --help` prints. [Commands](../commands.md) says what each is for.",
        "",
    )
    runner = CliRunner(env={"COLUMNS": str(COLUMNS), "TERM": "dumb", "NO_COLOR": "1"})
    for names in _commands():
        done = runner.invoke(app, [*names, "--help"], prog_name="lanewise")
        assert done.exit_code == 0, done.output
        yield from (f"{'#' * (1 + len(names))} lanewise {' '.join(names)}", "", *_as_printed(done.output), "")


def _commands() -> Iterator[tuple[str, ...]]:
    """The words of each command, a group before those in it."""
    waiting: list[tuple[tuple[str, ...], Any]] = [((), get_command(app))]
    while waiting:
        names, command = waiting.pop()
        if names:
            yield names
        if hasattr(command, "list_commands"):
            context = command.make_context("lanewise", [], resilient_parsing=True)
            within = command.list_commands(context)
            waiting += [((*names, name), command.resolve_command(context, [name])[1]) for name in reversed(within)]


def conventions_page() -> Iterator[str]:
    """By family every convention, and the smallest operands that tell it from the first of its family."""
    yield from (
        "# Conventions, one by one", "",
        "What `lanewise conventions` lists, and what `lanewise conventions --between` says of each beside the first of "
        "its family. Rows are those of [the differences](../spec/known_differences.md).", "",
    )  # fmt: skip
    for family, members in groupby(CONVENTIONS.values(), key=lambda one: one.family):
        first, *others = members
        operands = ", ".join(f"`{operand.name}`" for operand in family.operands)
        yield from (f"## {family.name[:1].upper()}{family.name[1:]}", "", f"Of {operands}.", "")
        for one in (first, *others):
            rows = f" Row{'s' * (len(one.rows) > 1)} {', '.join(one.rows)}." if one.rows else ""
            yield from (
                f"### {one.name}",
                "",
                *_as_printed("\n".join(wrap(one.formula, COLUMNS))),
                "",
                f"Used by {one.users}.{rows}",
                "",
            )
            if one is not first:
                told = separate(first.name, one.name)
                yield from (f"Beside `{first.name}`:", "", *_as_printed(_printed(partial(show_separated, told))), "")


def layer_conventions_page() -> Iterator[str]:
    """By kind of layer every convention that is more than one requantization, of which types, and whose it is."""
    yield from (
        "# Conventions of whole layers", "",
        "What `lanewise model` names layers by that are more than sums and one of [the conventions](conventions.md): "
        "softmax, means, functions of one number, differences, images that are resized. Their arithmetic is in "
        "[the specification](../spec/neighbours.md), sections 23 and 27 to 43. `lanewise conventions --between A B` "
        "tells two of a kind apart.", "",
    )  # fmt: skip
    for kind in dict.fromkeys(example.layer for example in examples()):
        found: dict[str, tuple[str, dict[str, None]]] = {}
        for example in examples():
            for name, way in example.ways.items() if example.layer == kind else ():
                found.setdefault(name.split(" of ")[0], (way.users, {}))[1][example.type] = None
        yield from (f"## {kind}", "", "| convention | of | used by |", "| --- | --- | --- |")
        for name, (users, types) in found.items():
            yield f"| `{name}` | {', '.join(types)} | {users} |"
        yield ""


def instruction_pages() -> Iterator[tuple[str, Iterator[str]]]:
    """By name a page for each first letter of a mnemonic, of what `lanewise isa show` says, then a list."""
    forms = sorted(forms_matching(""), key=lambda form: (form.mnemonic, form.extension))
    by_letter = [(letter, list(members)) for letter, members in groupby(forms, key=lambda form: form.mnemonic[0])]
    for letter, members in by_letter:
        yield letter, _instructions(letter, members)
    letters = [letter for letter, _ in by_letter]
    what = "What `lanewise isa show` says of every instruction, by the first letter."
    yield "README", iter(["# Instructions, one by one", "", what, "", "```{toctree}", "", *letters, "```"])


def _instructions(letter: str, forms: list[Form]) -> Iterator[str]:
    yield from (f"# {letter.upper()}", "")
    for mnemonic, members in groupby(forms, key=lambda form: form.mnemonic):
        shown = _printed(partial(show_mnemonics, list(members)))
        yield from (f"## {mnemonic}", "", *_as_printed(shown), "")


def _printed(show: Callable[[Console], None]) -> str:
    text = io.StringIO()
    show(Console(file=text, width=COLUMNS, color_system=None))
    return text.getvalue()


def _as_printed(text: str) -> list[str]:
    return ["```text", *(line.rstrip() for line in text.strip("\n").splitlines()), "```"]
