"""A machine with a few instructions, and data that x1 points to."""

from __future__ import annotations

from struct import pack

from sim import Machine
from support.lockstep_pairs import CODE, DATA


def machine_with(code: list[int], **x: int) -> Machine:
    machine = Machine(engine="interpreted")
    machine.memory.map(CODE, 0x1000, "rwx")
    machine.memory.write(CODE, pack(f"<{len(code)}I", *code))
    machine.memory.map(DATA, 0x1000, "rw")
    machine.memory.write(DATA, bytes(range(100, 228)) * 4)
    for name, value in {"x1": DATA, "x4": 5, **x}.items():
        machine.x[int(name[1:])] = value
    machine.pc = CODE
    return machine
