"""Random processor states for one instruction form: corner values and ties in every lane, junk in every register.

They come from a generator seeded with the seed of the run and the form's name, so a form meets the same states alone
and among others.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from struct import unpack

from isa.evaluate.exact import QC
from isa.evaluate.floating.formats import EXCEPTIONS, MODES, default_nan, infinity, largest
from isa.floating import FLOATS
from sim.machine.registers import Registers

LANE_BITS = (8, 16, 32, 64)
CODE, DATA, DATA_SIZE = 0x10000, 0x400000, 0x20000
_ATOMIC = r"swp|casp?|(ld|st)(add|clr|eor|set|[su]m(ax|in))"
_ALIGNED = re.compile(rf"({_ATOMIC})a?l?[bh]? |(ld|st)[al]?x|lda|ldla|stl")
"""Forms that need an aligned address (Arm ARM B2.8.2); the emulator checks it of some only."""
FPSR_BITS = QC | EXCEPTIONS
"""The other bits of FPSR are RES0 in AArch64 (Arm ARM C5.2.10)."""
FPCR_BITS = MODES
"""No integer instruction may heed them (Arm ARM C5.2.8)."""
_PREPARED = 256
"""Vector registers prepared for each kind of lanes; a state draws from them."""


def corners(bits: int) -> list[int]:
    """0, +-1, +-2, the greatest and the least number with their neighbours, alternating bits."""
    top = 1 << bits
    return [0, 1, -1, 2, -2, top // 2, top // 2 - 1, top // 2 + 1, (top - 1) // 3, (top - 1) // 3 * 2]


def shift_counts(bits: int) -> list[int]:
    """Every count up to two beyond the width, to the left and to the right, and the ends of the signed low byte."""
    return [*range(-bits - 2, bits + 3), 127, -128, -127, 126]


def floats(bits: int) -> list[int]:
    """Zeros, infinities, NaNs of both kinds with payloads, subnormal numbers, the ends of the range, some near 1."""
    if bits not in FLOATS:
        return []
    format = FLOATS[bits]
    one, last = format.highest_exponent << format.fraction_bits, 1 << format.fraction_bits
    positive = [0, 1, last - 1, last, last + 1, one - 1, one, one + 1, one + last // 2, one + last, largest(format, 0)]
    positive += [one + 5 * last + last // 4, one + 7 * last + last // 2, infinity(format, 0), infinity(format, 0) + 3]
    positive += [default_nan(format), default_nan(format) + 5]
    return positive + [number | format.sign_bit for number in positive]


class States:
    """The states of one form by number.  `data` is what memory holds at `DATA`."""

    def __init__(self, form: str, seed: int) -> None:
        self.rng = random.Random(f"{seed} {form}")
        self.reaches_memory = "[x" in form
        self._is_floating = re.match("b?f|[su]cvtf", form) is not None
        self._compares_memory = form.startswith("cas")
        self._aligned = _ALIGNED.match(form) is not None
        self._stores_exclusively = re.match("stl?x", form) is not None
        self.data = self.rng.randbytes(DATA_SIZE) if self.reaches_memory else b""
        self._values = {bits: self._registers(bits, self._pool(bits)) for bits in LANE_BITS}
        self._extremes = {bits: self._registers(bits, self._near_least(bits)) for bits in LANE_BITS}
        self._counts = {bits: self._all_counts(bits) for bits in LANE_BITS}
        self._cursors = dict.fromkeys(LANE_BITS, 0)

    def _pool(self, bits: int) -> list[int]:
        """Corners, ties of every shift, shift counts, random values."""
        rng = self.rng
        ties = [(2 * rng.randrange(-4, 4) + 1) << rng.randrange(bits) for _ in range(16)]
        anything = [rng.getrandbits(bits) for _ in range(12)]
        if self._is_floating:
            return floats(bits) + corners(bits) + anything
        return corners(bits) + ties + rng.sample(shift_counts(bits), 6) + anything

    def _near_least(self, bits: int) -> list[int]:
        least = 1 << bits - 1
        return [least, least, least - 1, -1, 0, 1]

    def _registers(self, bits: int, values: list[int]) -> list[bytes]:
        return [_lanes(bits, self.rng.choices(values, k=128 // bits)) for _ in range(_PREPARED)]

    def _all_counts(self, bits: int) -> bytes:
        """Every shift count twice, every third one with junk above its low byte, which alone matters.

        They are an odd number, so a scalar, which takes one of the lanes of a register, meets them all too.
        """
        counts = shift_counts(bits)
        self.rng.shuffle(counts)
        lanes = _lanes(bits, (n if k % 3 else n % 256 | self.rng.getrandbits(bits) << 8 for k, n in enumerate(counts)))
        return lanes + lanes

    def fill(self, registers: Registers, number: int, word: int) -> None:
        """The state `number` for a machine word, whose fields Rn and Rm name a base and a count or an index."""
        bits, kind = LANE_BITS[number % 4], number // 4 % 6
        prepared = self._prepared(bits, kind)
        registers.vectors[:] = b"".join(self.rng.choices(prepared, k=32))
        registers.general[:] = unpack("<32Q", b"".join(self.rng.choices(prepared, k=16)))
        registers.flags[:] = [number * 5 % 16, self._some(FPSR_BITS), self._some(FPCR_BITS), 0]
        if kind > 2:
            self._mix(registers)
        if kind > 3:
            self._count(registers, word >> 16 & 31, bits)
        if self.reaches_memory:
            self._point(registers, number, word >> 5 & 31, word >> 16 & 31)

    def _prepared(self, bits: int, kind: int) -> list[bytes]:
        """Of six groups of four states one has only least values, two have extremes, three the whole pool."""
        if kind == 0:
            return [_lanes(bits, [1 << bits - 1] * (128 // bits))]
        return self._extremes[bits] if kind < 3 else self._values[bits]

    def _mix(self, registers: Registers) -> None:
        """Some registers with lanes of any width, random bits in one."""
        rng = self.rng
        for _ in range(6):
            at = 16 * rng.randrange(32)
            registers.vectors[at : at + 16] = rng.choice(self._values[rng.choice(LANE_BITS)])
        at = 16 * rng.randrange(32)
        registers.vectors[at : at + 16] = rng.randbytes(16)

    def _count(self, registers: Registers, number: int, bits: int) -> None:
        """The next shift counts in a vector register."""
        counts, at = self._counts[bits], self._cursors[bits]
        registers.vectors[16 * number : 16 * number + 16] = counts[at : at + 16]
        self._cursors[bits] = (at + 16) % (len(counts) // 2)

    def _some(self, bits: int) -> int:
        return self.rng.getrandbits(32) & bits

    def _point(self, registers: Registers, number: int, base: int, index: int) -> None:
        """A base register into mapped memory, an index register of a few bytes.

        Where an instruction may compare memory with a register (CAS), the register holds what is there, half the time.
        """
        pointer = self._pointer(number) & (-16 if self._aligned else -1)
        offset = pointer - DATA
        registers.general[index] = self.rng.randrange(-64, 64) % 2**64
        if self._compares_memory and number % 2 and 0 <= offset <= DATA_SIZE - 8:
            registers.general[index] = int.from_bytes(self.data[offset : offset + 8], "little")
        registers.general[base] = pointer

    def _pointer(self, number: int) -> int:
        """Mostly into the middle of the data, sometimes to its end or into the code, which cannot be written.

        A store exclusive that fails faults there in the machine only, which Arm leaves open (isa.semantics.exclusive).
        """
        if number % 16 == 14:
            return DATA + DATA_SIZE - self.rng.randrange(1, 64)
        if number % 16 == 15 and not self._stores_exclusively:
            return CODE + 2048 + self.rng.randrange(16)
        return DATA + 0x8000 + (self.rng.randrange(64) if number % 4 else -1 * self.rng.randrange(1, 16))


def _lanes(bits: int, values: Iterable[int]) -> bytes:
    return b"".join((value % (1 << bits)).to_bytes(bits // 8, "little") for value in values)
