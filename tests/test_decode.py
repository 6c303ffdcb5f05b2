"""Machine words to instructions: the text assembled again gives the word, and undefined words are refused."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from isa.decode import decode, disassemble
from isa.rows import TABLE
from isa.table import UnknownInstruction
from sim.toolchain import clang_command

Words = dict[str, tuple[int, ...]]

ARCHITECTURE = "armv8.6-a+rdm+dotprod+fp16+fp16fml+i8mm+bf16+sha3+lse"


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


def high_multiply(word: int) -> int:
    """SMULH, UMULH: Ra is (1)(1)(1)(1)(1) (C6.2, SMULH)."""
    return word | 31 << 10


IGNORING = {
    **dict.fromkeys(("dup .8b,w", "dup .16b,w", "dup .4h,w", "dup .8h,w", "dup .2s,w", "dup .4s,w"), general_duplicate),
    "dup .2d,x": general_duplicate,
    **dict.fromkeys(("mov .h[i],.h[i]", "mov .s[i],.s[i]", "mov .d[i],.d[i]"), element_insert),
    **dict.fromkeys(("and w,w,#", "orr x,x,#", "orr w,w,#", "eor w,w,#"), logical_immediate),
    **dict.fromkeys(("ands x,x,#", "ands w,w,#", "tst x,#", "tst w,#"), logical_immediate),
    **dict.fromkeys(("smulh x,x,x", "umulh x,x,x"), high_multiply),
}
"""The forms of which a recorded word has an ignored bit that an assembler sets otherwise."""


def assembled(words: Words) -> Iterator[tuple[str, int]]:
    """The words as an assembler would write them: ignored bits in their usual state."""
    for name, recorded in words.items():
        usual = IGNORING.get(name, int)
        yield from ((name, usual(word)) for word in recorded)


@pytest.fixture(scope="module")
def again(form_words: Words, tmp_path_factory: pytest.TempPathFactory) -> list[int]:
    """Every recorded word, decoded at address 0, where a target is an offset, and its text assembled again."""
    source = tmp_path_factory.mktemp("decode") / "forms.s"
    texts = [decode(in_bytes(word)).text for words in form_words.values() for word in words]
    source.write_text("\n".join([*texts, ""]))
    target = source.with_suffix(".o")
    subprocess.run([*clang_command(), f"-march={ARCHITECTURE}", "-c", str(source), "-o", str(target)], check=True)
    return text_of(target)


def text_of(file: Path) -> list[int]:
    with file.open("rb") as stream:
        code = ELFFile(stream).get_section_by_name(".text").data()
    return [int.from_bytes(code[at : at + 4], "little") for at in range(0, len(code), 4)]


def test_decoded_text_assembled_again_gives_the_same_word(form_words: Words, again: list[int]) -> None:
    rows = zip(assembled(form_words), again, strict=True)
    assert [f"{name}; {word:08x} became {other:08x}" for (name, word), other in rows if word != other] == []


def test_every_form_said_to_ignore_bits_has_a_word_that_shows_it(form_words: Words) -> None:
    assert [name for name, usual in IGNORING.items() if all(usual(word) == word for word in form_words[name])] == []


def test_words_that_differ_in_ignored_bits_print_the_same_text(form_words: Words) -> None:
    pairs = [(word, usual(word)) for name, usual in IGNORING.items() for word in form_words[name]]
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


UNDEFINED = (0x00000000, 0xFFFFFFFF, 0x00000001)
"""UDF #0, UDF #1 and an unallocated word (Arm ARM C4.1)."""


@pytest.mark.parametrize("word", UNDEFINED, ids=hex)
def test_an_undefined_word_is_refused_in_one_sentence(word: int) -> None:
    with pytest.raises(UnknownInstruction) as caught:
        decode(in_bytes(word))
    assert str(caught.value) == f"{caught.value.text}: {caught.value.reason}"


def test_an_undefined_word_is_named() -> None:
    with pytest.raises(UnknownInstruction, match=r"\.word 0xffffffff: this word is no instruction"):
        decode(b"\xff\xff\xff\xff")


def test_an_undefined_word_disassembles_to_its_number() -> None:
    assert disassemble(b"\xff\xff\xff\xff") == (".word", "0xffffffff")


def test_an_instruction_that_the_table_lacks_is_refused() -> None:
    with pytest.raises(UnknownInstruction, match="svc #0: the instruction table has no such form"):
        decode(in_bytes(0xD4000001))


def test_the_table_can_be_another_one() -> None:
    table = TABLE.replacing("nop", lambda: ())
    assert decode(in_bytes(0xD503201F), table=table).form is table.forms["nop", ""]


@pytest.mark.parametrize("seed", range(4))
def test_a_random_word_has_writes_or_is_refused(seed: int) -> None:
    rng, refused = random.Random(seed), 0
    for _ in range(3000):
        try:
            decode(in_bytes(rng.getrandbits(32))).writes  # noqa: B018
        except UnknownInstruction:
            refused += 1
    assert 0 < refused < 3000
