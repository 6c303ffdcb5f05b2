"""`lanewise exhaust`: instructions on all values of their lanes, functions on all values of what they take."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Never

import typer

from isa.catalogue import forms_called, instruction_of
from isa.errors import INTERRUPTED, MISMATCH, MISSING
from sim.command.options import optimisation_flag
from sim.terminal.output import fail, print_json, print_progress, print_text, progress_bar
from sim.toolchain.tools import cache_directory
from sim.verify.exhaust.conventions import TwoConventions
from sim.verify.exhaust.exhaust import Exhaustion, words_of
from sim.verify.exhaust.functions import FunctionExhaustion, TwoFunctions
from sim.verify.exhaust.space import NotExhaustible
from sim.verify.exhaust.user_function import UserFunction
from sim.view.exhaust import ExhaustionReport, FunctionsReport, in_words, pace

_SECONDS_A_LINE = 10.0
"""Between lines of progress where stderr is no terminal."""


def exhaust(
    name: str,
    against: str | None,
    given: list[str] | None,
    golden: str | None,
    opt: str | None,
    mode: str | None,
    jobs: int,
    seed: int,
    anew: bool,
    as_json: bool,
) -> None:
    """Do what `lanewise exhaust` says: its options are those of `sim.command.signatures.exhaust`."""
    _require_use({"--against": against}, name, not name.endswith(".py"))
    _require_use({"--with": given}, name, against is not None)
    _require_use({"--golden": golden, "--opt": opt, "--mode": mode}, name, name.endswith(".py"))
    if name.endswith(".py"):
        file, _, function = (golden or "").rpartition(":")
        if golden is not None and not (file and function):
            fail(f"--golden takes FILE.c:FUNCTION, not {golden!r}")
        flags = (optimisation_flag(opt or "O2"),)
        user = UserFunction(Path(name), mode, flags, (Path(file), function) if golden else None)
        _compare(user, jobs, anew, as_json)
    if against is not None:
        try:
            _compare(TwoConventions(name, against, dict(map(_parameter, given or ()))), jobs, anew, as_json)
        except LookupError as error:
            fail(str(error.args[0]))
    chosen, left_out = _chosen(name)
    try:
        run = Exhaustion(chosen, cache_directory(), seed, anew)
        interrupted = _run(run, jobs)
    except OSError as error:
        fail(f"cannot keep what was compared: {error}; set LANEWISE_CACHE to a folder that can be written", MISSING)
    report = ExhaustionReport(name=name, results=run.results(), left_out=left_out, seed=seed, interrupted=interrupted)
    if as_json:
        print_json("exhaust", report.as_json())
    else:
        print_text("\n".join(in_words(report)))
    raise typer.Exit(INTERRUPTED if interrupted else 0 if report.passed else MISMATCH)


def _require_use(options: dict[str, object], name: str, has_use: bool) -> None:
    """Refuse options that say nothing about what is exhausted."""
    if unused := [option for option, value in options.items() if value is not None and not has_use]:
        fail(f"{unused[0]} says nothing about {name}: see lanewise exhaust --help")


def _parameter(text: str) -> tuple[str, float]:
    name, _, number = text.partition("=")
    try:
        return name, float(number)
    except ValueError:
        fail(f"--with takes NAME=NUMBER, not {text!r}")


def _compare(functions: TwoFunctions, jobs: int, anew: bool, as_json: bool) -> Never:
    """Compare two functions on all values, show what came of it, and end the command."""
    try:
        run = FunctionExhaustion(functions, cache_directory(), anew)
        interrupted = _run(run, jobs)
    except OSError as error:
        fail(f"cannot keep what was compared: {error}; set LANEWISE_CACHE to a folder that can be written", MISSING)
    report = FunctionsReport(result=run.result(), interrupted=interrupted)
    if as_json:
        print_json("exhaust-functions", report.as_json())
    else:
        print_text("\n".join(report.in_words()))
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


def _run(run: Exhaustion | FunctionExhaustion, jobs: int) -> bool:
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
