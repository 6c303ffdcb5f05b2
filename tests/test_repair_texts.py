"""All that could stand in the place of an instruction, by how near it is: neither less nor more."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from sim.check.repair.alternative import NEAR, NOTHING, STEP, Alternative, Beside
from sim.check.repair.alternatives import alternatives_of, other_registers
from support.code_of_lines import START as FIRST
from support.code_of_lines import Symbol, code_of
from support.one_instruction import State, left_by, named

START = 0x10000


def instead(text: str, rank: int) -> list[str]:
    """The texts of other instructions."""
    found = alternatives_of(START, named(text))
    return [one.instruction.text for one in found if one.rank == rank and one.says.startswith("as ")]


def with_operands(names: str, operands: str) -> set[str]:
    return {f"{name} {operands}" for name in names.split()}


def numbered(text: str, numbers: Iterable[int]) -> set[str]:
    return {f"{text}{number if -10 < number < 10 else hex(number)}" for number in numbers}


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("cmp w0, #5", {"cmp w0, #6", "cmp w0, #4"}),
        ("cmn w0, #0x10", {"cmn w0, #0x11", "cmn w0, #0xf"}),
        ("subs w0, w1, #-3", {"subs w0, w1, #-2", "subs w0, w1, #-4", "adds w0, w1, #-3"}),
        ("mov w0, #0x30", {"mov w0, #0x31", "mov w0, #0x2f"}),
        (
            "add w0, w1, w2, lsr #1",
            {"sub w0, w1, w2, lsr #1", "add w0, w1, w2, lsr #2", "add w0, w1, w2, lsr #0", "add w0, w1, w2, asr #1",
             "add w0, w1, w2, lsl #1", "add w0, w2, w1, lsr #1"},
        ),
        (
            "eor x0, x1, x2, asr #9",
            {"eor x0, x1, x2, asr #8", "eor x0, x1, x2, asr #0xa", "eor x0, x1, x2, lsl #9", "eor x0, x1, x2, lsr #9",
             "eor x0, x2, x1, asr #9"},
        ),
        ("mul v0.4h, v1.4h, v2.h[1]", {f"mul v0.4h, v1.4h, v2.h[{n}]" for n in (0, 2, 3, 4, 5, 6, 7)}),
        (
            "csel w0, w1, w2, lt",
            {"mov w0, w1", "mov w0, w2", "csel w0, w1, w2, lo", "csel w0, w1, w2, le", "csel w0, w1, w2, ge",
             "csel w0, w2, w1, lt"},
        ),
        (
            "msub w0, w1, w2, w3",
            {"madd w0, w1, w2, w3", "msub w0, w2, w1, w3", "msub w0, w3, w2, w1", "msub w0, w1, w3, w2"},
        ),
        ("cmp w0, w1", {"cmp w1, w0"}),
        ("stp w0, w1, [x2]", {"stp w1, w0, [x2]"}),
        (
            "mls v0.4s, v1.4s, v2.s[1]",
            {"mla v0.4s, v1.4s, v2.s[1]", *(f"mls v0.4s, v1.4s, v2.s[{n}]" for n in (0, 2, 3))},
        ),
        ("fmov d0, d3", {"mov d0, v3.d[1]"}),
        ("fmov x0, d3", {"mov x0, v3.d[1]"}),
        ("fmov w0, s3", {"mov w0, v3.s[1]", "mov w0, v3.s[2]", "mov w0, v3.s[3]"}),
        ("mov d0, v3.d[1]", {"mov d0, v3.d[0]"}),
        ("cset w0, eq", {"cset w0, ne"}),
        ("cset w0, hi", {"cset w0, hs", "cset w0, gt", "cset w0, ls"}),
        ("b.ge #0x10100", {"b.gt #0x10100", "b.hs #0x10100", "b.lt #0x10100"}),
        ("b.mi #0x10100", {"b.pl #0x10100", "b.le #0x10100"}),
        ("ldr w0, [x1, #4]", {"ldrsw x0, [x1, #4]"}),
        ("ldur w0, [x1, #-4]", {"ldursw x0, [x1, #-4]"}),
        ("ldrsw x0, [x1, #4]", {"ldr x0, [x1, #4]"}),
        ("ldursw x0, [x1, #-4]", {"ldur x0, [x1, #-4]"}),
        ("mov w0, w1", {"sxtw x0, w1"}),
        ("sxtw x0, w1", {"mov x0, x1"}),
        ("ldrsb w0, [x1]", {"ldrb w0, [x1]"}),
        ("scvtf v0.4s, v1.4s, #1", {"ucvtf v0.4s, v1.4s, #1", "scvtf v0.4s, v1.4s"}),
        ("sub w0, w1, w2", {"add w0, w1, w2", "sub w0, w2, w1", "sub w0, w1, w1", "sub w0, w2, w2"}),
        ("sub w0, w1, #5", {"add w0, w1, #5", "sub w0, w1, #6", "sub w0, w1, #4"}),
        ("sub x0, x1, #5", {"add x0, x1, #5"}),  # of addresses, not of numbers
        (
            "zip1 v0.4s, v1.4s, v2.4s",
            {"zip2 v0.4s, v1.4s, v2.4s", "zip1 v0.4s, v2.4s, v1.4s", "zip1 v0.4s, v1.4s, v1.4s",
             "zip1 v0.4s, v2.4s, v2.4s"},
        ),
        (
            "smlal2 v0.4s, v1.8h, v2.8h",
            {*with_operands("umlal2 smlsl2", "v0.4s, v1.8h, v2.8h"), "smlal2 v0.4s, v2.8h, v1.8h",
             "smlal2 v0.4s, v1.8h, v1.8h", "smlal2 v0.4s, v2.8h, v2.8h"},
        ),
        ("shl v0.4s, v1.4s, #1", {"shl v0.4s, v1.4s, #2", "shl v0.4s, v1.4s, #0", "sqshl v0.4s, v1.4s, #1"}),
        (
            "eor w0, w1, w2, lsl #2",
            {"eor w0, w1, w2, lsl #1", "eor w0, w1, w2, lsl #3", "eor w0, w1, w2, lsr #2", "eor w0, w1, w2, asr #2",
             "eor w0, w2, w1, lsl #2"},
        ),
        (
            "mvn w0, w1, lsl #1",
            {"neg w0, w1, lsl #1", "mvn w0, w1, lsl #0", "mvn w0, w1, lsl #2", "mvn w0, w1, lsr #1",
             "mvn w0, w1, asr #1"},
        ),
        ("asr w0, w1, #4", {"lsr w0, w1, #4", "asr w0, w1, #5", "asr w0, w1, #3"}),
        ("xtn2 v0.8h, v1.4s", with_operands("sqxtn2 uqxtn2 sqxtun2", "v0.8h, v1.4s")),
        ("sqxtun v0.4h, v1.4s", with_operands("xtn sqxtn uqxtn", "v0.4h, v1.4s")),
        (
            "sqrshrn v0.4h, v1.4s, #3",
            {*with_operands("sqshrn rshrn uqrshrn", "v0.4h, v1.4s, #3"), "sqrshrn v0.4h, v1.4s, #4",
             "sqrshrn v0.4h, v1.4s, #2"},
        ),
        ("umaxp v3.2s, v5.2s, v5.2s", {"smaxp v3.2s, v5.2s, v5.2s", "umaxv s3, v5.4s"}),
        ("addp v3.2s, v5.2s, v5.2s", {"addv s3, v5.4s"}),
        ("saddlv s0, v7.4h", {"uaddlv s0, v7.4h", "saddlv s0, v7.8h"}),
        ("addv b0, v7.8b", {"addv b0, v7.16b"}),
        ("ld1r {v4.4h}, [x17]", {"ld1 {v4.4h}, [x17]"}),
        ("mvn v0.16b, v1.16b", {"neg v0.16b, v1.16b"}),
        ("nop", set()),
        ("ret", set()),
    ],
)  # fmt: skip
def test_what_an_instruction_is_easily_mixed_up_with(text: str, near: set[str]) -> None:
    found = instead(text, NEAR)
    assert (set(found), len(found)) == (near, len(near))


@pytest.mark.parametrize(
    ("text", "far"),
    [
        ("sub w0, w1, w2", with_operands("and orr eor bic lsl lsr asr mul mneg sdiv udiv", "w0, w1, w2")),
        (
            "sub x0, x1, x2",
            with_operands("and orr eor bic lsl lsr asr mul mneg sdiv udiv smulh umulh", "x0, x1, x2"),
        ),
        (
            "fadd s0, s1, s2",
            with_operands(
                "fabd fmul fmulx fnmul fdiv fmax fmin fmaxnm fminnm fcmeq fcmge fcmgt facge facgt", "s0, s1, s2"
            ),
        ),
        ("b.ge #0x10100", {"b #0x10100", "b #0x10004"}),  # always, and never
        ("cbz x0, #0x10100", {"b #0x10100", "b #0x10004"}),
        ("b #0x10100", set()),
        ("csel w0, w1, w2, lt", set()),
        ("ldr w0, [x1]", set()),
        ("eor w0, w1, w2, asr #9", numbered("eor w0, w1, w2, asr #", {*range(1, 32)} - {8, 9, 10})),
        ("madd w0, w1, w2, w3", set()),
    ],
)
def test_what_does_something_else_with_the_same_operands(text: str, far: set[str]) -> None:
    assert set(instead(text, STEP)) == far


BITS = range(32)
ROUND = {0, 1, -1, *(sign << bits for bits in BITS for sign in (1, -1)), *((1 << bits) - 1 for bits in BITS)}


@pytest.mark.parametrize(
    ("text", "number", "of_one_name"),
    [("cmp w0, #5", 5, True), ("add w0, w1, #0x64", 100, True), ("eor w0, w1, #7", 7, True), ("mov x0, #7", 7, False)],
)
def test_a_number_may_be_any_round_one_and_a_power_of_two_more_or_less(
    text: str, number: int, of_one_name: bool
) -> None:
    before = text.rpartition("#")[0] + "#"
    near = {number, number + 1, number - 1}
    others = {-number, ~number, 2 * number, number // 2, *(number + sign * (1 << b) for b in BITS for sign in (1, -1))}
    found = [each for rank in (NEAR, STEP) for each in instead(text, rank) if each.startswith(before)]
    if of_one_name:
        assert set(found) == numbered(before, (ROUND | others | near) - {number})
    else:
        assert set(found) == numbered(before, (ROUND | others) - {number})


@pytest.mark.parametrize("text", ["add x0, x1, #0x64", "ldr w0, [x1, #4]", "cmp x0, #5"])
def test_an_address_is_not_taken_for_a_round_number(text: str) -> None:
    before = text.rpartition("#")[0] + "#"
    assert [each for each in instead(text, STEP) if each.startswith(before)] == []


def test_what_moves_an_address_behind_its_access_may_not_have_done_so_only_where_it_is_a_conversion() -> None:
    assert "ldr w0, [x1]" not in instead("ldr w0, [x1], #4", NEAR)
    assert "fcvtzs w0, s1" in instead("fcvtzs w0, s1, #4", NEAR)


def test_a_shift_may_go_any_way_that_32_bits_have() -> None:
    for text, may_be in (("sshr v0.4s, v1.4s, #3", range(1, 32)), ("ext v0.16b, v1.16b, v2.16b, #3", range(16))):
        before = text.rpartition("#")[0] + "#"
        found = {int(each.rpartition("#")[2], 0) for each in instead(text, NEAR) + instead(text, STEP)
                 if each.startswith(before)}  # fmt: skip
        assert {*may_be} - {3} <= found


def test_some_bits_of_a_number_may_be_any_others() -> None:
    found = instead("and w0, w1, #0xff", STEP)
    parts = {one for one in found if one.split()[0] in ("lsr", "asr", "lsl") and not one.endswith("0xff")}
    assert parts == {one for name in ("lsr", "asr", "lsl") for one in numbered(f"{name} w0, w1, #", range(1, 32))}
    assert {f"and w0, w1, #{(1 << bits) - 1:#x}" for bits in range(4, 32) if bits != 8} <= set(found)
    assert not [one for one in instead("lsr w0, w1, #4", STEP) if one in numbered("lsr w0, w1, #", (3, 5))]  # near
    assert len(instead("lsr w0, w1, #4", STEP)) == len(set(instead("lsr w0, w1, #4", STEP)))


@pytest.mark.parametrize(("text", "of_stack"), [("add x0, sp, #8", True), ("str w0, [x29, #8]", True), ("nop", False)])
def test_of_addresses_of_the_stack_only_steps_may_be_missing(text: str, of_stack: bool) -> None:
    assert instead(text, NEAR) + instead(text, STEP) == []
    assert bool([*alternatives_of(START, named(text))]) == of_stack


@pytest.mark.parametrize("text", ["mov w0, wzr", "mov x0, xzr"])
def test_a_zero_may_be_a_round_number(text: str) -> None:
    found = [one for one in alternatives_of(START, named(text)) if one.beside.is_more]
    made = {left_by(one.instruction, State({}))["x0"] for one in found}
    bits = 32 if " w" in text else 64
    assert made == {number % 2**bits for number in ROUND}
    assert {one.rank for one in found} == {STEP}


@pytest.mark.parametrize("store", ["str wzr, [sp, #8]", "strb wzr, [x1]"])
def test_a_zero_that_is_stored_may_be_a_round_number(store: str) -> None:
    found = [one for one in alternatives_of(START, named(store)) if one.beside.is_more]
    assert {int(one.says.removeprefix("of ")) for one in found} == ROUND
    assert {one.rank for one in found} == {STEP}


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        ("umlal v4.8h, v1.8b, v2.8b", {f"umlal v4.8h, v{n}.8b, v2.8b" for n in (2, 3, 4)}
         | {f"umlal v4.8h, v1.8b, v{n}.8b" for n in (1, 3, 4)}),  # not what it adds to, which is its result too
        ("sub w9, w8, w9", {f"sub w9, w{n}, w9" for n in (0, 9)} | {f"sub w9, w8, w{n}" for n in (0, 8)}),
        ("ldr q3, [x0], #16", {f"ldr q3, [x{n}], #16" for n in (8, 9)}),
        ("str d4, [x0]", {f"str d{n}, [x0]" for n in (1, 2, 3)} | {f"str d4, [x{n}]" for n in (8, 9)}),
        ("tbl v3.16b, {v1.16b}, v4.16b", {f"tbl v3.16b, {{v{n}.16b}}, v4.16b" for n in (2, 3, 4)}
         | {f"tbl v3.16b, {{v1.16b}}, v{n}.16b" for n in (1, 2, 3)}),
        ("tbl v3.16b, {v1.16b, v2.16b}, v4.16b", {f"tbl v3.16b, {{v1.16b, v2.16b}}, v{n}.16b" for n in (1, 2, 3)}),
        ("ldr w9, [sp, #8]", set()),
        ("add x9, sp, x0", set()),
        ("str x0, [x29, #16]", set()),
        ("mov w9, #5", set()),
    ],
)  # fmt: skip
def test_an_operand_may_be_any_other_register_of_its_kind_that_the_function_has(text: str, instead: set[str]) -> None:
    """Of v1 to v4, and x0, x8 and x9."""
    every = ["umlal v4.8h, v1.8b, v2.8b", "sub w9, w8, w9", "ldr q3, [x0]", text]
    code = code_of([(each, 1) for each in every])
    found = [*other_registers(code, max(code.instructions))]
    assert {one.says for one in found} == {f"as {one.instruction.text}" for one in found}
    assert {one.instruction.text for one in found} == instead
    assert {one.rank for one in found} <= {STEP}


def test_the_frame_pointer_is_no_register_to_mix_up() -> None:
    code = code_of([("mov x29, x28", 1), ("mov x30, x8", 1), ("neg x0, x1", 1)])
    instead = {one.instruction.text for one in other_registers(code, max(code.instructions))}
    assert instead == {f"neg x0, x{n}" for n in (0, 8, 28, 30)}


def test_registers_of_another_function_are_none_to_mix_up() -> None:
    code = code_of([("sub w9, w8, w9", 1), ("sub w1, w2, w3", 2)], [Symbol("f", FIRST), Symbol("g", FIRST + 4)])
    instead = {one.instruction.text for one in other_registers(code, FIRST + 4)}
    assert instead == {f"sub w1, w{n}, w3" for n in (1, 3)} | {f"sub w1, w2, w{n}" for n in (1, 2)}


def test_of_calls_of_a_function_the_first_is_blamed() -> None:
    add = named("add w0, w1, w2")
    assert Alternative(START, NEAR, add, add, "", Beside(calls=(4, 8))).blamed == 4
    assert Alternative(START, NEAR, add, add, "", NOTHING).blamed == START
