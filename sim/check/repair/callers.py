"""A changed function as only some of its calls find it: what is right so says that these calls are at fault."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from isa.instruction import Instruction
from isa.lane import Lane, Place, Write, constant, load, read, select
from sim.check.repair.alternative import Alternative, Beside
from sim.check.repair.code import ExecutedCode
from sim.check.repair.steps import low_bits, with_body

Calls = tuple[int, ...]
"""The addresses of the instructions that call a function."""
WORD_BYTES: Final = 4
"""Of an instruction."""


def calls_by_line(code: ExecutedCode, start: int) -> dict[str, Calls]:
    """The executed calls of the function that begins at an address, by the line that makes them."""
    found: dict[str, Calls] = {}
    for at, instruction in code.instructions.items():
        if start != code.entry and instruction.text == f"bl #{start:#x}":
            found[code.line(at)] = (*found.get(code.line(at), ()), at)
    return found


def called_otherwise(code: ExecutedCode, changes: Collection[Alternative]) -> Iterator[Alternative]:
    """The changes of functions that several lines call as each of these lines alone finds them."""
    callers = {start: calls_by_line(code, start) for start in {code.start(change.pc) for change in changes}}
    for change in changes:
        by_line = callers[code.start(change.pc)]
        for line, calls in by_line.items() if len(by_line) > 1 else ():
            if some := only_from(code, change, [calls]):
                yield replace(some, says=f"{change.says} where {line} calls it", beside=Beside(calls=calls))


def only_from(code: ExecutedCode, change: Alternative, callers: Sequence[Calls]) -> Alternative | None:
    """The change where its function is called by one of the first calls, those by one of the next ones, and so on up.

    None where the two instructions write to different places.
    """
    is_called = constant(1)
    for calls, returns_to in zip(callers, islice(_return_addresses(code, change.pc), len(callers)), strict=True):
        is_one = constant(0)
        for call in calls:
            is_one |= returns_to.equals(call + WORD_BYTES)
        is_called &= is_one
    changed = _where(is_called, change.instruction, change.original)
    return replace(change, instruction=changed) if changed is not None else None


def _return_addresses(code: ExecutedCode, pc: int) -> Iterator[Lane]:
    """Where the function of an instruction returns to, then where the one that called it does, and so on.

    As long as a function calls no other, its frame is that of its caller, and the address is still in x30.
    """
    frame = read(Place("x", 29))
    if code.keeps_frame(pc):
        yield load(frame + 8, 8)
        frame = load(frame, 8)
    else:
        yield read(Place("x", 30))
    while True:
        yield load(frame + 8, 8)
        frame = load(frame, 8)


def _where(condition: Lane, one: Instruction, other: Instruction) -> Instruction | None:
    """An instruction that is the one where a condition is 1, and else the other."""
    if [(w.place, w.bits, len(w.lanes)) for w in one.writes] != [(w.place, w.bits, len(w.lanes)) for w in other.writes]:
        return None
    writes = []
    for a, b in zip(one.writes, other.writes, strict=True):
        lanes = [select(condition, x, y) for x, y in zip(a.lanes, b.lanes, strict=True)]
        writes.append(Write(a.place, a.bits, [low_bits(lane, a.bits) for lane in lanes]))
    return with_body(other, lambda *operands: tuple(writes))
