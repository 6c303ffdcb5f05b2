"""GNU objdump as a third decoder: what the table executes is an instruction to it too, and has the same text.

    PYTHONPATH=tests .venv/bin/python -m long.decoders [--words N] [--seed S] [--objdump PROGRAM]

Words: every recorded one of the table, as many of them damaged in up to three bits or with registers that coincide, and
as many random ones.  objdump of AArch64 is in the Debian package binutils-aarch64-linux-gnu.  Ends with 1 where
something executes that objdump calls undefined or reads otherwise, or where nothing was compared; with 3 where there is
no objdump.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from multiprocessing import Pool
from pathlib import Path
from random import Random
from shutil import which
from tempfile import TemporaryDirectory
from typing import NamedTuple

from rich.console import Console
from rich.progress import track

from isa.decode import UnpredictableInstruction, decode
from isa.encodings import recorded_words
from isa.errors import MISSING
from isa.table import UnknownInstruction
from sim.terminal.script import at_least_one, run_by_hand

_AT_ONCE = 20_000
_LINE = re.compile(r"\s*[0-9a-f]+:\t[0-9a-f]{8} \t(.*)")
_RANGE = re.compile(r"\{([vz])(\d+)(\.\w+)-[vz](\d+)\.\w+\}")
_ALIASES = {
    r"(b\.|,)cs\b": r"\1hs", r"(b\.|,)cc\b": r"\1lo",  # conditions with two names
    r"^([su])xtl(2?) (.*)$": r"\1shll\2 \3,0",
    r"^hint 6$": "dgh",
    r"^orr ([wx]\d+),[wx]zr,(\d+)$": r"mov \1,\2",
}  # fmt: skip
"""What objdump writes where Capstone writes something else for the same instruction."""


class Compared(NamedTuple):
    """What a number of words were: how many of which kind, and where the decoders differ."""

    kinds: Counter[str]
    unread: Counter[str]
    differences: list[str]


def words_to_compare(seed: int, count: int) -> list[int]:
    """All recorded words, `count` damaged ones, `count` random ones."""
    rng, recorded = Random(seed), [word for words in recorded_words().values() for word in words]
    damaged = (_damaged(rng, rng.choice(recorded)) for _ in range(count))
    return [*recorded, *damaged, *(rng.getrandbits(32) for _ in range(count))]


def _damaged(rng: Random, word: int) -> int:
    for _ in range(rng.randrange(4)):
        word ^= 1 << rng.randrange(32)
    if rng.randrange(2):
        register = rng.choice((word & 31, word >> 5 & 31))
        for lowest in rng.sample((0, 5, 10, 16), 2):
            word = word & ~(31 << lowest) | register << lowest
    return word


def objdump_texts(program: str, words: Sequence[int]) -> list[str]:
    """What objdump writes for the words, one after the other from address 0."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "words.bin")
        file.write_bytes(b"".join(word.to_bytes(4, "little") for word in words))
        command = [program, "--disassemble-all", "--disassemble-zeroes", "-b", "binary", "-m", "aarch64", str(file)]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    texts = [match[1] for match in map(_LINE.fullmatch, said.splitlines()) if match]
    if len(texts) != len(words):
        raise ValueError(f"objdump wrote {len(texts)} lines for {len(words)} words")
    return texts


def plain(text: str) -> str:
    """A text as both decoders would write it: numbers in decimal modulo 2^64, lists in full, one name for an alias."""
    text = re.sub(r"\s*//.*", "", text).lower().replace("#", "")
    text = re.sub(r",\s+", ",", " ".join(text.split()))
    text = _RANGE.sub(_in_full, text)
    text = re.sub(r"(?<![\w.])-?\d+\.\d+(e[+-]\d+)?", lambda match: f"{float(match[0])!r}f", text)
    bits = 32 if re.match(r"mov w", text) else 64
    text = re.sub(r"(?<![\w.])-?(0x[0-9a-f]+|\d+)(?![\w.])", lambda match: str(int(match[0], 0) % 2**bits), text)
    for theirs, ours in _ALIASES.items():
        text = re.sub(theirs, ours, text)
    return text


def _in_full(match: re.Match[str]) -> str:
    first, last = int(match[2]), int(match[4])
    numbers = [(first + k) % 32 for k in range((last - first) % 32 + 1)]
    return "{" + ",".join(f"{match[1]}{number}{match[3]}" for number in numbers) + "}"


def compare(job: tuple[str, Sequence[int]]) -> Compared:
    """Some words, read by both."""
    program, words = job
    kinds, unread, differences = Counter[str](), Counter[str](), list[str]()
    for number, (word, text) in enumerate(zip(words, objdump_texts(program, words), strict=True)):
        undefined = text.startswith(".inst")
        try:
            ours = decode(word.to_bytes(4, "little"), 4 * number).text
        except UnpredictableInstruction:
            kinds["refused: unpredictable"] += 1
        except UnknownInstruction as refusal:
            named = re.match("it belongs to ([^,]+), which", refusal.reason)
            if undefined:
                kinds["refused, and undefined to objdump"] += 1
            elif named:
                kinds["refused: of an extension that is named"] += 1
            else:
                kinds["refused, but objdump reads them"] += 1
                unread[text.split()[0]] += 1
        else:
            kinds["executed"] += 1
            if undefined or plain(ours) != plain(text):
                differences.append(f"{word:08x}: {ours!r}, objdump {' '.join(text.split())!r}")
    return Compared(kinds, unread, differences)


def summary(compared: Sequence[Compared], seed: int) -> Iterator[str]:
    """Counts of words by kind, what only objdump reads, every difference."""
    kinds = sum((part.kinds for part in compared), Counter[str]())
    unread = sum((part.unread for part in compared), Counter[str]())
    found = [line for part in compared for line in part.differences]
    yield f"seed {seed}"
    yield f"words {kinds.total():,}"
    for kind, count in kinds.most_common():
        yield f"  {kind:40} {count:,}"
    if unread:
        yield f"only objdump reads: {', '.join(f'{name} {count}' for name, count in unread.most_common())}"
    yield f"executed, but undefined or otherwise read by objdump: {len(found)}"
    yield from found[:40]


def main() -> int:
    """0 where nothing differs, 1 where something does, 3 without objdump."""
    parser = argparse.ArgumentParser(description="The table's decoder against GNU objdump.")
    parser.add_argument("--words", type=at_least_one, default=1_000_000, help="damaged words, and as many random ones")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--objdump", default="aarch64-linux-gnu-objdump")
    given = parser.parse_args()
    program = which(given.objdump)
    if program is None:
        print(f"{given.objdump} is missing: install the Debian package binutils-aarch64-linux-gnu", file=sys.stderr)
        return MISSING
    words = words_to_compare(given.seed, given.words)
    jobs = [(program, words[at : at + _AT_ONCE]) for at in range(0, len(words), _AT_ONCE)]
    with Pool() as workers:
        results = workers.imap(compare, jobs)
        compared = list(track(results, "comparing", len(jobs), console=Console(stderr=True)))
    print("\n".join(summary(compared, given.seed)))
    executed = sum(part.kinds["executed"] for part in compared)
    return int(not executed or any(part.differences for part in compared))


if __name__ == "__main__":
    run_by_hand(main)
