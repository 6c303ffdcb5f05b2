"""`lanewise replay`: captured calls run again and compared with what was recorded."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import get_args

import typer

from isa.errors import INTERRUPTED, MISMATCH, USAGE
from sim.call.captured import Bytes, read_line, read_lines
from sim.call.needs import lacking, processors_named
from sim.check.recorded import UNKNOWN_KERNEL, explain_calls, first_wrong
from sim.command.options import chosen_kernel, tell_lacking
from sim.replay.engines import Engine
from sim.replay.many import replay_lines
from sim.replay.report import ReplayReport
from sim.replay.run import Replayed
from sim.terminal.output import fail, print_json, print_progress, print_shown, progress_bar, require_one_of
from sim.view.replay import show_replay
from sim.view.sentences import counted

_EXPLAINED = 100
"""Calls that are explained, together, at most: failing ones, or all where none fails."""


def replay_calls(
    file: Path,
    engine: str,
    limit: int,
    line: int | None,
    kernel: str | None,
    mode: str | None,
    core: str | None,
    jobs: int,
    as_json: bool,
) -> None:
    """Do what `lanewise replay` says: its options are those of `sim.command.signatures.replay`."""
    chosen: Engine = require_one_of("--engine", engine, get_args(Engine))
    cores = processors_named(core)
    if cores and engine == "emulator":
        fail("--core needs the machine, which knows what instructions need: give another --engine", USAGE)
    chosen_one = chosen_kernel(kernel, mode) if kernel is not None else None
    lines = [item for item in read_lines(file) if line in (None, item[0])]
    Bytes(file.with_suffix(".npz"))
    if line is not None and not lines:
        fail(f"{file} has no call on line {line}", USAGE)
    results, interrupted = list[Replayed](), False
    with progress_bar() as progress:
        task = progress.add_task("calls", total=len(lines))
        try:
            for some in replay_lines(file, lines, chosen, limit, jobs):
                results.extend(some)
                progress.advance(task, len(some))
                if progress.disable and len(results) * 10 // len(lines) > (len(results) - len(some)) * 10 // len(lines):
                    failed = sum(result.kind != "passed" for result in results)
                    print_progress(f"{len(results):,} of {len(lines):,} calls, {failed:,} failed")
        except KeyboardInterrupt:
            interrupted = True
    results.sort(key=lambda result: result.line)
    failing = [result.line for result in results if result.kind == "output mismatch"][:_EXPLAINED]
    passed = [result.line for result in results if result.kind == "passed"]
    asked, as_recorded = failing, ""
    if not failing and chosen_one is not None:
        asked = passed[:_EXPLAINED]
        among = f"the first {len(asked)} of " if len(passed) > len(asked) else ""
        as_recorded = f"{among}{counted(len(passed), 'call')} that came out as recorded"
    explanation, wrong = [UNKNOWN_KERNEL] if asked and not interrupted else [], None
    if explanation and chosen_one is not None:
        data = Bytes(file.with_suffix(".npz"))
        calls = [call for item in lines if item[0] in asked and (call := read_line(*item, data).call) is not None]
        explanation = explain_calls(chosen_one, calls, limit, as_recorded)
        wrong = first_wrong(chosen_one, calls, limit) if as_recorded else None
    report = ReplayReport(
        file=str(file), engine=chosen, limit=limit, results=results, interrupted=interrupted, explanation=explanation,
        kernel=kernel, mode=mode, wrong=wrong,
    )  # fmt: skip
    lacked = lacking((need for result in report.results for need in result.needs), cores)
    if as_json:
        print_json("replay", {**report.as_json(), **({"lacking": list(map(str, lacked))} if cores else {})})
    else:
        print_shown(partial(show_replay, report))
    if not report.passed:
        raise typer.Exit(INTERRUPTED if interrupted else MISMATCH)
    tell_lacking(lacked, quiet=as_json)
