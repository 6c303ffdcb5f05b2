"""What numbers registers can hold behind each kind of instruction: all that happens, and no more where it can be."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from itertools import product
from random import Random
from typing import NamedTuple

import pytest

from isa.decode import decode
from isa.encodings import recorded_words
from isa.evaluate.exact import Evaluation
from isa.lane import Int, Place, constant, load, pick, read
from isa.rows import TABLE
from sim.check.aim.ranges import VISITS, Elements, Ranges, _bounds, held, narrowed
from sim.kernels import Domain, Kernel, parse_prototype
from sim.toolchain.compilers import build_text
from sim.toolchain.image import Image
from support.one_instruction import State
from support.sampled import sampled

SHIFTS, BOUNDS = range(-2, 2), range(3, 10)
LEAVES = {
    "dup v1.4s, w2": ("v1", 32),
    "dup v2.4s, w3": ("v2", 32),
    "add v3.4s, v1.4s, v2.4s": ("v3", 32),
    "sub v4.4s, v1.4s, v2.4s": ("v4", 32),
    "mul v5.4s, v1.4s, v2.4s": ("v5", 32),
    "shl v6.4s, v2.4s, #2": ("v6", 32),
    "sshr v7.4s, v1.4s, #1": ("v7", 32),
    "ushr v8.4s, v2.4s, #1": ("v8", 32),
    "smax v9.4s, v1.4s, v2.4s": ("v9", 32),
    "smin v10.4s, v1.4s, v2.4s": ("v10", 32),
    "umax v11.4s, v2.4s, v2.4s": ("v11", 32),
    "sqadd v12.4s, v1.4s, v2.4s": ("v12", 32),
    "xtn v13.4h, v1.4s": ("v13", 16),
    "sqxtn v14.4h, v1.4s": ("v14", 16),
    "sqxtun v15.4h, v1.4s": ("v15", 16),
    "uqxtn v16.4h, v2.4s": ("v16", 16),
    "cmgt v17.4s, v2.4s, v1.4s": ("v17", 32),
    "cmgt v18.4s, v1.4s, v2.4s": ("v18", 32),
    "movi v25.4s, #10": ("v25", 32),
    "movi v26.4s, #2": ("v26", 32),
    "movi v27.4s, #9": ("v27", 32),
    "cmeq v19.4s, v2.4s, v25.4s": ("v19", 32),
    "cmeq v28.4s, v2.4s, v26.4s": ("v28", 32),
    "cmgt v30.4s, v2.4s, v27.4s": ("v30", 32),
    "cmge v31.4s, v27.4s, v2.4s": ("v31", 32),
    "neg v20.4s, v1.4s": ("v20", 32),
    "smull v21.2d, v1.2s, v2.2s": ("v21", 64),
    "saddl v22.2d, v1.2s, v2.2s": ("v22", 64),
    "sshll v23.2d, v1.2s, #3": ("v23", 64),
    "shl v24.4s, v1.4s, #3": ("v24", 32),
    "add w4, w2, w3": ("x4", 32),
    "sub w5, w3, w2": ("x5", 32),
    "mov w9, w3": ("x9", 32),
    "madd w11, w3, w3, w3": ("x11", 32),
    "mul w12, w2, w3": ("x12", 32),
    "mov w13, #-7": ("x13", 32),
    "add w14, w3, #5": ("x14", 32),
}
"""Instructions of numbers whose range is the one that their operands give, with what they leave: bits of an element."""
WIDER = {
    "and w4, w2, #7": ("x4", 32),
    "csel w5, w2, w3, lt": ("x5", 32),
    "cset w6, lt": ("x6", 32),
    "eor v3.16b, v1.16b, v2.16b": ("v3", 32),
    "umin v4.4s, v1.4s, v2.4s": ("v4", 32),
    "abs v5.4s, v1.4s": ("v5", 32),
    "sqdmulh v6.4s, v1.4s, v2.4s": ("v6", 32),
    "addv s7, v1.4s": ("v7", 32),
    "mla v2.4s, v1.4s, v1.4s": ("v2", 32),
    "zip1 v8.4s, v1.4s, v2.4s": ("v8", 32),
    "ext v9.16b, v1.16b, v2.16b, #4": ("v9", 32),
    "uxtl v10.8h, v1.8b": ("v10", 16),
    "movi v11.4s, #5": ("v11", 32),
    "mvn v12.16b, v1.16b": ("v12", 8),
    "sshl v13.4s, v2.4s, v1.4s": ("v13", 32),
    "srshr v14.4s, v2.4s, #1": ("v14", 32),
    "uabd v15.4s, v2.4s, v1.4s": ("v15", 32),
    "sxtb w7, w2": ("x7", 32),
    "udiv w8, w3, w3": ("x8", 32),
    "ubfx w9, w3, #1, #2": ("x9", 32),
    "movi v27.4s, #9": ("v27", 32),
    "movi v28.4s, #3": ("v28", 32),
    "cmeq v29.4s, v2.4s, v27.4s": ("v29", 32),
    "cmeq v30.4s, v2.4s, v28.4s": ("v30", 32),
    "cmgt v31.4s, v2.4s, v28.4s": ("v31", 32),
    "cmge v26.4s, v28.4s, v2.4s": ("v26", 32),
    "asr w10, w2, #1": ("x10", 32),
    "lsr w11, w3, #1": ("x11", 32),
    "sxtw x12, w2": ("x12", 64),
    "lsl w13, w3, #2": ("x13", 32),
    "cmp w2, w3": ("nzcv", 4),
}
"""Others, of which only is claimed that nothing happens outside."""


def image_of(*lines: str) -> Image:
    return build_text(".globl f\n.type f, %function\nf:\n" + "\n".join(lines) + "\nret\n.size f, . - f\n", ".s")


def kernel_of(prototype: str, **domain: Domain) -> Kernel:
    name, signature = parse_prototype(prototype)
    return Kernel(name=name, symbol=name, sources=(), signature=signature, golden=dict, domain=domain)


KERNEL = kernel_of(
    "void f(const int32_t x[4], int32_t out[4], int32_t shift, int32_t bound)",
    shift=Domain(SHIFTS[0], SHIFTS[-1]), bound=Domain(BOUNDS[0], BOUNDS[-1]),
)  # fmt: skip


@pytest.mark.parametrize(("texts", "is_exact"), [(LEAVES, True), (WIDER, False)], ids=["exact", "sound"])
def test_a_register_holds_what_its_instruction_makes_of_what_others_hold(
    texts: dict[str, tuple[str, int]], is_exact: bool
) -> None:
    lines = [*dict.fromkeys(["dup v1.4s, w2", "dup v2.4s, w3", *texts])]
    image = image_of(*lines)
    start, code = image.symbol("f").address, image.code_of("f")
    instructions = [decode(code[4 * at :][:4], start + 4 * at, TABLE) for at in range(len(lines))]
    known = Ranges(image, KERNEL).before(start + 4 * len(lines))
    met = defaultdict[str, set[int]](set)
    for shift, bound in product(SHIFTS, BOUNDS):
        left = State({"x2": shift % 2**32, "x3": bound}).run(*instructions).registers
        for name, bits in texts.values():
            met[name].add(Int(bits, signed=True).wrapped(left[name]))
    for text, (name, bits) in texts.items():
        place = Place(name.rstrip("0123456789"), int(name.lstrip("nzcvx"))) if name != "nzcv" else Place("nzcv")
        low, high = held(known.get(place), 0, Int(bits, signed=name != "nzcv"))
        numbers = {number % 16 for number in met[name]} if name == "nzcv" else met[name]
        assert low <= min(numbers), text
        assert max(numbers) <= high, text
        if is_exact:
            assert (low, high) == (min(numbers), max(numbers)), text


def test_arguments_of_every_width_begin_in_their_domains() -> None:
    kernel = kernel_of(
        "void f(int8_t a, uint16_t b, int64_t c, bool d, float e, int32_t g, int32_t out[4])",
        a=Domain(-3, 5), b=Domain(7, 9), c=Domain(-1, 1), e=Domain(0, 1),
    )  # fmt: skip
    image = image_of("nop")
    known = Ranges(image, kernel).before(image.symbol("f").address)
    assert known == {
        Place("x", 0): Elements(8, ((-3, 5), *((0, 255),) * 7)),
        Place("x", 1): Elements(16, ((7, 9), *((0, 2**16 - 1),) * 3)),
        Place("x", 2): Elements(64, ((-1, 1),)),
        Place("x", 3): Elements(8, ((0, 1), *((0, 255),) * 7)),
        Place("x", 4): Elements(32, ((-(2**31), 2**31 - 1), (0, 2**32 - 1))),
    }


def test_arguments_that_lie_on_the_stack_are_in_no_register() -> None:
    names = [f"a{number}" for number in range(10)]
    prototype = f"void f({', '.join(f'int64_t {name}' for name in names)}, int32_t out[4])"
    kernel = kernel_of(prototype, **dict.fromkeys(names, Domain(2, 3)))
    image = image_of("nop")
    known = Ranges(image, kernel).before(image.symbol("f").address)
    assert known == {Place("x", number): Elements(64, ((2, 3),)) for number in range(8)}


def test_of_a_kernel_that_says_its_inputs_itself_no_argument_is_known() -> None:
    name, signature = parse_prototype("void f(int8_t a, int32_t out[4])")
    kernel = Kernel(name=name, symbol=name, sources=(), signature=signature, golden=dict, domain={"a": Domain(0, 1)},
                    sample=lambda rng: {})  # fmt: skip
    image = image_of("nop")
    assert Ranges(image, kernel).before(image.symbol("f").address) == {}


def test_what_two_ways_leave_is_between_both_element_by_element() -> None:
    """On one way two elements of 64 bits, on the other four of 32 of which only two are known there."""
    image = image_of(
        "movi v0.4s, #5", "movi v1.2s, #5", "movi v2.4s, #5", "movi v3.4s, #7", "cbz w3, 1f", "movi v0.4s, #9",
        "movi v1.4s, #2", "movi v2.8h, #5", "1: nop",
    )  # fmt: skip
    known = Ranges(image, KERNEL).before(image.symbol("f").address + 4 * 8)
    v = [known.get(Place("v", number)) for number in range(4)]
    assert v[0] == Elements(32, ((5, 9),) * 4)
    assert v[1] == Elements(32, ((2, 5), (2, 5), (0, 2), (0, 2)))
    assert v[2] is None
    assert v[3] == Elements(32, ((7, 7),) * 4)


def test_where_nothing_is_known_behind_a_function_that_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    image = image_of("mov w2, #5", "nop", "nop")
    last = image.symbol("f").address + 4 * 2
    assert Place("x", 2) in Ranges(image, KERNEL).before(last)
    monkeypatch.setattr("sim.check.aim.ranges.MOST_CODE", 4)
    assert Place("x", 2) in Ranges(image, KERNEL).before(last)
    monkeypatch.setattr("sim.check.aim.ranges.MOST_CODE", 3)
    assert Ranges(image, KERNEL).before(last) == {}


def test_a_branch_that_its_operands_decide_goes_one_way_or_both() -> None:
    """Both are followed, whatever the operands are; what only the other one leaves is among what there may be."""
    image = image_of("mov w2, #1", "mov w4, #3", "cbz w2, 1f", "mov w4, #6", "1: nop")
    known = Ranges(image, KERNEL).before(image.symbol("f").address + 4 * 4)
    assert known[Place("x", 4)] == Elements(32, ((3, 6),))


@pytest.mark.parametrize("comings", [VISITS, VISITS + 1])
def test_what_still_changes_after_so_many_comings_may_be_anything(comings: int) -> None:
    """Each way to the end leaves another number."""
    ways = [line for number in range(1, comings) for line in (f"mov w2, #{number}", "cbz w3, 1f")]
    lines = [*ways, f"mov w2, #{comings}", "1: nop"]
    image = image_of(*lines)
    known = Ranges(image, KERNEL).before(image.symbol("f").address + 4 * (len(lines) - 1))
    assert known.get(Place("x", 2)) == (Elements(32, ((1, comings),)) if comings == VISITS else None)


X1, X2 = Place("x", 1), Place("x", 2)
NIBBLE = Int(4, signed=True)
PAIRS = [(low, high) for low in range(-3, 3) for high in range(low, 3)]


@pytest.mark.parametrize("operator", ["less", "equal"])
def test_a_comparison_is_decided_where_all_numbers_of_both_sides_decide_it_alike(operator: str) -> None:
    one, other = (NIBBLE.field(read(place), 0) for place in (X1, X2))
    lane = one < other if operator == "less" else one.equals(other)
    for left, right in product(PAIRS, PAIRS):
        answers = {
            int(a < b if operator == "less" else a == b)
            for a in range(left[0], left[1] + 1)
            for b in range(right[0], right[1] + 1)
        }
        found = narrowed(lane, {X1: Elements(4, (left,)), X2: Elements(4, (right,))})
        assert found.value == (answers.pop() if len(answers) == 1 else None), (left, right)


def test_a_part_of_a_part_of_a_register_is_that_part_of_it() -> None:
    """The highest byte of its second word, and bytes of its first."""
    bounds = tuple((at, at + 1) for at in range(8))
    for at, lsb in ((32, 24), (32, 0), (0, 8), (0, 24)):
        found = narrowed(Int(8, False).field(Int(32, False).field(read(X1), at), lsb), {X1: Elements(8, bounds)})
        assert (found.low, found.high) == bounds[(at + lsb) // 8]


@pytest.mark.parametrize(("index", "bounds"), [((2, 2), (30, 31)), ((3, 3), (-7, -7)), ((0, 2), (-7, 31))])
def test_of_a_choice_whose_number_is_known_one_is_left(index: tuple[int, int], bounds: tuple[int, int]) -> None:
    items = [constant(10), constant(20), constant(30) + Int(4, False).field(read(X2), 0)]
    lane = pick(Int(4, False).field(read(X1), 0), items, -7)
    found = narrowed(lane, {X1: Elements(4, (index,)), X2: Elements(4, ((0, 1),))})
    assert (found.low, found.high) == bounds


def test_what_memory_holds_and_what_is_not_known_may_be_anything() -> None:
    loaded = narrowed(load(read(X1), 2) + 1, {X1: Elements(64, ((8, 8),))})
    assert (loaded.low, loaded.high) == (1, 2**16)
    unknown = narrowed(Int(8, True).field(read(X1), 8), {X2: Elements(8, ((1, 1),))})
    assert (unknown.low, unknown.high) == (-128, 127)


def test_the_last_instruction_of_a_function_is_followed_like_any_other() -> None:
    lines = ["b 2f", "1:", "nop", "ret", "2:", "mov w2, #5", "b 1b"]
    image = build_text(".globl f\n.type f, %function\nf:\n" + "\n".join(lines) + "\n.size f, . - f\n", ".s")
    known = Ranges(image, KERNEL).before(image.symbol("f").address + 4)
    assert known[Place("x", 2)] == Elements(32, ((5, 5),))


def test_where_one_way_leaves_fewer_elements_the_others_are_0_there() -> None:
    prototype = "void f(const int32_t x[4], int32_t out[4], int32_t shift, int32_t bound)"
    kernel = kernel_of(prototype, shift=Domain(-2, 0), bound=Domain(3, 9))
    for few, many in (("w3", "w2"), ("w2", "w3")):
        image = image_of(f"dup v1.2s, {few}", "cbz w3, 1f", f"dup v1.4s, {many}", "1: nop")
        known = Ranges(image, kernel).before(image.symbol("f").address + 4 * 3)
        above = (-2, 0) if many == "w2" else (0, 9)
        assert known[Place("v", 1)] == Elements(32, ((-2, 9), (-2, 9), above, above))


def test_what_lies_behind_a_call_is_followed_with_nothing_known_and_what_is_behind_the_end_is_not() -> None:
    """The function ends in a call of one that does not return: what is behind it belongs to another one."""
    lines = ["mov w2, #5", "bl g", "mov w4, #6", "cbz w4, 1f", "bl g", "1: mov w5, #7", "bl g"]
    text = "\n".join(lines)
    image = build_text(f".globl f\n.type f, %function\nf:\n{text}\n.size f, . - f\ng: ret\n", ".s")
    ranges, start = Ranges(image, KERNEL), image.symbol("f").address
    assert ranges.before(start + 4)[X2] == Elements(32, ((5, 5),))
    assert ranges.before(start + 8) == {}
    assert ranges.before(start + 12) == {Place("x", 4): Elements(32, ((6, 6),))}
    assert ranges.before(start + 24) == {Place("x", 5): Elements(32, ((7, 7),))}


def some_elements(rng: Random, bits: int) -> Elements:
    """Of a register of so many bits: as many elements as there is room for, or fewer."""
    size = rng.choice([size for size in (8, 16, 32, 64) if size <= bits])
    bounds = []
    for _ in range(rng.randint(1, bits // size)):
        low = rng.choice([0, -1, 1, -(1 << size - 1), rng.randrange(-(1 << size - 1), 1 << size)])
        span = rng.choice([0, 0, 1, 5, rng.randrange(1 << size)])
        bounds.append((low, min(low + span, low + (1 << size) - 1, (1 << size) - 1)))
    return Elements(size, tuple(bounds))


def some_number(rng: Random, elements: Elements) -> int:
    """A number that such a register may hold."""
    drawn = [rng.choice([low, high, rng.randint(low, high)]) for low, high in elements.bounds]
    return sum(number % (1 << elements.bits) << elements.bits * at for at, number in enumerate(drawn))


@pytest.mark.parametrize("seed", range(4))
def test_all_that_a_part_of_a_register_can_be_is_among_what_it_is_said_to_hold(seed: int) -> None:
    """And it is said exactly of an element with its own bits, of what is known whole, and of what lies above all."""
    rng = Random(seed)
    for _ in range(300):
        elements = some_elements(rng, 128)
        wanted, lsb = Int(rng.choice((8, 16, 32, 64)), rng.random() < 0.5), 8 * rng.randrange(16)
        low, high = held(elements, lsb, wanted)
        numbers = [wanted.wrapped(some_number(rng, elements) >> lsb) for _ in range(8)]
        assert low <= min(numbers) <= max(numbers) <= high, (elements, lsb, wanted)
        at, inside = divmod(lsb, elements.bits)
        if not inside:
            parts = elements.bounds[at : at + max(wanted.bits // elements.bits, 1)]
            if not parts:
                assert (low, high) == (0, 0)
            elif wanted.bits == elements.bits and wanted.low <= parts[0][0] <= parts[0][1] <= wanted.high:
                assert ((low, high),) == parts
            elif all(one == other for one, other in parts):
                assert low == high


class Held(NamedTuple):
    """Registers that hold something, and memory with bytes that follow from their addresses."""

    registers: Mapping[Place, int]

    def read(self, place: Place) -> int:
        return self.registers[place]

    def load(self, address: int, size: int) -> bytes:
        return Random(address).randbytes(size)


def unsound(name: str, word: int, rng: Random) -> str:
    """The form whose word makes a number that is not between its bounds; "" for none."""
    instruction = decode(word.to_bytes(4, "little"), 0x10000, TABLE)
    known = {place: some_elements(rng, place.bits) for place in instruction.places_read if place.file in ("x", "v")}
    for _ in range(3):
        registers = dict.fromkeys(instruction.places_read, 0)
        registers |= {place: some_number(rng, elements) for place, elements in known.items()}
        evaluation = Evaluation(Held(registers))
        for write in (one for one in instruction.writes if isinstance(one.place, Place)):
            for lane in write.lanes:
                low, high = _bounds(lane, write.bits, known)
                if (evaluation.value(lane) - low) % (1 << write.bits) > high - low:
                    return f"{name}: {instruction.text}"
    return ""


def unsounds(part: int, of: int, times: int) -> list[str]:
    rng = Random(part)
    words = [(name, word) for name, some in sorted(recorded_words().items()) for word in some[:times]][part::of]
    return [told for name, word in words if (told := unsound(name, word, rng))]


def test_whatever_registers_hold_what_instructions_make_of_it_is_between_its_bounds() -> None:
    assert unsounds(7, 40, 1) == []


@pytest.mark.slow
@pytest.mark.parametrize("part", sampled(range(4), 2))
def test_whatever_registers_hold_what_every_form_makes_of_it_is_between_its_bounds(part: int) -> None:
    assert unsounds(part, 4, 4) == []
