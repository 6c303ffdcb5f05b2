"""Bits of registers that nothing later depends on: they are flipped, and nothing that counts is another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
import pytest

from isa.decode import decode
from isa.encodings import recorded_words
from isa.evaluate.exact import Evaluation
from isa.lane import Int, Lane, Place, constant, load, pick, read
from isa.rows import TABLE
from sim.call.caller import RETURN_ADDRESS, Call, Caller
from sim.call.guards.undefined_bytes import SeededBytes
from sim.call.kernel_image import open_kernel
from sim.check.aim.demand import changing_nothing
from sim.check.aim.mistakes import Mistake, differing
from sim.check.aim.read_later import ALL, Bits, BitsReadLater, bits_read
from sim.check.vectors import make_vectors
from sim.kernels import Kernel, built_in_kernel, parse_prototype
from sim.machine.machine import Machine
from sim.toolchain.compilers import build_text
from sim.toolchain.image import Image
from support.command import lanewise

X, Y = read(Place("x", 1)), read(Place("x", 2))
BYTE, SIGNED = Int(8, signed=False), Int(8, signed=True)
WHOLE = 2**64 - 1
FLAGS = ("fpcr", "pc")
"""What is left as it is: one has modes that are not modelled, the other is no register to flip."""


@pytest.mark.parametrize(
    ("lane", "wanted", "of_x"),
    [
        (BYTE.wrap(X), ALL, 0xFF),
        (BYTE.field(X, 8), 0x0F, 0xF00),
        (SIGNED.wrap(X), 0x0F, 0x0F),
        (SIGNED.wrap(X), 0x100, 0x80),  # a copy of the sign
        (BYTE.wrap(X), 0x100, 0),  # a zero
        (X + Y, 0x10, 0x1F),  # what is below carries
        (X - Y, 0x18, 0x1F),
        (X * Y, 4, 7),
        (X * 12, 0x14, 7),
        (X * 0, 7, 0),
        (X & 0x3C, 0xFF, 0x3C),
        (X & Y, 0xF0, 0xF0),
        (X | 0x3C, 0xFF, 0xFF),
        (X ^ Y, 6, 6),
        (X << 3, 0xFF, 0x1F),
        (X >> 3, 0xFF, 0x7F8),
        (constant(1) << BYTE.wrap(X), 1, 0xFF),  # a count counts whole
        (X.equals(Y), 1, WHOLE),
        (X.equals(Y), 2, 0),
        (SIGNED.saturate(X), 1, WHOLE),
        (pick(X & 1, [Y], 5), 2, 1),
        (pick(Y, [X], X), 2, 2),
        (load(X, 1), 0, WHOLE),  # where a load reads counts, whatever becomes of it
        (SIGNED.saturate(load(X, 1)), 0, WHOLE),
        (constant(3), ALL, 0),
    ],
)
def test_on_which_bits_some_bits_of_an_expression_depend(lane: Lane, wanted: int, of_x: int) -> None:
    assert bits_read([(lane, wanted)]).get(Place("x", 1), 0) == of_x


def test_what_several_expressions_want_of_a_register_is_joined() -> None:
    assert bits_read([(X, 1), (X, 4), (X + Y, 2)]) == {Place("x", 1): 7, Place("x", 2): 3}


@dataclass(frozen=True)
class Numbers:
    """Registers that hold something, and memory whose bytes follow from their addresses."""

    registers: Mapping[Place, int]

    def read(self, place: Place) -> int:
        return self.registers[place]

    def load(self, address: int, size: int) -> bytes:
        return Random(address).randbytes(size)


def flipped(number: int, bits: int, counting: int, rng: Random) -> int:
    """A number with any of the bits changed that do not count."""
    return number ^ rng.getrandbits(bits) & ~counting


def dependence(name: str, word: int, rng: Random) -> str:
    """The form whose word leaves other wanted bits where such are changed that it should not read; "" for none."""
    instruction = decode(word.to_bytes(4, "little"), 0x10000, TABLE)
    lanes = [(lane, write.bits) for write in instruction.writes for lane in write.lanes]
    wanted = [(lane, rng.getrandbits(bits) & rng.choice((0, 1, rng.getrandbits(bits), ALL))) for lane, bits in lanes]
    counting = bits_read(wanted)
    places = {place for place in instruction.places_read if place.file not in FLAGS}
    before = {place: rng.getrandbits(place.bits) for place in places} | {Place(file): 0 for file in FLAGS}
    after = before | {p: flipped(before[p], p.bits, counting.get(p, 0), rng) for p in places}
    one, other = (Evaluation(Numbers(registers)) for registers in (before, after))
    for lane, bits in wanted:
        if (one.value(lane) ^ other.value(lane)) & bits:
            return f"{name}: {instruction.text}"
    return ""


def dependences(part: int, of: int, times: int) -> list[str]:
    rng = Random(part)
    words = [(name, word) for name, some in sorted(recorded_words().items()) for word in some[:times]][part::of]
    return [told for name, word in words if (told := dependence(name, word, rng))]


def test_instructions_leave_the_same_wanted_bits_whatever_the_bits_are_that_do_not_count() -> None:
    assert dependences(3, 40, 1) == []


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_every_form_leaves_the_same_wanted_bits_whatever_the_bits_are_that_do_not_count(part: int) -> None:
    assert dependences(part, 4, 4) == []


def outputs_with_flips(kernel: Kernel, image: Image, inputs: Any, rng: Random | None) -> dict[str, list[Any]]:
    """What a call makes where behind each instruction any bits are changed that do not count; None changes none."""
    machine, later = Machine(engine="interpreted"), BitsReadLater(image, kernel)
    caller = Caller(image, kernel, machine)
    placed = caller.prepare(Call(kernel.arguments(inputs), 1), SeededBytes(1))
    entry = image.symbol(kernel.symbol).address
    own = range(entry, entry + len(image.code_of(kernel.symbol)))
    machine.pc = entry
    registers = [*(Place("x", n) for n in range(31)), *(Place("v", n) for n in range(32)), Place("nzcv")]
    to_flip = registers if rng is not None else []
    while machine.pc != RETURN_ADDRESS:
        pc = machine.pc
        machine.step()
        counting, is_within = later.after(pc), pc in own and machine.pc in (*own, RETURN_ADDRESS)
        for place in to_flip if is_within else ():
            number = machine.registers.read(place)
            machine.registers.write(place, flipped(number, place.bits, counting.get(place, 0), rng or Random()))
    return {name: array.tolist() for name, array in caller.outputs(machine, machine.memory, placed).items()}


@pytest.mark.slow
@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2"])
@pytest.mark.parametrize(
    "name", ["arithmetic_addition:u8_wrap", "quantize_down", "offset_contribution", "transpose1xw"]
)
def test_a_call_makes_the_same_whatever_the_bits_are_that_do_not_count(name: str, level: str) -> None:
    kernel = built_in_kernel(*name.split(":"))
    image = open_kernel(kernel, kernel.sources[0], level)
    inputs = min(make_vectors(kernel, 60, 1).inputs, key=lambda one: abs(_size(one) - 40))
    plain = outputs_with_flips(kernel, image, inputs, None)
    assert any(plain.values())
    assert [outputs_with_flips(kernel, image, inputs, Random(seed)) for seed in range(3)] == [plain] * 3


def _size(inputs: Mapping[str, Any]) -> int:
    return sum(value.size for value in inputs.values() if isinstance(value, np.ndarray))


def of_text(prototype: str, code: str, behind: str = "") -> tuple[Kernel, Image, dict[str, int]]:
    """A kernel, its code, and the addresses of its instructions by their text."""
    name, signature = parse_prototype(prototype)
    kernel = Kernel(name=name, symbol=name, sources=(), signature=signature, golden=dict)
    image = build_text(f".globl f\n.type f, %function\nf:\n{code}\n.size f, . - f\n{behind}", ".s")
    entry, text = image.symbol("f").address, image.code_of("f")
    found = {decode(text[at : at + 4], entry + at, TABLE).text: entry + at for at in range(0, len(text), 4)}
    return kernel, image, found


def test_bits_count_up_to_what_reads_them_on_every_way() -> None:
    kernel, image, at = of_text(
        "void f(const uint8_t x[n], uint8_t out[n], size_t n)",
        "ldrb w3, [x0]\n ldrb w4, [x0, #1]\n cbz x2, 1f\n add w3, w3, w4\n strb w3, [x1]\n ret\n1: strh w4, [x1]\n ret",
    )
    later = BitsReadLater(image, kernel)
    behind = later.after(at["ldrb w4, [x0, #1]"])
    assert [behind[Place("x", n)] for n in (1, 2, 3, 4)] == [WHOLE, WHOLE, 0xFF, 0xFFFF]
    assert Place("x", 0) not in behind
    stored = later.after(at["strb w3, [x1]"])
    assert {place for place, bits in stored.items() if bits} == {Place("x", 30)}


@pytest.mark.parametrize(
    ("prototype", "counts"), [("uint32_t f(uint32_t a)", WHOLE), ("void f(uint32_t a)", 0)], ids=["result", "none"]
)
def test_a_result_counts_where_the_function_has_one(prototype: str, counts: int) -> None:
    kernel, image, at = of_text(prototype, "mov w9, w0\n add w0, w0, #1\n ret")
    behind = BitsReadLater(image, kernel).after(at["add w0, w0, #1"])
    assert (behind.get(Place("x", 0), 0), behind.get(Place("x", 9), 0)) == (counts, 0)


def test_at_a_return_what_the_procedure_call_standard_lets_a_function_leave_as_it_likes_does_not_count() -> None:
    all_x, all_v = (
        "\n".join(f"mov x{n}, x{n}" for n in range(31)),
        "\n".join(f"mov v{n}.16b, v{n}.16b" for n in range(32)),
    )
    kernel, image, at = of_text(
        "uint32_t f(uint32_t a)", f"cmp x0, #1\n mrs x0, fpsr\n b.eq 1f\n{all_x}\n{all_v}\n1: ret"
    )
    counting = {place for place, bits in BitsReadLater(image, kernel).after(at["ret"]).items() if bits}
    kept = [n for n in range(31) if not 8 <= n <= 17]
    assert counting == {*(Place("x", n) for n in kept), *(Place("v", n) for n in range(16))}


def test_a_register_no_longer_counts_before_it_is_written_anew() -> None:
    kernel, image, at = of_text(
        "uint32_t f(uint32_t a)", "mov w9, w0\n add w10, w9, #1\n mov w9, #2\n add w0, w10, w9\n ret"
    )
    later = BitsReadLater(image, kernel)
    counts = [later.after(at[text]).get(Place("x", 9), 0) for text in ("mov w9, w0", "add w10, w9, #1", "mov w9, #2")]
    assert counts == [0xFFFF_FFFF, 0, 0xFFFF_FFFF]
    assert later.after(0x4000)[Place("x", 9)] == WHOLE  # of another function nothing is known


@pytest.mark.parametrize(("first", "counts"), [("nop", 0xFF), ("bl f", WHOLE)], ids=["no call", "a call"])
def test_a_function_that_it_ends_in_belongs_to_it_where_none_is_called(first: str, counts: int) -> None:
    """With a call the return of the other function may be one to the middle of this."""
    kernel, image, at = of_text(
        "void f(uint8_t out[1], uint32_t a)", f"{first}\n mov w1, w2\n b g\n ret", "g: strb w1, [x0]\n ret\n"
    )
    assert BitsReadLater(image, kernel).after(at["mov w1, w2"])[Place("x", 1)] == counts


@pytest.mark.parametrize("code", ["bl f", "br x5", "b 0x20000", "udf #0"])
def test_everything_counts_before_a_call_and_where_it_is_not_known_what_follows(code: str) -> None:
    kernel, image, at = of_text("void f(uint32_t a)", f"mov w9, w0\n {code}\n ret")
    assert BitsReadLater(image, kernel).after(at["mov w9, w0"])[Place("x", 9)] == WHOLE


def test_what_saturates_counts_whole_where_qc_is_read() -> None:
    code = "sqxtn b0, h1\n {} \n str b0, [x1]\n mov w2, #0\n str w2, [x1]\n ret"
    wanted = []
    for more in ("nop", "mrs x2, fpsr\n str w2, [x1]"):
        kernel, image, at = of_text("void f(uint8_t x[1], uint8_t out[1])", "mov v1.16b, v2.16b\n " + code.format(more))
        wanted.append(BitsReadLater(image, kernel).after(at["mov v1.16b, v2.16b"])[Place("v", 1)])
    assert wanted == [0xFFFF, 2**128 - 1]


def mistake_at(at: dict[str, int], text: str, instead: str) -> Mistake:
    one, other = (TABLE.instruction(*each.split(" ", 1)) for each in (text, instead))
    return Mistake(at[text], "sign", one, other)


@pytest.mark.parametrize(
    ("stored", "changes_nothing"), [("strb w3, [x1]", True), ("strh w3, [x1]", False)], ids=["byte", "half"]
)
def test_a_sign_that_nothing_keeps_is_no_mistake(stored: str, changes_nothing: bool) -> None:
    kernel, image, at = of_text(
        "void f(const uint8_t x[1], uint8_t out[2])", f"ldrb w3, [x0]\n add w3, w3, #3\n {stored}\n ret"
    )
    mistake = mistake_at(at, "ldrb w3, [x0]", "ldrsb w3, [x0]")
    assert changing_nothing(kernel, image, [mistake]) == ({mistake} if changes_nothing else set())


def test_an_instruction_that_reads_bits_which_did_not_count_is_no_equal() -> None:
    """With these bits as they are the results are equal; another mistake may have left others there."""
    kernel, image, at = of_text(
        "void f(uint32_t a, uint8_t out[1])", "ror w3, w0, #8\n lsr w3, w3, #24\n strb w3, [x1]\n ret"
    )
    later = BitsReadLater(image, kernel)
    lsr, rotated = TABLE.instruction("lsr", "w3, w3, #24"), TABLE.instruction("ror", "w3, w3, #24")
    assert later.allows(at["lsr w3, w3, #0x18"], lsr)
    assert not later.allows(at["lsr w3, w3, #0x18"], TABLE.instruction("lsr", "w3, w3, #23"))
    assert later.allows(at["lsr w3, w3, #0x18"], rotated)  # its other bits are not kept
    assert not later.allows(0x4000, lsr)  # of another function nothing is known


def test_a_difference_counts_in_the_bits_that_count_alone() -> None:
    mistake = Mistake(0, "sign", *(TABLE.instruction(name, "w0, w1, #4") for name in ("asr", "lsr")))
    counting: list[Bits] = [{Place("x", 0): bits} for bits in (0x0FFF_FFFF, 0x1000_0000, 0)]
    goals = [differing(mistake, each) for each in counting]
    state = Numbers({Place("x", 1): 0x8000_0000})
    met = [goal is not None and any(Evaluation(state).value(lane) for lane in goal.lanes) for goal in goals]
    assert met == [False, True, False]


@pytest.mark.slow
def test_a_kernel_of_which_no_mistake_can_show_is_not_weak() -> None:
    """Its only mistakes extend a byte of which the low eight bits are stored again."""
    result = lanewise("check", "arithmetic_addition", "--opt", "O2")
    assert "4 change nothing" in result.stdout
    assert result.stdout.splitlines()[-2].startswith("PASSED: ")
