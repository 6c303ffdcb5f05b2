"""Every form of the table: generated Python against Unicorn, and the exact evaluator against generated Python.

A form's random states come from a generator seeded with the CRC of its name, so a failure comes back when the form is
run again, alone or with others.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from struct import unpack
from zlib import crc32

import pytest

from isa.decode import decode
from isa.evaluate import exact
from isa.instruction import Instruction
from isa.lane import Memory as Stored
from isa.lane import Place
from sim import Emulator, Machine, MemoryFault, UnsupportedInstruction
from sim.machine.registers import Registers

Words = dict[str, tuple[int, ...]]

CHUNKS = 16
STATES = 24
LANE_BITS = (8, 16, 32, 64)
CODE, DATA, DATA_SIZE = 0x10000, 0x400000, 0x20000
QC = 1 << 27
FPSR_BITS = QC | 0x9F
"""QC and the cumulative exception flags; the other bits of FPSR are RES0 in AArch64 (Arm ARM C5.2.10)."""
FPCR_BITS = 0x07C00000
"""AHP, DN, FZ, RMode: no integer instruction may heed them (Arm ARM C5.2.8)."""
NOT_EMULATED = "i8mm"
"""The feature that Unicorn 2.1.4 lacks on every processor model."""


class States:
    """Random processor states for one form: corner values and ties, junk in every register."""

    def __init__(self, form: str) -> None:
        self.seed = crc32(form.encode())
        self.rng = random.Random(self.seed)
        self._pools = {bits: self._lanes(bits, self._pool(bits)) for bits in LANE_BITS}
        self._reaches_memory = "[x" in form

    def _pool(self, bits: int) -> list[int]:
        """0, +-1, least and greatest, alternating bits, ties of every shift, shift counts, random values."""
        rng, top = self.rng, 1 << bits
        corners = [0, 1, -1, 2, -2, top // 2, top // 2 - 1, top // 2 + 1, (top - 1) // 3, (top - 1) // 3 * 2]
        ties = [(2 * rng.randrange(-4, 4) + 1) << rng.randrange(bits) for _ in range(16)]
        counts = [rng.randrange(-70, 70) for _ in range(6)] + [rng.getrandbits(bits) & -128 for _ in range(2)]
        return corners + ties + counts + [rng.getrandbits(bits) for _ in range(10)]

    def _lanes(self, bits: int, values: Iterable[int]) -> list[bytes]:
        return [(value % 2**bits).to_bytes(bits // 8, "little") for value in values]

    def _choices(self, number: int) -> list[bytes]:
        """What the lanes of a state are drawn from; every sixth group of four states has only least values."""
        bits, kind = LANE_BITS[number % 4], number // 4 % 6
        least = 1 << bits - 1
        if kind == 0:
            return self._lanes(bits, [least])
        return self._lanes(bits, [least, least, least - 1, -1, 0, 1]) if kind < 3 else self._pools[bits]

    def _register(self, bits: int, choices: list[bytes]) -> bytes:
        """A register of such lanes; where they differ, one in five has lanes of any width instead."""
        lanes = choices if len(choices) == 1 or self.rng.random() < 0.8 else self._pools[self.rng.choice(LANE_BITS)]
        return b"".join(self.rng.choices(lanes, k=bits // 8 // len(lanes[0])))

    def fill(self, registers: Registers, number: int, base_register: int) -> None:
        """The state `number` of a word whose memory operand, if it has one, is based on that register."""
        choices = self._choices(number)
        registers.vectors[:] = b"".join(self._register(128, choices) for _ in range(32))
        registers.general[:] = [int.from_bytes(self._register(64, choices), "little") for _ in range(32)]
        registers.flags[:] = [number * 5 % 16, self._some(FPSR_BITS), self._some(FPCR_BITS), 0]
        if self._reaches_memory:
            registers.general[:] = [self.rng.randrange(-64, 64) % 2**64 for _ in range(32)]
            registers.general[base_register] = self._pointer(number)

    def _some(self, bits: int) -> int:
        return self.rng.getrandbits(32) & bits

    def _pointer(self, number: int) -> int:
        """Mostly into the middle of the data, sometimes to its end or into the code, which cannot be written."""
        if number % 8 == 6:
            return DATA + DATA_SIZE - self.rng.randrange(1, 64)
        if number % 8 == 7:
            return CODE + 2048 + self.rng.randrange(16)
        return DATA + 0x8000 + self.rng.randrange(64)


class Bench:
    """The three engines, each with the same page of code and the same data."""

    def __init__(self) -> None:
        self.machine, self.exact, self.emulator = Machine(), Machine(), Emulator()
        self.engines = (self.machine, self.exact, self.emulator)
        for engine in self.engines:
            engine.memory.map(CODE, 4096, "rx")
            engine.memory.map(DATA, DATA_SIZE, "rw")

    def set_data(self, data: bytes) -> None:
        for engine in self.engines:
            engine.memory.write(DATA, data)

    def set_word(self, word: int) -> None:
        for engine in self.engines:
            engine.memory.write(CODE, word.to_bytes(4, "little"))

    def run(self, instruction: Instruction, emulated: bool = True) -> str:
        """Execute the instruction from the machine's state on every engine; "" or the first difference."""
        machine, emulator = self.machine, self.emulator
        machine.pc = self.exact.pc = emulator.pc = CODE
        self.exact.registers.copy(machine.registers)
        emulator.load_registers(machine.registers)
        stopped = [self._run_machine(), self._run_exact(instruction)]
        stopped += [self._run_emulator()] if emulated else []
        if len(set(stopped)) > 1:
            return f"machine, exact, emulator stopped with {stopped}"
        found = _difference("exact", machine.registers, self.exact.registers, machine.pc, self.exact.pc)
        if stopped[0] is None and emulated:
            found = found or _difference("emulator", machine.registers, emulator.registers(), machine.pc, emulator.pc)
        return found or self._difference_of_memory(instruction, stopped[0] is not None)

    def _run_machine(self) -> type[Exception] | None:
        try:
            self.machine.run(max_instructions=1)
        except (MemoryFault, UnsupportedInstruction) as error:
            return type(error) if error.pc == CODE else RuntimeError
        return None

    def _run_exact(self, instruction: Instruction) -> type[Exception] | None:
        try:
            exact.execute(instruction, self.exact)
        except MemoryFault as fault:
            return type(fault)
        return None

    def _run_emulator(self) -> type[Exception] | None:
        try:  # a branch ends the run by `until`, since its target is not mapped
            self.emulator.run(until=self.machine.pc if self.machine.pc != CODE else None, max_instructions=1)
        except (MemoryFault, UnsupportedInstruction) as error:
            return type(error) if error.pc == CODE else RuntimeError
        return None

    def _difference_of_memory(self, instruction: Instruction, faulted: bool) -> str:
        if not any(isinstance(write.place, Stored) for write in instruction.writes):
            return ""
        machine, plain, emulated = (engine.memory.read(DATA, DATA_SIZE) for engine in self.engines)
        if faulted:  # the emulator may keep a part of the store
            self.emulator.memory.write(DATA, machine)
        elif emulated != machine:
            return f"memory: {_first_byte(machine, emulated, 'emulator')}"
        return "" if plain == machine else f"memory: {_first_byte(machine, plain, 'exact')}"


