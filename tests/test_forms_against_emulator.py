"""Every form of the table: a share of what `lanewise isa verify` does, and registers perturbed in the emulator.

The perturbation confirms that what an instruction's expressions read is what matters.  `tests/long/long_forms.py` does
the same on more states.
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
from sim.call.definitions import NOT_EMULATED
from sim.machine.errors import ExecutionError
from sim.machine.registers import VISIBLE_PLACES, RegisterStorage
from sim.verify.states import CODE, DATA, DATA_SIZE, States
from sim.verify.verify import verify_form
from support.floating_forms import floating_forms
from support.floating_forms import is_emulated as floating_forms_are_emulated

Words = dict[str, tuple[int, ...]]

CHUNKS = 16
VECTORS = 25
STATES = 24
SEED = 1
CLEAR_EXCLUSIVE = CODE + 16
CLREX = bytes.fromhex("5f3f03d5")
MONITOR = Place("monitor")


COMPARED_ELSEWHERE = frozenset(filter(floating_forms_are_emulated, floating_forms()))
"""By test_floating_forms.py, on states that are harder for floating point."""


def is_emulated(name: str) -> bool:
    return NOT_EMULATED.isdisjoint(TABLE.named[name].features)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_a_form_agrees_with_the_emulator_or_its_definition(chunk: int) -> None:
    names = [name for name in TABLE.named if name not in COMPARED_ELSEWHERE]
    wrong = differences(names[chunk::CHUNKS], VECTORS)
    assert not wrong, "\n".join(wrong)


def differences(names: Sequence[str], vectors: int) -> list[str]:
    """Forms that differ somewhere from the emulator or their definition on so many lane vectors, or did not run."""
    results = [verify_form(name, SEED, vectors) for name in names]
    return [result.difference or result.form for result in results if result.difference or not result.runs]


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

    def outcome(self, registers: RegisterStorage) -> tuple[tuple[str, int, bytes], RegisterStorage]:
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

    def heeded(self, registers: RegisterStorage, place: Place, rng: random.Random) -> bool:
        """Whether the result depends on a register."""
        before = self.outcome(registers)
        changed = RegisterStorage()
        changed.copy(registers)
        changed.write(place, registers.read(place) ^ (FLIPS.get(place.file) or rng.getrandbits(place.bits) | 1))
        after = self.outcome(changed)
        (stopped, _, _), _ = before
        if stopped or place not in self.instruction.places_written:
            before[1].write(place, changed.read(place))
        return before[0] != after[0] or vars(before[1]) != vars(after[1])

    def sets_qc_as_claimed(self, name: str, words: Sequence[int]) -> bool:
        """Whether some state of some word sets QC, if the form can saturate."""
        states, registers = States(name, SEED), RegisterStorage()
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
    return [p for p in VISIBLE_PLACES if p not in instruction.places_read and p.file != "fpsr"]


@pytest.mark.parametrize("chunk", range(4))
def test_a_register_that_is_not_named_as_read_does_not_matter(form_words: Words, chunk: int) -> None:
    found = unnamed_but_heeded(form_words, sorted(form_words)[chunk::4], 2)
    assert not found, "\n".join(found)


def unnamed_but_heeded(words: Words, names: Sequence[str], places: int) -> list[str]:
    """Registers that forms heed and say they do not read, of so many that are tried of each."""
    bench, found = Perturbed(0xD503201F), []
    for name in filter(is_emulated, names):
        states, registers = States(name, SEED), RegisterStorage()
        bench.set_word(words[name][0])
        for number, place in enumerate(states.rng.sample(_unnamed(bench.instruction), places)):
            states.fill(registers, number, words[name][0])
            if bench.heeded(registers, place, states.rng):
                found.append(f"{bench.instruction.text} heeds {place}; state {number} of seed {SEED}")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(4))
def test_only_an_instruction_that_can_saturate_sets_qc(form_words: Words, chunk: int) -> None:
    found = sets_qc_unclaimed(form_words, sorted(form_words)[chunk::4], STATES // 3)
    assert not found, "\n".join(found)


def sets_qc_unclaimed(words: Words, names: Sequence[str], count: int) -> list[str]:
    """States, of so many of each form that cannot saturate, in which it sets QC all the same."""
    bench, found = Perturbed(0xD503201F), []
    for name in names:
        bench.set_word(words[name][0])
        if bench.instruction.can_saturate or name == "msr fpsr,x":
            continue
        states, registers = States(name, SEED), RegisterStorage()
        for number in range(count):
            states.fill(registers, number, words[name][0])
            registers.flags[1] &= ~QC
            if bench.outcome(registers)[1].flags[1] & QC:
                found.append(f"{bench.instruction.text}; state {number} of seed {SEED}")
    return found


@pytest.mark.parametrize("chunk", range(4))
def test_a_form_that_can_saturate_sets_qc_in_some_state(form_words: Words, chunk: int) -> None:
    bench = Perturbed(0xD503201F)
    names = [name for name in sorted(form_words)[chunk::4] if is_emulated(name)]
    quiet = [name for name in names if not bench.sets_qc_as_claimed(name, form_words[name])]
    assert not quiet, "\n".join(quiet)
