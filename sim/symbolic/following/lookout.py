"""Conditions on what instructions read, noted on the states of a symbolic machine that come to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from isa.lane import Lane
from sim.symbolic.following.state import SymbolicState


class Goal(NamedTuple):
    """That of what the instruction at an address reads some of these conditions holds, each of one lane, 0 or 1."""

    pc: int
    lanes: tuple[Lane, ...]


class Sighting(NamedTuple):
    """A condition of a goal on one state, and those under which the code comes to it."""

    condition: Lane
    assumed: tuple[Lane, ...]


class Lookout:
    """Notes what the conditions of goals are on the states of a machine; `seen` has those that may hold."""

    def __init__(self, goals: Iterable[Goal]) -> None:
        self._at: dict[int, list[Goal]] = {}
        self.seen: dict[Goal, dict[Sighting, None]] = {}
        for goal in goals:
            self._at.setdefault(goal.pc, []).append(goal)
            self.seen[goal] = {}

    def look(self, state: SymbolicState, value: Callable[[Lane], Lane]) -> None:
        """Note those of the instruction that a state is at; `value` gives what an expression is there."""
        for goal in self._at.get(state.pc, ()):
            for lane in goal.lanes:
                condition = value(lane)
                if condition.high:
                    self.seen[goal][Sighting(condition, state.assumed)] = None