def _first_byte(machine: bytes, other: bytes, name: str) -> str:
    at = next(i for i in range(len(machine)) if machine[i] != other[i])
    return f"{DATA + at:#x}: machine {machine[at]:#04x}, {name} {other[at]:#04x}"


def _places() -> list[Place]:
    numbered = [Place(file, i) for file, count in (("v", 32), ("x", 31)) for i in range(count)]
    return [*numbered, Place("sp"), Place("nzcv"), Place("fpsr"), Place("fpcr")]


def _difference(name: str, machine: Registers, other: Registers, pc: int, other_pc: int) -> str:
    if pc != other_pc:
        return f"pc: machine {pc:#x}, {name} {other_pc:#x}"
    if vars(machine) == vars(other):
        return ""
    masks = {"fpsr": FPSR_BITS, "fpcr": FPCR_BITS}
    for place in _places():
        mask = masks.get(place.file, -1)
        mine, others = machine.read(place) & mask, other.read(place) & mask
        if mine != others:
            return f"{place}: machine {mine:#x}, {name} {others:#x}"
    return ""


def _differences_of_form(bench: Bench, name: str, words: Sequence[int], emulated: bool = True) -> Iterator[str]:
    """What the engines disagree on, at most one line a word."""
    states = States(name)
    if "[x" in name:
        bench.set_data(states.rng.randbytes(DATA_SIZE))
    for word in words:
        bench.set_word(word)
        instruction = decode(word.to_bytes(4, "little"), CODE)
        for number in range(STATES):
            states.fill(bench.machine.registers, number, word >> 5 & 31)
            found = bench.run(instruction, emulated)
            if found:
                yield f"{name}; {word:08x} {instruction.text}; {found}; state {number} of seed {states.seed}"
                break


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_machine_and_exact_evaluator_agree_with_the_emulator(form_words: Words, chunk: int) -> None:
    bench = Bench()
    names = sorted(form_words)[chunk::CHUNKS]
    emulated = [name for name in names if feature_of(form_words[name]) != NOT_EMULATED]
    found = [line for name in emulated for line in _differences_of_form(bench, name, form_words[name])]
    assert not found, "\n".join(found)


