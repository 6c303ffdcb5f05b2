"""Going to any instruction of a call, forwards and back, is exact, and takes no more memory for a longer call."""

from __future__ import annotations

from random import Random

import pytest

from sim import Machine
from sim.call.caller import RETURN_ADDRESS, Call, Caller
from sim.call.guards.undefined_bytes import SeededBytes
from sim.check.vectors import make_vectors
from sim.debug import timeline
from sim.debug.timeline import Timeline
from sim.kernels.kernel import built_in_kernel
from sim.toolchain.compilers import build
from support.lockstep_pairs import CODE, DATA, NOP, NOWHERE, STR_X4_X1
from support.small_machines import machine_with

SUBS_X0_X0_1, B_NE_BACK_4, LDR_X3_X1, ADD_X4, STR_W5_X1 = 0xF1000400, 0x54FFFF81, 0xF9400023, 0x8B030084, 0xB9000025
B_SELF, B_NEXT, ADD_X4_X3_X0 = 0x14000000, 0x14000001, 0x8B000064
COUNTING = [LDR_X3_X1, ADD_X4_X3_X0, STR_X4_X1, SUBS_X0_X0_1, B_NE_BACK_4, NOP]
"""A loop in which every value depends on all before it."""


def state(machine: Machine) -> tuple[object, ...]:
    registers = machine.registers
    memory = [bytes(region.buffer[:]) for region in machine.memory.regions]
    return machine.pc, bytes(registers.vectors), tuple(registers.general), tuple(registers.flags), memory


def kernel_machine() -> Machine:
    kernel = built_in_kernel("quantize_down")
    image = build(kernel.sources[0], "-O2")
    caller = Caller(image, kernel, Machine())
    inputs = make_vectors(kernel, 100, 1).inputs[-1]
    caller.prepare(Call(kernel.arguments(inputs), 1), SeededBytes(1))
    return caller.machine


def test_any_order_of_positions_gives_the_states_of_stepping() -> None:
    stepped, states = kernel_machine(), list[tuple[object, ...]]()
    while stepped.pc != RETURN_ADDRESS:
        states.append(state(stepped))
        stepped.step()
    going = Timeline(kernel_machine(), RETURN_ADDRESS)
    random = Random(1)
    for number in random.choices(range(len(states)), k=40):
        going.goto(number)
        assert (going.position, state(going.machine)) == (number, states[number])
    going.goto_end()
    assert (going.position, going.returned, state(going.machine)) == (len(states), True, state(stepped))


@pytest.mark.parametrize("bound", ["_MOST_CHECKPOINTS", "_MOST_BYTES"])
def test_a_long_call_has_bounded_checkpoints_and_stays_exact(bound: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeline, "RECORDED", 64)
    monkeypatch.setattr(timeline, bound, {"_MOST_CHECKPOINTS": 6, "_MOST_BYTES": 30_000}[bound])
    going = Timeline(machine_with(COUNTING, x0=4000), CODE + 24)
    other = machine_with(COUNTING, x0=4000)
    going.goto_end()
    assert going.position == 20_001
    assert 2 <= len(going._checkpoints) <= 7
    for number in (19_999, 3, 12_345, 12_344, 640, 0):
        other = machine_with(COUNTING, x0=4000)
        other.run(max_instructions=number)
        going.goto(number)
        assert state(going.machine) == state(other)


def test_past_the_end_is_the_end() -> None:
    going = Timeline(machine_with([NOP, NOP, NOP]), CODE + 12)
    going.goto(10)
    assert (going.position, going.is_at_end, going.returned, going.step()) == (3, True, True, None)


@pytest.mark.parametrize("by_steps", [False, True])
def test_a_fault_is_an_end(by_steps: bool) -> None:
    going = Timeline(machine_with([NOP, LDR_X3_X1, NOP], x1=NOWHERE), CODE + 12)
    if by_steps:
        while going.step():
            pass
    else:
        going.goto_end()
    assert (going.position, going.is_at_end, going.returned) == (1, True, False)
    assert "cannot read 8 bytes" in str(going.fault)


def test_a_call_that_does_not_return_ends_at_the_limit() -> None:
    going = Timeline(machine_with([B_SELF]), CODE + 12, limit=1000)
    going.goto_end()
    assert (going.position, going.is_at_end, going.step()) == (1000, True, None)


def test_code_that_was_changed_is_as_before_again() -> None:
    code = [NOP, STR_W5_X1, B_NEXT, NOP, NOP]
    going = Timeline(machine_with(code, x1=CODE + 12, x5=ADD_X4, x3=7), CODE + 20)
    going.goto_end()
    assert going.machine.x[4] == 12
    going.goto(1)
    assert going.machine.instruction_at(CODE + 12).text == "nop"
    going.goto_end()
    assert going.machine.x[4] == 12


def test_memory_that_was_zero_is_zero_again() -> None:
    machine = machine_with([STR_X4_X1, NOP], x1=DATA)
    machine.memory.write(DATA, bytes(4096))
    going = Timeline(machine, CODE + 8)
    going.goto(1)
    going.goto(0)
    assert machine.memory.read(DATA, 8) == bytes(8)


def test_recordings_are_all_of_the_call_in_both_directions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeline, "RECORDED", 64)
    going = Timeline(machine_with(COUNTING, x0=50), CODE + 24)
    forwards = [(each.start, each.end) for each in going.recordings(0)]
    backwards = [(each.start, each.end) for each in going.recordings_back(251)]
    assert forwards == [(0, 64), (64, 128), (128, 192), (192, 251)]
    assert backwards == forwards[::-1]
    assert going.recording(150).pcs.tolist() == [CODE + 4 * (number % 5) for number in range(128, 192)]


def test_a_moment_has_what_was_read_and_what_was_written() -> None:
    going = Timeline(machine_with(COUNTING, x0=50), CODE + 24)
    going.goto(1)
    moment = going.execute()
    assert moment is not None
    assert moment.step.instruction.text == "add x4, x3, x0"
    assert sorted(map(str, moment.occurrence.registers)) == ["x0", "x3"]
