"""The grammar of operand text: what each kind of operand becomes, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.lane import Slot
from isa.operands import (
    Address,
    Condition,
    Element,
    Extended,
    FloatImmediate,
    General,
    Immediate,
    Name,
    Operand,
    RegisterList,
    Scalar,
    Shifted,
    Vector,
)
from isa.parse import ParseError, blank_registers, fill_registers, parse

X1, X2, W2 = General(1, 64), General(2, 64), General(2, 32)

OPERANDS: list[tuple[str, Operand, str]] = [
    ("v1.8b", Vector(1, 8, "b"), ".8b"),
    ("v31.2d", Vector(31, 2, "d"), ".2d"),
    ("v0.1d", Vector(0, 1, "d"), ".1d"),
    ("b1", Scalar(1, "b"), "b"),
    ("h1", Scalar(1, "h"), "h"),
    ("s1", Scalar(1, "s"), "s"),
    ("d1", Scalar(1, "d"), "d"),
    ("q1", Scalar(1, "q"), "q"),
    ("v1.s[3]", Element(1, "s", 3), ".s[i]"),
    ("v1.b[0xf]", Element(1, "b", 15), ".b[i]"),
    ("v1.4b[2]", Element(1, "b", 2, 4), ".4b[i]"),
    ("{v1.16b}", RegisterList((Vector(1, 16, "b"),)), "{1}.16b"),
    ("{v1.4s, v2.4s}", RegisterList((Vector(1, 4, "s"), Vector(2, 4, "s"))), "{2}.4s"),
    ("{v1.s, v2.s}[3]", RegisterList((Element(1, "s", 3), Element(2, "s", 3))), "{2}.s[i]"),
    ("x1", X1, "x"),
    ("w2", W2, "w"),
    ("sp", General(None, 64, "sp"), "x"),
    ("wsp", General(None, 32, "sp"), "w"),
    ("xzr", General(None, 64, "zero"), "x"),
    ("wzr", General(None, 32, "zero"), "w"),
    ("#5", Immediate(5), "#"),
    ("#-5", Immediate(-5), "#"),
    ("#0x1f", Immediate(31), "#"),
    ("#-0x1f", Immediate(-31), "#"),
    ("#1.5", FloatImmediate(1.5), "#fp"),
    ("#-0.125", FloatImmediate(-0.125), "#fp"),
    ("eq", Condition("eq"), "cond"),
    ("nv", Condition("nv"), "cond"),
    ("fpsr", Name("fpsr"), "fpsr"),
    ("ish", Name("ish"), "scope"),
    ("sy", Name("sy"), "scope"),
    ("nshld", Name("nshld"), "scope"),
    ("csync", Name("csync"), "csync"),
    ("pldl1keep", Name("pldl1keep"), "prfop"),
    ("pstl3strm", Name("pstl3strm"), "prfop"),
    ("[x1]", Address(X1), "[x]"),
    ("[sp]", Address(General(None, 64, "sp")), "[x]"),
    ("[x1, #-16]", Address(X1, Immediate(-16)), "[x,#]"),
    ("[x1, #16]!", Address(X1, Immediate(16), "pre"), "[x,#]!"),
    ("[x1], #16", Address(X1, Immediate(16), "post"), "[x],# post"),
    ("[x1], x2", Address(X1, X2, "post"), "[x],x post"),
    ("[x1, x2]", Address(X1, X2), "[x,x]"),
    ("[x1, x2, lsl #3]", Address(X1, Shifted(X2, "lsl", 3)), "[x,x lsl]"),
    ("[x1, w2, sxtw]", Address(X1, Extended(W2, "sxtw", 0)), "[x,w sxtw]"),
    ("[x1, w2, uxtw #2]", Address(X1, Extended(W2, "uxtw", 2)), "[x,w uxtw]"),
    ("[x1, x2, sxtx #1]", Address(X1, Extended(X2, "sxtx", 1)), "[x,x sxtx]"),
    ("x2, lsl #3", Shifted(X2, "lsl", 3), "x lsl"),
    ("x2, ror #0x3f", Shifted(X2, "ror", 63), "x ror"),
    ("w2, asr #31", Shifted(W2, "asr", 31), "w asr"),
    ("w2, sxtb #2", Extended(W2, "sxtb", 2), "w sxtb"),
    ("w2, uxth", Extended(W2, "uxth", 0), "w uxth"),
    ("x2, uxtx #4", Extended(X2, "uxtx", 4), "x uxtx"),
    ("#5, lsl #12", Immediate(5, "lsl", 12), "# lsl"),
    ("#0x7f, msl #16", Immediate(127, "msl", 16), "# msl"),
]
TEXTS = [text for text, _, _ in OPERANDS]


def parsed(text: str) -> tuple[Operand, ...]:
    return parse(*blank_registers(text))


@pytest.mark.parametrize(("text", "operand"), [row[:2] for row in OPERANDS], ids=TEXTS)
def test_text_becomes_its_operand(text: str, operand: Operand) -> None:
    assert parsed(text) == (operand,)


@pytest.mark.parametrize(("text", "shape"), [(text, shape) for text, _, shape in OPERANDS], ids=TEXTS)
def test_an_operand_names_its_shape(text: str, shape: str) -> None:
    assert [operand.shape for operand in parsed(text)] == [shape]


def test_operands_are_separated_by_commas_outside_of_brackets() -> None:
    shapes = [operand.shape for operand in parsed("{v0.4s, v1.4s}, [x1, #16]!")]
    assert shapes == ["{2}.4s", "[x,#]!"]


def test_a_modifier_belongs_to_the_operand_before_it() -> None:
    assert [operand.shape for operand in parsed("x0, x1, x2, lsl #3")] == ["x", "x", "x lsl"]


def test_a_post_index_register_belongs_to_the_address() -> None:
    assert [operand.shape for operand in parsed("{v0.8b}, [x1], x2")] == ["{1}.8b", "[x],x post"]


def test_no_text_has_no_operands() -> None:
    assert parsed("") == ()


def test_blanks_are_filled_with_open_slots() -> None:
    assert parse("v_.4s, x_", [Slot(0), Slot(1)]) == (Vector(Slot(0), 4, "s"), General(Slot(1), 64))


REFUSED = ["v0.4s.", "#", "#1.5.2", "p0/m", "x1!", "%", "{", "#0xg", "[]", "{}", "v0.s", "v0.s[z]", "v_.4s"]


@pytest.mark.parametrize("text", REFUSED)
def test_text_outside_of_the_grammar_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        parsed(text)


@pytest.mark.parametrize("text", ["{x0}", "{v0.4s, x1}", "{v0.8b, v1.4s}", "{v0.s, v1.b}[1]", "{v0.s}[z]"])
def test_a_list_of_other_things_than_alike_vectors_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        parsed(text)


@pytest.mark.parametrize("text", ["v0.4s, lsl #3", "[x1], lsl #3", "eq, sxtw"])
def test_a_modifier_after_an_operand_that_cannot_have_one_is_refused(text: str) -> None:
    with pytest.raises(ParseError, match="cannot follow"):
        parsed(text)


def test_an_address_without_a_general_register_is_refused() -> None:
    with pytest.raises(ParseError, match="no general register as its base"):
        parsed("[v0.4s, #1]")


@pytest.mark.parametrize("offset", ["v1.4s", "#8, x9", "#8, lsl #3", "x2, lsl #3, lsl #3", "x2, nothing"])
def test_an_address_offset_that_is_none_is_refused(offset: str) -> None:
    with pytest.raises(ParseError, match="offset cannot be"):
        parsed(f"[x0, {offset}]")


def test_an_address_that_is_moved_twice_is_refused() -> None:
    with pytest.raises(ParseError):
        parsed("[x0, #8]!!")


def test_the_refusal_names_the_operand() -> None:
    with pytest.raises(ParseError, match=r"operand '#1\.5\.2' is not understood"):
        parsed("x1, #1.5.2")


@pytest.mark.parametrize("letter", "vqdshbxw")
def test_a_register_without_its_number_is_no_name(letter: str) -> None:
    with pytest.raises(ParseError, match=f"operand '{letter}' is a register without its number"):
        parsed(f"x1, {letter}")


REGISTERS = st.sampled_from("vqdshbxw").flatmap(
    lambda letter: st.integers(0, 31).map(lambda number: f"{letter}{number}{'.4s' if letter == 'v' else ''}")
)
WORDS = st.one_of(REGISTERS, st.sampled_from(["xzr", "sp", "#0x10", "#3", "lsl #2", "eq", "[x1]", "sxtw", "prfm"]))
REGISTER_TEXTS = st.lists(WORDS, max_size=8).map(", ".join)


@given(text=REGISTER_TEXTS)
def test_blanked_registers_are_filled_in_again(text: str) -> None:
    assert fill_registers(*blank_registers(text)) == text


@given(text=REGISTER_TEXTS)
def test_a_blanked_text_has_no_register_number(text: str) -> None:
    assert blank_registers(blank_registers(text)[0])[1] == ()


@given(numbers=st.lists(st.integers(0, 31), max_size=8))
def test_register_numbers_are_given_in_order(numbers: list[int]) -> None:
    assert blank_registers(", ".join(f"x{number}" for number in numbers))[1] == tuple(numbers)


def test_the_digits_of_a_hexadecimal_immediate_are_no_register() -> None:
    assert blank_registers("w1, #0xb1") == ("w_, #0xb1", (1,))
