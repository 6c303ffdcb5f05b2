"""What a report says of a stream, and that its tables add up."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from random_schedules import Case, Order, cases
from small_cores import ACCUMULATE, ADD, LOAD, MULTIPLY, small_core, stream_of

from sim.timing.core import Validation
from sim.timing.pipeline import schedule
from sim.timing.report import CyclesReport, Other, compare
from sim.timing.reporting import report
from sim.timing.stream import Executed

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


def reduction(order: Order = "in", iterations: int = 20, **parameters: int) -> CyclesReport:
    core = small_core(order, 2, CLASSES, reorder_buffer=32, **parameters)
    lines = {0x1000: 7, 0x1004: 8, 0x1008: 6}
    return report("dot", schedule(loop_stream(iterations), core), lambda pc: ("src/dot.c", lines[pc]), 4 * iterations)


@given(cases())
def test_stalls_and_instructions_add_up_to_the_cycles(case: Case) -> None:
    found = report("random", case.schedule)
    sums = sum(found.stalls.values()), sum(row.cycles for row in found.instructions)
    assert sums == (found.cycles, found.cycles)


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


def test_assumed_figures_are_listed_with_their_count() -> None:
    core = small_core(classes={ADD: {"status": "unmodelled", "latency": 3, "source": "a guess", "uses": "A*2"}})
    (row,) = report("x", schedule(stream_of(*["add v1.4s, v0.4s, v0.4s"] * 4), core)).unmodelled
    assert row == (ADD, 4, "unmodelled", "latency 3, A*2 (assumed: a guess)")


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
