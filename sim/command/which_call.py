"""Which call `debug`, `gdb` and `trace` are to open, from the options that they share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sim.command.options import compile_flags, held_numbers, optimisation_flag
from sim.debug.request import DebugRequest


def request_of(
    *, what: str, symbol: str | None, arguments: Sequence[str] | None, opt: str, source: str | None, mode: str | None,
    length: int | None, input_set: int | None, inputs: str | None, failing: bool, vectors: int | None, seed: int,
    call: str | None, march: str | None, cflags: str, include: Sequence[Path] | None, beside: Sequence[Path] | None,
    limit: int, object_file: Path | None, kernel_symbol: str | None, compile_with: str | None, constructors: bool,
    hold: Sequence[str] | None, fault: Sequence[str] | None = None,
) -> DebugRequest:  # fmt: skip
    """What `sim.command.signatures.looking.which_call` takes; ends the command for what is none of its kind."""
    return DebugRequest(
        what=what, symbol=symbol, arguments=tuple(arguments or ()), level=optimisation_flag(opt),
        flags=compile_flags(march, cflags, include), beside=tuple(beside or ()), mode=mode, source=source,
        length=length, seed=seed, vectors=vectors, number=input_set, inputs=inputs, failing=failing,
        faults=tuple(fault or ()), call=call, limit=limit, object_file=object_file, kernel_symbol=kernel_symbol,
        compile_with=compile_with, constructors=constructors, hold=held_numbers(hold),
    )  # fmt: skip
