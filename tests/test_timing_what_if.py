"""Changed cores, and loops unrolled and interleaved."""

from __future__ import annotations

from fractions import Fraction

import pytest

from sim.timing.loops.loop import Loop
from sim.timing.loops.variants import interleaved, unrolled
from sim.timing.loops.what_if import (
    Change,
    ChangedCycles,
    cycles_of,
    further_pipe,
    latency,
    parameter,
    sensitivity,
    what_if,
)
from support.small_cores import ACCUMULATE, ADD, LOAD, MULTIPLY, small_core, stream_of

CHAIN = stream_of("mul v1.4s, v0.4s, v0.4s", "add v2.4s, v1.4s, v1.4s")
SLOW = {MULTIPLY: {"latency": 6, "uses": "M*2"}}


def dot_product(*more: str) -> Loop:
    """A loop that loads, accumulates and counts: 16 bytes an iteration."""
    texts = ("ldr q1, [x0], #16", "mla v2.4s, v1.4s, v3.4s", *more, "subs x2, x2, #4", "cbnz x2, #0x1000")
    body = [one._replace(taken=one.instruction.is_branch) for one in stream_of(*texts, loads={0: 0x4000})]
    return Loop(tuple(body), ((16,), *[()] * (len(texts) - 1)))


def texts_of(loop: Loop) -> list[str]:
    return [one.instruction.text for one in loop.body]


def test_a_shorter_latency_gains_what_a_chain_waited_longer() -> None:
    assert what_if(CHAIN, small_core(classes=SLOW), [latency(MULTIPLY, 2)]).gain == 4


def test_several_changes_are_made_together() -> None:
    outcome = what_if(CHAIN, small_core(classes=SLOW), [latency(MULTIPLY, 2), latency(ADD, 3)])
    assert (outcome.gain, outcome.change) == (Fraction(2), f"latency of {MULTIPLY} 2, latency of {ADD} 3")


def test_another_core_takes_its_own_cycles() -> None:
    assert what_if(CHAIN, small_core(classes=SLOW), [Change("small", lambda _: small_core())]).after == 2


def test_no_change_gains_nothing() -> None:
    assert what_if(CHAIN, small_core(), []).speedup == 1


def test_nothing_is_as_fast_as_nothing() -> None:
    assert ChangedCycles("none", Fraction(0), Fraction(0)).speedup == 1


def test_other_pipes_may_cost() -> None:
    apart = stream_of("add v1.4s, v0.4s, v0.4s", "add v2.4s, v0.4s, v0.4s")
    assert what_if(apart, small_core(), [Change("pipes", lambda core: core.with_uses(ADD, "M*5"))]).gain == -5


def test_a_further_pipe_doubles_what_one_pipe_limits() -> None:
    apart = stream_of(*[f"mul v{number}.4s, v0.4s, v0.4s" for number in range(1, 9)])
    assert what_if(apart * 10, small_core(width=4, classes=SLOW), [further_pipe("M")]).gain == 80


def test_a_further_pipe_has_a_queue_like_the_first() -> None:
    assert further_pipe("M").apply(small_core("out", queues={"M": 5})).queues == {"M": 5, "M_2": 5}


def test_a_pipe_that_is_not_there_cannot_be_doubled() -> None:
    with pytest.raises(ValueError, match="there is no pipe 'X'; the pipes are A, B, M, L, S"):
        what_if(CHAIN, small_core(), [further_pipe("X")])


def test_a_parameter_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="'speed' is not a parameter of a core"):
        what_if(CHAIN, small_core(), [parameter("speed", 2)])


def test_a_loop_is_timed_by_the_iteration() -> None:
    core = small_core(classes={ACCUMULATE: {"latency": 4, "accumulate": 3, "group": "multiply"}})
    assert cycles_of(dot_product(), core) == 3


def test_what_limits_a_loop_is_the_first_of_its_sensitivities() -> None:
    core = small_core(width=4, classes={MULTIPLY: {"latency": 6}, ADD: {"latency": 3}})
    loop = Loop(tuple(stream_of("mul v1.4s, v1.4s, v0.4s", "add v2.4s, v0.4s, v0.4s")), ((), ()))
    found = sensitivity(loop, core)
    assert (found[0].change, found[0].gain) == (f"latency of {MULTIPLY} 5", Fraction(1))
    assert all(outcome.gain == 0 for outcome in found[1:])


def test_every_latency_pipe_slot_and_place_that_is_used_is_tried() -> None:
    core = small_core("out", 2, SLOW, reorder_buffer=3)
    assert {outcome.change for outcome in sensitivity(CHAIN, core)} == {
        f"latency of {MULTIPLY} 5", "a further pipe A", "a further pipe B", "a further pipe M", "width 3",
        "reorder_buffer 6",
    }  # fmt: skip


def test_an_unrolled_loop_counts_and_branches_once() -> None:
    assert texts_of(unrolled(dot_product(), 2)) == [
        "ldr q1, [x0], #16", "mla v2.4s, v1.4s, v3.4s", "ldr q1, [x0], #16", "mla v2.4s, v1.4s, v3.4s",
        "subs x2, x2, #4", "cbnz x2, #0x1000",
    ]  # fmt: skip


