"""The state of a pipeline: after equal ones the same instructions take the same cycles, whatever came before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from fractions import Fraction
from itertools import product
from typing import Literal

import pytest

from sim.timing.model.core import Core
from sim.timing.model.pipeline import pipeline
from sim.timing.model.stream import Executed
from support.small_cores import ACCUMULATE, ADD, LOAD, MULTIPLY, STORE, small_core, stream_of

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
