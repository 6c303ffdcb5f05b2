"""Atomic read-modify-write: what memory and registers hold afterwards, and that a fault leaves both alone."""

from __future__ import annotations

import random
import re
from itertools import product

import pytest

from isa.decode import decode
from sim import Emulator, Machine
from support.engines import CODE, DATA, FAR, PAGE, Engine, fault_of, loaded

WORDS = {
    "ldadd x2, x0, [x1]": 0xF8220020,
    "ldadd x2, x2, [x1]": 0xF8220022,
    "ldadd x2, x1, [x1]": 0xF8220021,
    "ldadd x1, x0, [x1]": 0xF8210020,
    "ldclrb w2, w0, [x1]": 0x38221020,
    "swp x2, x0, [x1]": 0xF8228020,
    "swp x2, x2, [x1]": 0xF8228022,
    "stumax w2, [x1]": 0xB822603F,
    "cas x2, x3, [x1]": 0xC8A27C23,
    "casb w2, w3, [x1]": 0x08A27C23,
    "casp x2, x3, x4, x5, [x1]": 0x48227C24,
    "casp w2, w3, w4, w5, [x1]": 0x08227C24,
}
OLD = 0x1122334455667788


@pytest.mark.parametrize("text", WORDS)
def test_the_words_here_are_what_their_texts_say(text: str) -> None:
    assert decode(WORDS[text].to_bytes(4, "little")).text == text


def prepared(engine: Engine, text: str, **registers: int) -> Engine:
    loaded(engine, WORDS[text].to_bytes(4, "little"))
    engine.memory.write(DATA, OLD.to_bytes(8, "little") * 2)
    for name, value in registers.items():
        engine.x[int(name[1:])] = value
    return engine


RESULTS = [
    ("ldadd x2, x0, [x1]", {"x2": 2**64 - 1}, OLD - 1, {0: OLD}),
    ("ldadd x2, x2, [x1]", {"x2": 5}, OLD + 5, {2: OLD}),
    ("ldadd x2, x1, [x1]", {"x2": 5}, OLD + 5, {1: OLD}),
    ("ldadd x1, x0, [x1]", {}, OLD + DATA, {0: OLD}),
    ("ldclrb w2, w0, [x1]", {"x2": 0xFF81}, OLD - 0x80, {0: 0x88}),
    ("swp x2, x0, [x1]", {"x2": 7}, 7, {0: OLD, 2: 7}),
    ("swp x2, x2, [x1]", {"x2": 7}, 7, {2: OLD}),
    ("stumax w2, [x1]", {"x2": 0xFFFFFFFF00000001}, OLD, {}),
    ("stumax w2, [x1]", {"x2": 0x80000000}, 0x1122334480000000, {}),
    ("cas x2, x3, [x1]", {"x2": OLD, "x3": 9}, 9, {2: OLD}),
    ("cas x2, x3, [x1]", {"x2": OLD + 1, "x3": 9}, OLD, {2: OLD}),
    ("casb w2, w3, [x1]", {"x2": 0xF88, "x3": 0x109}, OLD - 0x88 + 9, {2: 0x88}),
    ("casp x2, x3, x4, x5, [x1]", {"x2": OLD, "x3": OLD, "x4": 1, "x5": 2}, 1 | 2 << 64, {2: OLD, 3: OLD}),
    ("casp x2, x3, x4, x5, [x1]", {"x2": OLD, "x3": 0, "x4": 1, "x5": 2}, OLD, {2: OLD, 3: OLD}),
    (
        "casp w2, w3, w4, w5, [x1]", {"x2": 0x55667788, "x3": 0x11223344, "x4": 1, "x5": 2}, 0x200000001,
        {2: 0x55667788, 3: 0x11223344},
    ),
]  # fmt: skip
"""Text, registers before, memory after (of its 16 bytes what is not OLD), registers after (Arm ARM C6.2)."""


@pytest.mark.parametrize(("text", "before", "memory", "registers"), RESULTS)
def test_memory_and_registers_hold_what_arm_says(
    engine: Engine, text: str, before: dict[str, int], memory: int, registers: dict[int, int]
) -> None:
    prepared(engine, text, **before).run(max_instructions=1)
    wanted = memory if memory >> 64 else memory | OLD << 64
    stored = int.from_bytes(engine.memory.read(DATA, 16), "little")
    assert (stored, {number: engine.x[number] for number in registers}) == (wanted, registers)