def test_an_unrolled_loop_goes_through_the_same_addresses() -> None:
    loop, twice = dot_product(), unrolled(dot_product(), 2)
    loaded = [one.loads for number in range(3) for one in twice.iteration(number) if one.loads]
    assert loaded == [one.loads for number in range(6) for one in loop.iteration(number) if one.loads]


def test_a_copy_has_accumulators_and_pointers_of_its_own_and_shares_what_is_only_read() -> None:
    assert texts_of(interleaved(dot_product(), 2)) == [
        "ldr q1, [x0], #16", "ldr q4, [x1], #16", "mla v2.4s, v1.4s, v3.4s", "mla v5.4s, v4.4s, v3.4s",
        "subs x2, x2, #4", "cbnz x2, #0x1000",
    ]  # fmt: skip


def test_copies_work_on_consecutive_iterations() -> None:
    loaded = [one.loads[0][0] for one in interleaved(dot_product(), 3).iteration(2) if one.loads]
    assert loaded == [0x4000 + 16 * 6, 0x4000 + 16 * 7, 0x4000 + 16 * 8]


def test_interleaving_hides_a_recurrence() -> None:
    core = small_core(width=4, classes={ACCUMULATE: {"latency": 6, "uses": "M"}, LOAD: {"uses": "L"}})
    assert (cycles_of(dot_product(), core), cycles_of(interleaved(dot_product(), 2), core) / 2) == (
        Fraction(6),
        Fraction(3),
    )


@pytest.mark.parametrize("more", [(), ("csel x5, x6, x7, eq",)], ids=["as it is", "with flags"])
def test_one_copy_is_the_loop_itself(more: tuple[str, ...]) -> None:
    assert texts_of(interleaved(dot_product(*more), 1)) == texts_of(dot_product(*more))


def test_lists_of_registers_stay_in_a_row() -> None:
    loop = Loop(tuple(stream_of("ld2 {v4.4s, v5.4s}, [x0]", "add v6.4s, v4.4s, v5.4s", loads={0: 0})), ((16,), ()))
    assert texts_of(interleaved(loop, 2))[1] == "ld2 {v7.4s, v8.4s}, [x0]"


def test_an_element_of_16_bits_stays_below_v16() -> None:
    names = (f"mov v{number}.16b, v{number + 1}.16b" for number in range(2, 15, 2))
    loop = Loop(tuple(stream_of("add v1.8h, v2.8h, v2.8h", "mul v20.8h, v21.8h, v1.h[0]", *names)), ((),) * 9)
    assert texts_of(interleaved(loop, 2))[3].endswith("v0.h[0]")


def test_too_few_registers_are_counted() -> None:
    with pytest.raises(ValueError, match="16 copies need 30 more vector registers, and 29 are free"):
        interleaved(dot_product(), 16)


def test_registers_that_suffice_but_not_in_a_row_are_told_apart() -> None:
    """All but v1 and v3 are named: enough for a pair, but not beside each other."""
    others = [number for number in range(32) if number not in (1, 3, 4, 5)]
    pairs = zip(others[::2], others[1::2], strict=True)
    texts = ["ld2 {v4.4s, v5.4s}, [x0]", *(f"add v4.4s, v{one}.4s, v{other}.4s" for one, other in pairs)]
    loop = Loop(tuple(stream_of(*texts, loads={0: 0})), ((0,), *[()] * 14))
    limits = r"\(some of them in a row, or below v16\), and 2 are free$"
    with pytest.raises(ValueError, match=f"^2 copies need 2 more vector registers {limits}"):
        interleaved(loop, 2)
    with pytest.raises(ValueError, match=r"^3 copies need 4 more vector registers, and 2 are free$"):
        interleaved(loop, 3)


def test_flags_cannot_be_shared() -> None:
    with pytest.raises(ValueError, match="needs the flags, of which there is one set"):
        interleaved(dot_product("csel x5, x6, x7, eq"), 2)


def test_a_branch_in_the_middle_is_not_interleaved() -> None:
    with pytest.raises(ValueError, match="branches in the middle of the loop"):
        interleaved(dot_product("cbz x9, #0x1000"), 2)


def test_registers_of_a_list_go_on_behind_the_last_with_the_first() -> None:
    """All others are read: v31 and v0 are free."""
    read = [f"st1 {{v{n}.4s, v{n + 1}.4s, v{n + 2}.4s, v{n + 3}.4s}}, [x1]" for n in range(3, 31, 4)]
    body = stream_of("ld2 {v1.4s, v2.4s}, [x0]", *read)
    assert texts_of(interleaved(Loop(tuple(body), ((),) * 8), 2))[1] == "ld2 {v31.4s, v0.4s}, [x0]"


@pytest.mark.parametrize("variant", [unrolled, interleaved])
def test_no_copy_at_all_is_refused(variant: type[Loop]) -> None:
    with pytest.raises(ValueError, match="once or more, not 0 times"):
        variant(dot_product(), 0)  # type: ignore[arg-type]


def test_an_average_gain_is_a_fraction() -> None:
    loop = Loop(tuple(stream_of("add v1.4s, v1.4s, v0.4s")), ((),))
    assert what_if(loop, small_core(classes={ADD: {"latency": "2.5"}}), [latency(ADD, 2)]).gain == Fraction(1, 2)
