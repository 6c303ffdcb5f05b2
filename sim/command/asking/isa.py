"""`lanewise isa`: the instruction table listed, explained and verified."""

from __future__ import annotations

from functools import partial

import typer

from isa.catalogue import UnknownForm, alike, description, forms_called, forms_matching, instruction_of
from isa.encodings import rows, space
from isa.errors import INTERRUPTED, MISMATCH
from isa.instruction import FEATURES, Form
from isa.intrinsics import intrinsics_matching
from isa.rows import TABLE
from isa.text.statements import statements
from sim.terminal.output import print_json, print_progress, print_shown, progress_bar, require_one_of
from sim.verify.verification import Verification
from sim.verify.verify import FormResult, verify_all
from sim.view.intrinsics import show_intrinsics
from sim.view.isa import show_forms, show_heading, show_instruction, show_mnemonics, show_verification

_FORMS_A_LINE = 100
"""So many forms give one line of progress where stderr is no terminal."""


def list_forms(
    pattern: str,
    feature: str | None,
    as_json: bool,
) -> None:
    """Do what `lanewise isa list` says: its options are those of `sim.command.signatures.isa`."""
    if feature is not None:
        require_one_of("--feature", feature, FEATURES)
    forms = forms_matching(pattern, feature)
    listed = [{"form": form.name, "extension": form.extension} for form in forms]
    if as_json:
        print_json("isa-list", listed)
    else:
        print_shown(partial(show_forms, forms))


def show(
    name: str,
    as_json: bool,
) -> None:
    """Do what `lanewise isa show` says: its options are those of `sim.command.signatures.isa`."""
    forms = forms_called(name)
    if as_json:
        shown = []
        for form in forms:
            examples = [
                {
                    "instruction": group.example.text,
                    "statements": [
                        {"text": line.text, "where": line.where, "lanes": line.lanes} for line in group.statements
                    ],
                    "reads": [str(place) for place in group.example.places_read],
                    "writes": [str(place) for place in group.example.places_written],
                    "can_saturate": group.example.can_saturate,
                }
                for group in alike([form])
            ]
            shown.append(
                {
                    "form": form.name,
                    "extension": form.extension,
                    "description": description(form),
                    "examples": examples,
                }
            )
        print_json("isa-show", shown)
    elif (instruction := instruction_of(name)) is not None:
        print_shown(partial(show_heading, instruction.form))
        print_shown(partial(show_instruction, instruction, statements(instruction)))
    else:
        print_shown(partial(show_mnemonics, forms))


def verify(
    name: str,
    seed: int,
    vectors: int,
    jobs: int,
    as_json: bool,
) -> None:
    """Do what `lanewise isa verify` says: its options are those of `sim.command.signatures.isa`."""
    forms = tuple(form.name for form in forms_to_verify(name))
    table = frozenset(TABLE.named)
    space_rows = () if name else tuple(rows(space()))
    results: list[FormResult] = []
    with progress_bar() as progress:
        task = progress.add_task("forms", total=len(forms))

        def finished(result: FormResult) -> None:
            results.append(result)
            progress.advance(task)
            many = len(results) % _FORMS_A_LINE == 0 or len(results) == len(forms)
            if progress.disable and (many or result.difference):
                done, differing = sum(one.vectors for one in results), sum(bool(one.difference) for one in results)
                counts = f"{done:,} lane vectors, {differing} forms with a difference"
                print_progress(f"{len(results):,} of {len(forms):,} forms: {counts}")

        interrupted = verify_all(forms, seed, vectors, jobs, finished)
    ordered = tuple(sorted(results, key=lambda result: forms.index(result.form)))
    report = Verification(
        asked=forms,
        results=ordered,
        rows=space_rows,
        supported=table,
        seed=seed,
        vectors=vectors,
        name=name,
        interrupted=interrupted,
    )
    if as_json:
        print_json("isa-verify", report.as_json())
    else:
        print_shown(partial(show_verification, report))
    raise typer.Exit(INTERRUPTED if interrupted else 0 if report.passed else MISMATCH)


def forms_to_verify(name: str) -> list[Form]:
    """The forms of that name or mnemonic, else those that match it as a pattern.  Raises UnknownForm."""
    try:
        return forms_called(name) if name else forms_matching("")
    except UnknownForm:
        return forms_matching(name)


def list_intrinsics(
    pattern: str,
    as_json: bool,
) -> None:
    """Do what `lanewise isa intrinsics` says: its options are those of `sim.command.signatures.isa`."""
    found = intrinsics_matching(pattern)
    if as_json:
        print_json(
            "isa-intrinsics",
            [
                {
                    "name": function.name,
                    "result": function.result.c_type,
                    "parameters": [parameter.c_type for parameter in function.parameters],
                    "instructions": [instruction.text for instruction in function.instructions],
                    "extensions": list(function.features),
                }
                for function in found
            ],
        )
    else:
        print_shown(partial(show_intrinsics, found))
