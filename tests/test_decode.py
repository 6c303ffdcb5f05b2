"""Machine words to instructions: the text assembled again gives the word, and undefined words are refused."""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from isa.acle.assembly import architecture
from isa.decode import decode, disassemble
from isa.rows import TABLE
from isa.table import Table, UnknownInstruction
from sim.toolchain.compilers import clang_command

Words = dict[str, tuple[int, ...]]

NOP = 0xD503201F


def in_bytes(word: int) -> bytes:
    return word.to_bytes(4, "little")


# Bits that the processor ignores, so that several words print the same text.  Each function gives the word that an
# assembler makes of that text.


def general_duplicate(word: int) -> int:
    """DUP (general): only the lowest 1 of imm5 counts (Arm ARM C7.2, DUP (general): "size = LowestSetBit(imm5)")."""
    imm5 = word >> 16 & 31
    return word & ~(31 << 16) | (imm5 & -imm5) << 16


def element_insert(word: int) -> int:
    """INS (element): the bits of imm4 below the element index (C7.2, INS (element): "Unspecified bits ... ignored")."""
    imm5, imm4 = word >> 16 & 31, word >> 11 & 15
    size = imm5 & -imm5
    return word & ~(15 << 11) | (imm4 & -size) << 11


def logical_immediate(word: int) -> int:
    """AND, ORR, EOR, ANDS (immediate): immr counts modulo the element size (Arm pseudocode DecodeBitMasks)."""
    immediate_n, immr, imms = word >> 22 & 1, word >> 16 & 63, word >> 10 & 63
    element_bits = 1 << (immediate_n << 6 | ~imms & 63).bit_length() - 1
    return word & ~(63 << 16) | immr % element_bits << 16


IGNORING = {
    r"dup \.\d+[bhsd],[wx]": general_duplicate,
    r"mov \.[bhsd]\[i\],\.[bhsd]\[i\]": element_insert,
    r"(and|orr|eor|ands|tst) ([wx],)+#": logical_immediate,
}
"""Forms, by a pattern of their names, of which a word can have an ignored bit that an assembler sets otherwise."""


def as_assembled(name: str, word: int) -> int:
    """The word as an assembler would write it: ignored bits in their usual state."""
    return next((usual(word) for pattern, usual in IGNORING.items() if re.fullmatch(pattern, name)), word)


def recorded(words: Words) -> Iterator[tuple[str, int]]:
    """Every recorded word, with the name of its form."""
    return ((name, word) for name, of_form in words.items() for word in of_form)


@pytest.fixture(scope="module")
def again(form_words: Words, tmp_path_factory: pytest.TempPathFactory) -> list[int]:
    """Every recorded word, decoded at address 0, where a target is an offset, and its text assembled again."""
    source = tmp_path_factory.mktemp("decode") / "forms.s"
    texts = [decode(in_bytes(word)).text for words in form_words.values() for word in words]
    source.write_text("\n".join([*texts, ""]))
    target = source.with_suffix(".o")
    subprocess.run(
        [*clang_command(), f"-march={architecture(TABLE.forms.values())}", "-c", str(source), "-o", str(target)],
        check=True,
    )
    return text_of(target)


def text_of(file: Path) -> list[int]:
    with file.open("rb") as stream:
        code = ELFFile(stream).get_section_by_name(".text").data()
    return [int.from_bytes(code[at : at + 4], "little") for at in range(0, len(code), 4)]


def test_decoded_text_assembled_again_gives_the_same_word(form_words: Words, again: list[int]) -> None:
    rows = zip(recorded(form_words), again, strict=True)
    changed = [(name, word, other) for (name, word), other in rows if as_assembled(name, word) != other]
    assert [f"{name}; {word:08x} became {other:08x}" for name, word, other in changed] == []


@pytest.mark.parametrize("pattern", IGNORING)
def test_of_forms_said_to_ignore_bits_a_word_shows_it(form_words: Words, pattern: str) -> None:
    words = [(name, word) for name, word in recorded(form_words) if re.fullmatch(pattern, name)]
    assert any(as_assembled(name, word) != word for name, word in words)


