"""What is timed is recorded by array, in native code where a call is long: the same stream as step by step."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from isa.lane import Place
from sim.cycles.executed import recorded_stream
from sim.machine.errors import MemoryFault
from sim.machine.machine import Machine
from sim.timing.model.stream import Executed, executed
from sim.toolchain.compilers import build_text

CODE = """
.globl f
f:
    ldp q0, q1, [x0], #32
    ld4 {v2.16b-v5.16b}, [x0]
    ld1 {v2.s}[1], [x0]
    st2 {v0.4s, v1.4s}, [x1], #32
    stp x2, x3, [x1]
    strb w2, [x1, #64]
    ldrsw x4, [x1]
    cbz x4, 1f
    add x5, x5, #1
1:  subs x2, x2, #1
    b.ne f
    ldr x9, [x6]
    ret
"""
RETURN, DATA, ROUNDS = 0xFFF0_0000, 0x4000_0000, 1500


def machine(last: int) -> Machine:
    """At the start of the code, which loops long enough to go over to native code and loads from `last` at its end."""
    image, made = build_text(CODE, ".s"), Machine()
    for segment in image.segments:
        start = segment.address // 4096 * 4096
        made.memory.map(start, -(-(segment.address + segment.size - start) // 4096) * 4096, segment.permissions)
        made.memory.write(segment.address, segment.data)
    made.memory.map(DATA, 1 << 20, "rw")
    for number, value in {0: DATA, 1: DATA + (1 << 18), 2: ROUNDS, 6: last, 30: RETURN}.items():
        made.write(Place("x", number), value)
    made.pc = image.symbols["f"].address
    return made


def stepped(made: Machine) -> Iterator[Executed]:
    while made.pc != RETURN:
        yield executed(made.step())


@pytest.mark.slow
def test_a_long_call_is_recorded_as_it_is_stepped() -> None:
    recorded = recorded_stream(machine(DATA), RETURN, 10**6)
    assert list(recorded) == [
        (one.pc, recorded[number].instruction, *one[2:]) for number, one in enumerate(stepped(machine(DATA)))
    ]


def test_a_limit_and_a_fault_end_it_where_steps_end() -> None:
    assert len(recorded_stream(machine(DATA), RETURN, 12_345)) == 12_345
    with pytest.raises(MemoryFault, match="0x10"):
        recorded_stream(machine(0x10), RETURN, 10**6)
