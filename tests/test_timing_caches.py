"""Loads that miss the first cache."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sim.timing.model.caches import cache_delays
from sim.timing.model.core import CacheLevel, Core
from sim.timing.model.pipeline import schedule
from sim.timing.model.schedule import StallKind
from support.small_cores import LOAD, small_core, stream_of

ADD = "add v3.4s, v1.4s, v1.4s"


def cached(order: str = "in", latency: int | None = 14) -> Core:
    """A first level of two sets of two lines, 4 cycles; the second holds 64 lines."""
    levels = CacheLevel("L1", 256, 2, 64, 4), CacheLevel("L2", 4096, 4, 64, latency)
    return small_core("out" if order == "out" else "in", classes={LOAD: {"latency": 4}}, levels=levels)


def delays(*addresses: int, core: Core | None = None) -> dict[int, int]:
    """Those of loads of 16 bytes at these addresses, by number."""
    stream = stream_of(*["ldr q1, [x0]"] * len(addresses), loads=dict(enumerate(addresses)))
    return dict(cache_delays(stream, core or cached()))


def test_the_first_load_of_a_line_misses_and_the_second_hits() -> None:
    assert delays(0, 48) == {0: 10}


def test_all_lines_of_a_load_come_that_it_has_a_byte_of() -> None:
    assert delays(49, 64, 0) == {0: 10}
    assert delays(48, 64, 0) == {0: 10, 1: 10}


def test_the_least_recently_used_line_of_a_set_goes() -> None:
    assert delays(0, 128, 0, 256, 0, 128) == {0: 10, 1: 10, 3: 10, 5: 10}


def test_lines_of_another_set_do_not_push_one_out() -> None:
    assert delays(0, 64, 192, 320, 0) == {0: 10, 1: 10, 2: 10, 3: 10}


def test_a_load_over_two_lines_waits_for_the_one_that_misses() -> None:
    assert delays(0, 56) == {0: 10, 1: 10}


def test_a_store_brings_its_line() -> None:
    stream = stream_of("str q1, [x0]", "ldr q2, [x0]", stores={0: 0}, loads={1: 16})
    assert cache_delays(stream, cached()) == {}


@pytest.mark.parametrize("order", ["in", "out"])
def test_a_consumer_waits_for_the_miss_and_says_so(order: str) -> None:
    found = schedule(stream_of("ldr q1, [x0]", ADD, loads={0: 0}), cached(order), caches=True)
    stall = found.entry_stall[1] if order == "in" else found.operand_stall[1]
    assert (found.issued[1] - found.issued[0], stall.kind, stall.cause) == (14, StallKind.MEMORY, 0)


@pytest.mark.parametrize("order", ["in", "out"])
def test_the_base_that_a_missing_load_moves_on_does_not_wait_for_the_data(order: str) -> None:
    stream = stream_of("ldr q1, [x0], #64", "ldr q2, [x0], #64", loads={0: 0, 1: 64})
    found = schedule(stream, cached(order), caches=True)
    stall = found.entry_stall[1] if order == "in" else found.operand_stall[1]
    assert (found.issued[1] - found.issued[0], stall.kind is StallKind.MEMORY) == (1, False)


def test_who_waits_for_the_pipe_of_a_missing_load_does_not_wait_for_the_miss() -> None:
    core = replace(cached(), width=4).with_uses(LOAD, "L")
    found = schedule(stream_of("ldr q1, [x0]", "ldr q2, [x0]", loads={0: 0, 1: 0}), core, caches=True)
    assert (found.issued, found.entry_stall[1].kind) == ((0, 1), StallKind.PIPE)


def test_a_load_goes_by_the_lines_of_the_first_level_though_those_behind_it_are_longer() -> None:
    levels = CacheLevel("L1", 256, 2, 32, 4), CacheLevel("L2", 4096, 4, 128, 14)
    assert delays(0, 32, 16, 40, 24, core=small_core(levels=levels)) == {0: 10, 1: 10}


def test_without_caches_every_load_hits() -> None:
    assert schedule(stream_of("ldr q1, [x0]", ADD, loads={0: 0}), cached()).issued == (0, 4)


def test_a_latency_that_no_source_says_must_be_given() -> None:
    with pytest.raises(ValueError, match="no source says the latency of L2: give it"):
        delays(0, core=cached(latency=None))


def test_a_core_with_one_cache_has_nothing_to_miss_to() -> None:
    with pytest.raises(ValueError, match="has no cache behind the first"):
        delays(0, core=small_core(levels=(CacheLevel("L1", 256, 2, 64, 4),)))
