"""The encoding space of AdvSIMD and scalar floating-point data processing, and a few machine words for every form.

`rows` walks the space through the disassembler (Arm ARM C4.1, "Data Processing -- Scalar Floating-Point and Advanced
SIMD": bits 28 to 25 are x111) and names each row as a form of the table is named: its mnemonic and the shapes of its
operands, immediates and lane numbers left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal

from isa.decode import disassemble
from isa.parse import ParseError, blank_registers, parse

Kind = Literal["integer", "floating"]
Field = tuple[int, int]
"""A field of a word: its lowest bit, and how many it has."""
D, N, M, A = (0, 5), (5, 5), (16, 5), (10, 5)
"""The registers Rd or Rt, Rn, Rm or Rs, Ra or Rt2 (Arm ARM C4.1)."""
IMMEDIATE: Final = (16, 7)
"""Of a shift immh:immb; of the forms by element index, Rm and imm5."""

SPACE = 1 << 19
"""Words of the space with Rd = 0 and Rn = 1."""
_FLOATING = re.compile(r"b?f\w+|[su]cvtf")
_PLAIN: Final[tuple[Mapping[Field, int], ...]] = (
    {D: 0, N: 1, M: 2, A: 3},
    {D: 0, N: 1, A: 2},
    {D: 0, N: 1, M: 2},
    {D: 0, N: 1, (10, 12): 1},
    {D: 0, N: 1},
    {},
)
"""Numbers that make an instruction easy to read: of its registers, and of imm12."""
_NUMBER = re.compile(r"(?<=#)-?(?:0x[0-9a-f]+|\d+(?:\.\d+)?)|(?<=\[)\d+(?=\])")


@dataclass(frozen=True)
class EncodingRow:
    """One row of the space: its name, one of its words, and how many words it has with Rd = 0 and Rn = 1."""

    name: str
    word: int
    words: int

    @property
    def kind(self) -> Kind:
        """Floating point (FMOV, FABS, FNEG too), or integer or polynomial."""
        return "floating" if _FLOATING.fullmatch(self.name.split()[0]) else "integer"


def space() -> Iterator[int]:
    """Every word of the space with Rd = 0 and Rn = 1."""
    for number in range(SPACE):
        yield number >> 15 << 28 & 0xF0000000 | 7 << 25 | (number & 0x7FFF) << 10 | 1 << 5


def rows(words: Iterable[int]) -> list[EncodingRow]:
    """The rows that the words belong to, in the order of their first words; what is no instruction is left out."""
    found: dict[str, list[int]] = {}
    for word in words:
        mnemonic, operands = disassemble(word.to_bytes(4, "little"))
        if mnemonic != ".word":
            found.setdefault(_row_name(mnemonic, blank_registers(operands)[0]), [word, 0])[1] += 1
    return [EncodingRow(name, word, count) for name, (word, count) in found.items()]


@cache
def _row_name(mnemonic: str, blanked: str) -> str:
    """Mnemonic and shapes; where an operand is none of the table's, its text without numbers stands for its shape."""
    try:
        shapes = ",".join(operand.shape for operand in parse(blanked, [0] * blanked.count("_")))
    except ParseError:
        shapes = _NUMBER.sub("", blanked).replace(", ", ",").replace("v_", "")
    return f"{mnemonic} {shapes}".rstrip()


@cache
def recorded_words() -> dict[str, tuple[int, ...]]:
    """By form name, machine words of it, from the package's words.txt."""
    lines = Path(__file__).with_name("words.txt").read_text().splitlines()
    pairs = (line.split("; ") for line in lines)
    return {name: tuple(int(word, 16) for word in words.split()) for name, words in pairs}


def words_of(name: str) -> tuple[int, ...]:
    """The recorded machine words of the form of that name; none where nothing is recorded."""
    return recorded_words().get(name, ())


def plain_words(name: str) -> Iterator[int]:
    """The recorded words of a form with small register numbers, and as they are; some of them are of other forms."""
    return (with_fields(word, fields) for word in words_of(name) for fields in _PLAIN)


def with_fields(word: int, fields: Mapping[Field, int]) -> int:
    """A word with these numbers in these fields."""
    for (lsb, bits), number in fields.items():
        word = word & ~((1 << bits) - 1 << lsb) | number << lsb
    return word


def with_every_immediate(word: int) -> Iterator[int]:
    """A word with each number in the field IMMEDIATE."""
    return (with_fields(word, {IMMEDIATE: number}) for number in range(1 << IMMEDIATE[1]))