def feature_of(words: Sequence[int]) -> str | None:
    return decode(words[0].to_bytes(4, "little")).form.feature


I8MM = {
    "usdot .2s,.8b,.8b": "Bb", "usdot .4s,.16b,.16b": "Bb", "usdot .2s,.8b,.4b[i]": "Bb", "usdot .4s,.16b,.4b[i]": "Bb",
    "sudot .2s,.8b,.4b[i]": "bB", "sudot .4s,.16b,.4b[i]": "bB",
    "smmla .4s,.16b,.16b": "bb", "ummla .4s,.16b,.16b": "BB", "usmmla .4s,.16b,.16b": "Bb",
}  # fmt: skip
"""How `struct` names the signedness of the two sources (Arm ARM C7.2: USDOT, SUDOT, SMMLA, UMMLA, USMMLA)."""


def defining_sums(name: str, word: int, vectors: Sequence[bytes]) -> bytes:
    """The destination after the instruction, computed from the fields of the word."""
    first = unpack(f"16{I8MM[name][0]}", vectors[word >> 5 & 31])
    second = unpack(f"16{I8MM[name][1]}", vectors[word >> 16 & 31])
    old = unpack("<4i", vectors[word & 31])
    if "mmla" in name:
        pairs = list(product((first[:8], first[8:]), (second[:8], second[8:])))
    else:
        group = (word >> 11 & 1) * 2 + (word >> 21 & 1)
        groups = [group] * 4 if "[i]" in name else range(4)
        pairs = [(first[4 * i : 4 * i + 4], second[4 * g : 4 * g + 4]) for i, g in enumerate(groups)]
    sums = [old[i] + sum(x * y for x, y in zip(*pair, strict=True)) for i, pair in enumerate(pairs)]
    lanes = b"".join((total % 2**32).to_bytes(4, "little") for total in sums)
    return lanes if name.split()[1].startswith(".4s") else lanes[:8] + bytes(8)


def vectors_of(registers: Registers) -> list[bytes]:
    return [bytes(registers.vectors[16 * i : 16 * i + 16]) for i in range(32)]


def test_the_forms_not_emulated_are_those_with_a_defining_sum_here(form_words: Words) -> None:
    assert {name for name, words in form_words.items() if feature_of(words) == NOT_EMULATED} == set(I8MM)


@pytest.mark.parametrize("name", I8MM)
def test_the_emulator_refuses_i8mm(form_words: Words, name: str) -> None:
    bench = Bench()
    bench.set_word(form_words[name][0])
    bench.emulator.pc = CODE
    with pytest.raises(UnsupportedInstruction):
        bench.emulator.run(max_instructions=1)


@pytest.mark.parametrize("name", I8MM)
def test_i8mm_equals_its_defining_sum(form_words: Words, name: str) -> None:
    bench, states, found = Bench(), States(name), []
    for word, number in product(form_words[name], range(32)):
        bench.set_word(word)
        states.fill(bench.machine.registers, number, 0)
        vectors = vectors_of(bench.machine.registers)
        vectors[word & 31] = defining_sums(name, word, vectors)
        bench.machine.pc = CODE
        bench.machine.run(max_instructions=1)
        if vectors_of(bench.machine.registers) != vectors:
            found.append(f"{word:08x} in state {number} of seed {states.seed}")
    assert not found, found


