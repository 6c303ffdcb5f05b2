"""`lanewise run`: one call of one function, on the lane machine and in the emulator."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from isa.errors import MISMATCH
from sim.call.call import CallError, CompiledKernel
from sim.call.capture import Capture
from sim.call.needs import lacking, processors_named
from sim.call.single import open_function, read_arguments
from sim.command.options import (
    Cflags,
    Include,
    March,
    Processors,
    compile_flags,
    optimisation_flag,
    require_calls_file,
    save_calls,
    tell_lacking,
)
from sim.kernels.kernel import Kernel
from sim.machine.errors import ExecutionError
from sim.terminal.output import fail, print_json, print_text


def run_function(
    file: Annotated[Path, typer.Argument(help="A source, an object, a library, lib.a(member.o) or a linked program.")],
    symbol: Annotated[str, typer.Argument(help="The function, or its prototype where there is no debug information.")],
    arguments: Annotated[
        list[str] | None, typer.Argument(help="All in order: 7, 1.5; arrays 1,2,3 or zeros:16 or @values.npy; null.")
    ] = None,
    opt: Annotated[str, typer.Option(help="Optimisation level of a source.")] = "O2",
    march: March = None,
    cflags: Cflags = "",
    include: Include = None,
    seed: Annotated[int, typer.Option(min=0, help="Of what the caller does not define: registers, stack.")] = 0,
    core: Processors = None,
    capture: Annotated[Path | None, typer.Option(help="Write the call for lanewise replay (.jsonl).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Call a function once, in lockstep; print its result, the arrays that it may change, and the instruction count.

    Arguments are read by the types of the function's debug information (a source always has it), or of the prototype
    given in place of its name, such as "void f(const int8_t a[n], int8_t b[n], size_t n)".
    """
    require_calls_file("--capture", capture)
    flags = (optimisation_flag(opt), *compile_flags(march, cflags, include))
    processors = processors_named(core)
    try:
        name, image, prototype = open_function(file, symbol, flags)
        shaped, values = read_arguments(prototype.signature, arguments or [])
        kernel = Kernel(name=name, symbol=name, sources=(file,), signature=shaped, golden=dict)
        compiled = CompiledKernel(image, kernel)
        result = compiled.call(values, seed)
    except (ExecutionError, CallError) as error:
        fail(f"the call stops: {error}", MISMATCH)
    if result.divergence is not None:
        fail(str(result.divergence), MISMATCH)
    outputs, lacked = result.outputs["machine"], lacking(compiled.needs, processors)
    if as_json:
        lists = {key: array.tolist() for key, array in outputs.items()}
        told = {"lacking": list(map(str, lacked))} if processors else {}
        print_json({"outputs": lists, "instructions": result.instructions, "qc_events": result.qc_events, **told})
    else:
        for key, array in outputs.items():
            text = np.array2string(array, separator=", ", threshold=4096) if array.shape else str(array.item())
            print_text(f"{key} = {text}")
        print_text(f"{result.instructions} instructions")
    if capture is not None:
        calls = Capture()
        CompiledKernel(image, kernel).capture(values, seed, name, calls)
        save_calls(calls, capture)
    tell_lacking(lacked, quiet=as_json)
