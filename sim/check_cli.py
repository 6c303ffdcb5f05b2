"""`lanewise check`: a kernel at every optimisation level against its golden reference."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, cast, get_args

import typer

from sim.check.call import MAX_INSTRUCTIONS, Engine
from sim.check.check import LEVELS, Advance, Job, check_job, jobs_of
from sim.check.handed_in import HandedIn, ImplementationMissing, NotMadeFor, check_handed_in, handed_in
from sim.check.operand_classes import operand_classes
from sim.check.report import Outcome, Report
from sim.check.separation import Separation, separation_of
from sim.check.shrink import shrink
from sim.check.shrink_handed_in import shrink_handed_in
from sim.check.vectors import MAX_SETS, Vectors, make_vectors
from sim.compile_options import compile_flags
from sim.function_types import require_fit
from sim.image import ImageError
from sim.kernels.kernel import Kernel, KernelError, built_in_kernel, kernel_names
from sim.kernels.kernel_file import load_kernel
from sim.objects import open_image
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
    write_file,
)
from sim.toolchain import ToolchainError, ToolchainUnavailable, compiler_version, fixed_flags, is_source
from sim.view.junit import junit
from sim.view.report import show_report

MAX_LANES = 10_000_000
"""Random ones that --vectors takes; so many already run for hours."""
_Check = Callable[[Advance], Outcome]
_USUAL = (("engine", "lockstep"), ("limit", MAX_INSTRUCTIONS))


def check(
    kernel: Annotated[
        str, typer.Argument(help=f"A kernel, one of {', '.join(kernel_names())}, or the path of a kernel file (.py).")
    ],
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random vectors.")] = 1,
    vectors: Annotated[int, typer.Option(min=0, help="Random output lanes, after the corner cases.")] = 2000,
    opt: Annotated[str, typer.Option(help="Optimisation levels, separated by commas.")] = ",".join(LEVELS),
    mode: Annotated[str | None, typer.Option(help="Which of the kernel's arithmetics; default: the first.")] = None,
    engine: Annotated[str, typer.Option(help="lockstep, or machine: without the emulator, some 20 times faster.")] = (
        "lockstep"
    ),
    limit: Annotated[int, typer.Option(min=1, help="Instructions that one call may take.")] = MAX_INSTRUCTIONS,
    object_file: Annotated[
        Path | None, typer.Option("--object", help="Check this object, library, lib.a(member.o) or linked program.")
    ] = None,
    symbol: Annotated[str | None, typer.Option(help="The function in it; default: the kernel's.")] = None,
    march: Annotated[str | None, typer.Option(help="Compile for it, such as armv8.2-a+dotprod.")] = None,
    cflags: Annotated[str, typer.Option(help="More flags of the compiler, as in a shell.")] = "",
    include: Annotated[
        list[Path] | None, typer.Option(exists=True, file_okay=False, help="A folder of headers; may be repeated.")
    ] = None,
    coverage: Annotated[
        bool, typer.Option("--coverage", help="Say too which operand classes no lane met: minimum, tie, saturated...")
    ] = False,
    rtl: Annotated[bool, typer.Option("--rtl", help="Compare the hardware too, on the same vectors.")] = False,
    lanes: Annotated[int | None, typer.Option(help="Of the hardware: 4, 8 or 16 numbers a beat.")] = None,
    profile: Annotated[str | None, typer.Option(help="Of the hardware: shallow or deep pipeline.")] = None,
    modules: Annotated[
        Path | None,
        typer.Option(help="Of the hardware: a folder of modules of your own in the place of its."),
    ] = None,
    junit_file: Annotated[Path | None, typer.Option("--junit", help="Write the report as JUnit XML too.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Compile a kernel at every level and compare it, lane by lane, with its golden reference.

    Each build runs on the lane machine and in the emulator, instruction by instruction in lockstep; the kernel's
    program of intrinsics runs on the lane machine, the hardware in a simulator.  Corner cases come first, then seeded
    random vectors.  A kernel file is imported, so it runs as your own Python does.
    """
    flags = compile_flags(march, cflags, include or [])
    if junit_file is not None and not junit_file.absolute().parent.is_dir():
        fail(f"--junit cannot write {junit_file}: there is no such folder", USAGE)
    chosen, levels, runner = chosen_kernel(kernel, mode), _levels(opt), _engine(engine)
    if object_file is not None or symbol is not None:
        chosen = _with_object(chosen, object_file, symbol)
    hardware = _hardware(chosen, rtl, {"lanes": lanes, "profile": profile, "modules": modules})
    try:
        made = chosen_vectors(chosen, vectors, seed)
        separation = _separation(chosen, made)
    except KeyboardInterrupt:
        fail("interrupted before anything was compared", INTERRUPTED)
    options = {
        "mode": mode, "seed": seed, "vectors": vectors, "opt": ",".join(levels), "engine": runner,
        "limit": limit, "object": object_file, "symbol": symbol, "march": march, "cflags": cflags or None,
        "lanes": lanes, "profile": profile, "modules": modules,
    }  # fmt: skip
    reproduce = _command(kernel, options, include or []) + (" --rtl" if rtl else "")
    jobs = jobs_of(chosen, levels, flags)
    try:
        compiler = compiler_version()
        _require_a_build(chosen, jobs)
        outcomes, stopped = _run(_checks(chosen, jobs, made, runner, limit, hardware), len(made.inputs))
    except ToolchainUnavailable as unavailable:
        fail(str(unavailable), MISSING)
    common_flags = fixed_flags(*filter(is_source, chosen.sources))
    report = Report(
        chosen.name, compiler, seed, outcomes, reproduce, stopped, common_flags, runner, separation,
        str(chosen.tolerance or ""), mode=chosen.mode,
    )  # fmt: skip
    if coverage:
        report = _with_operand_classes(report, chosen, jobs, made)
    if report.failures and not report.interrupted:
        report = replace(report, shrunk=_shrunk(report, chosen, jobs, made, hardware))
    if junit_file is not None:
        write_file(junit_file, junit(report))
    if as_json:
        print_json(report.as_json())
    else:
        print_shown(partial(show_report, report))
    raise typer.Exit(INTERRUPTED if report.interrupted else 0 if report.passed else MISMATCH)


