"""The critical path from the last cycle to the first, and the slack of what is not on it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from sim.timing.analysis.critical_path import (
    _longest_run,
    critical_path,
    find_critical_path,
    numbered,
    repeated_part,
)
from sim.timing.analysis.slack import slacks
from sim.timing.model.core import Core
from sim.timing.model.pipeline import schedule
from sim.timing.model.schedule import Stage, StallKind
from sim.timing.native.following import longest_run
from support.random_schedules import TEXTS, Case, Order, cases
from support.small_cores import ADD, MULTIPLY, small_core, stream_of

MULTIPLIES = {MULTIPLY: {"latency": 6, "uses": "M"}}


@pytest.mark.slow
@given(cases())
def test_the_edges_cover_every_cycle_once(case: Case) -> None:
    found = case.schedule
    path = find_critical_path(found)
    assert [0, *(edge.end for edge in path)] == [*(edge.start for edge in path), found.cycles]


@pytest.mark.slow
@given(cases())
def test_everything_that_the_path_goes_through_has_no_slack(case: Case) -> None:
    found = case.schedule
    left = slacks(found)
    before_retirement = [edge for edge in find_critical_path(found) if edge.stage is not Stage.RETIRED]
    assert all(min(left[edge.source]) == 0 for edge in before_retirement)


@pytest.mark.slow
@given(cases())
def test_a_result_that_the_path_waits_for_has_no_slack(case: Case) -> None:
    found = case.schedule
    left = slacks(found)
    waits = [edge for edge in find_critical_path(found) if edge.kind is StallKind.OPERAND]
    assert all(left[edge.source].result == 0 for edge in waits)


@pytest.mark.slow
@given(cases())
def test_no_slack_is_negative_or_beyond_the_end(case: Case) -> None:
    found = case.schedule
    assert all(0 <= cycles <= found.cycles for slack in slacks(found) for cycles in slack)


def test_a_chain_is_the_path() -> None:
    chain = ("mul v1.4s, v0.4s, v0.4s", "add v5.4s, v0.4s, v0.4s", "mul v2.4s, v1.4s, v0.4s", "add v3.4s, v2.4s, v0.4s")
    path = find_critical_path(schedule(stream_of(*chain), small_core(classes=MULTIPLIES)))
    assert [(edge.start, edge.end, edge.source, edge.what) for edge in path] == [
        (0, 6, 0, "v1"), (6, 12, 2, "v2"), (12, 13, 3, ""),
    ]  # fmt: skip


def test_out_of_order_the_path_goes_past_what_is_overtaken() -> None:
    texts = ("mul v1.4s, v0.4s, v0.4s", "add v2.4s, v1.4s, v0.4s", "add v3.4s, v0.4s, v0.4s")
    path = find_critical_path(schedule(stream_of(*texts), small_core("out", 4, MULTIPLIES)))
    assert [(edge.cycles, edge.kind, edge.source, edge.target) for edge in path] == [
        (1, StallKind.NONE, 0, 0), (6, StallKind.OPERAND, 0, 1), (1, StallKind.NONE, 1, 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("order", "last"), [("in", [(2, 3, 4, 4)]), ("out", [(2, 3, 4, 4), (3, 4, 4, 4)])], ids=["in", "out"]
)
def test_a_cycle_that_is_full_is_waited_for_from_its_first_instruction_on(
    order: Order, last: list[tuple[int, int, int, int]]
) -> None:
    """Two a cycle: 0 and 1, then 2 and 3, then 4; out of order it issues a cycle after it entered."""
    apart = stream_of(*(f"add v{number}.4s, v0.4s, v0.4s" for number in range(1, 6)))
    path = find_critical_path(schedule(apart, small_core(order, 2, {ADD: {"uses": ""}})))
    assert [(edge.start, edge.end, edge.source, edge.target) for edge in path] == [(0, 1, 0, 2), (1, 2, 2, 4), *last]
    assert [edge.kind for edge in path[:2]] == [StallKind.WIDTH] * 2


def test_the_path_of_a_loop_says_what_comes_again() -> None:
    body = stream_of("mul v1.4s, v1.4s, v0.4s", "add v1.4s, v1.4s, v0.4s", "add v7.4s, v8.4s, v8.4s")
    found = schedule(body * 20, small_core(classes=MULTIPLIES))
    part = repeated_part(found, critical_path(found))
    assert part is not None
    assert (part.period, part.cycles) == (2, 7 * part.repetitions)
    assert part.repetitions >= 19


def test_what_is_run_through_twice_comes_again_and_what_is_not_quite_does_not() -> None:
    core = small_core(classes=MULTIPLIES)
    body = stream_of(*(f"{name} v1.4s, v1.4s, v0.4s" for name in ("mul", "add", "mul", "add", "sub")))
    twice = schedule([*body[:2] * 2, body[0]], core)  # from the multiplication to the next one, and again
    assert repeated_part(twice, critical_path(twice)) == (0, 2, 2, 14)
    once = schedule(body * 2, core)  # the last edge is that of the end
    assert repeated_part(once, critical_path(once)) is None


@pytest.mark.parametrize(
    ("columns", "numbers", "first"),
    [
        ([[]], [], []),
        ([[5]], [0], [0]),
        ([[3, 3, 1, 3, 1], [0, 0, 5, 1, 5]], [0, 0, 1, 2, 1], [0, 2, 3]),
        ([[-1, 0, -1], [-2, -2, -3]], [0, 1, 2], [0, 1, 2]),
        ([[0, 1, 0, 1], [1, 0, 0, 1]], [0, 1, 2, 3], [0, 1, 2, 3]),
        ([[9, 8, 7, 9]] * 3, [0, 1, 2, 0], [0, 1, 2]),
        ([[-(1 << 40), 1 << 40, -(1 << 40)]] * 4, [0, 1, 0], [0, 1]),  # wider together than a number is
        ([[0, 1, 2, 0], [1 << 61, 0, 1 << 61, 1 << 61], [5, 5, 6, 5], [1 << 60, 3, 1 << 60, 0]], [0, 1, 2, 3],
         [0, 1, 2, 3]),
    ],
)  # fmt: skip
def test_rows_are_numbered_as_they_come_first(columns: list[list[int]], numbers: list[int], first: list[int]) -> None:
    found = numbered([np.array(column, np.int64) for column in columns])
    assert [array.tolist() for array in found] == [numbers, first]


@pytest.mark.parametrize(
    ("numbers", "period", "start", "length"),
    [
        ([1, 2, 1, 2, 1, 9], 2, 0, 5),
        ([7, 1, 2, 1, 2, 1, 2, 8], 2, 1, 6),
        ([1, 1, 5, 3, 3, 3], 1, 3, 3),
        ([3, 3, 3, 5, 1, 1], 1, 0, 3),
        ([1, 2, 3, 4], 1, 0, 1),
        ([1, 2, 3, 1, 2, 3], 3, 0, 6),
        ([4, 4], 1, 0, 2),
        ([6, 5, 5, 6, 5, 5, 1], 3, 0, 6),
    ],
)
def test_the_longest_part_that_comes_again_is_found_as_c_does(
    numbers: list[int], period: int, start: int, length: int
) -> None:
    array = np.array(numbers, np.int32)
    assert (_longest_run(array, period), longest_run(array, period)) == ((start, length),) * 2


def test_a_path_without_repetition_has_none() -> None:
    found = schedule(stream_of("mul v1.4s, v0.4s, v0.4s", "add v2.4s, v1.4s, v0.4s"), small_core(classes=MULTIPLIES))
    assert repeated_part(found, critical_path(found)) is None


def test_an_empty_stream_has_no_path() -> None:
    assert find_critical_path(schedule([], small_core())) == []


def test_the_slack_of_a_result_is_the_wait_of_its_reader_for_another() -> None:
    texts = ("mul v1.4s, v0.4s, v0.4s", "add v2.4s, v0.4s, v0.4s", "add v3.4s, v1.4s, v2.4s")
    assert slacks(schedule(stream_of(*texts), small_core(classes=MULTIPLIES)))[1].result == 5


def test_out_of_order_entry_may_be_late_up_to_the_cycle_before_the_issue() -> None:
    found = schedule(stream_of("mul v1.4s, v0.4s, v0.4s", "add v2.4s, v1.4s, v0.4s"), small_core("out", 4, MULTIPLIES))
    assert (found.entered[1], slacks(found)[1].entry) == (0, found.issued[1] - 1)


def test_slack_is_handed_on_along_a_chain() -> None:
    texts = ("mul v1.4s, v0.4s, v0.4s", "add v2.4s, v0.4s, v0.4s", "add v3.4s, v2.4s, v2.4s", "add v4.4s, v1.4s, v3.4s")
    left = slacks(schedule(stream_of(*texts), small_core("out", 4, MULTIPLIES)))
    assert [slack.result for slack in left] == [0, 4, 4, 0]


def test_a_pipe_that_is_needed_next_leaves_no_slack_to_the_issue_but_to_the_result() -> None:
    texts = ("mul v1.4s, v0.4s, v0.4s", "mul v2.4s, v0.4s, v0.4s", "add v3.4s, v2.4s, v2.4s")
    left = slacks(schedule(stream_of(*texts), small_core(classes=MULTIPLIES)))
    assert (left[0].issue, left[0].result) == (0, 2)


(LONE,) = (text for text in TEXTS if text.startswith("mul"))


def without_alternatives(core: Core) -> Core:
    """Of several pipes the first only: else a later result can change the choice, and with it the order kept."""
    classes = {
        name: replace(timing, uses=tuple(use._replace(pipes=use.pipes[:1]) for use in timing.uses))
        for name, timing in core.classes.items()
    }
    return replace(core, classes=classes)


def later_by(case: Case, cycles: int) -> tuple[int, int]:
    """The cycles of a case, and with the result of its only multiplication so much later than its slack.

    The engine delays every instruction of a class alike, so the class must have one execution in the stream.
    """
    (number,) = (number for number, text in enumerate(case.texts) if text.startswith("mul"))
    core = without_alternatives(case.core)
    found = schedule(case.stream, core, warm=False)
    late = core.timing(MULTIPLY).latency + slacks(found)[number].result + cycles
    return found.cycles, schedule(case.stream, core.with_latency(MULTIPLY, late), warm=False).cycles


@pytest.mark.slow
@given(cases("in", whole=True, once=LONE))
def test_in_order_a_result_can_be_late_by_its_slack(case: Case) -> None:
    before, after = later_by(case, 0)
    assert after == before


@pytest.mark.slow
@given(cases("in", whole=True, once=LONE))
def test_in_order_a_result_that_is_later_than_its_slack_delays_the_end(case: Case) -> None:
    before, after = later_by(case, 1)
    assert after > before


def test_an_instruction_goes_through_five_stages_in_their_order() -> None:
    assert [(stage.name, int(stage)) for stage in Stage] == [
        ("ENTERED", 0), ("AVAILABLE", 1), ("ISSUED", 2), ("READY", 3), ("RETIRED", 4),
    ]  # fmt: skip


def test_rows_of_columns_that_are_too_wide_for_one_number_together_are_told_apart() -> None:
    far = 1 << 40
    columns = [np.array([0, far, 0, far]), np.array([0, 0, far, 0]), np.array([0, 0, far, 0])]
    numbers, first = numbered(columns)
    assert (numbers.tolist(), first.tolist()) == ([0, 1, 2, 1], [0, 1, 2])
