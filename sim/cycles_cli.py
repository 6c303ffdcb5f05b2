"""`lanewise cycles`: how long a kernel, a function, a loop or a captured call takes on named cores, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from sim.check.call import CallError
from sim.check.captured import CaptureError
from sim.check.guards.findings import GuardError
from sim.check.single import ArgumentError
from sim.compile_options import compile_flags, optimisation_flag
from sim.cycles.cores import REAL_CORES, Changes, chosen_cores, named_core
from sim.cycles.input import Timed, TimedLoop
from sim.cycles.options import Found, UsageError, Wanted, find_timed
from sim.cycles.result import Conditions, Result, beside, steady_start, time_on
from sim.cycles.typical import LARGEST_LENGTH
from sim.image import ImageError
from sim.kernels.kernel import KernelError, kernel_names
from sim.kernels.prototype import PrototypeError
from sim.llvm_mca import LlvmMca, LlvmMcaMissing, find_llvm_mca
from sim.machine.errors import ExecutionError
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
from sim.timing.body import BareLoopError
from sim.timing.core import Core
from sim.timing.core_file import CoreError
from sim.toolchain import ToolchainError, ToolchainUnavailable
from sim.view.cycles.html import page
from sim.view.cycles.html_report import section_of_result
from sim.view.cycles.kanata import kanata
from sim.view.cycles.perfetto import PerfettoMissing, perfetto
from sim.view.cycles.timeline import show_timeline
from sim.view.cycles_about import about_as_json, show_about
from sim.view.cycles_report import show_results

LIMIT: Final = 200_000
"""Instructions of a call; so many already take a minute on every core."""
_OTHERS: Final = ("llvm-mca",)
_UNUSABLE = (
    ArgumentError, BareLoopError, CaptureError, ImageError, KernelError, PrototypeError, ToolchainError, UsageError,
)  # fmt: skip
_WHAT = (
    f"A kernel ({', '.join(kernel_names())}), a kernel file (.py), a source or object, a loop in assembly, or captured "
    "calls (.jsonl)."
)
_Number = int | None
_Text = str | None
_Several = list[str] | None


def cycles(
    what: Annotated[_Text, typer.Argument(metavar="FILE|KERNEL", help=_WHAT)] = None,
    symbol: Annotated[_Text, typer.Argument(help="The function of a file, or its prototype.")] = None,
    arguments: Annotated[_Several, typer.Argument(help="Its arguments, as lanewise run takes them.")] = None,
    core: Annotated[str, typer.Option(help="Cores and core files (.toml), with commas.")] = ",".join(REAL_CORES),
    mode: Annotated[_Text, typer.Option(help="Which of a kernel's arithmetics; default: the first.")] = None,
    length: Annotated[_Number, typer.Option(min=1, max=LARGEST_LENGTH, help="Elements of a kernel's row: 256.")] = None,
    seed: Annotated[_Number, typer.Option(min=0, help="Of a kernel's random call; default 1.")] = None,
    opt: Annotated[str, typer.Option(help="Optimisation levels of a source, with commas.")] = "O2",
    march: Annotated[_Text, typer.Option(help="Compile for it, such as armv8.2-a+dotprod.")] = None,
    cflags: Annotated[str, typer.Option(help="More flags of the compiler, as in a shell.")] = "",
    include: Annotated[
        list[Path] | None, typer.Option(exists=True, file_okay=False, help="A folder of headers; may be repeated.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="Instructions that a call may take.")] = LIMIT,
    elements: Annotated[_Number, typer.Option(min=1, help="What a call, or an iteration, works on.")] = None,
    loop: Annotated[_Text, typer.Option(metavar="LABEL", help="Of an assembly file; default: its last loop.")] = None,
    count: Annotated[_Number, typer.Option(min=1, max=10**15, help="Iterations of that loop; default 1000.")] = None,
    unroll: Annotated[_Number, typer.Option(min=1, max=64, help="That loop so often in a row, beside it.")] = None,
    interleave: Annotated[_Number, typer.Option(min=1, max=64, help="So many copies of it at once, beside it.")] = None,
    call: Annotated[_Text, typer.Option(metavar="ID", help="Which one of the captured calls.")] = None,
    compare: Annotated[_Text, typer.Option(help="llvm-mca: what it says of the same instructions.")] = None,
    latency: Annotated[_Several, typer.Option(metavar="CLASS=N", help="What if: another latency.")] = None,
    pipe: Annotated[_Several, typer.Option(metavar="CLASS=USES", help="What if: other pipes, as F0|F1*2.")] = None,
    parameter: Annotated[_Several, typer.Option("--set", metavar="NAME=N", help="What if: another width...")] = None,
    cold: Annotated[bool, typer.Option("--cold", help="No branch of the call was seen before.")] = False,
    caches: Annotated[bool, typer.Option("--caches", help="The call's caches, empty at first; else all hits.")] = False,
    l2_latency: Annotated[_Number, typer.Option(min=1, max=1000, help="Cycles of a hit in L2; means --caches.")] = None,
    timeline: Annotated[bool, typer.Option("--timeline", help="Show the pipeline cycle by cycle.")] = False,
    kanata_file: Annotated[Path | None, typer.Option("--kanata", help="Write a log for Konata.")] = None,
    perfetto_file: Annotated[Path | None, typer.Option("--perfetto", help="Write a trace for ui.perfetto.dev.")] = None,
    html_file: Annotated[Path | None, typer.Option("--html", help="Write a page for a browser.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    about: Annotated[_Text, typer.Option(metavar="CORE", help="Only say how good a core's figures are.")] = None,
) -> None:
    """Time what is executed on named cores, and say why it takes so long.

    A kernel is called with a row of its domain, compiled and as its program of intrinsics, side by side; a function
    as by lanewise run.  A kernel file is imported, so it runs as your own Python does.
    """
    _require_options([what or "", symbol or "", *(arguments or ())])
    if about is not None:
        _about(about, as_json)
        return
    if what is None:
        fail("name a kernel or a file to time, or a core with --about", USAGE)
    levels = tuple(dict.fromkeys(optimisation_flag(level.strip()) for level in opt.split(",")))
    wanted = Wanted(
        what, symbol, tuple(arguments or ()), levels, compile_flags(march, cflags, include or []), limit, elements,
        mode, length, seed, loop, count, unroll, interleave, call,
    )  # fmt: skip
    changes = Changes(tuple(latency or ()), tuple(pipe or ()), tuple(parameter or ()), l2_latency)
    cores = _cores(core, changes)
    conditions = Conditions(warm=not cold, caches=caches or l2_latency is not None)
    _require_writable({"--kanata": kanata_file, "--perfetto": perfetto_file, "--html": html_file})
    if len(cores) > 1 and (kanata_file or perfetto_file):
        fail("--kanata and --perfetto draw one core: name it with --core", USAGE)
    try:
        tool = _tool(compare)
        found = _found(wanted)
        if conditions != Conditions() and any(isinstance(one, TimedLoop) for one in found.timed):
            fail("--cold, --caches and --l2-latency are for calls: a loop alone is warm", USAGE)
        groups = _results(found, cores, conditions, tool)
    except KeyboardInterrupt:
        fail("interrupted before everything was timed", INTERRUPTED)
    title = "; ".join([found.title, *changes.texts, *conditions.texts])
    first = groups[0][0]
    only = f", which shows {first.title} only," if len(groups) > 1 else ""
    _draw(kanata_file, lambda: kanata(first.schedule).encode(), only, "Konata")
    _draw(perfetto_file, lambda: perfetto(first.schedule), only, "ui.perfetto.dev")
    _draw(html_file, lambda: _page(title, groups), "", "a browser")
    if as_json:
        results = [{**result.as_json(), "changes": changes.texts} for group in groups for result in group]
        print_json({"title": title, "results": results})
    else:
        print_shown(partial(_show, title, groups, timeline))


def _require_options(words: Sequence[str]) -> None:
    """The command takes words that begin with one dash as numbers; one that begins with two is a misspelt option."""
    for word in words:
        if word.startswith("--"):
            fail(f"no such option: {word.partition('=')[0]}", USAGE)


def _cores(text: str, changes: Changes) -> list[Core]:
    try:
        return [changes.made_to(core) for core in chosen_cores(text)]
    except CoreError as error:
        fail(str(error), USAGE)


def _require_writable(files: Mapping[str, Path | None]) -> None:
    for option, file in files.items():
        if file is not None and not file.absolute().parent.is_dir():
            fail(f"{option} cannot write {file}: there is no such folder", USAGE)


def _tool(compare: str | None) -> LlvmMca | None:
    if compare not in (None, *_OTHERS):
        fail(f"--compare takes {', '.join(_OTHERS)}, not {compare!r}", USAGE)
    try:
        return find_llvm_mca() if compare else None
    except LlvmMcaMissing as missing:
        fail(str(missing), MISSING)


def _found(wanted: Wanted) -> Found:
    try:
        return find_timed(wanted)
    except ToolchainUnavailable as unavailable:
        fail(str(unavailable), MISSING)
    except (ExecutionError, CallError) as error:
        fail(f"the call stops: {error}{_advice(error)}", MISMATCH)
    except _UNUSABLE as error:
        fail(str(error), USAGE)


def _advice(error: Exception) -> str:
    limited = isinstance(error, GuardError) and error.finding.kind == "instruction limit"
    return "; --limit lets it take more" if limited else ""


def _results(found: Found, cores: Sequence[Core], conditions: Conditions, tool: LlvmMca | None) -> list[list[Result]]:
    """What is timed, on each core."""
    groups: list[list[Result]] = []
    with progress_bar() as progress:
        task = progress.add_task("", total=len(found.timed) * len(cores))
        for timed in found.timed:
            groups.append([])
            for core in cores:
                progress.update(task, description=f"{timed.title} on {core.name}")
                groups[-1].append(_result(timed, core, conditions, tool))
                progress.advance(task)
    return groups


def _result(timed: Timed, core: Core, conditions: Conditions, tool: LlvmMca | None) -> Result:
    try:
        result = time_on(timed, core, conditions)
        return beside(result, timed, tool) if tool else result
    except ValueError as error:
        fail(f"{timed.title} cannot be timed on {core.name}: {error}{_option_of(core, conditions)}", USAGE)
    except LlvmMcaMissing as missing:
        fail(str(missing), MISSING)


def _option_of(core: Core, conditions: Conditions) -> str:
    """The option that gives the latency of a second cache which is not known but needed."""
    unknown = any(level.name == "L2" and level.latency is None for level in core.levels)
    return " with --l2-latency" if conditions.caches and unknown else ""


def _draw(file: Path | None, draw: Callable[[], bytes], only: str, reader: str) -> None:
    """Write what was asked for; `only` says what is not in it."""
    if file is None:
        return
    try:
        write_file(file, draw())
    except PerfettoMissing as missing:
        fail(str(missing), MISSING)
    print_progress(f"wrote {file}{only or ';'} open it in {reader}")


def _page(title: str, groups: Sequence[Sequence[Result]]) -> bytes:
    """A section for everything timed, on every core."""
    sections = [section_of_result(result) for group in groups for result in group]
    calls = dict.fromkeys(group[0].call for group in groups if group[0].call)
    return page(f"{title}: {', '.join(group[0].title for group in groups)}", "; ".join(calls), sections).encode()


def _show(title: str, groups: Sequence[Sequence[Result]], timeline: bool, console: Console) -> None:
    show_results(title, groups, console)
    for result in (result for group in groups for result in group) if timeline else ():
        console.print(f"\n{result.title}", style="bold", highlight=False, markup=False)
        show_timeline(result.schedule, console, first=steady_start(result))


def _about(name: str, as_json: bool) -> None:
    try:
        core = named_core(name)
    except CoreError as error:
        fail(str(error), USAGE)
    if as_json:
        print_json(about_as_json(core))
    else:
        print_shown(partial(show_about, core))
