"""`lanewise run`: one call of one function, on the lane machine and in the emulator."""

from __future__ import annotations

import _thread
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import numpy as np

from isa.errors import MISMATCH, MISSING
from sim.call.call import CallError, CompiledKernel
from sim.call.capture import Capture
from sim.call.guards.findings import GuardError
from sim.call.needs import lacking, processors_named
from sim.call.single import open_function, read_arguments
from sim.command.arguments_file import arguments_in
from sim.command.options import (
    as_compiled,
    compile_flags,
    optimisation_flag,
    require_calls_file,
    save_calls,
    tell_lacking,
)
from sim.kernels.kernel import Kernel
from sim.machine.errors import ExecutionError
from sim.terminal.output import fail, print_json, print_progress, print_text, progress_bar

_SECONDS_A_LOOK, _SECONDS_A_LINE = 0.2, 10.0
"""Between looks at how far a call is, and between lines of progress where stderr is no terminal."""


def run_function(
    file: Path,
    symbol: str,
    arguments: list[str] | None,
    arguments_file: Path | None,
    opt: str,
    compile_with: str | None,
    march: str | None,
    cflags: str,
    include: list[Path] | None,
    beside: list[Path] | None,
    constructors: bool,
    seed: int,
    core: str | None,
    limit: int,
    timeout: float | None,
    capture: Path | None,
    as_json: bool,
) -> None:
    """Do what `lanewise run` says: its options are those of `sim.command.signatures.run`."""
    if arguments and arguments_file is not None:
        fail("give the arguments in --arguments or behind the function, not both")
    require_calls_file("--capture", capture)
    flags = (optimisation_flag(opt), *compile_flags(march, cflags, include))
    processors = processors_named(core)
    try:
        name, image, prototype = open_function(
            as_compiled(file, compile_with), symbol, flags, beside or (), constructors
        )
        texts = arguments_in(arguments_file, prototype.signature) if arguments_file is not None else arguments or []
        shaped, values = read_arguments(prototype.signature, texts)
        kernel = Kernel(name=name, symbol=name, sources=(file,), signature=shaped, golden=dict)
        compiled = CompiledKernel(image, kernel, max_instructions=limit)
        with _watched(compiled, limit, timeout):
            result = compiled.call(values, seed)
    except (ExecutionError, CallError) as error:
        if isinstance(error, GuardError) and error.finding.kind == "instruction limit" and compiled.executed >= limit:
            fail(f"stopped, without a verdict: {error}; --limit allows more", MISSING)
        fail(f"the call stops: {error}", MISMATCH)
    if result.divergence is not None:
        fail(str(result.divergence), MISMATCH)
    outputs, lacked = result.outputs["machine"], lacking(compiled.needs, processors)
    if as_json:
        lists = {key: array.tolist() for key, array in outputs.items()}
        told = {"lacking": list(map(str, lacked))} if processors else {}
        print_json(
            "run", {"outputs": lists, "instructions": result.instructions, "qc_events": result.qc_events, **told}
        )
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


@contextmanager
def _watched(compiled: CompiledKernel, limit: int, timeout: float | None) -> Iterator[None]:
    """Show how far a call is while it runs; end the command where it takes longer than so many seconds."""
    returned, late = Event(), Event()
    begun = said = time.monotonic()
    with progress_bar() as progress:
        task = progress.add_task("instructions", total=limit)

        def look() -> None:
            nonlocal said
            while not returned.wait(_SECONDS_A_LOOK):
                seconds, executed = time.monotonic() - begun, compiled.executed
                pace = f"instructions, {executed / seconds / 1e6:.1f} M/s"
                progress.update(task, completed=executed, description=pace)
                if progress.disable and begun + seconds - said > _SECONDS_A_LINE:
                    print_progress(f"{executed:,} {pace}")
                    said = begun + seconds
                if timeout is not None and seconds > timeout:
                    late.set()
                    _thread.interrupt_main()
                    return

        watching = Thread(target=look, daemon=True)
        watching.start()
        try:
            yield
        except KeyboardInterrupt:
            if not late.is_set():
                raise
            executed = compiled.executed
            fail(
                f"stopped, without a verdict: the call did not return within {timeout:g} seconds, "
                f"{executed:,} instructions; --timeout allows more",
                MISSING,
            )
        finally:
            returned.set()
            watching.join()
