"""Floating-point forms on the machine, in the exact evaluator and in the emulator, from hard states.

`EXCEPTIONS` are the forms in which the emulator is wrong; for each, what it makes of the machine's result is stated,
so nothing of them is left uncompared either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import cycle
from random import Random

from isa.decode import decode
from isa.encodings import words_of
from isa.evaluate import exact
from isa.instruction import Instruction, lanes_of
from isa.lane import Field, Floating, Place, walk
from isa.rows import TABLE
from sim import Emulator, Machine
from sim.machine.registers import RegisterStorage
from sim.verify.words import words_to_run
from support.floating_states import FloatingStates

CODE = 0x10000
_RUNS_IN_TURN = 4
"""How often one word runs before the next."""
FPSR_BITS = 1 << 27 | 0x9F
"""QC and the cumulative exceptions (Arm ARM C5.2.9)."""
FZ = 1 << 24
Z = 4
_POSITIVE_SUBNORMALS = range(1, 1 << 52)


@cache
def floating_forms() -> tuple[str, ...]:
    """The forms with a floating-point operation, and the moves and selections of the same families."""
    rows = ((form.name, words_of(form.name)) for form in TABLE.forms.values())
    return tuple(name for name, words in rows if words and (name.startswith("f") or _computes(words[0])))


def _computes(word: int) -> bool:
    writes = decode(word.to_bytes(4, "little")).writes
    return any(isinstance(node, Floating) for node in walk(lanes_of(writes)))


def is_emulated(form: str) -> bool:
    """Whether the emulator has the instruction."""
    mnemonic, _, shape = form.partition(" ")
    return "bf16" not in TABLE.forms[mnemonic, shape].features


class Engines:
    """Machine, exact evaluator and emulator, each with one instruction."""

    def __init__(self) -> None:
        self._word: int | None = None
        self.machine, self._exact, self._emulator = Machine(), Machine(), Emulator()
        for engine in (self.machine, self._exact, self._emulator):
            engine.memory.map(CODE, 4096, "rx")

    def set_word(self, word: int) -> None:
        """The instruction that runs from now on."""
        if word == self._word:
            return
        self._word = word
        self.instruction = decode(word.to_bytes(4, "little"))
        for engine in (self.machine, self._emulator):
            engine.memory.write(CODE, word.to_bytes(4, "little"))

    def by_machine(self, before: RegisterStorage) -> RegisterStorage:
        """What generated Python makes of it."""
        self.machine.registers.copy(before)
        self.machine.pc = CODE
        self.machine.run(max_instructions=1)
        return self.machine.registers

    def by_exact_evaluator(self, before: RegisterStorage) -> RegisterStorage:
        """What the arbiter makes of it."""
        self._exact.registers.copy(before)
        exact.execute(self.instruction, self._exact)
        return self._exact.registers

    def by_emulator(self, before: RegisterStorage) -> RegisterStorage:
        """What the emulator makes of it."""
        self._emulator.load_registers(before)
        self._emulator.pc = CODE
        self._emulator.run(max_instructions=1)
        return self._emulator.registers()


def lanes_computed(instruction: Instruction) -> int:
    """The lanes that an instruction writes and does not only copy; at least one."""
    return max(1, sum(not isinstance(lane, Field) for write in instruction.writes for lane in write.lanes))


class Comparison:
    """The runs of one form, of its words in turn; `vectors` counts input sets of one output lane."""

    def __init__(self, form: str, seed: int) -> None:
        self.form, self.seed, self.vectors = form, seed, 0
        self.engines = Engines()
        self._emulated = is_emulated(form)
        self._expected = EXCEPTIONS.get(form, _as_the_machine)
        words = words_to_run(form, Random(f"{seed} {form}"), 0)
        states = [FloatingStates(decode(word.to_bytes(4, "little")), seed) for word in words]
        turns = zip(words, states, strict=True)
        self._turns = cycle([turn for turn in turns for _ in range(_RUNS_IN_TURN)])

    def differences(self, vectors: int, runs: int = 0) -> Iterator[str]:
        """What the engines disagree on, over at least so many lane vectors and runs."""
        done = 0
        while self.vectors < vectors or done < runs:
            word, states = next(self._turns)
            self.engines.set_word(word)
            found = self._difference(word, states.hard() if done % 3 == 1 else states.any())
            done += 1
            self.vectors += lanes_computed(self.engines.instruction)
            if found:
                text = self.engines.instruction.text
                yield f"{self.form}: {word:08x} {text}: {found}; run {done} of seed {self.seed}"

    def _difference(self, word: int, before: RegisterStorage) -> str:
        engines = self.engines
        machine = engines.by_machine(before)
        if not same(machine, engines.by_exact_evaluator(before)):
            return f"machine and exact evaluator differ on {self._inputs(before)}"
        if self._emulated and not same(self._expected(word, before, machine), engines.by_emulator(before)):
            return f"machine and emulator differ on {self._inputs(before)}"
        return ""

    def _inputs(self, before: RegisterStorage) -> str:
        return ", ".join(f"{place}={before.read(place):#x}" for place in self.engines.instruction.places_read)


def same(a: RegisterStorage, b: RegisterStorage) -> bool:
    """Whether two sets of registers are equal, of FPSR the bits that mean something."""
    status = (a.flags[1] ^ b.flags[1]) & FPSR_BITS
    return (a.vectors, a.general, a.flags[0]) == (b.vectors, b.general, b.flags[0]) and not status


def _copied(registers: RegisterStorage) -> RegisterStorage:
    copy = RegisterStorage()
    copy.copy(registers)
    return copy


def _as_the_machine(word: int, before: RegisterStorage, machine: RegisterStorage) -> RegisterStorage:
    return machine


def _exceptions_of_both_halves(word: int, before: RegisterStorage, machine: RegisterStorage) -> RegisterStorage:
    """FCMLA .4h by element: the emulator's FPSR is that of the same word as .8h.  Its values are right."""
    whole, emulated = Machine(), _copied(machine)
    whole.registers.copy(before)
    exact.execute(decode((word | 1 << 30).to_bytes(4, "little")), whole)
    emulated.flags[1] = whole.fpsr
    return emulated


def _sign_above_the_half(word: int, before: RegisterStorage, machine: RegisterStorage) -> RegisterStorage:
    """FCVTZS h,h,#: the emulator extends the sign into bits 31:16; Arm: V[d] = ZeroExtend of the 16 bits."""
    emulated, place = _copied(machine), Place("v", word & 31)
    bits = machine.read(place)
    emulated.write(place, bits | 0xFFFF0000 * (bits >> 15))
    return emulated


def _zero_flag_of_a_flushed_number(word: int, before: RegisterStorage, machine: RegisterStorage) -> RegisterStorage:
    """FJCVTZS of a positive subnormal number that FZ flushes: the emulator sets Z.

    FPToFixedJS clears Z where the value is zero but the fraction bits are not.
    """
    emulated, source = _copied(machine), before.read(Place("v", word >> 5 & 31)) % (1 << 64)
    if before.flags[2] & FZ and source in _POSITIVE_SUBNORMALS:
        emulated.flags[0] |= Z
    return emulated


EXCEPTIONS: dict[str, Callable[[int, RegisterStorage, RegisterStorage], RegisterStorage]] = {
    "fcmla .4h,.4h,.h[i],#": _exceptions_of_both_halves,
    "fcvtzs h,h,#": _sign_above_the_half,
    "fjcvtzs w,d": _zero_flag_of_a_flushed_number,
}
"""By form, what the emulator makes of a word, the registers before it and the machine's registers after it."""
