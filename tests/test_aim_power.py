"""The mistakes that an instruction could be, each of its kind, and what a check says of its power."""

from __future__ import annotations

import pytest

from isa.lane import Place
from sim.check.aim.mistakes import Mistake, alike, differing, mistakes_of, places_of, written
from sim.check.aim.power import ENOUGH, NOT_FOUND, OperandsMet, Power, Rival, Rivals, TriedMistake
from support.one_instruction import State, named

TIMES = "v0.4s, v1.4s, v2.s[1]"


@pytest.mark.parametrize(
    ("text", "mistakes"),
    [
        (f"sqrdmulh {TIMES}", {("round", f"sqdmulh {TIMES}"), ("lane", "sqrdmulh v0.4s, v1.4s, v2.s[0]")}),
        (f"sqdmulh {TIMES}", {("round", f"sqrdmulh {TIMES}"), ("lane", "sqdmulh v0.4s, v1.4s, v2.s[0]")}),
        (
            "smlal2 v0.4s, v1.8h, v2.h[6]",
            {("sign", "umlal2 v0.4s, v1.8h, v2.h[6]"), ("lane", "smlal2 v0.4s, v1.8h, v2.h[7]")},
        ),
        ("mov v0.s[1], w1", set()),
        ("smov w0, v1.b[2]", set()),
        (
            "srshr v0.4s, v1.4s, #3",
            {("round", "sshr v0.4s, v1.4s, #3"), ("sign", "urshr v0.4s, v1.4s, #3"),
             ("shift", "srshr v0.4s, v1.4s, #4"), ("shift", "srshr v0.4s, v1.4s, #2")},
        ),
        (
            "sqadd v0.8h, v1.8h, v2.8h",
            {("saturate", "add v0.8h, v1.8h, v2.8h"), ("sign", "uqadd v0.8h, v1.8h, v2.8h")},
        ),
        ("add v0.8h, v1.8h, v2.8h", set()),  # one that does not saturate is rarely meant to
        (
            "smax v0.4s, v1.4s, v2.4s",
            {("sign", "umax v0.4s, v1.4s, v2.4s"), ("bound", "mov v0.16b, v1.16b"), ("bound", "mov v0.16b, v2.16b")},
        ),
        (
            "umin v0.8b, v1.8b, v2.8b",
            {("sign", "smin v0.8b, v1.8b, v2.8b"), ("bound", "mov v0.8b, v1.8b"), ("bound", "mov v0.8b, v2.8b")},
        ),
        (
            "smin v0.4h, v1.4h, v2.4h",
            {("sign", "umin v0.4h, v1.4h, v2.4h"), ("bound", "mov v0.8b, v1.8b"), ("bound", "mov v0.8b, v2.8b")},
        ),
        (
            "umax v0.8h, v1.8h, v2.8h",
            {("sign", "smax v0.8h, v1.8h, v2.8h"), ("bound", "mov v0.16b, v1.16b"), ("bound", "mov v0.16b, v2.16b")},
        ),
        ("csel w0, w1, w2, gt", {("bound", "mov w0, w1"), ("bound", "mov w0, w2"), ("sign", "csel w0, w1, w2, hi")}),
        ("csel x0, x1, x2, eq", {("bound", "mov x0, x1"), ("bound", "mov x0, x2")}),
        ("asr w0, w1, #9", {("sign", "lsr w0, w1, #9"), ("shift", "asr w0, w1, #0xa"), ("shift", "asr w0, w1, #8")}),
        ("shl v0.4s, v1.4s, #1", {("shift", "shl v0.4s, v1.4s, #2"), ("shift", "shl v0.4s, v1.4s, #0")}),
        ("sqshl v0.8h, v1.8h, v2.8h",
         {("saturate", "sshl v0.8h, v1.8h, v2.8h"), ("round", "sqrshl v0.8h, v1.8h, v2.8h")}),
        ("movi v0.4s, #9", {("constant", "movi v0.4s, #0xa"), ("constant", "movi v0.4s, #8")}),
        ("mov w0, #-0xa", {("constant", "mov w0, #-9"), ("constant", "mov w0, #-0xb")}),
        ("add w0, w1, #5", {("constant", "add w0, w1, #6"), ("constant", "add w0, w1, #4")}),
        ("add x0, x1, #5", set()),  # an address
        ("mov x0, #5", set()),
        ("cmp w0, #5", set()),
        ("ext v0.16b, v1.16b, v2.16b, #5", set()),
        ("ldr q0, [x0]", set()),
        ("str q0, [x0, #16]", set()),
        ("b.ge #0x100", set()),
    ],
)  # fmt: skip
def test_the_mistakes_that_an_instruction_could_be(text: str, mistakes: set[tuple[str, str]]) -> None:
    found = [(one.kind, one.instruction.text) for one in mistakes_of(8, named(text))]
    assert (set(found), len(found)) == (mistakes, len(mistakes))
    assert {(one.pc, one.original.text) for one in mistakes_of(8, named(text))} <= {(8, text)}


