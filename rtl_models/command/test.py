"""`lanewise rtl test`: the benches of operators, units and cores, one after the other."""

# ruff: noqa: PT028  (`test` is a command, no test of pytest)

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from fnmatch import filter as matching
from functools import partial
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import typer

from isa.errors import INTERRUPTED, USAGE, did_you_mean
from rtl_models.adapters import Adapter
from rtl_models.command.junit import render_junit
from rtl_models.command.options import (
    AdapterFile,
    Modules,
    OwnHardware,
    Simulator,
    Strict,
    chosen_from,
    chosen_hardware,
    chosen_profiles,
    chosen_simulator,
    print_warnings,
    profiles_of,
)
from rtl_models.cores.gemm import GemmCore
from rtl_models.cores.gemm_run import NAME, core_title, run_gemm_core
from rtl_models.cores.names import CORES
from rtl_models.latencies import PROFILES
from rtl_models.operators import OPERATORS
from rtl_models.outcome import BenchOutcome, exit_code_of
from rtl_models.register_map import CHANNELS, MOST_CHANNELS
from rtl_models.run import SEED, run
from rtl_models.tools.environment import SimulatorName
from rtl_models.unit_run import Built, run_unit
from rtl_models.units import LANE_COUNTS, UNITS
from sim.terminal.output import fail, print_json, print_progress, print_text, progress_bar, write_file
from sim.terminal.writable import require_writable
from sim.view.sentences import counted

PACKAGE: Final = OwnHardware((), None, strict=True)
"""Nothing of a user's own."""
_WIDTHS: Final = (8, 16, 32, 64)


class DueRun(NamedTuple):
    """A run that is due."""

    title: str
    run: Callable[[int, SimulatorName, Sequence[Path]], BenchOutcome]


def test(
    names: Annotated[list[str] | None, typer.Argument(help="Operators, units, cores, or globs; default: all.")] = None,
    widths: Annotated[str | None, typer.Option(help="Of the operators, such as 8,16; default: all of each.")] = None,
    lanes: Annotated[str | None, typer.Option(help="Of units and cores, such as 4,8; default: all.")] = None,
    profile: Annotated[str | None, typer.Option(help="shallow, deep, or stages such as 7,9; default: all.")] = None,
    channels: Annotated[
        str | None, typer.Option(help="Of the tables of channels, such as 12,3840; default: 64.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all that is random.")] = SEED,
    simulator: Simulator = "verilator",
    modules: Modules = None,
    adapter: AdapterFile = None,
    strict: Strict = False,
    junit_file: Annotated[Path | None, typer.Option("--junit", help="Write the outcomes as JUnit XML too.")] = None,
    coverpoints: Annotated[
        Path | None, typer.Option(help="Write how often each coverpoint of each run was met, as JSON.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcomes as JSON.")] = False,
) -> None:
    """Simulate operators against the isa semantics, and units against the golden references.

    A unit runs behind its configuration registers, under every pattern of stalls, with coverpoints; so does a core,
    whose array has as many rows and columns as there are lanes.
    With --modules they are the golden model of your own hardware, with the ports of these; with --adapter of a module
    with other ports.  Such a unit keeps to the rules of AXI-Stream, at any latency.
    A failure shows the shrunk case, a waveform, the seed, and the command that gives it again.
    """
    require_writable("--junit", junit_file)
    require_writable("--coverpoints", coverpoints)
    own = chosen_hardware(modules, adapter, strict)
    jobs = jobs_of(names or [], widths, lanes, profile, channels, own)
    outcomes: list[BenchOutcome] = []
    chosen, interrupted = chosen_simulator(simulator), False
    shown: set[str] = set()
    try:
        with progress_bar() as progress:
            task = progress.add_task("", total=len(jobs))
            for job in jobs:
                progress.update(task, description=f"{job.title}: simulator and bench")
                outcomes.append(job.run(seed, chosen, own.before))
                progress.advance(task)
                print_warnings(outcomes[-1], shown)
                print_progress(f"{outcomes[-1].title}: {'agrees' if outcomes[-1].passed else 'fails'}")
    except KeyboardInterrupt:
        interrupted = True
    if junit_file is not None:
        write_file(junit_file, render_junit(outcomes))
    if coverpoints is not None:
        hits = {outcome.title: dict(outcome.coverpoints) for outcome in outcomes}
        write_file(coverpoints, json.dumps(hits, indent=1).encode())
    if as_json:
        print_json("rtl-test", [outcome.as_json() for outcome in outcomes])
    elif outcomes:
        print_text("\n".join(outcome.told() for outcome in outcomes))
    if interrupted:
        fail(f"interrupted after {len(outcomes)} of {counted(len(jobs), 'run')}", INTERRUPTED)
    raise typer.Exit(exit_code_of(outcomes))


