"""What trials of replaced instructions tell of a build: which calls fail, what they execute, what makes them right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from isa.lane import Place
from sim.call.prepared import PER_CALL
from sim.check.repair.trials import ALL_REACH, CUT, FAILING, OBSERVED, PER_CHANGE, SAMPLES, SHORT, TRIED, RepairTrials
from sim.check.vectors import Vectors
from sim.kernels import Domain, Kernel, parse_prototype
from sim.kernels.kernel import Inputs
from sim.toolchain.compilers import build_text
from sim.toolchain.image import Image
from support.one_instruction import named

CODE = """
        sub     sp, sp, #16
        str     w2, [sp, #8]
        adr     x5, table
        cbz     w2, 2f
1:      ldr     w4, [x0], #4
        ldr     w6, [x5, #4]
        add     w4, w4, w6
        str     w4, [x1], #4
        subs    w2, w2, #1
        b.ne    1b
2:      add     sp, sp, #16
        ret
"""
"""out[i] = x[i] + 6, where 7 is wanted: in so many instructions before and behind the loop, and for each element."""
AROUND, EACH = 6, 6
KEEPS, LOADS, TAKES, ADDS, STORES, REPEATS = 1, 4, 5, 6, 7, 9


@pytest.fixture(scope="module")
def image() -> Image:
    return build_text(
        f".globl f\n.type f, %function\nf:\n{CODE}\n.size f, . - f\n.type table, %object\ntable: .word 5, 6, 7\n"
        ".size table, . - table\n",
        ".s",
    )


def seven_more(inputs: Inputs) -> dict[str, Any]:
    return {"out": inputs["x"] + np.int32(7)}


def kernel(golden: Any = seven_more, **given: Any) -> Kernel:
    name, signature = parse_prototype("void f(const int32_t x[n], int32_t out[n], int32_t n)")
    domain = {"x": Domain(-100, 100), "n": Domain(0, 1000)}
    return Kernel(name=name, symbol=name, sources=(), signature=signature, golden=golden, domain=domain, **given)


def trials_of(image: Image, sizes: Sequence[int], of: Kernel | None = None) -> RepairTrials:
    of = of or kernel()
    inputs = [{"x": np.arange(8, 8 + size, dtype=np.int32), "n": size} for size in sizes]
    return RepairTrials(image, of, Vectors(inputs, [of.expected(each) for each in inputs], 1))


def at(image: Image, number: int) -> int:
    return image.symbol("f").address + 4 * number


def took(size: int) -> int:
    return AROUND + EACH * size


def test_failing_calls_come_by_the_instructions_that_they_take(image: Image) -> None:
    trials = trials_of(image, [5, 0, 2, 9])
    assert trials.failing == [2, 0, 3]
    assert trials.spent == sum(took(size) + PER_CALL for size in (0, 2, 5, 9))
    assert trials.instructions.keys() == {at(image, number) for number in range(12)}


def test_of_many_failing_calls_some_are_tried(image: Image) -> None:
    assert len(trials_of(image, [1] * FAILING).failing) == FAILING // 2
    assert len(trials_of(image, [1] * (FAILING - 1)).failing) == FAILING - 1


def test_the_shortest_of_long_failing_calls_are_cut(image: Image) -> None:
    long = SHORT // EACH + 1
    trials = trials_of(image, [long] * (CUT + 1))
    assert trials.failing[:CUT] == [*range(CUT + 1, 2 * CUT + 1)]
    assert trials.failing[CUT:] == [*range(CUT + 1)]
    before = trials.spent
    trials._matters(trials.failing[0], {})  # runs it twice: of 8 elements, for windows of 4 were too many
    assert trials.spent - before == 2 * (took(8) + PER_CALL)
    assert trials_of(image, [long - 3]).failing == [0]
    drawn_by_itself = kernel(sample=lambda rng: {"x": np.zeros(1, np.int32), "n": 1})
    assert trials_of(image, [long] * 2, drawn_by_itself).failing == [0, 1]


@pytest.mark.parametrize(
    ("text", "is_right"),
    [("add w4, w4, #7", True), ("add w4, w4, #8", False), ("sub w4, w4, w6", False), ("add w4, w4, w6", False)],
)
def test_lanes_are_right_with_the_instruction_that_is_wanted(
    image: Image, text: str, is_right: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sim.check.repair.trials.FRESH", 20_000)  # which is enough of further input sets
    trials = trials_of(image, [3, 0, 1])
    before = trials.spent
    assert trials.are_right_with({at(image, ADDS): named(text)}) == is_right
    assert trials.spent >= before + PER_CHANGE + took(1) + PER_CALL


def test_every_instruction_that_is_made_ready_counts(image: Image) -> None:
    trials, spent = trials_of(image, [3]), list[int]()
    wrong, same = {at(image, ADDS): named("add w4, w4, #8")}, {at(image, STORES): named("str w4, [x1], #4")}
    for replaced in (wrong, wrong | same):
        before = trials.spent
        assert not trials.are_right_with(replaced)
        spent.append(trials.spent - before)
    assert spent[1] - spent[0] == PER_CHANGE


def test_what_is_right_because_of_numbers_that_no_instruction_makes_is_not(image: Image) -> None:
    trials = trials_of(image, [3])
    negative = named("asr w4, w4, #-1")
    assert not trials.are_right_with({at(image, ADDS): negative})
    assert trials.matters({at(image, ADDS): negative})


def test_an_instruction_matters_where_a_wrong_lane_becomes_another_number(image: Image) -> None:
    trials = trials_of(image, [3])
    for number, text, matters in (
        (ADDS, "add w4, w4, #9", True),
        (ADDS, "add w4, w6, w4", False),
        (KEEPS, "str w2, [sp, #12]", False),
        (STORES, "str w4, [x1, #8]", True),
        (LOADS, "ldr w4, [x9], #4", True),  # which faults
        (REPEATS, "b.ne #0x10", True),  # which never ends
    ):
        assert trials.matters({at(image, number): named(text)}) == matters, text


@pytest.mark.parametrize(("right_from", "matters"), [(10, False), (99, True)])
def test_only_lanes_that_are_wrong_matter(image: Image, right_from: int, matters: bool) -> None:
    """Of 8 and 9 the sum with 6 is the same as the bits of both, of 10 and 11 it is another one."""

    def golden(inputs: Inputs) -> dict[str, Any]:
        return {"out": inputs["x"] + np.where(inputs["x"] < right_from, 7, 6).astype(np.int32)}

    trials = trials_of(image, [4], kernel(golden))
    assert trials.matters({at(image, ADDS): named("orr w4, w4, w6")}) == matters


@pytest.mark.parametrize(
    ("numbers", "matters"), [((8, 9), False), ((8, 10), True), ((8, 9, 10), True), ((8, 9, 8, 10), False)]
)
def test_it_is_enough_to_matter_in_one_of_three_failing_calls(
    numbers: Sequence[int], matters: bool, image: Image
) -> None:
    """Of 8 and 9 the sum with 6 is the same as the bits of both."""
    trials = of_numbers(image, *numbers)
    assert len(trials.failing) == len(numbers)
    assert trials.matters({at(image, ADDS): named("orr w4, w4, w6")}) == matters


def test_what_registers_hold_is_that_of_the_first_coming(image: Image) -> None:
    trials = trials_of(image, [3, 2])
    assert trials.held(at(image, ADDS), Place("x", 4)) == 8
    assert trials.held(at(image, TAKES), Place("x", 1)) == trials.held(at(image, STORES), Place("x", 1))
    assert trials.held(at(image, STORES), Place("x", 4)) == 8 + 6
    assert trials.held(at(image, 12), Place("x", 4)) is None
    assert of_numbers(image, 8, 20).held(at(image, STORES), Place("x", 4)) == 8 + 6


def test_what_failing_calls_reach_of_the_code_of_the_stack_and_of_data(image: Image) -> None:
    trials = trials_of(image, [3, 2])
    assert trials.slots() == {at(image, KEEPS): 8}
    assert not trials.matters({at(image, KEEPS): named("str w2, [sp, #12]")})
    assert trials.slots() == {at(image, KEEPS): 8}
    assert trials.reached == {at(image, number) for number in range(12)}
    assert trials.data_reads == [{(at(image, TAKES), image.symbol("table").address + 4, 4)}] * len(trials.failing)


@pytest.mark.parametrize(("took", "slots"), [(OBSERVED // 2, {8: 16}), (OBSERVED + 1, {4: 8})])
def test_slots_are_those_that_are_always_reached_in_calls_that_are_not_too_long(
    took: int, slots: dict[int, int]
) -> None:
    """The second call reaches another slot by one instruction, and one more."""
    of_call = {0: [(4, 8)], 1: [(4, 12), (8, 16)]}
    repeater = SimpleNamespace(patch=lambda replaced: None, slots=lambda call, most: of_call[call])
    trials: Any = SimpleNamespace(
        _repeater=repeater, _failing=[0], _right=[1], _calls={0: 0, 1: 1}, _took={0: took, 1: took}
    )
    assert RepairTrials.slots(trials) == slots


def test_what_only_some_failing_calls_reach_is_left_out(image: Image) -> None:
    """One that has nothing to do fails, too."""

    def golden(inputs: Inputs) -> dict[str, Any]:
        return {**seven_more(inputs), "empty": np.array([inputs["n"] == 0], np.int32)}

    name, signature = parse_prototype("void f(const int32_t x[n], int32_t out[n], int32_t n, int32_t empty[1])")
    of = Kernel(name=name, symbol=name, sources=(), signature=signature, golden=golden)
    trials = trials_of(image, [2, 0], of)
    assert trials.failing == [1, 0]
    assert trials.reached == {at(image, number) for number in (0, 1, 2, 3, 10, 11)}
    assert [len(reads) for reads in trials.data_reads] == [0, 1]


def test_a_replaced_instruction_may_make_a_call_twice_as_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the numbers are gone through, and all with the change: about 1,200 instructions instead of 600."""
    monkeypatch.setattr("sim.check.repair.trials.FRESH", 20_000)
    code = """
        lsr     w2, w2, #1
        cbz     w2, 2f
1:      ldr     w4, [x0], #4
        add     w4, w4, #7
        str     w4, [x1], #4
        nop
        subs    w2, w2, #1
        b.ne    1b
2:      ret
    """
    name, signature = parse_prototype("void f(const int32_t x[200], int32_t out[200], int32_t n)")
    of = Kernel(
        name=name, symbol=name, sources=(), signature=signature, golden=seven_more, domain={"n": Domain(200, 200)},
        sample=lambda rng: {"x": rng.integers(-9, 9, 200).astype(np.int32), "n": 200},
    )  # fmt: skip
    inputs = {"x": np.arange(200, dtype=np.int32), "n": 200}
    image = build_text(f".globl f\n.type f, %function\nf:\n{code}\n.size f, . - f\n", ".s")
    trials = RepairTrials(image, of, Vectors([inputs], [of.expected(inputs)], 1))
    assert trials.are_right_with({at(image, 0): named("mov w2, w2")})


def test_what_is_right_only_on_the_failing_calls_is_refuted_by_others_near_them(
    image: Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 8 the sum with 7 is the same as the bits of both; of most others not."""
    monkeypatch.setattr(RepairTrials, "_others", lambda self: ())
    assert not trials_of(image, [1]).are_right_with({at(image, ADDS): named("orr w4, w4, #7")})
    monkeypatch.setattr("sim.check.repair.trials.TRIED", 0)
    assert trials_of(image, [1]).are_right_with({at(image, ADDS): named("orr w4, w4, #7")})


def test_or_by_others_that_are_drawn(image: Image, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 8 the sum with 7 is the same as the bits of both, of 1 not."""
    monkeypatch.setattr("sim.check.repair.trials.TRIED", 0)
    for other, is_right in ((8, True), (1, False)):
        other_sets = [{"x": np.array([number], np.int32), "n": 1} for number in (8, 8, other)]
        monkeypatch.setattr(RepairTrials, "_others", lambda self, sets=other_sets: iter(sets))
        assert trials_of(image, [1]).are_right_with({at(image, ADDS): named("orr w4, w4, #7")}) is is_right


def test_neighbours_have_up_to_three_other_numbers(image: Image, monkeypatch: pytest.MonkeyPatch) -> None:
    trials, tried = trials_of(image, [6]), list[Inputs]()
    monkeypatch.setattr(trials, "_further", tried.append)
    assert trials._neighbours() == []
    assert len(tried) == TRIED
    assert {inputs["n"] for inputs in tried} == {6}
    assert max(int((inputs["x"] != np.arange(8, 14)).sum()) for inputs in tried) == 3


def test_others_are_drawn_and_as_many_have_only_the_first_few_of_their_elements(image: Image) -> None:
    others = trials_of(image, [1])._others()
    drawn = [*islice(others, 2 * SAMPLES)]
    assert next(others, None) is not None
    lengths = set()
    for whole, few in zip(drawn[::2], drawn[1::2], strict=True):
        assert few["x"].tolist() == whole["x"][: few["n"]].tolist()
        assert min(whole["n"], 1) <= few["n"] <= min(whole["n"], 4)
        if whole["n"] > 4:
            lengths.add(few["n"])
    assert lengths == {1, 2, 3, 4}
    by_itself = kernel(sample=lambda rng: {"x": np.zeros(1, np.int32), "n": 1})
    assert len([*trials_of(image, [1], by_itself)._others()]) == 2 * SAMPLES


def test_those_near_others_that_were_found_near_are_tried_too(image: Image, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has one number otherwise than the one that it is near."""
    monkeypatch.setattr("sim.check.repair.trials.CHANGED", 1)
    monkeypatch.setattr("sim.check.repair.trials.TRIED", 40)
    monkeypatch.setattr(RepairTrials, "_others", lambda self: ())
    met = []

    def golden(inputs: Inputs) -> dict[str, Any]:
        met.append(inputs["x"].tolist())
        return seven_more(inputs)

    trials = trials_of(image, [8], kernel(golden))
    assert trials.are_right_with({at(image, ADDS): named("add w4, w4, #7")})
    first, *near = met
    changed = {sum(one != other for one, other in zip(first, each, strict=True)) for each in near if len(each) == 8}
    assert {1, 2, 3} <= changed


@pytest.mark.parametrize("position", [0, 3, 7])
def test_what_fails_alone_is_cut_out(position: int, image: Image) -> None:
    def golden(inputs: Inputs) -> dict[str, Any]:
        return {"out": inputs["x"] + np.where(inputs["x"] == 100, 7, 6).astype(np.int32)}

    x = np.arange(8, dtype=np.int32)
    x[position] = 100
    inputs: Inputs = {"x": x, "n": 8}
    trials = RepairTrials(image, kernel(golden), Vectors([inputs], [golden(inputs)], 1))
    (alone,) = trials._cut(0)
    assert trials._inputs[alone]["x"].tolist() == [100]


def test_what_nothing_shorter_fails_of_is_not_cut(image: Image) -> None:
    def golden(inputs: Inputs) -> dict[str, Any]:
        return {"out": inputs["x"] + np.int32(7 if len(inputs["x"]) == 8 else 6)}

    inputs: Inputs = {"x": np.arange(8, dtype=np.int32), "n": 8}
    trials = RepairTrials(image, kernel(golden), Vectors([inputs], [golden(inputs)], 1))
    assert trials._cut(0) == []


def test_an_input_set_that_cannot_be_laid_out_is_none(image: Image, monkeypatch: pytest.MonkeyPatch) -> None:
    trials = trials_of(image, [1])

    def prepare(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(trials._repeater, "prepare", prepare)
    assert trials._further({"x": np.zeros(2, np.int32), "n": 2}) is None


def test_an_input_set_is_cut_into_no_more_windows_than_it_has_elements_for(image: Image) -> None:
    """Of 512 elements there are 64 windows of 8, and none of nothing behind them."""
    sizes = []

    def golden(inputs: Inputs) -> dict[str, Any]:
        """Only the very last number is wrong."""
        sizes.append(len(inputs["x"]))
        return {"out": inputs["x"] + np.where(inputs["x"] == 519, 7, 6).astype(np.int32)}

    trials_of(image, [512], kernel(golden))
    assert sizes == [512] + [8] * 64


def test_further_input_sets_are_not_drawn_by_the_seed_of_the_check(
    image: Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sim.check.repair.trials.FRESH", 20_000)
    drawn = []

    def sample(rng: np.random.Generator) -> Inputs:
        drawn.append(int(rng.integers(1 << 40)))
        return {"x": np.zeros(1, np.int32), "n": 1}

    of = kernel(sample=sample)
    inputs = {"x": np.arange(8, 9, dtype=np.int32), "n": 1}
    trials = RepairTrials(image, of, Vectors([inputs], [of.expected(inputs)], seed=5))
    assert trials.are_right_with({at(image, ADDS): named("add w4, w4, #7")})
    assert drawn[0] == int(np.random.default_rng(6).integers(1 << 40))
    assert int(np.random.default_rng(5).integers(1 << 40)) not in drawn


def of_numbers(image: Image, *numbers: int, of: Kernel | None = None) -> RepairTrials:
    """Trials on input sets of one number each."""
    of = of or kernel()
    inputs = [{"x": np.array([number], np.int32), "n": 1} for number in numbers]
    return RepairTrials(image, of, Vectors(inputs, [of.expected(each) for each in inputs], 1))


@pytest.mark.parametrize(
    ("text", "other", "goes_another_way"),
    [("add w4, w4, w6", 1, False), ("orr w4, w4, #7", 2, False), ("orr w4, w4, #7", 1, True)],
)
def test_one_condition_that_does_not_hold_is_enough(
    text: str, other: int, goes_another_way: bool, image: Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Failing calls stay wrong; one that was right becomes wrong; the way is another: without further input sets."""
    monkeypatch.setattr(RepairTrials, "_fresh", [])

    def golden(inputs: Inputs) -> dict[str, Any]:
        """Right for all numbers but 8."""
        return {"out": inputs["x"] + np.where(inputs["x"] == 8, 7, 6).astype(np.int32)}

    trials = of_numbers(image, 8, other, of=kernel(golden))
    monkeypatch.setattr(trials, "_goes_another_way_with", lambda replaced: goes_another_way)
    assert not trials.are_right_with({at(image, ADDS): named(text)})


@pytest.mark.parametrize("count", [1, 2, 3, 4, 6, 8])
def test_all_calls_that_were_right_stay_so(count: int, image: Image, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 8 the bits are as the sum, of 1 too; of 2 among many they are not, wherever it stands."""
    monkeypatch.setattr(RepairTrials, "_fresh", [])
    monkeypatch.setattr("sim.check.repair.trials.SOME", 3)

    def golden(inputs: Inputs) -> dict[str, Any]:
        return {"out": inputs["x"] + np.where(inputs["x"] == 8, 7, 6).astype(np.int32)}

    either = {at(image, ADDS): named("orr w4, w4, #7")}  # 15 of 8, which is wanted; 7 of 1, too; 7 of 2, and not 8
    for place in (0, count // 2, count - 1):
        others = [1] * count
        assert of_numbers(image, 8, *others, of=kernel(golden)).are_right_with(either)
        others[place] = 2
        assert not of_numbers(image, 8, *others, of=kernel(golden)).are_right_with(either)


def test_failing_calls_that_are_not_tried_at_first_are_tried_at_last(
    image: Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 8 the bits are as the sum with 7, of 9 they are not."""
    monkeypatch.setattr("sim.check.repair.trials.FAILING", 1)
    monkeypatch.setattr("sim.check.repair.trials.TRIED", 0)
    monkeypatch.setattr(RepairTrials, "_others", lambda self: ())
    change = {at(image, ADDS): named("orr w4, w4, #7")}
    found = {number: of_numbers(image, 8, number) for number in (8, 9)}
    assert [len(trials.failing) for trials in found.values()] == [1, 1]
    assert [trials.are_right_with(change) for trials in found.values()] == [True, False]


BEFORE = Counter(dict.fromkeys(range(16), 3))
"""How often sixteen instructions are executed."""


@pytest.mark.parametrize(
    ("left_out", "more", "less", "is_another_way"),
    [
        (0, 1, 0, False), (2, 1, 0, False), (3, 1, 0, True), (3, 0, 0, False), (3, 0, 1, False), (3, 1, 1, True),
        (16, 0, 0, False),
    ],
)  # fmt: skip
def test_a_way_is_another_one_that_leaves_out_more_than_an_eighth_and_goes_elsewhere_more_often(
    left_out: int, more: int, less: int, is_another_way: bool
) -> None:
    now = Counter({pc: count for pc, count in BEFORE.items() if pc >= left_out})
    now.update(dict.fromkeys(range(15, 15 - more, -1), 1))
    now.subtract(dict.fromkeys(range(14, 14 - less, -1), 1))
    asked = list[Any]()

    def executions(replaced: Any) -> Counter[int]:
        asked.append(replaced)
        return now if replaced else BEFORE

    trials: Any = SimpleNamespace(_way=None, _executions=executions)
    change = {4: named("nop ")}
    assert RepairTrials._goes_another_way_with(trials, change) == is_another_way
    assert RepairTrials._goes_another_way_with(trials, change) == is_another_way
    assert asked == [{}, change, change]  # how it was is found once


@pytest.mark.parametrize(("executed", "is_another_way"), [(15, True), (16, False), (17, False)])
def test_two_instructions_are_more_than_an_eighth_of_fifteen(executed: int, is_another_way: bool) -> None:
    now = Counter(dict.fromkeys(range(2, executed), 2))
    trials: Any = SimpleNamespace(_way=Counter(range(executed)), _executions=lambda replaced: now)
    assert RepairTrials._goes_another_way_with(trials, {4: named("nop ")}) == is_another_way


class Repeating:
    """What repeats calls, each with a path of its own; `patches` are those that it was given."""

    def __init__(self, paths: dict[int, list[int]]) -> None:
        self.paths, self.patches, self.limits = paths, list[Any](), list[tuple[int, int]]()

    def patch(self, replaced: Any) -> None:
        self.patches.append(replaced)

    def path(self, call: int, most: int) -> list[int]:
        self.limits.append((call, most))
        return self.paths[call]

    def loads_of_data(self, call: int, most: int) -> list[tuple[int, int, int]]:
        self.limits.append((call, most))
        return [(pc, 0x3000, 4) for pc in self.paths[call]]


def repeated(*paths: list[int]) -> Any:
    numbers = dict(enumerate(paths))
    return SimpleNamespace(
        _repeater=Repeating(numbers), failing=[*numbers], _calls={n: n for n in numbers},
        _took=dict.fromkeys(numbers, 50), _most=lambda number: 200,
    )  # fmt: skip


def reached(trials: Any) -> frozenset[int]:
    found: frozenset[int] = vars(RepairTrials)["reached"].func(trials)
    return found


def data_reads(trials: Any) -> list[frozenset[tuple[int, int, int]]]:
    found: list[frozenset[tuple[int, int, int]]] = vars(RepairTrials)["data_reads"].func(trials)
    return found


def test_executions_are_counted_of_the_first_failing_calls_with_the_change() -> None:
    trials = repeated([4, 8, 8], [4], [8], [12], [16])
    change = {4: named("nop ")}
    assert RepairTrials._executions(trials, change) == {4: 2, 8: 3, 12: 1}
    assert trials._repeater.patches == [change]
    assert trials._repeater.limits == [(0, 200), (1, 200), (2, 200), (3, 200)]


def test_what_is_reached_and_read_is_that_of_the_code_as_it_was_compiled() -> None:
    trials = repeated([4, 8, 12], [8, 12], [12, 8, 4])
    assert reached(trials) == {8, 12}
    paths = [{4, 8, 12}, {8, 12}, {12, 8, 4}]
    assert data_reads(trials) == [{(pc, 0x3000, 4) for pc in path} for path in paths]
    assert trials._repeater.patches == [{}, {}]
    assert trials._repeater.limits == [(n, 50) for n in (0, 1, 2)] * 2
    many = repeated(*[[4, 8]] * ALL_REACH, [4])
    assert reached(many) == {4, 8}
    assert [len(reads) for reads in data_reads(many)] == [2] * ALL_REACH
    fewer = repeated(*[[4, 8]] * (ALL_REACH - 1), [4])
    assert reached(fewer) == {4}
