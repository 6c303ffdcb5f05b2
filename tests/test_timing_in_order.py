"""The in-order pipeline, on cores small enough to schedule by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.timing.model.pipeline import schedule
from sim.timing.model.schedule import Stall, StallKind
from support.small_cores import ACCUMULATE, ADD, LOAD, MULTIPLY, SCALAR, STORE, small_core, stream_of

CHAIN = ("add v1.4s, v0.4s, v0.4s", "add v2.4s, v1.4s, v1.4s", "add v3.4s, v2.4s, v2.4s")
APART = ("add v1.4s, v0.4s, v0.4s", "add v2.4s, v0.4s, v0.4s", "add v3.4s, v0.4s, v0.4s", "add v4.4s, v0.4s, v0.4s")


def test_a_chain_takes_one_latency_for_each_instruction() -> None:
    assert schedule(stream_of(*CHAIN), small_core(classes={ADD: {"latency": 3}})).issued == (0, 3, 6)


def test_a_chain_ends_when_its_last_result_is_ready() -> None:
    assert schedule(stream_of(*CHAIN), small_core(classes={ADD: {"latency": 3}})).cycles == 9


def test_independent_instructions_issue_two_a_cycle() -> None:
    assert schedule(stream_of(*APART), small_core()).issued == (0, 0, 1, 1)


def test_an_instruction_that_must_be_first_waits_for_the_next_cycle() -> None:
    found = schedule(stream_of(*APART), small_core(classes={ADD: {"first": True}}))
    assert (found.issued, found.entry_stall[1]) == ((0, 1, 2, 3), Stall(StallKind.PAIRING, 0))


def test_a_full_cycle_is_the_reason_of_the_third_instruction() -> None:
    assert schedule(stream_of(*APART), small_core()).entry_stall[2] == Stall(StallKind.WIDTH, 1)


def test_a_pipe_that_is_busy_for_two_cycles_holds_the_next_one_up() -> None:
    found = schedule(stream_of(*APART), small_core(classes={ADD: {"uses": "M*2"}}))
    assert (found.issued, found.entry_stall[1]) == ((0, 2, 4, 6), Stall(StallKind.PIPE, 0, "M"))


def test_a_use_that_starts_late_lets_another_instruction_go_first_on_the_pipe() -> None:
    core = small_core(classes={ADD: {"uses": "M"}, LOAD: {"uses": "L*2 + M@1"}})
    found = schedule(stream_of("add v1.4s, v0.4s, v0.4s", "ldr q2, [x0]", "add v3.4s, v0.4s, v0.4s"), core)
    assert found.issued == (0, 0, 2)
    assert found.pipes == ((("M", 0, 1),), (("L", 0, 2), ("M", 1, 2)), (("M", 2, 3),))


def test_a_short_operation_does_not_wait_for_a_long_one_before_it() -> None:
    core = small_core(classes={MULTIPLY: {"latency": 9}})
    stream = stream_of("mul v1.4s, v0.4s, v0.4s", "add v2.4s, v0.4s, v0.4s", "add v3.4s, v2.4s, v2.4s")
    assert schedule(stream, core).issued == (0, 0, 1)


def test_an_accumulator_is_forwarded_to_an_instruction_of_its_group_only() -> None:
    core = small_core(classes={ACCUMULATE: {"latency": 5, "accumulate": 2, "group": "multiply"}})
    stream = stream_of("mla v1.4s, v0.4s, v0.4s", "mla v1.4s, v0.4s, v0.4s", "add v2.4s, v1.4s, v1.4s")
    assert schedule(stream, core).issued == (0, 2, 7)


MADD = {"scalar madd 64": {"latency": 5, "accumulate": 2, "group": "multiply"}}


@pytest.mark.parametrize(
    ("second", "issued"),
    [("madd x4, x1, x2, x0", 2), ("madd x0, x1, x2, x0", 2), ("madd x0, x0, x2, x3", 5), ("madd x4, x1, x0, x0", 5)],
)
def test_of_four_registers_the_last_one_is_added_to_where_it_is_no_factor(second: str, issued: int) -> None:
    assert schedule(stream_of("madd x0, x1, x2, x3", second), small_core(classes=MADD)).issued == (0, issued)


@pytest.mark.parametrize(("second", "issued"), [("mla v1.4s, v0.4s, v2.4s", 2), ("mla v1.4s, v1.4s, v2.4s", 5)])
def test_of_three_registers_the_first_one_is_added_to_where_it_is_no_factor(second: str, issued: int) -> None:
    core = small_core(classes={ACCUMULATE: {"latency": 5, "accumulate": 2, "group": "multiply"}})
    assert schedule(stream_of("mla v1.4s, v0.4s, v0.4s", second), core).issued == (0, issued)


@pytest.mark.parametrize("text", ["str q1, [x0]", "str q1, [x0], #16", "b #0x1000"])
def test_what_makes_no_value_is_done_a_cycle_after_it_issues(text: str) -> None:
    late = {name: {"latency": 5} for name in (STORE, "store vector 128 post-index", "branch unconditional")}
    core = small_core(classes=late)
    assert schedule(stream_of(text), core).ready == (1,)


def test_a_factor_is_not_forwarded() -> None:
    core = small_core(classes={ACCUMULATE: {"latency": 5, "accumulate": 2, "group": "multiply"}})
    assert schedule(stream_of("mla v1.4s, v0.4s, v0.4s", "mla v2.4s, v1.4s, v0.4s"), core).issued == (0, 5)


def test_an_alu_result_reaches_an_address_later() -> None:
    stream = stream_of("add x1, x1, #16", "ldr q0, [x1]")
    found = schedule(stream, small_core(address_delay=1))
    assert (found.issued, found.entry_stall[1]) == ((0, 2), Stall(StallKind.ADDRESS, 0, "x1"))


def test_an_updated_base_is_ready_before_the_loaded_value() -> None:
    core = small_core(classes={"load vector 128 post-index": {"latency": 7}})
    stream = stream_of("ldr q0, [x1], #16", "ldr q2, [x1]", "add v3.4s, v0.4s, v0.4s")
    assert schedule(stream, core).issued == (0, 1, 7)


def test_a_shifted_operand_is_read_early() -> None:
    stream = stream_of("add x1, x1, #1", "add x2, x3, x1, lsl #2")
    assert schedule(stream, small_core(shifted_delay=1)).issued == (0, 2)


def test_store_data_may_come_late() -> None:
    core = small_core(classes={ADD: {"latency": 4}}, store_data_late=1)
    assert schedule(stream_of("add v1.4s, v0.4s, v0.4s", "str q1, [x0]"), core).issued == (0, 3)


def test_a_load_of_bytes_of_two_stores_waits_for_the_later_one() -> None:
    core = small_core("in", classes={LOAD: {"latency": 4}, ADD: {"latency": 5}}, store_forward_vector=Fraction(9))
    stores = ("add v1.4s, v0.4s, v0.4s", "str q1, [x0]", "str q0, [x1]")
    orders = [(*stores[:2], stores[2]), (stores[0], stores[2], stores[1])]
    addresses = [{1: 64, 2: 72}, {1: 72, 2: 64}]
    found = [
        schedule(stream_of(*order, "ldr q2, [x2]", stores=at, loads={3: 66}), core).issued[3]
        for order, at in zip(orders, addresses, strict=True)
    ]
    assert found == [5 + 9 - 4] * 2


def test_a_load_waits_for_the_store_of_its_bytes() -> None:
    core = small_core(classes={LOAD: {"latency": 4}}, store_forward_vector=Fraction(9))
    stream = stream_of("str q1, [x0]", "ldr q2, [x1]", "add v3.4s, v2.4s, v2.4s", stores={0: 64}, loads={1: 72})
    found = schedule(stream, core)
    assert (found.issued, found.entry_stall[1]) == ((0, 5, 9), Stall(StallKind.STORE, 0))


@pytest.mark.parametrize("address", [44, 68], ids=["before", "behind"])
def test_a_load_waits_for_a_store_across_a_cache_line_on_both_sides_of_it(address: int) -> None:
    core = small_core(classes={LOAD: {"latency": 4}}, store_forward_vector=Fraction(9))
    stream = stream_of("str q1, [x0]", "ldr q2, [x1]", stores={0: 56}, loads={1: address})
    assert schedule(stream, core).entry_stall[1] == Stall(StallKind.STORE, 0)


def test_a_load_beside_the_stored_bytes_does_not_wait() -> None:
    core = small_core(classes={LOAD: {"latency": 4}}, store_forward_vector=Fraction(9))
    stream = stream_of("str q1, [x0]", "ldr q2, [x1]", stores={0: 64}, loads={1: 80})
    assert schedule(stream, core).issued == (0, 0)


def test_an_unaligned_load_keeps_its_pipe_longer() -> None:
    core = small_core(classes={LOAD: {"uses": "L"}}, unaligned_bytes=16, unaligned_cycles=1)
    assert schedule(stream_of("ldr q1, [x0]", "ldr q2, [x0]", loads={0: 8, 1: 32}), core).issued == (0, 2)


def test_an_unaligned_load_of_general_registers_does_not() -> None:
    core = small_core(
        classes={LOAD: {"uses": "L"}, "load pair 64": {"uses": "L"}}, unaligned_bytes=16, unaligned_cycles=1
    )
    assert schedule(stream_of("ldp x1, x2, [x0]", "ldr q2, [x0]", loads={0: 8, 1: 32}), core).issued == (0, 1)


def test_two_uses_with_the_same_alternatives_take_both() -> None:
    found = schedule(stream_of(*APART[:2]), small_core(classes={ADD: {"uses": "A|B + A|B"}}))
    assert (sorted(found.pipes[0]), found.issued) == ([("A", 0, 1), ("B", 0, 1)], (0, 1))


@pytest.mark.parametrize(("source", "issued"), [("v2", (0, 0)), ("v1", (0, 3))])
def test_what_is_not_merged_into_is_waited_for_only_as_a_source(source: str, issued: tuple[int, int]) -> None:
    core = small_core(classes={ADD: {"latency": 3}, "ASIMD narrow saturating high (sqxtn2)": {"merges": False}})
    assert schedule(stream_of("add v1.4s, v0.4s, v0.4s", f"sqxtn2 v1.8h, {source}.4s"), core).issued == issued


LANE = "LD1 lane (32-bit)"
MERGED = ("add v1.4s, v0.4s, v0.4s", "ld1 {v1.s}[0], [x1]", "add v2.4s, v1.4s, v1.4s")


@pytest.mark.parametrize(("merge", "issued"), [({}, (0, 6, 13)), ({"merge": 2}, (0, 1, 8)), ({"merge": 7}, (0, 6, 13))])
def test_the_old_value_of_what_a_load_merges_into_is_needed_late(
    merge: dict[str, int], issued: tuple[int, ...]
) -> None:
    core = small_core(classes={ADD: {"latency": 6}, LANE: {"latency": 7, **merge}})
    assert schedule(stream_of(*MERGED), core).issued == issued


def test_the_address_of_a_load_that_merges_is_not_needed_late() -> None:
    core = small_core(classes={SCALAR: {"latency": 4}, LANE: {"latency": 7, "merge": 2}})
    assert schedule(stream_of("add x1, x1, #16", "ld1 {v1.s}[0], [x1]"), core).issued == (0, 4)


def test_a_load_of_structures_that_moves_its_base_takes_more_slots() -> None:
    core = small_core(width=4, structure_writeback_slots=2, classes={LANE: {"uses": ""}})
    pair = ("ld1 {v1.s}[0], [x1], #4", "ld1 {v2.s}[0], [x2], #4")
    assert schedule(stream_of(*pair), core).issued == (0, 1)
    assert schedule(stream_of(*(text.removesuffix(", #4") for text in pair)), core).issued == (0, 0)


def test_a_latency_between_two_cycles_is_reached_on_average() -> None:
    chain = [f"add v{k % 2}.4s, v{(k + 1) % 2}.4s, v7.4s" for k in range(101)]
    assert schedule(stream_of(*chain), small_core(classes={ADD: {"latency": "6.27"}})).issued[100] == 627


def test_an_empty_stream_takes_no_cycle() -> None:
    assert schedule([], small_core()).cycles == 0


def test_instructions_with_assumed_figures_are_counted() -> None:
    core = small_core(classes={ADD: {"status": "unmodelled"}})
    assert schedule(stream_of(*CHAIN, "mul v1.4s, v0.4s, v0.4s"), core).unmodelled == {ADD: 3}


TEXTS = st.sampled_from((
    *CHAIN, "mul v1.4s, v2.4s, v3.4s", "mla v2.4s, v1.4s, v3.4s", "add x1, x1, #1", "ldr q3, [x1]", "str q2, [x1]",
))  # fmt: skip
EQUAL = {ADD: {"latency": 3}, MULTIPLY: {"latency": 5}, ACCUMULATE: {"latency": 5}, LOAD: {"latency": 4}}


@pytest.mark.slow
@given(st.lists(TEXTS, min_size=1, max_size=30), st.sampled_from([ADD, MULTIPLY, ACCUMULATE, LOAD, STORE, SCALAR]))
def test_a_shorter_latency_never_slows_an_in_order_core_of_equal_pipes(texts: list[str], name: str) -> None:
    core = small_core(classes=EQUAL)
    stream = stream_of(*texts)
    assert schedule(stream, core.with_latency(name, 1)).cycles <= schedule(stream, core).cycles


@pytest.mark.slow
@given(st.lists(TEXTS, min_size=1, max_size=30))
def test_a_further_equal_pipe_never_slows_an_in_order_core(texts: list[str]) -> None:
    one = {name: {**fields, "uses": "A*2"} for name, fields in EQUAL.items()}
    two = {name: {**fields, "uses": "A|B*2"} for name, fields in EQUAL.items()}
    stream = stream_of(*texts)
    assert schedule(stream, small_core(classes=two)).cycles <= schedule(stream, small_core(classes=one)).cycles


@pytest.mark.slow
@given(st.lists(TEXTS, min_size=1, max_size=30))
def test_no_instruction_issues_before_its_operands(texts: list[str]) -> None:
    stream = stream_of(*texts)
    found = schedule(stream, small_core(classes=EQUAL))
    ready: dict[object, int] = {}
    for number, one in enumerate(stream):
        assert found.issued[number] >= max((ready.get(place, 0) for place in one.instruction.places_read), default=0)
        ready.update(dict.fromkeys(one.instruction.places_written, found.ready[number]))
