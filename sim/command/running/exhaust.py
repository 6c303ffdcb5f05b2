"""`lanewise exhaust`: instructions on all values of their lanes."""

from __future__ import annotations

import time

import typer

from isa.catalogue import forms_called, instruction_of
from isa.errors import INTERRUPTED, MISMATCH, MISSING
from sim.terminal.output import fail, print_json, print_progress, print_text, progress_bar
from sim.toolchain.compilers import cache_directory
from sim.verify.exhaust.exhaust import Exhaustion, words_of
from sim.verify.exhaust.space import NotExhaustible
from sim.view.exhaust import ExhaustionReport, in_words, pace

_SECONDS_A_LINE = 10.0
"""Between lines of progress where stderr is no terminal."""


def exhaust(
    name: str,
    jobs: int,
    seed: int,
    anew: bool,
    as_json: bool,
) -> None:
    """Do what `lanewise exhaust` says: its options are those of `sim.command.signatures.exhaust`."""
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
