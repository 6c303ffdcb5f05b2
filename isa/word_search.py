"""Finds machine words for the forms of the instruction table that have none yet, and records them in words.txt.

Run it when rows were added to the table (`make form-words`); it takes a minute or two.  Words that are recorded stay as
they are.  Walks every value of the upper 22 bits with Rn = 1 and Rd = 0, then seeded random words that fix some fields.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from isa.decode import decode
from isa.encodings import recorded_words
from isa.rows import TABLE
from isa.table import UnknownInstruction

OUTPUT = Path(__file__).with_name("words.txt")
_WORDS_A_FORM = 4
_LITERAL_WORDS = range(256, 768)
"""How many words before its data a literal load may stand: there the benches have data (sim.verify.differential)."""


class Encoding(NamedTuple):
    """Words that are `fixed` but for the bits of `free`, and how many random ones are tried."""

    fixed: int
    free: int
    tries: int = 20_000

    def words(self, rng: random.Random) -> Iterator[int]:
        """Random words of it."""
        return (self.fixed & ~self.free | rng.getrandbits(32) & self.free for _ in range(self.tries))


_ENCODINGS = (
    Encoding(0, 0xFFFFFFFF, 1_000_000),
    Encoding(31, 0xFFFFFFE0, 1_000_000),  # Rd = 31: compare and test
    Encoding(31 << 5, 0xFFFFFC1F, 1_000_000),  # Rn = 31: moves, negations
    Encoding(0x6B00001F, 0xE03FFFE0, 200_000),  # comparisons of registers
    Encoding(0x2A0003E0, 0xE01FFC1F, 200_000),  # moves and inversions of registers
    Encoding(0x18000000, 0xC0FFFFFF), Encoding(0x1C000000, 0xC0FFFFFF),  # literal loads
    Encoding(0xF8A04800, 0x001F13FF), Encoding(0xF8800000, 0x000013FF), Encoding(0xF9800000, 0x000013FF),  # prefetches
    Encoding(0x3820001F, 0xC07FF3E0),  # STADD and its like
    Encoding(0x1E202000, 0x00DF03F8),  # FCMP, FCMPE
    Encoding(0x5A9F03E0, 0x8000F01F),  # CSETM
    Encoding(0x3A00080D, 0x000043E0), Encoding(0xBA000400, 0x001F83EF),  # SETF8, SETF16, RMIF
    Encoding(0xD4000001, 0x001FFFE2), Encoding(0xD4000002, 0x001FFFE1),  # SVC, HVC, SMC
    Encoding(0xD4200000, 0x001FFFE0), Encoding(0xD4400000, 0x001FFFE0), Encoding(0xD4A00000, 3),  # BRK, HLT, DCPS
    Encoding(0, 0x0000FFFF),  # UDF
    Encoding(0xD503201F, 0x00000FE0), Encoding(0xD503301F, 0x00000FE0),  # hints, barriers, CLREX
    Encoding(0xD5000000, 0x003FFFFF, 500_000),  # system registers, flags
    Encoding(0xD500401F, 0x00000060), Encoding(0xD65F0BFF, 0x00000400), Encoding(0xD65F03C0, 0),  # CFINV, RETAA, RET
    Encoding(0x12800000, 0xE07FFFFF), Encoding(0x52A00007, 0x80000000), Encoding(0x92A00000, 0x00400000),  # MOVN, MOVZ
    Encoding(0x129FFFE0, 0x0020001F),  # MOVN of 0xffff, which has no other name
    Encoding(0xD53B4200, 0x0020063F), Encoding(0xD51B4200, 0x0020063F),  # FPCR, FPSR, NZCV
)  # fmt: skip


def candidates(rng: random.Random) -> Iterator[int]:
    """The words that are tried."""
    yield from (upper << 10 | 1 << 5 for upper in range(1 << 22))
    for encoding in _ENCODINGS:
        yield from encoding.words(rng)


def is_usable(word: int) -> bool:
    """No literal load from afar."""
    literal = word & 0x3B000000 == 0x18000000
    return not literal or (word >> 5 & 0x7FFFF) in _LITERAL_WORDS


def search(wanted: frozenset[str], words: Iterable[int], rng: random.Random) -> dict[str, list[int]]:
    """By form name, some of the words that are of the wanted forms, each with the same chance."""
    found: dict[str, list[int]] = defaultdict(list)
    seen: dict[str, int] = defaultdict(int)
    for word in filter(is_usable, words):
        try:
            name = decode(word.to_bytes(4, "little")).form.name
        except UnknownInstruction:
            continue
        if name not in wanted:
            continue
        seen[name] += 1
        if len(found[name]) < _WORDS_A_FORM:
            found[name].append(word)
        elif rng.random() < _WORDS_A_FORM / seen[name]:
            found[name][rng.randrange(_WORDS_A_FORM)] = word
    return found


def main() -> None:
    """Complete words.txt and say how many forms are still without a word."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    rng = random.Random(1)
    names = [*TABLE.named]
    words = {name: list(recorded) for name, recorded in recorded_words().items() if recorded}
    missing = frozenset(names) - set(words)
    if missing:
        words.update(search(missing, candidates(rng), rng))
    lines = [f"{name}; {' '.join(f'{word:08x}' for word in sorted(set(words.get(name, ()))))}\n" for name in names]
    OUTPUT.write_text("".join(lines))
    print(f"{len(names)} forms, {sum(name not in words for name in names)} without a word")


if __name__ == "__main__":
    main()
