"""`lanewise check`: a kernel at every optimisation level against its golden reference."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeVar, get_args

import typer

from isa.errors import INTERRUPTED, MISMATCH, MISSING, USAGE, LanewiseError
from sim.call.call import MAX_INSTRUCTIONS, Engine
from sim.call.kernel_image import Build, open_kernel
from sim.call.needs import lacking, processors_named
from sim.check.aim.aiming import Aimed
from sim.check.aim.kept import aimed_or_kept
from sim.check.aim.power import Power
from sim.check.amounts import SHORT_LANES
from sim.check.check import Advance, Job, JobRun, begin_job, finish_job, jobs_of
from sim.check.external import ExternalBackend, check_external_backend, load_backends
from sim.check.operand_classes import collect_operand_classes
from sim.check.repair.fault import FAULT_PLACE
from sim.check.repair.place import with_faults
from sim.check.report import Outcome, Report
from sim.check.separation import Separation, separation_of
from sim.check.vectors import Vectors
from sim.command.again import option_words
from sim.command.options import (
    chosen_kernel,
    chosen_vectors,
    compile_flags,
    held_numbers,
    optimisation_levels,
    tell_lacking,
)
from sim.kernels.kernel import Kernel
from sim.meanwhile import spread_meanwhile
from sim.processes import LostProcess
from sim.shrink.external import shrink_external_backend
from sim.shrink.failing import shrink
from sim.terminal.output import (
    fail,
    print_json,
    print_progress,
    print_shown,
    progress_bar,
    require_one_of,
    write_file,
)
from sim.terminal.writable import require_writable
from sim.toolchain.compilers import fixed_flags, is_source
from sim.toolchain.dwarf.function_types import require_fit
from sim.toolchain.objects import compilers_of
from sim.toolchain.shell import typed
from sim.toolchain.tools import has_new_cache
from sim.view.junit import render_junit
from sim.view.report import show_report

_QUESTIONS = 3
"""Commands that a weak check prints at most."""
_USUAL = (("engine", "lockstep"), ("limit", MAX_INSTRUCTIONS))


def check(
    kernel: str,
    seed: int,
    vectors: int | None,
    opt: str,
    mode: str | None,
    hold: list[str] | None,
    engine: str,
    limit: int,
    files: list[Path] | None,
    symbol: str | None,
    compile_with: str | None,
    march: str | None,
    cflags: str,
    include: list[Path] | None,
    beside: list[Path] | None,
    constructors: bool,
    coverage: bool,
    rtl: bool,
    lanes: int | None,
    profile: str | None,
    modules: Path | None,
    core: str | None,
    processes: int,
    strict: bool,
    junit_file: Path | None,
    as_json: bool,
) -> None:
    """Do what `lanewise check` says: its options are those of `sim.command.signatures.check`."""
    flags = compile_flags(march, cflags, include)
    cores = processors_named(core)
    require_writable("--junit", junit_file)
    chosen = chosen_kernel(kernel, mode).held(held_numbers(hold))
    levels = optimisation_levels(opt)
    runner: Engine = require_one_of("--engine", engine, get_args(Engine))
    chosen = Build(
        files=files or (), compile_with=compile_with, symbol=symbol, beside=beside or (),
        constructors=constructors,
    ).of(chosen)  # fmt: skip
    compiler = compilers_of(chosen.sources)  # before what takes long
    of_hardware = {"lanes": lanes, "profile": profile, "modules": modules}
    given = {name: str(value) for name, value in of_hardware.items() if value is not None}
    if given and not rtl:
        fail(f"--{next(iter(given))} is about the hardware: give --rtl too", USAGE)
    if any(map(is_source, chosen.sources)) and progress_bar().disable and has_new_cache():
        print_progress("nothing was compiled here before: the first builds take longest")
    try:
        with progress_bar() as progress:
            progress.add_task("building the hardware's simulator", total=None, visible=rtl)
            hardware = load_backends("rtl", chosen, given) if rtl else []
        jobs = jobs_of(chosen, levels, flags)
        made = chosen_vectors(chosen, SHORT_LANES if rtl and vectors is None else vectors, seed)
    except KeyboardInterrupt:
        fail("interrupted before anything was compared", INTERRUPTED)
    compiled_at = ",".join(levels) if any(map(is_source, chosen.sources)) else None
    options: dict[str, object] = {
        "mode": mode, "seed": seed, "vectors": made.random_lanes, "opt": compiled_at, "engine": runner,
        "limit": limit, "object": files, "compile": compile_with, "symbol": symbol, "march": march,
        "cflags": cflags or None, "core": core, **of_hardware, "hold": hold, "include": include, "with": beside,
    }  # fmt: skip
    switches = {"strict": strict, "constructors": constructors, "rtl": rtl}
    reproduce = typed(["lanewise", "check", kernel, *_words({**options, **switches})])
    for job in jobs[:1]:
        if job.source is not None:  # what cannot be built or called is a fault of what was given, no result
            require_fit(open_kernel(chosen, job.source, *job.flags), chosen.symbol, chosen.signature)
    jobs, outcomes, stopped, hindrance, about = _run(kernel, chosen, jobs, made, runner, limit, hardware, processes)
    made = about.vectors
    if not stopped and not hindrance:
        outcomes = with_faults(chosen, jobs, made, outcomes)
    common_flags = fixed_flags(*filter(is_source, chosen.sources))
    report = Report(
        kernel=chosen.name, compiler=compiler, seed=seed, outcomes=outcomes, reproduce=reproduce, stopped=stopped,
        hindrance=hindrance,
        common_flags=common_flags, engine=runner, separation=about.separation,
        tolerance=str(chosen.tolerance or ""), mode=chosen.mode, power=about.power,
    )  # fmt: skip
    if report.weak and not (hold or beside or constructors):
        report = replace(report, questions=_questions(about.power, jobs, kernel, options))
    if coverage and not hindrance:
        report = _with_operand_classes(report, chosen, jobs, made)
    if report.failures and not report.interrupted and not hindrance:
        report = _shrunk(report, chosen, jobs, made, limit, hardware)
        of_call = {
            name: value for name, value in options.items() if name not in ("opt", "engine", "core", *of_hardware)
        }
        report = replace(report, debug=_debugging(report, kernel, chosen, {**of_call, "constructors": constructors}))
    lacked = lacking((need for outcome in report.outcomes for need in outcome.needs), cores)
    if as_json:
        print_json("check", {**report.as_json(), **({"lacking": list(map(str, lacked))} if cores else {})})
    else:
        print_shown(partial(show_report, report))
    if junit_file is not None:
        write_file(junit_file, render_junit(report))
    if not report.passed:
        raise typer.Exit(INTERRUPTED if report.interrupted else MISSING if hindrance else MISMATCH)
    if strict and report.weak:
        raise typer.Exit(MISMATCH)
    tell_lacking(lacked, quiet=as_json)


class _Stopped(NamedTuple):
    """What ended a check before all was compared: in words, and the exit code of an error."""

    reason: str
    exit_code: int


class _Made(NamedTuple):
    """All vectors of a check, what is known of those that are aimed, and what tells the kernel from others."""

    vectors: Vectors
    power: Power
    separation: Separation


class _Done(NamedTuple):
    """What was compared: the jobs, the outcomes of these, then of the hardware; whether that was interrupted, or why
    it ended early.
    """

    jobs: list[Job]
    outcomes: list[Outcome]
    is_stopped: bool
    hindrance: str
    made: _Made


_Checked = tuple[int, Outcome | _Stopped]
"""Of a job by its number."""
_Begun = tuple[int, JobRun | Outcome | _Stopped]
Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
class _Work:
    """Checks jobs by their numbers, or hardware, whose numbers follow, on vectors, and on those that are aimed."""

    name: str
    kernel: Kernel
    jobs: Sequence[Job]
    vectors: Vectors
    engine: Engine
    limit: int
    hardware: Sequence[ExternalBackend]
    advance: Advance

    def aim(self) -> Aimed | _Stopped:
        """What is aimed at the builds, or why nothing can be."""
        try:
            return aimed_or_kept(self.name, self.kernel, self.jobs, self.vectors)
        except LanewiseError as error:
            return _Stopped(str(error), error.exit_code)

    def begin(self, number: int) -> _Begun:
        """A job on the vectors, with its number."""
        return number, _told(
            lambda: begin_job(
                self.kernel, self.jobs[number], self.vectors, self.advance, engine=self.engine,
                max_instructions=self.limit,
            )
        )  # fmt: skip

    def finish(self, begun: _Begun, aimed: Aimed | _Stopped) -> _Checked:
        """What came of it on all vectors."""
        number, run = begun
        if isinstance(run, _Stopped):
            return number, run
        if isinstance(aimed, _Stopped):
            return number, aimed
        return number, _told(lambda: finish_job(run, aimed.added_to(self.vectors), self.advance))

    def of_hardware(self, vectors: Vectors) -> Iterator[_Checked]:
        """What comes of the hardware, whose simulators are of this process."""
        for number, backend in enumerate(self.hardware, len(self.jobs)):
            yield number, _told(partial(check_external_backend, self.kernel, backend, vectors))

    def by_cost(self) -> list[int]:
        """The jobs that take longest first: what takes long at the end is waited for by all but one process."""
        return sorted(
            range(len(self.jobs)), key=lambda at: (self.jobs[at].source is not None, "-O0" not in self.jobs[at].flags)
        )


def _told(work: Callable[[], Result]) -> Result | _Stopped:
    """What `work` returns; errors as text, which goes from one process to another."""
    try:
        return work()
    except LanewiseError as error:
        return _Stopped(str(error), error.exit_code)
    except (MemoryError, OSError) as error:
        return _Stopped(str(error) or "there is no memory left", MISSING)


def _words(options: Mapping[str, object]) -> Iterator[str]:
    """Options as they are given; those that are not given, or are as they are by themselves, are left out."""
    return option_words({name: value for name, value in options.items() if (name, value) not in _USUAL})


def _run(
    name: str,
    kernel: Kernel,
    jobs: Sequence[Job],
    vectors: Vectors,
    engine: Engine,
    limit: int,
    hardware: Sequence[ExternalBackend],
    processes: int,
) -> _Done:
    """Aim inputs at the builds, and compare these and the hardware.

    What is finished is kept: nothing that was compared is lost by an interrupt, a full disk or a lack of memory, but
    the builds under way where there are several processes.  One of these aims while the others have begun with what is
    not aimed.

    Progress is a bar where stderr is a terminal, else a line for every finished check.
    """
    done: dict[int, Outcome] = {}
    made: _Made | None = None
    is_stopped, hindrance, processes = False, "", min(processes, len(jobs))
    with progress_bar() as progress:
        task = progress.add_task("aiming inputs at the compiled code", total=None)
        advance: Advance = partial(progress.advance, task) if processes == 1 else lambda _: None
        work = _Work(
            name=name, kernel=kernel, jobs=jobs, vectors=vectors, engine=engine, limit=limit, hardware=hardware,
            advance=advance,
        )  # fmt: skip
        try:
            with spread_meanwhile(work.aim, work.begin, work.finish, work.by_cost(), processes) as (aimed, checked):
                if isinstance(aimed, _Stopped):
                    fail(*aimed)
                every = aimed.added_to(vectors)
                made = _Made(every, aimed.power, separation_of(kernel, every))
                sets = len(every.inputs)
                progress.update(task, description="", total=(len(jobs) + len(hardware)) * sets)
                for number, outcome in chain(checked, work.of_hardware(every)):
                    if isinstance(outcome, _Stopped):
                        if not done or outcome.exit_code != MISSING:
                            fail(*outcome)
                        hindrance = outcome.reason
                        break
                    done[number] = outcome
                    progress.update(task, description=outcome.title, completed=len(done) * sets)
                    if progress.disable:
                        print_progress(f"{outcome.title}: {outcome.lanes_compared:,} lanes, {outcome.verdict}")
                    if outcome.interrupted:
                        is_stopped = True
                        break
        except LostProcess as error:
            if not done:
                raise
            hindrance = str(error)
        except KeyboardInterrupt:
            is_stopped = True
    if made is None:
        fail("interrupted before anything was compared", INTERRUPTED)
    finished = sorted(done)
    return _Done(
        [jobs[at] for at in finished if at < len(jobs)], [done[at] for at in finished], is_stopped, hindrance, made
    )


def _debugging(report: Report, name: str, kernel: Kernel, options: Mapping[str, object]) -> str:
    """The command that opens the first failing call of a build where it goes wrong, with the same options; "" if only
    others fail.
    """
    for outcome in report.failures:
        source = next((each for each in kernel.sources if each.name == outcome.implementation), None)
        if source is not None and outcome.failed_set is not None:
            level = outcome.flags.partition(" ")[0].removeprefix("-")
            words = ["lanewise", "debug", name, "--failing", *(["--opt", level] if level else [])]
            words += _words({**options, "object": source if options["object"] else None})
            if outcome.mismatch is not None and outcome.mismatch.fault is not None:
                fault = outcome.mismatch.fault
                places = [*fault.lines, *(place.split()[0] for place in fault.addresses)]
                words += [word for place in places if FAULT_PLACE.fullmatch(place) for word in ("--fault", place)]
            is_other = source != kernel.sources[0] and not options["object"]
            return typed([*words, *(["--source", source.name] if is_other else [])])
    return ""


def _questions(power: Power, jobs: Sequence[Job], name: str, options: Mapping[str, object]) -> list[str]:
    """The commands that find an input that meets what no lane of a weak check met, or prove that there is none."""
    levels = {" ".join((job.name, *job.flags)): next(iter(job.flags), "") for job in jobs}
    same = {
        key: value
        for key, value in options.items()
        if key in ("mode", "compile", "symbol", "march", "cflags", "include")
    }
    code = {"source": options["object"], **same}
    return [
        typed(
            ["lanewise", "prove", name, *(["--opt", level[1:]] if (level := levels.get(one.build, "")) else []),
             *_words(code), "--find", f"{one.name} at {one.place}"]
        )
        for one in power.asked[:_QUESTIONS]
    ]  # fmt: skip


def _with_operand_classes(report: Report, kernel: Kernel, jobs: Sequence[Job], vectors: Vectors) -> Report:
    """With the operand classes of the builds that agree; an interrupt leaves the others without them."""
    outcomes = list(report.outcomes)
    try:
        for number, (job, outcome) in enumerate(zip(jobs, outcomes, strict=False)):
            if job.source is not None and outcome.coverage is not None and not outcome.failure:
                classes = collect_operand_classes(open_kernel(kernel, job.source, *job.flags), kernel, vectors)
                outcomes[number] = replace(outcome, coverage=replace(outcome.coverage, classes=classes))
    except KeyboardInterrupt:
        return replace(report, outcomes=outcomes, stopped=True)
    return replace(report, outcomes=outcomes)


def _shrunk(
    report: Report,
    kernel: Kernel,
    jobs: Sequence[Job],
    vectors: Vectors,
    limit: int,
    hardware: Sequence[ExternalBackend],
) -> Report:
    """With the first failing input set made small; an interrupt leaves it as it is."""
    number = next(i for i, outcome in enumerate(report.outcomes) if outcome.failure)
    outcome = report.outcomes[number]
    if outcome.failed_set is None:
        return report
    try:
        for backend in hardware:
            if backend.name == outcome.implementation:
                small = shrink_external_backend(kernel, backend, vectors, outcome.failed_set)
                return replace(report, shrunk=f"{small.told(outcome)}\n  {backend.show(small.inputs)}".rstrip())
        made = shrink(kernel, jobs[number], vectors, outcome.failed_set, report.engine, max_instructions=limit)
        return replace(report, shrunk=made.told(outcome))
    except KeyboardInterrupt:
        left = f"not shrunk, as it was interrupted: input set {outcome.failed_set}"
        return replace(report, shrunk=left, stopped=True)
