"""The machine words that a form is verified with: recorded ones, every immediate, and registers that coincide."""

from __future__ import annotations

import random
from itertools import islice

from isa.decode import decode
from isa.encodings import words_of
from isa.table import UnknownInstruction

_D, _N, _M, _A = 0, 5, 16, 10
"""The lowest bit of the register fields Rd or Rt, Rn, Rm or Rs, Ra or Rt2 (Arm ARM C4.1)."""
_IMMEDIATE_BITS = 7
"""Bits 22 to 16 hold immh:immb of a shift, and index, Rm and imm5 of the forms by element."""
_RUNS_A_WORD = 3
_OFFSET, _OFFSET_UNSCALED = 12, ("ldapur", "stlur")


def words_to_run(form: str, rng: random.Random, runs: int) -> list[int]:
    """Words for so many runs: the recorded ones, then seeded variants of them; at least three runs for each.

    A form with an immediate keeps all its variants.  Empty where no word is recorded.
    """
    recorded = tuple(dict.fromkeys(_with_aligned_offset(form, word) for word in words_of(form)))
    tried = set[int]()
    for word in recorded:
        d, m = word >> _D & 31, word >> _M & 31
        tried |= {_with(word, {_N: d}), _with(word, {_N: m}), _with(word, {_N: d, _M: d})}
        for fields in (*[(_D, _N)] * 4, (_D, _N, _M), (_D, _N, _A)):
            tried.add(_with(word, {field: rng.randrange(31) for field in fields}))
    for word in recorded[:2]:
        tried |= {word & ~(0x7F << _M) | immediate << _M for immediate in range(1 << _IMMEDIATE_BITS)}
    candidates = sorted({_with_aligned_offset(form, word) for word in tried} - set(recorded))
    rng.shuffle(candidates)
    room = None if "#" in form else max(runs // _RUNS_A_WORD - len(recorded), 8)
    return [*recorded, *sorted(islice((word for word in candidates if _is_word_of(form, word)), room))]


def _with_aligned_offset(form: str, word: int) -> int:
    """Of LDAPUR and STLUR, which fault where the address is not aligned, the word with a multiple of 16 as offset."""
    return word & ~(0xF << _OFFSET) if form.startswith(_OFFSET_UNSCALED) else word


def _with(word: int, fields: dict[int, int]) -> int:
    for lsb, number in fields.items():
        word = word & ~(31 << lsb) | number << lsb
    return word


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
