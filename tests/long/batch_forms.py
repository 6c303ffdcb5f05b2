"""Every form of the table on a batch of random members, against a machine for each of them.

    make batch

Ends with 1 where something differs.  A form's states come from a generator seeded with the CRC of its name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from multiprocessing import Pool
from random import Random
from zlib import crc32

from isa.decode import decode
from isa.encodings import recorded_words
from isa.operands import Address
from isa.parse import parse
from sim.machine.registers import SP
from sim.terminal.script import parser_of, run_by_hand
from support.batches import CODE, DATA, PAGE, Together

MEMBERS, ROUNDS = 24, 6
DATA_SIZE = 16 * PAGE


def _special(together: Together, rng: Random) -> None:
    together.fill(rng, special=True)


FILLS = (Together.fill, Together.fill_floats, Together.fill_small, _special, _special, Together.fill_floats)
"""What the registers are filled with, by round."""


def words_of(name: str) -> tuple[int, ...]:
    """The recorded words of a form."""
    return recorded_words()[name]


@cache
def bench() -> Together:
    """A page of code, and data of its own for every member."""
    together = Together(MEMBERS)
    together.map(CODE, PAGE, "rx")
    together.map(DATA, DATA_SIZE, "rw")
    return together


def difference(name: str, word: int, rounds: int = ROUNDS) -> str:
    """ "" where batch and machines do the same with the word from random states, else what differs."""
    rng, together = Random(crc32(name.encode()) + word), bench()
    together.write(CODE, word.to_bytes(4, "little"))
    together.write(CODE + 1024, Random(1).randbytes(0x810))
    base = base_register(word)
    for number in range(rounds):
        FILLS[number](together, rng)
        if base is not None:
            together.write_each(DATA, [rng.randbytes(DATA_SIZE) for _ in range(MEMBERS)])
            _point(together, base, rng, number)
        together.start(CODE)
        if found := together.run(max_instructions=1):
            return f"{name}, {word:08x}, round {number}: {found}"
    return ""


def base_register(word: int) -> int | None:
    """The number of the register that the memory operand of an instruction is based on; None where it has none."""
    instruction = decode(word.to_bytes(4, "little"), CODE)
    for operand in parse(instruction.pattern.operand_text, instruction.registers):
        if isinstance(operand, Address):
            place = operand.base.place
            return SP if place.file == "sp" else int(place.index)  # type: ignore[arg-type]
    return None


def _point(together: Together, base: int, rng: Random, number: int) -> None:
    """Addresses that are equal (round 0), apart, and in the later rounds in places that fault too."""
    same = DATA + DATA_SIZE // 2 + 16 * rng.randrange(8)
    for machine in together.machines:
        general = machine.registers.general
        general[:] = [rng.randrange(-64, 64) % 2**64 for _ in general]
        faulty = rng.choice((CODE + 2048, DATA + DATA_SIZE - rng.randrange(40), DATA - rng.randrange(20), 0))
        apart = DATA + DATA_SIZE // 2 + rng.randrange(2048)
        general[base] = same if number == 0 else faulty if number > 1 and rng.random() < 0.3 else apart
        machine.registers.flags[3] = general[base] + (1 << 64) if rng.randrange(2) else 0
    if number == 0:
        first = together.machines[0].registers.general
        for machine in together.machines:
            machine.registers.general[:] = first


def differences(names: Sequence[str]) -> Iterator[str]:
    """What differs, of all words of these forms."""
    for name in names:
        yield from (found for word in words_of(name) if (found := difference(name, word)))


def _all_of(name: str) -> list[str]:
    return list(differences([name]))


def main() -> int:
    parser_of(__doc__).parse_args()
    names = list(recorded_words())
    failed = 0
    with Pool() as workers:
        for found in workers.imap(_all_of, names, chunksize=16):
            failed += bool(found)
            print(*found, sep="\n", end="\n" if found else "", flush=True)
    words = sum(map(len, recorded_words().values()))
    print(f"{len(names):,} forms, {words:,} words, {MEMBERS} members, {ROUNDS} rounds")
    print(f"forms that differ: {failed}")
    return 1 if failed or not names else 0


if __name__ == "__main__":
    run_by_hand(main)