def chosen_kernel(name: str, mode: str | None) -> Kernel:
    """A built-in kernel, or that of a file where the name is a path."""
    try:
        if Path(name).suffix or os.sep in name:
            return load_kernel(Path(name), mode)
        return built_in_kernel(name, mode)
    except KernelError as error:
        fail(str(error), USAGE)


def _hardware(kernel: Kernel, wanted: bool, options: Mapping[str, object]) -> HandedIn | None:
    """The hardware of the kernel, built, if it is wanted."""
    given = {name: str(value) for name, value in options.items() if value is not None}
    if given and not wanted:
        fail(f"--{next(iter(given))} is about the hardware: give --rtl too", USAGE)
    try:
        return handed_in("rtl", kernel, given) if wanted else None
    except NotMadeFor as unfit:
        fail(str(unfit), USAGE)
    except ImplementationMissing as missing:
        fail(str(missing), MISSING)
    except KeyboardInterrupt:
        fail("interrupted before anything was compared", INTERRUPTED)


def _require_a_build(kernel: Kernel, jobs: Sequence[Job]) -> None:
    """Ends the command where the first build cannot be made: that is a fault of what was given, no result."""
    try:
        for source, flags in jobs[:1]:
            if source is not None:
                require_fit(open_image(source, kernel.symbol, *flags), kernel.symbol, kernel.signature)
    except ToolchainUnavailable:
        raise
    except (ImageError, ToolchainError) as error:
        fail(str(error), USAGE)


def _with_operand_classes(report: Report, kernel: Kernel, jobs: Sequence[Job], vectors: Vectors) -> Report:
    """With the operand classes of the builds that agree; an interrupt leaves the others without them."""
    outcomes = list(report.outcomes)
    try:
        for number, (job, outcome) in enumerate(zip(jobs, outcomes, strict=False)):
            if job.source is not None and outcome.coverage is not None and not outcome.failure:
                classes = operand_classes(open_image(job.source, kernel.symbol, *job.flags), kernel, vectors)
                outcomes[number] = replace(outcome, coverage=replace(outcome.coverage, classes=classes))
    except KeyboardInterrupt:
        return replace(report, outcomes=outcomes, stopped=True)
    return replace(report, outcomes=outcomes)


