"""Pages of the reference that are made of what the program itself says: help texts, conventions, instructions.

`conf.py` writes them anew with every build.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby
from textwrap import wrap
from typing import Any

import numpy as np
from rich.console import Console
from typer.main import get_command
from typer.testing import CliRunner

from isa.catalogue import forms_matching
from isa.instruction import Form
from sim.command.app import app
from sim.explanation.addition import addition_rules
from sim.explanation.rule import CandidateRule
from sim.golden.addition import AddParameters
from sim.golden.layers.bilinear import Resizing
from sim.golden.registry.conventions import CONVENTIONS
from sim.models.layers import Activated, Averaged, Normalized
from sim.models.network import TensorScale
from sim.models.rules.average import WAYS, Rounded
from sim.models.rules.averaging import averaging_rules
from sim.models.rules.functions.activated import activation_rules
from sim.models.rules.functions.normalizing import normalizing_rules
from sim.models.rules.functions.sloping import over_root_rules, sloping_rules
from sim.models.rules.interpolating import CutInterpolation, interpolating_rules
from sim.models.rules.quantizing import quantizing_rules
from sim.models.rules.subtracting import subtracting_rules
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
        "[the specification](../spec/neighbours.md), sections 23 and 27 to 43.", "",
    )  # fmt: skip
    for kind, by_type in _rules_of_layers().items():
        found: dict[str, tuple[str, list[str]]] = {}
        for types, rules in by_type.items():
            for rule in rules:
                found.setdefault(rule.name.split(" of ")[0], (rule.note, []))[1].append(types)
        yield from (f"## {kind}", "", "| convention | of | used by |", "| --- | --- | --- |")
        for name, (note, of_types) in found.items():
            yield f"| `{name}` | {', '.join(dict.fromkeys(of_types))} | {note} |"
        yield ""


def _rules_of_layers() -> dict[str, dict[str, Sequence[CandidateRule]]]:
    """The rules that layers of each type have, of parameters of which all are defined."""
    scale, types = TensorScale(np.ones(1, np.float32), np.zeros(1, np.int64), 0), ("int8", "uint8", "int16")
    numbers = {dtype: np.zeros((1, 1), dtype) for dtype in types}
    images, three = {dtype: np.zeros((1, 2, 2, 1), dtype) for dtype in types}, (scale, scale, scale)
    of_powers = TensorScale(np.full(1, 2.0**-12, np.float32), scale.zero_points, 0)

    def functions(name: str, of: Sequence[str], to: TensorScale | None) -> dict[str, Sequence[CandidateRule]]:
        every = {
            dtype: Activated(numbers=numbers[dtype], function=name, scale=scale if to else of_powers, to=to, alpha=-0.5)
            for dtype in of
        }
        return {dtype: activation_rules(one) for dtype, one in every.items()}

    softmax = {
        (dtype, to): Normalized(numbers=numbers[dtype], scale=scale, to=scale, dtype=to, beta=1)
        for dtype, to in (("int8", "int8"), ("uint8", "uint8"), ("int8", "int16"), ("uint8", "int16"), ("int16",) * 2)
    }
    of_onnx = Normalized(numbers=numbers["uint8"], scale=scale, to=scale, dtype="uint8", beta=None)
    means = {
        dtype: Averaged(
            sums=np.zeros((1, 1, 1, 1), np.int64), count=1, dtype=dtype, scale=scale, to=scale, is_of_images=True
        )
        for dtype in types
    }
    return {
        "SOFTMAX": {f"{one} to {other}": normalizing_rules(made) for (one, other), made in softmax.items()},
        "Softmax of ONNX": {"bytes": normalizing_rules(of_onnx)},
        "MEAN": {dtype: averaging_rules(made) for dtype, made in means.items()},
        "LOGISTIC": functions("logistic", types, None),
        "TANH": functions("tanh", types, None),
        "Sigmoid and Tanh of ONNX": functions("logistic", types[:2], scale),
        "HARD_SWISH": functions("hard_swish", types[:2], scale),
        "LEAKY_RELU": functions("leaky_relu", types, scale),
        "AVERAGE_POOL_2D": {"int8": [Rounded(way) for way in WAYS]},
        "SUB": {dtype: subtracting_rules(three, bits, False) for dtype, bits in zip(types, (8, 8, 16), strict=True)},
        "PRELU": {dtype: sloping_rules(three) for dtype in types},
        "L2_NORMALIZATION": {dtype: over_root_rules(zero) for dtype, zero in (("int8", 0), ("uint8", 128))},
        "RESIZE_BILINEAR": {dtype: interpolating_rules(images[dtype], Resizing(2, 2, False, False)) for dtype in types},
        "Resize of ONNX": {"bytes": [CutInterpolation(np.zeros(1, np.float32))]},
        "Real numbers to bytes and int16": {
            dtype: [*quantizing_rules(np.zeros(1, np.float32), np.float32(1), 0, np.dtype(dtype))] for dtype in types
        },
        "Add of ONNX": {
            dtype: [rule for rule in addition_rules(AddParameters(), np.dtype(dtype)) if "ONNX" in rule.note]
            for dtype in types[:2]
        },
    }


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
