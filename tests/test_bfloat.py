"""BF16, which the emulator lacks: the machine against its defining sums in rational numbers, and known examples.

Arm ARM, shared pseudocode: BFDotAdd, BFMatMulAdd, BFMulAddH, FPConvertBF (without FEAT_EBF16).
"""

from __future__ import annotations

from fractions import Fraction
from math import inf, isfinite, isnan
from random import Random
from struct import pack, unpack

import pytest

from isa.encodings import words_of
from isa.floating import BF16, F32, Rounding
from sim import Machine
from support.floating_reference import MODES, rounded, signed
from support.floating_values import decoded, encoded, is_nan, value

SEED, STATES = 4, 150
CODE, NAN, IXC = 0x10000, 0x7FC00000, 16
FPCRS = (0, 1 << 22, 3 << 22, 1 << 24, 1 << 25 | 2 << 22)
"""Default, up, toward zero, FZ, DN and down: no dot product heeds them."""
Words = list[int]


def flushed(bits: int, format: object) -> float:
    """A number; subnormal ones are zeros of their sign, always."""
    number = decoded(bits, BF16 if format is BF16 else F32)
    return number * 0.0 if abs(number) < 2.0**-126 else number


def to_odd(exact: Fraction) -> int:
    """Rounded to odd; flushed where it is tiny, infinity from 2^128 on; plus zero for nothing."""
    if exact == 0:
        return 0
    if abs(exact) >= 2**128:
        return encoded(inf if exact > 0 else -inf, F32)
    return rounded(exact, F32, "odd", flush=True)[0]


def product(a: int, b: int) -> int:
    x, y = flushed(a, BF16), flushed(b, BF16)
    if isnan(x * y):
        return NAN
    if x == 0 or y == 0 or (not isfinite(x * y) and not (isfinite(x) and isfinite(y))):
        return encoded(x * y, F32)
    return to_odd(Fraction(x) * Fraction(y))


def sum_of(a: int, b: int) -> int:
    x, y = flushed(a, F32), flushed(b, F32)
    if isnan(x + y):
        return NAN
    if not isfinite(x + y) or x == y == 0:
        return encoded(x + y, F32)
    return to_odd(Fraction(x) + Fraction(y))


def dot(start: int, a: Words, b: Words) -> int:
    """Two products, their sum, that and the start: three roundings to odd in all, five operations."""
    return sum_of(start, sum_of(product(a[0], b[0]), product(a[1], b[1])))


def by_vector(old: Words, n: Words, m: Words, index: int) -> Words:
    return [dot(old[i], n[2 * i : 2 * i + 2], m[2 * i : 2 * i + 2]) for i in range(4)]


def by_element(old: Words, n: Words, m: Words, index: int) -> Words:
    return [dot(old[i], n[2 * i : 2 * i + 2], m[2 * index : 2 * index + 2]) for i in range(4)]


def by_matrix(old: Words, n: Words, m: Words, index: int) -> Words:
    """Rows of n with rows of m, two elements at a time."""
    rows, columns = (n[:4], n[4:]), (m[:4], m[4:])
    firsts = [dot(old[2 * i + j], rows[i][:2], columns[j][:2]) for i in range(2) for j in range(2)]
    return [dot(firsts[2 * i + j], rows[i][2:], columns[j][2:]) for i in range(2) for j in range(2)]


DOT_PRODUCTS = {
    "bfdot .2s,.4h,.4h": (by_vector, 2), "bfdot .4s,.8h,.8h": (by_vector, 4), "bfmmla .4s,.8h,.8h": (by_matrix, 4),
    "bfdot .2s,.4h,.2h[i]": (by_element, 2), "bfdot .4s,.8h,.2h[i]": (by_element, 4),
}  # fmt: skip
"""By form, its sums from the fields of the word and how many of them are kept."""


