"""What `lanewise run` takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sim.call.limits import MAX_INSTRUCTIONS
from sim.command.signatures.shared import (
    LONGEST,
    AsJson,
    Beside,
    Cflags,
    CompileWith,
    Constructors,
    Include,
    March,
    Processors,
)
from sim.terminal.on_demand import done_by


@done_by("sim.command.running.run:run_function")
def run_function(
    file: Annotated[Path, typer.Argument(help="A source, an object, a library, lib.a(member.o) or a linked program.")],
    symbol: Annotated[str, typer.Argument(help="The function, or its prototype where there is no debug information.")],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(help="All in order: 7, 1.5; arrays 1,2,3 or zeros:16 or @values.npy; null; JSON."),
    ] = None,
    arguments_file: Annotated[
        Path | None,
        typer.Option("--arguments", help="All of them in a JSON file: a list in order, or an object by name."),
    ] = None,
    opt: Annotated[str, typer.Option(help="Optimisation level of a source.")] = "O2",
    compile_with: CompileWith = None,
    march: March = None,
    cflags: Cflags = "",
    include: Include = None,
    beside: Beside = None,
    constructors: Constructors = False,
    seed: Annotated[int, typer.Option(min=0, help="Of what the caller does not define: registers, stack.")] = 0,
    core: Processors = None,
    limit: Annotated[int, typer.Option(min=1, help="Instructions that the call may take.")] = MAX_INSTRUCTIONS,
    timeout: Annotated[
        float | None, typer.Option(min=0.01, max=LONGEST, help="Seconds that the call may take.")
    ] = None,
    capture: Annotated[Path | None, typer.Option(help="Write the call for lanewise replay (.jsonl).")] = None,
    as_json: AsJson = False,
) -> None:
    """Call a function once, in lockstep; print its result, the arrays that it may change, and the instruction count.

    Arguments are read by the types of the function's debug information (a source always has it), or of the prototype
    given in place of its name, such as "void f(const int8_t a[n], int8_t b[n], size_t n)".  A call that takes more than
    --limit or --timeout allows is stopped: that is no verdict.
    """