def test_words_that_differ_in_ignored_bits_print_the_same_text(form_words: Words) -> None:
    pairs = [(word, as_assembled(name, word)) for name, word in recorded(form_words)]
    assert [pair for pair in pairs if decode(in_bytes(pair[0])).text != decode(in_bytes(pair[1])).text] == []


def text_at(word: int, address: int) -> str:
    return decode(in_bytes(word), address).text


B_FORWARD, B_BACK = 0x14000002, 0x17FFFFFE
ADR_BACK, ADRP_NEXT = 0x10FFFFE0, 0xB0000000
HIGH = 0xFFFF000000000000


@pytest.mark.parametrize(
    ("word", "address", "text"),
    [
        (B_FORWARD, 0x1000, "b #0x1008"),
        (B_BACK, 0x1000, "b #0xff8"),
        (0x54000040, 0x1000, "b.eq #0x1008"),
        (0xB4FFFFC0, 0x1000, "cbz x0, #0xff8"),
        (0x37F80040, 0x1000, "tbnz w0, #0x1f, #0x1008"),
        (ADR_BACK, 0x1000, "adr x0, #0xffc"),
        (ADRP_NEXT, 0x1234, "adrp x0, #0x2000"),
    ],
)
def test_a_target_is_an_address(word: int, address: int, text: str) -> None:
    assert text_at(word, address) == text


@pytest.mark.parametrize(
    ("word", "address", "target"),
    [
        (B_BACK, 0, 2**64 - 8),
        (B_FORWARD, 2**64 - 4, 4),
        (B_BACK, HIGH, HIGH - 8),
        (ADR_BACK, 0, 2**64 - 4),
        (ADR_BACK, HIGH, HIGH - 4),
        (ADRP_NEXT, HIGH + 0x234, HIGH + 0x1000),
        (ADRP_NEXT, 2**64 - 0x1000, 0),
    ],
)
def test_a_target_wraps_in_the_64_bit_address_space(word: int, address: int, target: int) -> None:
    (write,) = decode(in_bytes(word), address).writes
    assert write.lanes[0].value == target


UNDEFINED = (0xFFFFFFFF, 0x00010000)
"""Unallocated words (Arm ARM C4.1)."""


@pytest.mark.parametrize("word", UNDEFINED, ids=hex)
def test_an_undefined_word_is_refused_in_one_sentence(word: int) -> None:
    with pytest.raises(UnknownInstruction) as caught:
        decode(in_bytes(word))
    assert str(caught.value) == f"{caught.value.text}: {caught.value.reason}"


def test_an_undefined_word_is_named() -> None:
    with pytest.raises(UnknownInstruction, match=r"\.word 0xffffffff: Capstone 5 knows no such instruction"):
        decode(b"\xff\xff\xff\xff")


def test_an_undefined_word_disassembles_to_its_number() -> None:
    assert disassemble(b"\xff\xff\xff\xff") == (".word", "0xffffffff")


def test_an_instruction_that_the_table_lacks_is_refused() -> None:
    with pytest.raises(UnknownInstruction, match="nop: the instruction table has no such form"):
        decode(in_bytes(NOP), table=Table([]))


@pytest.mark.parametrize(
    ("word", "text"),
    [
        (0xF9800026, "prfm #0x6, [x1]"),
        (0xF8A06838, "prfm #0x18, [x1, x0]"),
        (0xF880003F, "prfum #0x1f, [x1]"),
        (0xD5033C9F, "dsb #0xc"),
    ],
)
def test_a_text_that_no_assembler_takes_is_repaired(word: int, text: str) -> None:
    assert " ".join(disassemble(in_bytes(word))) == text


def test_the_table_can_be_another_one() -> None:
    table = TABLE.replacing("nop", lambda: ())
    assert decode(in_bytes(NOP), table=table).form is table.forms["nop", ""]


@pytest.mark.parametrize("seed", range(4))
def test_a_random_word_has_writes_or_is_refused(seed: int) -> None:
    rng, refused = random.Random(seed), 0
    for _ in range(3000):
        try:
            decode(in_bytes(rng.getrandbits(32))).writes  # noqa: B018
        except UnknownInstruction:
            refused += 1
    assert 0 < refused < 3000
