"""`lanewise capture`: calls of a kernel, written for `lanewise replay` here or elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sim.check.call import CallError, CompiledKernel
from sim.check.capture import Capture
from sim.check.vectors import Vectors
from sim.check_cli import chosen_kernel, chosen_vectors
from sim.compile_options import compile_flags, optimisation_flag
from sim.image import Image, ImageError
from sim.kernels.kernel import Kernel, KernelError
from sim.machine.errors import ExecutionError
from sim.objects import open_image
from sim.terminal import MISMATCH, MISSING, USAGE, fail, progress_bar
from sim.toolchain import ToolchainError, ToolchainUnavailable


def capture_calls(
    kernel: Annotated[str, typer.Argument(help="A kernel, or the path of a kernel file (.py).")],
    file: Annotated[Path, typer.Argument(help="Where to write the calls (.jsonl); their bytes go beside it (.npz).")],
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random vectors.")] = 1,
    vectors: Annotated[int, typer.Option(min=0, help="Random output lanes, after the corner cases.")] = 2000,
    opt: Annotated[str, typer.Option(help="Optimisation level of the source.")] = "O2",
    mode: Annotated[str | None, typer.Option(help="Which of the kernel's arithmetics; default: the first.")] = None,
    object_file: Annotated[
        Path | None, typer.Option("--object", help="Call the function in this file; default: the first source.")
    ] = None,
    march: Annotated[str | None, typer.Option(help="Compile for it, such as armv8.2-a+dotprod.")] = None,
    cflags: Annotated[str, typer.Option(help="More flags of the compiler, as in a shell.")] = "",
    include: Annotated[
        list[Path] | None, typer.Option(exists=True, file_okay=False, help="A folder of headers; may be repeated.")
    ] = None,
) -> None:
    """Call a kernel with the input sets of a check, on the lane machine, and write every call with what it left.

    The recorded results are the machine's own: `lanewise check` says whether they are right.
    """
    chosen = chosen_kernel(kernel, mode)
    made = chosen_vectors(chosen, vectors, seed)
    source = object_file or chosen.sources[0]
    flags = (optimisation_flag(opt), *chosen.flags, *compile_flags(march, cflags, include or []))
    try:
        calls = _captured(chosen, open_image(source, chosen.symbol, *flags), made)
    except ToolchainUnavailable as unavailable:
        fail(str(unavailable), MISSING)
    except (ImageError, ToolchainError, KernelError) as error:
        fail(str(error), USAGE)
    save_calls(calls, file)


def save_calls(calls: Capture, file: Path) -> None:
    """Write captured calls and say what to do with them; ends the command where that cannot be."""
    if file.suffix != ".jsonl":
        fail(f"captured calls are written to a file that ends in .jsonl, not to {file}", USAGE)
    try:
        calls.save(file)
    except OSError as error:
        fail(f"cannot write {file}: {error.strerror}", MISSING)
    typer.echo(f"wrote {len(calls)} calls to {file}; next: lanewise replay {file}")


def _captured(kernel: Kernel, image: Image, vectors: Vectors) -> Capture:
    """Every input set on a machine of its own, with the same junk around it, so that equal bytes are kept once."""
    calls = Capture()
    with progress_bar() as progress:
        task = progress.add_task("calls", total=len(vectors.inputs))
        for number, inputs in enumerate(vectors.inputs):
            name = f"{kernel.name} {number}"
            try:
                CompiledKernel(image, kernel).capture(kernel.arguments(inputs), 2 * vectors.seed, name, calls)
            except (ExecutionError, CallError) as error:
                fail(f"input set {number} cannot be captured: {error}", MISMATCH)
            progress.advance(task)
    return calls
