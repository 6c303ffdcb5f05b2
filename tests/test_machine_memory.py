"""Memory as running programs meet it: accesses, faults, code that changes."""

from __future__ import annotations

import pytest

from sim import Machine
from support.engines import CODE, DATA, FAR, PAGE, Assemble, Engine, fault_of, loaded

# Memory accesses and faults


ACCESSES = [("ldr x0, [x1]", 8), ("ldrb w0, [x1]", 1), ("ldr xzr, [x1]", 8), ("str x0, [x1]", 8), ("str w0, [x1]", 4)]


@pytest.mark.parametrize(("text", "size"), ACCESSES)
def test_an_unmapped_access_faults_with_its_fields(engine: Engine, assemble: Assemble, text: str, size: int) -> None:
    loaded(engine, assemble("nop", text))
    engine.x[1] = FAR
    fault = fault_of(engine)
    assert (fault.pc, fault.address, fault.size, fault.disassembly) == (CODE + 4, FAR, size, text)


@pytest.mark.parametrize(("text", "permissions"), [("ldr x0, [x1]", "w"), ("ldr x0, [x1]", "x"), ("str x0, [x1]", "r")])
def test_a_forbidden_access_faults_with_its_fields(
    engine: Engine, assemble: Assemble, text: str, permissions: str
) -> None:
    loaded(engine, assemble("nop", text))
    engine.memory.map(FAR, PAGE, permissions)
    engine.x[1] = FAR + 8
    fault = fault_of(engine)
    assert (fault.pc, fault.address, fault.size, fault.disassembly) == (CODE + 4, FAR + 8, 8, text)


def test_a_fault_leaves_the_program_counter_at_the_instruction(engine: Engine, assemble: Assemble) -> None:
    loaded(engine, assemble("nop", "nop", "str x0, [x1]", "nop"))
    engine.x[1] = FAR
    fault_of(engine)
    assert engine.pc == CODE + 8


def test_a_faulting_instruction_is_not_counted(engine: Engine, assemble: Assemble) -> None:
    loaded(engine, assemble("nop", "nop", "str x0, [x1]", "nop"))
    engine.x[1] = FAR
    fault_of(engine)
    assert engine.instructions_executed == 2


def test_instructions_before_a_fault_are_done_and_none_after_it(engine: Engine, assemble: Assemble) -> None:
    loaded(engine, assemble("add x2, x2, #1", "ldr x0, [x1]", "add x2, x2, #1"))
    engine.x[1] = FAR
    fault_of(engine)
    assert engine.x[2] == 1


def test_a_program_goes_on_when_the_cause_of_a_fault_is_mended(engine: Engine, assemble: Assemble) -> None:
    loaded(engine, assemble("add x2, x2, #1", "ldr x0, [x1]", "add x2, x2, #1", "udf #0"))
    engine.x[1] = FAR
    fault_of(engine)
    engine.memory.map(FAR, PAGE, "rw")
    engine.run(until=CODE + 12)
    assert engine.x[2] == 2


def test_a_faulting_load_leaves_its_registers(machine: Machine, assemble: Assemble) -> None:
    loaded(machine, assemble("ldp x2, x3, [x1], #0x10"))
    machine.x[1], machine.x[2], machine.x[3] = DATA + PAGE - 8, 22, 33
    fault_of(machine)
    assert (machine.x[1], machine.x[2], machine.x[3]) == (DATA + PAGE - 8, 22, 33)


@pytest.mark.parametrize(("text", "base"), [("stp x2, x3, [x1]", 8), ("stp x2, x3, [x1, #-0x10]!", -8)])
def test_a_store_pair_across_the_end_changes_no_memory(
    machine: Machine, assemble: Assemble, text: str, base: int
) -> None:
    loaded(machine, assemble(text))
    machine.x[1], machine.x[2], machine.x[3] = DATA + PAGE - base, -1, -1
    fault_of(machine)
    assert machine.memory.read(DATA, PAGE) == bytes(PAGE)


def test_a_faulting_pre_indexed_store_leaves_its_base(machine: Machine, assemble: Assemble) -> None:
    loaded(machine, assemble("stp x2, x3, [x1, #-0x10]!"))
    machine.x[1] = DATA + PAGE + 8
    fault_of(machine)
    assert machine.x[1] == DATA + PAGE + 8


def test_a_store_pair_across_the_end_faults_with_the_whole_access(machine: Machine, assemble: Assemble) -> None:
    loaded(machine, assemble("stp x2, x3, [x1]"))
    machine.x[1] = DATA + PAGE - 8
    fault = fault_of(machine)
    assert (fault.address, fault.size, fault.pc) == (DATA + PAGE - 8, 16, CODE)


def test_a_load_crosses_into_an_adjacent_region(engine: Engine, assemble: Assemble) -> None:
    loaded(engine, assemble("ldr x0, [x1]"))
    engine.memory.map(DATA + PAGE, PAGE, "r")
    engine.memory.write(DATA + PAGE - 4, bytes(range(8)))
    engine.x[1] = DATA + PAGE - 4
    engine.run(max_instructions=1)
    assert engine.x[0] == 0x0706050403020100


