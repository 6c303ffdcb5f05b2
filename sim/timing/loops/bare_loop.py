"""A loop of which only the code is there, without a caller: found in it, run a few times, and written on.

`sim.timing.loops.body_run` says on what it is run.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Final

from isa.acle.assembly import architecture
from isa.rows import TABLE
from sim.timing.loops.body import BareLoopError, Body, find_body
from sim.timing.loops.body_run import BodyRun
from sim.timing.loops.loop import Loop
from sim.timing.model.stream import Executed
from sim.toolchain.compilers import build, build_text, is_source
from sim.toolchain.objects import open_image

__all__ = [
    "ASSUMED",
    "BareLoopError",
    "Body",
    "body_in_file",
    "body_in_text",
    "find_body",
    "loop_of_body",
    "stream_of_body",
]

ASSUMED: Final = (
    "assumed: the closing branch is taken, other branches of the body go as memory and registers of zeros decide, "
    "pointers are far apart"
)
"""What nobody said of a loop without a caller; `sim.timing.loops.body_run` does so."""
_KEEP_LABELS = "-Wa,-L"  # else the assembler leaves those that begin with .L out of the symbol table
_SETTLING = 2  # iterations until what registers held before the first one is in no address any more


def body_in_file(path: Path, label: str | None, *flags: str) -> Body:
    """`find_body` in a file: a source, for which a label may be None, or whatever else `open_image` takes.

    Raises BareLoopError, and what `open_image` raises.
    """
    if is_source(path):
        return find_body(replace(build(path, _any_target(), *flags, _KEEP_LABELS), path=path), label)
    if label is None:
        raise BareLoopError(f"{path} is compiled: name the function or the label of its loop")
    return find_body(open_image(path, label), label)


def body_in_text(text: str, label: str | None = None, *flags: str) -> Body:
    """`find_body` in assembly.  Raises BareLoopError, and what `build` raises."""
    return find_body(build_text(text, ".s", _any_target(), *flags, _KEEP_LABELS), label)


def _any_target() -> str:
    """The flag by which the assembler takes every instruction of the table, and cryptography, which is refused by name.

    An assembler need not know the core that a loop is timed for.
    """
    return f"-march={architecture(TABLE.forms.values())}+crypto"


def loop_of_body(body: Body) -> Loop:
    """The loop that repeats the body.

    Raises BareLoopError where the body cannot be executed, where its iterations differ in what they execute, and where
    an address does not move by the same distance each time: `stream_of_body` takes such a body.
    """
    run = BodyRun(body)
    iterations = [run.iteration() for _ in range(_SETTLING + 3)][_SETTLING:]
    first, second, third = ([one.pc for one in iteration] for iteration in iterations)
    if not first == second == third:
        raise BareLoopError("the iterations take different ways through the loop: give it as a stream of iterations")
    strides = []
    for times in zip(*iterations, strict=True):
        addresses = [[address for address, _ in (*one.loads, *one.stores)] for one in times]
        step, again = (  # from one 64-bit address to another, the shorter way round
            tuple((b - a + 2**63) % 2**64 - 2**63 for a, b in zip(before, after, strict=True))
            for before, after in pairwise(addresses)
        )
        if step != again:
            text = times[0].instruction.text
            raise BareLoopError(f"the address of {text} does not move by a constant stride: give the loop as a stream")
        strides.append(step)
    return Loop(tuple(iterations[0]), tuple(strides))


def stream_of_body(body: Body, iterations: int) -> list[Executed]:
    """So many iterations of the body.  Raises BareLoopError where it cannot be executed."""
    run = BodyRun(body)
    return list(chain.from_iterable(run.iteration() for _ in range(iterations)))