class Run:
    """A machine with registers of random numbers, and what it does with one word."""

    def __init__(self, word: int, rng: Random, fpcr: int = 0) -> None:
        self.machine, self.word = Machine(), word
        self.machine.memory.map(CODE, 4096, "rx")
        self.machine.memory.write(CODE, word.to_bytes(4, "little"))
        for i in range(32):
            self.machine.v[i] = _register(rng)
        self.machine.fpcr, self.machine.fpsr = fpcr, rng.choice((0, IXC))

    def lanes(self, lsb: int, bits: int, field: int = 31) -> Words:
        """The lanes of the register that the field of the word at `lsb` names."""
        register = self.machine.v[self.word >> lsb & field].to_bytes(16, "little")
        return list(unpack({16: "<8H", 32: "<4I"}[bits], register))

    def result(self) -> Words:
        self.machine.pc = CODE
        self.machine.run(max_instructions=1)
        return self.lanes(0, 32)


def _register(rng: Random) -> int:
    """Numbers of bfloat16 of any class, or of single precision, most of them near one."""
    if rng.random() < 0.4:
        return int.from_bytes(pack("<4I", *(value(rng, F32) for _ in range(4))), "little")
    near = [rng.choice((0x3F80, 0xBF80)) + rng.randrange(-512, 512) for _ in range(8)]
    some = [value(rng, BF16) if rng.random() < 0.3 else bits for bits in near]
    return int.from_bytes(pack("<8H", *some), "little")


@pytest.mark.parametrize("fpcr", FPCRS)
@pytest.mark.parametrize("form", DOT_PRODUCTS)
def test_dot_products_are_their_sums_rounded_to_odd(form: str, fpcr: int) -> None:
    """By element, H:L number the pair."""
    rng, (sums, kept), found = Random(f"{SEED} {form}"), DOT_PRODUCTS[form], []
    for number in range(STATES):
        word = words_of(form)[number % len(words_of(form))]
        run = Run(word, rng, fpcr)
        index, before = (word >> 11 & 1) * 2 + (word >> 21 & 1), run.machine.fpsr
        expected = sums(run.lanes(0, 32), run.lanes(5, 16), run.lanes(16, 16), index)[:kept] + [0] * (4 - kept)
        if (run.result(), run.machine.fpsr) != (expected, before):
            found.append(f"{word:08x} in state {number} of seed {SEED}")
    assert not found


MULTIPLY_ADDS = {
    f"bfmlal{letter} .4s,.8h,{second}": (first, second != ".8h")
    for letter, first in (("b", 0), ("t", 1)) for second in (".8h", ".h[i]")
}  # fmt: skip
"""By form, the first lane that it takes, and whether the second source is an element."""


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("form", MULTIPLY_ADDS)
def test_multiply_add_long_is_fused_in_the_mode_of_fpcr(form: str, mode: Rounding) -> None:
    """By element, H:L:M number it and the register has four bits."""
    rng, (first, element), found, compared = Random(f"{SEED} {form}"), MULTIPLY_ADDS[form], [], 0
    for number in range(STATES):
        word = words_of(form)[number % len(words_of(form))]
        run = Run(word, rng, MODES[mode])
        index = (word >> 11 & 1) * 4 + (word >> 21 & 1) * 2 + (word >> 20 & 1)
        m = [run.lanes(16, 16, 15)[index]] * 4 if element else run.lanes(16, 16)[first::2]
        operands = list(zip(run.lanes(0, 32), run.lanes(5, 16)[first::2], m, strict=True))
        for (old, a, b), got in zip(operands, run.result(), strict=True):
            if old & F32.infinity != F32.infinity and all(bits & BF16.infinity != BF16.infinity for bits in (a, b)):
                exact = signed(old, F32) + signed(a, BF16) * signed(b, BF16)
                compared += 1
                found += [f"{word:08x} {number}"] * (exact != 0 and rounded(exact, F32, mode)[0] != got)
    assert not found
    assert compared > STATES