def test_names_are_alike_both_ways_and_where_one_saturates_too() -> None:
    assert {*alike("add")} == {"sqadd", "uqadd"}
    assert {*alike("xtn2")} == {"sqxtn2", "uqxtn2", "sqxtun2"}
    assert {*alike("rshrn")} == {"shrn", "sqrshrn", "sqrshrun", "uqrshrn"}
    assert {*alike("nop")} == set()


def test_a_number_is_written_as_the_disassembler_does() -> None:
    assert [*map(written, (0, 9, 10, -9, -10, 255))] == ["0", "9", "0xa", "-9", "-0xa", "0xff"]


def mistake(one: str, other: str) -> Mistake:
    return Mistake(0, "sign", named(one), named(other))


@pytest.mark.parametrize(
    ("one", "other", "registers", "apart"),
    [
        ("add w0, w1, w2", "sub w0, w1, w2", {"x1": 5, "x2": 0}, False),
        ("add w0, w1, w2", "sub w0, w1, w2", {"x1": 5, "x2": 2**31}, False),
        ("add w0, w1, w2", "sub w0, w1, w2", {"x1": 5, "x2": 1}, True),
        ("sqadd v0.8h, v1.8h, v2.8h", "add v0.8h, v1.8h, v2.8h", {"v1": 0x7FFF_0001, "v2": 0x0000_0001}, False),
        ("sqadd v0.8h, v1.8h, v2.8h", "add v0.8h, v1.8h, v2.8h", {"v1": 0x7FFF_0001, "v2": 0x0001_0001}, True),
        ("sqxtn v0.4h, v1.4s", "uqxtn v0.4h, v1.4s", {"v1": 0x7FFF}, False),
        ("sqxtn v0.4h, v1.4s", "uqxtn v0.4h, v1.4s", {"v1": 0x8000}, True),
    ],
)
def test_two_instructions_differ_where_a_register_holds_another_number_behind(
    one: str, other: str, registers: dict[str, int], apart: bool
) -> None:
    goal = differing(mistake(one, other))
    assert goal is not None
    state = State(registers)
    assert any(state.value(lane) for lane in goal.lanes) == apart


@pytest.mark.parametrize("mask", [0, (1 << 128) - 1, 0xFFFF << 16, 0x8000, 0x7FFF, 0xFF << 32, 1 << 32, 0x8000_0001])
def test_two_instructions_differ_in_the_bits_that_count(mask: int) -> None:
    """By what each of them leaves; a place of which nothing is said does not count."""
    v0, one, other = Place("v", 0), *map(named, ("sqadd v0.8h, v1.8h, v2.8h", "add v0.8h, v1.8h, v2.8h"))
    goal = differing(Mistake(0, "saturate", one, other), {v0: mask})
    nowhere = differing(Mistake(0, "saturate", one, other), {Place("v", 1): -1})
    assert goal is not None
    assert nowhere is not None
    for first in (0, 0x7FFF, 0x8000, 0x7FFF << 16, 0x8000 << 16, 0x7FFF_0000_7FFF, 0x8001 << 32):
        for second in (1, 0xFFFF, 0x0001_0001_0001, 0xFFFF_FFFF_FFFF, 0x7FFF << 32):
            registers = {"v1": first, "v2": second}
            left = [State(registers).run(each).registers["v0"] for each in (one, other)]
            state = State(registers)
            assert any(state.value(lane) for lane in goal.lanes) == bool((left[0] ^ left[1]) & mask)
            assert not any(state.value(lane) for lane in nowhere.lanes)


def test_where_two_go_on_counts_always() -> None:
    goal = differing(mistake("b.eq #8", "b.ne #8"), {})
    assert goal is not None
    assert any(State({"nzcv": 4}).value(lane) for lane in goal.lanes)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("add w0, w1, w2", "add w3, w1, w2"),
        ("adds w0, w1, w2", "add w0, w1, w2"),
        ("add w0, w1, w2", "adds w0, w1, w2"),
        ("add v0.8h, v1.8h, v2.8h", "add v0.4s, v1.4s, v2.4s"),
        ("add v0.8h, v1.8h, v2.8h", "add v0.4h, v1.4h, v2.4h"),
    ],
)
def test_two_that_write_elsewhere_or_other_elements_are_not_compared(one: str, other: str) -> None:
    assert differing(mistake(one, other)) is None


def test_the_registers_that_two_instructions_read_are_told_in_order() -> None:
    assert places_of(mistake("add w0, w2, w10", "sub w0, w1, w2")) == (Place("x", 1), Place("x", 10), Place("x", 2))


def tried(place: str, kind: str, shown: bool, impossible: bool = False) -> TriedMistake:
    return TriedMistake(
        build="k.c -O2", place=place, kind=kind, instruction="srshl", instead="sshl", shown=shown, impossible=impossible
    )


def met(place: str, name: str, met: bool, impossible: str = "", build: str = "k.c -O2") -> OperandsMet:
    return OperandsMet(build, place, "srshl v0.4s, v0.4s, v1.4s", name, met, impossible)


