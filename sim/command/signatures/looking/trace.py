"""What `lanewise trace` takes."""

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
    Function,
    Inputs,
    InputSet,
    Length,
    Level,
    Number,
    Source,
    Text,
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


@done_by("sim.command.running.trace:trace")
def trace(
    what: What,
    symbol: Function = None,
    arguments: Arguments = None,
    form: Annotated[str, typer.Option("--format", help="text, json (an object a line), tarmac or vcd.")] = "text",
    output: Annotated[
        Path | None, typer.Option(help="Write it there, of vcd with FILE.gtkw and FILE.sucl for the viewers.")
    ] = None,
    first: Annotated[int, typer.Option("--from", min=0, help="The number of the first instruction.")] = 0,
    last: Annotated[Number, typer.Option("--to", min=0, help="The number of the instruction to end before.")] = None,
    at: Annotated[Text, typer.Option("--at", help="Only at an address, FILE:LINE or function.")] = None,
    writes: Annotated[Text, typer.Option(help="Only what writes this register, such as v3.")] = None,
    lanes: Annotated[str, typer.Option(help="Of vcd: registers in lanes of b, h, s or d.")] = "s",
    opt: Level = "O2",
    source: Source = None,
    mode: Mode = None,
    length: Length = None,
    input_set: InputSet = None,
    inputs: Inputs = None,
    failing: Failing = False,
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
    """Write down every instruction that a call executes, with the lanes that it wrote.

    Text is for people, JSON lines for programs, Tarmac for Arm's tools, VCD for GTKWave and Surfer.
    """
