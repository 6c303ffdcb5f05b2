"""Processor states for floating-point instructions: hard operands of one instruction, or any class in every lane."""

from __future__ import annotations

import re
from functools import cache
from random import Random

from isa.floating import F32, FLOATS, Float
from isa.instruction import Instruction
from sim.machine.registers import RegisterStorage
from support.floating_values import encoded, halfway, integer, pair, triple, value

BITS = {"h": 16, "s": 32, "d": 64}
MODE_BITS = (1 << 19, 1 << 24, 1 << 25, 1 << 26)
"""FZ16, FZ, DN and AHP in FPCR (Arm ARM C5.2.8)."""
_ADDEND_LAST = ("fmadd", "fmsub", "fnmadd", "fnmsub")
_POOL = 2048
"""Registers prepared for each format."""


@cache
def _registers_of_floats(seed: int, format: Float) -> list[bytes]:
    """Registers with values of every class in their lanes, to draw from."""
    rng = Random(f"{seed} {format}")
    return [_register([value(rng, format) for _ in range(128 // format.bits)], format) for _ in range(_POOL)]


@cache
def _registers_of_integers(seed: int, format: Float) -> list[bytes]:
    """The same with integers of that width."""
    rng = Random(f"{seed} {format} integers")
    return [_register([integer(rng, format.bits) for _ in range(128 // format.bits)], format) for _ in range(_POOL)]


@cache
def _integers(seed: int) -> list[int]:
    """Numbers of 64 bits, of which general registers are drawn."""
    rng = Random(f"{seed} integers")
    return [integer(rng, 64) for _ in range(16 * _POOL)]


def _register(lanes: list[int], format: Float) -> bytes:
    return b"".join(lane.to_bytes(format.bits // 8, "little") for lane in lanes)


class FloatingStates:
    """The states of one instruction, from a generator seeded with the run's seed and its text."""

    def __init__(self, instruction: Instruction, seed: int) -> None:
        form = instruction.form
        self._rng, self._seed = Random(f"{seed} {instruction.text}"), seed
        letters = sorted(set(re.findall("[hsd]", form.shape)))
        self._formats = [FLOATS[BITS[letter]] for letter in letters] or [F32]
        self._smallest = min(self._formats, key=lambda format: format.bits)
        self._numbers = instruction.registers
        self._addend_last = form.mnemonic in _ADDEND_LAST
        self._from_integers = "cvtf" in form.mnemonic

    def any(self) -> RegisterStorage:
        """Values of every class in every lane of every register, any modes, any flags."""
        rng, registers = self._rng, RegisterStorage()
        format = rng.choice((*self._formats, *self._formats, *FLOATS.values()))
        pool = _registers_of_integers if self._from_integers and rng.random() < 0.9 else _registers_of_floats
        registers.vectors[:] = b"".join(rng.choices(pool(self._seed, format), k=32))
        registers.general[:] = rng.choices(_integers(self._seed), k=32)
        registers.flags[:] = [rng.randrange(16), rng.choice((0, 16)), self._modes(), 0, 0]
        return registers

    def _modes(self) -> int:
        """One in four states has the default modes, one only a rounding mode."""
        rng, kind = self._rng, self._rng.randrange(4)
        switches = sum(bit for bit in MODE_BITS if rng.getrandbits(1)) if kind > 1 else 0
        return switches | (rng.randrange(4) << 22 if kind else 0)

    def hard(self, fpcr: int | None = None, fpsr: int = 16) -> RegisterStorage:
        """Operands at an edge of what the instruction makes of them, in one lane or in all; any modes for None."""
        rng, registers = self._rng, self.any()
        registers.flags[1:3] = [fpsr, self._modes() if fpcr is None else fpcr]
        format = rng.choice(self._formats)
        lanes = self._arranged(format, self._operands(format))
        for number, register in reversed(list(zip(self._numbers, lanes, strict=False))):
            registers.vectors[16 * number : 16 * number + 16] = register
        return registers

    def _arranged(self, format: Float, operands: tuple[int, ...]) -> list[bytes]:
        """One register for each operand: it in every lane, or in one among mild numbers; or two in turn."""
        rng, count = self._rng, 128 // format.bits
        mild = encoded(rng.choice((1.5, -3.0, 0.75)), format)
        place, alternating = rng.randrange(-1, count), rng.random() < 0.3
        rows = [[here if place in (-1, i) else mild for i in range(count)] for here in operands]
        if alternating:
            rows = [list(operands[1:3]) * (count // 2)] * len(operands)
        return [_register(row, format) for row in rows]

    def _operands(self, format: Float) -> tuple[int, ...]:
        """One lane for each register in the order of the text: destination or addend, then the sources."""
        rng = self._rng
        if self._from_integers:
            return tuple(integer(rng, format.bits) for _ in range(4))
        if format != self._smallest and rng.random() < 0.6:
            return tuple(halfway(rng, format, self._smallest) for _ in range(4))
        c, a, b = triple(rng, format) if rng.random() < 0.5 else (value(rng, format), *pair(rng, format))
        return (value(rng, format), a, b, c) if self._addend_last else (c, a, b, c)
