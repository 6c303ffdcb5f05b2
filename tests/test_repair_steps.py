"""Every step of the arithmetic that may be missing or one too many, on all numbers of a byte and corners of words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import floor

import pytest

from isa.instruction import Instruction
from isa.lane import Place
from sim.check.repair.steps import (
    ELEMENTS,
    SPOILT,
    OtherStep,
    computes,
    counts_beside,
    keeping,
    missing_steps,
    moved_results,
    steps_of,
    taking,
    with_body,
    with_results,
)
from support.one_instruction import State, elements, left_by, named, register_of

DATA = 0x2000
BYTES = [*range(-128, 128)]
WORDS = sorted({sign * (1 << bits) + by for bits in (0, 2, 7, 8, 15, 16, 31) for sign in (1, -1) for by in (-2, 0, 1)})
"""Numbers of 32 bits, and some that wrap."""


def clipped(low: int, high: int) -> Callable[[int, int], int]:
    return lambda n, bits: min(max(n, low), high)


def cut(to: int, is_signed: bool) -> Callable[[int, int], int]:
    return lambda n, bits: n % 2**to - 2**to * (is_signed and n % 2**to >= 2 ** (to - 1))


FURTHER: dict[str, Callable[[int, int], int]] = {
    "negated": lambda n, bits: -n,
    "without its sign": lambda n, bits: abs(n),
    "inverted": lambda n, bits: -1 - n,
    "doubled": lambda n, bits: 2 * n,
    "halved": lambda n, bits: floor(Fraction(n, 2)),
    "halved and rounded": lambda n, bits: floor(Fraction(n + 1, 2)),
    "less by 1 where it is negative": lambda n, bits: max(n - 1, -(2 ** (bits - 1))) if n < 0 else n,
    "less by 1 where it is above 0": lambda n, bits: n - 1 if n > 0 else n,
    "0 instead": lambda n, bits: 0,
    "not below 0": lambda n, bits: max(n, 0),
    "not above 0": lambda n, bits: min(n, 0),
    "bounded to s8": clipped(-128, 127),
    "bounded to u8": clipped(0, 255),
    "bounded to s16": clipped(-32768, 32767),
    "bounded to u16": clipped(0, 65535),
    "bounded to s32": clipped(-(2**31), 2**31 - 1),
    "bounded to -127 and 127": clipped(-127, 127),
    **{f"cut to {'su'[to < 0]}{abs(to)}": cut(abs(to), to > 0) for to in (8, -8, 16, -16, 32, -32, 4, -4)},
}
"""What becomes of a signed number of so many bits by a step that was left out behind it."""


def step(steps: list[OtherStep], says: str) -> OtherStep:
    (found,) = [one for one in steps if one.says == says]
    return found


def changed(text: str, says: str, steps: Callable[[Instruction], Iterator[OtherStep]] = steps_of) -> Instruction:
    instruction = named(text)
    return with_body(instruction, step([*steps(instruction)], says).body)


def wrapped(numbers: list[int], bits: int) -> list[int]:
    return elements(register_of(numbers, bits), bits, len(numbers))


def test_the_steps_that_may_be_missing_are_those_that_are_looked_at_here() -> None:
    assert {one.says for one in missing_steps(named("add w0, w1, w2"))} == FURTHER.keys()


@pytest.mark.parametrize(
    "text", ["add x0, x1, x2", "sqadd s0, s1, s2", "ldr x0, [x1]", "ldr s0, [x1]", "ldur w0, [x1]"]
)
def test_only_of_registers_of_64_bits_and_more_that_are_loaded_each_element_is_looked_at(text: str) -> None:
    assert {one.says for one in missing_steps(named(text))} == FURTHER.keys()
    of_elements = {one.says for one in missing_steps(named("ldur d0, [x1]"))}
    assert of_elements == {f"of {bits} bits {says}" for bits in ELEMENTS for says in FURTHER}


@pytest.mark.parametrize(
    ("text", "left"), [("ldr s0, [x1]", 2**32 - 5), ("ldr d0, [x1]", 2**32 - 5), ("ldr b0, [x1]", 5)]
)
def test_results_that_are_narrower_than_the_elements_stay(text: str, left: int) -> None:
    """Negated as numbers of 32 bits."""
    instruction = named(text)
    instead = with_body(instruction, with_results(instruction.form, lambda lane, element, at: -lane, 32))
    memory = {DATA: (5).to_bytes(16, "little")}
    assert left_by(instead, State({"x1": DATA}, memory)) == {"v0": left}


def test_flags_stay_as_they_are_behind_a_result_that_is_changed() -> None:
    left = left_by(changed("adds w0, w1, #5", "inverted", missing_steps), State({"x1": 2**32 - 5}))
    assert left == {"x0": 2**32 - 1, "nzcv": 0b0110}


@pytest.mark.parametrize("says", FURTHER)
def test_a_step_left_out_behind_lanes_is_done_to_each_as_a_signed_number(says: str) -> None:
    instead = changed("add v0.16b, v1.16b, v2.16b", says, missing_steps)
    for at in range(0, 256, 16):
        numbers = BYTES[at : at + 16]
        left = left_by(instead, State({"v1": register_of(numbers, 8)}))["v0"]
        assert elements(left, 8, 16) == wrapped([FURTHER[says](n, 8) for n in numbers], 8)


@pytest.mark.parametrize("says", FURTHER)
def test_a_step_left_out_behind_a_register_is_done_to_its_32_bits(says: str) -> None:
    instead = changed("add w0, w1, w2", says, missing_steps)
    for n in WORDS:
        number = wrapped([n], 32)[0]
        assert left_by(instead, State({"x1": n % 2**64}))["x0"] == FURTHER[says](number, 32) % 2**32


@pytest.mark.parametrize("says", FURTHER)
@pytest.mark.parametrize("bits", ELEMENTS)
def test_a_step_left_out_behind_a_load_is_done_to_elements_of_each_size(bits: int, says: str) -> None:
    numbers = [*range(-3, 3), -(1 << bits - 1), (1 << bits - 1) - 1, *[1 << bits - 2] * 8][: 128 // bits]
    memory = {DATA: register_of(numbers, bits).to_bytes(16, "little")}
    for register, count in (("q0", 128 // bits), ("d0", 64 // bits)):
        instead = changed(f"ldr {register}, [x1]", f"of {bits} bits {says}", missing_steps)
        left = left_by(instead, State({"x1": DATA}, memory))["v0"]
        expected = wrapped([FURTHER[says](n, bits) for n in numbers[:count]], bits)
        assert elements(left, bits, 128 // bits) == expected + [0] * (128 // bits - count)


@pytest.mark.parametrize("says", FURTHER)
@pytest.mark.parametrize(("store", "size"), [("strb", 1), ("strh", 2), ("str", 4), ("stur", 4), ("sturh", 2)])
def test_a_step_left_out_before_a_store_is_done_to_32_bits(store: str, size: int, says: str) -> None:
    instead = changed(f"{store} w0, [x1]", f"after it is {says}", missing_steps)
    for n in WORDS:
        number = wrapped([n], 32)[0]
        stored = left_by(instead, State({"x0": n % 2**64, "x1": DATA}))[DATA]
        assert stored == FURTHER[says](number, 32) % 2 ** (8 * size)


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("str w3, [x1]", Place("x", 3)), ("str q3, [x1, #16]", Place("v", 3)), ("str w3, [sp, #8]", None),
        ("strb w3, [x29, #8]", None), ("add w3, w1, w2", None), ("ldr q3, [x1]", None),
    ],
)  # fmt: skip
def test_what_holds_another_number_before_a_store_is_told_unless_it_is_kept_on_the_stack(
    text: str, before: Place | None
) -> None:
    assert {one.before for one in missing_steps(named(text))} == {before}


@pytest.mark.parametrize("text", ["fadd v0.4s, v1.4s, v2.4s", "b #0x10", "nop"])
def test_no_step_is_missing_of_floats_and_branches(text: str) -> None:
    assert list(missing_steps(named(text))) == []


@pytest.mark.parametrize(
    ("text", "does"),
    [
        ("add w0, w1, w2", True), ("sqadd s0, s1, s2", True), ("mul v0.4s, v1.4s, v2.4s", True), ("mov w0, #5", True),
        ("str w0, [x1]", False), ("cbz w0, #0x10", False), ("ret", False), ("nop", False), ("ldr w0, [x1]", False),
        ("ldurb w0, [x1]", False), ("fmov s0, w1", False), ("adrp x0, #0x3000", False), ("ldp x0, x1, [x2]", False),
    ],
)  # fmt: skip
def test_what_makes_a_number_is_told_from_what_moves_one(text: str, does: bool) -> None:
    assert computes(named(text)) == does


def to_nearest(exact: Fraction) -> int:
    """Ties away from zero."""
    return floor(abs(exact) + Fraction(1, 2)) * (-1 if exact < 0 else 1)


SHIFTED: dict[str, Callable[[int, int], int]] = {
    "after half of the last place is added (rounded)": lambda n, by: floor(Fraction(n, 1 << by) + Fraction(by > 0, 2)),
    "after half of the last place is taken away (not rounded)": (
        lambda n, by: floor(Fraction(n, 1 << by) - Fraction(by > 0, 2))
    ),
    "after a fix-up of negative numbers (ties away from zero)": (
        lambda n, by: to_nearest(Fraction(n - (1 << by >> 1), 1 << by))  # where half is added before
    ),
    "after a fix-up of negative numbers (toward zero)": lambda n, by: int(Fraction(n, 1 << by)),
}
"""A number that is shifted to the right, with a step before that may have been left out."""


@pytest.mark.parametrize("says", SHIFTED)
@pytest.mark.parametrize("by", [0, 1, 3, 7])
def test_a_shift_to_the_right_may_lack_each_step_before_it(by: int, says: str) -> None:
    for text, registers in (
        (f"asr w0, w1, #{by}", {}),
        ("asr w0, w1, w2", {"x2": 32 + by}),
        (f"asr x0, x1, #{by}", {}),
        ("asr x0, x1, x2", {"x2": 64 + by}),
    ):
        if text.endswith("#0"):
            continue
        bits = 32 if "w0" in text else 64
        instead = changed(text, says)
        for n in (*range(-40, 40), 10_000, -10_000):
            left = left_by(instead, State({"x1": n % 2**bits, **registers}))["x0"]
            assert left == SHIFTED[says](n, by) % 2**bits


def test_a_rounding_shift_of_lanes_lacks_a_fix_up_where_it_goes_to_the_right() -> None:
    says = "after a fix-up of negative numbers (ties away from zero)"
    counts = [0, -1, -2, -7]
    for n in range(-70, 70):
        given = State({"v1": register_of([n] * 4, 32), "v2": register_of(counts, 32)})
        left = left_by(changed("srshl v0.4s, v1.4s, v2.4s", says), given)["v0"]
        assert elements(left, 32, 4) == [to_nearest(Fraction(n, 1 << -by)) for by in counts]
        left = left_by(changed("srshr v0.4s, v1.4s, #3", says), given)["v0"]
        assert elements(left, 32, 4) == [to_nearest(Fraction(n, 8))] * 4
        left = left_by(changed("sshr v0.4s, v1.4s, #3", says), given)["v0"]
        assert elements(left, 32, 4) == [floor(Fraction(n - (n < 0), 8))] * 4


@pytest.mark.parametrize(("text", "bits"), [("orr v0.16b, v1.16b, v1.16b", 8), ("orr w0, w1, w1", 32)])
def test_a_spoilt_result_is_inverted_one_off_or_off_by_a_quarter_of_all_numbers(text: str, bits: int) -> None:
    instruction = named(text)
    spoilt = [with_body(instruction, with_results(instruction.form, change)) for change in SPOILT]
    for n in BYTES:
        given = State({"v1": register_of([n] * 16, 8), "x1": n % 2**bits})
        left = [elements(next(iter(left_by(one, given).values())), bits, 1) for one in spoilt]
        others = (-1 - n, n + 1, n - 1, n + 2**bits // 4)
        assert left == [elements(other % 2**bits, bits, 1) for other in others]


@pytest.mark.parametrize(
    ("text", "is_fixed"),
    [
        ("srshl v0.4s, v1.4s, v2.4s", True), ("sqrshl v0.4s, v1.4s, v2.4s", True), ("srsra v0.4s, v1.4s, #2", True),
        ("rshrn2 v0.8h, v1.4s, #2", True), ("sqrshrun v0.4h, v1.4s, #2", True), ("sshr v0.4s, v1.4s, #2", True),
        ("urshl v0.4s, v1.4s, v2.4s", False), ("ushr v0.4s, v1.4s, #2", False), ("shl v0.4s, v1.4s, #2", False),
    ],
)  # fmt: skip
def test_shifts_of_signed_lanes_to_the_right_may_lack_a_fix_up(text: str, is_fixed: bool) -> None:
    assert any("fix-up" in one.says for one in steps_of(named(text))) == is_fixed


def test_what_holds_another_number_before_a_step_is_told_and_whether_it_is_a_constant_more() -> None:
    told = {one.says: (one.before, one.is_more) for one in steps_of(named("asr w3, w1, w2"))}
    assert {says: told[says] for says in SHIFTED} == dict(
        zip(SHIFTED, [(Place("x", 1), True)] * 2 + [(Place("x", 1), False)] * 2, strict=True)
    )
    assert {(one.before, one.is_more) for one in counts_beside(named("asr w3, w1, w2"))} == {(Place("x", 2), True)}
    assert {one.before for one in steps_of(named("udiv w3, w1, w2"))} == {Place("x", 1), None}


@pytest.mark.parametrize(("name", "bits"), [("sdiv", 32), ("udiv", 32), ("sdiv", 64), ("udiv", 64)])
def test_a_quotient_may_be_rounded_otherwise(name: str, bits: int) -> None:
    letter, least = ("w" if bits == 32 else "x"), (1 << bits - 1)
    numbers = [0, 1, 2, 3, 5, 6, 7, 8] if name == "udiv" else [-8, -7, -6, -5, -1, 0, 1, 5, 6, 7, 8]
    divisors = [1, 2, 3, 4, 7] + ([-1, -2, -3, -4] if name == "sdiv" else [])
    far = [2 * least - 1, least] if name == "udiv" else [least - 1, 1 - least]
    for says, rounded in (("rounded down", floor), ("rounded to nearest", to_nearest)):
        instead = changed(f"{name} {letter}0, {letter}1, {letter}2", says)
        for n in (*numbers, *far):
            for by in divisors:
                left = left_by(instead, State({"x1": n % 2**bits, "x2": by % 2**bits}))["x0"]
                assert left == rounded(Fraction(n, by)) % 2**bits, (says, n, by)
            by_zero = left_by(instead, State({"x1": n % 2**bits, "x2": 0}))["x0"]
            assert by_zero == 0, (says, n)  # as of the instruction itself


def test_a_count_in_a_register_may_be_one_off() -> None:
    for by, says in ((1, "with 1 added to its count"), (-1, "with 1 taken from its count")):
        counts = [3, -3, 0, 1]
        given = State({"x1": 0x8000_0100, "x2": 3, "v1": register_of([100] * 4, 32), "v2": register_of(counts, 32)})
        for text, expected in (
            ("lsl w0, w1, w2", (0x8000_0100 << 3 + by) % 2**32),
            ("lsr w0, w1, w2", 0x8000_0100 >> 3 + by),
            ("asr w0, w1, w2", (0x8000_0100 - 2**32 >> 3 + by) % 2**32),
        ):
            assert left_by(changed(text, says, counts_beside), given)["x0"] == expected
        left = left_by(changed("sshl v0.4s, v1.4s, v2.4s", says, counts_beside), given)["v0"]
        shifts = [each + by for each in counts]
        assert elements(left, 32, 4) == [floor(100 * Fraction(2) ** each) for each in shifts]


@pytest.mark.parametrize("text", ["lsl w0, w1, #3", "sshr v0.4s, v1.4s, #3", "add w0, w1, w2", "ror w0, w1, w2"])
def test_of_what_is_no_shift_by_a_register_no_count_is_off(text: str) -> None:
    assert list(counts_beside(named(text))) == []


def test_a_result_may_be_one_off_and_what_else_an_instruction_writes_stays() -> None:
    for by, says in ((1, "and 1 added"), (-1, "and 1 taken away")):
        left = left_by(changed("adds w0, w1, w2", says, moved_results), State({"x1": 2**32 - 1, "x2": 1}))
        assert left == {"x0": by % 2**32, "nzcv": 0b0110}
        lanes = left_by(changed("sqadd v0.8h, v1.8h, v2.8h", says, moved_results), State({"v1": 0x7FFF}))
        assert elements(lanes["v0"], 16, 8) == wrapped([0x7FFF + by] + [by] * 7, 16)
    assert list(moved_results(named("ldr w0, [x1]"))) == []


@pytest.mark.parametrize(("store", "size"), [("strb", 1), ("strh", 2), ("str", 4)])
def test_a_store_may_keep_another_constant(store: str, size: int) -> None:
    instruction = named(f"{store} wzr, [x1]")
    for number in (5, -1, 70_000):
        step = keeping(instruction.form, number)
        assert (step.says, step.before, step.is_more) == (f"of {number}", None, True)
        stored = left_by(with_body(instruction, step.body), State({"x1": DATA}))
        assert stored == {DATA: number % 2 ** (8 * size)}


def test_an_instruction_takes_a_number_wherever_it_reads_a_register() -> None:
    given = State({"x1": 3, "x2": 100})
    assert left_by(taking(named("madd x0, x1, x1, x2"), Place("x", 1), 7), given) == {"x0": 7 * 7 + 100}
    assert left_by(taking(named("madd x0, x1, x1, x2"), Place("x", 2), -7), given) == {"x0": (9 - 7)}
    assert left_by(taking(named("madd x0, x1, x1, x2"), Place("x", 3), 7), given) == {"x0": 109}
    assert left_by(taking(named("str w1, [x2]"), Place("x", 1), 2**32 + 5), given) == {100: 5}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("sub w0, w1, w2", {"w1": "x1", "w2": "x2"}),
        ("add x0, x1, x2", {"x1": "x1", "x2": "x2"}),
        ("mla v0.4s, v1.4s, v2.4s", {"v0.4s": "v0", "v1.4s": "v1", "v2.4s": "v2"}),
        ("sqrdmulh v0.4s, v1.4s, v2.s[1]", {"v1.4s": "v1"}),
        ("add w0, w1, #5", {"w1": "x1"}),
        ("madd x0, x1, x2, x3", {"x1": "x1", "x2": "x2", "x3": "x3"}),
        ("bsl v0.16b, v1.16b, v2.16b", {"v0.16b": "v0", "v1.16b": "v1", "v2.16b": "v2"}),
        ("tbl v0.16b, {v1.16b, v2.16b}, v3.16b", {"v3.16b": "v3"}),
        ("sqxtn v0.4h, v1.4s", {}),
        ("csel w0, w1, w2, lt", {"w1": "x1", "w2": "x2"}),
        ("mov w0, w1", {}),
        ("ldr w0, [x1]", {}),
        ("sub w0, w1, w2, asr #4", {"w1": "x1"}),
        ("orr v0.4s, #1", {"v0.4s": "v0"}),
    ],
)  # fmt: skip
def test_a_step_left_out_keeps_one_operand(text: str, kept: dict[str, str]) -> None:
    registers = {f"v{n}": register_of([n + 1] * 16, 8) for n in range(4)} | {f"x{n}": n + 10 for n in range(1, 4)}
    found = {
        one.says.removeprefix("left out, only ").removesuffix(" kept"): left_by(
            with_body(named(text), one.body), State(registers)
        )
        for one in steps_of(named(text))
        if one.says.startswith("left out")
    }
    assert {says: [*left.values()] for says, left in found.items()} == {
        says: [registers[of]] for says, of in kept.items()
    }


@pytest.mark.parametrize(
    "text", ["asr w0, w1, #3", "sdiv w0, w1, w2", "add w0, w1, w2", "lsl w0, w1, w2", "str w0, [x1]"]
)
def test_of_halves_and_counts_alone_it_is_said_that_they_are_more_in_a_number(text: str) -> None:
    instruction = named(text)
    kinds = (steps_of, counts_beside, moved_results, missing_steps)
    found = {step.says: step.is_more for kind in kinds for step in kind(instruction)}
    assert found == {says: "half of the last place" in says or "count" in says for says in found}
    assert found
