"""Executed instructions without values, and loops written on from one iteration."""

from __future__ import annotations

from dataclasses import replace

import pytest

from isa.rows import TABLE
from sim.cycles.executed import recorded_stream
from sim.machine.errors import MemoryFault
from sim.machine.machine import Machine
from sim.timing.loops.loop import Loop
from sim.timing.model.stream import Executed, executed
from sim.toolchain.compilers import build_text

CODE, DATA, END = 0x11000, 0x200000, 0xDEAD0000


def ready(text: str) -> Machine:
    """A machine at the first of these instructions, with 4096 bytes of memory at x0, that ends by `ret`."""
    image = build_text(text, ".s")
    machine = Machine()
    machine.memory.map(CODE, 4096, "rx")
    machine.memory.write(CODE, next(s.data for s in image.segments if s.address == CODE))
    machine.memory.map(DATA, 4096, "rw")
    machine.x[0], machine.x[30], machine.pc = DATA, END, CODE
    return machine


def stepped(text: str) -> Executed:
    return executed(ready(text).step())


@pytest.mark.parametrize(
    ("text", "loads", "stores"),
    [
        ("ldp q0, q1, [x0, #32]", ((DATA + 32, 32),), ()),
        ("ldr q0, [x0], #16", ((DATA, 16),), ()),
        ("ldp x1, x2, [x0]", ((DATA, 16),), ()),
        ("ldrb w1, [x0, #5]", ((DATA + 5, 1),), ()),
        ("ld4 {v0.16b-v3.16b}, [x0]", ((DATA, 64),), ()),
        ("ld1 {v0.h}[3], [x0]", ((DATA, 2),), ()),
        ("stp d0, d1, [x0, #8]", (), ((DATA + 8, 16),)),
        ("str q0, [x0, #16]!", (), ((DATA + 16, 16),)),
        ("st3 {v0.4s-v2.4s}, [x0]", (), ((DATA, 48),)),
        ("add x1, x0, x0", (), ()),
    ],
)
def test_accesses_are_address_and_bytes(
    text: str, loads: tuple[tuple[int, int]], stores: tuple[tuple[int, int]]
) -> None:
    one = stepped(text)
    assert (one.loads, one.stores) == (loads, stores)


@pytest.mark.parametrize(
    ("text", "taken", "next_pc"),
    [
        ("cbz x1, .+8", True, CODE + 8),
        ("cbnz x1, .+8", False, CODE + 4),
        ("ret", True, END),
        ("bl .+12", True, CODE + 12),
        ("b .+4", False, CODE + 4),
        ("nop", False, CODE + 4),
    ],
)
def test_a_branch_is_taken_when_it_leaves_the_straight_line(text: str, taken: bool, next_pc: int) -> None:
    one = stepped(text)
    assert (one.pc, one.taken, one.next_pc) == (CODE, taken, next_pc)


def test_the_end_of_the_address_space_goes_on_at_its_start() -> None:
    step = ready("nop\nret").step()
    assert not executed(step._replace(pc=2**64 - 4, next_pc=0)).taken
    assert executed(step._replace(pc=2**64 - 4, next_pc=4)).taken


def test_a_stream_holds_every_instruction_to_the_end() -> None:
    machine = ready("mov x1, #2\n1: subs x1, x1, #1\nb.ne 1b\nret")
    stream = recorded_stream(machine, END, 100)
    assert [one.pc for one in stream] == [CODE, CODE + 4, CODE + 8, CODE + 4, CODE + 8, CODE + 12]


def test_a_stream_stops_at_the_limit() -> None:
    machine = ready("b .\n")
    assert (len(recorded_stream(machine, END, 7)), machine.pc) == (7, CODE)


def test_a_stream_raises_what_the_machine_raises() -> None:
    with pytest.raises(MemoryFault, match="0x201000"):
        recorded_stream(ready("ldr q0, [x0, #4096]\nret"), END, 9)


def access(text: str, *, loads: tuple[tuple[int, int], ...] = (), stores: tuple[tuple[int, int], ...] = ()) -> Executed:
    return Executed(CODE, TABLE.instruction(*text.split(" ", 1)), loads, stores, False, CODE + 4)


def copy_loop() -> Loop:
    body = (
        access("ldr q0, [x0], #16", loads=((0x1000, 16),)),
        access("add v0.16b, v0.16b, v0.16b"),
        access("str q0, [x1], #-16", stores=((0x5000, 16),)),
    )
    return Loop(body, ((16,), (), (-16,)))


def addresses(iteration: list[Executed]) -> list[int]:
    return [address for one in iteration for address, _ in (*one.loads, *one.stores)]


def test_iteration_0_is_the_body() -> None:
    loop = copy_loop()
    assert loop.iteration(0) == list(loop.body)


def test_an_iteration_moves_every_access_by_its_stride() -> None:
    assert addresses(copy_loop().iteration(3)) == [0x1030, 0x4FD0]


def test_the_strides_of_an_instruction_are_those_of_its_loads_and_then_of_its_stores() -> None:
    one = access("ldadd x1, x2, [x0]", loads=((0x1000, 8),), stores=((0x2000, 8),))
    assert addresses(Loop((one,), ((8, 32),)).iteration(2)) == [0x1010, 0x2040]


def test_addresses_wrap_as_in_a_machine() -> None:
    one = access("ldr q0, [x0], #-16", loads=((0x10, 16),))
    assert addresses(Loop((one,), ((-16,),)).iteration(2)) == [2**64 - 16]


def test_a_repeated_body_executes_the_same() -> None:
    loop = copy_loop()
    assert loop.repeated(3).iteration(2) == [*loop.iteration(6), *loop.iteration(7), *loop.iteration(8)]


@pytest.mark.parametrize(
    ("strides", "message"),
    [(((16,), (), (16, 16)), "'str q0, .x1., #-16' has 1 access"), (((16,), ()), "2 tuples of strides"), ((), "0 tup")],
)
def test_strides_that_do_not_fit_are_refused(strides: tuple[tuple[int, ...], ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(copy_loop(), strides=strides)


def test_a_loop_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one instruction"):
        copy_loop().repeated(0)