def jobs_of(
    names: Sequence[str],
    widths: str | None,
    lanes: str | None,
    profile: str | None,
    channels: str | None = None,
    own: OwnHardware = PACKAGE,
) -> list[DueRun]:
    """The runs of some names, or of all; what is not possible ends the command."""
    if own.adapter is not None:
        return _jobs_of_adapter(
            own.adapter, names, lanes, {"--widths": widths, "--profile": profile, "--channels": channels}
        )
    chosen: dict[str, None] = {}
    for name in names or ["*"]:
        if not (found := matching([*OPERATORS, *UNITS, *CORES], name)):
            meant = did_you_mean(name, [*OPERATORS, *UNITS, *CORES])
            fail(f"there is no operator, unit or core {name!r}{meant}: see lanewise rtl list", USAGE)
        chosen |= dict.fromkeys(found)
    if not set(chosen) & set(OPERATORS):
        _refuse({"--widths": widths}, "operator")
    if not set(chosen) & {*UNITS, *CORES}:
        _refuse({"--lanes": lanes, "--profile": profile}, "unit")
    with_tables = {name for name in UNITS if UNITS[name].tables} | {*CORES}
    if channels is not None and (without := [name for name in chosen if name not in with_tables]):
        fail(
            f"--channels is for {', '.join(sorted(with_tables))}, which have tables of them: not for {without[0]}",
            USAGE,
        )
    some_widths = () if widths is None else chosen_from("widths", widths, _WIDTHS)
    counts, profiles = chosen_from("lanes", lanes, LANE_COUNTS), chosen_profiles(profile)
    operators = [OPERATORS[name] for name in chosen if name in OPERATORS]
    for operator in operators:
        if missing := [width for width in some_widths if width not in operator.widths]:
            has = ", ".join(map(str, operator.widths))
            fail(f"{operator.name} has the widths {has}, not {missing[0]}", USAGE)
    tables = [(count, most) for count in counts for most in _tables(channels, count)]
    units = [
        Built(UNITS[name], count, each, most, strict=own.strict)
        for name in chosen
        if name in UNITS
        for count, most in tables
        for each in (
            # between shallow and deep a number of lanes is enough; a user's module need not have a Depth
            UNITS[name].profiles
            if profile is None and count == counts[0] and not own.before
            else profiles_of(name, profiles)
        )
    ]
    if NAME in chosen and (numbers := set(profiles) - {*PROFILES}):
        fail(f"{NAME} is shallow or deep: give no --profile {min(numbers)}, or name units alone", USAGE)
    cores = [
        GemmCore(rows=size, columns=size, channels=most, deep=each == "deep")
        for size, most in (tables if NAME in chosen else [])
        for each in profiles
    ]
    return [
        *(DueRun(operator.name, partial(run, operator, some_widths)) for operator in operators),
        *(DueRun(built.title, partial(run_unit, built)) for built in units),
        *(DueRun(core_title(core), partial(run_gemm_core, core)) for core in cores),
    ]


def _jobs_of_adapter(
    adapter: Adapter, names: Sequence[str], lanes: str | None, others: Mapping[str, str | None]
) -> list[DueRun]:
    """The runs of the module of an adapter."""
    for option, given in others.items():
        if given is not None:
            fail(f"{option} is for modules of the package: that of an adapter is built for some lanes", USAGE)
    if other := [name for name in names if name != adapter.unit.name]:
        fail(f"{adapter.file.name} is of {adapter.unit.name}, not of {other[0]!r}", USAGE)
    counts = chosen_from("lanes", lanes, adapter.lane_counts)
    each = [Built(adapter.unit, count, strict=False, adapter=adapter) for count in counts]
    return [DueRun(built.title, partial(run_unit, built)) for built in each]


def _tables(text: str | None, lanes: int) -> list[int]:
    """The numbers of channels that a list names, each once; the one that tables have by default where there is none."""
    possible = {str(most): most for most in range(2 * lanes, MOST_CHANNELS + 1, lanes)}
    given = [part.strip() for part in (str(CHANNELS) if text is None else text).split(",")]
    if unknown := [part for part in given if part not in possible]:
        ends = f"from {2 * lanes} to {MOST_CHANNELS}"
        fail(f"--channels with {lanes} lanes takes multiples of {lanes} {ends}, not {unknown[0]!r}", USAGE)
    return [possible[part] for part in dict.fromkeys(given)]


def _refuse(options: Mapping[str, str | None], kind: str) -> None:
    """End the command where one of the options is given, all of them for a kind of module that is not tested."""
    for option, given in options.items():
        if given is not None:
            fail(f"{option} is for {kind}s, and no {kind} is named", USAGE)
