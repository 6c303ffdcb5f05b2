"""Every form of the table: a share of what `lanewise isa verify` does, and registers perturbed in the emulator.

The perturbation confirms that what an instruction's expressions read is what matters.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product

import pytest

from isa.decode import decode
from isa.evaluate.exact import QC
from isa.instruction import Instruction
from isa.lane import Place
from isa.rows import TABLE
from sim import Emulator
from sim.check.definitions import NOT_EMULATED
from sim.check.differential import places
from sim.check.states import CODE, DATA, DATA_SIZE, States
from sim.check.verify import forms_named, verify_form
from sim.machine.errors import ExecutionError
from sim.machine.registers import Registers

Words = dict[str, tuple[int, ...]]

CHUNKS = 16
VECTORS = 100
STATES = 24
SEED = 1
CLEAR_EXCLUSIVE = CODE + 16
CLREX = bytes.fromhex("5f3f03d5")
MONITOR = Place("monitor")


def is_emulated(name: str) -> bool:
    (form,) = forms_named([name])
    return form.feature not in NOT_EMULATED


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_a_form_agrees_with_the_emulator_or_its_definition(chunk: int) -> None:
    results = [verify_form(form.name, SEED, VECTORS) for form in list(TABLE.forms.values())[chunk::CHUNKS]]
    wrong = [result.difference or result.form for result in results if result.difference or not result.runs]
    assert not wrong, "\n".join(wrong)


class Perturbed:
    """One word in the emulator, run from states that differ in one register."""

    def __init__(self, word: int) -> None:
        self.emulator = Emulator()
        self.emulator.memory.map(CODE, 4096, "rx")
        self.emulator.memory.map(DATA, DATA_SIZE, "rw")
        self.emulator.memory.write(CLEAR_EXCLUSIVE, CLREX)
        self.set_word(word)

    def set_word(self, word: int) -> None:
        self.emulator.memory.write(CODE, word.to_bytes(4, "little"))
        self.instruction = decode(word.to_bytes(4, "little"), CODE)
        self.stores = self.instruction.stores

    def outcome(self, registers: Registers) -> tuple[tuple[str, int, bytes], Registers]:
        """What stopped it, where it went and what is in memory; and the registers."""
        emulator, stopped = self.emulator, ""
        emulator.load_registers(registers)
        if MONITOR in self.instruction.places_read:
            emulator.pc = CLEAR_EXCLUSIVE
            emulator.run(max_instructions=1)
        emulator.pc = CODE
        if self.stores:
            emulator.memory.write(DATA, bytes(DATA_SIZE))
        try:
            emulator.run(max_instructions=1)
        except ExecutionError as error:
            stopped = str(error)
        memory = emulator.memory.read(DATA, DATA_SIZE) if self.stores else b""
        return (stopped, emulator.pc, memory), emulator.registers()

    def heeded(self, registers: Registers, place: Place, rng: random.Random) -> bool:
        """Whether the result depends on a register."""
        before = self.outcome(registers)
        changed = Registers()
        changed.copy(registers)
        changed.write(place, registers.read(place) ^ (FLIPS.get(place.file) or rng.getrandbits(place.bits) | 1))
        after = self.outcome(changed)
        (stopped, _, _), _ = before
        if stopped or place not in self.instruction.places_written:
            before[1].write(place, changed.read(place))
        return before[0] != after[0] or vars(before[1]) != vars(after[1])

    def sets_qc_as_claimed(self, name: str, words: Sequence[int]) -> bool:
        """Whether some state of some word sets QC, if the form can saturate."""
        states, registers = States(name, SEED), Registers()
        for word, number in product(words, range(STATES)):
            if number == 0:
                self.set_word(word)
            if not self.instruction.can_saturate:
                return True
            states.fill(registers, number, word)
            registers.flags[1] &= ~QC
            if self.outcome(registers)[1].flags[1] & QC:
                return True
        return False


FLIPS = {"nzcv": 15, "fpcr": 0x00C00000}
"""All flags; the rounding mode."""


def _unnamed(instruction: Instruction) -> list[Place]:
    """The registers that it says it does not read.  FPSR is none of them: QC is set by adding to it."""
    return [p for p in places() if p not in instruction.places_read and p.file != "fpsr"]


@pytest.mark.parametrize("chunk", range(4))
def test_a_register_that_is_not_named_as_read_does_not_matter(form_words: Words, chunk: int) -> None:
    bench, found = Perturbed(0xD503201F), []
    for name in sorted(form_words)[chunk::4]:
        if not is_emulated(name):
            continue
        states, registers = States(name, SEED), Registers()
        bench.set_word(form_words[name][0])
        for number, place in enumerate(states.rng.sample(_unnamed(bench.instruction), 3)):
            states.fill(registers, number, form_words[name][0])
            if bench.heeded(registers, place, states.rng):
                found.append(f"{bench.instruction.text} heeds {place}; state {number} of seed {SEED}")
    assert not found, "\n".join(found)


@pytest.mark.parametrize("chunk", range(4))
def test_only_an_instruction_that_can_saturate_sets_qc(form_words: Words, chunk: int) -> None:
    bench, found = Perturbed(0xD503201F), []
    for name in sorted(form_words)[chunk::4]:
        states, registers = States(name, SEED), Registers()
        bench.set_word(form_words[name][0])
        if bench.instruction.can_saturate or name == "msr fpsr,x":
            continue
        for number in range(STATES):
            states.fill(registers, number, form_words[name][0])
            registers.flags[1] &= ~QC
            if bench.outcome(registers)[1].flags[1] & QC:
                found.append(f"{bench.instruction.text}; state {number} of seed {SEED}")
    assert not found, "\n".join(found)


@pytest.mark.parametrize("chunk", range(4))
def test_a_form_that_can_saturate_sets_qc_in_some_state(form_words: Words, chunk: int) -> None:
    bench = Perturbed(0xD503201F)
    names = [name for name in sorted(form_words)[chunk::4] if is_emulated(name)]
    quiet = [name for name in names if not bench.sets_qc_as_claimed(name, form_words[name])]
    assert not quiet, "\n".join(quiet)
