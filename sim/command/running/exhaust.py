"""`lanewise exhaust`: instructions on all values of their lanes."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from isa.catalogue import forms_called, instruction_of
from isa.errors import INTERRUPTED, MISMATCH, MISSING
from sim.processes import processors
from sim.terminal.output import fail, print_json, print_progress, print_text, progress_bar
from sim.toolchain.compilers import cache_directory
from sim.verify.exhaust.exhaust import Exhaustion, words_of
from sim.verify.exhaust.space import NotExhaustible
from sim.view.exhaust import ExhaustionReport, in_words, pace

_SECONDS_A_LINE = 10.0
"""Between lines of progress where stderr is no terminal."""


def exhaust(
    name: Annotated[
        str,
        typer.Argument(help="A mnemonic, a form, or an instruction: 'sqrshrn v0.8b, v1.8h, #3'; registers count not."),
    ],
    jobs: Annotated[int, typer.Option(min=1, help="Processes; default: one for each processor.")] = processors(),
    seed: Annotated[int, typer.Option(min=0, help="Seed of the sample for the exact evaluator.")] = 1,
    anew: Annotated[bool, typer.Option("--anew", help="Compare also what was compared in runs before.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Compare model and emulator on all values of an instruction's lanes: 2^32 pairs of 16 bits, 2^32 of 32 bits.

    A form with an immediate is tried with each. What agreed is kept, so that the same command goes on after Ctrl-C.
    """
    chosen, left_out = _chosen(name)
    try:
        run = Exhaustion(chosen, cache_directory(), seed, anew)
        interrupted = _run(run, jobs)
    except OSError as error:
        fail(f"cannot keep what was compared: {error}; set LANEWISE_CACHE to a folder that can be written", MISSING)
    report = ExhaustionReport(name=name, results=run.results(), left_out=left_out, seed=seed, interrupted=interrupted)
    if as_json:
        print_json(report.as_json())
    else:
        print_text("\n".join(in_words(report)))
    raise typer.Exit(INTERRUPTED if interrupted else 0 if report.passed else MISMATCH)


def _chosen(name: str) -> tuple[list[int], list[str]]:
    """The words to run, and why others of that name are not; of an instruction those with its immediate."""
    words, left_out = list[int](), list[str]()
    wanted = instruction_of(name)
    for form in forms_called(name):
        try:
            words += words_of(form, wanted.pattern.text if wanted else None)
        except NotExhaustible as error:
            left_out.append(str(error))
    if not words:
        fail(left_out[0])
    return words, left_out


def _run(run: Exhaustion, jobs: int) -> bool:
    """Run to the end or to the first difference, with progress; whether it was interrupted."""
    begun, before, said = time.monotonic(), run.done, time.monotonic()
    with progress_bar() as progress:
        task = progress.add_task("", total=run.values, completed=run.done)
        try:
            for done in run.run(jobs):
                line = pace(done - before, run.values - done, time.monotonic() - begun)
                progress.update(task, completed=done, description=line)
                if progress.disable and time.monotonic() - said > _SECONDS_A_LINE:
                    print_progress(f"{done:,} of {run.values:,} values, {line}")
                    said = time.monotonic()
        except KeyboardInterrupt:
            return True
    return False
