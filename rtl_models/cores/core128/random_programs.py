"""Random programs for `core128`: words of every row, chosen while a Machine executes them, so that accesses hit.

One program in four ends with a word or an access that must stop the core.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Final, NamedTuple

from isa.decode import decode
from isa.evaluate.exact import QC
from isa.instruction import Instruction, Pattern
from isa.lane import Place
from isa.table import UnknownInstruction
from rtl_models.cores.core128.comparison import ExpectedRun, prepare
from rtl_models.cores.core128.configuration import SLOWEST
from rtl_models.cores.core128.design import ERRORS, FLAGS_REGISTER, PC_REGISTER, Core128Program
from rtl_models.cores.core128.rows import FIELDS, CoreRow, FieldName, all_rows, row_of, with_bits
from rtl_models.cores.core128.units import GROUPS, units_of
from sim.machine.errors import MemoryFault
from sim.machine.machine import Machine
from sim.machine.trace import Step

CODE_BASE: Final = 0x10000
DATA_BASE: Final = 0x100000
BYTES: Final = 4096
"""Of code, and of data."""
BASES: Final = (26, 27, 28)
"""General registers that hold addresses of data."""
FAR: Final = {1: 20, 2: 21, 3: 22, 4: 23}
"""Those that are far below it, by the scale of the immediates of 12 bits that reach it from there."""
FAR_UNITS: Final = 3072
OFFSET: Final = 25
"""The one that holds a small number, to be added to them."""
KEPT: Final = (*FAR.values(), OFFSET, *BASES)
"""What only the base of an access is written to."""
POOL: Final = 48
"""Words of a row: what is new takes Python far longer than what was executed before."""
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
_ALL: Final = 0xFFFFFFFF


class RandomRun(NamedTuple):
    """A program, and what it must do."""

    program: Core128Program
    due: ExpectedRun


class RandomWords:
    """Words of every row, each form with the same chance.

    One word in five is of the class of the word before, one in ten writes to the file that it wrote to: those meet it,
    where they can, in the register that it wrote.  Every other one after LDP of vectors adds to the second of them.
    `instructions` are those executed so far: one is one object wherever it stands, so that a core's operations are
    worked out once.
    """

    def __init__(self, seed: int) -> None:
        self._rng = Random(seed)
        by_form: dict[str, list[CoreRow]] = {}
        self._of_class: dict[str, list[CoreRow]] = {}
        self._writing: dict[frozenset[str], list[CoreRow]] = {}
        for row in all_rows():
            by_form.setdefault(row.form, []).append(row)
            self._of_class.setdefault(row.timing, []).append(row)
            self._writing.setdefault(_files(row), []).append(row)
        self._forms = list(by_form.values())
        self._pairs = {row for row in all_rows() if row.load is not None and _writes_vector(row, "a")}
        self._adding = [row for row in all_rows() if units_of(row)[0] in GROUPS]
        self._pools: dict[CoreRow, list[int]] = {}
        self._row, self._word = all_rows()[0], 0
        self.instructions: dict[tuple[Pattern, tuple[int, ...]], Instruction] = {}

    def word(self) -> int:
        """One of them, of a row that has such words."""
        rng, kind, met = self._rng, self._rng.random(), None
        if self._row in self._pairs and rng.random() < 0.5:
            rows, met = self._adding, self._word >> FIELDS["a"] & 31
        elif kind < 0.2:
            rows = self._of_class[self._row.timing]
        elif kind < 0.3:
            rows = self._writing[_files(self._row)]
        else:
            rows = rng.choice(self._forms)
        row = rng.choice(rows)
        if met is None and kind < 0.3 and "d" in self._row.fields and "d" in row.fields:
            met = self._word & 31
        self._row, self._word = row, self._of(row, met)
        return self._word

    def illegal(self) -> int:
        """A word of no row, which is one of them but for one bit."""
        while True:
            word = self.word() ^ 1 << self._rng.randrange(32)
            if row_of(word) is None or not _is_decoded(word):
                return word

    def _of(self, row: CoreRow, met: int | None) -> int:
        """A word of a row, with that as Rd where there is such a word; one of the row's pool once that is full."""
        rng, pool = self._rng, self._pools.setdefault(row, [])
        alike = [word for word in pool if word & 31 == met]
        if alike or len(pool) >= POOL:
            return rng.choice(alike or pool)
        while True:
            word = _word(row, rng, met)
            if _is_decoded(word):
                pool.append(word)
                return word
            met = None


