"""What takes the timing long: searches to their very end, every short loop, the figures of the largest cores."""

from __future__ import annotations

import pytest
import test_timing_microbenchmarks as measured
from test_timing_report import assert_not_below_its_bound
from test_timing_steady import without_steady_state

from sim.timing.loops.steady import time_loop
from sim.timing.model.core_file import load_core
from support.random_schedules import Order
from support.small_cores import small_core


def test_an_endless_search_is_given_up_with_a_sentence() -> None:
    with pytest.raises(ValueError, match="no steady state in 2000000 instructions: give a count of at most"):
        time_loop(without_steady_state(), small_core(), 10**8)


@pytest.mark.parametrize("interval", range(5))
@pytest.mark.parametrize("order", ["in", "out"])
@pytest.mark.parametrize("iterations", range(2, 31))
def test_no_loop_is_reported_below_its_bound(iterations: int, order: Order, interval: int) -> None:
    assert_not_below_its_bound(iterations, order, interval)


@pytest.mark.parametrize("name", measured.ELSEWHERE)
def test_the_figures_of_a_core_are_reached(name: str) -> None:
    core = load_core(name)
    measured.test_independent_instructions_reach_the_stated_throughput(core)
    measured.test_chains_of_results_take_the_stated_latency(core)
    measured.test_chains_of_accumulators_take_the_stated_forwarding(core)
    measured.test_a_stored_scalar_comes_back_in_the_stated_cycles(core)
    measured.test_a_stored_vector_comes_back_in_the_stated_cycles(core)
