"""What takes the timing long: searches to their very end, every short loop."""

from __future__ import annotations

import pytest
from test_timing_report import assert_not_below_its_bound
from test_timing_steady import without_steady_state

from sim.timing.loops.steady import time_loop
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