def test_a_store_crosses_into_an_adjacent_region(engine: Engine, assemble: Assemble) -> None:
    loaded(engine, assemble("str x0, [x1]"))
    engine.memory.map(DATA + PAGE, PAGE, "rw")
    engine.x[0], engine.x[1] = 0x0706050403020100, DATA + PAGE - 3
    engine.run(max_instructions=1)
    assert engine.memory.read(DATA + PAGE - 3, 8) == bytes(range(8))


def test_a_store_of_the_zero_register_width_changes_only_its_bytes(engine: Engine, assemble: Assemble) -> None:
    loaded(engine, assemble("str w0, [x1]"))
    engine.memory.write(DATA, b"\xaa" * 8)
    engine.run(max_instructions=1)
    assert engine.memory.read(DATA, 8) == bytes(4) + b"\xaa" * 4


# Code that changes


def test_code_rewritten_between_runs_is_noticed(engine: Engine, assemble: Assemble) -> None:
    loaded(engine, assemble("add x0, x0, #1", "udf #0"))
    engine.run(max_instructions=1)
    engine.memory.write(CODE, assemble("mov x0, #5"))
    engine.pc = CODE
    engine.run(max_instructions=1)
    assert engine.x[0] == 5


def test_code_rewritten_between_steps_is_noticed(engine: Engine, assemble: Assemble) -> None:
    loaded(engine, assemble("add x0, x0, #1", "udf #0"))
    engine.step()
    engine.memory.write(CODE, assemble("mov x0, #5"))
    engine.pc = CODE
    engine.step()
    assert engine.x[0] == 5


def test_self_modified_code_is_noticed_at_the_next_block(engine: Engine, assemble: Assemble) -> None:
    loaded(engine, assemble("add x2, x2, #1", "str w0, [x1]", "cbnz x0, #0xfffffffffffffffc", "nop"), "rwx")
    engine.memory.write(CODE, assemble("add x2, x2, #1", "str w0, [x1]", "b #8", "nop", "add x2, x2, #1"))
    engine.x[0], engine.x[1] = int.from_bytes(assemble("nop"), "little"), CODE + 16
    engine.run(until=CODE + 20)
    assert engine.x[2] == 1


def test_self_modified_code_that_ran_before_is_noticed_at_the_next_block(engine: Engine, assemble: Assemble) -> None:
    loaded(engine, assemble("add x2, x2, #1", "b #8", "nop", "str w0, [x1]", "udf #0"), "rwx")
    engine.run(max_instructions=2)
    engine.x[0], engine.x[1] = int.from_bytes(assemble("nop"), "little"), CODE
    engine.run(max_instructions=1)
    engine.pc = CODE
    engine.run(max_instructions=1)
    assert engine.x[2] == 1


def test_a_loop_over_more_regions_than_the_emulator_has_at_a_time_changes_each(
    engine: Engine, assemble: Assemble
) -> None:
    regions, passes = 200, 3
    body = ("ldr x0, [x1]", "add x0, x0, #1", "str x0, [x1]", "add x1, x1, #2, lsl #12", "subs x2, x2, #1")
    loaded(engine, assemble(*body, "b.ne #0xffffffffffffffec"))
    pages = [FAR + 2 * number * PAGE for number in range(regions)]
    for number, page in enumerate(pages):
        engine.memory.map(page, PAGE, "rw")
        engine.memory.write(page, number.to_bytes(8, "little"))
    for _ in range(passes):
        engine.x[1], engine.x[2], engine.pc = FAR, regions, CODE
        engine.run(until=CODE + 24)
    found = [int.from_bytes(engine.memory.read(page, 8), "little") for page in pages]
    assert found == [number + passes for number in range(regions)]


def test_code_in_a_region_that_a_run_came_to_is_left_at_another_end_in_the_next(
    engine: Engine, assemble: Assemble
) -> None:
    loaded(engine, assemble("b #0x1000000"))
    engine.memory.map(FAR, PAGE, "rx")
    engine.memory.write(FAR, assemble("add x0, x0, #1", "add x0, x0, #1", "add x0, x0, #1", "nop"))
    engine.run(until=FAR + 12)
    engine.pc = CODE
    assert (engine.run(until=FAR + 8), engine.x[0]) == (3, 5)


def test_code_that_is_stored_to_a_region_that_a_run_came_to_is_executed(engine: Engine, assemble: Assemble) -> None:
    loaded(engine, assemble("b #0x1000000"))
    engine.memory.map(FAR, PAGE, "rwx")
    engine.memory.write(FAR, assemble("add x2, x2, #1", "str w0, [x1]", "b #8", "nop", "nop"))
    engine.x[0], engine.x[1] = int.from_bytes(assemble("add x2, x2, #1"), "little"), FAR + 16
    for _ in range(2):
        engine.pc = CODE
        engine.run(until=FAR + 20)
    assert engine.x[2] == 4
