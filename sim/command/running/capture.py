"""`lanewise capture`: calls of a kernel, written for `lanewise replay` here or elsewhere."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from isa.errors import MISMATCH
from sim.attached.conversation import Conversation
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
from sim.terminal.output import fail, print_text, progress_bar, writing_file


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
    gdb: bool,
) -> None:
    """Do what `lanewise capture` says: its options are those of `sim.command.signatures.capture`.

    `gdb` has had its answer already.
    """
    require_calls_file("", file)
    if kernel == "-":
        _capture_for_gdb(file)
        return
    chosen = chosen_kernel(kernel, mode)
    made = chosen_vectors(chosen, vectors, seed)
    if object_file is None and not chosen.sources:
        fail(f"{chosen.title} has no sources: there is no code to call; --object gives some")
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


def _capture_for_gdb(file: Path) -> None:
    """Write the calls that the script of gdb hands over on stdin, to a file that must be new."""
    for there in filter(Path.exists, (file, file.with_suffix(".npz"))):
        fail(f"{there} is there already: calls are captured to a new file")
    conversation = Conversation(iter(sys.stdin.readline, ""), print_text, file)
    with writing_file(file):
        try:
            conversation.hold()
        finally:
            handler = signal.signal(signal.SIGINT, signal.SIG_IGN)  # what is captured is written all the same
            conversation.save()
            signal.signal(signal.SIGINT, handler)
