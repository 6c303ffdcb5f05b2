"""Instructions that raise an exception on purpose end a run with their own error; all before them has happened."""

from __future__ import annotations

import pytest

from isa.decode import decode
from isa.evaluate import exact
from isa.refusals import TRAP_REASONS, TRAPS
from isa.rows import TABLE
from sim import Machine, Trap
from support.engines import CODE, DATA, PAGE

WORDS = {
    "svc #0x1f": 0xD40003E1, "hvc #0": 0xD4000002, "smc #0": 0xD4000003, "brk #1": 0xD4200020, "hlt #0": 0xD4400000,
    "udf #0": 0, "dcps1": 0xD4A00001, "dcps2 #1": 0xD4A00022, "dcps3": 0xD4A00003,
}  # fmt: skip
NOP, ADD_X2, STR_X2_X1 = 0xD503201F, 0x91000442, 0xF9000022


def machine_with(*words: int) -> Machine:
    machine = Machine()
    machine.memory.map(CODE, PAGE, "rx")
    machine.memory.map(DATA, PAGE, "rw")
    machine.memory.write(CODE, b"".join(word.to_bytes(4, "little") for word in words))
    machine.pc, machine.x[1] = CODE, DATA
    return machine


def trap_of(machine: Machine) -> Trap:
    with pytest.raises(Trap) as caught:
        machine.run()
    return caught.value


def test_there_is_a_word_for_every_mnemonic_that_traps() -> None:
    assert {text.split()[0] for text in WORDS} == TRAPS


@pytest.mark.parametrize("text", WORDS)
def test_a_trap_has_its_place_text_and_reason(text: str) -> None:
    trap = trap_of(machine_with(NOP, WORDS[text]))
    expected = (CODE + 4, text, TRAP_REASONS[text.split()[0]], CODE + 4, 4)
    assert (trap.pc, trap.disassembly, trap.reason, trap.address, trap.size) == expected


def test_what_stands_before_a_trap_has_been_executed_and_counts() -> None:
    machine = machine_with(ADD_X2, STR_X2_X1, WORDS["svc #0x1f"], ADD_X2)
    trap_of(machine)
    assert (machine.x[2], machine.memory.read(DATA, 1), machine.instructions_executed) == (1, b"\1", 2)


def test_the_program_counter_stays_at_the_trap() -> None:
    machine = machine_with(NOP, WORDS["brk #1"])
    trap_of(machine)
    assert machine.pc == CODE + 4


def test_running_on_from_a_trap_traps_again() -> None:
    machine = machine_with(NOP, WORDS["brk #1"])
    trap_of(machine)
    assert trap_of(machine).pc == CODE + 4


def test_a_run_can_end_before_a_trap() -> None:
    machine = machine_with(NOP, WORDS["brk #1"])
    assert machine.run(until=CODE + 4) == 1


def test_a_step_traps_too() -> None:
    machine = machine_with(WORDS["svc #0x1f"])
    with pytest.raises(Trap):
        machine.step()


def test_a_trap_says_in_one_sentence_what_it_wanted() -> None:
    trap = trap_of(machine_with(WORDS["svc #0x1f"]))
    assert str(trap) == "at 0x10000, svc #0x1f: it asks an operating system for something, and there is none here"


def test_the_exact_evaluator_does_not_pass_a_trap() -> None:
    machine = machine_with(WORDS["svc #0x1f"])
    exact.execute(decode(machine.memory.read(CODE, 4)), machine)
    assert machine.pc == CODE


def test_every_mnemonic_that_traps_is_in_the_table() -> None:
    assert {form.mnemonic for form in TABLE.forms.values()} >= TRAPS
