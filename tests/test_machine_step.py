"""Steps: what the record of one executed instruction holds."""

from __future__ import annotations

import pytest

from isa.lane import Place
from sim import Machine, MemoryFault, Step, Trap
from support.engines import CODE, COUNT_DOWN, DATA, FAR, QC, Assemble, Engine, loaded

# Steps


def stepped(engine: Engine, code: bytes) -> Step:
    loaded(engine, code)
    return engine.step()


def changes(step: Step) -> dict[str, tuple[int, int]]:
    """Old and new of the registers that changed."""
    return {str(place): (old, new) for place, old, new in step.writes if old != new}


def test_a_step_names_the_instruction_and_where_it_was(engine: Engine, assemble: Assemble) -> None:
    step = stepped(engine, assemble("add x0, x0, #1"))
    assert (step.index, step.pc, step.instruction.text) == (0, CODE, "add x0, x0, #1")


def test_steps_are_counted_from_the_first_instruction_ever(engine: Engine, assemble: Assemble) -> None:
    loaded(engine, assemble(*["nop"] * 4))
    engine.run(max_instructions=2)
    assert [engine.step().index, engine.step().index] == [2, 3]


def test_a_step_has_the_old_and_the_new_value(engine: Engine, assemble: Assemble) -> None:
    engine.x[0] = 41
    assert changes(stepped(engine, assemble("add x0, x0, #1"))) == {"x0": (41, 42)}


def test_a_step_writes_its_flags(engine: Engine, assemble: Assemble) -> None:
    engine.x[0], engine.nzcv = 1, 0
    assert changes(stepped(engine, assemble("subs x0, x0, #1"))) == {"x0": (1, 0), "nzcv": (0, 0b0110)}


def test_a_step_of_the_machine_has_a_write_that_changes_nothing(machine: Machine, assemble: Assemble) -> None:
    machine.x[0] = 5
    assert stepped(machine, assemble("mov x0, #5")).writes == ((Place("x", 0), 5, 5),)


def test_a_step_that_loads_the_zero_register_writes_nothing(engine: Engine, assemble: Assemble) -> None:
    assert stepped(engine, assemble("ldr xzr, [x1]")).writes == ()


def test_a_step_has_the_memory_it_changed(engine: Engine, assemble: Assemble) -> None:
    loaded(engine, assemble("str x0, [x1]"))
    engine.memory.write(DATA, b"lanewise")
    engine.x[0] = 0x0706050403020100
    assert engine.step().memory == ((DATA, b"lanewise", bytes(range(8))),)


def test_a_step_has_the_memory_it_read(engine: Engine, assemble: Assemble) -> None:
    loaded(engine, assemble("ldr x0, [x1]"))
    engine.memory.write(DATA, b"lanewise")
    assert engine.step().reads_memory == ((DATA, b"lanewise"),)


def test_a_step_that_reaches_no_memory_has_none(engine: Engine, assemble: Assemble) -> None:
    step = stepped(engine, assemble("nop"))
    assert (step.memory, step.reads_memory) == ((), ())


def test_a_step_with_write_back_writes_its_base(engine: Engine, assemble: Assemble) -> None:
    assert changes(stepped(engine, assemble("str x0, [x1], #8"))) == {"x1": (DATA, DATA + 8)}


def test_a_step_that_saturates_writes_fpsr(engine: Engine, assemble: Assemble) -> None:
    engine.v[0], engine.v[1] = 0x7FFFFFFF, 1
    assert changes(stepped(engine, assemble("sqadd v0.4s, v0.4s, v1.4s"))) == {"fpsr": (0, QC)}


def test_a_step_that_saturates_again_changes_no_fpsr(engine: Engine, assemble: Assemble) -> None:
    engine.v[0], engine.v[1], engine.fpsr = 0x7FFFFFFF, 1, QC
    assert changes(stepped(engine, assemble("sqadd v0.4s, v0.4s, v1.4s"))) == {}


@pytest.mark.parametrize(("value", "target"), [(0, CODE + 8), (1, CODE + 4)], ids=["taken", "untaken"])
def test_a_step_over_a_branch_has_where_it_went(engine: Engine, assemble: Assemble, value: int, target: int) -> None:
    engine.x[0] = value
    step = stepped(engine, assemble("cbz x0, #8", "nop", "nop"))
    assert (step.next_pc, engine.pc) == (target, target)


def test_a_step_over_a_branch_out_of_the_code_has_where_it_went(engine: Engine, assemble: Assemble) -> None:
    assert stepped(engine, assemble("b #0x1000000")).next_pc == FAR


def test_a_step_goes_on_to_the_next_instruction(engine: Engine, assemble: Assemble) -> None:
    assert stepped(engine, assemble("nop", "nop")).next_pc == CODE + 4


def test_a_step_over_a_call_writes_the_link_register(engine: Engine, assemble: Assemble) -> None:
    assert changes(stepped(engine, assemble("bl #8", "nop", "nop"))) == {"x30": (0, CODE + 4)}


def test_a_faulting_step_names_its_instruction(engine: Engine, assemble: Assemble) -> None:
    loaded(engine, assemble("str x0, [x1]"))
    engine.x[1] = FAR
    with pytest.raises(MemoryFault) as caught:
        engine.step()
    assert (caught.value.pc, caught.value.disassembly, engine.pc) == (CODE, "str x0, [x1]", CODE)


def test_a_faulting_step_is_not_counted(engine: Engine, assemble: Assemble) -> None:
    loaded(engine, assemble("str x0, [x1]"))
    engine.x[1] = FAR
    with pytest.raises(MemoryFault):
        engine.step()
    assert engine.instructions_executed == 0


@pytest.mark.parametrize("text", ["udf #0", "svc #0"])
def test_a_step_that_cannot_be_executed_is_refused(engine: Engine, assemble: Assemble, text: str) -> None:
    loaded(engine, assemble(text))
    with pytest.raises(Trap) as caught:
        engine.step()
    assert (caught.value.pc, caught.value.disassembly, engine.pc) == (CODE, text, CODE)


def test_a_step_fetching_from_nowhere_faults(engine: Engine) -> None:
    engine.pc = FAR
    with pytest.raises(MemoryFault) as caught:
        engine.step()
    assert (caught.value.pc, caught.value.address) == (FAR, FAR)


def test_steps_and_a_run_end_alike(machine: Machine, assemble: Assemble) -> None:
    other = Machine()
    for each in (machine, other):
        loaded(each, assemble(*COUNT_DOWN))
        each.x[0] = 5
    machine.run(until=CODE + 8)
    while other.pc != CODE + 8:
        other.step()
    assert (vars(other.registers), other.instructions_executed) == (vars(machine.registers), 10)
