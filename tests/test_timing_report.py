"""What a report says of a stream, and that its tables add up."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.timing.analysis.loop_report import LoopReport, uniform_loop
from sim.timing.analysis.report import CyclesReport, Other, compare
from sim.timing.analysis.reporting import report
from sim.timing.loops.found_loops import find_loops
from sim.timing.model.core import Validation
from sim.timing.model.pipeline import schedule
from sim.timing.model.stream import Executed
from support.random_schedules import Case, Order, cases
from support.sampled import shown_too_by
from support.small_cores import ACCUMULATE, ADD, LOAD, MULTIPLY, small_core, stream_of

CLASSES: dict[str, dict[str, object]] = {ACCUMULATE: {"latency": 5, "uses": "M"}, LOAD: {"uses": "L"}}


def loop_stream(iterations: int) -> list[Executed]:
    """A reduction of four elements an iteration: a load, a multiplication that waits for the one before, a branch."""
    texts = ("ldr q1, [x0]", "mla v2.4s, v1.4s, v3.4s", "cbnz x2, #0x1000")
    found: list[Executed] = []
    for number in range(iterations):
        again = number + 1 < iterations
        *straight, branch = stream_of(*texts, loads={0: 0x4000 + 16 * number})
        found += [*straight, branch._replace(taken=again, next_pc=0x1000 if again else 0x100C)]
    return found


def walk(*steps: tuple[int, str]) -> list[Executed]:
    """Instructions by their place from 0x1000 on; those that do not lead to the next place were branches taken."""
    places = [place for place, _ in steps]
    return [
        one._replace(pc=0x1000 + 4 * place, next_pc=0x1000 + 4 * after, taken=after != place + 1)
        for one, place, after in zip(stream_of(*(text for _, text in steps)), places, [*places[1:], 100], strict=True)
    ]


def only_loop(stream: list[Executed], order: Order = "in", **parameters: Any) -> LoopReport:
    core = small_core(order, 2, {**CLASSES, MULTIPLY: {"latency": 99}}, **parameters)
    (loop,) = report("x", schedule(stream, core)).loops
    return loop


def reduction(order: Order = "in", iterations: int = 20, **parameters: int) -> CyclesReport:
    core = small_core(order, 2, CLASSES, reorder_buffer=32, **parameters)
    lines = {0x1000: 7, 0x1004: 8, 0x1008: 6}
    return report("dot", schedule(loop_stream(iterations), core), lambda pc: ("src/dot.c", lines[pc]), 4 * iterations)


@pytest.mark.slow
@given(cases())
def test_stalls_and_instructions_add_up_to_the_cycles(case: Case) -> None:
    found = report("random", case.schedule)
    sums = sum(found.stalls.values()), sum(row.cycles for row in found.instructions)
    assert sums == (found.cycles, found.cycles)


@pytest.mark.slow
@given(cases())
def test_every_report_is_json(case: Case) -> None:
    found = report("random", case.schedule)
    assert json.loads(json.dumps(found.as_json()))["cycles"] == case.schedule.cycles


@pytest.mark.parametrize("order", ["in", "out"])
def test_the_loop_takes_its_recurrence_an_iteration(order: Order) -> None:
    found = reduction(order).hottest
    assert found is not None
    assert (found.head, found.iterations, found.cycles_per_iteration) == (0x1000, 20, Fraction(5))
    assert found.steady == "repeats itself every iteration"


def test_the_bound_of_the_loop_is_named_and_reached() -> None:
    found = reduction().hottest
    assert found is not None
    assert found.bounds is not None
    assert (found.bounds.binding.name, found.bounds.excess(5)) == ("latency", Fraction(0))


def test_cycles_per_element_divide_the_whole() -> None:
    found = reduction()
    assert found.cycles_per_element == Fraction(found.cycles, 80)


def test_without_elements_there_are_none_per_element() -> None:
    assert report("x", schedule(loop_stream(3), small_core())).as_json()["cycles_per_element"] is None


def test_the_listing_has_each_instruction_once_with_its_line() -> None:
    rows = [(row.text, row.place, row.executions) for row in reduction().instructions]
    assert rows == [
        ("ldr q1, [x0]", "dot.c:7", 20), ("mla v2.4s, v1.4s, v3.4s", "dot.c:8", 20),
        ("cbnz x2, #0x1000", "dot.c:6", 20),
    ]  # fmt: skip


def test_the_listing_says_when_each_issues_in_a_steady_iteration() -> None:
    core = small_core(width=1, classes={ADD: {"latency": 3}})
    body = stream_of("add v1.4s, v0.4s, v0.4s", "add v2.4s, v1.4s, v0.4s", "b #0x1000")
    again = [*body[:2], body[2]._replace(taken=True, next_pc=0x1000)]
    rows = report("x", schedule(again * 8, core)).instructions
    assert [row.issue for row in rows] == [0, 3, 4]


def test_the_main_reason_of_the_waiting_instruction_is_the_accumulator() -> None:
    reasons = {row.text.split()[0]: row.reason for row in reduction().instructions}
    assert reasons["mla"] == "waits for v2 from mla (line 8)"


def test_the_repeated_part_of_the_path_is_the_recurrence() -> None:
    found = reduction("out").repeated
    assert found is not None
    assert found.steps == ("5 cycles: mla v2.4s, v1.4s, v3.4s waits for v2 from mla (line 8)",)


def test_a_pipe_row_has_its_share_and_its_users() -> None:
    found = reduction()
    row = next(row for row in found.pipes if row.pipe == "M")
    assert (row.busy, row.share, row.users) == (20, Fraction(20, found.cycles), (("mla (line 8)", 20),))


def test_three_instructions_are_named_beside_a_pipe_those_that_hold_it_longest_first() -> None:
    texts = [f"add v{number}.4s, v0.4s, v0.4s" for number in range(1, 6)]
    stream = stream_of(*texts[:1], *texts[1:2] * 2, *texts[2:])
    pipes = report("x", schedule(stream, small_core(classes={ADD: {"uses": "M"}}))).pipes
    row = next(row for row in pipes if row.pipe == "M")
    assert (row.busy, len(row.users)) == (6, 3)


def test_assumed_figures_are_listed_with_their_count() -> None:
    core = small_core(classes={ADD: {"status": "unmodelled", "latency": 3, "source": "a guess", "uses": "A*2"}})
    (row,) = report("x", schedule(stream_of(*["add v1.4s, v0.4s, v0.4s"] * 4), core)).unmodelled
    assert row == (ADD, 4, "unmodelled", "latency 3, A*2 (assumed: a guess)")


def test_of_assumed_figures_those_come_first_that_are_needed_most() -> None:
    core = small_core(classes={name: {"status": "unmodelled"} for name in (ADD, MULTIPLY, ACCUMULATE)})
    texts = "mla v3.4s, v0.4s, v0.4s", "add v1.4s, v0.4s, v0.4s", *["mul v2.4s, v0.4s, v0.4s"] * 2
    rows = report("x", schedule(stream_of(*texts), core)).unmodelled
    assert [(row.timing_class, row.executed) for row in rows] == [(MULTIPLY, 2), (ADD, 1), (ACCUMULATE, 1)]


def test_mispredicted_branches_are_counted_by_branch() -> None:
    branch = stream_of("cbnz x2, #0x1000")[0]
    stream = [branch, branch._replace(taken=True), branch]
    found = report("x", schedule(stream, small_core(mispredict=4), warm=False))
    assert sum(found.mispredicted.values()) == len(schedule(stream, small_core(), warm=False).mispredicted) > 0


def test_the_error_of_the_core_is_said_with_what_it_was_seen_on() -> None:
    core = small_core()
    about = replace(core.about, validation=(Validation("8 kernels", "4 % mean", "a paper"),))
    found = report("x", schedule(loop_stream(2), replace(core, about=about)))
    assert found.core_error == "4 % mean on 8 kernels"


def test_a_core_that_was_never_compared_says_so() -> None:
    assert reduction().core_error == "small was not compared with measured kernels"


def test_the_twelve_steps_of_the_path_that_take_longest_are_told() -> None:
    chain = [f"mul v{number}.4s, v{number - 1}.4s, v0.4s" for number in range(1, 15)]
    core = small_core(classes={MULTIPLY: {"latency": 3, "uses": "M"}})
    path = report("x", schedule(stream_of(*chain), core)).critical_path
    assert (len(path), {row.cycles for row in path}) == (12, {3})


def test_an_empty_stream_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="kernel executed no instruction"):
        report("kernel", schedule([], small_core()))


def test_the_json_speaks_in_words() -> None:
    keys = {"cycles", "cycles_per_iteration", "cycles_per_element", "bounds", "binding_bound", "pipes", "stalls",
            "instructions", "unmodelled", "core", "core_error", "loops", "mispredicted", "critical_path"}  # fmt: skip
    assert keys <= reduction().as_json().keys()


def test_a_fraction_in_json_has_its_exact_text_beside_it() -> None:
    found = reduction().as_json()
    assert (found["cycles_per_iteration"], found["cycles_per_iteration_exact"]) == (5.0, "5")


def test_a_comparison_is_relative_to_its_first_line() -> None:
    slow, fast = reduction(), replace(reduction(), cycles=7)
    other = Other("llvm-mca", "small", cycles_per_iteration=Fraction(10))
    assert [row.relative for row in compare([slow, fast, other])] == [1, 1, 2]


def test_without_loops_whole_calls_are_compared() -> None:
    one = report("one", schedule(stream_of("mul v1.4s, v0.4s, v0.4s"), small_core(classes={MULTIPLY: {"latency": 3}})))
    two = report("two", schedule(stream_of("mul v1.4s, v0.4s, v0.4s"), small_core(classes={MULTIPLY: {"latency": 6}})))
    assert [row.relative for row in compare([one, two])] == [1, 2]


def test_iterations_that_alternate_are_found_to_repeat() -> None:
    core = small_core("in", 2, {ACCUMULATE: {"latency": "2.5", "uses": "M"}, LOAD: {"uses": "L"}})
    found = report("dot", schedule(loop_stream(40), core)).hottest
    assert found is not None
    assert (found.cycles_per_iteration, found.steady) == (Fraction(5, 2), "repeats itself every 2 iterations")


def test_a_loop_that_is_left_in_its_second_iteration_has_no_steady_state() -> None:
    stream = loop_stream(2)[:4]
    found = report("dot", schedule(stream, small_core()))
    assert [(loop.iterations, loop.cycles_per_iteration, loop.bounds) for loop in found.loops] == [(1, None, None)]


def test_iterations_that_retire_together_take_what_they_take_for_long() -> None:
    first = stream_of("mul v9.4s, v8.4s, v8.4s")[0]._replace(pc=0xFFC, next_pc=0x1000)
    found = only_loop([first, *loop_stream(6)], "out", reorder_buffer=32)
    assert (found.cycles_per_iteration, found.steady) == (Fraction(5), "repeats itself every iteration")


def test_a_loop_whose_addresses_jump_once_has_no_bounds() -> None:
    stream = loop_stream(8)
    stream[3] = stream[3]._replace(loads=((0x8000, 16),))
    found = only_loop(stream)
    assert (found.bounds, found.steady) == (None, "average of all 8")
    assert found.cycles_per_iteration == found.share * schedule(stream, small_core("in", 2, CLASSES)).cycles / 8


def test_a_loop_that_never_repeats_itself_takes_its_bound_at_least(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between 100 branches lie 99 intervals."""
    monkeypatch.setattr("sim.timing.analysis.loop_report.SEARCHED", 300)
    stream: list[Executed] = []
    for k in range(6):
        texts = "ldr q1, [x0]", "str q2, [x1]", "cbnz x2, #0x1000"
        *straight, branch = stream_of(*texts, loads={0: 0x4000 + 16 * k}, stores={1: 0x4400})
        stream += [*straight, branch._replace(taken=k < 5, next_pc=0x1000 if k < 5 else 0x100C)]
    found = only_loop(stream, taken_branch_interval=Fraction(40))
    assert found.steady == "average of 100 iterations if it ran for long"
    assert found.cycles_per_iteration == 40


