"""Which lines a repair of some code says to be at fault: on code that is written down, with trials that are told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import pytest

import sim.check.repair.place as place
from isa.instruction import Instruction
from isa.lane import Place
from sim.call.guards.findings import IN_FRONT
from sim.check.check import Job
from sim.check.repair.alternative import FOLLOWS, MISSING, NEAR, NOTHING, ONE_OFF, STEP, Alternative, Beside
from sim.check.repair.code import ExecutedCode
from sim.check.repair.fault import FaultLines
from sim.check.repair.place import fault_of_build, find_fault, with_faults
from sim.check.repair.search import Repair
from sim.check.report import Mismatch, Outcome
from sim.toolchain.image import ImageError
from sim.toolchain.tools import ToolchainError
from support.code_of_lines import START, Lines, Symbol, code_of
from support.one_instruction import State, left_by, named

Right = Callable[[Mapping[int, Instruction]], bool]
NOTHING_TAKES = ("nop", 99)


def at(number: int) -> int:
    return START + 4 * number


def x(number: int) -> Place:
    return Place("x", number)


class Told:
    """Trials of which a test says what registers hold, by the number of an instruction, and what is right."""

    failing = (0,)

    def __init__(self, instructions: Mapping[int, Instruction], held: Mapping[int, int], right: Right) -> None:
        self.instructions, self._held, self._right = instructions, held, right

    def slots(self) -> dict[int, int]:
        return {}

    def held(self, pc: int, register: Place) -> int | None:
        return self._held.get((pc - START) // 4)

    def are_right_with(self, replaced: Mapping[int, Instruction]) -> bool:
        return self._right(replaced)


def fault(
    lines: Lines, repairs: Sequence[Sequence[Alternative]], symbols: Sequence[Symbol] = (),
    held: Mapping[int, int] | None = None, right: Right = lambda replaced: False, build: str = "-O0",
) -> FaultLines:  # fmt: skip
    """What is told of a build with this code of which these are the repairs."""
    code = code_of(lines, symbols)
    trials, image = Told(code.instructions, held or {}, right), SimpleNamespace(symbol=lambda name: Symbol(name, START))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(place, "RepairTrials", lambda *_: trials)
        patched.setattr(place, "ExecutedCode", lambda *_: code)
        patched.setattr(place, "find_repairs", lambda *_: [Repair(changes, set()) for changes in repairs])
        of_all: Any = SimpleNamespace(symbol="f")
        asked: Any = image
        found = fault_of_build(asked, of_all, of_all, build, one_computes=False)
    assert found is not None
    return found


def change(lines: Lines, number: int, rank: int = NEAR, beside: Beside = NOTHING) -> Alternative:
    """Another instruction in the place of that number."""
    return Alternative(at(number), rank, named(lines[number][0]), named("nop"), "otherwise", beside)


def told(lines: Lines, number: int, rank: int = NEAR, beside: Beside = NOTHING, **given: Any) -> list[int]:
    """The numbers of the lines that the repair of one instruction tells."""
    found = fault(lines, [[change(lines, number, rank, beside)]], **given)
    return [int(line.removeprefix("f.c:")) for line in found.lines]


def test_what_reads_something_is_at_fault_on_its_own_line() -> None:
    lines = (("nop", 1), ("add w8, w0, w1", 2), ("asr w8, w8, #2", 3))
    assert told(lines, 1) == [2]
    found = fault(lines, [[change(lines, 1)]])
    assert (found.instruction, found.repairs, found.build) == ("add w8, w0, w1", ("add w8, w0, w1 otherwise",), "-O0")
    assert (found.addresses, found.inlined) == ((), ("",))
    nothing = fault(lines, [])
    assert (nothing.lines, nothing.instruction, nothing.repairs, nothing.build) == ((), "", (), "")


@pytest.mark.parametrize(
    ("build", "before", "roles"), [("-O2", 1, (IN_FRONT, "")), ("-O2", 3, ()), ("-O0", 1, ()), ("-O2", 0, ())]
)
def test_of_optimised_code_it_is_told_where_what_is_changed_stands_in_front_of_a_loop(
    build: str, before: int, roles: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not where only what follows from the change does, on the same line."""
    lines = (("nop", 1), ("add w8, w0, w1", 2), ("asr w8, w8, #2", 3), ("eor w8, w8, w0", 2))
    monkeypatch.setattr(ExecutedCode, "is_before_loop", lambda self, pc: pc == at(before))
    repairs = [[change(lines, 1, STEP), change(lines, 3, FOLLOWS)], [change(lines, 2)]]
    found = fault(lines, repairs, build=build)
    assert (found.lines, found.roles) == (("f.c:2", "f.c:3"), roles)


