"""Loops brought to their steady state and counted on, against the simulation of every instruction."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from fractions import Fraction
from random import Random
from typing import Literal

import pytest

from sim.timing.loops.loop import Loop
from sim.timing.loops.steady import FEW_IN_FLIGHT, time_loop
from sim.timing.model.core import Core
from sim.timing.model.out_of_order import OutOfOrder
from sim.timing.model.pipeline import pipeline
from sim.timing.model.stream import Executed
from support.small_cores import ACCUMULATE, ADD, LOAD, MULTIPLY, small_core, stream_of

TEXTS = (
    "add v1.4s, v1.4s, v0.4s", "add v2.4s, v1.4s, v3.4s", "mul v3.4s, v1.4s, v2.4s", "mla v4.4s, v3.4s, v2.4s",
    "add x3, x3, #1", "ldr q1, [x1], #16", "ldr q2, [x1]", "str q4, [x2], #16", "str q3, [x1]",
)  # fmt: skip
CLASSES: dict[str, dict[str, object]] = {
    ADD: {"latency": "2.5"}, MULTIPLY: {"latency": 5, "uses": "M*2"}, LOAD: {"latency": 4, "uses": "L"},
    ACCUMULATE: {"latency": 5, "accumulate": 2, "group": "multiply", "uses": "M*1.5"},
}  # fmt: skip


def random_loop(random: Random) -> Loop:
    """A body of up to a dozen instructions; what moves, moves by 16 bytes, and stores and loads meet."""
    body, strides = [], []
    for text in random.choices(TEXTS, k=random.randint(2, 12)):
        address = {0: 0x1000 + 16 * random.randint(0, 6)}
        loads, stores = text.startswith("ldr"), text.startswith("str")
        body += stream_of(text, loads=address if loads else None, stores=address if stores else None)
        strides.append((16,) if loads or stores else ())
    return Loop(tuple(body), tuple(strides))


def random_core(random: Random) -> Core:
    return small_core(
        random.choice(["in", "out"]), random.randint(1, 4), CLASSES, reorder_buffer=random.choice([0, 24]),
        store_forward_vector=Fraction(random.choice(["6", "6.5", "12"])), queues={"A": 3, "B": 3, "M": 4},
        unaligned_bytes=32, unaligned_cycles=1,
    )  # fmt: skip


def simulated(loop: Loop, core: Core, count: int) -> int:
    engine = pipeline(core)
    engine.feed([one for number in range(count) for one in loop.iteration(number)])
    return engine.schedule().cycles


@pytest.mark.parametrize("seed", range(100))
def test_a_random_loop_takes_the_cycles_of_its_full_simulation(seed: int) -> None:
    random = Random(seed)
    loop, core, count = random_loop(random), random_core(random), random.randint(1, 400)
    assert time_loop(loop, core, count).cycles == simulated(loop, core, count)


@pytest.mark.parametrize("order", ["in", "out"])
@pytest.mark.parametrize("seed", range(12))
def test_a_loop_on_a_core_with_room_for_so_many_comes_to_repeat_itself(order: Literal["in", "out"], seed: int) -> None:
    """There are only so many states then."""
    loop = random_loop(Random(seed))
    core = small_core(
        order, 2, CLASSES, reorder_buffer=8, store_forward_vector=Fraction(13, 2), queues={"A": 3, "M": 4},
        unaligned_bytes=32, unaligned_cycles=1,
    )  # fmt: skip
    found = time_loop(loop, core, 500)
    assert (found.period > 0, found.warm_up < 200) == (True, True)


def loop_of(*texts: str) -> Loop:
    return Loop(tuple(stream_of(*texts)), ((),) * len(texts))


def test_a_hundred_million_iterations_of_a_chain_take_its_latency_each() -> None:
    found = time_loop(loop_of("add v1.4s, v1.4s, v0.4s"), small_core(classes={ADD: {"latency": 3}}), 10**8)
    assert (found.cycles, found.per_iteration, found.period) == (3 * 10**8, Fraction(3), 1)


def test_a_period_of_several_iterations_is_found() -> None:
    found = time_loop(loop_of("add v1.4s, v1.4s, v0.4s"), small_core(classes={ADD: {"latency": "3.25"}}), 1000)
    assert (found.per_iteration, found.period, found.cycles) == (Fraction(13, 4), 4, 3250)


def test_a_loop_that_ends_before_it_repeats_has_no_period() -> None:
    assert time_loop(loop_of("add v1.4s, v1.4s, v0.4s"), small_core(), 1).period == 0


def test_a_store_that_a_later_iteration_loads_is_waited_for() -> None:
    body = stream_of("ldr q1, [x1]", "add v2.4s, v1.4s, v0.4s", "str q2, [x2]", loads={0: 64}, stores={2: 64})
    core = small_core(classes={LOAD: {"latency": 4}}, store_forward_vector=Fraction(7))
    assert time_loop(Loop(tuple(body), ((0,), (), (0,))), core, 1000).per_iteration == 8


def test_accesses_that_move_differently_and_meet_are_simulated_to_the_end() -> None:
    body = stream_of("ldr q1, [x1]", "str q1, [x2]", loads={0: 0x2000}, stores={1: 0x1000})
    loop = Loop(tuple(body), ((0,), (16,)))
    core = small_core(classes={LOAD: {"latency": 4}}, store_forward_vector=Fraction(20))
    assert time_loop(loop, core, 400).cycles == simulated(loop, core, 400)


@pytest.mark.parametrize(
    ("load", "store"),
    [((0x1000, 0), (0x10A0, -16)), ((0x1000, 0), (0xF60, 16)), ((0x10A0, -16), (0x1000, 0)), ((0xF60, 16), (0x1000, 0)),
     ((0x10B0, -8), (0xFC0, 16)), ((0xFC0, 16), (0x10B0, -8))],
)  # fmt: skip
def test_a_loop_repeats_itself_for_as_long_as_accesses_that_move_differently_are_apart(
    load: tuple[int, int], store: tuple[int, int]
) -> None:
    """Of 16 bytes each: in ten iterations they get side by side or less, in the eleventh they meet."""
    body = stream_of("ldr q1, [x1]", "str q2, [x2]", loads={0: load[0]}, stores={1: store[0]})
    loop = Loop(tuple(body), ((load[1],), (store[1],)))
    assert [time_loop(loop, small_core(), count).period > 0 for count in (10, 11)] == [True, False]


def test_every_store_of_an_instruction_is_asked_where_it_gets_to() -> None:
    """The second one meets the load in the eleventh iteration."""
    load, pair = stream_of("ldr q1, [x1]", "stp q2, q3, [x2]", loads={0: 0x1000})
    pair = pair._replace(stores=((0x9000, 16), (0x10A0, 16)))
    loop = Loop((load, pair), ((0,), (0, -16)))
    assert [time_loop(loop, small_core(), count).period > 0 for count in (10, 11)] == [True, False]


def test_a_loop_of_no_iteration_is_refused() -> None:
    with pytest.raises(ValueError, match="a loop runs once or more, not 0 times"):
        time_loop(loop_of("add v1.4s, v1.4s, v0.4s"), small_core(), 0)


def without_steady_state() -> Loop:
    """A load and a store that meet after many iterations."""
    body = stream_of("ldr q1, [x1]", "str q1, [x2]", loads={0: 0x20000000}, stores={1: 0x1000})
    return Loop(tuple(body), ((0,), (16,)))


def test_an_endless_search_is_given_up_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.timing.loops.steady.LONGEST_SEARCH", 20_000)
    with pytest.raises(ValueError, match="no steady state in 20000 instructions: give a count of at most 10001 "):
        time_loop(without_steady_state(), small_core(), 10**8)


@pytest.mark.parametrize(("why_not", "in_python"), [("", 3), ("there is no compiler", 200)])
@pytest.mark.parametrize("order", ["in", "out"])
def test_a_loop_that_does_not_settle_soon_is_simulated_to_its_end(
    order: Literal["in", "out"], why_not: str, in_python: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In C, and where there is no compiler in Python.  It would repeat itself after four iterations."""
    loop, core = loop_of("add v1.4s, v1.4s, v0.4s"), small_core(order, classes={ADD: {"latency": "3.25"}})
    cycles, fed, feed = simulated(loop, core, 200), list[Executed](), type(pipeline(core)).feed
    monkeypatch.setattr("sim.timing.loops.steady.USUAL_SEARCH", 2)
    monkeypatch.setattr("sim.timing.loops.steady.why_not", lambda: why_not)
    monkeypatch.setattr(type(pipeline(core)), "feed", lambda self, stream: feed(self, kept_in(fed, stream)))
    found = time_loop.__wrapped__(loop, core, 200)
    assert (found.period, found.cycles, found.per_iteration) == (0, cycles, Fraction(cycles, 200))
    assert len(fed) == in_python