def test_a_uniform_loop_is_its_first_iteration_and_how_its_accesses_move() -> None:
    stream = loop_stream(8)
    (found,) = find_loops(stream)
    loop = uniform_loop(stream, found.longest)
    assert loop is not None
    assert loop.strides == ((16,), (), ())
    first, second = ([(one.pc, one.instruction.text, one.loads) for one in loop.iteration(k)] for k in (0, 1))
    iterations = [[(one.pc, one.instruction.text, one.loads) for one in stream[at : at + 3]] for at in (0, 3, 6)]
    assert [first, second] in (iterations[:2], iterations[1:])


def test_a_loop_that_is_too_long_to_be_timed_for_long_takes_its_average(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.timing.analysis.loop_report.SEARCHED", 2)
    found = only_loop(loop_stream(8))
    assert (found.bounds, found.steady) == (None, "average of all 8")


def test_a_loop_that_took_another_way_once_is_not_uniform() -> None:
    head, odd, back = (0, "cbnz x1, #0x1008"), (1, "nop "), (2, "cbnz x2, #0x1000")
    stream = walk(head, odd, back, *[head, back] * 6)
    assert [uniform_loop(stream, loop.longest) for loop in find_loops(stream)] == [None]


def test_a_loop_that_took_another_way_of_as_many_instructions_once_is_not_uniform() -> None:
    head, one, other, back = (0, "cbnz x1, #0x1008"), (1, "b #0x100c"), (2, "nop "), (3, "cbnz x2, #0x1000")
    stream = walk(head, one, back, *[head, other, back] * 6)
    assert [uniform_loop(stream, loop.longest) for loop in find_loops(stream)] == [None]


@pytest.mark.parametrize("together", [1, 3, 7, 8])
def test_one_iteration_that_took_another_way_is_seen_wherever_it_is(
    together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sim.timing.analysis.loop_report.AT_ONCE", together)
    head, one, other, back = (0, "cbnz x1, #0x1008"), (1, "b #0x100c"), (2, "nop "), (3, "cbnz x2, #0x1000")
    for odd in range(8):
        stream = walk(*(step for k in range(8) for step in (head, one if k == odd else other, back)))
        assert [uniform_loop(stream, loop.longest) for loop in find_loops(stream)] == [None]
    (loop,) = find_loops(same := walk(*[head, other, back] * 8))
    assert uniform_loop(same, loop.longest) is not None


def test_a_loop_that_took_another_way_in_a_shorter_entry_has_no_bounds() -> None:
    head, odd, back, again = (0, "cbnz x1, #0x1008"), (1, "nop "), (2, "cbnz x2, #0x1000"), (3, "nop ")
    found = report("x", schedule(walk(*[head, back] * 6, again, head, odd, back, head, back, again), small_core()))
    assert {loop.head: loop.bounds for loop in found.loops}[0x1000] is None


def test_a_loop_that_calls_itself_counts_its_cycles_once() -> None:
    head, call, back, leave = (0, "cbnz x1, #0x1008"), (1, "bl #0x1000"), (2, "cbnz x2, #0x1000"), (3, "ret ")
    inside = [head, back, head, back, leave]
    found = only_loop(walk((7, "nop "), head, call, *inside, back, head, back, leave))
    assert (found.entries, found.cycles_per_iteration, found.bounds) == (2, None, None)
    assert found.share <= 1


STEPS = st.tuples(
    st.integers(0, 5), st.sampled_from(["mul v1.4s, v1.4s, v0.4s", "cbnz x1, #0x1000", "bl #0x1000", "ret "])
)


@pytest.mark.slow
@given(st.lists(STEPS, min_size=1, max_size=50), st.sampled_from(["in", "out"]))
def test_no_loop_has_more_than_all_cycles_however_code_is_walked_through(
    steps: list[tuple[int, str]], order: Order
) -> None:
    found = report("x", schedule(walk(*steps), small_core(order, classes={MULTIPLY: {"latency": 3}})))
    assert max((loop.share for loop in found.loops), default=Fraction(0)) <= 1


@pytest.mark.slow
@shown_too_by("test_timing_bounds.py::test_no_schedule_is_faster_than_a_bound")
@given(st.integers(2, 30), st.sampled_from(["in", "out"]), st.integers(0, 4))
@settings(max_examples=20)
def test_no_loop_is_reported_below_its_bound(iterations: int, order: Order, interval: int) -> None:
    assert_not_below_its_bound(iterations, order, interval)


def assert_not_below_its_bound(iterations: int, order: Order, interval: int) -> None:
    found = only_loop(loop_stream(iterations), order, taken_branch_interval=Fraction(interval))
    assert found.bounds is not None
    assert found.cycles_per_iteration is not None
    assert found.cycles_per_iteration >= found.bounds.binding.cycles