def test_of_five_lines_none_is_told_and_of_five_repairs_three() -> None:
    lines = (("nop", 1), *(("add w8, w8, w1", 2 + number) for number in range(5)))
    changes = [[change(lines, 1 + number)] for number in range(5)]
    four = fault(lines, changes[:4])
    assert len(four.lines) == 4
    assert four.repairs == (*["add w8, w8, w1 otherwise"] * 3, "1 more")
    found = fault(lines, changes)
    assert found.lines == found.inlined == ()
    assert found.repairs == (*(f"add w8, w8, w1 otherwise at f.c:{line}" for line in (2, 3, 4)), "2 more")
    assert len(fault(lines, changes[:3]).repairs) == 3
    (both,) = fault(lines, [[change(lines, 1), change(lines, 2)]]).repairs
    assert both == "add w8, w8, w1 otherwise and add w8, w8, w1 otherwise"


def test_of_code_without_lines_the_addresses_are_told_of_the_first_changes() -> None:
    lines = (("nop", 0), *((f"add w8, w8, #{number}", 0) for number in range(1, 6)), ("add w8, w8, #9", 7))
    repairs = [[change(lines, number), change(lines, number + 1)] for number in range(1, 5)]
    found = fault(lines, repairs)
    assert (found.instruction, found.lines) == ("add w8, w8, #1", ("no source line",))
    assert found.addresses == tuple(f"f+{4 * number:#x} ({at(number):#x})" for number in range(1, 4))
    assert fault(lines, [*repairs, [change(lines, 6)]]).addresses == ()


CONSTANT = (("nop", 1), ("mov w9, #7", 2), ("add w8, w0, w9", 3), ("sub w8, w8, w9", 4), ("mul w9, w8, w8", 5),
            ("add w8, w9, w9", 6))  # fmt: skip
"""One that two lines take, until its register is another number."""


