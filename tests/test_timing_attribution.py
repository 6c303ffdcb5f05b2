"""Every cycle of a schedule has a reason, once."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given

from sim.timing.analysis.attribution import Charge, charge_of, charged, grouped, life
from sim.timing.analysis.reasons import Activity, ReasonGroup, reason_of
from sim.timing.analysis.top_down import pipe_uses, top_down
from sim.timing.model.core import Core
from sim.timing.model.pipeline import schedule
from sim.timing.model.schedule import NO_STALL, Schedule, Stage, StallKind
from support.random_schedules import Case, Order, cases
from support.small_cores import ACCUMULATE, ADD, LOAD, MULTIPLY, small_core, stream_of

SUM = ("mul v1.4s, v0.4s, v0.4s", "add v2.4s, v1.4s, v1.4s")


def charges(found: Schedule) -> list[Charge]:
    return [charge_of(edge) for edge in charged(found)]


def sentences(core: Core, *texts: str) -> list[str]:
    """Why the cycles of a stream pass, in their order; instruction n is in line n + 1."""
    found = schedule(stream_of(*texts), core)
    return [charge.reason(found).sentence(lambda pc: ("a.c", (pc - 0x1000) // 4 + 1)) for charge in charges(found)]


@pytest.mark.slow
@given(cases())
def test_charges_follow_each_other_from_the_first_cycle_to_the_last(case: Case) -> None:
    found = case.schedule
    parts = [charge.segment for charge in charges(found)]
    assert [0, *(part.end for part in parts)] == [*(part.start for part in parts), found.cycles]


@pytest.mark.slow
@given(cases())
def test_every_charge_is_of_a_cycle_at_least(case: Case) -> None:
    found = case.schedule
    assert all(charge.segment.cycles > 0 for charge in charges(found))


@pytest.mark.slow
@given(cases())
def test_a_life_goes_from_the_entry_before_it_to_its_retirement(case: Case) -> None:
    found = case.schedule
    for number in range(len(found.stream)):
        parts = life(found, number)
        before = found.entered[number - 1] if number else 0
        assert sum(part.cycles for part in parts) == found.retired[number] - before
        assert all(first.end == second.start for first, second in pairwise(parts))


@pytest.mark.slow
@given(cases("in"))
def test_in_order_a_wait_is_charged_to_the_oldest_instruction_not_issued(case: Case) -> None:
    found = case.schedule
    waits = [charge for charge in charges(found) if charge.segment.activity is Activity.ENTRY]
    for charge in waits:
        issued = sum(issue <= charge.segment.start for issue in found.issued)
        assert charge.number == issued or charge.segment.start == 0


@pytest.mark.slow
@given(cases())
def test_the_cycles_of_all_reasons_are_those_of_the_schedule(case: Case) -> None:
    found = case.schedule
    assert sum(top_down(found).groups.values()) == found.cycles


@pytest.mark.slow
@given(cases())
def test_the_cycles_of_all_lines_are_those_of_the_schedule(case: Case) -> None:
    found = case.schedule
    halves = top_down(found).lines(lambda pc: ("a.c", pc // 8) if pc % 8 else None)
    assert sum(halves.values()) == found.cycles


@pytest.mark.slow
@given(cases())
def test_executions_of_all_instructions_are_the_length_of_the_stream(case: Case) -> None:
    found = case.schedule
    assert sum(account.executions for account in top_down(found).accounts) == len(found.stream)


@pytest.mark.slow
@given(cases())
def test_a_wait_with_a_cause_never_names_a_later_register_producer(case: Case) -> None:
    found = case.schedule
    for charge in charges(found):
        if charge.segment.stall.kind in (StallKind.OPERAND, StallKind.ACCUMULATOR, StallKind.ADDRESS):
            assert 0 <= charge.segment.stall.cause < charge.number


def test_an_operand_is_named_with_its_producer_and_line() -> None:
    core = small_core(classes={MULTIPLY: {"latency": 4}})
    assert sentences(core, *SUM)[0] == "waits for v1 from mul (line 1)"


def test_in_order_it_is_said_who_is_waited_for_and_that_what_executes_last_waits_for_nobody() -> None:
    """The product takes 4 cycles, the sum 3 of its own, and what begins beside the sum is done before it."""
    core = small_core(classes={MULTIPLY: {"latency": 4}, ADD: {"latency": 3}})
    path = charged(schedule(stream_of(*SUM, "mov x1, x2"), core))
    assert [(edge.start, edge.end, edge.source, edge.target, edge.stage, edge.kind, edge.what) for edge in path] == [
        (0, 4, 0, 1, Stage.ENTERED, StallKind.OPERAND, "v1"), (4, 7, -1, 1, Stage.READY, StallKind.NONE, ""),
    ]  # fmt: skip


def test_in_order_what_is_done_as_it_enters_ends_a_stream_without_executing() -> None:
    core = small_core(width=1, classes={"scalar ALU add imm": {"latency": 0}})
    path = charged(schedule(stream_of("add x1, x1, #1", "add x2, x2, #1"), core))
    assert [(edge.start, edge.end, edge.target, edge.kind) for edge in path] == [(0, 1, 1, StallKind.WIDTH)]


def test_out_of_order_an_operand_is_named_too() -> None:
    core = small_core("out", classes={MULTIPLY: {"latency": 4}})
    assert "waits for v1 from mul (line 1)" in sentences(core, *SUM)


def test_an_accumulator_is_named_as_one() -> None:
    core = small_core(classes={ACCUMULATE: {"latency": 4, "accumulate": 3, "group": "multiply"}})
    accumulate = "mla v1.4s, v0.4s, v0.4s"
    assert sentences(core, accumulate, accumulate)[0] == "waits for the accumulator v1 from mla (line 1)"


def test_a_busy_pipe_is_named_with_what_keeps_it_busy() -> None:
    core = small_core(classes={ADD: {"uses": "M*3"}})
    assert sentences(core, "add v1.4s, v0.4s, v0.4s", "add v2.4s, v0.4s, v0.4s")[0] == "pipe M busy with add (line 1)"


def test_a_loaded_operand_is_load_to_use() -> None:
    found = schedule(stream_of("ldr q1, [x0]", SUM[1], loads={0: 64}), small_core(classes={LOAD: {"latency": 4}}))
    assert top_down(found).groups == {ReasonGroup.LOAD: 4, ReasonGroup.EXECUTION: 1}


def test_what_loads_only_sometimes_is_load_to_use_where_it_did() -> None:
    load, use = stream_of("ldr q1, [x0]", SUM[1], loads={0: 64})
    without, core = load._replace(loads=()), small_core(classes={LOAD: {"latency": 4}})
    found = schedule([load, use, without, use, load, use], core)
    assert top_down(found).groups == {ReasonGroup.LOAD: 8, ReasonGroup.RESULT: 4, ReasonGroup.EXECUTION: 1}


def test_an_address_that_a_load_moves_on_is_not_load_to_use() -> None:
    found = schedule(stream_of("ldr q1, [x0], #16", "ldr q2, [x0]", loads={0: 64, 1: 80}), small_core(writeback=3))
    assert charges(found)[0].reason(found).group is ReasonGroup.RESULT


def test_an_address_that_a_load_moves_on_by_a_register_is_not_load_to_use() -> None:
    stream = stream_of("ld1 {v1.16b}, [x0], x2", "ldr q2, [x0]", loads={0: 64, 1: 80})
    found = schedule(stream, small_core(writeback=3))
    assert charges(found)[0].reason(found).group is ReasonGroup.RESULT


def test_an_address_that_is_loaded_is_load_to_use() -> None:
    core = small_core(classes={"load scalar 64 imm": {"latency": 4}})
    found = schedule(stream_of("ldr x0, [x0]", "ldr x0, [x0]", loads={0: 64, 1: 80}), core)
    assert charges(found)[0].reason(found).group is ReasonGroup.LOAD


def test_a_full_cycle_is_issue_in_order_and_dispatch_out_of_order() -> None:
    apart = [f"add v{number}.4s, v0.4s, v0.4s" for number in range(1, 8)]
    wide = {ADD: {"uses": ""}}
    assert "issue full" in sentences(small_core(classes=wide), *apart)
    assert "dispatch full" in sentences(small_core("out", classes=wide), *apart)


def test_a_stream_that_the_front_end_limits_is_charged_to_its_width() -> None:
    apart = [f"add v{number % 8}.4s, v9.4s, v9.4s" for number in range(100)]
    groups = top_down(schedule(stream_of(*apart), small_core("out", classes={ADD: {"uses": "A|B|M"}}))).groups
    assert groups[ReasonGroup.WIDTH] == 49


def test_what_waits_for_nobody_has_no_cause() -> None:
    found = schedule(stream_of("add v0.4s, v1.4s, v1.4s"), small_core())
    assert reason_of(found, Activity.ENTRY, NO_STALL).cause is None
    told = [reason_of(found, activity, NO_STALL).sentence() for activity in (Activity.ENTRY, Activity.ISSUE)]
    assert told == ["enters", "on its way to its pipe"]


def test_a_full_reorder_buffer_is_a_reason_of_its_own() -> None:
    core = small_core("out", 4, {MULTIPLY: {"latency": 30}}, reorder_buffer=4)
    apart = ["mul v1.4s, v0.4s, v0.4s", *["add v2.4s, v0.4s, v0.4s"] * 7]
    assert "reorder buffer full, mul (line 1) is not done" in sentences(core, *apart)


def test_an_instruction_without_an_address_is_named_by_its_text() -> None:
    stream = [one._replace(pc=None, next_pc=None) for one in stream_of(*SUM)]
    found = schedule(stream, small_core(classes={MULTIPLY: {"latency": 4}}))
    assert charges(found)[0].reason(found).sentence() == "waits for v1 from mul v1.4s, v0.4s, v0.4s"


def test_executions_of_one_instruction_share_an_account() -> None:
    one = stream_of(*SUM)
    assert [account.executions for account in top_down(schedule(one * 5, small_core())).accounts] == [5, 5]


def test_a_pipe_table_says_which_instruction_needs_it_longest() -> None:
    core = small_core(classes={ADD: {"uses": "M"}, MULTIPLY: {"uses": "M*3", "latency": 3}})
    use = next(use for use in pipe_uses(schedule(stream_of(*SUM), core)) if use.pipe == "M")
    assert (use.busy, [site.mnemonic for site in use.sites]) == (4, ["mul", "add"])


def test_a_pipe_is_busy_until_the_last_instruction_is_done() -> None:
    core = small_core(classes={ADD: {"uses": "M*4", "latency": 1}})
    found = schedule(stream_of("add v1.4s, v0.4s, v0.4s", "add v2.4s, v0.4s, v0.4s"), core)
    assert (found.cycles, {use.pipe: use.busy for use in pipe_uses(found)}["M"]) == (5, 5)


def test_a_pipe_that_is_used_after_the_last_instruction_is_done_is_not_busy() -> None:
    core = small_core(classes={ADD: {"uses": "A + M@4", "latency": 1}})
    assert {use.pipe: use.busy for use in pipe_uses(schedule(stream_of(SUM[1]), core))}["M"] == 0


@pytest.mark.slow
@given(cases())
def test_no_pipe_is_busy_for_longer_than_the_schedule(case: Case) -> None:
    assert max(use.busy for use in pipe_uses(case.schedule)) <= case.schedule.cycles


@pytest.mark.parametrize("order", ["in", "out"])
def test_an_empty_stream_charges_nothing(order: Order) -> None:
    found = schedule([], small_core(order))
    assert (charges(found), grouped(found, charged(found))) == ([], [])
