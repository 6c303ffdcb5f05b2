"""Bounds that are known by hand, and estimates that never go below them."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, combinations
from random import Random
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.timing.analysis.bounds import Bound, Bounds, bounds_of_loop, bounds_of_stream, in_cycles, tightest
from sim.timing.analysis.chains import longest_chain, recurrence
from sim.timing.loops.loop import Loop
from sim.timing.loops.what_if import cycles_of
from sim.timing.model.core import Core
from sim.timing.model.stream import Executed
from support.random_schedules import Case, cases
from support.small_cores import ACCUMULATE, ADD, LOAD, MULTIPLY, STORE, small_core, stream_of

PIPES = "ABCD"


def loop_of(*texts: str, strides: dict[int, int] | None = None, **accesses: dict[int, int]) -> Loop:
    """A loop of these instructions; the access of instruction n moves by `strides[n]` bytes, or stays."""
    body = stream_of(*texts, **accesses)
    moves = [((strides or {}).get(n, 0),) if one.loads or one.stores else () for n, one in enumerate(body)]
    return Loop(tuple(body), tuple(moves))


def bound(timed: Loop | list[Executed], core: Core, name: str) -> Fraction:
    found = bounds_of_loop(timed, core) if isinstance(timed, Loop) else bounds_of_stream(timed, core)
    return next(bound.cycles for bound in found.all if bound.name == name)


@pytest.mark.slow
@given(cases(whole=True))
def test_no_schedule_is_faster_than_a_bound(case: Case) -> None:
    """With whole figures: averages are rounded, now down and now up."""
    assert case.schedule.cycles >= bounds_of_stream(case.stream, case.core).binding.cycles


@pytest.mark.parametrize("order", ["in", "out"])
def test_no_loop_is_faster_than_a_bound(order: Literal["in", "out"]) -> None:
    seed = 20
    random = Random(seed)
    texts = ("add v1.4s, v1.4s, v0.4s", "mul v3.4s, v1.4s, v2.4s", "mla v4.4s, v3.4s, v2.4s", "add v2.4s, v4.4s, v3.4s")
    classes: dict[str, dict[str, Any]] = {ADD: {"latency": 3}, MULTIPLY: {"latency": 5, "uses": "M*2"},
               ACCUMULATE: {"latency": 5, "accumulate": 2, "group": "multiply", "uses": "M"}}  # fmt: skip
    core = small_core(order, 2, classes, reorder_buffer=32)
    loops = [loop_of(*random.choices(texts, k=random.randint(1, 8))) for _ in range(40)]
    slower = [cycles_of(loop, core) - bounds_of_loop(loop, core).binding.cycles for loop in loops]
    assert min(slower) >= 0, f"seed {seed}"


@given(st.dictionaries(st.frozensets(st.sampled_from(PIPES), min_size=1), st.integers(1, 9).map(Fraction), max_size=6))
def test_the_bound_of_the_pipes_is_the_most_over_all_sets_of_them(work: dict[frozenset[str], Fraction]) -> None:
    sets = chain.from_iterable(combinations(PIPES, size) for size in range(1, len(PIPES) + 1))
    loads = [sum((c for some, c in work.items() if some <= set(pipes)), Fraction(0)) / len(pipes) for pipes in sets]
    assert tightest(work)[1] == max(loads)


SOME = st.frozensets(st.sampled_from(PIPES), min_size=1)


@given(
    st.dictionaries(SOME, st.integers(1, 9).map(Fraction), max_size=6),
    st.lists(st.tuples(SOME, st.integers(1, 5).map(Fraction)), max_size=6),
)
def test_what_pipes_are_busy_with_at_the_end_is_left_out_of_every_set(
    work: dict[frozenset[str], Fraction], tails: list[tuple[frozenset[str], Fraction]]
) -> None:
    loads = []
    for pipes in chain.from_iterable(combinations(PIPES, size) for size in range(1, len(PIPES) + 1)):
        needed = sum((cycles for some, cycles in work.items() if some <= set(pipes)), Fraction(0))
        left = sorted((cycles for some, cycles in tails if some <= set(pipes)), reverse=True)[: len(pipes)]
        loads.append(max(needed - sum(left), Fraction(0)) / len(pipes))
    assert tightest(work, tails)[1] == max(loads)


def test_of_many_pipes_that_share_nothing_one_is_needed_longest() -> None:
    work = {frozenset({f"P{number}"}): Fraction(number) for number in range(1, 60)}
    assert tightest(work) == (frozenset({"P59"}), Fraction(59))


def test_of_many_pipes_that_share_one_a_bound_is_found_that_is_none_too_high() -> None:
    """Of forty pipes, each of which shares its work with one more, there are 2^40 unions."""
    work = {frozenset({"Z", f"P{number}"}): Fraction(4) for number in range(40)}
    assert tightest(work) == (frozenset({"Z", *(f"P{number}" for number in range(40))}), Fraction(160, 41))


def test_pipes_that_are_busy_at_the_end_alone_are_no_bound() -> None:
    only = frozenset("M")
    assert tightest({only: Fraction(1)}, [(only, Fraction(3))]) == (only, Fraction(0))


def test_pipes_that_share_work_are_bound_together() -> None:
    core = small_core(classes={ADD: {"uses": "A|B*3", "latency": 3}, MULTIPLY: {"uses": "A*2", "latency": 2}})
    stream = stream_of("add v1.4s, v0.4s, v0.4s", "add v2.4s, v0.4s, v0.4s", "mul v3.4s, v0.4s, v0.4s")
    found = {one.name: one.cycles for one in bounds_of_stream(stream, core).all if one.name.startswith("pipe")}
    assert found == {"pipe A and B": 4, "pipe A": 2}


def test_a_part_of_a_cycle_is_work_of_the_pipe_too() -> None:
    core = small_core(classes={ADD: {"uses": "M*1.5", "latency": 1}})
    assert bound(loop_of("add v1.4s, v0.4s, v0.4s", "add v2.4s, v0.4s, v0.4s"), core, "pipe M") == 3


def test_a_stream_need_not_wait_until_its_last_instruction_leaves_the_pipe() -> None:
    core = small_core(classes={ADD: {"uses": "M*4", "latency": 1}})
    assert bound(stream_of("add v1.4s, v0.4s, v0.4s", "add v2.4s, v0.4s, v0.4s"), core, "pipe M") == 5


def test_each_of_several_pipes_may_be_busy_at_the_end() -> None:
    core = small_core(classes={ADD: {"uses": "A|B*3", "latency": 1}})
    stream = stream_of(*(f"add v{number}.4s, v0.4s, v0.4s" for number in range(1, 5)))
    assert bound(stream, core, "pipe A and B") == 4


def test_an_iteration_waits_for_the_pipe_of_the_one_before() -> None:
    core = small_core(classes={ADD: {"uses": "M*4", "latency": 1}})
    assert bound(loop_of("add v1.4s, v0.4s, v0.4s"), core, "pipe M") == 4


def test_the_issue_bound_counts_slots() -> None:
    core = small_core(width=3, classes={ADD: {"slots": 2}})
    assert bound(stream_of(*["add v1.4s, v0.4s, v0.4s"] * 6), core, "issue") == 4


def test_instructions_that_must_be_first_take_a_cycle_each_in_order() -> None:
    core = small_core(width=3, classes={ADD: {"first": True}})
    assert bound(stream_of(*["add v1.4s, v0.4s, v0.4s"] * 6), core, "pairing") == 6


def test_the_memory_bound_is_that_of_loads_and_stores() -> None:
    core = small_core(classes={LOAD: {"uses": "L*2", "latency": 2}, STORE: {"uses": "L"}, ADD: {"uses": "M"}})
    texts = ("ldr q1, [x0]", "str q1, [x1]", "add v2.4s, v0.4s, v0.4s")
    assert bound(stream_of(*texts, loads={0: 0}, stores={1: 64}), core, "memory") == 3


def test_taken_branches_bound_a_loop_of_few_instructions() -> None:
    body = [one._replace(taken=True) for one in stream_of("cbnz x0, #0x1000")]
    core = small_core(taken_branch_interval=Fraction(3))
    assert bounds_of_loop(Loop(tuple(body), ((),)), core).binding.name == "taken branches"


def test_branches_that_need_not_be_apart_are_no_bound() -> None:
    body = [one._replace(taken=True) for one in stream_of("cbnz x0, #0x1000")]
    names = [one.name for one in bounds_of_loop(Loop(tuple(body), ((),)), small_core()).all]
    assert "taken branches" not in names


def test_the_chain_of_a_stream_ends_with_its_last_result() -> None:
    core = small_core(classes={MULTIPLY: {"latency": 5}, ADD: {"latency": 2}})
    stream = stream_of("mul v1.4s, v0.4s, v0.4s", "add v2.4s, v1.4s, v0.4s", "add v3.4s, v0.4s, v0.4s")
    assert longest_chain(stream, core) == 7


def test_a_loop_without_a_recurrence_is_not_bound_by_latency() -> None:
    found = recurrence(loop_of("mul v1.4s, v0.4s, v0.4s", "add v2.4s, v1.4s, v0.4s"), small_core())
    assert (found.cycles, found.members) == (Fraction(0), ())


def test_accumulators_are_bound_by_forwarding() -> None:
    core = small_core(classes={ACCUMULATE: {"latency": 5, "accumulate": 2, "group": "multiply"}})
    assert bound(loop_of("mla v1.4s, v0.4s, v0.4s", "mla v1.4s, v2.4s, v2.4s"), core, "latency") == 4


def test_the_longest_recurrence_names_its_instructions() -> None:
    core = small_core(classes={MULTIPLY: {"latency": 5}, ADD: {"latency": 2}})
    loop = loop_of("add v1.4s, v1.4s, v0.4s", "mul v2.4s, v3.4s, v0.4s", "add v3.4s, v2.4s, v0.4s")
    found = recurrence(loop, core)
    assert (found.cycles, sorted(found.members)) == (Fraction(7), [1, 2])


def test_a_recurrence_over_two_iterations_counts_half() -> None:
    core = small_core(classes={MULTIPLY: {"latency": 5}, ADD: {"latency": 2}})
    loop = loop_of("mul v1.4s, v2.4s, v0.4s", "add v2.4s, v3.4s, v0.4s", "add v3.4s, v1.4s, v0.4s")
    assert bound(loop, core, "latency") == Fraction(9, 2)


def test_a_recurrence_through_memory_counts_the_forwarding() -> None:
    core = small_core(classes={ADD: {"latency": 2}, LOAD: {"latency": 4}}, store_forward_vector=Fraction(9))
    texts = ("ldr q1, [x0]", "add v1.4s, v1.4s, v0.4s", "str q1, [x0]")
    assert bound(loop_of(*texts, loads={0: 64}, stores={2: 64}), core, "latency") == 11


def test_a_recurrence_over_three_iterations_counts_a_third() -> None:
    """What is stored is loaded three iterations later."""
    core = small_core(classes={ADD: {"latency": 2}, LOAD: {"latency": 4}}, store_forward_vector=Fraction(9))
    texts = ("ldr q1, [x0]", "add v1.4s, v1.4s, v0.4s", "str q1, [x0]")
    loop = loop_of(*texts, loads={0: 64}, stores={2: 64 + 48}, strides={0: 16, 2: 16})
    assert bound(loop, core, "latency") == Fraction(4 + 2 + (9 - 4), 3)


def test_an_average_latency_bounds_by_its_average() -> None:
    core = small_core(classes={ADD: {"latency": "2.5"}})
    loop = loop_of("add v1.4s, v1.4s, v0.4s")
    assert bound(loop, core, "latency") == cycles_of(loop, core)


def test_out_of_order_a_base_moves_on_without_the_data_of_its_store() -> None:
    core = small_core("out", classes={MULTIPLY: {"latency": 9}})
    loop = loop_of("mul v1.4s, v2.4s, v2.4s", "str q1, [x0], #16", stores={1: 64}, strides={1: 16})
    assert bound(loop, core, "latency") == 1


def test_an_estimate_is_compared_with_the_binding_bound() -> None:
    core = small_core(classes={ADD: {"latency": 4}})
    assert bounds_of_stream(stream_of("add v1.4s, v0.4s, v0.4s"), core).excess(5) == Fraction(1, 4)


def test_of_equal_bounds_the_front_end_is_named() -> None:
    stream = stream_of("add v1.4s, v0.4s, v0.4s", "add v2.4s, v0.4s, v0.4s", "add v3.4s, v0.4s, v0.4s", "nop ")
    assert bounds_of_stream(stream, small_core()).binding.name == "issue"


def test_every_bound_of_a_stream_is_told_the_largest_first() -> None:
    """By hand: 3 + 3 + 2 cycles of two pipes, of which the 2 are A's; the load has its pipe for itself."""
    pipes: dict[str, dict[str, Any]] = {
        ADD: {"uses": "A|B*3", "latency": 3}, MULTIPLY: {"uses": "A*2", "latency": 2},
        LOAD: {"uses": "L*2", "latency": 2},
    }  # fmt: skip
    texts = ("add v1.4s, v0.4s, v0.4s", "add v2.4s, v0.4s, v0.4s", "mul v3.4s, v0.4s, v0.4s", "ldr q4, [x0]")
    stream = stream_of(*texts, loads={3: 64})
    assert bounds_of_stream(stream, small_core(classes=pipes)).all == (
        Bound("pipe A and B", Fraction(4), "the work needs A and B for 4 cycles each"),
        Bound("latency", Fraction(3), "the longest chain of results takes 3 cycles"),
        Bound("issue", Fraction(2), "4 slots, 2 a cycle"),
        Bound("memory", Fraction(2), "loads and stores need L for 2 cycles"),
        Bound("pipe A", Fraction(2), "the work needs A for 2 cycles"),
        Bound("pipe L", Fraction(2), "the work needs L for 2 cycles"),
    )