ALL = sorted(set(WORDS) - {"ldadd x1, x0, [x1]"})


@pytest.mark.parametrize(("text", "permissions"), list(product(ALL, ["r", "x", ""])))
def test_a_fault_leaves_registers_and_memory_alone(text: str, permissions: str) -> None:
    machine = Machine()
    prepared(machine, text, x2=5, x3=6, x4=7, x5=8)
    if permissions:
        machine.memory.map(FAR, PAGE, permissions)
        machine.memory.write(FAR, bytes(range(16)))
    machine.x[1] = FAR
    before = list(machine.registers.general)
    fault_of(machine)
    kept = machine.memory.read(FAR, 16) if permissions else bytes(range(16))
    assert (machine.registers.general, machine.pc, kept) == (before, CODE, bytes(range(16)))


def test_a_comparison_that_fails_still_needs_a_page_that_can_be_written(engine: Engine) -> None:
    prepared(engine, "cas x2, x3, [x1]", x2=1)
    engine.memory.map(FAR, PAGE, "r")
    engine.x[1] = FAR
    assert fault_of(engine).address == FAR


# The emulator takes memory as unsigned in LDSMAX, LDSMIN, STSMAX and STSMIN of 8, 16 and 32 bits.

SIGNED = re.compile(r"(?:ld|st)sm(ax|in)(?:a|l|al)?([bh]?) w,.*")
LDSMAX_W2_W0_X1 = 0xB8224020


def signed_forms(form_words: dict[str, tuple[int, ...]]) -> list[tuple[str, int]]:
    """The words of signed minima and maxima of less than 64 bits, and the kind of each."""
    matches = ((SIGNED.fullmatch(name), words) for name, words in form_words.items())
    return [(match[1] + match[2], word) for match, words in matches if match for word in words]


def expected(kind: str, old: int, operand: int) -> int:
    """The signed minimum or maximum of the low bits, unsigned."""
    bits = {"b": 8, "h": 16, "": 32}[kind[2:]]
    signed = [(value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1) for value in (old, operand)]
    return (max if kind.startswith("ax") else min)(signed) % (1 << bits)


@pytest.mark.parametrize("kind", ["axb", "axh", "ax", "inb", "inh", "in"])
def test_signed_minima_and_maxima_equal_their_definition(form_words: dict[str, tuple[int, ...]], kind: str) -> None:
    rng, machine, size = random.Random(7), Machine(), {"b": 1, "h": 2, "": 4}[kind[2:]]
    machine.memory.map(CODE, PAGE, "rx")
    machine.memory.map(DATA, PAGE, "rw")
    found, words = [], [word for of, word in signed_forms(form_words) if of == kind]
    for word, _ in product(words, range(40)):
        base, operand, old = word >> 5 & 31, word >> 16 & 31, rng.getrandbits(8 * size)
        machine.memory.write(CODE, word.to_bytes(4, "little"))
        machine.memory.write(DATA, old.to_bytes(size, "little"))
        machine.registers.general[:] = [rng.getrandbits(64) for _ in range(32)]
        machine.registers.general[base], machine.pc = DATA, CODE
        value = DATA if operand == base else 0 if operand == 31 else machine.x[operand]
        machine.run(max_instructions=1)
        new = int.from_bytes(machine.memory.read(DATA, size), "little")
        found += [f"{word:08x} of {old:#x}, {value:#x} is {new:#x}"] * (new != expected(kind, old, value))
    assert words
    assert not found, found


def test_the_emulator_takes_memory_as_unsigned() -> None:
    emulator = Emulator()
    loaded(emulator, LDSMAX_W2_W0_X1.to_bytes(4, "little"))
    emulator.memory.write(DATA, (2**32 - 1).to_bytes(4, "little"))  # -1
    emulator.x[2] = 1
    emulator.run(max_instructions=1)
    assert int.from_bytes(emulator.memory.read(DATA, 4), "little") == 2**32 - 1
