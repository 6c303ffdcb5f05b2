"""What `lanewise debug` takes."""

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


@done_by("sim.command.running.debug:debug")
def debug(
    what: What,
    symbol: Function = None,
    arguments: Arguments = None,
    script: Annotated[Path | None, typer.Option(help="Commands to execute, a line each, in place of a prompt.")] = None,
    html: Annotated[
        Path | None, typer.Option(help="Write a page for a browser of where it stands, in place of a prompt.")
    ] = None,
    plain: Annotated[bool, typer.Option("--plain", help="A prompt in place of the application.")] = False,
    opt: Level = "O2",
    source: Source = None,
    mode: Mode = None,
    length: Length = None,
    input_set: InputSet = None,
    inputs: Inputs = None,
    failing: Failing = False,
    fault: Faults = None,
    diff: Annotated[
        str | None, typer.Option(help="Begin where another build parts from it, such as '-O0' or 'old.c:function -O2'.")
    ] = None,
    wrong: Annotated[
        str | None,
        typer.Option(metavar="SPOT", help="This is wrong at the end, such as '*0x1000:4': begin where it is written."),
    ] = None,
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
    """Stand on any instruction of one call: step, go back, look at lanes, ask why.

    It begins where the call goes wrong, if it does: where a guard finds something, machine and emulator differ, or a
    lane parts from the golden reference. On a terminal it is an application, in which ? lists the keys; with --plain,
    or without textual, commands are asked for at a prompt, and read from stdin where that is no terminal; help lists
    them. A page shows the same without lanewise: a slider over the instructions, the golden reference beside the
    lanes, why they are what they are; behind a script, where that has gone.
    """
