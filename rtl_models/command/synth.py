"""The command that says how large and how fast the units are on an FPGA."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from isa.errors import INTERRUPTED, MISSING, USAGE
from rtl_models.command.options import (
    AdapterFile,
    Modules,
    OwnHardware,
    chosen_from,
    chosen_hardware,
    chosen_profiles,
    lane_counts,
    own_words,
)
from rtl_models.synthesis.designs import Design, adapted_designs, designs, own_designs
from rtl_models.synthesis.figures import Figures, figures_of, tools
from rtl_models.synthesis.plot import drawn
from rtl_models.synthesis.report import SynthesisReport, megahertz, show
from rtl_models.tools.yosys import Refused
from sim.terminal.output import fail, print_json, print_progress, print_shown, write_file
from sim.terminal.writable import require_drawable
from sim.toolchain.tools import cache_directory


def synth(
    what: Annotated[list[str] | None, typer.Argument(help="Units or lanes; default: all units, some lanes.")] = None,
    lanes: Annotated[str | None, typer.Option(help="Numbers a beat, such as 4,8; default: all there are.")] = None,
    profile: Annotated[
        str | None, typer.Option(help="shallow, deep, or register stages, such as 7,9; default: both.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, max=100, help="Placements of each; their median counts.")] = 1,
    clock: Annotated[int, typer.Option(min=1, max=1000, help="MHz that nextpnr is to reach.")] = 200,
    json_wanted: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Draw elements a second against cells: .png or .svg.")] = None,
    modules: Modules = None,
    adapter: AdapterFile = None,
) -> None:
    """Synthesize, place and route the units for an ECP5: cells, multipliers, registers, highest clock.

    Half a minute for each design; what is finished is kept until a source or a tool changes.  Exit code 2 for a name
    that no design has, for a module that yosys refuses, and where nextpnr can place none of the designs.  With
    --modules or --adapter they are your own.
    """
    own = chosen_hardware(modules, adapter, strict=False)
    if own.adapter is not None and profile is not None:
        fail("--profile is for modules of the package: that of an adapter is built for some lanes", USAGE)
    numbers, profiles = chosen_from("lanes", lanes, lane_counts(own)), chosen_profiles(profile)
    try:
        wanted = _of_own(own, what or [], numbers, profiles) if own.before else designs(what or [], numbers, profiles)
    except ValueError as error:
        fail(str(error), USAGE)
    require_drawable("--plot", plot)
    words = own_words(modules=modules, adapter=adapter)
    named = [] if own.adapter else ["--profile", ",".join(profiles)]
    asked = [*(what or ()), "--lanes", ",".join(map(str, numbers)), *named, *words]
    report = _filled(SynthesisReport([], asked, tools(), clock, range(1, seeds + 1)), wanted)
    if json_wanted:
        print_json("rtl-synth", report.as_json())
    else:
        print_shown(partial(show, report))
    if report.interrupted:
        raise typer.Exit(INTERRUPTED)
    if not any(one.placed for one in report.figures):
        fail("nextpnr places none of the designs", USAGE)
    if plot is not None:
        write_file(plot, drawn(report.figures, plot))
        print_progress(f"wrote {plot}")


def _of_own(own: OwnHardware, what: list[str], lanes: Sequence[int], profiles: Sequence[str]) -> list[Design]:
    """A user's modules.  Raises ValueError."""
    if own.adapter is None:
        return own_designs(own.before[0], what, lanes, profiles)
    if other := [name for name in what if name != own.adapter.unit.name]:
        raise ValueError(f"{own.adapter.file.name} is of {own.adapter.unit.name}, not of {other[0]!r}")
    return adapted_designs(own.adapter, own.before[0], lanes)


def _filled(report: SynthesisReport, wanted: Sequence[Design]) -> SynthesisReport:
    """With all that is wanted, or with what was finished before an interruption."""
    found: list[Figures] = []
    try:
        for design in wanted:
            found.append(figures_of(design, report.clock, report.seeds, cache_directory()))
            print_progress(f"{len(found)}/{len(wanted)} {design.title}: {megahertz(found[-1])} MHz")
    except Refused as refused:
        fail(f"{design.title}: yosys refuses it: {refused}", USAGE)
    except KeyboardInterrupt:
        return replace(report, figures=found, interrupted=True)
    except OSError as error:
        fail(f"cannot keep what is synthesized: {error}; name a directory in LANEWISE_CACHE", MISSING)
    return replace(report, figures=found)
