"""`lanewise run`: one call of one function, on the lane machine and in the emulator."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from sim.capture_cli import save_calls
from sim.check.call import CallError, CallResult, CompiledKernel
from sim.check.capture import Capture
from sim.check.single import ArgumentError, open_function, read_arguments
from sim.compile_options import compile_flags, optimisation_flag
from sim.image import ImageError
from sim.kernels.kernel import Kernel, KernelError
from sim.kernels.prototype import PrototypeError
from sim.machine.errors import ExecutionError
from sim.terminal import MISMATCH, MISSING, USAGE, fail, print_json
from sim.toolchain import ToolchainError, ToolchainUnavailable


def run_function(
    file: Annotated[Path, typer.Argument(help="A source, an object, a library, lib.a(member.o) or a linked program.")],
    symbol: Annotated[str, typer.Argument(help="The function, or its prototype where there is no debug information.")],
    arguments: Annotated[
        list[str] | None, typer.Argument(help="All in order: 7, 1.5; arrays 1,2,3 or zeros:16 or @values.npy; null.")
    ] = None,
    opt: Annotated[str, typer.Option(help="Optimisation level of a source.")] = "O2",
    march: Annotated[str | None, typer.Option(help="Compile for it, such as armv8.2-a+dotprod.")] = None,
    cflags: Annotated[str, typer.Option(help="More flags of the compiler, as in a shell.")] = "",
    include: Annotated[
        list[Path] | None, typer.Option(exists=True, file_okay=False, help="A folder of headers; may be repeated.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of what the caller does not define: registers, stack.")] = 0,
    capture: Annotated[Path | None, typer.Option(help="Write the call for lanewise replay (.jsonl).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Call a function once, in lockstep; print its result, the arrays that it may change, and the instruction count.

    Arguments are read by the types of the function's debug information (a source always has it), or of the prototype
    given in place of its name, such as "void f(const int8_t a[n], int8_t b[n], size_t n)".
    """
    flags = (optimisation_flag(opt), *compile_flags(march, cflags, include or []))
    try:
        name, image, prototype = open_function(file, symbol, flags)
        shaped, values = read_arguments(prototype.signature, arguments or [])
        kernel = Kernel(name, name, (file,), shaped, golden=dict)
        result = CompiledKernel(image, kernel).call(values, seed)
    except ToolchainUnavailable as unavailable:
        fail(str(unavailable), MISSING)
    except (ArgumentError, PrototypeError, ImageError, ToolchainError, KernelError) as error:
        fail(str(error), USAGE)
    except (ExecutionError, CallError) as error:
        fail(f"the call stops: {error}", MISMATCH)
    if result.divergence is not None:
        fail(str(result.divergence), MISMATCH)
    _print(result, as_json)
    if capture is not None:
        calls = Capture()
        CompiledKernel(image, kernel).capture(values, seed, name, calls)
        save_calls(calls, capture)


def _print(result: CallResult, as_json: bool) -> None:
    outputs = result.outputs["machine"]
    if as_json:
        values = {name: array.tolist() for name, array in outputs.items()}
        print_json({"outputs": values, "instructions": result.instructions, "qc_events": result.qc_events})
        return
    for name, array in outputs.items():
        typer.echo(f"{name} = {_text(array)}")
    typer.echo(f"{result.instructions} instructions")


def _text(array: np.ndarray[Any, Any]) -> str:
    return str(array.item()) if not array.shape else np.array2string(array, separator=", ", threshold=4096)
