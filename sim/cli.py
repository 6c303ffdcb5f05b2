"""The `lanewise` command.

Results go to stdout, progress to stderr.  Exit codes: 0 all agree, 1 a mismatch, 2 wrong usage, 3 something is
missing from the environment, 130 interrupted.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import entry_points
from typing import Annotated, NoReturn, TextIO

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from sim.check.check import LEVELS, Job, check_job, jobs_of
from sim.check.report import Outcome, Report
from sim.check.vectors import MAX_SETS, Vectors, make_vectors
from sim.kernels.kernel import Kernel, KernelError, built_in_kernel, kernel_names
from sim.toolchain import ToolchainUnavailable, compiler_version, fixed_flags
from sim.view.report import show_report

MISMATCH, USAGE, MISSING, INTERRUPTED = 1, 2, 3, 130
MAX_LANES = 10_000_000
"""Random ones that --vectors takes; so many already run for hours."""

app = typer.Typer(
    help="Simulate and verify quantized kernels on NEON-style 128-bit lanes.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
_stderr = Console(stderr=True)


@app.callback()
def lanewise() -> None:
    """Simulate and verify quantized kernels on NEON-style 128-bit lanes."""


@app.command()
def check(
    kernel: Annotated[str, typer.Argument(help=f"The kernel: {', '.join(kernel_names())}.")],
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random vectors.")] = 1,
    vectors: Annotated[int, typer.Option(min=0, help="Random output lanes, after the corner cases.")] = 2000,
    opt: Annotated[str, typer.Option(help="Optimisation levels, separated by commas.")] = ",".join(LEVELS),
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Compile a kernel at every level and compare it, lane by lane, with its golden reference.

    Each build runs on the lane machine and in the emulator, instruction by instruction in lockstep; the kernel's
    program of intrinsics runs on the lane machine.  Corner cases come first, then seeded random vectors.
    """
    chosen, levels = _kernel(kernel), _levels(opt)
    made = _vectors(chosen, vectors, seed)
    reproduce = shlex.join(
        ["lanewise", "check", kernel, "--seed", str(seed), "--vectors", str(vectors), "--opt", ",".join(levels)]
    )
    try:
        compiler = compiler_version()
        outcomes, stopped = _run_jobs(chosen, jobs_of(chosen, levels), made)
    except ToolchainUnavailable as unavailable:
        _fail(str(unavailable), MISSING)
    report = Report(kernel, compiler, seed, outcomes, reproduce, stopped, fixed_flags(*chosen.sources))
    with _writing_to(sys.stdout):
        text = json.dumps(report.as_json(), indent=2) + "\n" if as_json else _as_table(report)
        typer.echo(text, nl=False, color=True)
    raise typer.Exit(INTERRUPTED if report.interrupted else 0 if report.passed else MISMATCH)


def _kernel(name: str) -> Kernel:
    try:
        return built_in_kernel(name)
    except KernelError as error:
        _fail(str(error), USAGE)


def _vectors(kernel: Kernel, random_lanes: int, seed: int) -> Vectors:
    """The vectors, refused where they are too many, in lanes or in input sets."""
    if random_lanes > MAX_LANES:
        _fail(f"--vectors takes at most {MAX_LANES:,} lanes, not {random_lanes:,}", USAGE)
    made = make_vectors(kernel, random_lanes, seed)
    if random_lanes and len(made.inputs) >= MAX_SETS:
        _fail(f"--vectors {random_lanes:,} needs more than the {MAX_SETS:,} input sets of a check: give fewer", USAGE)
    return made


def _levels(text: str) -> list[str]:
    levels = [level.strip().removeprefix("-") for level in text.split(",") if level.strip()]
    unknown = [level for level in levels if level not in LEVELS]
    if unknown or not levels:
        _fail(f"--opt takes some of {','.join(LEVELS)}, not {text!r}", USAGE)
    return list(dict.fromkeys(levels))


def _fail(message: str, code: int) -> NoReturn:
    _stderr.print(f"lanewise: {message}", style="red", highlight=False, soft_wrap=True, markup=False)
    raise typer.Exit(code)


def _as_table(report: Report) -> str:
    """The table as this terminal shows it, with its colours."""
    console = Console()
    with console.capture() as captured:
        show_report(report, console)
    return captured.get()


@contextmanager
def _writing_to(stream: TextIO) -> Iterator[None]:
    """A reader that closed the pipe has read enough: the rest is dropped.  Any other fault ends the command."""
    try:
        yield
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # so that the flush at exit does not fail again
        if not isinstance(error, BrokenPipeError):
            _fail(f"cannot write the report: {error.strerror}", MISSING)


def _run_jobs(kernel: Kernel, jobs: Sequence[Job], vectors: Vectors) -> tuple[list[Outcome], bool]:
    """The outcomes in order; an interrupt keeps those that are finished.

    Progress is a bar where stderr is a terminal, else a line for every finished job.
    """
    outcomes: list[Outcome] = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    bar = _stderr.is_interactive and sys.stderr.isatty()
    with Progress(*columns, console=_stderr, transient=True, disable=not bar) as progress:
        task = progress.add_task("", total=len(jobs) * len(vectors.inputs))
        try:
            for number, job in enumerate(jobs):
                progress.update(task, description=" ".join((job.name, *job.flags)))
                outcomes.append(check_job(kernel, job, vectors, lambda count: progress.advance(task, count)))
                progress.update(task, completed=(number + 1) * len(vectors.inputs))
                if not bar:
                    with _writing_to(sys.stderr):
                        typer.echo(_line(outcomes[-1]), err=True)
                if outcomes[-1].interrupted:
                    break
        except KeyboardInterrupt:
            return outcomes, True
    return outcomes, False


def _line(outcome: Outcome) -> str:
    return f"{outcome.title}: {outcome.lanes_compared:,} lanes, {outcome.verdict}"


def main() -> None:
    """Run the command, with the subcommands of other installed packages (entry points `lanewise.commands`)."""
    for entry in entry_points(group="lanewise.commands"):
        app.add_typer(entry.load(), name=entry.name)
    app()