def test_pipes_that_are_short_only_together_are_named_together() -> None:
    """Three cycles of each two of three pipes: each pair has 3 / 2 for itself, all three have 9 / 3."""
    uses = {ADD: "A|B*3", MULTIPLY: "B|M*3", ACCUMULATE: "A|M*3"}
    core = small_core(width=4, classes={name: {"uses": text, "latency": 3} for name, text in uses.items()})
    stream = stream_of("add v1.4s, v0.4s, v0.4s", "mul v2.4s, v0.4s, v0.4s", "mla v3.4s, v0.4s, v0.4s")
    found = {bound.name: bound.cycles for bound in bounds_of_stream(stream, core).all if bound.name[:4] == "pipe"}
    halves = dict.fromkeys(("pipe A and B", "pipe B and M", "pipe A and M"), Fraction(3, 2))
    assert found == {"pipe A and B and M": 3, **halves}


def test_what_a_loop_waits_for_is_told_with_its_members() -> None:
    core = small_core(classes={MULTIPLY: {"latency": 5}, ADD: {"latency": 2}}, taken_branch_interval=Fraction(5, 2))
    one = bounds_of_loop(loop_of("add v1.4s, v1.4s, v0.4s", "mul v2.4s, v0.4s, v0.4s"), core)
    assert one.binding == Bound("latency", Fraction(2), "add waits for itself, 2 cycles an iteration")
    two = bounds_of_loop(loop_of("mul v2.4s, v3.4s, v0.4s", "add v3.4s, v2.4s, v0.4s"), core)
    assert two.binding.cycles == 7
    assert two.binding.sentence.partition(" waits")[0] in ("mul -> add", "add -> mul")
    none = {bound.name: bound.sentence for bound in bounds_of_loop(loop_of("mul v2.4s, v0.4s, v0.4s"), core).all}
    assert none["latency"] == "no chain"


