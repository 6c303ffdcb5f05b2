"""Finds machine words for every form of the instruction table and writes them to form_words.txt.

Walks the encoding space through the disassembler: every value of the upper 22 bits with Rn = 1 and Rd = 0, then
seeded random words that set the remaining fields.  Run it (a minute or two) when rows were added to the table:

    .venv/bin/python tests/data/enumerate_forms.py
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from isa.decode import decode
from isa.rows import TABLE
from isa.table import UnknownInstruction

PER_FORM = 4
OUTPUT = Path(__file__).with_name("form_words.txt")
SYSTEM = [0xD503201F, 0xD503241F, 0xD503245F, 0xD503249F, 0xD50324DF, 0xD5033FDF, 0xD5033F9F, 0xD5033BBF, 0xD65F03C0]
SYSTEM += [0xD2A00005, 0x52A00007, 0x92A00000, 0x92E00003, 0x129FFFE0]  # moves that have no other name
SYSTEM += [base | register for base in (0xD53B4400, 0xD53B4420, 0xD53B4200, 0xD51B4400, 0xD51B4420, 0xD51B4200)
           for register in (3, 9)]  # fmt: skip


def candidates(rng: random.Random) -> Iterable[int]:
    yield from (upper << 10 | 1 << 5 for upper in range(1 << 22))
    for _ in range(1_000_000):
        yield rng.getrandbits(32)
        yield rng.getrandbits(27) << 5 | 31  # Rd = 31: compare and test
        yield rng.getrandbits(22) << 10 | 31 << 5 | rng.randrange(31)  # Rn = 31: moves, negations
        yield 0x6B00001F | rng.getrandbits(3) << 29 | rng.getrandbits(22)  # register comparisons
        yield 0x2A0003E0 | rng.getrandbits(3) << 29 | rng.getrandbits(11) << 13 & 0x1FFC00 | rng.randrange(31)
    yield from SYSTEM


def main() -> None:
    rng = random.Random(1)
    words: dict[str, list[int]] = defaultdict(list)
    seen: dict[str, int] = defaultdict(int)
    for word in candidates(rng):
        try:
            name = decode(word.to_bytes(4, "little")).form.name
        except UnknownInstruction:
            continue
        seen[name] += 1
        if len(words[name]) < PER_FORM:
            words[name].append(word)
        elif rng.random() < PER_FORM / seen[name]:
            words[name][rng.randrange(PER_FORM)] = word
    names = [form.name for form in TABLE.forms.values()]
    lines = [f"{name}; {' '.join(f'{word:08x}' for word in sorted(set(words[name])))}\n" for name in names]
    OUTPUT.write_text("".join(lines))
    print(f"{len(names)} forms, {sum(not words[name] for name in names)} without a word")


if __name__ == "__main__":
    main()
