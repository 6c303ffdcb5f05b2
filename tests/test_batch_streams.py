"""Random streams of instructions on a batch: loops, calls and branches that part its members, against machines."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_random_streams import streams

from support.batches import Together
from support.streams import MAX_INSTRUCTIONS, random_stream
from support.streams_items import CODE, CODE_SIZE, DATA, DATA_SIZE, POOL, POOL_SIZE, Item, Pool, laid_out
from support.streams_vocabulary import POOL_BASE, vocabulary

MEMBERS, SEEDS, LENGTH = 6, 8, 120


def difference(items: Sequence[Item], rng: Random) -> str:
    """ "" where batch and machines do the same from random states, else what differs."""
    pool, together = Pool(), Together(MEMBERS)
    code = laid_out(items, CODE, pool)
    for address, size, permissions in ((CODE, CODE_SIZE, "rx"), (POOL, POOL_SIZE, "r"), (DATA, DATA_SIZE, "rw")):
        together.map(address, size, permissions)
    together.write(CODE, b"".join(word.to_bytes(4, "little") for word in code))
    together.write(POOL, b"".join(value.to_bytes(8, "little") for value in pool.values))
    together.write_each(DATA, [rng.randbytes(DATA_SIZE) for _ in range(MEMBERS)])
    together.fill(rng)
    for machine in together.machines:
        machine.x[POOL_BASE] = POOL
    together.start(CODE)
    return together.run(CODE + 4 * len(code), MAX_INSTRUCTIONS)


@pytest.mark.parametrize("number", range(SEEDS))
def test_a_random_stream_does_what_machines_do(number: int) -> None:
    rng = Random(number)
    print(f"seed {number}")
    assert difference(random_stream(rng, vocabulary(), LENGTH), rng) == ""


@pytest.mark.slow
@settings(max_examples=20, suppress_health_check=list(HealthCheck))
@given(st.deferred(lambda: streams(vocabulary())), st.integers(0, 2**32))
def test_a_stream_that_hypothesis_draws_does_what_machines_do(stream: list[Item], state: int) -> None:
    assert difference(stream, Random(state)) == ""
