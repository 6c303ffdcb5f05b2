"""Running programs: on Machine and, where both promise it, on Emulator."""

from __future__ import annotations

import numpy as np
import pytest

from isa.instruction import FEATURES
from isa.lane import Place
from isa.rows import TABLE
from sim import Machine, Trap, UnsupportedInstruction
from sim.machine.registers import RegisterFile
from support.engines import CODE, COUNT_DOWN, FAR, PAGE, QC, Assemble, Engine, fault_of, loaded

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
def test_a_register_keeps_every_number_of_its_width_signed_or_not(
    engine: Engine, file: str, bits: int, index: int
) -> None:
    registers = getattr(engine, file)
    for value, kept in ((2**bits - 1, 2**bits - 1), (-1, 2**bits - 1), (-(2 ** (bits - 1)), 2 ** (bits - 1)), (0, 0)):
        registers[index] = value
        assert registers[index] == kept


SINGLE_REGISTERS = {"sp": 64, "pc": 64, "nzcv": 4, "fpsr": 32, "fpcr": 32, "tpidr": 64}


@pytest.mark.parametrize(("name", "value", "kept"), [
    ("sp", -1, 2**64 - 1), ("pc", -4, 2**64 - 4), ("nzcv", -8, 8), ("nzcv", 15, 15), ("tpidr", 2**64 - 1, 2**64 - 1),
    ("fpsr", QC, QC), ("fpcr", 1 << 22, 1 << 22),
])  # fmt: skip
def test_a_single_register_keeps_a_number_of_its_width(engine: Engine, name: str, value: int, kept: int) -> None:
    setattr(engine, name, value)
    assert getattr(engine, name) == kept


@pytest.mark.parametrize(("name", "bits"), SINGLE_REGISTERS.items())
def test_a_register_refuses_a_number_of_more_bits_and_what_is_none(engine: Engine, name: str, bits: int) -> None:
    before = getattr(engine, name)
    for value in (2**bits, -(2 ** (bits - 1)) - 1):
        with pytest.raises(
            ValueError, match=f"a register of {bits} bits holds -2\\^{bits - 1} to 2\\^{bits} - 1, not "
        ):
            setattr(engine, name, value)
    for wrong in ("a", 1.5, None):
        with pytest.raises(TypeError, match=f"^a register holds an integer, not {wrong!r}$"):
            setattr(engine, name, wrong)
    assert getattr(engine, name) == before


@pytest.mark.parametrize(("file", "bits"), [("v", 128), ("x", 64)])
def test_a_numbered_register_refuses_a_number_of_more_bits_and_what_is_none(
    engine: Engine, file: str, bits: int
) -> None:
    registers = getattr(engine, file)
    for value in (2**bits, -(2 ** (bits - 1)) - 1):
        with pytest.raises(ValueError, match=f"a register of {bits} bits holds "):
            registers[3] = value
    with pytest.raises(TypeError, match="a register holds an integer, not 'a'"):
        registers[3] = "a"
    assert registers[3] == 0


@pytest.mark.parametrize(("place", "value"), [
    (Place("x", 1), 2**64), (Place("v", 1), 2**128), (Place("pc"), 2**64), (Place("nzcv"), 16), (Place("fpcr"), 2**32),
])  # fmt: skip
def test_a_place_refuses_what_its_register_does(place: Place, value: int) -> None:
    with pytest.raises(ValueError, match=f"a register of {place.bits} bits holds "):
        Machine().write(place, value)


def test_an_address_to_run_until_is_an_integer(engine: Engine) -> None:
    with pytest.raises(TypeError, match="an address is an integer, not 'main'"):
        engine.run(until="main")  # type: ignore[arg-type]  # what somebody gives


