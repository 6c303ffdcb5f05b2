"""The state of a pipeline: after equal ones the same instructions take the same cycles, whatever came before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from fractions import Fraction
from itertools import product
from typing import Any, Literal

import pytest

from sim.timing.model.core import Core
from sim.timing.model.pipeline import pipeline
from sim.timing.model.stream import Executed
from support import small_cores
from support.small_cores import ACCUMULATE, ADD, LOAD, MULTIPLY, STORE, small_core

ADDRESS = 0x1008
"""Of all accesses: a load meets the latest store."""
TEXTS = (
    "add v1.4s, v1.4s, v0.4s", "mul v2.4s, v1.4s, v0.4s", "mla v2.4s, v1.4s, v3.4s", "ldr q1, [x1], #16",
    "ldr q3, [x1]", "str q2, [x1]", "add x1, x1, #1", "b.eq #0x1000",
)  # fmt: skip
PROBES = (
    (5, 4, 1, 6, 3, 0, 7, 2, 0, 1, 7, 5, 4),
    (7, 2, 1, 1, 0, 4, 6, 5, 3),
    (4, 6, 4, 0, 0, 0, 2),
)
"""By their numbers: what comes behind."""


_KNOWN: dict[str, Executed] = {}


def stream_of(*texts: str, **accesses: Any) -> list[Executed]:
    """As of the support, with the same instruction for the same text."""
    return [
        one._replace(instruction=_KNOWN.setdefault(text, one).instruction)
        for text, one in zip(texts, small_cores.stream_of(*texts, **accesses), strict=True)
    ]


def items() -> list[Executed]:
    made = []
    for text in TEXTS:
        access = {0: ADDRESS}
        loads, stores = text.startswith("ldr"), text.startswith("str")
        (one,) = stream_of(text, loads=access if loads else None, stores=access if stores else None)
        made.append(one._replace(taken=text.startswith("b.")))
    return made


def some_core(order: Literal["in", "out"], kind: int) -> Core:
    classes: dict[str, dict[str, object]] = {
        ADD: {"latency": "2.5"}, MULTIPLY: {"latency": 5, "uses": "M*2"}, LOAD: {"latency": 4, "uses": "L"},
        ACCUMULATE: {"latency": 5, "accumulate": 2, "group": "multiply", "uses": "M*1.5"}, STORE: {"uses": "L + S"},
    }  # fmt: skip
    return small_core(
        order, (2, 3)[kind], classes, reorder_buffer=(5, 2)[kind], retire_width=(1, 0)[kind],
        queues=({"A": 1, "B": 1, "M": 2}, {})[kind], store_forward_vector=Fraction(("6.5", "9")[kind]),
        store_forward_scalar=Fraction(3), taken_branch_interval=Fraction(("2.5", "1")[kind]),
        in_turn=(0, 1)[kind], unaligned_bytes=16, unaligned_cycles=1, address_delay=(0, 1)[kind],
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize("order", ["in", "out"])
def test_after_equal_states_the_same_instructions_take_the_same_cycles(order: Literal["in", "out"], kind: int) -> None:
    """When an instruction retires in order is no part of it: nothing waits for that."""
    core, some = some_core(order, kind), items()
    futures = defaultdict[Hashable, set[Hashable]](set)
    count = 0
    for length in range(4):
        for before in product(range(len(TEXTS)), repeat=length):
            future = []
            for probe in PROBES:
                engine = pipeline(core)
                engine.feed(some[number] for number in before)
                state, now = engine.state(), engine.now
                engine.feed(some[number] for number in probe)
                found = engine.schedule()
                times = [found.issued, found.ready, *([found.retired] if order == "out" else [])]
                future.append(tuple(at - now for of_all in times for at in of_all[length:]))
            futures[state].add(tuple(future))
            count += 1
    assert [some for some in futures.values() if len(some) > 1] == []
    assert len(futures) < count  # there are equal ones


FILLING = ["add v3.4s, v0.4s, v0.4s"] * 8
"""What takes a cycle each, and is through two cycles later."""


def states_after(core: Core, *streams: list[Executed]) -> list[Hashable]:
    engines = [pipeline(core) for _ in streams]
    for engine, stream in zip(engines, streams, strict=True):
        engine.feed(stream)
    return [engine.state() for engine in engines]


@pytest.mark.parametrize(("latencies", "is_alike"), [((1, 2), True), ((2, 3), True), ((3, 4), False), ((5, 7), False)])
def test_when_an_instruction_in_flight_is_ready_is_part_of_the_state_if_that_is_to_come(
    latencies: tuple[int, int], is_alike: bool
) -> None:
    """What it made is overwritten already, and the quotient before it takes longer: it retires then at the earliest."""
    quotient, product, last = "sdiv x3, x3, x4", "mul v2.4s, v0.4s, v0.4s", "add v2.4s, v0.4s, v0.4s"
    cores = [
        small_core("out", 1, {"scalar sdiv 64": {"latency": 30, "uses": "S"}, MULTIPLY: {"latency": one, "uses": "M"}})
        for one in latencies
    ]
    stream = stream_of(quotient, product, last, *FILLING[:2])
    ready, left = list[int](), list[Any]()
    for core in cores:
        engine = pipeline(core)
        engine.feed(stream)
        state: Any = engine.state()
        ready.append(engine.schedule().ready[1] - engine_now(core, stream))
        left.append([until for _, until in state[1]])
    assert ready == [latency - 2 for latency in latencies]
    assert (left[0] == left[1]) == is_alike


@pytest.mark.parametrize(("cycles", "left"), [(1, 0), (2, 0), (3, 0), (4, 1), (5, 2)])
def test_for_how_long_a_pipe_is_busy_is_part_of_the_state(cycles: int, left: int) -> None:
    """It is free at cycle 1 and so many; the last of the others is dispatched in cycle 4."""
    core = small_core("out", 1, {MULTIPLY: {"uses": f"M*{cycles}"}})
    (state,) = states_after(core, stream_of("mul v2.4s, v0.4s, v0.4s", *FILLING[:4]))
    assert isinstance(state, tuple)
    assert dict(zip(core.pipes, state[6], strict=True))["M"] == left


@pytest.mark.parametrize(("cycles", "left"), [(3, 0), (4, 0), (5, 1), (6, 2)])
def test_for_how_long_a_pipe_is_busy_is_part_of_the_state_in_order(cycles: int, left: int) -> None:
    """From cycle 0 on; the last of the others issues in cycle 4."""
    core = small_core("in", 1, {MULTIPLY: {"uses": f"M*{cycles}"}})
    (state,) = states_after(core, stream_of("mul v2.4s, v0.4s, v0.4s", *FILLING[:4]))
    assert isinstance(state, tuple)
    assert dict(zip(core.pipes, state[2], strict=True))["M"] == left


@pytest.mark.parametrize(("behind", "counts"), [(1, True), (5, True), (8, False)])
def test_a_result_is_part_of_the_state_in_order_for_as_long_as_it_may_be_waited_for(behind: int, counts: bool) -> None:
    core = small_core("in", 1, {MULTIPLY: {"latency": 7}})
    (state,) = states_after(core, stream_of("mul v2.4s, v0.4s, v0.4s", *FILLING[:behind]))
    assert isinstance(state, tuple)
    assert ("v2" in [name for name, *_ in state[1]]) == counts


@pytest.mark.parametrize(("behind", "counts"), [(0, True), (5, True), (8, False)])
def test_a_store_is_part_of_the_state_for_as_long_as_a_load_may_wait_for_it(behind: int, counts: bool) -> None:
    core = small_core("in", 1, store_forward_vector=Fraction(6))
    store = stream_of("str q2, [x1]", stores={0: ADDRESS})
    (state,) = states_after(core, [*stream_of(*FILLING * 3), *store, *stream_of(*FILLING[:behind])])
    assert isinstance(state, tuple)
    assert len(state[3]) == counts


def engine_now(core: Core, stream: list[Executed]) -> int:
    engine = pipeline(core)
    engine.feed(stream)
    return engine.now


def test_when_a_register_was_made_is_part_of_the_state_for_as_long_as_it_may_be_waited_for() -> None:
    moved = "add x1, x1, #1"
    core = small_core("out", 1, address_delay=20)
    first, second, third = states_after(
        core,
        stream_of(moved, *FILLING[:2], *FILLING),
        stream_of(*FILLING[:2], moved, *FILLING),
        stream_of(moved, *FILLING),
    )
    assert (first != second, second == third) == (True, True)
    long_ago = [stream_of(*some, *FILLING * 12) for some in ([moved, *FILLING[:2]], [*FILLING[:2], moved])]
    first, second = states_after(core, *long_ago)
    assert first == second


def test_when_a_store_was_made_is_part_of_the_state_for_as_long_as_it_is_forwarded() -> None:
    core = small_core("out", 1, store_forward_vector=Fraction(20), store_forward_scalar=Fraction(1))
    store = "str q0, [x1]"
    first, second, third = states_after(
        core, stream_of(store, *FILLING[:2], *FILLING, stores={0: 64}),
        stream_of(*FILLING[:2], store, *FILLING, stores={2: 64}), stream_of(store, *FILLING, stores={0: 64}),
    )  # fmt: skip
    assert (first != second, second == third) == (True, True)
    long_ago = [stream_of(store, *FILLING * 12, stores={0: 64}), stream_of(FILLING[0], *FILLING * 12)]
    first, second = states_after(core, *long_ago)
    assert first == second


def test_which_of_two_stores_a_load_waits_for_is_part_of_the_state() -> None:
    core = small_core(
        "out", 4, {MULTIPLY: {"latency": 9}, "scalar sdiv 64": {"latency": 30}}, store_forward_vector=Fraction(5)
    )
    product, store = "mul v1.4s, v1.4s, v0.4s", "str q1, [x1]"
    texts = (product, store, product, store, "ldr q3, [x3]")
    streams = [stream_of(*texts, stores={1: 64, 3: 128}, loads={4: address}) for address in (64, 128)]
    first, second = states_after(core, *streams)
    assert first != second
    assert len({pipeline_ready(core, stream) for stream in streams}) == 2


def pipeline_ready(core: Core, stream: list[Executed]) -> int:
    """When the last one is."""
    engine = pipeline(core)
    engine.feed(stream)
    return engine.schedule().ready[-1]


@pytest.mark.parametrize("order", ["in", "out"])
def test_a_state_does_not_say_how_long_ago_a_pipeline_began(order: Literal["in", "out"]) -> None:
    """Of chains of multiplications everything else is alike after one and after many, until averages come again."""
    core = some_core(order, 0)
    (multiply,) = stream_of("mul v1.4s, v1.4s, v0.4s")
    states = []
    for count in (40, 41, 80):
        engine = pipeline(core)
        engine.feed([multiply] * count)
        states.append(engine.state())
    assert states[0] == states[1] == states[2]
