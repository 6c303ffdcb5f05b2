"""`lanewise isa`: the instruction table listed, explained and verified."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated

import typer
from rich.console import Console

from isa.catalogue import UnknownForm, alike, description, forms_called, forms_matching, instruction_of
from isa.encodings import rows, space
from isa.instruction import FEATURES, Form, Instruction
from isa.rows import TABLE
from isa.statements import statements
from sim.check.processes import processors
from sim.check.verification import Verification
from sim.check.verify import FormResult, verify_all
from sim.intrinsics_cli import list_intrinsics
from sim.terminal import (
    INTERRUPTED,
    MISMATCH,
    USAGE,
    fail,
    print_json,
    print_progress,
    print_shown,
    progress_bar,
)
from sim.view.isa import show_forms, show_heading, show_instruction, show_mnemonics, show_verification

MAX_VECTORS = 1_000_000
"""Lane vectors a form that --vectors takes; so many already run for half a day."""
_FORMS_A_LINE = 100
"""So many forms give one line of progress where stderr is no terminal."""

isa = typer.Typer(help="The instruction table: list its forms, show what one does, verify it.", no_args_is_help=True)
isa.command("intrinsics")(list_intrinsics)
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


@isa.command("list")
def list_forms(
    pattern: Annotated[str, typer.Argument(help="Part of a form's name, or a glob: sqrdmulh, ld1*.")] = "",
    feature: Annotated[str | None, typer.Option(help=f"Only one extension: {', '.join(FEATURES)}.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the instruction forms that the machine has, with the extension that each belongs to."""
    if feature is not None and feature not in FEATURES:
        fail(f"--feature takes one of {', '.join(FEATURES)}, not {feature!r}", USAGE)
    forms = _found(lambda: forms_matching(pattern, feature))
    listed = [{"form": form.name, "extension": form.feature or "base"} for form in forms]
    if as_json:
        print_json(listed)
    else:
        print_shown(partial(show_forms, forms))


@isa.command()
def show(
    name: Annotated[str, typer.Argument(help="A mnemonic, a form, or an instruction: 'sqadd v0.4s, v1.4s, v2.4s'.")],
    as_json: AsJson = False,
) -> None:
    """Show what an instruction does, in statements derived from the semantics that the machine runs.

    v1.s[2] is an unsigned element, s32 v1.s[2] a signed one; wrap keeps the low bits, saturate clamps and sets QC.
    """
    forms = _found(lambda: forms_called(name))
    if as_json:
        print_json([_as_json(form) for form in forms])
    elif (instruction := instruction_of(name)) is not None:
        print_shown(partial(_show_one, instruction))
    else:
        print_shown(partial(show_mnemonics, forms))


def _show_one(instruction: Instruction, console: Console) -> None:
    show_heading(instruction.form, console)
    show_instruction(instruction, statements(instruction), console)


def _as_json(form: Form) -> dict[str, object]:
    groups = [(group.example, group.statements) for group in alike([form])]
    return {
        "form": form.name,
        "extension": form.feature or "base",
        "description": description(form),
        "examples": [
            {
                "instruction": instruction.text,
                "statements": [{"text": line.text, "where": line.where, "lanes": line.lanes} for line in lines],
                "reads": [str(place) for place in instruction.places_read],
                "writes": [str(place) for place in instruction.places_written],
                "can_saturate": instruction.can_saturate,
            }
            for instruction, lines in groups
        ],
    }


@isa.command()
def verify(
    name: Annotated[str, typer.Argument(help="A mnemonic, a form, a glob; default: the whole table.")] = "",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random states.")] = 1,
    vectors: Annotated[int, typer.Option(min=0, max=MAX_VECTORS, help="Lane vectors for each form.")] = 2000,
    jobs: Annotated[int, typer.Option(min=1, help="Processes; default: one for each processor.")] = processors(),
    as_json: AsJson = False,
) -> None:
    """Compare the machine with the exact evaluator and the emulator, form by form, on corner and random states.

    Without a name the whole encoding space of AdvSIMD data processing is walked as the denominator.
    """
    forms = tuple(form.name for form in _found(lambda: forms_to_verify(name)))
    table = frozenset(form.name for form in TABLE.forms.values())
    space_rows = () if name else tuple(rows(space()))
    results, interrupted = _run(forms, seed, vectors, jobs)
    ordered = tuple(sorted(results, key=lambda result: forms.index(result.form)))
    report = Verification(forms, ordered, space_rows, table, seed, vectors, name, interrupted)
    if as_json:
        print_json(report.as_json())
    else:
        print_shown(partial(show_verification, report))
    raise typer.Exit(INTERRUPTED if interrupted else 0 if report.passed else MISMATCH)


def forms_to_verify(name: str) -> list[Form]:
    """The forms of that name or mnemonic, else those that match it as a pattern.  Raises UnknownForm."""
    try:
        return forms_called(name) if name else forms_matching("")
    except UnknownForm:
        return forms_matching(name)


def _found(search: Callable[[], list[Form]]) -> list[Form]:
    try:
        return search()
    except UnknownForm as unknown:
        fail(str(unknown.args[0]), USAGE)


def _run(forms: tuple[str, ...], seed: int, vectors: int, jobs: int) -> tuple[list[FormResult], bool]:
    """The results as they came, and whether the run was interrupted.

    Progress is a bar where stderr is a terminal, else a line now and then.
    """
    results: list[FormResult] = []
    with progress_bar() as progress:
        task = progress.add_task("forms", total=len(forms))

        def finished(result: FormResult) -> None:
            results.append(result)
            progress.advance(task)
            if progress.disable and (
                len(results) % _FORMS_A_LINE == 0 or len(results) == len(forms) or result.difference
            ):
                print_progress(_line(results, len(forms)))

        return results, verify_all(forms, seed, vectors, jobs, finished)


def _line(results: list[FormResult], total: int) -> str:
    vectors, differing = sum(r.vectors for r in results), sum(bool(r.difference) for r in results)
    return f"{len(results):,} of {total:,} forms: {vectors:,} lane vectors, {differing} forms with a difference"
