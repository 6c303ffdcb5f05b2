"""What `lanewise gdb` takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sim.call.limits import MAX_INSTRUCTIONS
from sim.command.signatures.looking.which_call import (
    Arguments,
    CallLimit,
    CallSeed,
    CapturedId,
    Failing,
    Faults,
    Function,
    Inputs,
    InputSet,
    Length,
    Level,
    Source,
    Vectors,
    What,
)
from sim.command.signatures.shared import (
    Beside,
    Cflags,
    CompileWith,
    Constructors,
    Hold,
    Include,
    KernelSymbol,
    March,
    Mode,
    ObjectFile,
)
from sim.terminal.on_demand import done_by


@done_by("sim.command.running.gdb:serve_gdb")
def serve_gdb(
    what: What,
    symbol: Function = None,
    arguments: Arguments = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="On this computer; default: a free one.")] = 0,
    elf: Annotated[Path | None, typer.Option(help="Write the program there, for gdb's symbols and lines.")] = None,
    once: Annotated[bool, typer.Option("--once", help="End when the first client has gone.")] = False,
    opt: Level = "O2",
    source: Source = None,
    mode: Mode = None,
    length: Length = None,
    input_set: InputSet = None,
    inputs: Inputs = None,
    failing: Failing = False,
    fault: Faults = None,
    vectors: Vectors = None,
    seed: CallSeed = 1,
    call: CapturedId = None,
    march: March = None,
    cflags: Cflags = "",
    include: Include = None,
    beside: Beside = None,
    limit: CallLimit = MAX_INSTRUCTIONS,
    object_file: ObjectFile = None,
    kernel_symbol: KernelSymbol = None,
    compile_with: CompileWith = None,
    constructors: Constructors = False,
    hold: Hold = None,
) -> None:
    """Serve one call to gdb-multiarch, forwards and back: lanes, breakpoints, watchpoints, monitor why.

    The line that starts gdb is printed. It stops by itself where a guard finds something, machine and emulator differ,
    or a lane parts from the golden reference. Ctrl-C ends it.
    """