def test_a_line_is_blind_with_three_possible_mistakes_of_rounding_none_of_them_shown() -> None:
    hidden = [tried("a", "sign", False), tried("a", "shift", False)]
    assert Power(mistakes=[*hidden, tried("a", "saturate", False)]).blind_lines == ["a"]
    assert Power(mistakes=[*hidden, tried("a", "round", False)]).blind_lines == ["a"]
    assert Power(mistakes=[*hidden, tried("a", "lane", False)]).blind_lines == []
    assert Power(mistakes=[*hidden, tried("a", "round", False, impossible=True)]).blind_lines == []
    assert Power(mistakes=[*hidden, tried("a", "round", False), tried("a", "sign", True)]).blind_lines == []
    assert Power(mistakes=[*hidden, tried("b", "round", False)]).blind_lines == []


def test_enough_is_half_of_the_mistakes_that_are_possible() -> None:
    shown, hidden, never = tried("a", "sign", True), tried("b", "sign", False), tried("c", "sign", False, True)
    assert ENOUGH == 0.5
    assert Power(mistakes=[shown, hidden, never]).is_enough
    assert not Power(mistakes=[shown, hidden, hidden]).is_enough
    assert Power().is_enough
    assert Power().lanes_aimed == 0


def test_what_is_not_known_of_a_blind_line_is_asked_once_for_each_build_and_class() -> None:
    mistakes = [tried("a", "round", False)] * 3 + [tried("b", "round", True)] * 4
    operands = [
        met("a", "tie", False), met("a", "tie", False), met("a", "tie", False, build="k.c -O0"),
        met("a", "wrapped", True), met("a", "saturated low", False, "v1 is always 0"), met("b", "tie", False),
    ]  # fmt: skip
    power = Power(mistakes=mistakes, operands=operands)
    assert [(one.build, one.name) for one in power.asked] == [("k.c -O2", "tie"), ("k.c -O0", "tie")]
    assert [one.why_not for one in operands] == [NOT_FOUND] * 3 + ["", "none can: v1 is always 0", NOT_FOUND]
    assert power.weaknesses == [
        f"no input would have shown a mistake at a; no lane met a tie there, {NOT_FOUND}; "
        "no lane met the lower bound there, and none can: v1 is always 0"
    ]


def test_ways_of_the_code_and_classes_of_operands_are_told_apart() -> None:
    operands = [met("a", name, True) for name in ("taken", "tie", "false", "shifted left")]
    power = Power(operands=operands)
    assert [one.name for one in power.of_ways] == ["taken", "false"]
    assert [one.name for one in power.of_operands] == ["tie", "shifted left"]
    assert str(met("a", "tie", False, "v1 is always 0")) == "a tie at a srshl v0.4s, v0.4s, v1.4s (v1 is always 0)"
    assert str(met("a", "not taken", True)) == "the branch not taken at a srshl v0.4s, v0.4s, v1.4s"


@pytest.mark.parametrize(
    ("rivals", "words"),
    [
        (Rivals(), "told apart from 0"),
        (Rivals("", [Rival("one", True, True), Rival("other", False, True)]), "told apart from 2"),
        (
            Rivals("ours", [Rival("one", True, False), Rival("two", True, False, "4 or 12"), Rival("x", True, False)]),
            "told apart from 0; not from: two (none can with 4 or 12 elements), one, x (equal on this domain, or not"
            " found within the budget); the golden reference is ours",
        ),
        (
            Rivals("", [Rival("one", True, False, "4"), Rival("two", True, True)]),
            "told apart from 1; not from: one (none can with 4 elements)",
        ),
    ],
)
def test_rivals_are_told_in_a_line(rivals: Rivals, words: str) -> None:
    assert str(rivals) == words


def test_the_power_of_a_check_as_plain_data() -> None:
    power = Power(
        lanes_aimed=9, mistakes=[tried("a", "sign", True), tried("b", "lane", False)],
        operands=[met("a", "tie", False)], beyond="x 0..3", doubts=["a doubt"], rivals=Rivals("ours", []),
    )  # fmt: skip
    data = power.as_json()
    assert {name: data[name] for name in ("lanes_aimed", "mistakes_tried", "mistakes_shown")} == {
        "lanes_aimed": 9, "mistakes_tried": 2, "mistakes_shown": 1,
    }  # fmt: skip
    assert data["not_shown"] == [
        {"build": "k.c -O2", "place": "b", "kind": "lane", "instruction": "srshl", "instead": "sshl", "shown": False,
         "impossible": False}
    ]  # fmt: skip
    assert data["operand_classes"] == [
        {"build": "k.c -O2", "place": "a", "instruction": "srshl v0.4s, v0.4s, v1.4s", "name": "tie", "met": False,
         "impossible": "", "why_not": NOT_FOUND}
    ]  # fmt: skip
    assert (data["beyond_declared_domains"], data["weaknesses"]) == ("x 0..3", ["a doubt"])
    assert data["rivals"] == {"recognised": "ours", "rivals": []}
