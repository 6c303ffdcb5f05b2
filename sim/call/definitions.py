"""A second statement of what Unicorn 2.1.4 lacks or gets wrong, shared with nothing else: the place of exceptions.

Computed from the fields of the machine word with `struct` and plain integers.  Each exception says what its evidence
is; a form that is listed here is not compared with the emulator.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import product
from struct import unpack
from typing import Literal, NamedTuple

from isa.instruction import Form, Instruction
from isa.lane import Place
from sim.machine.registers import RegisterStorage

NOT_EMULATED = frozenset({"i8mm", "bf16"})
"""The features that Unicorn 2.1.4 lacks on every processor model: it raises the undefined instruction exception."""
EMULATED_WRONGLY = re.compile(r"(ld|st)sm(ax|in)(a|l|al)?[bh]? w,.*")
"""LDSMAX, LDSMIN, STSMAX, STSMIN of 8, 16 and 32 bits take memory as unsigned there: tests/test_atomics.py shows it."""


class EmulatorFault(NamedTuple):
    """A place that is not compared with the emulator for the forms that match, and why the emulator is wrong there."""

    pattern: str
    place: Literal["destination", "fpsr", "nzcv"]
    reason: str


EMULATOR_FAULTS = (
    EmulatorFault("fcvtzs h,h,#", "destination", "a negative result sets bits 31 to 16 too, which become zero"),
    EmulatorFault("fjcvtzs w,d", "nzcv", "Z is set for a denormal flushed to zero (Arm ARM: FPToFixedJS)"),
    EmulatorFault(r"fcmla \.4h,\.4h,\.h\[i\],#", "fpsr", "the unused upper half of the sources raises exceptions"),
)
"""Known faults of Unicorn 2.1.4; tests/test_verify.py shows that each still is one.  The exact evaluator arbitrates."""


@cache
def is_emulated_wrongly(form: str) -> bool:
    """Whether the emulator is known to get something wrong about a form."""
    patterns = [EMULATED_WRONGLY.pattern, *(fault.pattern for fault in EMULATOR_FAULTS)]
    return any(re.fullmatch(pattern, form) for pattern in patterns)


def cannot_verify(form: Form) -> bool:
    """Whether the emulator lacks a form or is known to get something wrong about it."""
    return is_emulated_wrongly(form.name) or not NOT_EMULATED.isdisjoint(form.features)


def excused(instruction: Instruction) -> tuple[Place, ...]:
    """The registers in which the emulator is known to be wrong about an instruction."""
    faults = [fault for fault in EMULATOR_FAULTS if re.fullmatch(fault.pattern, instruction.form.name)]
    named = {"destination": instruction.places_written[:1], "fpsr": (Place("fpsr"),), "nzcv": (Place("nzcv"),)}
    return tuple(place for fault in faults for place in named[fault.place])


SIGNS = {
    "usdot .2s,.8b,.8b": "Bb", "usdot .4s,.16b,.16b": "Bb", "usdot .2s,.8b,.4b[i]": "Bb", "usdot .4s,.16b,.4b[i]": "Bb",
    "sudot .2s,.8b,.4b[i]": "bB", "sudot .4s,.16b,.4b[i]": "bB",
    "smmla .4s,.16b,.16b": "bb", "ummla .4s,.16b,.16b": "BB", "usmmla .4s,.16b,.16b": "Bb",
}  # fmt: skip
"""The forms of I8MM, and how `struct` names the signedness of the two sources of each (Arm ARM C7.2)."""


def is_defined(form: str) -> bool:
    """Whether `expected` knows the form."""
    return form in SIGNS or EMULATED_WRONGLY.fullmatch(form) is not None


def expected(form: str, word: int, registers: RegisterStorage, memory: bytes) -> tuple[bytes, bytes]:
    """The vector registers and the memory after an instruction of a form that `is_defined`.

    `registers` are as before it, `memory` is what its address pointed to before it, at least 4 bytes.
    """
    vectors = bytearray(registers.vectors)
    if form in SIGNS:
        at = 16 * (word & 31)
        vectors[at : at + 16] = defining_sum(form, word, vectors_of(registers))
        return bytes(vectors), memory
    return bytes(vectors), signed_extreme(form, word, registers, memory)


def signed_extreme(form: str, word: int, registers: RegisterStorage, memory: bytes) -> bytes:
    """LDSMAX, LDSMIN, STSMAX, STSMIN: memory becomes the larger or smaller of itself and Rs (Arm ARM C6.2)."""
    size = 1 << (word >> 30)
    operand = 0 if word >> 16 & 31 == 31 else registers.general[word >> 16 & 31]
    values = [operand.to_bytes(8, "little")[:size], memory[:size]]
    choose = max if "max" in form else min
    return choose(values, key=lambda value: int.from_bytes(value, "little", signed=True)) + memory[size:]


def vectors_of(registers: RegisterStorage) -> list[bytes]:
    """The 16 bytes of each vector register."""
    return [bytes(registers.vectors[16 * i : 16 * i + 16]) for i in range(32)]


def defining_sum(form: str, word: int, vectors: Sequence[bytes]) -> bytes:
    """The 16 bytes of the destination of an instruction of I8MM: USDOT, SUDOT, SMMLA, UMMLA, USMMLA (Arm ARM C7.2)."""
    first = unpack(f"16{SIGNS[form][0]}", vectors[word >> 5 & 31])
    second = unpack(f"16{SIGNS[form][1]}", vectors[word >> 16 & 31])
    old = unpack("<4i", vectors[word & 31])
    if "mmla" in form:  # 2x8 matrices: each row of the first with each row of the second
        pairs = list(product((first[:8], first[8:]), (second[:8], second[8:])))
    else:  # four bytes for each lane; by element, the same four of the second, of the number H:L
        group = (word >> 11 & 1) * 2 + (word >> 21 & 1)
        groups = [group] * 4 if "[i]" in form else range(4)
        pairs = [(first[4 * i : 4 * i + 4], second[4 * g : 4 * g + 4]) for i, g in enumerate(groups)]
    sums = [old[i] + sum(x * y for x, y in zip(*pair, strict=True)) for i, pair in enumerate(pairs)]
    lanes = b"".join((total % 2**32).to_bytes(4, "little") for total in sums)
    return lanes if form.split()[1].startswith(".4s") else lanes[:8] + bytes(8)
