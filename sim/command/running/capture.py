"""`lanewise capture`: calls of a kernel, written for `lanewise replay` here or elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from isa.errors import MISMATCH
from sim.call.call import CallError, CompiledKernel
from sim.call.capture import Capture
from sim.command.options import (
    Cflags,
    Include,
    March,
    Mode,
    RandomLanes,
    Seed,
    chosen_kernel,
    chosen_vectors,
    compile_flags,
    optimisation_flag,
    require_calls_file,
    save_calls,
)
from sim.machine.errors import ExecutionError
from sim.terminal.output import fail, progress_bar
from sim.toolchain.objects import open_image


def capture_calls(
    kernel: Annotated[str, typer.Argument(help="A kernel, or the path of a kernel file (.py).")],
    file: Annotated[Path, typer.Argument(help="Where to write the calls (.jsonl); their bytes go beside it (.npz).")],
    seed: Seed = 1,
    vectors: RandomLanes = 2000,
    opt: Annotated[str, typer.Option(help="Optimisation level of the source.")] = "O2",
    mode: Mode = None,
    object_file: Annotated[
        Path | None, typer.Option("--object", help="Call the function in this file; default: the first source.")
    ] = None,
    march: March = None,
    cflags: Cflags = "",
    include: Include = None,
) -> None:
    """Call a kernel with the input sets of a check, on the lane machine, and write every call with what it left.

    The recorded results are the machine's own: `lanewise check` says whether they are right.
    """
    require_calls_file("FILE", file)
    chosen = chosen_kernel(kernel, mode)
    made = chosen_vectors(chosen, vectors, seed)
    source = object_file or chosen.sources[0]
    flags = (optimisation_flag(opt), *chosen.flags, *compile_flags(march, cflags, include))
    image = open_image(source, chosen.symbol, *flags)
    calls = Capture()
    with progress_bar() as progress:
        task = progress.add_task("calls", total=len(made.inputs))
        for number, inputs in enumerate(made.inputs):
            name = f"{chosen.name} {number}"
            try:
                # each on a machine of its own, with the same bytes around it, so that equal bytes are kept once
                CompiledKernel(image, chosen).capture(chosen.arguments(inputs), 2 * made.seed, name, calls)
            except (ExecutionError, CallError) as error:
                fail(f"input set {number} cannot be captured: {error}", MISMATCH)
            progress.advance(task)
    save_calls(calls, file)
