"""What `lanewise check` takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sim.call.limits import MAX_INSTRUCTIONS
from sim.check.amounts import SHORT_LANES, USUAL_LANES, USUAL_SETS
from sim.command.signatures.shared import (
    ALL_PROCESSORS,
    Beside,
    Cflags,
    CompileWith,
    Constructors,
    Files,
    Hold,
    Include,
    Jobs,
    March,
    Mode,
    Processors,
    Seed,
)
from sim.kernels.names import kernel_names
from sim.terminal.on_demand import done_by
from sim.toolchain.levels import LEVELS


@done_by("sim.command.running.check:check")
def check(
    kernel: Annotated[
        str, typer.Argument(help=f"A kernel, one of {', '.join(kernel_names())}, or the path of a kernel file (.py).")
    ],
    seed: Seed = 1,
    vectors: Annotated[
        int | None,
        typer.Option(
            min=0,
            help=f"Random output lanes, after the corner cases; default: {USUAL_LANES:,}, or as many as "
            f"{USUAL_SETS} input sets have; with --rtl {SHORT_LANES:,}.",
        ),
    ] = None,
    opt: Annotated[str, typer.Option(help="Optimisation levels, separated by commas.")] = ",".join(LEVELS),
    mode: Mode = None,
    hold: Hold = None,
    engine: Annotated[str, typer.Option(help="lockstep, or machine: without the emulator, some 20 times faster.")] = (
        "lockstep"
    ),
    limit: Annotated[int, typer.Option(min=1, help="Instructions that one call may take.")] = MAX_INSTRUCTIONS,
    files: Files = None,
    symbol: Annotated[str | None, typer.Option(help="The function in it; default: the kernel's.")] = None,
    compile_with: CompileWith = None,
    march: March = None,
    cflags: Cflags = "",
    include: Include = None,
    beside: Beside = None,
    constructors: Constructors = False,
    coverage: Annotated[
        bool, typer.Option("--coverage", help="Say too which operand classes no lane met: minimum, tie, saturated...")
    ] = False,
    rtl: Annotated[bool, typer.Option("--rtl", help="Compare the hardware too, on the same vectors.")] = False,
    lanes: Annotated[int | None, typer.Option(help="Of the hardware: 4, 8 or 16 numbers a beat.")] = None,
    profile: Annotated[
        str | None, typer.Option(help="Of the hardware: shallow, deep, or register stages such as 7.")
    ] = None,
    modules: Annotated[
        Path | None,
        typer.Option(help="Of the hardware: a folder of modules of your own in the place of its."),
    ] = None,
    core: Processors = None,
    processes: Jobs = ALL_PROCESSORS,
    strict: Annotated[
        bool, typer.Option("--strict", help="End with 1 too where the check passes and its inputs could tell little.")
    ] = False,
    junit_file: Annotated[Path | None, typer.Option("--junit", help="Write the report as JUnit XML too.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Compile a kernel at every level and compare it, lane by lane, with its golden reference.

    Each build runs on the lane machine and in the emulator, instruction by instruction in lockstep; the kernel's
    program of intrinsics runs on the lane machine, the hardware in a simulator.  Corner cases come first, then seeded
    random vectors, then inputs that are aimed at steps of the golden reference and at mistakes in the code.  A kernel
    file is imported, so it runs as your own Python does.
    """
