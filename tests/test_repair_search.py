"""Which repair is found first: by the size of the change, and how near it is; on code that is run on numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

import pytest

from isa.instruction import Instruction
from sim.check.repair.alternative import NEAR, STEP, Alternative
from sim.check.repair.code import ExecutedCode
from sim.check.repair.search import ALL_WORK, WORK, _by_size, _in_turn, _matters, find_repairs
from support.code_of_lines import START, Lines, Symbol, code_of
from support.one_instruction import State, named

A_TRY = WORK // 500
"""So that five hundred changes of one size are tried."""
FRAME, SLOT = 0x8000, 8
NUMBERS = [(a, b) for a, b in product((-9, -4, -1, 0, 2, 5, 7, 64), (-13, -6, 0, 3, 8, 21))]


class OnNumbers:
    """Trials of code whose result is w8, of two numbers: in x0 and x1, the second one also in a slot of the stack."""

    data_reads = (frozenset[tuple[int, int, int]](),)

    def __init__(self, code: ExecutedCode, golden: Callable[[int, int], int]) -> None:
        self.spent, self.reached = 0, code.instructions.keys()
        self.mattered: list[Mapping[int, Instruction]] = []
        self._code, self._golden = code, golden

    def are_right_with(self, replaced: Mapping[int, Instruction]) -> bool:
        self.spent += A_TRY
        return all(self._made(replaced, a, b) == self._golden(a, b) % 2**32 for a, b in NUMBERS)

    def matters(self, replaced: Mapping[int, Instruction]) -> bool:
        self.mattered.append(replaced)
        return any(self._made(replaced, a, b) != self._made({}, a, b) for a, b in NUMBERS[::5])

    def _made(self, replaced: Mapping[int, Instruction], a: int, b: int) -> int | None:
        slot = {FRAME + SLOT: (b % 2**32).to_bytes(4, "little")}
        state = State({"sp": FRAME, "x0": a % 2**32, "x1": b % 2**32}, slot)
        try:
            state.run(*(replaced.get(pc, one) for pc, one in self._code.instructions.items()))
        except (AssertionError, ValueError):  # where an address or a number is none
            return None
        return state.registers.get("x8")


def repaired(lines: Lines, golden: Callable[[int, int], int], one_computes: bool = False) -> list[list[str]]:
    code = code_of(lines)
    trials: Any = OnNumbers(code, golden)
    return [[*map(str, repair.changes)] for repair in find_repairs(code, trials, one_computes)]


def test_what_is_easily_mixed_up_comes_before_all_else() -> None:
    assert repaired([("add w8, w0, w1", 1)], lambda a, b: a - b) == [["add w8, w0, w1 as sub w8, w0, w1"]]


def test_a_step_comes_before_two_changes_and_before_a_result_that_is_one_off() -> None:
    lines = [("add w8, w0, w1", 1), ("asr w8, w8, #2", 2)]
    says = "after half of the last place is added (rounded)"
    assert repaired(lines, lambda a, b: a + b + 2 >> 2) == [[f"asr w8, w8, #2 {says}"]]
    assert repaired([("eor w8, w0, w1", 1)], lambda a, b: (a ^ b) + 1) == [["eor w8, w0, w1 and 1 added"]]


def test_of_each_line_one_repair_is_told() -> None:
    found = repaired([("add w8, w0, #5", 1), ("add w8, w8, #7", 2)], lambda a, b: a + 13)
    assert found == [["add w8, w0, #5 as add w8, w0, #6"], ["add w8, w8, #7 as add w8, w8, #8"]]


def test_the_same_slip_of_one_line_comes_before_others_of_two() -> None:
    lines = [("lsr w2, w0, #1", 1), ("lsr w3, w1, #1", 1), ("eor w8, w2, w3", 1)]
    (found,) = repaired(lines, lambda a, b: (a >> 1) ^ (b >> 1))
    assert found == ["lsr w2, w0, #1 as asr w2, w0, #1", "lsr w3, w1, #1 as asr w3, w1, #1"]


def test_a_step_that_is_missing_of_every_instruction_of_a_line_is_one_slip_whatever_stands_there() -> None:
    """Three changes: no pair of them would do."""
    lines = [("asr w2, w0, #2", 1), ("asr w3, w1, #2", 1), ("asr w4, w1, #3", 1), ("eor w8, w2, w3", 1)]
    (found,) = repaired([*lines, ("eor w8, w8, w4", 1)], lambda a, b: (a + 2 >> 2) ^ (b + 2 >> 2) ^ (b + 4 >> 3))
    says = "after half of the last place is added (rounded)"
    assert found == [f"asr w2, w0, #2 {says}", f"asr w3, w1, #2 {says}", f"asr w4, w1, #3 {says}"]


def test_of_each_instruction_the_first_step_is_tried_before_any_second() -> None:
    """So that where the work ends early, it was on the likeliest of all."""
    code = code_of([("asr w8, w0, #2", 1), ("asr w8, w8, #2", 2)])
    trials: Any = OnNumbers(code, lambda a, b: 12345 * b)
    tried = list[Mapping[int, Instruction]]()

    def noted(replaced: Mapping[int, Instruction]) -> bool:
        tried.append(replaced)
        return OnNumbers.are_right_with(trials, replaced)

    trials.are_right_with = noted
    assert find_repairs(code, trials) == []
    alone = [change for replaced in tried if len(replaced) == 1 for change in replaced.items()]
    steps = [pc for pc, instead in alone if instead.text == code.instructions[pc].text]
    assert steps[:8] == [START, START + 4] * 4


def test_two_that_are_easily_mixed_up_are_the_first_of_two() -> None:
    lines = [("add w8, w0, w1", 1), ("asr w8, w8, #2", 1)]
    (found,) = repaired(lines, lambda a, b: a - b >> 3)
    assert found == ["add w8, w0, w1 as sub w8, w0, w1", "asr w8, w8, #2 as asr w8, w8, #3"]


def test_one_that_is_mixed_up_and_one_that_is_left_out_are_tried_together() -> None:
    lines = [("add w8, w0, w1", 1), ("eor w8, w8, w0", 1), ("asr w8, w8, #2", 1)]
    (found,) = repaired(lines, lambda a, b: a - b >> 2)
    assert found == ["add w8, w0, w1 as sub w8, w0, w1", "eor w8, w8, w0 left out, only w8 kept"]


def test_two_changes_of_two_lines_are_none() -> None:
    assert repaired([("add w8, w0, w1", 1), ("asr w8, w8, #2", 2)], lambda a, b: a - b >> 3) == []


TAKEN = [("str w1, [sp, #8]", 1), ("ldr w9, [sp, #8]", 2), ("add w8, w0, w9", 2), ("asr w8, w8, #2", 2)]


@pytest.mark.parametrize(("says", "sign"), [("plus", 1), ("minus", -1)])
def test_a_variable_may_belong_behind_a_shift_and_not_before(says: str, sign: int) -> None:
    (found,) = repaired(TAKEN, lambda a, b: (a >> 2) + sign * b)
    assert found == ["add w8, w0, w9 left out, only w0 kept", f"asr w8, w8, #2 {says} what f.c:1 keeps"]


def test_a_variable_that_was_left_out_is_found() -> None:
    lines = [("str w1, [sp, #8]", 1), ("asr w8, w0, #2", 2)]
    assert ["asr w8, w0, #2 plus what f.c:1 keeps"] in repaired(lines, lambda a, b: (a >> 2) + b)


def test_where_one_instruction_is_asked_for_it_reads_something_and_is_near() -> None:
    made = [("mov w9, #7", 1), ("add w8, w0, w9", 2)]
    assert repaired(made, lambda a, b: a + 8) == [["mov w9, #7 as mov w9, #8"]]
    assert repaired(made, lambda a, b: a + 8, one_computes=True) == []
    assert repaired(made, lambda a, b: a - 7, one_computes=True) == [["add w8, w0, w9 as sub w8, w0, w9"]]
    assert repaired(TAKEN[2:], lambda a, b: a + b + 2 >> 2, one_computes=True) == []


def test_another_instruction_with_the_same_operands_comes_behind_a_step() -> None:
    assert repaired([("add w8, w0, w1", 1)], lambda a, b: a * b) == [["add w8, w0, w1 as mul w8, w0, w1"]]


def test_steps_come_before_other_instructions_and_of_each_address_the_first_before_any_second() -> None:
    one, other = named("add w8, w0, w1"), named("sub w8, w0, w1")

    def change(pc: int, says: str) -> Alternative:
        return Alternative(pc, STEP, one, one if says.islower() else other, says)

    kinds = [change(4, "A"), change(4, "b"), change(4, "c"), change(8, "d")], [change(4, "e"), change(8, "F")]
    assert [each.says for each in _in_turn(*kinds)] == ["b", "d", "e", "c", "A", "F"]


@pytest.mark.parametrize("steps", [3, 4, 5])
def test_up_to_four_steps_of_one_line_may_have_to_be_left_out(steps: int) -> None:
    texts = ["eor w8, w0, w1", "add w8, w8, w1", "eor w8, w8, #0xf0", "orr w8, w8, w1", "sub w8, w8, w1, lsl #1"]
    found = repaired([(text, 1) for text in texts[:steps]], lambda a, b: a)
    assert [[change.partition(" left out")[0] for change in some] for some in found] == [texts[:steps]] * (steps < 5)


def test_two_steps_left_out_come_before_a_variable_that_was_left_out() -> None:
    lines = [("str w1, [sp, #8]", 1), ("mov w8, #77", 1), ("sub w8, w1, w0", 2), ("neg w8, w8", 2)]
    (found,) = repaired(lines, lambda a, b: a)
    assert found == ["sub w8, w1, w0 left out, only w0 kept", "neg w8, w8 left out, only w8 kept"]


def test_a_variable_belongs_behind_a_sum_that_is_left_out_and_not_in_its_place() -> None:
    found = repaired([("str w1, [sp, #8]", 1), ("add w8, w0, #5", 2)], lambda a, b: a + 5 + b)
    assert found == [["add w8, w0, #5 plus what f.c:1 keeps"]]
    lines = [*TAKEN[:2], ("eor w8, w0, w9", 2), TAKEN[3]]
    assert repaired(lines, lambda a, b: (a >> 2) + b) == []


def test_what_only_some_calls_find_otherwise_is_easily_mixed_up_or_a_step() -> None:
    lines = [("bl #0x10c", 1), ("bl #0x10c", 2), ("ret", 2), ("asr w8, w0, #4", 3), ("ret", 3)]
    code = code_of(lines, [Symbol("f", START), Symbol("g", START + 12)])
    trials: Any = OnNumbers(code, lambda a, b: a)
    trials.matters = lambda replaced: True
    found = [change for size in _by_size(code, trials) for changes in size for change in changes]
    assert {change.rank for change in found if change.beside.calls} == {NEAR, STEP}
    assert {change.beside.calls for change in found} == {(), (START,), (START + 4,)}


class Costly(OnNumbers):
    """Trials of which each takes a tenth of the work for one size; the first is right, or none."""

    def __init__(self, code: ExecutedCode, is_right: bool) -> None:
        super().__init__(code, lambda a, b: a)
        self._is_right = is_right

    def are_right_with(self, replaced: Mapping[int, Instruction]) -> bool:
        is_first = not self.spent
        self.spent += WORK // 10
        return is_first and self._is_right


@pytest.mark.parametrize(
    ("one_computes", "is_right", "work"), [(True, False, WORK), (True, True, WORK * 3 // 2), (False, False, ALL_WORK)]
)
def test_work_ends_half_as_much_later_where_something_is_right(one_computes: bool, is_right: bool, work: int) -> None:
    code = code_of([("add w8, w8, w0", number // 2) for number in range(10)])
    trials: Any = Costly(code, is_right)
    assert len(find_repairs(code, trials, one_computes)) == is_right
    assert work <= trials.spent <= work + WORK // 10


@pytest.mark.parametrize(
    ("text", "always"),
    [("add w8, w0, w1", False), ("b.eq #0x100", True), ("str w1, [x0]", True), ("add w8, wsp, #4", True)],
)
def test_branches_stores_and_what_has_the_stack_pointer_may_always_matter(text: str, always: bool) -> None:
    code = code_of([(text, 1)])
    trials: Any = OnNumbers(code, lambda a, b: a)
    trials.matters = lambda replaced: False
    assert _matters(code, trials, START) == always


def test_what_does_not_matter_is_not_changed() -> None:
    """Nothing takes what the first one makes: it could as well be a sum."""
    lines = [("sub w8, w0, w1", 1), ("add w8, w0, w1", 2)]
    assert repaired(lines, lambda a, b: a - b) == [["add w8, w0, w1 as sub w8, w0, w1"]]


def test_of_a_register_that_is_loaded_each_element_is_spoilt_and_of_others_the_whole() -> None:
    for text, shapes in (
        ("ldr q8, [x2]", [(128, 1)] * 4 + [(8, 16)] * 4),
        ("ldr x8, [x2]", [(64, 1)] * 4),
        ("add v8.4s, v1.4s, v2.4s", [(32, 4)] * 4),
    ):
        code = code_of([(text, 1)])
        trials: Any = OnNumbers(code, lambda a, b: a)
        trials.matters = lambda replaced, trials=trials: trials.mattered.append(replaced)
        assert find_repairs(code, trials) == []
        spoilt = [[(write.bits, len(write.lanes)) for write in one[START].writes] for one in trials.mattered]
        assert spoilt == [[shape] for shape in shapes]
