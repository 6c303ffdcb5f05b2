"""The machine words that a form is verified with: recorded ones, every immediate, and registers that coincide."""

from __future__ import annotations

import random
from itertools import islice

from isa.decode import decode
from isa.encodings import A, D, M, N, with_every_immediate, with_fields, words_of
from isa.table import UnknownInstruction

_RUNS_A_WORD = 3
_OFFSET, _OFFSET_UNSCALED = 12, ("ldapur", "stlur")


def words_to_run(form: str, rng: random.Random, runs: int) -> list[int]:
    """Words for so many runs: the recorded ones, then seeded variants of them; at least three runs for each.

    Of a form with an immediate so many variants that each can have a run.  Empty where no word is recorded.
    """
    recorded = tuple(dict.fromkeys(_with_aligned_offset(form, word) for word in words_of(form)))
    tried = set[int]()
    for word in recorded:
        d, m = (word >> lsb & 31 for lsb, _ in (D, M))
        tried |= {with_fields(word, fields) for fields in ({N: d}, {N: m}, {N: d, M: d})}
        for drawn in (*[(D, N)] * 4, (D, N, M), (D, N, A)):
            tried.add(with_fields(word, {field: rng.randrange(31) for field in drawn}))
    for word in recorded[:2]:
        tried.update(with_every_immediate(word))
    candidates = sorted({_with_aligned_offset(form, word) for word in tried} - set(recorded))
    rng.shuffle(candidates)
    room = max(runs if "#" in form else runs // _RUNS_A_WORD, len(recorded) + 8) - len(recorded)
    return [*recorded, *sorted(islice((word for word in candidates if _is_word_of(form, word)), room))]


def _with_aligned_offset(form: str, word: int) -> int:
    """Of LDAPUR and STLUR, which fault where the address is not aligned, the word with a multiple of 16 as offset."""
    return word & ~(0xF << _OFFSET) if form.startswith(_OFFSET_UNSCALED) else word


def _is_word_of(form: str, word: int) -> bool:
    """Of the form, without two writes of one register, and where memory is accessed without a register in two roles.

    Those are constrained unpredictable where the base is written back or a pair is loaded (Arm ARM K1.1).
    """
    try:
        instruction = decode(word.to_bytes(4, "little"))
    except UnknownInstruction:
        return False
    if instruction.form.name != form:
        return False
    written, numbers = instruction.places_written, instruction.registers
    in_two_roles = "[x" in instruction.form.shape and len(set(numbers)) < len(numbers)
    return not in_two_roles and len(set(written)) == len(written)
