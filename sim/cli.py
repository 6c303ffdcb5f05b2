"""The `lanewise` command.

Results go to stdout, progress to stderr.  Exit codes: 0 all agree, 1 a mismatch, 2 wrong usage, 3 something is
missing from the environment, 130 interrupted.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import partial
from importlib.metadata import entry_points
from typing import Annotated, cast, get_args

import typer

from sim.check.call import Engine
from sim.check.check import LEVELS, Job, check_job, jobs_of
from sim.check.report import Outcome, Report
from sim.check.vectors import MAX_SETS, Vectors, make_vectors
from sim.isa_cli import isa
from sim.kernels.kernel import Kernel, KernelError, built_in_kernel, kernel_names
from sim.prove_cli import prove
from sim.replay_cli import replay_calls
from sim.terminal import (
    INTERRUPTED,
    MISMATCH,
    MISSING,
    USAGE,
    fail,
    print_json,
    print_progress,
    print_shown,
    progress_bar,
)
from sim.toolchain import ToolchainUnavailable, compiler_version, fixed_flags
from sim.view.report import show_report

MAX_LANES = 10_000_000
"""Random ones that --vectors takes; so many already run for hours."""

app = typer.Typer(
    help="Simulate and verify quantized kernels on NEON-style 128-bit lanes.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def lanewise() -> None:
    """Simulate and verify quantized kernels on NEON-style 128-bit lanes."""


@app.command()
def check(
    kernel: Annotated[str, typer.Argument(help=f"The kernel: {', '.join(kernel_names())}.")],
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random vectors.")] = 1,
    vectors: Annotated[int, typer.Option(min=0, help="Random output lanes, after the corner cases.")] = 2000,
    opt: Annotated[str, typer.Option(help="Optimisation levels, separated by commas.")] = ",".join(LEVELS),
    mode: Annotated[str | None, typer.Option(help="Which of the kernel's arithmetics; default: the first.")] = None,
    engine: Annotated[str, typer.Option(help="lockstep, or machine: without the emulator, some 20 times faster.")] = (
        "lockstep"
    ),
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Compile a kernel at every level and compare it, lane by lane, with its golden reference.

    Each build runs on the lane machine and in the emulator, instruction by instruction in lockstep; the kernel's
    program of intrinsics runs on the lane machine.  Corner cases come first, then seeded random vectors.
    """
    chosen, levels, runner = _kernel(kernel, mode), _levels(opt), _engine(engine)
    made = _vectors(chosen, vectors, seed)
    options = {"mode": mode, "seed": seed, "vectors": vectors, "opt": ",".join(levels)}
    if runner != "lockstep":
        options["engine"] = runner
    given = [part for name, value in options.items() if value is not None for part in (f"--{name}", str(value))]
    reproduce = shlex.join(["lanewise", "check", kernel, *given])
    try:
        compiler = compiler_version()
        outcomes, stopped = _run_jobs(chosen, jobs_of(chosen, levels), made, runner)
    except ToolchainUnavailable as unavailable:
        fail(str(unavailable), MISSING)
    report = Report(chosen.title, compiler, seed, outcomes, reproduce, stopped, fixed_flags(*chosen.sources))
    if as_json:
        print_json(report.as_json())
    else:
        print_shown(partial(show_report, report))
    raise typer.Exit(INTERRUPTED if report.interrupted else 0 if report.passed else MISMATCH)


def _kernel(name: str, mode: str | None) -> Kernel:
    try:
        return built_in_kernel(name, mode)
    except KernelError as error:
        fail(str(error), USAGE)


def _engine(text: str) -> Engine:
    if text not in get_args(Engine):
        fail(f"--engine takes one of {', '.join(get_args(Engine))}, not {text!r}", USAGE)
    return cast(Engine, text)


def _vectors(kernel: Kernel, random_lanes: int, seed: int) -> Vectors:
    """The vectors, refused where they are too many, in lanes or in input sets."""
    if random_lanes > MAX_LANES:
        fail(f"--vectors takes at most {MAX_LANES:,} lanes, not {random_lanes:,}", USAGE)
    made = make_vectors(kernel, random_lanes, seed)
    if random_lanes and len(made.inputs) >= MAX_SETS:
        fail(f"--vectors {random_lanes:,} needs more than the {MAX_SETS:,} input sets of a check: give fewer", USAGE)
    return made


def _levels(text: str) -> list[str]:
    levels = [level.strip().removeprefix("-") for level in text.split(",") if level.strip()]
    unknown = [level for level in levels if level not in LEVELS]
    if unknown or not levels:
        fail(f"--opt takes some of {','.join(LEVELS)}, not {text!r}", USAGE)
    return list(dict.fromkeys(levels))


def _run_jobs(kernel: Kernel, jobs: Sequence[Job], vectors: Vectors, engine: Engine) -> tuple[list[Outcome], bool]:
    """The outcomes in order; an interrupt keeps those that are finished.

    Progress is a bar where stderr is a terminal, else a line for every finished job.
    """
    outcomes: list[Outcome] = []
    with progress_bar() as progress:
        task = progress.add_task("", total=len(jobs) * len(vectors.inputs))
        try:
            for number, job in enumerate(jobs):
                progress.update(task, description=" ".join((job.name, *job.flags)))
                outcomes.append(check_job(kernel, job, vectors, partial(progress.advance, task), engine=engine))
                progress.update(task, completed=(number + 1) * len(vectors.inputs))
                if progress.disable:
                    print_progress(_line(outcomes[-1]))
                if outcomes[-1].interrupted:
                    break
        except KeyboardInterrupt:
            return outcomes, True
    return outcomes, False


def _line(outcome: Outcome) -> str:
    return f"{outcome.title}: {outcome.lanes_compared:,} lanes, {outcome.verdict}"


app.command("replay")(replay_calls)
app.command("prove")(prove)
app.add_typer(isa, name="isa")


def main() -> None:
    """Run the command, with the subcommands of other installed packages (entry points `lanewise.commands`)."""
    for entry in entry_points(group="lanewise.commands"):
        app.add_typer(entry.load(), name=entry.name)
    app()
