"""`lanewise rtl bulk`: many beats of a unit under random stalls against the goldens."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from isa.errors import did_you_mean
from rtl_models.bulk.run import BEATS, Volume, all_volumes, run_volume
from rtl_models.command.options import (
    AdapterFile,
    Modules,
    Simulator,
    Strict,
    chosen_hardware,
    chosen_simulator,
    lane_counts,
    print_warnings,
    profiles_of,
)
from rtl_models.latencies import PROFILES
from rtl_models.outcome import BenchOutcome, exit_code_of
from rtl_models.unit_run import Built
from rtl_models.units import LANE_COUNTS, UNITS
from sim.terminal.output import fail, print_progress, print_text, progress_bar, require_one_of


def bulk(
    unit: Annotated[str, typer.Argument(help=f"One of {', '.join(UNITS)}.")] = "",
    all_units: Annotated[bool, typer.Option("--all", help="Every unit with all lanes at every depth.")] = False,
    beats: Annotated[int, typer.Option(min=1, help="Beats, each of so many numbers as there are lanes.")] = BEATS,
    lanes: Annotated[
        int | None, typer.Option(help=f"One of {', '.join(map(str, LANE_COUNTS))}; default: the first there is.")
    ] = None,
    profile: Annotated[str, typer.Option(help="shallow, deep, or register stages, such as 7.")] = PROFILES[0],
    seed: Annotated[int, typer.Option(min=0, help="Seed of all that is random.")] = 1,
    simulator: Simulator = "verilator",
    modules: Modules = None,
    adapter: AdapterFile = None,
    strict: Strict = False,
) -> None:
    """Run a unit under random stalls against the goldens, beats and results in memories of the simulator."""
    own = chosen_hardware(modules, adapter, strict)
    if own.adapter is not None:
        if all_units or unit not in ("", own.adapter.unit.name) or profile != PROFILES[0]:
            fail(f"--adapter {adapter} is of {own.adapter.unit.name}: give no other unit, no --all and no --profile")
        unit = own.adapter.unit.name
    if all_units == bool(unit):
        fail(f"give --all or a unit, one of {', '.join(UNITS)}")
    if unit and unit not in UNITS:
        fail(f"there is no unit {unit!r}{did_you_mean(unit, UNITS)}: give one of {', '.join(UNITS)}")
    if all_units and (beats, lanes, profile) != (BEATS, None, PROFILES[0]):
        fail("--all has beats, lanes and profiles of its own: give no --beats, no --lanes and no --profile")
    possible = lane_counts(own)
    count = require_one_of("--lanes", possible[0] if lanes is None else lanes, possible)
    (named,) = profiles_of(unit, [profile]) if unit else PROFILES[:1]
    chosen = chosen_simulator(simulator)
    if own.adapter is not None and own.adapter.built_in:
        built_in = ", ".join(own.adapter.built_in)
        fail(f"bulk draws numbers for every {built_in}, which {own.adapter.module} has built in: use lanewise rtl test")
    if all_units:
        volumes = all_volumes(seed, own.strict)
    else:
        volumes = [Volume(Built(UNITS[unit], count, named, strict=own.strict, adapter=own.adapter), beats, seed)]
    outcomes: list[BenchOutcome] = []
    for number, volume in enumerate(volumes):
        begun = time.monotonic()
        with progress_bar() as progress:
            progress.add_task(f"{volume.unit.title}: simulator and beats", total=len(volumes), completed=number)
            outcomes.append(run_volume(volume, chosen, own.before))
        print_warnings(outcomes[-1], set())
        print_text(outcomes[-1].told())
        print_progress(f"{volume.unit.title}: {time.monotonic() - begun:.0f} s")
    print_text(f"{sum(outcome.passed for outcome in outcomes)} of {len(volumes)} agree")
    raise typer.Exit(exit_code_of(outcomes))
