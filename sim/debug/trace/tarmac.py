"""A trace in Tarmac, the text trace of Arm's models, which Arm's tarmac-trace-utilities read.

Source: the formats that the parser of tarmac-trace-utilities documents (parser.cpp): IT lines of instructions, R lines
of registers, MR and MW lines of memory, numbers in hexadecimal with the most significant digit first.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sim.debug.session import Session
from sim.debug.trace.selection import Selection, accesses_of, each_instruction, shown_registers


def tarmac_trace(session: Session, selection: Selection) -> Iterator[str]:
    """Lines of a trace; the clock is the number of the instruction."""
    for recording, numbers in selection.recordings(session):
        lines: dict[int, list[str]] = {}
        for pc, instruction, own in each_instruction(recording, numbers):
            word = int.from_bytes(session.machine.memory.read(pc, 4), "little")
            text = instruction.text
            registers = shown_registers(instruction)
            rows = recording.first_values[own]
            for at, first in zip(own.tolist(), rows.tolist(), strict=True):
                clock = at + recording.start
                found = [f"{clock} clk cpu0 IT ({clock}) {pc:016x} {word:08x} O EL0t_n : {text}"]
                for each in registers:
                    value = recording.values[first + each.row].tobytes()[::-1].hex()
                    name = str(each.place).upper() if each.place.file != "sp" else "SP_EL0"
                    digits = (
                        value[16:] if each.place.file != "v" else "_".join(value[i : i + 8] for i in (0, 8, 16, 24))
                    )
                    found.append(f"{clock} clk cpu0 R {name} {digits}")
                lines[at] = found
        changed = np.flatnonzero(np.diff(recording.status & 15, prepend=recording.status[:1] & 15))
        for at in changed.tolist():
            if at in lines:
                flags = int(recording.status[at] & 15) << 28
                lines[at].append(f"{at + recording.start} clk cpu0 R cpsr {flags:08x}")
        for at, address, data, is_store in accesses_of(recording, numbers):
            clock, verb = at + recording.start, "MW" if is_store else "MR"
            lines[at] += [f"{clock} clk cpu0 {verb}{each}" for each in _memory(address, data)]
        for at in sorted(lines):
            yield from lines[at]


def _memory(address: int, data: bytes) -> Iterator[str]:
    """An access in parts of at most 16 bytes; its virtual address is its physical one."""
    while data:
        size = 1 << min(len(data), 16).bit_length() - 1
        digits = data[:size][::-1].hex()
        shown = f"{digits[:16]} {digits[16:]}" if size == 16 else digits
        yield f"{size} {address:08x}:{address:012x}_NS {shown}"
        address, data = address + size, data[size:]
