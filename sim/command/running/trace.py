"""`lanewise trace`: what a call executes, written down."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TextIO

from isa.errors import INTERRUPTED, MISMATCH, USAGE
from sim.command.which_call import request_of
from sim.debug.conditions import At
from sim.debug.request import find_call
from sim.debug.session import Session
from sim.debug.trace.selection import Selection
from sim.debug.trace.tarmac import tarmac_trace
from sim.debug.trace.text import json_trace, text_trace
from sim.debug.trace.vcd import LANE_BITS, gtkwave_save, surfer_commands, vcd_trace
from sim.terminal.output import fail, print_progress, require_one_of, write_file, writing_file, writing_to
from sim.terminal.writable import require_writable

_FORMS = ("text", "json", "tarmac", "vcd")
_AT_ONCE = 4096
"""Lines."""


def trace(
    what: str,
    symbol: str | None,
    arguments: list[str] | None,
    form: str,
    output: Path | None,
    first: int,
    last: int | None,
    at: str | None,
    writes: str | None,
    lanes: str,
    opt: str,
    source: str | None,
    mode: str | None,
    length: int | None,
    input_set: int | None,
    inputs: str | None,
    failing: bool,
    vectors: int | None,
    seed: int,
    call: str | None,
    march: str | None,
    cflags: str,
    include: list[Path] | None,
    beside: list[Path] | None,
    limit: int,
    object_file: Path | None,
    kernel_symbol: str | None,
    compile_with: str | None,
    constructors: bool,
    hold: list[str] | None,
) -> None:
    """Do what `lanewise trace` says: its options are those of `sim.command.signatures.looking.trace`."""
    chosen = require_one_of("--format", form, _FORMS)
    require_one_of("--lanes", lanes, tuple(LANE_BITS))
    require_writable("--output", output)
    if last is not None and last <= first:
        fail(f"--to {last} ends the trace before --from {first} begins it", USAGE)
    wanted = request_of(
        what=what, symbol=symbol, arguments=arguments, opt=opt, source=source, mode=mode, length=length,
        input_set=input_set, inputs=inputs, failing=failing, vectors=vectors, seed=seed, call=call, march=march,
        cflags=cflags, include=include, beside=beside, limit=limit, object_file=object_file,
        kernel_symbol=kernel_symbol, compile_with=compile_with, constructors=constructors, hold=hold,
    )  # fmt: skip
    session = Session(find_call(wanted))
    places = At(frozenset(pc for each in session.code_of(at) for pc in each)) if at is not None else None
    written = session.spot(writes) if writes is not None else None
    if written is not None and written.register is None:
        fail(f"--writes takes a register, not {writes!r}")
    selection = Selection(first, last, places, written)
    made: dict[str, Callable[[Session, Selection], Iterator[str]]]
    made = {"text": text_trace, "json": json_trace, "tarmac": tarmac_trace, "vcd": partial(vcd_trace, lanes=lanes)}
    try:
        count = _write(made[chosen](session, selection), output)
    except KeyboardInterrupt:
        fail("interrupted: the trace is not whole", INTERRUPTED)
    if output is not None and chosen == "vcd":
        for suffix, save in ((".gtkw", gtkwave_save), (".sucl", surfer_commands)):
            write_file(output.with_name(output.name + suffix), "".join(f"{line}\n" for line in save(lanes)).encode())
    session.goto_end()
    if not session.timeline.returned and last is None:
        fail(
            f"the call does not return: {session.timeline.fault or f'it takes more than {limit:,} instructions'}",
            MISMATCH,
        )
    if not count:
        print_progress(f"none of the {session.position:,} instructions that the call executes is what was asked for")
    if output is not None:
        print_progress(f"wrote {output}: {session.position:,} instructions executed")


def _write(lines: Iterator[str], output: Path | None) -> int:
    """Write lines as they are made, so that a long trace takes no memory; how many they were."""
    count = 0
    with ExitStack() as opened:
        if output is None:
            opened.enter_context(writing_to(sys.stdout))
            file: TextIO = sys.stdout
        else:
            opened.enter_context(writing_file(output))
            file = opened.enter_context(output.open("w", encoding="utf-8"))
        while some := list(islice(lines, _AT_ONCE)):
            file.write("\n".join(some) + "\n")
            count += len(some)
        file.flush()
    return count
