"""`lanewise run`: one call of one function, on the lane machine and in the emulator."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from isa.errors import MISMATCH
from sim.call.call import CallError, CompiledKernel
from sim.call.capture import Capture
from sim.call.needs import lacking, processors_named
from sim.call.single import open_function, read_arguments
from sim.command.options import compile_flags, optimisation_flag, require_calls_file, save_calls, tell_lacking
from sim.kernels.kernel import Kernel
from sim.machine.errors import ExecutionError
from sim.terminal.output import fail, print_json, print_text


def run_function(
    file: Path,
    symbol: str,
    arguments: list[str] | None,
    opt: str,
    march: str | None,
    cflags: str,
    include: list[Path] | None,
    seed: int,
    core: str | None,
    capture: Path | None,
    as_json: bool,
) -> None:
    """Do what `lanewise run` says: its options are those of `sim.command.signatures.run`."""
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