def expected_half(bits: int, mode: Rounding) -> int:
    """A single-precision number as bfloat16; a NaN keeps its upper half, made quiet."""
    if is_nan(bits, F32):
        return bits >> 16 | 0x40
    magnitude = bits & F32.sign_bit - 1
    if magnitude in (0, F32.infinity):
        return bits >> 16
    return rounded(signed(bits, F32), BF16, mode)[0]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("form", "kept"), [("bfcvt h,s", 1), ("bfcvtn .4h,.4s", 4), ("bfcvtn2 .8h,.4s", 4)])
def test_conversions_round_once(form: str, kept: int, mode: Rounding) -> None:
    rng, found = Random(f"{SEED} {form}"), []
    for number in range(STATES):
        word = words_of(form)[number % len(words_of(form))]
        run = Run(word, rng, MODES[mode])
        halves = [expected_half(bits, mode) for bits in run.lanes(5, 32)[:kept]]
        lower = run.lanes(0, 16)[:4] if form.startswith("bfcvtn2") else []
        expected = (lower + halves + [0] * 8)[:8]
        run.result()
        found += [f"{word:08x} in state {number} of seed {SEED}"] * (run.lanes(0, 16) != expected)
    assert not found


@pytest.mark.parametrize(
    ("single", "half", "raised"),
    [
        (0x40490FDB, 0x4049, IXC),  # pi is 3.140625
        (0x3EAAAAAB, 0x3EAB, IXC),  # a third is 0.333984375
        (0x3F800000, 0x3F80, 0),
        (0x3F808000, 0x3F80, IXC),  # half-way to an even number below
        (0x3F818000, 0x3F82, IXC),  # half-way to an even number above
        (0x7F7FFFFF, 0x7F80, 4 | IXC),
        (0x7F800001, 0x7FC0, 1),
        (0x00008000, 0x0000, 8 | IXC),
        (0x00010000, 0x0001, 0),
    ],
)
def test_known_numbers_as_bfloat16(single: int, half: int, raised: int) -> None:
    """The first two as the format is described with its examples everywhere; the others by hand."""
    run = Run(0x1E634020, Random(SEED))
    run.machine.v[1], run.machine.fpsr = single, 0
    run.result()
    assert (run.machine.v[0], run.machine.fpsr) == (half, raised)


@pytest.mark.parametrize(
    ("start", "n", "m", "result"),
    [
        (0x41200000, 0x4000_3F80, 0x3F00_4040, 0x41600000),  # 10 + 1 * 3 + 2 * 0.5 is 14
        (0x3F800000, 0x0000_3080, 0x0000_3F80, 0x3F800001),  # 1 + 2^-30 is odd
        (0x3F800001, 0x0000_3080, 0x0000_3F80, 0x3F800001),  # odd already
        (0x3F800000, 0x0000_B080, 0x0000_3F80, 0x3F7FFFFF),  # 1 - 2^-30
        (0x00000000, 0x0000_0001, 0x0000_7F00, 0x00000000),  # a subnormal factor is zero
        (0x80000001, 0x8000_0000, 0x3F80_BF80, 0x80000000),  # a subnormal start too: -0 + (-0 + -0)
        (0x00000000, 0x0000_7F80, 0x0000_0000, NAN),  # infinity times zero
        (0xFF800000, 0x0000_7F80, 0x0000_3F80, NAN),  # infinities of both signs
        (0x00000000, 0x7F7F_7F7F, 0x3F80_3F80, 0x7F800000),  # no largest number
        (0x7FA00001, 0x0000_0000, 0x0000_0000, NAN),  # no payload
    ],
)
def test_dot_products_by_hand(start: int, n: int, m: int, result: int) -> None:
    run = Run(0x2E42FC20, Random(SEED))
    run.machine.v[0], run.machine.v[1], run.machine.v[2] = start, n, m
    assert run.result()[0] == result
