"""Random programs for `core128`: words of every row, chosen while a Machine executes them, so that accesses hit.

One program in four ends with a word or an access that must stop the core.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Final, NamedTuple

from isa.decode import decode
from isa.evaluate.exact import QC
from isa.table import UnknownInstruction
from rtl_models.cores.core128.comparison import ExpectedRun, crosses, prepare
from rtl_models.cores.core128.configuration import CODE_BASE, DATA_BASE
from rtl_models.cores.core128.design import ERRORS, FLAGS_REGISTER, PC_REGISTER, Core128Program
from rtl_models.cores.core128.rows import FIELDS, CoreRow, all_rows
from sim.machine.errors import MemoryFault
from sim.machine.machine import Machine
from sim.machine.trace import Step

BYTES: Final = 4096
"""Of code, and of data."""
BASES: Final = (26, 27, 28)
"""General registers that hold addresses of data."""
OFFSET: Final = 25
"""The one that holds a small number, to be added to them."""
POOL: Final = 24
"""Long immediates of a row that are tried."""
_CYCLES: Final = 40
"""That an instruction takes at most."""
_EDGES: Final = (
    0,
    1,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
    1 << 63,
    (1 << 64) - 1,
)


class RandomRun(NamedTuple):
    """A program, and what it must do."""

    program: Core128Program
    due: ExpectedRun


def random_runs(seed: int, words: int, length: int = 200) -> Iterator[RandomRun]:
    """Programs of about so many executed words each, until there are so many together."""
    rng, words_of = Random(seed), RandomWords(seed)
    done = 0
    while done < words:
        run = _random_run(rng, words_of, length)
        done += len(run.due.steps)
        yield run


class RandomWords:
    """Words of every row; a row's long immediates are a few, so that not every word is an instruction of its own."""

    def __init__(self, seed: int) -> None:
        rng = Random(seed)
        self.rows = all_rows()
        self._by_form: dict[str, list[int]] = {}
        self._long: dict[int, list[int]] = {}
        for number, row in enumerate(self.rows):
            self._by_form.setdefault(row.form, []).append(number)
            if row.immediate is not None:
                self._long[number] = [rng.getrandbits(32) for _ in range(POOL - 2)] + [0, (1 << 32) - 1]

        self._forms = list(self._by_form.values())

    def number(self, rng: Random) -> int:
        """Of a row: each form with the same chance."""
        return rng.choice(rng.choice(self._forms))

    def word(self, number: int, rng: Random) -> int:
        """A word of that row."""
        row = self.rows[number]
        word = row.value
        index = rng.choice(row.indices)
        for k, bit in enumerate(row.index_bits):
            word |= (index >> k & 1) << bit
        for name, bits in row.fields.items():
            word |= _register(rng, bits) << FIELDS[name]
        if row.immediate is not None:
            word |= rng.choice(self._long[number]) & row.immediate.encoded.bits
        return word


def _register(rng: Random, bits: int) -> int:
    """Few registers, so that instructions wait for each other; now and then any, 31 among them."""
    return rng.randrange(6) if rng.random() < 0.7 else rng.randrange(1 << bits)


