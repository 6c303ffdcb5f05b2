"""The out-of-order pipeline, on cores small enough to schedule by hand."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.timing.model.core import Core
from sim.timing.model.dataflow import ReferencePoint, Value
from sim.timing.model.operation import WrittenRegister
from sim.timing.model.out_of_order import OutOfOrder
from sim.timing.model.pipeline import schedule
from sim.timing.model.schedule import Stall, StallKind
from support.small_cores import ACCUMULATE, ADD, LOAD, MULTIPLY, STORE, small_core, stream_of

APART = tuple(f"add v{number}.4s, v0.4s, v0.4s" for number in range(1, 9))


def test_an_independent_instruction_overtakes_one_that_waits() -> None:
    core = small_core("out", classes={MULTIPLY: {"latency": 9, "uses": "M"}})
    stream = stream_of("mul v1.4s, v0.4s, v0.4s", "add v2.4s, v1.4s, v1.4s", "add v3.4s, v0.4s, v0.4s")
    assert schedule(stream, core).issued == [1, 10, 2]


def test_the_oldest_ready_instruction_gets_the_pipe() -> None:
    core = small_core("out", 4, {ADD: {"latency": 2, "uses": "A"}})
    stream = stream_of("add v1.4s, v0.4s, v0.4s", "add v2.4s, v1.4s, v1.4s", *APART[2:4])
    assert schedule(stream, core).issued == [1, 3, 2, 4]


def test_results_of_two_slots_dispatch_three_in_two_cycles() -> None:
    core = small_core("out", 3, {ADD: {"slots": 2}})
    assert schedule(stream_of(*APART[:6]), core).entered == [0, 0, 1, 2, 2, 3]


def test_a_micro_operation_goes_where_least_waits_or_to_its_pipes_in_turn() -> None:
    core = small_core("out", 4, {MULTIPLY: {"uses": "A*4"}, ADD: {"uses": "A|B"}, ACCUMULATE: {"uses": "A|B + A|B"}})
    stream = stream_of("mul v1.4s, v0.4s, v0.4s", *APART[:2], "mla v9.4s, v0.4s, v0.4s", *APART[2:4])
    used = {rule: schedule(stream, replace(core, in_turn=rule)).pipes[1:] for rule in (0, 1)}
    taken = {rule: ["".join(sorted(pipe for pipe, *_ in pipes)) for pipes in of] for rule, of in used.items()}
    assert taken == {0: ["B", "B", "BB", "A", "B"], 1: ["A", "B", "AB", "A", "B"]}


def test_micro_operations_of_one_instruction_take_turns_too() -> None:
    core = small_core("out", 4, {ACCUMULATE: {"uses": "A|B|M + A|B|M"}}, in_turn=1)
    found = schedule(stream_of("mla v9.4s, v0.4s, v0.4s", "mla v8.4s, v0.4s, v0.4s"), core)
    assert [sorted(pipe for pipe, *_ in pipes) for pipes in found.pipes] == [["A", "B"], ["A", "M"]]


def test_a_pipe_that_is_free_is_better_than_one_that_is_free_a_cycle_later() -> None:
    core = small_core("out", 1, {MULTIPLY: {"uses": "A"}, ADD: {"uses": "A|B"}})
    assert schedule(stream_of("mul v1.4s, v0.4s, v0.4s", *APART[1:2]), core).pipes == [(("A", 1, 2),), (("B", 2, 3),)]


def test_micro_operations_of_one_instruction_go_to_different_pipes_where_both_are_free() -> None:
    core = small_core("out", 4, {ACCUMULATE: {"uses": "A|B + A|B"}})
    (pipes,) = schedule(stream_of("mla v9.4s, v0.4s, v0.4s"), core).pipes
    assert sorted(pipe for pipe, *_ in pipes) == ["A", "B"]


def test_a_full_queue_stops_dispatch() -> None:
    core = small_core("out", 4, {ADD: {"uses": "M*4"}}, queues={"M": 2})
    found = schedule(stream_of(*APART[:4]), core)
    assert (found.entered, found.entry_stall[3]) == ([0, 0, 1, 5], Stall(StallKind.QUEUE, 1, "M"))


def test_a_full_reorder_buffer_stops_dispatch_until_the_oldest_retires() -> None:
    core = small_core("out", 4, {MULTIPLY: {"latency": 9}}, reorder_buffer=2)
    found = schedule(stream_of("mul v1.4s, v0.4s, v0.4s", *APART[1:3]), core)
    assert (found.entered, found.entry_stall[2]) == ([0, 0, 10], Stall(StallKind.REORDER, 0))


def test_what_waits_for_a_place_long_after_a_misprediction_does_not_wait_for_the_branch() -> None:
    engine = OutOfOrder(small_core("out", 1, mispredict=5))
    engine.feed(stream_of(*APART[:3]), {0})
    assert engine.schedule().entry_stall[1:] == [Stall(StallKind.MISPREDICT, 0), Stall(StallKind.WIDTH, 1)]


def test_instructions_retire_in_order() -> None:
    core = small_core("out", classes={MULTIPLY: {"latency": 9}})
    assert schedule(stream_of("mul v1.4s, v0.4s, v0.4s", *APART[1:2]), core).retired == [10, 10]


def test_no_more_than_the_retire_width_retire_in_a_cycle() -> None:
    core = small_core("out", 4, {ADD: {"uses": ""}}, retire_width=2)
    assert schedule(stream_of(*APART[:4]), core).retired == [2, 2, 3, 3]


def test_an_updated_base_does_not_wait_for_the_data_of_its_store() -> None:
    core = small_core("out", 4, {MULTIPLY: {"latency": 9}, "store vector 128 post-index": {"uses": "L + S"}})
    stream = stream_of("mul v1.4s, v0.4s, v0.4s", "str q1, [x1], #16", "ldr q2, [x1]")
    assert schedule(stream, core).issued == [1, 10, 2]


def test_the_address_of_a_store_is_worked_out_before_its_data_are_there() -> None:
    core = small_core("out", 4, {MULTIPLY: {"latency": 9}, STORE: {"uses": "L + S"}})
    found = schedule(stream_of("mul v1.4s, v0.4s, v0.4s", "str q1, [x1]"), core)
    assert sorted(found.pipes[1]) == [("L", 1, 2), ("S", 10, 11)]


@pytest.mark.parametrize(("uses", "pipes"), [("S", [("S", 10, 11)]), ("S + S", [("S", 1, 2), ("S", 10, 11)])])
def test_a_store_of_one_micro_operation_waits_for_its_data(uses: str, pipes: list[tuple[str, int, int]]) -> None:
    core = small_core("out", 4, {MULTIPLY: {"latency": 9}, STORE: {"uses": uses}})
    found = schedule(stream_of("mul v1.4s, v0.4s, v0.4s", "str q1, [x1]"), core)
    assert sorted(found.pipes[1]) == pipes
    alone = schedule(stream_of("str q1, [x1]"), core)
    assert sorted(alone.pipes[0]) == [("S", 1 + at, 2 + at) for at in range(len(pipes))]


def test_all_micro_operations_of_what_is_no_store_wait_for_all_operands() -> None:
    core = small_core("out", 4, {MULTIPLY: {"latency": 9, "uses": "M"}, ACCUMULATE: {"uses": "A + B"}})
    found = schedule(stream_of("mul v1.4s, v0.4s, v0.4s", "mla v9.4s, v1.4s, v1.4s"), core)
    assert sorted(found.pipes[1]) == [("A", 10, 11), ("B", 10, 11)]


def test_a_register_that_is_stored_where_it_points_is_waited_for_by_both_halves() -> None:
    core = small_core("out", 4, {"scalar mul 64": {"latency": 9}, "store scalar 64": {"uses": "L + S"}})
    found = schedule(stream_of("mul x1, x1, x1", "str x1, [x1]"), core)
    assert sorted(found.pipes[1]) == [("L", 10, 11), ("S", 10, 11)]


def test_an_instruction_that_uses_one_pipe_twice_needs_room_for_both() -> None:
    core = small_core("out", 4, {ADD: {"uses": "M + M"}}, queues={"M": 2})
    assert schedule(stream_of(*APART[:2]), core).entered == [0, 2]


def test_a_long_chain_of_updated_bases_is_followed() -> None:
    """The last product is there at 401; then one base a cycle, with its load, and a cycle of latency at the end."""
    stream = stream_of(*["mul x1, x1, x1"] * 400, *["ldr q0, [x1], #0x10"] * 1200)
    assert schedule(stream, small_core("out", 4)).cycles == 401 + 1200


CROSSED = (
    "sdiv x3, x3, x4", "mul x9, x9, x9", "ld1 {v0.16b}, [x1], x9", "ld1 {v2.16b}, [x3], x1", "ldr q1, [x1], #0x10",
    "ldr q5, [x3]", "ldr q6, [x1]",
)  # fmt: skip
"""Two bases wait for one, which waits for a product that is there at 6; the first of them for a quotient as well."""


def test_bases_that_wait_for_the_same_base_are_updated_each_when_all_it_needs_is_there() -> None:
    """The quotient is there at 21, x3 a cycle later; x1 is updated at 6, and again a cycle later."""
    core = small_core("out", 8, {"scalar sdiv 64": {"latency": 20}, "scalar mul 64": {"latency": 5}})
    found = schedule(stream_of(*CROSSED), core)
    assert found.issued[5:] == [22, 8]


def test_waits_for_an_operand_and_then_for_a_pipe_are_told_apart() -> None:
    core = small_core("out", 4, {MULTIPLY: {"latency": 3, "uses": "M*9"}, ADD: {"uses": "M"}})
    found = schedule(stream_of("mul v1.4s, v0.4s, v0.4s", "add v2.4s, v1.4s, v1.4s"), core)
    assert (found.available[1], found.operand_stall[1], found.issued[1], found.issue_stall[1]) == (
        4, Stall(StallKind.OPERAND, 0, "v1"), 10, Stall(StallKind.PIPE, 0, "M"),
    )  # fmt: skip


def test_a_load_of_bytes_of_two_stores_waits_for_the_later_one() -> None:
    core = small_core("out", 4, classes={LOAD: {"latency": 4}, ADD: {"latency": 5}}, store_forward_vector=Fraction(9))
    stores = ("add v1.4s, v0.4s, v0.4s", "str q1, [x0]", "str q0, [x1]")
    orders = [(*stores[:2], stores[2]), (stores[0], stores[2], stores[1])]
    addresses = [{1: 64, 2: 72}, {1: 72, 2: 64}]
    found = [
        schedule(stream_of(*order, "ldr q2, [x2]", stores=at, loads={3: 66}), core).issued[3]
        for order, at in zip(orders, addresses, strict=True)
    ]
    assert found == [5 + 9 - 4 + 1] * 2


def test_a_load_waits_for_the_store_of_its_bytes() -> None:
    core = small_core("out", classes={LOAD: {"latency": 4}}, store_forward_vector=Fraction(9))
    stream = stream_of("str q1, [x0]", "ldr q2, [x1]", "add v3.4s, v2.4s, v2.4s", stores={0: 64}, loads={1: 64})
    assert schedule(stream, core).issued == [1, 6, 10]


def test_a_load_that_takes_longer_than_bytes_are_forwarded_waits_for_the_issue_of_the_store() -> None:
    """It cannot start in the same cycle."""
    load, store = {"latency": 4, "uses": "L"}, {"uses": "S"}
    core = small_core("out", 4, {ADD: {"latency": 5}, LOAD: load, STORE: store}, store_forward_vector=Fraction(2))
    stream = stream_of("add v1.4s, v0.4s, v0.4s", "str q1, [x1]", "ldr q2, [x1]", loads={2: 64}, stores={1: 64})
    found = schedule(stream, core)
    assert (found.issued, found.available[2]) == ([1, 6, 7], 6)
    assert found.operand_stall[2] == Stall(StallKind.STORE, 1)


def test_data_that_are_stored_late_are_waited_for_until_the_next_cycle() -> None:
    """But not for longer: the sum is there a cycle after its issue, and needed three cycles after that of the store."""
    core = small_core("out", 4, {MULTIPLY: {"latency": 5}, STORE: {"uses": "S"}}, store_data_late=3)
    stream = stream_of("mul v0.4s, v0.4s, v0.4s", "add v1.4s, v0.4s, v0.4s", "str q1, [x1]", stores={2: 64})
    found = schedule(stream, core)
    assert (found.issued, found.available) == ([1, 6, 7], [1, 6, 6])


def test_an_unaligned_load_keeps_its_pipe_longer() -> None:
    core = small_core("out", classes={LOAD: {"uses": "L"}}, unaligned_bytes=16, unaligned_cycles=1)
    found = schedule(stream_of("ldr q1, [x0]", "ldr q2, [x0]", loads={0: 8, 1: 32}), core)
    assert found.issued == [1, 3]


def test_a_load_as_short_as_its_misalignment_does_not() -> None:
    core = small_core("out", classes={LOAD: {"uses": "L"}}, unaligned_bytes=32, unaligned_cycles=1)
    assert schedule(stream_of("ldr q1, [x0]", "ldr q2, [x0]", loads={0: 8, 1: 32}), core).issued == [1, 2]


TEXTS = st.sampled_from((
    *APART[:3], "add v2.4s, v1.4s, v1.4s", "mul v1.4s, v2.4s, v3.4s", "mla v2.4s, v1.4s, v3.4s", "add x1, x1, #1",
    "ldr q3, [x1]", "str q2, [x1]",
))  # fmt: skip
CORES = st.builds(
    lambda width, buffer, queue, uses: small_core(
        "out", width, {MULTIPLY: {"latency": 5, "uses": uses}, ACCUMULATE: {"latency": 5}, LOAD: {"latency": 4}},
        reorder_buffer=buffer, queues={"A": queue, "B": queue},
    ),
    st.integers(1, 4), st.integers(0, 6), st.integers(1, 4), st.sampled_from(["M*2", "A", "A|B", "A + B"]),
)  # fmt: skip


@pytest.mark.slow
@given(st.lists(TEXTS, min_size=1, max_size=30), CORES)
def test_no_instruction_issues_before_its_operands(texts: list[str], core: Core) -> None:
    stream = stream_of(*texts)
    found = schedule(stream, core)
    ready: dict[object, int] = {}
    for number, one in enumerate(stream):
        assert found.issued[number] >= max((ready.get(place, 0) for place in one.instruction.places_read), default=0)
        ready.update(dict.fromkeys(one.instruction.places_written, found.ready[number]))


@pytest.mark.slow
@given(st.lists(TEXTS, min_size=1, max_size=30), CORES)
def test_no_pipe_does_two_things_at_once(texts: list[str], core: Core) -> None:
    found = schedule(stream_of(*texts), core)
    busy = [(pipe, cycle) for used in found.pipes for pipe, start, end in used for cycle in range(start, end)]
    assert len(busy) == len(set(busy))


@pytest.mark.slow
@given(st.lists(TEXTS, min_size=1, max_size=30), CORES)
def test_no_cycle_dispatches_more_than_the_width(texts: list[str], core: Core) -> None:
    entered = schedule(stream_of(*texts), core).entered
    assert max(entered.count(cycle) for cycle in entered) <= core.width


def test_a_shorter_latency_can_slow_an_out_of_order_core() -> None:
    """Graham's anomaly: the second add, which nothing waits for, is now ready before the third and takes its pipe."""
    core = small_core("out", 3, {ADD: {"latency": 3, "uses": "A"}, MULTIPLY: {"latency": 4, "uses": "A*3"}})
    stream = stream_of(
        "mul v1.4s, v2.4s, v3.4s", "add v3.4s, v2.4s, v1.4s", "add v1.4s, v0.4s, v0.4s", "add v3.4s, v2.4s, v1.4s"
    )
    assert (schedule(stream, core).cycles, schedule(stream, core.with_latency(MULTIPLY, 1)).cycles) == (10, 11)


@pytest.mark.parametrize(("cycle", "matters"), [(66, True), (1000, False)])
def test_a_result_matters_for_as_long_as_a_reader_may_wait_for_it(cycle: int, matters: bool) -> None:
    """One of 64 cycles, as a division has, to a reader that needs it two cycles before it issues."""
    value = Value(0, WrittenRegister("x0", 64, None, "", updates_base=False, scalar=True), issued=1)
    assert ReferencePoint(cycle, 0).matters(value) == matters


def test_what_is_to_come_is_told_from_what_is_there() -> None:
    """The one is made three instructions back, the other three cycles ago."""
    made = WrittenRegister("x0", 4, None, "", updates_base=False, scalar=True)
    origin = ReferencePoint(10, 10)
    assert origin.value(Value(7, made)) != origin.value(Value(5, made, issued=7))
