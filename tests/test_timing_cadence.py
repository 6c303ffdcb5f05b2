"""Averages between whole cycles."""

from __future__ import annotations

from fractions import Fraction

from isa.rows import TABLE
from sim.timing.model.cadence import Cadence, Interval
from sim.timing.model.pipeline import schedule
from sim.timing.model.stream import Executed
from support.small_cores import small_core


def test_delays_add_up_to_their_average() -> None:
    cadence = Cadence()
    assert sum(cadence.whole("a", Fraction("6.27")) for _ in range(100)) == 627


def test_delays_of_different_things_do_not_share_what_is_owed() -> None:
    cadence = Cadence()
    assert [cadence.extra(key, Fraction(1, 2)) for key in "aabb"] == [1, 0, 1, 0]


def test_a_delay_that_happens_once_is_rounded() -> None:
    assert [Cadence().whole("a", Fraction(cycles)) for cycles in ("6.27", "6.53")] == [6, 7]


def test_a_chain_of_events_keeps_its_average_interval() -> None:
    interval = Interval(Fraction("2.75"))
    for _ in range(100):
        interval.event(interval.next)
    assert interval.next == 275


def test_events_that_are_apart_owe_nothing() -> None:
    interval = Interval(Fraction("2.75"))
    interval.event(0)
    interval.event(10)
    assert interval.next == 13


def test_a_chain_of_taken_branches_takes_their_interval() -> None:
    jump = TABLE.instruction("b", "#0x1000")
    stream = [Executed(0x1000, jump, (), (), True, 0x1000)] * 101
    assert schedule(stream, small_core(taken_branch_interval=Fraction("2.75"))).issued[100] == 275