def test_between_so_many_taken_branches_there_is_one_interval_less() -> None:
    core, branch = small_core(taken_branch_interval=Fraction(5, 2)), stream_of("b #0x1000")[0]._replace(taken=True)
    every = [bounds_of_stream([branch] * count, core).all for count in (1, 4)]
    assert [[bound for bound in some if bound.name == "taken branches"] for some in every] == [
        [],
        [("taken branches", Fraction(15, 2), "taken branches are 2.5 cycles apart")],
    ]


def test_in_order_one_instruction_takes_no_more_slots_than_a_cycle_has() -> None:
    """Four slots on a core of two fill a cycle in order; out of order they take two."""
    stream = stream_of("add v1.4s, v0.4s, v0.4s", "add v2.4s, v0.4s, v0.4s")
    assert [bound(stream, small_core(order, 2, {ADD: {"slots": 4}}), "issue") for order in ("in", "out")] == [2, 4]


def test_where_nothing_is_done_no_estimate_is_above_the_bound() -> None:
    assert Bounds((Bound("issue", Fraction(0), ""),)).excess(5) == 0
    assert longest_chain([], small_core()) == 0


def test_cycles_are_written_with_two_digits_at_most() -> None:
    numbers = (Fraction(25, 9), Fraction(5, 2), 0, 1, 10, 100, Fraction(1, 1000))
    assert [in_cycles(number) for number in numbers] == [
        "2.78 cycles", "2.5 cycles", "0 cycles", "1 cycle", "10 cycles", "100 cycles", "0 cycles",
    ]  # fmt: skip
