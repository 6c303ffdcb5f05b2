"""What executed code says of itself in words: variables by their names, calls that were put in place, addresses."""

from __future__ import annotations

from typing import Any

import pytest

import sim.check.repair.code
from sim.check.repair.code import ExecutedCode
from sim.toolchain.dwarf.stack_variables import StackVariable
from sim.toolchain.image import Image, ImageError
from support.code_of_lines import START, OfLines, Symbol, code_of

LINES = (
    ("sub sp, sp, #0x30", 1), ("stp x29, x30, [sp, #32]", 1), ("add x29, sp, #0x20", 1), ("str w0, [sp, #12]", 1),
    ("str w1, [sp, #8]", 2), ("str q2, [sp, #16]", 2),
    ("ldr w8, [sp, #12]", 3), ("ldr w9, [sp, #8]", 3), ("mul w8, w8, w9", 3), ("add w8, w8, w8", 3),
    ("str w8, [sp, #4]", 3),
    ("ldr q3, [sp, #16]", 4), ("add v4.4s, v3.4s, v3.4s", 4), ("mul w10, w8, w11", 4), ("str wzr, [sp, #4]", 4),
    ("ldr w12, [sp]", 5), ("add w13, w12, w0", 5), ("str w13, [sp, #28]", 5), ("ret", 5),
    ("mov x29, sp", 8), ("sub sp, sp, #1, lsl #12", 8), ("str w0, [sp, #12]", 8), ("ret", 8),
    ("mov x29, sp", 9), ("and sp, x9, #0xfffffffffffffff0", 9), ("str w0, [sp, #12]", 9), ("ret", 9),
)  # fmt: skip
SYMBOLS = (Symbol("f", START), Symbol("g", START + 4 * 19), Symbol("h", START + 4 * 23))


def at(number: int) -> int:
    return START + 4 * number


VARIABLES = [
    StackVariable(START, "value", 31, 12), StackVariable(START, "factor", 29, 8 - 32),
    StackVariable(START, "sum", 31, 4), StackVariable(START, "lanes", 29, 16 - 32),
    StackVariable(START, "one", 31, 28), StackVariable(START, "other", 31, 28), StackVariable(START, "lost", 20, 0),
    StackVariable(at(19), "far", 29, 12 - 4096), StackVariable(at(23), "no", 29, 12),
]  # fmt: skip
"""Two have one place; one is told by another register, and one is in a frame of which nobody says where it is."""


@pytest.fixture
def code(monkeypatch: pytest.MonkeyPatch) -> ExecutedCode:
    def variables(image: Image) -> list[StackVariable]:
        return VARIABLES

    monkeypatch.setattr(sim.check.repair.code, "stack_variables", variables)
    return code_of(LINES, SYMBOLS)


def test_a_variable_has_the_one_name_that_its_slot_has_in_its_function(code: ExecutedCode) -> None:
    names = {number: name for number in range(len(LINES)) if (name := code.variable(at(number)))}
    assert names == {
        3: "value", 4: "factor", 5: "lanes", 6: "value", 7: "factor", 10: "sum", 11: "lanes", 14: "sum", 21: "far"
    }  # fmt: skip
    assert [code.kept(at(number)) for number in (4, 17)] == ["factor (set at f.c:2)", "what f.c:5 keeps"]


def test_what_an_instruction_works_on_and_makes_is_told(code: ExecutedCode) -> None:
    told = {number: words for number in range(len(LINES)) if (words := code.told(at(number)))}
    assert told == {
        3: "[sp, #12] is value", 4: "[sp, #8] is factor", 5: "[sp, #16] is lanes", 6: "[sp, #12] is value",
        7: "[sp, #8] is factor", 8: "w8 is value, w9 is factor", 9: "it makes sum", 10: "[sp, #4] is sum",
        11: "[sp, #16] is lanes", 12: "v3 is lanes", 14: "[sp, #4] is sum", 21: "[sp, #12] is far",
    }  # fmt: skip


@pytest.mark.parametrize(("line", "words"), [(3, "w8 is value, it makes sum"), (4, "w8 is value")])
@pytest.mark.usefixtures("code")
def test_what_is_kept_on_another_line_is_not_told_as_made(line: int, words: str) -> None:
    lines = [*LINES[:9], ("str w8, [sp, #4]", line), *LINES[11:19]]
    assert code_of(lines, [Symbol("f", START)]).told(at(8)).replace(", w9 is factor", "") == words


def test_where_variables_cannot_be_told_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def malformed(image: Image) -> list[StackVariable]:
        raise ImageError("malformed")

    monkeypatch.setattr(sim.check.repair.code, "stack_variables", malformed)
    monkeypatch.setattr(sim.check.repair.code, "data_lines", malformed)
    code = code_of(LINES, [*SYMBOLS, Symbol("table", 0x3000, 4)])
    assert [code.variable(at(number)) for number in range(len(LINES))] == [""] * len(LINES)
    assert code.data_at(0x3001) == ("the data of table", 1)


def test_places_are_those_of_the_image(code: ExecutedCode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.check.repair.code.with_targets", lambda text, image: f"{text} of f")
    monkeypatch.setattr("sim.check.repair.code.is_before_loop", lambda pc, image: pc == at(3))
    assert (code.address(at(3)), code.with_targets("b")) == (f"f.c:1 ({at(3):#x})", "b of f")
    assert [code.is_before_loop(at(number)) for number in (2, 3)] == [False, True]
    monkeypatch.setattr(OfLines, "function_at", lambda self, pc: f"at {pc}")
    assert code.function(START) == f"at {START}"


def test_by_which_calls_a_line_came_is_told_of_its_changed_instructions_or_of_all(
    code: ExecutedCode, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: dict[int, str] = {at(6): "by a", at(7): "by b", at(8): "by a", at(11): "by c"}

    def inlined_at(self: OfLines, pc: int) -> str:
        return calls.get(pc, "")

    monkeypatch.setattr(OfLines, "inlined_at", inlined_at)
    changed: list[Any] = [at(7), at(11)]
    assert code.inlined("f.c:3", changed) == "by b"
    assert code.inlined("f.c:3", [at(11)]) == "by a and by b"
    assert (code.inlined("f.c:4", []), code.inlined("f.c:5", [])) == ("by c", "")
