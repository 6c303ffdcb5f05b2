"""The two engines that run programs, and how tests prepare one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sim import Emulator, Machine, MemoryFault

Engine = Machine | Emulator
Assemble = Callable[..., bytes]

PAGE = 4096
CODE, DATA, FAR = 0x10000, 0x20000, 0x1010000
QC = 1 << 27
COUNT_DOWN = ("subs x0, x0, #1", "cbnz x0, #0xfffffffffffffffc", "nop")


def loaded(engine: Engine, code: bytes, permissions: str = "rx") -> None:
    """A page of code to start in, and a page of data that x1 points to."""
    engine.memory.map(CODE, PAGE, permissions)
    engine.memory.map(DATA, PAGE, "rw")
    engine.memory.write(CODE, code)
    engine.pc, engine.x[1] = CODE, DATA


def fault_of(engine: Engine) -> MemoryFault:
    with pytest.raises(MemoryFault) as caught:
        engine.run()
    return caught.value
