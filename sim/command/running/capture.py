"""`lanewise capture`: calls of a kernel, written for `lanewise replay` here or elsewhere."""

from __future__ import annotations

from pathlib import Path

from isa.errors import MISMATCH
from sim.call.call import CallError, CompiledKernel
from sim.call.capture import Capture
from sim.call.kernel_image import open_kernel
from sim.command.options import (
    chosen_kernel,
    chosen_vectors,
    compile_flags,
    optimisation_flag,
    require_calls_file,
    save_calls,
)
from sim.machine.errors import ExecutionError
from sim.terminal.output import fail, progress_bar


def capture_calls(
    kernel: str,
    file: Path,
    seed: int,
    vectors: int,
    opt: str,
    mode: str | None,
    object_file: Path | None,
    march: str | None,
    cflags: str,
    include: list[Path] | None,
) -> None:
    """Do what `lanewise capture` says: its options are those of `sim.command.signatures.capture`."""
    require_calls_file("FILE", file)
    chosen = chosen_kernel(kernel, mode)
    made = chosen_vectors(chosen, vectors, seed)
    source = object_file or chosen.sources[0]
    flags = (optimisation_flag(opt), *chosen.flags, *compile_flags(march, cflags, include))
    image = open_kernel(chosen, source, *flags)
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