def _is_decoded(word: int) -> bool:
    """Whether it is an instruction, of those that Arm does not leave open."""
    try:
        decode(word.to_bytes(4, "little"), CODE_BASE)
    except UnknownInstruction:
        return False
    return True


def _writes_vector(row: CoreRow, name: FieldName) -> bool:
    """Whether it writes to a vector register that this field names."""
    write = row.written(name)
    return write is not None and isinstance(write.place, Place) and write.place.file == "v"


def _files(row: CoreRow) -> frozenset[str]:
    """Those that a row writes to: of registers, of flags, of memory."""
    return frozenset(write.place.file if isinstance(write.place, Place) else "memory" for write in row.writes)


def _word(row: CoreRow, rng: Random, met: int | None) -> int:
    """A word of a row, with that as Rd, if any: one that accesses does so near the data, one that branches goes on."""
    word = with_bits(row.value, row.index_bits, rng.choice(row.indices))
    accesses = row.load is not None or row.store is not None
    # few registers, so that instructions wait for each other; now and then any, 31 among them
    numbers = {
        name: rng.randrange(6) if rng.random() < 0.7 else rng.randrange(1 << bits) for name, bits in row.fields.items()
    }
    if met is not None:
        numbers["d"] = met
    for written in ("d", "a"):  # the second one of a pair is loaded
        if numbers.get(written) in KEPT:
            numbers[written] = rng.randrange(6)
    if accesses:
        numbers |= {"n": rng.choice((*BASES, 31)), "m": OFFSET}
    if row.is_alike:
        numbers["m"] = numbers["n"]
    if row.immediate is not None:
        encoded = row.immediate.encoded
        immediate = rng.choice((0, _ALL, *(rng.getrandbits(32) for _ in range(6))))
        if row.immediate.taken == "relative" and "adr" not in row.form:
            immediate = rng.randrange(1, 5) * (encoded.bits & -encoded.bits)
        elif accesses and encoded.low == 0:
            scale = encoded.high.bit_length() - 12
            immediate = rng.randrange(512 >> scale)
            if scale and rng.random() < 0.3:
                numbers["n"], immediate = FAR[scale], immediate + FAR_UNITS
            immediate <<= 10
        word |= immediate & encoded.bits
    for name in row.fields:
        word |= numbers[name] << FIELDS[name]
    return word