def _number(rng: Random, bits: int) -> int:
    """Lanes of some size: random, edges, or small."""
    size = rng.choice((8, 16, 32, 64))
    kind = rng.randrange(3)
    number = 0
    for _ in range(bits // size):
        lane = rng.getrandbits(size) if kind == 0 else rng.choice(_EDGES) if kind == 1 else rng.randrange(-3, 4)
        number = number << size | lane & (1 << size) - 1
    return number


def _start(rng: Random) -> dict[int, int]:
    registers = {number: _number(rng, 64) for number in range(32)}
    registers |= {number: _number(rng, 128) for number in range(32, 64)}
    registers |= {base: DATA_BASE + 16 * rng.randrange(64, 192) for base in BASES}
    registers[31] = DATA_BASE + 2048
    return {**registers, OFFSET: 16 * rng.randrange(4), FLAGS_REGISTER: rng.randrange(16), PC_REGISTER: CODE_BASE}


def _random_run(rng: Random, words_of: RandomWords, length: int) -> RandomRun:
    registers = _start(rng)
    data = rng.randbytes(BYTES)
    program = Core128Program(bytes(BYTES), data, registers, 0, 0)
    machine = Machine(engine="interpreted")
    prepare(machine, program)
    code = bytearray(rng.randbytes(BYTES))
    steps: list[Step] = []
    saturated: list[bool] = []
    written: set[int] = set()
    while len(steps) < length and machine.pc - CODE_BASE < BYTES - 256:
        at = machine.pc - CODE_BASE
        if at not in written:
            word = _fitting(machine, words_of, rng)
            code[at : at + 4] = word.to_bytes(4, "little")
            machine.memory.write(machine.pc, code[at : at + 4])
            written.add(at)
        steps.append(machine.step())
        saturated.append(bool(machine.fpsr & QC))
    error, stop = "", machine.pc
    if rng.random() < 0.25:
        error = rng.choice(ERRORS[1:])
        word = _WRONG[error](machine, rng)
        error = error if word else "word"
        at = machine.pc - CODE_BASE
        if at in written:
            error = ""
        else:
            code[at : at + 4] = word.to_bytes(4, "little")
            stop = CODE_BASE + BYTES
            if error == "fetch":
                machine.memory.write(machine.pc, code[at : at + 4])
                steps.append(machine.step())
                saturated.append(bool(machine.fpsr & QC))
    cycles = _CYCLES * (len(steps) + 4)
    made = Core128Program(bytes(code), data, registers, stop, cycles)
    return RandomRun(made, ExpectedRun(steps, saturated, machine.memory.read(DATA_BASE, BYTES), error))


def _fitting(machine: Machine, words_of: RandomWords, rng: Random) -> int:
    """A word that the machine can execute, whose access is in a row of the data, or whose branch goes a little on."""
    while True:
        number = words_of.number(rng)
        row = words_of.rows[number]
        word = words_of.word(number, rng)
        if row.load is not None or row.store is not None:
            word = _based(machine, row, word, rng)
        elif row.writes and any(str(write.place) == "pc" for write in row.writes):
            word = _onward(row, word, rng)
        elif "d" in row.fields and word & 31 in (*BASES, OFFSET) and row.fields["d"]:
            word &= ~31 | rng.randrange(6)
        if word and _can(machine, word):
            return word


def _based(machine: Machine, row: CoreRow, word: int, rng: Random) -> int:
    word = word & ~(31 << 5) | rng.choice((*BASES, 31)) << 5
    if "m" in row.fields:
        word = word & ~(31 << 16) | OFFSET << 16
    if word & 31 in (*BASES, OFFSET):
        word &= ~31 | rng.randrange(6)
    return word


def _onward(row: CoreRow, word: int, rng: Random) -> int:
    """The branch with a distance of one to four words; none to a register."""
    if row.immediate is None:
        return 0
    bits = row.immediate.encoded.bits
    lowest = bits & -bits
    return word & ~bits | rng.randrange(1, 5) * lowest


def _can(machine: Machine, word: int) -> bool:
    """Whether a machine in this state executes the word, and where it accesses memory, in a row of the data."""
    try:
        decode(word.to_bytes(4, "little"), machine.pc)
    except UnknownInstruction:
        return False
    if not _accesses(word):
        return True
    trial = Machine(engine="interpreted")
    trial.registers.general[:] = machine.registers.general
    trial.registers.vectors[:] = machine.registers.vectors
    trial.memory.map(CODE_BASE, 4096, "rx")
    trial.memory.map(DATA_BASE, BYTES, "rw")
    trial.memory.write(CODE_BASE, word.to_bytes(4, "little"))
    trial.pc = CODE_BASE
    try:
        step = trial.step()
    except MemoryFault:
        return False
    after = [trial.x[base] for base in BASES] + [trial.sp]
    return not crosses(step) and all(DATA_BASE + 256 <= base < DATA_BASE + BYTES - 256 for base in after)


def _accesses(word: int) -> bool:
    """Loads and stores have bit 27 without bit 25 (Arm ARM C4.1)."""
    return word >> 25 & 5 == 4


def _illegal(machine: Machine, rng: Random) -> int:
    """No word of the table: the reserved ones, and floating point."""
    return rng.choice((0, 0xFFFFFFFF, 0x1E202820, 0x4E20D420, 0xD4200000, 0xD53B4200))


def _unaligned(machine: Machine, rng: Random) -> int:
    """LDR Q0, [X26 + 1 or more], and STUR: across the end of a row."""
    distance = (-machine.x[26] + rng.randrange(1, 16)) % 16 or 8
    return (0x3CC00000 if rng.random() < 0.5 else 0x3C800000) | distance << 12 | 26 << 5


def _unmapped(machine: Machine, rng: Random) -> int:
    """LDRB W0, [XZR-like]: address of a register beyond all; x29 plus 4095."""
    for register in range(30):
        if machine.x[register] % 16 < 15 and not _near(machine.x[register]):
            return 0x39400000 | register << 5
    return 0


def _near(address: int) -> bool:
    return any(address - base + 64 < BYTES * 32 for base in (CODE_BASE, DATA_BASE) if address + 64 >= base)


def _away(machine: Machine, rng: Random) -> int:
    """B far forward or back, out of the code."""
    return 0x14000000 | (rng.choice((1, -1)) * rng.randrange(1 << 20, 1 << 24)) & 0x3FFFFFF


_WRONG: Final[dict[str, Callable[[Machine, Random], int]]] = {
    "word": _illegal, "unaligned": _unaligned, "unmapped": _unmapped, "fetch": _away,
}  # fmt: skip


def program_words(runs: Sequence[RandomRun]) -> int:
    """Executed words of them together."""
    return sum(len(run.due.steps) for run in runs)
