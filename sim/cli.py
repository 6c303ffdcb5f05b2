"""The `lanewise` command.

Results go to stdout, progress to stderr.  Exit codes: 0 all agree, 1 a mismatch, 2 wrong usage, 3 something is
missing from the environment, 130 interrupted.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from importlib.metadata import entry_points
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from sim.check.check import LEVELS, Job, check_job, jobs_of
from sim.check.report import Outcome, Report
from sim.check.vectors import Vectors, make_vectors
from sim.kernels.kernel import Kernel, KernelError, built_in_kernel, kernel_names
from sim.toolchain import ToolMissing, compiler_version
from sim.view.report import show_report

MISMATCH, USAGE, MISSING, INTERRUPTED = 1, 2, 3, 130

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
    made = make_vectors(chosen, vectors, seed)
    reproduce = shlex.join(
        ["lanewise", "check", kernel, "--seed", str(seed), "--vectors", str(vectors), "--opt", ",".join(levels)]
    )
    try:
        compiler = compiler_version()
        outcomes, stopped = _run_jobs(chosen, jobs_of(chosen, levels), made)
    except ToolMissing as missing:
        _fail(str(missing), MISSING)
    report = Report(kernel, compiler, seed, outcomes, reproduce, stopped)
    if as_json:
        typer.echo(json.dumps(report.as_json(), indent=2))
    else:
        show_report(report, Console())
    raise typer.Exit(INTERRUPTED if report.interrupted else 0 if report.passed else MISMATCH)


def _kernel(name: str) -> Kernel:
    try:
        return built_in_kernel(name)
    except KernelError as error:
        _fail(str(error), USAGE)


def _levels(text: str) -> list[str]:
    levels = [level.strip().removeprefix("-") for level in text.split(",") if level.strip()]
    unknown = [level for level in levels if level not in LEVELS]
    if unknown or not levels:
        _fail(f"--opt takes some of {','.join(LEVELS)}, not {text!r}", USAGE)
    return list(dict.fromkeys(levels))


def _fail(message: str, code: int) -> NoReturn:
    _stderr.print(f"lanewise: {message}", style="red", highlight=False, soft_wrap=True, markup=False)
    raise typer.Exit(code)


def _run_jobs(kernel: Kernel, jobs: Sequence[Job], vectors: Vectors) -> tuple[list[Outcome], bool]:
    """The outcomes in order; an interrupt keeps those that are finished."""
    outcomes: list[Outcome] = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=_stderr, transient=True) as progress:
        task = progress.add_task("", total=len(jobs) * len(vectors.inputs))
        try:
            for number, job in enumerate(jobs):
                progress.update(task, description=" ".join((job.name, *job.flags)))
                outcomes.append(check_job(kernel, job, vectors, lambda count: progress.advance(task, count)))
                progress.update(task, completed=(number + 1) * len(vectors.inputs))
                if outcomes[-1].interrupted:
                    break
        except KeyboardInterrupt:
            return outcomes, True
    return outcomes, False


def main() -> None:
    """Run the command, with the subcommands of other installed packages (entry points `lanewise.commands`)."""
    for entry in entry_points(group="lanewise.commands"):
        app.add_typer(entry.load(), name=entry.name)
    app()