def _number(rng: Random, bits: int) -> int:
    """Lanes of some size: random, edges, or small."""
    size = rng.choice((8, 16, 32, 64))
    kind = rng.randrange(3)
    number = 0
    for _ in range(bits // size):
        lane = rng.getrandbits(size) if kind == 0 else rng.choice(_EDGES) if kind == 1 else rng.randrange(-3, 4)
        number = number << size | lane & (1 << size) - 1
    return number


def random_runs(words: RandomWords, seed: int, count: int, length: int = 200) -> Iterator[RandomRun]:
    """Programs of about `length` executed words each, until there are `count` words together."""
    rng, done = Random(seed), 0
    while done < count:
        run = _random_run(rng, words, length)
        done += len(run.due.steps)
        yield run


def _random_run(rng: Random, words: RandomWords, length: int) -> RandomRun:
    registers = {number: _number(rng, 64 if number < 32 else 128) for number in range(64)}
    registers |= {base: DATA_BASE + rng.randrange(1024, 3072) for base in BASES}
    registers |= {far: DATA_BASE + 1024 + rng.randrange(512) - (FAR_UNITS << scale) for scale, far in FAR.items()}
    registers |= {31: DATA_BASE + 2048, OFFSET: rng.randrange(64)}
    registers |= {FLAGS_REGISTER: rng.randrange(16), PC_REGISTER: CODE_BASE}
    code, data = bytearray(rng.randbytes(BYTES)), rng.randbytes(BYTES)
    machine = Machine(engine="interpreted")
    prepare(machine, Core128Program(CODE_BASE, bytes(BYTES), {DATA_BASE: data}, registers, 0, 0))
    steps: list[Step] = []
    saturated: list[bool] = []

    def put(word: int) -> None:
        at = machine.pc - CODE_BASE
        code[at : at + 4] = word.to_bytes(4, "little")
        machine.memory.write(machine.pc, code[at : at + 4])

    def step() -> None:
        made = machine.step()
        one = made.instruction
        steps.append(made._replace(instruction=words.instructions.setdefault((one.pattern, one.registers), one)))
        saturated.append(bool(machine.fpsr & QC))

    while len(steps) < length and machine.pc - CODE_BASE < BYTES - 256:
        put(words.word())
        try:
            step()
        except MemoryFault:
            continue
        if not _goes_on(machine, steps[-1].pc):
            saturated.pop()
            undone = steps.pop()
            for place, old, _ in reversed(undone.writes):
                machine.write(place, old)
            for address, before, _ in reversed(undone.memory):
                machine.memory.write(address, before)
            machine.pc = undone.pc
    error, stop = "", machine.pc
    if rng.random() < 0.25:
        error, stop = rng.choice(ERRORS[1:]), CODE_BASE + BYTES
        for word in _before(error, rng):
            put(word)
            step()
        if error != "fetch":
            put(_wrong(error, machine, words, rng))
    made = Core128Program(CODE_BASE, bytes(code), {DATA_BASE: data}, registers, stop, SLOWEST * (len(steps) + 4))
    return RandomRun(made, ExpectedRun(steps, saturated, {DATA_BASE: machine.memory.read(DATA_BASE, BYTES)}, error))


def _goes_on(machine: Machine, before: int) -> bool:
    """Whether it can: bases of accesses are near the data, the stack pointer is aligned, two words more have room.

    It goes forward, as words that were executed at `before` and earlier must stay: what branches to a register may find
    an address of the code there.
    """
    addresses = [machine.sp, *(machine.x[base] for base in BASES)]
    is_near = all(DATA_BASE + 512 <= address < DATA_BASE + BYTES - 512 for address in addresses)
    return is_near and machine.sp % 16 == 0 and before < machine.pc <= CODE_BASE + BYTES - 8


def _before(error: str, rng: Random) -> list[int]:
    """What is executed before the core stops: B far out of the code; SUB SP, SP, #8; ADR X0, #0."""
    far = rng.choice((1, -1)) * rng.randrange(1 << 20, 1 << 24)
    return {"fetch": [0x14000000 | far & 0x3FFFFFF], "unaligned": [0xD10023FF], "unmapped": [0x10000000]}.get(error, [])


def _wrong(error: str, machine: Machine, words: RandomWords, rng: Random) -> int:
    """The word that the core stops at."""
    if error == "unaligned":
        return rng.choice((0xF94003E0, 0xA9BF07E0))  # LDR X0, [SP]; STP X0, X1, [SP, #-16]!
    if error == "unmapped":
        units = (DATA_BASE + BYTES - machine.x[FAR[4]]) // 16
        beyond = 0x3DC00000 | units << 10 | FAR[4] << 5  # LDR Q0, whose last bytes are no data
        return rng.choice((0x39000000, 0x39400000 | FAR[4] << 5, beyond))  # STRB W0, [X0]; LDRB W0
    if rng.random() < 0.5:
        return words.illegal()
    # nothing, floating point, a base that is loaded, a mask of ones alone
    return rng.choice((0, 0xFFFFFFFF, 0x1E202820, 0x4E20D420, 0xD4200000, 0xD53B4200, 0xF8408400, 0x9240FC00))


def program_words(runs: Sequence[RandomRun]) -> int:
    """Executed words of them together."""
    return sum(len(run.due.steps) for run in runs)
