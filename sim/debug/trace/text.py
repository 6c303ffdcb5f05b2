"""A trace as text and as JSON lines: an executed instruction a line, with the lanes that it wrote."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from isa.instruction import Instruction
from sim.call.native.recorder import Array, Recording
from sim.debug.session import Session
from sim.debug.snapshot import named_memory
from sim.debug.spots import lane_numbers
from sim.debug.trace.selection import (
    Selection,
    ShownRegister,
    accesses_of,
    each_instruction,
    register_lanes,
    shown_registers,
)

_Form = Callable[[Session, int, Instruction, list[ShownRegister]], str]
"""The line of an instruction, with a place for its number and one for each lane."""


def text_trace(session: Session, selection: Selection) -> Iterator[str]:
    """Lines: number, address, source line, instruction, registers as lanes, then what was stored where: whole elements
    of an array as its numbers, the first one first, all else as one hexadecimal number.
    """
    for recording, numbers in selection.recordings(session):
        lines = _lines(session, recording, numbers, _text_form)
        for number, address, data, is_store in accesses_of(recording, numbers):
            if is_store:
                name, kind = named_memory(session, address, data)
                told = data[::-1].hex() if kind[0] == "x" else " ".join(map(str, lane_numbers(data, kind)))
                lines[number] += f"  {name} = {told}"
        yield from _in_order(lines)


def json_trace(session: Session, selection: Selection) -> Iterator[str]:
    """JSON objects a line: number, pc, source, `inlined` if it was (`Image.inlined_at`), instruction, registers by name
    with the lanes they were written in ("v3.4s"), memory as address, hexadecimal bytes in their order, and whether they
    were stored.

    Lanes of floating point are texts, as JSON has no NaN.
    """
    for recording, numbers in selection.recordings(session):
        lines = _lines(session, recording, numbers, _json_form)
        accesses: dict[int, list[list[Any]]] = {}
        for number, address, data, is_store in accesses_of(recording, numbers):
            accesses.setdefault(number, []).append([f"{address:#x}", data.hex(), is_store])
        for number, each in accesses.items():
            lines[number] = f'{lines[number][:-1]}, "memory": {json.dumps(each)}}}'
        yield from _in_order(lines)


def _lines(session: Session, recording: Recording, numbers: Array, form: _Form) -> dict[int, str]:
    """The lines of some executed instructions, made together for all executions of the same one."""
    found: dict[int, str] = {}
    for pc, instruction, own in each_instruction(recording, numbers):
        registers = shown_registers(instruction)
        template = form(session, pc, instruction, registers)
        columns = [column for each in registers for column in register_lanes(recording, each, own).T.tolist()]
        rows = zip((own + recording.start).tolist(), *columns, strict=True)
        found.update(zip(own.tolist(), [template % row for row in rows], strict=True))
    return found


def _in_order(lines: dict[int, str]) -> Iterator[str]:
    return (lines[number] for number in sorted(lines))


def _text_form(session: Session, pc: int, instruction: Instruction, registers: list[ShownRegister]) -> str:
    head = f"{pc:#x}  {session.source_of(pc):18} {instruction.text:40}".replace("%", "%%")
    parts = [f"{each.name} ={' %s' * each.lanes}" for each in registers]
    calls = session.inlined_at(pc).replace("%", "%%")
    return f"%9d  {head} {'  '.join(parts)}{f'  ({calls})' if calls else ''}".rstrip()


def _json_form(session: Session, pc: int, instruction: Instruction, registers: list[ShownRegister]) -> str:
    known = {"pc": f"{pc:#x}", "source": session.source_of(pc)}
    known |= {"inlined": calls} if (calls := session.inlined_at(pc)) else {}
    known |= {"instruction": instruction.text}
    head = json.dumps(known)[1:-1].replace("%", "%%")
    parts = []
    for each in registers:
        lane = "%d" if np.dtype(each.dtype).kind in "iu" else '"%s"'
        parts.append(f'"{each.name}": [{", ".join([lane] * each.lanes)}]')
    return f'{{"number": %d, {head}, "registers": {{{", ".join(parts)}}}}}'
