"""`lanewise cycles`: how long a kernel, a function, a loop or a captured call takes on named cores, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import typer

from isa.errors import INTERRUPTED, MISMATCH, USAGE
from isa.processors import PROCESSORS
from sim.call.call import CallError
from sim.call.guards.findings import GuardError
from sim.call.needs import lacking, needs_of
from sim.command.options import compile_flags, optimisation_flag
from sim.cycles.cores import Changes, chosen_cores, named_core, require_timed
from sim.cycles.difference import differences
from sim.cycles.estimates import CyclesEstimate, estimate_of, read_measured
from sim.cycles.input import TimedLoop
from sim.cycles.kernel import SWEEPS
from sim.cycles.kernel import advise as advice_of
from sim.cycles.kernel import sweep as sweep_of
from sim.cycles.llvm_mca import LlvmMca, find_llvm_mca
from sim.cycles.options import TimedGroup, TimingRequest, find_timed, two_versions
from sim.cycles.result import Conditions, TimedResult, beside, steady_start, time_on
from sim.machine.errors import ExecutionError
from sim.terminal.output import fail, print_json, print_progress, print_shown, progress_bar, working, write_file
from sim.terminal.writable import require_drawable, require_writable
from sim.timing.analysis.advice import Advice, best_advice
from sim.timing.analysis.report import Json
from sim.timing.model.core import Core
from sim.toolchain.objects import compilers_of
from sim.view.cycles.about import about_as_json, show_about
from sim.view.cycles.html import render_page
from sim.view.cycles.html_report import section_of_result
from sim.view.cycles.kanata import render_kanata
from sim.view.cycles.perfetto import render_perfetto
from sim.view.cycles.report import Swept, show_advice, show_differences, show_estimate, show_results, show_sweep
from sim.view.cycles.timeline import show_timeline

_OTHERS: Final = ("llvm-mca",)
_Number = int | None
_Text = str | None
_Several = list[str] | None


def cycles(
    what: _Text,
    symbol: _Text,
    arguments: _Several,
    core: list[str],
    mode: str | None,
    length: _Number,
    seed: _Number,
    opt: str,
    compile_with: str | None,
    march: str | None,
    cflags: str,
    include: list[Path] | None,
    limit: int,
    elements: _Number,
    loop: _Text,
    count: _Number,
    unroll: _Number,
    interleave: _Number,
    call: _Text,
    compare: _Text,
    diff: _Text,
    advise: bool,
    sweep: _Text,
    megahertz: float | None,
    measured: Path | None,
    latency: _Several,
    pipe: _Several,
    parameter: _Several,
    cold: bool,
    caches: bool,
    l2_latency: _Number,
    brief: bool,
    timeline: bool,
    kanata_file: Path | None,
    perfetto_file: Path | None,
    html_file: Path | None,
    roofline_file: Path | None,
    as_json: bool,
    about: _Text,
) -> None:
    """Do what `lanewise cycles` says: its options are those of `sim.command.signatures.cycles`."""
    if about is not None:
        described = named_core(about)
        if as_json:
            print_json("cycles-about", about_as_json(described))
        else:
            print_shown(partial(show_about, described))
        return
    if what is None:
        fail("name a kernel or a file to time, or a core with --about", USAGE)
    levels = tuple(dict.fromkeys(optimisation_flag(level.strip()) for level in opt.split(",")))
    wanted = TimingRequest(
        what=what, symbol=symbol, arguments=tuple(arguments or ()), levels=levels,
        flags=compile_flags(march, cflags, include), limit=limit, elements=elements,
        mode=mode, length=length, seed=seed, loop=loop, count=count, unroll=unroll, interleave=interleave, call=call,
        compile_with=compile_with,
    )  # fmt: skip
    changes = Changes(tuple(latency or ()), tuple(pipe or ()), tuple(parameter or ()), l2_latency)
    cores = [changes.made_to(one) for one in chosen_cores(",".join(core))]
    conditions = Conditions(warm=not cold, caches=caches or l2_latency is not None)
    for option, file in (("--kanata", kanata_file), ("--perfetto", perfetto_file), ("--html", html_file)):
        require_writable(option, file)
    require_drawable("--roofline", roofline_file)
    if len(cores) > 1 and (kanata_file or perfetto_file):
        fail("--kanata and --perfetto draw one core: name it with --core", USAGE)
    beside_these = read_measured(measured) if measured else {}
    if compare not in (None, *_OTHERS):
        fail(f"--compare takes {', '.join(_OTHERS)}, not {compare!r}", USAGE)
    if compare and brief and not as_json:
        fail("--brief leaves out what --compare shows: give one of them", USAGE)
    sweeps = list(dict.fromkeys(word.strip() for word in (sweep or "").split(",") if word.strip()))
    if unknown := [word for word in sweeps if word not in SWEEPS]:
        fail(f"--sweep takes {', '.join(SWEEPS)}, not {unknown[0]!r}", USAGE)
    try:
        tool = find_llvm_mca() if compare else None
        wanted, second = two_versions(wanted, diff) if diff else (wanted, None)
        found, groups = _timed(wanted, cores, conditions, tool)
        against, other = _timed(second, cores, conditions, None) if second else (found, [])
    except KeyboardInterrupt:
        fail("interrupted before everything was timed", INTERRUPTED)
    require_timed(changes, (code for timed in (*found.timed, *against.timed) for _, code in timed.code))
    title = "; ".join([found.title, *changes.texts, *conditions.texts])
    first = groups[0][0]
    only = f", which shows {first.title} only," if len(groups) > 1 else ""
    _draw(kanata_file, lambda: render_kanata(first.schedule).encode(), only, "Konata")
    _draw(perfetto_file, lambda: render_perfetto(first.schedule, first.told), only, "ui.perfetto.dev")
    every = [result for group in groups for result in group]
    heading = f"{title}: {', '.join(group[0].title for group in groups)}"
    calls = "; ".join(dict.fromkeys(group[0].call for group in groups if group[0].call))
    _draw(html_file, lambda: render_page(heading, calls, list(map(section_of_result, every))).encode(), "", "a browser")
    known = [one.name for one in cores if one.name in PROCESSORS]
    lacked = lacking((need for timed in found.timed for need in needs_of(timed.code, timed.image)), known)
    estimated = estimate_of(title, found.timed, groups, megahertz, beside_these, elements)
    if roofline_file is not None:
        write_file(roofline_file, _roofline(estimated, roofline_file))
        print_progress(f"wrote {roofline_file}{only.removesuffix(',')}")
    if measured and all(row.measured is None for row in estimated.rows):
        fail(f"{measured} has no cycles of what is timed, such as {first.title!r} on {first.report.core}", USAGE)
    versions = [pair for before, after in zip(groups, other, strict=False) for pair in zip(before, after, strict=True)]
    compilers = _compilers(found), _compilers(against)
    if as_json:
        results = [{**one.as_json(), "changes": changes.texts} for one in every]
        made = {"title": title, "results": results, "lacking": list(map(str, lacked)), "estimate": estimated.as_json()}
        if versions:
            made["differences"] = [
                {"core": a.report.core, "before": a.cycles, "after": b.cycles,
                 "compiler_before": compilers[0], "compiler_after": compilers[1],
                 "instructions": [one._asdict() for one in differences(a, b)]}
                for a, b in versions
            ]  # fmt: skip
        if advise:
            made["advice"] = [
                {"timed": one.title, "core": one.report.core, **_advised(tried)} for one, tried in _tried(every)
            ]
        if sweeps:
            made["sweeps"] = [
                {"timed": one.title, "core": one.report.core, "over": over, "cycles": found, "reason": reason}
                for over in sweeps
                for one, found, reason in _swept(every, over)
            ]
        print_json("cycles", made)
        return
    if not brief:
        print_shown(partial(show_results, title, groups, estimated=estimated))
    elif compile_with is not None:  # the command decides what that is
        typer.echo(title)
    if brief or megahertz or measured:
        print_shown(partial(show_estimate, estimated))
    for before, after in versions:
        print_shown(partial(show_differences, before, after, compilers))
    for one, tried in _tried(every) if advise else ():
        print_shown(partial(show_advice, one, tried))
    for over in sweeps:
        print_shown(partial(show_sweep, over, list(_swept(every, over))))
    for lack in lacked:
        typer.echo(str(lack))
    for one in every if timeline else ():
        print_shown(partial(show_timeline, one.schedule, first=steady_start(one), title=one.title, told=one.told))


def _timed(
    wanted: TimingRequest, cores: Sequence[Core], conditions: Conditions, tool: LlvmMca | None
) -> tuple[TimedGroup, list[list[TimedResult]]]:
    """What is to be timed, and its results on each core."""
    try:
        with working(f"executing {wanted.what}"):
            found = find_timed(wanted)
    except (ExecutionError, CallError) as error:
        limited = isinstance(error, GuardError) and error.finding.kind == "instruction limit"
        fail(f"the call stops: {error}{'; --limit lets it take more' if limited else ''}", MISMATCH)
    if conditions != Conditions() and any(isinstance(one, TimedLoop) for one in found.timed):
        fail("--cold, --caches and --l2-latency are for calls: a loop alone is warm", USAGE)
    groups: list[list[TimedResult]] = []
    with progress_bar() as progress:
        task = progress.add_task("", total=len(found.timed) * len(cores))
        for timed in found.timed:
            groups.append([])
            for core in cores:
                progress.update(task, description=f"{timed.title} on {core.name}")
                try:
                    result = time_on(timed, core, conditions)
                    groups[-1].append(beside(result, timed, tool) if tool else result)
                except ValueError as error:
                    unknown = any(level.name == "L2" and level.latency is None for level in core.levels)
                    option = " with --l2-latency" if conditions.caches and unknown else ""
                    fail(f"{timed.title} cannot be timed on {core.name}: {error}{option}", USAGE)
                progress.advance(task)
    return found, groups


def _compilers(group: TimedGroup) -> str:
    """Who made the code; "" of a program of intrinsics and of captured calls."""
    return compilers_of(dict.fromkeys(one.image.path for one in group.timed if one.image is not None))


def _tried(results: Sequence[TimedResult]) -> Iterator[tuple[TimedResult, list[Advice]]]:
    """The changes tried on each."""
    for result in results:
        try:
            yield result, advice_of(result)
        except ValueError as error:
            fail(f"--advise, {result.title}: {error}", USAGE)


def _advised(tried: Sequence[Advice]) -> Json:
    return {"best": [one.as_json() for one in best_advice(tried)], "tried": [one.as_json() for one in tried]}


def _swept(results: Sequence[TimedResult], over: str) -> Iterator[Swept]:
    """Each with its cycles by what is gone through; none with the reason."""
    for result in results:
        try:
            yield Swept(result, sweep_of(result, over), "")
        except ValueError as error:
            yield Swept(result, {}, str(error))


def _roofline(estimated: CyclesEstimate, file: Path) -> bytes:
    """The picture, in the form that the file's ending names."""
    from sim.plots.roofline import roofline_of  # needs matplotlib, which is optional
    from sim.plots.style import content_of

    try:
        return content_of(roofline_of(estimated), file)
    except ValueError as error:
        fail(f"--roofline: {error}", USAGE)


def _draw(file: Path | None, draw: Callable[[], bytes], only: str, reader: str) -> None:
    """Write what was asked for; `only` says what is not in it."""
    if file is None:
        return
    write_file(file, draw())
    print_progress(f"wrote {file}{only or ';'} open it in {reader}")