@pytest.mark.parametrize(("name", "says"), [
    ("x", r"x is all general registers: set one of them, as in m\.x\[0\] = 5"),
    ("v", r"v is all vector registers: set one of them, as in m\.v\[0\] = 5"),
    ("q0", "'Machine' object has no attribute 'q0'"),
    ("PC", "'Machine' object has no attribute 'PC'"),
])  # fmt: skip
def test_what_a_machine_has_not_cannot_be_set(name: str, says: str) -> None:
    machine = Machine()
    machine.x[0] = machine.v[0] = 7
    with pytest.raises(AttributeError, match=says):
        setattr(machine, name, 5)
    assert (machine.x[0], machine.v[0], machine.pc) == (7, 7, 0)


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
    with pytest.raises(Trap) as caught:
        engine.run()
    error = caught.value
    assert (error.pc, error.address, error.size, error.disassembly) == (CODE + 4, CODE + 4, 4, text)


def test_what_cannot_be_executed_leaves_the_program_counter_there(engine: Engine, assemble: Assemble) -> None:
    loaded(engine, assemble("add x0, x0, #1", "udf #0"))
    with pytest.raises(Trap):
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


@pytest.mark.parametrize("missing", ["fcma", "fp16"])
def test_half_precision_of_an_extension_needs_both_features(assemble: Assemble, missing: str) -> None:
    machine = Machine(features={"fcma", "fp16"} - {missing})
    loaded(machine, assemble("fcmla v0.4h, v1.4h, v2.h[0], #0"))
    with pytest.raises(UnsupportedInstruction, match=f"this machine lacks the feature '{missing}'"):
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


# Numbers of other types


@pytest.mark.parametrize("value", [np.int64(-1), np.uint8(255), np.int32(-5)])
def test_a_register_takes_integers_of_numpy(engine: Engine, value: np.integer) -> None:
    engine.x[3] = value
    assert engine.x[3] == int(value) % 2**64


@pytest.mark.parametrize("value", [1.5, "a", None])
def test_a_register_refuses_what_is_no_integer(engine: Engine, value: object) -> None:
    with pytest.raises(TypeError, match="a register holds an integer, not"):
        engine.v[0] = value  # type: ignore[assignment]  # the point of the test


def test_a_negative_maximum_executes_nothing(engine: Engine, assemble: Assemble) -> None:
    loaded(engine, assemble("nop"))
    assert engine.run(max_instructions=-1) == 0


def test_a_branch_to_an_address_between_instructions_faults_there(engine: Engine) -> None:
    loaded(engine, bytes.fromhex("00001fd61f2003d5"))  # br x0; nop
    engine.x[0] = CODE + 6
    fault = fault_of(engine)
    assert (fault.pc, engine.pc, engine.instructions_executed) == (CODE + 6, CODE + 6, 1)


def test_a_run_ends_at_an_address_taken_modulo_the_address_space(engine: Engine, assemble: Assemble) -> None:
    loaded(engine, assemble("nop", "nop"))
    assert engine.run(until=CODE + 4 - 2**64) == 1


@pytest.mark.parametrize("file", ["v", "x"])
def test_a_register_is_found_by_a_number_of_numpy(engine: Engine, file: str) -> None:
    getattr(engine, file)[3] = 7
    assert getattr(engine, file)[np.int64(3)] == 7


def test_features_that_are_one_text_are_refused() -> None:
    with pytest.raises(ValueError, match="a sequence of names"):
        Machine(features="rdm")


def test_a_machine_and_its_memory_show_where_they_are_in_a_line() -> None:
    machine = Machine()
    assert repr(machine.memory) == "<Memory of 0 bytes>"
    for start in range(0x10000, 0x60000, 0x10000):
        machine.memory.map(start, PAGE, "rx")
    shown = "0x10000..0x10fff rx, 0x20000..0x20fff rx, 0x30000..0x30fff rx, 0x40000..0x40fff rx, 1 more"
    assert repr(machine.memory) == f"<Memory of 20,480 bytes: {shown}>"
    machine.pc = 0x20000
    assert repr(machine) == f"<Machine at pc 0x20000, 0 instructions executed, {machine.memory!r}>"
