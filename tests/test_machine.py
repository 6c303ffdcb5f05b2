"""Running programs: on Machine and, where both promise it, on Emulator."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from isa.instruction import FEATURES
from isa.lane import Place
from isa.rows import TABLE
from sim import Emulator, Machine, MemoryFault, Step, UnsupportedInstruction
from sim.machine.registers import RegisterFile

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


@pytest.fixture(params=[Machine, Emulator], ids=["machine", "emulator"])
def engine(request: pytest.FixtureRequest) -> Engine:
    """What both promise is tested on both."""
    made: Engine = request.param()
    return made


@pytest.fixture
def machine() -> Machine:
    return Machine()


# Registers


def values(file: RegisterFile) -> list[int]:
    return [file[i] for i in range(len(file))]


def test_everything_is_zero_at_first(engine: Engine) -> None:
    singles = [engine.sp, engine.pc, engine.nzcv, engine.fpsr, engine.fpcr]
    assert values(engine.v) + values(engine.x) + singles == [0] * 68


@pytest.mark.parametrize(("file", "count"), [("v", 32), ("x", 31)])
def test_a_register_file_has_its_length(engine: Engine, file: str, count: int) -> None:
    assert len(getattr(engine, file)) == count


@pytest.mark.parametrize(("file", "index"), [("v", 32), ("v", -1), ("x", 31), ("x", -1)])
def test_reading_a_register_that_does_not_exist_is_refused(engine: Engine, file: str, index: int) -> None:
    with pytest.raises(IndexError, match=f"there is no {file}{index}: {file}0 to {file}"):
        getattr(engine, file)[index]


@pytest.mark.parametrize(("file", "index"), [("v", 32), ("v", -1), ("x", 31), ("x", -1)])
def test_writing_a_register_that_does_not_exist_is_refused(engine: Engine, file: str, index: int) -> None:
    with pytest.raises(IndexError, match=f"there is no {file}{index}: {file}0 to {file}"):
        getattr(engine, file)[index] = 1


@pytest.mark.parametrize(("file", "bits", "index"), [("v", 128, 0), ("v", 128, 31), ("x", 64, 0), ("x", 64, 30)])
@pytest.mark.parametrize("value", [-1, 0, 1, 2**63, 2**64 + 5, 2**128 + 7])
def test_a_register_keeps_a_value_modulo_its_width(
    engine: Engine, file: str, bits: int, index: int, value: int
) -> None:
    registers = getattr(engine, file)
    registers[index] = value
    assert registers[index] == value % 2**bits


@pytest.mark.parametrize(("name", "bits"), [("sp", 64), ("nzcv", 4)])
@pytest.mark.parametrize("value", [-1, 5, 2**64 + 3])
def test_a_single_register_keeps_a_value_modulo_its_width(engine: Engine, name: str, bits: int, value: int) -> None:
    setattr(engine, name, value)
    assert getattr(engine, name) == value % 2**bits


@pytest.mark.parametrize("name", ["fpsr", "fpcr"])
def test_a_status_register_keeps_a_value_modulo_its_width(engine: Engine, name: str) -> None:
    bit = {"fpsr": QC, "fpcr": 1 << 22}[name]
    setattr(engine, name, 2**32 + bit)
    assert getattr(engine, name) == bit


def test_sp_is_no_x_register(engine: Engine) -> None:
    engine.sp = 5
    assert values(engine.x) == [0] * 31


def test_a_register_file_prints_what_is_not_zero(engine: Engine) -> None:
    engine.x[3] = 16
    assert (repr(engine.x), repr(engine.v)) == ("<x3=0x10>", "<v0..v31 all zero>")


@pytest.mark.parametrize("place", [Place("v", 7), Place("x", 7), Place("sp"), Place("pc"), Place("nzcv")], ids=str)
def test_a_place_reads_what_was_written(engine: Engine, place: Place) -> None:
    engine.write(place, 4)
    assert engine.read(place) == 4


# Counting and stopping


@pytest.mark.parametrize("maximum", [0, 1, 2, 3, 7])
def test_run_stops_after_the_maximum(engine: Engine, assemble: Assemble, maximum: int) -> None:
    loaded(engine, assemble(*["add x0, x0, #1"] * 7, "udf #0"))
    executed = engine.run(max_instructions=maximum)
    assert (executed, engine.x[0], engine.pc) == (maximum, maximum, CODE + 4 * maximum)


@pytest.mark.parametrize("maximum", [1, 2, 3, 4, 5, 6])
def test_the_maximum_counts_across_branches(engine: Engine, assemble: Assemble, maximum: int) -> None:
    loaded(engine, assemble(*COUNT_DOWN))
    engine.x[0] = 100
    engine.run(max_instructions=maximum)
    assert (engine.x[0], engine.pc) == (100 - (maximum + 1) // 2, CODE + 4 * (maximum % 2))


@pytest.mark.parametrize("stop", [0, 1, 2, 3, 4])
def test_run_stops_at_an_address_inside_of_a_block(engine: Engine, assemble: Assemble, stop: int) -> None:
    loaded(engine, assemble(*["add x0, x0, #1"] * 5, "udf #0"))
    executed = engine.run(until=CODE + 4 * stop)
    assert (executed, engine.x[0], engine.pc) == (stop, stop, CODE + 4 * stop)


def test_run_stops_at_an_address_inside_of_a_block_that_ran_before(engine: Engine, assemble: Assemble) -> None:
    loaded(engine, assemble(*["add x0, x0, #1"] * 5, "udf #0"))
    engine.run(until=CODE + 20)
    engine.pc = CODE
    assert engine.run(until=CODE + 8) == 2


def test_run_stops_after_a_loop(engine: Engine, assemble: Assemble) -> None:
    loaded(engine, assemble(*COUNT_DOWN))
    engine.x[0] = 100
    assert engine.run(until=CODE + 8) == 200


def test_run_executes_nothing_where_it_stands_at_the_end(engine: Engine, assemble: Assemble) -> None:
    loaded(engine, assemble("add x0, x0, #1"))
    assert (engine.run(until=CODE), engine.x[0]) == (0, 0)


def test_the_maximum_wins_over_a_later_end(engine: Engine, assemble: Assemble) -> None:
    loaded(engine, assemble(*["nop"] * 8))
    assert engine.run(until=CODE + 32, max_instructions=5) == 5


def test_the_end_wins_over_a_later_maximum(engine: Engine, assemble: Assemble) -> None:
    loaded(engine, assemble(*["nop"] * 8))
    assert engine.run(until=CODE + 12, max_instructions=5) == 3


def test_run_goes_on_where_it_stopped(engine: Engine, assemble: Assemble) -> None:
    loaded(engine, assemble(*["add x0, x0, #1"] * 8))
    engine.run(max_instructions=3)
    engine.run(max_instructions=4)
    assert engine.x[0] == 7


def test_executed_instructions_add_up(engine: Engine, assemble: Assemble) -> None:
    loaded(engine, assemble(*["nop"] * 8))
    engine.run(max_instructions=3)
    engine.step()
    engine.run(until=CODE + 24)
    assert engine.instructions_executed == 6


def test_the_last_allowed_instruction_may_branch_out_of_the_code(engine: Engine, assemble: Assemble) -> None:
    loaded(engine, assemble("b #0x1000000"))
    assert (engine.run(max_instructions=1), engine.pc) == (1, CODE + 0x1000000)


def test_a_return_to_an_unmapped_end_stops(engine: Engine, assemble: Assemble) -> None:
    loaded(engine, assemble("nop", "ret"))
    engine.x[30] = FAR
    assert engine.run(until=FAR) == 2


def test_a_call_links_and_returns(engine: Engine, assemble: Assemble) -> None:
    loaded(engine, assemble("bl #8", "b #0x1000000", "add x0, x0, #1", "ret"))
    engine.run(until=CODE + 4)
    assert (engine.x[0], engine.x[30]) == (1, CODE + 4)


def test_a_block_longer_than_any_the_machine_keeps_runs_whole(engine: Engine, assemble: Assemble) -> None:
    loaded(engine, assemble(*["add x0, x0, #1"] * 1000))
    engine.run(until=CODE + 4000)
    assert engine.x[0] == 1000


def test_code_goes_on_in_an_adjacent_region(engine: Engine, assemble: Assemble) -> None:
    loaded(engine, b"")
    engine.memory.map(CODE + PAGE, PAGE, "rx")
    engine.memory.write(CODE + PAGE - 4, assemble("add x0, x0, #1", "add x0, x0, #1"))
    engine.pc = CODE + PAGE - 4
    engine.run(until=CODE + PAGE + 4)
    assert engine.x[0] == 2


def test_the_program_counter_wraps(machine: Machine, assemble: Assemble) -> None:
    machine.memory.map(2**64 - PAGE, PAGE, "rx")
    machine.memory.write(2**64 - 4, assemble("nop"))
    machine.pc = 2**64 - 4
    machine.run(max_instructions=1)
    assert machine.pc == 0


# Memory accesses and faults


def fault_of(engine: Engine) -> MemoryFault:
    with pytest.raises(MemoryFault) as caught:
        engine.run()
    return caught.value


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


# What cannot be executed


@pytest.mark.parametrize("permissions", ["r", "rw"])
def test_a_fetch_from_data_faults_there(engine: Engine, assemble: Assemble, permissions: str) -> None:
    loaded(engine, assemble("b #0x1000000"))
    engine.memory.map(FAR, PAGE, permissions)
    fault = fault_of(engine)
    assert (fault.pc, fault.address, fault.size, fault.disassembly, engine.pc) == (FAR, FAR, 4, "", FAR)


def test_a_fetch_from_nowhere_faults_there(engine: Engine, assemble: Assemble) -> None:
    loaded(engine, assemble("b #0x1000000"))
    fault = fault_of(engine)
    assert (fault.pc, fault.address, fault.size, fault.disassembly, engine.pc) == (FAR, FAR, 4, "", FAR)


def test_running_off_the_end_of_the_code_faults_there(engine: Engine, assemble: Assemble) -> None:
    loaded(engine, assemble("nop") * (PAGE // 4))
    assert fault_of(engine).pc == CODE + PAGE


def test_a_fetch_at_the_start_of_a_run_faults(engine: Engine) -> None:
    engine.pc = FAR
    assert fault_of(engine).address == FAR


def test_a_fetch_from_an_odd_address_faults(machine: Machine, assemble: Assemble) -> None:
    loaded(machine, assemble("nop"))
    machine.pc = CODE + 2
    assert fault_of(machine).pc == CODE + 2


@pytest.mark.parametrize("text", ["udf #0", "svc #0", "brk #0"])
def test_what_cannot_be_executed_is_named_with_its_address(engine: Engine, assemble: Assemble, text: str) -> None:
    loaded(engine, assemble("nop", text))
    with pytest.raises(UnsupportedInstruction) as caught:
        engine.run()
    error = caught.value
    assert (error.pc, error.address, error.size, error.disassembly) == (CODE + 4, CODE + 4, 4, text)


def test_what_cannot_be_executed_leaves_the_program_counter_there(engine: Engine, assemble: Assemble) -> None:
    loaded(engine, assemble("add x0, x0, #1", "udf #0"))
    with pytest.raises(UnsupportedInstruction):
        engine.run()
    assert (engine.x[0], engine.pc, engine.instructions_executed) == (1, CODE + 4, 1)


def test_what_cannot_be_executed_is_no_matter_before_it_is_reached(engine: Engine, assemble: Assemble) -> None:
    loaded(engine, assemble("nop", "nop", "udf #0"))
    assert engine.run(max_instructions=2) == 2


def test_an_instruction_of_a_missing_feature_is_refused(assemble: Assemble) -> None:
    machine = Machine(features=())
    loaded(machine, assemble("sdot v0.4s, v1.16b, v2.16b"))
    with pytest.raises(UnsupportedInstruction, match="this machine lacks the feature 'dotprod'"):
        machine.run(max_instructions=1)


def test_an_instruction_of_a_present_feature_runs(assemble: Assemble) -> None:
    machine = Machine(features=("dotprod",))
    loaded(machine, assemble("sdot v0.4s, v1.16b, v2.16b"))
    machine.v[1], machine.v[2] = 0x02020202, 0x03030303
    machine.run(max_instructions=1)
    assert machine.v[0] == 4 * 2 * 3


def test_a_step_of_a_missing_feature_is_refused(assemble: Assemble) -> None:
    machine = Machine(features=())
    loaded(machine, assemble("sdot v0.4s, v1.16b, v2.16b"))
    with pytest.raises(UnsupportedInstruction, match="this machine lacks the feature 'dotprod'"):
        machine.step()


def test_a_machine_has_all_features_by_default(machine: Machine) -> None:
    assert machine.features == set(FEATURES)


def test_an_unknown_feature_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown feature 'sve': the features are rdm, dotprod"):
        Machine(features=("sve",))


def test_a_machine_runs_the_table_it_is_given(assemble: Assemble) -> None:
    machine = Machine(table=TABLE.replacing("add x,x,#", lambda d, n, m: d.write(n.value + m.value + 1)))
    loaded(machine, assemble("add x0, x0, #1"))
    machine.run(max_instructions=1)
    assert machine.x[0] == 2


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
    with pytest.raises(UnsupportedInstruction) as caught:
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


# Asking about code


def test_the_instruction_at_an_address_is_decoded_there(machine: Machine, assemble: Assemble) -> None:
    loaded(machine, assemble("nop", "b #8"))
    assert machine.instruction_at(CODE + 4).text == f"b #{CODE + 12:#x}"


@pytest.mark.parametrize(("address", "text"), [(CODE, "svc #0"), (CODE + 4, "nop"), (FAR, "")])
def test_the_disassembly_at_an_address_needs_no_support(
    machine: Machine, assemble: Assemble, address: int, text: str
) -> None:
    loaded(machine, assemble("svc #0", "nop"))
    assert machine.disassembly_at(address) == text