@pytest.mark.parametrize("name", I8MM)
def test_the_exact_evaluator_agrees_with_the_machine_on_i8mm(form_words: Words, name: str) -> None:
    found = list(_differences_of_form(Bench(), name, form_words[name], emulated=False))
    assert not found, "\n".join(found)


class Perturbed:
    """One word in the emulator, run from states that differ in one register."""

    def __init__(self, word: int) -> None:
        self.emulator = Emulator()
        self.emulator.memory.map(CODE, 4096, "rx")
        self.emulator.memory.map(DATA, DATA_SIZE, "rw")
        self.set_word(word)

    def set_word(self, word: int) -> None:
        self.emulator.memory.write(CODE, word.to_bytes(4, "little"))
        self.instruction = decode(word.to_bytes(4, "little"), CODE)
        self.stores = any(isinstance(write.place, Stored) for write in self.instruction.writes)

    def outcome(self, registers: Registers) -> tuple[object, Registers]:
        """Where it went and what is in memory, and the registers."""
        emulator, stopped = self.emulator, ""
        emulator.load_registers(registers)
        emulator.pc = CODE
        if self.stores:
            emulator.memory.write(DATA, bytes(DATA_SIZE))
        try:
            emulator.run(max_instructions=1)
        except (MemoryFault, UnsupportedInstruction) as error:
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
        if place not in self.instruction.places_written:
            before[1].write(place, changed.read(place))
        return before[0] != after[0] or vars(before[1]) != vars(after[1])

    def sets_qc_as_claimed(self, name: str, words: Sequence[int]) -> bool:
        """Whether some state of some word sets QC, if the form can saturate."""
        states, registers = States(name), Registers()
        for word, number in product(words, range(STATES)):
            if number == 0:
                self.set_word(word)
            if not self.instruction.can_saturate:
                return True
            states.fill(registers, number, word >> 5 & 31)
            registers.flags[1] &= ~QC
            if self.outcome(registers)[1].flags[1] & QC:
                return True
        return False


FLIPS = {"nzcv": 15, "fpcr": 0x00C00000}
"""All flags; the rounding mode."""


def _unnamed(instruction: Instruction) -> list[Place]:
    """The registers that it says it does not read.  FPSR is none of them: QC is set by adding to it."""
    return [p for p in _places() if p not in instruction.places_read and p.file != "fpsr"]


@pytest.mark.parametrize("chunk", range(4))
def test_a_register_that_is_not_named_as_read_does_not_matter(form_words: Words, chunk: int) -> None:
    bench, found = Perturbed(0xD503201F), []
    for name in sorted(form_words)[chunk::4]:
        if name in I8MM:
            continue
        states, registers = States(name), Registers()
        bench.set_word(form_words[name][0])
        for number, place in enumerate(states.rng.sample(_unnamed(bench.instruction), 3)):
            states.fill(registers, number, form_words[name][0] >> 5 & 31)
            if bench.heeded(registers, place, states.rng):
                found.append(f"{bench.instruction.text} heeds {place}; state {number} of seed {states.seed}")
    assert not found, "\n".join(found)


@pytest.mark.parametrize("chunk", range(4))
def test_only_an_instruction_that_can_saturate_sets_qc(form_words: Words, chunk: int) -> None:
    bench, found = Perturbed(0xD503201F), []
    for name in sorted(form_words)[chunk::4]:
        states, registers = States(name), Registers()
        bench.set_word(form_words[name][0])
        if bench.instruction.can_saturate or name == "msr fpsr,x":
            continue
        for number in range(STATES):
            states.fill(registers, number, form_words[name][0] >> 5 & 31)
            registers.flags[1] &= ~QC
            if bench.outcome(registers)[1].flags[1] & QC:
                found.append(f"{bench.instruction.text}; state {number} of seed {states.seed}")
    assert not found, "\n".join(found)


@pytest.mark.parametrize("chunk", range(4))
def test_a_form_that_can_saturate_sets_qc_in_some_state(form_words: Words, chunk: int) -> None:
    bench = Perturbed(0xD503201F)
    names = [name for name in sorted(form_words)[chunk::4] if name not in I8MM]
    quiet = [name for name in names if not bench.sets_qc_as_claimed(name, form_words[name])]
    assert not quiet, "\n".join(quiet)