def _shrunk(report: Report, kernel: Kernel, jobs: Sequence[Job], vectors: Vectors, hardware: HandedIn | None) -> str:
    """The first failing input set made small; an interrupt leaves it as it is."""
    number = next(i for i, outcome in enumerate(report.outcomes) if outcome.failure)
    outcome = report.outcomes[number]
    if outcome.failed_set is None:
        return ""
    try:
        if outcome.made_as and hardware is not None:
            small = shrink_handed_in(kernel, hardware, vectors, outcome.failed_set)
            return f"{small.told(outcome)}\n  {hardware.show(small.inputs)}".rstrip()
        return shrink(kernel, jobs[number], vectors, outcome.failed_set, report.engine).told(outcome)
    except KeyboardInterrupt:
        return f"not shrunk, as it was interrupted: input set {outcome.failed_set}"


def _with_object(kernel: Kernel, file: Path | None, symbol: str | None) -> Kernel:
    """The kernel with other code: only that is checked, not its program of intrinsics."""
    sources = kernel.sources if file is None else (file,)
    return replace(kernel, sources=sources, symbol=symbol or kernel.symbol, program=None)


def _command(kernel: str, options: Mapping[str, object], include: Sequence[Path]) -> str:
    """The command that does it again."""
    given = {name: value for name, value in options.items() if value is not None and (name, value) not in _USUAL}
    parts = [part for name, value in given.items() for part in (f"--{name}", str(value))]
    folders = [part for folder in include for part in ("--include", str(folder))]
    return shlex.join(["lanewise", "check", kernel, *parts, *folders])


def _engine(text: str) -> Engine:
    if text not in get_args(Engine):
        fail(f"--engine takes one of {', '.join(get_args(Engine))}, not {text!r}", USAGE)
    return cast(Engine, text)


def chosen_vectors(kernel: Kernel, random_lanes: int, seed: int) -> Vectors:
    """The vectors, refused where they are too many, in lanes or in input sets."""
    if random_lanes > MAX_LANES:
        fail(f"--vectors takes at most {MAX_LANES:,} lanes, not {random_lanes:,}", USAGE)
    try:
        made = make_vectors(kernel, random_lanes, seed)
    except KernelError as error:
        fail(str(error), USAGE)
    if random_lanes and len(made.inputs) >= MAX_SETS:
        fail(f"--vectors {random_lanes:,} needs more than the {MAX_SETS:,} input sets of a check: give fewer", USAGE)
    return made


def _separation(kernel: Kernel, vectors: Vectors) -> Separation:
    """What the vectors tell apart; a user's convention may fail."""
    try:
        return separation_of(kernel, vectors)
    except KernelError as error:
        fail(str(error), USAGE)


def _levels(text: str) -> list[str]:
    levels = [level.strip().removeprefix("-") for level in text.split(",") if level.strip()]
    unknown = [level for level in levels if level not in LEVELS]
    if unknown or not levels:
        fail(f"--opt takes some of {','.join(LEVELS)}, not {text!r}", USAGE)
    return list(dict.fromkeys(levels))


def _checks(
    kernel: Kernel, jobs: Sequence[Job], vectors: Vectors, engine: Engine, limit: int, hardware: HandedIn | None
) -> list[tuple[str, _Check]]:
    """By title what there is to check, in order: every job, then the hardware."""
    checks: list[tuple[str, _Check]] = [
        (" ".join((job.name, *job.flags)),
         partial(check_job, kernel, job, vectors, engine=engine, max_instructions=limit))
        for job in jobs
    ]  # fmt: skip
    if hardware is not None:
        checks.append((hardware.name, lambda _: check_handed_in(kernel, hardware, vectors)))
    return checks


def _run(checks: Sequence[tuple[str, _Check]], sets: int) -> tuple[list[Outcome], bool]:
    """The outcomes in order, each of so many input sets; an interrupt keeps those that are finished.

    Progress is a bar where stderr is a terminal, else a line for every finished check.
    """
    outcomes: list[Outcome] = []
    with progress_bar() as progress:
        task = progress.add_task("", total=len(checks) * sets)
        try:
            for number, (title, check_one) in enumerate(checks):
                progress.update(task, description=title)
                outcomes.append(check_one(partial(progress.advance, task)))
                progress.update(task, completed=(number + 1) * sets)
                if progress.disable:
                    print_progress(_line(outcomes[-1]))
                if outcomes[-1].interrupted:
                    break
        except KeyboardInterrupt:
            return outcomes, True
    return outcomes, False


def _line(outcome: Outcome) -> str:
    return f"{outcome.title}: {outcome.lanes_compared:,} lanes, {outcome.verdict}"
