"""Random processor states for one instruction form: corner values and ties in every lane, else random bytes.

They come from generators seeded with the seed of the run and the form's name, so a form meets the same states alone
and among others.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from functools import cache, cached_property
from struct import Struct, unpack

import numpy as np

from isa.evaluate.exact import QC
from isa.evaluate.floating.formats import EXCEPTIONS, MODES, default_nan, infinity, largest
from isa.floating import FLOATS
from sim.machine.registers import RegisterStorage

LANE_BITS = (8, 16, 32, 64)
CODE, DATA, DATA_SIZE = 0x10000, 0x400000, 0x20000
_ATOMIC = r"swp|casp?|(ld|st)(add|clr|eor|set|[su]m(ax|in))"
_ALIGNED = re.compile(rf"({_ATOMIC})a?l?[bh]? |(ld|st)[al]?x|lda|ldla|stl")
"""Forms that need an aligned address (Arm ARM B2.8.2); the emulator checks it of some only."""
FPSR_BITS = QC | EXCEPTIONS
"""The other bits of FPSR are RES0 in AArch64 (Arm ARM C5.2.10)."""
FPCR_BITS = MODES
"""No integer instruction may heed them (Arm ARM C5.2.8)."""
_PREPARED = Struct("16s" * 256)
"""Vector registers prepared for each kind of lanes; a state draws from them."""
Registers = tuple[bytes, ...]


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
    """The states of one form by number.  What they draw from is made when it is first drawn from."""

    def __init__(self, form: str, seed: int) -> None:
        self.rng = random.Random(f"{seed} {form}")
        self.reaches_memory = "[x" in form
        self._name = f"{seed} {form}"
        self._is_floating = re.match("b?f|[su]cvtf", form) is not None
        self._compares_memory = form.startswith("cas")
        self._aligned = _ALIGNED.match(form) is not None
        self._stores_exclusively = re.match("stl?x", form) is not None
        self._values, self._counts = dict[int, Registers](), dict[int, bytes]()
        self._cursors = dict.fromkeys(LANE_BITS, 0)

    @cached_property
    def data(self) -> bytes:
        """What memory holds at `DATA`; nothing where the form does not reach it."""
        return random.Random(f"{self._name} data").randbytes(DATA_SIZE) if self.reaches_memory else b""

    def _values_of(self, bits: int) -> Registers:
        """Registers with corners, ties and other numbers in lanes of so many bits."""
        if bits not in self._values:
            rng = random.Random(f"{self._name} values {bits}")
            ties = [(2 * rng.randrange(-4, 4) + 1) << rng.randrange(bits) for _ in range(16)]
            anything = [rng.getrandbits(bits) for _ in range(12)]
            if self._is_floating:
                pool = floats(bits) + corners(bits) + anything
            else:
                pool = corners(bits) + ties + rng.sample(shift_counts(bits), 6) + anything
            self._values[bits] = _registers(rng, bits, pool)
        return self._values[bits]

    def _counts_of(self, bits: int) -> bytes:
        """Every shift count twice, every third one with random bits above its low byte, which alone matters.

        They are an odd number, so a scalar, which takes one of the lanes of a register, meets them all too.
        """
        if bits not in self._counts:
            rng, counts = random.Random(f"{self._name} counts {bits}"), shift_counts(bits)
            rng.shuffle(counts)
            lanes = (n if k % 3 else n % 256 | rng.getrandbits(bits) << 8 for k, n in enumerate(counts))
            self._counts[bits] = _lanes(bits, lanes) * 2
        return self._counts[bits]

    def fill(self, registers: RegisterStorage, number: int, word: int) -> None:
        """The state `number` for a machine word, whose fields Rn and Rm name a base and a count or an index."""
        bits, kind = LANE_BITS[number % 4], number // 4 % 6
        # Of six groups of four states one has only least values, two have extremes, three the whole pool.
        if kind == 0:
            prepared: Registers = (_lanes(bits, [1 << bits - 1] * (128 // bits)),)
        else:
            prepared = _extremes(bits) if kind < 3 else self._values_of(bits)
        rng, vectors = self.rng, registers.vectors
        vectors[:] = b"".join(rng.choices(prepared, k=32))
        registers.general[:] = unpack("<32Q", b"".join(rng.choices(prepared, k=16)))
        registers.flags[:] = [number * 5 % 16, self._some(FPSR_BITS), self._some(FPCR_BITS), 0, self._some(2**64 - 1)]
        if kind > 2:  # some registers with lanes of any width, random bits in one
            for _ in range(6):
                at = 16 * rng.randrange(32)
                vectors[at : at + 16] = rng.choice(self._values_of(rng.choice(LANE_BITS)))
            at = 16 * rng.randrange(32)
            vectors[at : at + 16] = rng.randbytes(16)
        if kind > 3:  # the next shift counts in Vm
            counts, at, m = self._counts_of(bits), self._cursors[bits], word >> 16 & 31
            vectors[16 * m : 16 * m + 16] = counts[at : at + 16]
            self._cursors[bits] = (at + 16) % (len(counts) // 2)
        if self.reaches_memory:
            self._point(registers, number, word >> 5 & 31, word >> 16 & 31)

    def _some(self, bits: int) -> int:
        return self.rng.getrandbits(32) & bits

    def _point(self, registers: RegisterStorage, number: int, base: int, index: int) -> None:
        """A base register into mapped memory, an index register of a few bytes.

        Mostly into the middle of the data, sometimes to its end or into the code, which cannot be written.  A store
        exclusive that fails faults there in the machine only, which Arm leaves open: see isa.semantics.base.exclusive.
        Where an instruction may compare memory with a register (CAS), the register holds what is there, half the time.
        """
        if number % 16 == 14:
            pointer = DATA + DATA_SIZE - self.rng.randrange(1, 64)
        elif number % 16 == 15 and not self._stores_exclusively:
            pointer = CODE + 2048 + self.rng.randrange(16)
        else:
            pointer = DATA + 0x8000 + (self.rng.randrange(64) if number % 4 else -1 * self.rng.randrange(1, 16))
        if self._aligned:
            pointer &= -16
        offset = pointer - DATA
        registers.general[index] = self.rng.randrange(-64, 64) % 2**64
        if self._compares_memory and number % 2 and 0 <= offset <= DATA_SIZE - 8:
            registers.general[index] = int.from_bytes(self.data[offset : offset + 8], "little")
        registers.general[base] = pointer


@cache
def _extremes(bits: int) -> Registers:
    """Registers with least and greatest numbers in their lanes, for all forms: there are few."""
    least = 1 << bits - 1
    return _registers(random.Random(f"extremes {bits}"), bits, [least, least, least - 1, -1, 0, 1])


def _registers(rng: random.Random, bits: int, values: list[int]) -> Registers:
    """Registers with some of these numbers in their lanes."""
    lanes = np.frombuffer(_lanes(bits, values), f"V{bits // 8}")
    numbers = np.frombuffer(rng.randbytes(_PREPARED.size * 8 // bits * 4), np.uint32)
    return _PREPARED.unpack(lanes[numbers % len(lanes)].tobytes())


def _lanes(bits: int, values: Iterable[int]) -> bytes:
    return b"".join((value % (1 << bits)).to_bytes(bits // 8, "little") for value in values)