def kept_in(fed: list[Executed], stream: Iterable[Executed]) -> Iterator[Executed]:
    for one in stream:
        fed.append(one)
        yield one


def test_a_loop_that_fills_a_large_buffer_repeats_itself_once_it_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """There are as many in flight from then on, more than of which every state is kept."""
    monkeypatch.setattr("sim.timing.loops.steady.FEW_IN_FLIGHT", 16)
    core = small_core("out", 4, {ADD: {"latency": 3, "uses": "A"}}, reorder_buffer=24)
    found = time_loop(loop_of("add v1.4s, v1.4s, v0.4s"), core, 300)
    assert (found.per_iteration, found.period) == (Fraction(3), 1)


@pytest.mark.slow
def test_of_states_with_ever_more_in_flight_only_those_with_few_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    kept, state = list[int](), OutOfOrder.state

    def counted(engine: OutOfOrder) -> Hashable:
        kept.append(engine.in_flight)
        return state(engine)

    monkeypatch.setattr(OutOfOrder, "state", counted)
    time_loop(loop_of("mul v1.4s, v1.4s, v0.4s"), small_core("out", 4, {MULTIPLY: {"latency": 50}}), 3000)
    many = sum(in_flight > FEW_IN_FLIGHT for in_flight in kept)
    assert (len(kept) > FEW_IN_FLIGHT, many < 50) == (True, True)