@pytest.mark.parametrize(("needed", "lines"), [((3, 4), [2]), ((3,), [2, 3]), ((4,), [2, 4]), ((), [2, 3, 4])])
def test_of_a_constant_the_line_is_told_besides_that_alone_needs_another_one(
    needed: Sequence[int], lines: list[int]
) -> None:
    """Or all that take it, where none needs it."""

    def right(replaced: Mapping[int, Instruction]) -> bool:
        assert replaced[at(1)].text == "nop"
        (changed,) = replaced.keys() - {at(1)}
        number = left_by(replaced[changed], State({"x0": 100, "x8": 100, "x9": 50}))["x8"]
        assert number == {at(2): 107, at(3): 93}[changed]  # as with the number that there was
        return CONSTANT[(changed - START) // 4][1] not in needed

    assert told(CONSTANT, 1, held={2: 7, 3: 7}, right=right) == lines


def test_a_constant_that_is_made_as_the_function_opens_is_told_by_those_who_take_it() -> None:
    lines = (("mov w9, #7", 1), ("mov w10, w9", 1), ("add w8, w0, w10", 3), ("add w8, w8, w9", 4))
    assert told(lines, 0, held={2: 7, 3: 7}) == [3, 4]
    assert told(lines, 0, held={2: 7, 3: 7}, right=lambda replaced: at(2) not in replaced) == [3]
    assert told((("mov w9, #7", 1), ("nop", 2)), 0) == [1]


KEPT = (("nop", 1), ("mov w9, #7", 2), ("str w9, [sp, #12]", 3), ("ldr w10, [sp, #12]", 4), ("add w8, w0, w10", 4),
        ("ldr w11, [sp, #12]", 5), ("add w8, w8, w11", 5))  # fmt: skip
"""A constant in a variable, which two lines load."""


@pytest.mark.parametrize(("needed", "lines"), [((4, 5), [2, 3]), ((4,), [2, 3, 4]), ((5,), [2, 3, 5])])
def test_of_a_constant_in_a_variable_too(needed: Sequence[int], lines: list[int]) -> None:
    """Its line is told in any case: the constant is kept there."""

    def right(replaced: Mapping[int, Instruction]) -> bool:
        (changed,) = replaced.keys() - {at(1)}
        (number,) = left_by(replaced[changed], State({"sp": 0x1000})).values()
        assert number == 7
        return KEPT[(changed - START) // 4][1] not in needed

    assert told(KEPT, 1, held={2: 7}, right=right) == lines


def test_of_a_variable_that_is_stored_again_no_number_is_known() -> None:
    lines = (*KEPT, ("str w8, [sp, #12]", 6))
    assert told(lines, 1, held={2: 7}, right=lambda replaced: False) == [2, 3, 4, 5]


def test_a_constant_in_several_places_is_told_where_it_is_made_or_where_it_is_used_if_that_is_the_opening() -> None:
    several = Beside(is_repeated=True)
    assert told(CONSTANT, 1, beside=several, held={2: 7, 3: 7}) == [2]
    opening = (("mov w9, #7", 1), ("str w9, [sp, #12]", 1), ("ldr w10, [sp, #12]", 3), ("add w8, w0, w10", 3))
    assert told(opening, 0, beside=several, held={1: 7}) == [3]


@pytest.mark.parametrize(
    ("store", "held", "is_told"),
    [
        ("str w5, [sp, #16]", 7, True),
        ("str w5, [sp, #16]", 2**32 - 7, True),
        ("str w5, [sp, #16]", 2**32 + 7, True),
        ("str w5, [sp, #16]", 8, False),
        ("str w5, [sp, #20]", 7, False),  # which is loaded
        ("ldr w5, [sp, #16]", 7, False),
        ("str wzr, [sp, #16]", 7, False),
        ("str w5, [x1]", 7, False),
    ],
)
def test_a_variable_that_nothing_loads_may_be_where_a_number_of_an_instruction_comes_from(
    store: str, held: int, is_told: bool
) -> None:
    lines = (("nop", 1), ("add w8, w0, #7", 2), (store, 3), ("ldr w6, [sp, #20]", 4), ("nop", 9), (store, 5))
    symbols = [Symbol("f", START), Symbol("g", at(4))]  # the last one is of another function
    assert told(lines, 1, held={2: held, 5: held}, symbols=symbols) == ([2, 3] if is_told else [2])
    same = (("nop", 1), ("add w8, w0, #7", 2), ("str w5, [sp, #16]", 2))
    assert told(same, 1, held={2: 7}) == [2]
    assert told(lines, 1, symbols=symbols) == [2]  # where it is not known what is stored


@pytest.mark.parametrize("changed", [1, 2])
def test_so_may_a_number_that_is_made_in_parts(changed: int) -> None:
    lines = (("nop", 1), ("mov w9, #0x86a7", 2), ("movk w9, #1, lsl #16", 2), ("str w5, [sp, #16]", 3),
             ("str w5, [sp, #20]", 4), ("add w8, w0, w9", 2))  # fmt: skip
    assert told(lines, changed, held={3: 100_007, 4: 100_008, 5: 100_007}) == [2, 3]
    in_one = (*lines[:2], ("nop", 2), *lines[3:])
    assert told(in_one, 1, held={2: 0x86A7, 3: 0x86A7, 4: 100_007}) == [2, 3]
    assert told(in_one, 1, held={3: 0, 4: 1}) == [2]  # where it is not known what is made


SUMS = (
    ("nop", 1), ("str wzr, [sp, #12]", 2), ("ldr w8, [sp, #12]", 3), ("add w8, w8, w0", 4), ("str w8, [sp, #16]", 5),
    ("ldr w10, [sp, #16]", 6), ("mul w11, w10, w1", 7), ("add w12, w11, w2", 8), ("madd w13, w1, w2, w10", 9),
    ("madd w14, w10, w2, w1", 10), ("mov w15, w13", 11), ("sub w16, w15, w3", 12), ("mov w8, #3", 13),
    ("add w17, w8, w1", 14), ("madd w1, w8, w2, wzr", 15),
)  # fmt: skip
"""A variable that begins with 0, and what is computed with it."""


def test_what_is_a_constant_more_in_a_variable_may_be_left_out_of_any_sum_behind() -> None:
    """Of what loads it and passes it on; not of a product, nor of what its register holds later."""
    found = fault(SUMS, [[change(SUMS, 1, STEP, Beside(is_more=True))]])
    assert found.lines == ()  # of so many none is told
    assert told(SUMS[:5], 1, STEP, Beside(is_more=True)) == [2, 3, 4, 5]
    assert told((*SUMS[:3], *SUMS[6:8]), 1, STEP, Beside(is_more=True)) == [2, 3]
    assert told((*SUMS[:3], SUMS[4], *SUMS[5:8]), 1, STEP, Beside(is_more=True)) == [2, 3, 5, 6]
    before = (("ldr w10, [sp, #12]", 3),)
    assert told((*SUMS[:2], *before, SUMS[8]), 1, STEP, Beside(is_more=True)) == [2, 3, 9]
    assert told((*SUMS[:2], *before, SUMS[9]), 1, STEP, Beside(is_more=True)) == [2, 3]
    assert told((*SUMS[:3], *SUMS[12:14]), 1, STEP, Beside(is_more=True)) == [2, 3]
    assert told((*SUMS[:3], SUMS[14]), 1, STEP, Beside(is_more=True)) == [2, 3]
    moved = (*SUMS[:2], *before, SUMS[8], *SUMS[10:12])
    assert fault(moved, [[change(moved, 1, STEP, Beside(is_more=True))]]).lines == ()
    assert told((*moved[:3], ("mov w13, w10", 11), SUMS[11]), 1, STEP, Beside(is_more=True)) == [2, 3, 11]


@pytest.mark.parametrize(("rank", "lines"), [(MISSING, [2, 4]), (ONE_OFF, [2, 4]), (STEP, [2])])
def test_a_step_that_was_left_out_may_have_to_be_on_the_next_line_that_takes_the_number(
    rank: int, lines: list[int]
) -> None:
    code = (("nop", 1), ("add w8, w0, w1", 2), ("add w9, w0, w1", 3), ("asr w7, w8, #2", 4), ("eor w8, w8, w9", 5))
    assert told(code, 1, rank) == lines
    both = [[change(code, 1, rank)], [change(code, 4, rank)]]
    taken_by_both = (*code[:3], ("eor w7, w8, w9", 4), ("eor w8, w8, w9", 5))
    assert fault(taken_by_both, both).lines == ("f.c:2", "f.c:5")  # where that line can be repaired so too
    assert told(code, 1, STEP, Beside(is_bounded=True)) == [2, 4]
    named_so = replace(change(code, 1, STEP), says="with what bounded.c:9 keeps")
    assert fault(code, [[named_so]]).lines == ("f.c:2",)


def test_a_variable_that_was_left_out_of_a_sum_may_be_missing_in_any_addend() -> None:
    code = (("nop", 1), ("mul w9, w0, w1", 2), ("add w8, w9, w2", 3), ("asr w7, w8, #2", 4))
    assert told(code, 2, MISSING, Beside(before=x(8), is_more=True)) == [3, 4, 2]
    assert told(code, 2, MISSING) == [3, 4]


def test_what_a_wider_sum_adds_up_may_lack_it_but_not_what_it_widens() -> None:
    code = (("nop", 1), ("mul v1.4s, v0.4s, v0.4s", 2), ("xtn v2.4h, v0.4s", 3), ("saddw v1.4s, v1.4s, v2.4h", 4))
    assert told(code, 3, MISSING, Beside(before=Place("v", 1), is_more=True)) == [4, 2]


MADE = (("nop", 1), ("mul w8, w0, w1", 2), ("mul w9, w1, w1", 3), ("add w8, w8, w9", 4), ("asr w8, w8, #2", 5),
        ("sub w7, w9, w8", 6), ("neg w7, w7", 6), ("asr w6, w7, #1", 6))  # fmt: skip


def test_where_a_number_is_changed_before_an_instruction_the_line_that_made_it_is_told() -> None:
    assert told(MADE, 4, STEP, Beside(before=x(8))) == [5, 4]
    assert told(MADE, 4, STEP) == [5]
    opening = (("mul w8, w0, w1", 1), ("asr w8, w8, #2", 2))
    assert told(opening, 1, STEP, Beside(before=x(8))) == [2]


def test_of_a_sum_on_the_same_line_both_lines_are_told_that_made_its_addends() -> None:
    sum_beside = (*MADE[:3], ("add w8, w8, w9", 5), MADE[4])
    assert told(sum_beside, 4, STEP, Beside(before=x(8))) == [5, 2, 3]
    moved = (*MADE[:3], ("add w10, w8, w9", 5), ("mov w8, w10", 5), MADE[4])
    assert told(moved, 5, STEP, Beside(before=x(8))) == [5, 2, 3]
    argument = (("nop", 1), ("mul w8, w0, w1", 2), ("add w8, w8, w2", 5), ("asr w8, w8, #2", 5))
    assert told(argument, 3, STEP, Beside(before=x(8))) == [5]  # of one of them no line made it
    product = (*MADE[:3], ("mul w8, w8, w9", 5), MADE[4])
    assert told(product, 4, STEP, Beside(before=x(8))) == [5]


def test_what_is_a_constant_more_before_an_instruction_may_be_more_in_any_addend() -> None:
    more = Beside(before=x(8), is_more=True)
    assert told(MADE, 4, STEP, more) == [5, 4, 2, 3]
    shifted = (*MADE[:3], ("eor w8, w8, w9", 4), MADE[4])
    assert told(shifted, 4, STEP, more) == [5, 4]
    opening = (("mul w8, w0, w1", 1), ("mul w9, w1, w1", 3), *MADE[3:5])
    assert told(opening, 3, STEP, more) == [5, 4, 3]


CALLING = (
    ("nop", 1), ("bl #0x118", 2), ("bl #0x118", 3), ("bl #0x120", 4), ("ret", 5), ("nop", 5),
    ("asr w0, w1, #4", 7), ("ret", 7),
    ("bl #0x118", 9), ("ret", 9),
)  # fmt: skip
"""A kernel, and two functions, of which one calls the other."""
FUNCTIONS = [Symbol("f", START), Symbol("g", at(6)), Symbol("h", at(8))]


def called_from(state: State) -> Right:
    """Right where the function is changed as a call finds it that returns there."""

    def right(replaced: Mapping[int, Instruction]) -> bool:
        return left_by(replaced[at(6)], state)["x0"] == 0x0800_0000

    return right


def shifted(beside: Beside = NOTHING) -> Alternative:
    return Alternative(at(6), NEAR, named(CALLING[6][0]), named("lsr w0, w1, #4"), "as lsr w0, w1, #4", beside)


@pytest.mark.parametrize(("call", "lines"), [(1, [7, 2]), (2, [7, 3])])
def test_of_the_lines_that_call_a_changed_function_one_is_told_for_which_it_is_enough(
    call: int, lines: list[int]
) -> None:
    state = State({"x1": 0x8000_0000, "x30": at(call) + 4})
    found = fault(CALLING, [[shifted()]], FUNCTIONS, right=called_from(state))
    assert found.lines == tuple(f"f.c:{line}" for line in lines)
    assert found.roles == ("in g", "calls g")


def test_all_calls_are_told_of_a_function_that_cannot_be_changed_for_some_of_them() -> None:
    """Where the other instruction writes elsewhere."""
    code = [*CALLING[:3], ("nop", 4), *CALLING[4:8], ("nop", 9), CALLING[9]]
    elsewhere = Alternative(at(6), NEAR, named(CALLING[6][0]), named("lsr w2, w1, #4"), "as lsr w2, w1, #4")
    assert fault(code, [[elsewhere]], FUNCTIONS).lines == ("f.c:7", "f.c:2", "f.c:3")


def test_a_function_that_is_called_by_another_is_told_with_the_calls_of_both() -> None:
    frame = {0x1008: (at(3) + 4).to_bytes(8, "little")}
    state = State({"x1": 0x8000_0000, "x30": at(8) + 4, "x29": 0x1000}, frame)
    found = fault(CALLING, [[shifted()]], FUNCTIONS, right=called_from(state))
    assert found.lines == ("f.c:7", "f.c:9", "f.c:4")
    assert found.roles == ("in g", "calls g", "calls h")
    of_table = fault(CALLING, [[shifted(Beside(table="f.c:30"))]], FUNCTIONS, right=called_from(state))
    assert dict(zip(of_table.lines, of_table.roles, strict=True)) == {
        "f.c:30": "", "f.c:7": "in g", "f.c:9": "calls g", "f.c:4": "calls h",
    }  # fmt: skip
    assert fault(CALLING, [[shifted()]], FUNCTIONS).lines == ("f.c:7",)
    once = [line if number in (0, 3) else ("nop", line[1]) for number, line in enumerate(CALLING[:6])]
    assert fault((*once, *CALLING[6:]), [[shifted()]], FUNCTIONS).lines == ("f.c:7", "f.c:9", "f.c:4")


def test_callers_are_told_of_three_functions_up() -> None:
    """Each function calls the next one: what is called last is changed."""
    lines = [(text, 2 + number) for number in range(4) for text in (f"bl #{at(2 * number + 2):#x}", "ret")]
    code = (*lines, ("asr w0, w1, #4", 6), ("ret", 6))
    symbols = [Symbol(name, at(2 * number)) for number, name in enumerate("fabcd")]
    assert told(code, 8, symbols=symbols) == [6, 5, 4, 3]
    above = (("bl #0x110", 2), ("ret", 2), ("bl #0x110", 3), ("ret", 3), ("bl #0x118", 4), ("ret", 4), *code[8:])
    found = fault(above, [[shifted()]], [Symbol(name, at(2 * number)) for number, name in enumerate("fabc")])
    assert found.lines == ("f.c:6", "f.c:4")  # and none of the two that call the one that calls it


def test_calls_that_alone_find_another_function_are_at_fault_in_its_place() -> None:
    alone = fault(CALLING, [[shifted(Beside(calls=(at(2),)))]], FUNCTIONS)
    assert (alone.lines, alone.roles) == (("f.c:3",), ("calls g",))
    frame = {0x1008: (at(3) + 4).to_bytes(8, "little")}
    state = State({"x1": 0x8000_0000, "x30": at(8) + 4, "x29": 0x1000}, frame)
    found = fault(CALLING, [[shifted(Beside(calls=(at(8),)))]], FUNCTIONS, right=called_from(state))
    assert (found.lines, found.roles) == (("f.c:9", "f.c:4"), ("calls g", "calls h"))


def test_a_table_is_told_and_the_line_that_takes_its_number_if_that_is_one() -> None:
    lines = (("nop", 1), ("ldr w8, [x1]", 2), ("ldr w9, [x1]", 3), ("ldr w10, [x1]", 3))
    table = Beside(table="f.c:9")
    assert told(lines, 1, STEP, table) == [9, 2]
    assert fault(lines, [[change(lines, 1, STEP, table), change(lines, 2, STEP, table)]]).lines == ("f.c:9",)
    assert fault(lines, [[change(lines, 2, STEP, table), change(lines, 3, STEP, table)]]).lines == ("f.c:9", "f.c:3")


class Looked(NamedTuple):
    """What is looked at: a source, its flags, the build that is told, and whether only one instruction is changed."""

    source: str
    flags: tuple[str, ...]
    build: str
    one_computes: bool


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[Looked]:
    """Builds are looked at in order; what is found of them is in `FOUND`, a build that is not there has no flag."""
    seen = list[Looked]()

    def open_kernel(kernel: Any, source: Path, *flags: str) -> tuple[Path, tuple[str, ...]]:
        if "-not-built" in flags and "-O0" in flags:
            raise ToolchainError("it cannot be compiled")
        if "-no-image" in flags and "-O0" in flags:
            raise ImageError("it cannot be read")
        return source, flags

    def fault_of_build(image: Any, kernel: Any, vectors: Any, build: str, one_computes: bool) -> FaultLines | None:
        source, flags = image
        seen.append(Looked(source.name, flags, build, one_computes))
        return FOUND[seen[-1].flags[0]]

    monkeypatch.setattr(place, "open_kernel", open_kernel)
    monkeypatch.setattr(place, "fault_of_build", fault_of_build)
    return seen


MENDED = FaultLines(lines=("k.c:2",), repairs=("add as sub",))
FOUND: dict[str, FaultLines | None] = {"-O0": None, "-O1": MENDED, "-mended": MENDED}
"""By the first flag of a build."""


def found_in(tmp_path: Path, name: str, *flags: str, text: str = "#define TWO 2\nint x = TWO;\n") -> FaultLines:
    (tmp_path / name).write_text(text)
    nothing: Any = None
    return find_fault(nothing, Job(tmp_path / name, flags), nothing)


def test_a_source_is_looked_at_without_optimisation_first_and_as_it_was_where_it_is_right_there(
    looked: list[Looked], tmp_path: Path
) -> None:
    assert found_in(tmp_path, "k.c", "-O1", "-DX").macros == ("TWO of k.c:1",)
    assert looked == [
        Looked("k.c", ("-O0", "-DX"), "-O0", False), Looked("k.c", ("-O1", "-DX"), "-O1", False),
    ]  # fmt: skip
    looked.clear()
    assert found_in(tmp_path, "k.c", "-O0").repairs == ()
    assert looked == [Looked("k.c", ("-O0",), "-O0", False)]


@pytest.mark.parametrize("why", ["-not-built", "-no-image"])
def test_what_cannot_be_built_without_optimisation_is_looked_at_as_it_was(
    why: str, looked: list[Looked], tmp_path: Path
) -> None:
    assert found_in(tmp_path, "k.c", "-O1", why).lines == ("k.c:2",)
    assert looked == [Looked("k.c", ("-O1", why), "-O1", False)]


def test_where_no_change_mends_a_build_one_instruction_of_the_other_is_changed(
    looked: list[Looked], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FOUND, "-O0", FaultLines())
    assert found_in(tmp_path, "k.c", "-O1").lines == ("k.c:2",)
    assert [one.one_computes for one in looked] == [False, True]


def test_what_is_compiled_already_is_looked_at_as_it_is_and_has_no_level_and_no_macros(
    looked: list[Looked], tmp_path: Path
) -> None:
    found = found_in(tmp_path, "k.o", "-mended")
    assert (found.lines, found.macros) == (("k.c:2",), ())
    assert looked == [Looked("k.o", ("-mended",), "", False)]


@pytest.mark.parametrize(
    ("name", "text", "build"),
    [("k.s", "__OPTIMIZE__", "-O1"), ("k.S", "#ifdef __OPTIMIZE__", "-O1"), ("k.S", "nop", ""), ("k.c", "", "-O1")],
)
def test_the_level_is_told_of_what_it_makes_another_program_of(
    name: str, text: str, build: str, looked: list[Looked], tmp_path: Path
) -> None:
    found_in(tmp_path, name, "-O1", text=text)
    assert looked[-1].build == build


def outcome(is_wrong: bool) -> Outcome:
    mismatch = Mismatch(
        engine="machine", output="out", lane=(0,), got=1, expected=2, inputs="", lanes_different=1, parted_at=None,
        golden_step=None, agreed=(), instruction="add", source="k.c:1", came_from=(), conventions=(), explanation=(),
    )  # fmt: skip
    return Outcome(
        implementation="k.c", flags="-O2", vectors=1, lanes_compared=1, instructions=1, forms=frozenset(), qc_events=0,
        code="", mismatch=mismatch if is_wrong else None,
    )  # fmt: skip


def test_the_fault_of_each_source_that_is_wrong_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = Path("one.c"), Path("other.c")
    jobs = [Job(one, ("-O0",)), Job(one, ("-O1",)), Job(one, ("-O2",)), Job(other, ("-O1",)), Job(None, ())]
    outcomes = [outcome(is_wrong) for is_wrong in (False, True, True, True, True)]
    asked, nothing = list[Job](), cast(Any, None)

    def find(kernel: Any, job: Job, vectors: Any) -> FaultLines:
        asked.append(job)
        return FaultLines(lines=(f"{job.name}:{len(asked)}", "and:9"))

    monkeypatch.setattr(place, "find_fault", find)
    told = with_faults(nothing, jobs, nothing, outcomes)
    assert asked == [jobs[1], jobs[3]]
    assert [one.mismatch.fault.lines if one.mismatch and one.mismatch.fault else () for one in told] == [
        (), ("one.c:1", "and:9"), ("one.c:1", "and:9"), ("other.c:2", "and:9"), (),
    ]  # fmt: skip
    assert not any(one.interrupted for one in told)


def test_an_interrupt_ends_the_search_and_is_told_where_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    def find(kernel: Any, job: Job, vectors: Any) -> FaultLines:
        if job.name == "other.c":
            raise KeyboardInterrupt
        return MENDED

    monkeypatch.setattr(place, "find_fault", find)
    jobs, nothing = [Job(Path(name), ()) for name in ("one.c", "other.c", "third.c")], cast(Any, None)
    told = with_faults(nothing, jobs, nothing, [outcome(True)] * 3)
    assert [one.interrupted for one in told] == [False, True, False]
    assert [one.mismatch is not None and one.mismatch.fault is not None for one in told] == [True, False, False]
