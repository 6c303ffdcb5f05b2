"""Words of which Arm leaves open what they do are refused for their fields, whatever a disassembler makes of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from random import Random

import pytest
from typer.testing import CliRunner

from isa.decode import UnpredictableInstruction, decode, disassemble, why_unpredictable
from isa.encodings import recorded_words
from isa.instruction import Instruction
from isa.lane import Lane, Memory, Place, Read, walk
from isa.rows import TABLE
from isa.table import UnknownInstruction
from sim import Batch, Emulator, Machine, Unpredictable
from sim.call.lockstep import Lockstep
from sim.command.app import app
from support.engines import CODE, DATA, PAGE

STORED, LOADED, TWICE = "it stores x1 and moves it", "it loads x1 and moves it", "it loads register 1 twice"
STATUS, BASE, ONES, ZEROS = (
    "it stores register 3 and writes its status",
    "it takes its address from x1",
    "are not all 1",
    "are not all 0",
)
T, N, T2, S = 0, 5, 10, 16

# What Arm ARM C6.2 and C7.2 say of each instruction: its word without registers, register fields, and what is wrong.
PAGES = [
    ("STR post", 0xF8008400, {T: 1, N: 1}, STORED),
    ("STR pre", 0xB8008C00, {T: 1, N: 1}, STORED),
    ("STRB", 0x38001400, {T: 1, N: 1}, STORED),
    ("STRH", 0x78002400, {T: 1, N: 1}, STORED),
    ("LDR", 0xF8408C00, {T: 1, N: 1}, LOADED),
    ("LDRB", 0x38401400, {T: 1, N: 1}, LOADED),
    ("LDRH", 0x78402400, {T: 1, N: 1}, LOADED),
    ("LDRSB x", 0x38801400, {T: 1, N: 1}, LOADED),
    ("LDRSB w", 0x38C01400, {T: 1, N: 1}, LOADED),
    ("LDRSH x", 0x78802400, {T: 1, N: 1}, LOADED),
    ("LDRSH w", 0x78C02400, {T: 1, N: 1}, LOADED),
    ("LDRSW", 0xB8804C00, {T: 1, N: 1}, LOADED),
    ("STR of zero through SP", 0xF8008400, {T: 31, N: 31}, ""),
    ("LDR of zero through SP", 0xF8408400, {T: 31, N: 31}, ""),
    ("STR q", 0x3C810400, {T: 1, N: 1}, ""),
    ("STR, no index", 0xF9000000, {T: 1, N: 1}, ""),
    ("STUR", 0xF8008000, {T: 1, N: 1}, ""),
    ("LDTR", 0xF8408800, {T: 1, N: 1}, ""),
    ("STTR", 0xF8008800, {T: 1, N: 1}, ""),
    ("STP, first", 0xA8810000, {T: 1, T2: 2, N: 1}, STORED),
    ("STP, second", 0x29810000, {T: 2, T2: 1, N: 1}, STORED),
    ("LDP, first", 0xA8C10000, {T: 1, T2: 2, N: 1}, LOADED),
    ("LDP, second", 0x29C10000, {T: 2, T2: 1, N: 1}, LOADED),
    ("LDPSW", 0x69C10000, {T: 1, T2: 2, N: 1}, LOADED),
    ("STP of zero through SP", 0xA8810000, {T: 31, T2: 31, N: 31}, ""),
    ("STP of one register twice", 0xA9000000, {T: 1, T2: 1, N: 2}, ""),
    ("STP of the base, no index", 0xA9000000, {T: 1, T2: 2, N: 1}, ""),
    ("STP q", 0xAD810000, {T: 1, T2: 1, N: 1}, ""),
    ("LDP", 0xA9400000, {T: 1, T2: 1, N: 2}, TWICE),
    ("LDP w", 0x29400000, {T: 1, T2: 1, N: 2}, TWICE),
    ("LDP of zero twice", 0xA9400000, {T: 31, T2: 31, N: 2}, "it loads register 31 twice"),
    ("LDNP", 0xA8400000, {T: 1, T2: 1, N: 2}, TWICE),
    ("LDPSW, offset", 0x69400000, {T: 1, T2: 1, N: 2}, TWICE),
    ("LDPSW, post", 0x68C00000, {T: 1, T2: 1, N: 2}, TWICE),
    ("LDP s", 0x2D400000, {T: 1, T2: 1, N: 2}, TWICE),
    ("LDP d", 0x6CC00000, {T: 1, T2: 1, N: 2}, TWICE),
    ("LDP q", 0xADC00000, {T: 1, T2: 1, N: 2}, TWICE),
    ("LDNP q", 0xAC400000, {T: 1, T2: 1, N: 2}, TWICE),
    ("LDXP", 0xC87F0000, {T: 1, T2: 1, N: 2}, TWICE),
    ("LDAXP", 0x887F8000, {T: 1, T2: 1, N: 2}, TWICE),
    ("LDXR of its base", 0xC85F7C00, {T: 1, N: 1}, ""),
    ("STXR, data", 0xC8007C00, {S: 3, T: 3, N: 1}, STATUS),
    ("STXR, zero and no status", 0xC8007C00, {S: 31, T: 31, N: 1}, "it stores register 31"),
    ("STXR, base", 0xC8007C00, {S: 1, T: 3, N: 1}, BASE),
    ("STXR, no status, SP", 0xC8007C00, {S: 31, T: 3, N: 31}, ""),
    ("STXR of its base", 0xC8007C00, {S: 3, T: 1, N: 1}, ""),
    ("STLXRB, data", 0x0800FC00, {S: 3, T: 3, N: 1}, STATUS),
    ("STLXRH, base", 0x4800FC00, {S: 1, T: 3, N: 1}, BASE),
    ("STXP, first", 0xC8200000, {S: 3, T: 3, T2: 4, N: 1}, STATUS),
    ("STLXP, second", 0x88208000, {S: 3, T: 4, T2: 3, N: 1}, STATUS),
    ("STXP, base", 0x88200000, {S: 1, T: 4, T2: 3, N: 1}, BASE),
    ("STXP of one register twice", 0xC8200000, {S: 3, T: 4, T2: 4, N: 1}, ""),
    ("CASP", 0x48207C00, {S: 2, T: 2, N: 2}, ""),
    ("LDADD", 0xB8200000, {S: 1, T: 1, N: 1}, ""),
    ("LDXR, Rs", 0xC8407C00, {T: 1, N: 2, S: 30}, ONES),
    ("LDXR, Rt2", 0xC85F0000, {T: 1, N: 2, T2: 30}, ONES),
    ("STXR, Rt2", 0xC8000000, {S: 3, T: 1, N: 2, T2: 30}, ONES),
    ("LDXP, Rs", 0xC8600000, {T: 1, T2: 2, N: 3, S: 30}, ONES),
    ("LDAR, Rs", 0xC8C0FC00, {T: 1, N: 2, S: 30}, ONES),
    ("STLRB, Rt2", 0x089F8000, {T: 1, N: 2, T2: 30}, ONES),
    ("LDLAR, Rs", 0x88C07C00, {T: 1, N: 2, S: 30}, ONES),
    ("STLLRH, Rt2", 0x489F0000, {T: 1, N: 2, T2: 30}, ONES),
    ("LDAPR", 0xB8A0C000, {T: 1, N: 2, S: 30}, ONES),
    ("SMULH", 0x9B400000, {T: 1, N: 2, S: 3, T2: 30}, ONES),
    ("UMULH", 0x9BC00000, {T: 1, N: 2, S: 3, T2: 30}, ONES),
    ("FCMP with zero", 0x1E202008, {N: 1, S: 1}, ZEROS),
    ("FCMPE with zero", 0x1EE02018, {N: 1, S: 1}, ZEROS),
    ("FCMP", 0x1E202000, {N: 1, S: 1}, ""),
    ("CFINV", 0xD500411F, {}, ZEROS),
    ("XAFLAG", 0xD500423F, {}, ZEROS),
    ("AXFLAG", 0xD500445F, {}, ZEROS),
    ("SB", 0xD50338FF, {}, ZEROS),
]  # fmt: skip


def with_fields(word: int, fields: dict[int, int]) -> int:
    for lowest, number in fields.items():
        word |= number << lowest
    return word


@pytest.mark.parametrize(("word", "fields", "says"), [page[1:] for page in PAGES], ids=[page[0] for page in PAGES])
def test_a_word_is_unpredictable_where_its_page_says_so(word: int, fields: dict[int, int], says: str) -> None:
    code = with_fields(word, fields).to_bytes(4, "little")
    if not says:
        assert decode(code).writes
        return
    with pytest.raises(UnpredictableInstruction, match=f"{says}.*CONSTRAINED UNPREDICTABLE"):
        decode(code)


# A second statement, from what the instructions write and read.


def read_anywhere(lanes: Iterable[Lane]) -> set[Place]:
    return {node.place for node in walk(lanes) if isinstance(node, Read)}


def overlaps(instruction: Instruction) -> bool:
    """A register loaded twice, or moved as a base and loaded or stored; a status that is also stored or the base."""
    written = instruction.places_written
    if len(set(written)) < len(written):
        return True
    own = {place for place in written if place.file in ("x", "zr")}
    stores = [write for write in instruction.writes if isinstance(write.place, Memory)]
    stored = read_anywhere(lane for write in stores for lane in write.lanes)
    if instruction.form.name.startswith(("stx", "stlx")):
        addressed = read_anywhere(write.place.address for write in stores if isinstance(write.place, Memory))
        return bool(own & (stored | addressed))
    return instruction.form.name.endswith(("!", "post")) and bool(own & stored)


def ways_to_coincide(word: int) -> Iterator[int]:
    """The word with every choice of two numbers for its four register fields."""
    for numbers in product((6, 7), repeat=4):
        clear = word & ~(0x1F << T | 0x1F << N | 0x1F << T2 | 0x1F << S)
        yield with_fields(clear, dict(zip((T, N, T2, S), numbers, strict=True)))


def in_table(word: int) -> Instruction | None:
    try:
        return TABLE.instruction(*disassemble(word.to_bytes(4, "little")))
    except UnknownInstruction:
        return None


ACCESSES = [name for name in recorded_words() if "[x" in name]


@pytest.mark.slow
def test_registers_overlap_where_the_instruction_would_write_one_twice_or_store_what_it_moves() -> None:
    wrong, met = [], 0
    for name in ACCESSES:
        for word in ways_to_coincide(recorded_words()[name][0]):
            instruction = in_table(word)
            if instruction is None or "should" in why_unpredictable(word):
                continue
            met += overlaps(instruction)
            if overlaps(instruction) != bool(why_unpredictable(word)):
                wrong.append(f"{word:08x} {instruction.text}")
    assert (wrong, met > 100) == ([], True)


IGNORED = {r"dup \.\d+[bhsd],[wx]": 0x1F << 16, r"mov \.[bhsd]\[i\],\.[bhsd]\[i\]": 0xF << 11,
           r"(and|orr|eor|ands|tst|mov) ([wx],)+#": 0x3F << 16}  # fmt: skip
"""The bits of which Arm says that a processor ignores them, by forms: see tests/test_decode.py."""


@pytest.mark.slow
def test_a_bit_that_changes_nothing_is_ignored_by_arm_or_makes_the_word_unpredictable() -> None:
    silent = []
    for name, words in recorded_words().items():
        text = disassemble(words[0].to_bytes(4, "little"))
        ignored = next((bits for pattern, bits in IGNORED.items() if re.fullmatch(pattern, name)), 0)
        for bit in range(32):
            other = words[0] ^ 1 << bit
            if (
                not ignored >> bit & 1
                and disassemble(other.to_bytes(4, "little")) == text
                and not why_unpredictable(other)
            ):
                silent.append(f"{name}: bit {bit} of {words[0]:08x}")
    assert silent == []


def test_no_recorded_word_is_unpredictable() -> None:
    assert [name for name, words in recorded_words().items() if any(map(why_unpredictable, words))] == []


@pytest.mark.parametrize("seed", range(4))
def test_a_word_that_the_table_executes_is_not_unpredictable(seed: int) -> None:
    rng, words, wrong = Random(seed), [word for name in ACCESSES for word in recorded_words()[name]], []
    for _ in range(5000):
        word = rng.choice(words) ^ 1 << rng.randrange(32) ^ 1 << rng.randrange(32)
        refused = False
        try:
            decode(word.to_bytes(4, "little"))
        except UnknownInstruction as refusal:
            refused = isinstance(refusal, UnpredictableInstruction)
        if refused != bool(why_unpredictable(word)):
            wrong.append(hex(word))
    assert wrong == []


# A finding of its own.

STR_X9 = 0xF8008529


def machine_at(word: int) -> Machine:
    machine = Machine()
    machine.memory.map(CODE, PAGE, "rx")
    machine.memory.map(DATA, PAGE, "rw")
    machine.memory.write(CODE, word.to_bytes(4, "little"))
    machine.pc, machine.x[9] = CODE, DATA
    return machine


def test_the_machine_stops_before_it() -> None:
    machine = machine_at(STR_X9)
    with pytest.raises(Unpredictable, match=r"at 0x10000, str x9, \[x9\], #8: it stores x9 and moves it") as caught:
        machine.run()
    assert (caught.value.pc, machine.x[9], machine.memory.read(DATA, 8)) == (CODE, DATA, bytes(8))


def test_a_batch_stops_before_it() -> None:
    batch = Batch(2)
    batch.memory.map(CODE, PAGE, "rx")
    batch.memory.write(CODE, STR_X9.to_bytes(4, "little"))
    batch.pc = CODE
    batch.run(max_instructions=1)
    assert [type(fault) for fault in batch.faults.values()] == [Unpredictable, Unpredictable]


def test_lockstep_does_not_let_the_emulator_execute_it() -> None:
    machine, emulator = machine_at(STR_X9), Emulator()
    emulator.memory.map(CODE, PAGE, "rx")
    emulator.memory.map(DATA, PAGE, "rw")
    emulator.memory.write(CODE, STR_X9.to_bytes(4, "little"))
    with pytest.raises(Unpredictable):
        Lockstep(machine, emulator).run(CODE + 4, 1)
    assert emulator.memory.read(DATA, 8) == bytes(8)


KERNEL_C = (
    '#include <stdint.h>\nuint64_t f(uint64_t *p)\n{\n    __asm__(".inst 0xf8008400" ::: "memory");\n    return 0;\n}\n'
)


def test_run_names_it_as_a_finding_with_its_line(tmp_path: Path) -> None:
    source = tmp_path / "k.c"
    source.write_text(KERNEL_C)
    result = CliRunner().invoke(app, ["run", str(source), "f", "zeros:4"])
    said = " ".join(result.stderr.split())
    assert (result.exit_code, "unpredictable instruction: str x0, [x0], #8 at" in said, "k.c:4" in said) == (
        1,
        True,
        True,
    )


@pytest.mark.parametrize("word", [0xB8400800, 0xF8400821, 0x38480842, 0x785FF863, 0xB8801884])
def test_an_unprivileged_load_into_its_base_register_is_legal(word: int) -> None:
    number = word & 31
    machine = machine_at(word)
    machine.x[number] = DATA + 512
    machine.memory.write(DATA, bytes(range(256)) * 8)
    offset = (word >> 12 & 0x1FF) - (0x200 if word >> 20 & 1 else 0)
    size = 1 << (word >> 30)
    machine.run(max_instructions=1)
    expected = int.from_bytes(machine.memory.read(DATA + 512 + offset, size), "little")
    assert machine.x[number] == expected
