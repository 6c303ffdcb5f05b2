"""All that a streaming module can do, whatever the data are and whoever waits for whom, however long.

The data of beats are symbols, valid and ready are numbers.  From what a reset leaves, every state is followed under the
four ways that valid and ready may be.  Beats are counted from the oldest that is inside, and what has only to do with
beats that have left is forgotten: anything may be there.  So a pipeline has as many states as its stages can be full or
empty, and once no new one is found, all schedules of any length were followed.

    registers                                   held    valid_i  ready_i
    valid 01, biased a_i of beat 0 + ...        1       1        0         accepted: beat 1; nothing delivered
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final, NamedTuple

from isa.errors import LanewiseError
from rtl_models.formal.schedules.module import Registers, SymbolicModule, SymbolicMoment
from rtl_models.formal.schedules.symbols import (
    Name,
    Word,
    WordPiece,
    cut,
    forgotten,
    joined,
    names_in,
    number,
    renamed_word,
    symbol,
    value_of,
    width_of,
)

RESET_EDGES: Final = 16
"""For which a reset is held."""
MOST_STATES: Final = 4_096
"""A module with more is not followed: a pipeline of 12 stages that keeps its bubbles has as many."""
MOST_WORDS: Final = 64
"""On a result: a pipeline shows one, whatever the schedule."""
_LONGEST_WAY: Final = 64
"""Cycles for which a beat is followed that is mixed with others."""
_HANDSHAKE: Final = ("clk_i", "rst_ni", "valid_i", "ready_i")
_OTHER_LEVEL: Final = "is its active level the other?"


class UnfollowedStream(LanewiseError):
    """A module whose schedule is not a matter of valid and ready alone, or is too long: one sentence, why."""


class ScheduleStep(NamedTuple):
    """What the two sides do in a cycle."""

    valid: int
    ready: int


STEPS: Final = tuple(ScheduleStep(valid, ready) for valid in (0, 1) for ready in (0, 1))


@dataclass(frozen=True)
class StreamState:
    """What is in the registers, how many beats are inside, and whether a result waited in the cycle before."""

    registers: Registers
    held: int
    waiting: bool


@dataclass(frozen=True)
class BrokenRule:
    """A rule of the handshake that a module breaks: after these steps, the last of which shows it."""

    rule: str
    steps: tuple[ScheduleStep, ...]


@dataclass
class Explored:
    """The `states` there are; by output port the `results` of the beat whose turn it was, as words of the whole port,
    each with the steps after which it is seen; the first rule that is `broken`, if one is.

    `wires` has by name the words of one beat that are seen on a wire which was asked for, as if it were beat 0.
    Where no further was followed, `unfinished` says why: then only what was seen can be asked; `mixed` the same where a
    beat was mixed with what is not its own.
    """

    states: int = 0
    results: dict[str, dict[Word, tuple[ScheduleStep, ...]]] = field(default_factory=dict)
    broken: BrokenRule | None = None
    unfinished: str = ""
    mixed: str = ""
    wires: dict[str, dict[Word, None]] = field(default_factory=dict)


def explored(module: SymbolicModule, ports: Sequence[str], wires: Sequence[str] = ()) -> Explored:
    """Follow a module whose results are on these ports, and look at some wires.

    Raises UnfollowedStream, NoSuchSignal, UnreadableEquations.
    """
    return _Exploration(module, ports, wires).run()


class _Passed(NamedTuple):
    """A step: the state after it, and whether a beat was accepted, one delivered, a result shown."""

    following: StreamState
    accepted: int
    delivered: int
    shown: int


class _Way(NamedTuple):
    """How a state was reached first."""

    before: StreamState | None
    step: ScheduleStep


class _Exploration:
    """The states that are known, with the way to each, and those that are still to be followed."""

    def __init__(self, module: SymbolicModule, ports: Sequence[str], wires: Sequence[str]) -> None:
        self._module, self._ports = module, ports
        self._data = {port: bits for port, bits in module.inputs.items() if port not in _HANDSHAKE}
        self._ways: dict[StreamState, _Way] = {}
        self._next: dict[tuple[StreamState, ScheduleStep], _Passed] = {}
        self._found = Explored(results={port: {} for port in ports}, wires={wire: {} for wire in wires})

    def run(self) -> Explored:
        """Follow every state, then ask whether each leads on."""
        start = self._after_reset()
        self._ways[start] = _Way(None, STEPS[0])
        waiting = deque([start])
        while waiting and self._found.broken is None and not self._found.unfinished:
            state = waiting.popleft()
            valid_outputs = {}
            for step in STEPS:
                following, valid_outputs[step] = self._followed(state, step)
                if following not in self._ways:
                    self._ways[following] = _Way(state, step)
                    waiting.append(following)
            for offered in (0, 1):
                if valid_outputs[ScheduleStep(offered, 0)] != valid_outputs[ScheduleStep(offered, 1)]:
                    self._break(
                        "valid_o changes with ready_i, and must not wait for it", state, ScheduleStep(offered, 0)
                    )
            if len(self._ways) > MOST_STATES or max(map(len, self._found.results.values())) > MOST_WORDS:
                states, words = f"{MOST_STATES:,} states of what is where", f"{MOST_WORDS} different words of one beat"
                self._found.unfinished = (
                    f"it has more than {states}, or shows more than {words}: too many to follow all"
                )
        self._found.states = len(self._ways)
        if self._found.broken is None and not self._found.unfinished:
            self._ask_for_progress()
        return self._found

    def _after_reset(self) -> StreamState:
        registers = self._module.unknown()
        for _ in range(RESET_EDGES):
            registers = self._module.moment(registers, {"rst_ni": number(0, 1)}).following()
        return StreamState(tuple(_kept(k, word, range(0), 0) for k, word in enumerate(registers)), 0, False)

    def _followed(self, state: StreamState, step: ScheduleStep) -> tuple[StreamState, int]:
        """The state an edge later, and whether a result was shown before it."""
        inputs = _stepped(step)
        if step.valid:
            inputs |= {port: symbol((port, state.held), bits) for port, bits in self._data.items()}
        moment = self._module.moment(state.registers, inputs)
        ready, shown = (self._decided(moment, port, state) for port in ("ready_o", "valid_o"))
        accepted, delivered = step.valid & ready, shown & step.ready
        there = state.held + accepted
        if shown and not there:
            self._break("valid_o is 1 where no beat is inside: one came twice, or of nothing", state, step)
        elif shown:
            for port in self._ports:
                word = moment.wire(port)
                self._found.results[port].setdefault(word, (*self._steps(state), step))
                if any(node is not None and node.beats - {0} for node, _, _ in word):
                    more = f"{port} on {self._others([word], 0)}"
                    self._found.unfinished = f"a result depends on the data of more than its own beat: {more}"
                    self._found.mixed = self._found.unfinished
        for wire, words in self._found.wires.items():
            if (seen := _of_beat_0(moment.wire(wire))) is not None:
                words[seen] = None
        if state.waiting and not shown:
            self._break("a result that was not taken is gone: valid_o must stay", state, step)
        after = moment.following()
        registers = tuple(_kept(k, word, range(delivered, there), delivered) for k, word in enumerate(after))
        if there > delivered and not _has(after, delivered):
            never = "" if any(self._found.results.values()) else f", and none came out since the reset: {_OTHER_LEVEL}"
            self._break(f"nothing is left of a beat inside: it is lost{never}", state, step)
        elif there > delivered and not _has(registers, 0):
            self._found.unfinished = self._found.mixed = self._mixture(after, delivered)
            self._shown_at_last(after, delivered, (*self._steps(state), step))
        following = StreamState(registers, max(0, there - delivered), bool(shown and not delivered))
        self._next[state, step] = _Passed(following, accepted, delivered, shown)
        return following, shown

    def _mixture(self, after: Registers, beat: int) -> str:
        """Where a beat is, and with what it is mixed there."""
        holding = [k for k, word in enumerate(after) if _has((word,), beat)]
        where = ", ".join(dict.fromkeys(map(self._module.register_name, holding)))
        return f"what is left of a beat, in {where}, is mixed with {self._others((after[k] for k in holding), beat)}"

    def _others(self, words: Iterable[Word], beat: int) -> str:
        """What words have in them besides a beat."""
        names = {name for word in words for name in names_in(word) if name[1] != beat}
        return ", ".join(sorted({self._module.told(name) for name in names}))

    def _shown_at_last(self, registers: Registers, beat: int, steps: tuple[ScheduleStep, ...]) -> None:
        """Of a beat that is mixed with others, the result in the first cycle that has one, nothing being forgotten."""
        for _ in range(_LONGEST_WAY):
            steps = (*steps, ScheduleStep(0, 1))
            moment = self._module.moment(registers, _stepped(steps[-1]))
            if value_of(moment.wire("valid_o")):
                for port in self._ports:
                    word = moment.wire(port)
                    self._found.results[port].setdefault(renamed_word(word, _older(beat)) if beat else word, steps)
                return
            registers = moment.following()

    def _decided(self, moment: SymbolicMoment, port: str, state: StreamState) -> int:
        word = moment.wire(port)
        value = value_of(word)
        if value is None:
            node = next(piece.node for piece in word if piece.node is not None)
            if node.unknown and not self._steps(state):
                raise UnfollowedStream(
                    f"{port} depends on what a register held before the reset: one is not reset, or {_OTHER_LEVEL}"
                )
            of = "what a register held before the reset or of a beat that has left" if node.unknown else "data"
            when = f" after {len(self._steps(state))} cycles" if self._steps(state) else ""
            raise UnfollowedStream(
                f"{port} depends on {of}{when}: it is followed where it depends on valid and ready alone"
            )
        return value

    def _break(self, rule: str, state: StreamState, last: ScheduleStep) -> None:
        if self._found.broken is None:
            self._found.broken = BrokenRule(rule, (*self._steps(state), last))

    def _steps(self, state: StreamState) -> tuple[ScheduleStep, ...]:
        """Those that lead to a state from the reset."""
        steps: list[ScheduleStep] = []
        way = self._ways[state]
        while way.before is not None:
            steps.append(way.step)
            way = self._ways[way.before]
        return tuple(reversed(steps))

    def _ask_for_progress(self) -> None:
        """From every state a beat inside is shown, leaves if results are taken, and then one offered is accepted."""
        asked = (
            ("a beat never leaves, though results are taken", ScheduleStep(0, 1), _is_drained),
            (
                "a beat is never accepted, though results are taken",
                ScheduleStep(1, 1),
                lambda _, passed: bool(passed.accepted),
            ),
            ("valid_o stays 0 until ready_i is 1, and must not wait for it", ScheduleStep(0, 0), _is_shown),
        )
        for rule, step, reached in asked:
            for state in self._stuck(step, reached):
                self._break(rule, state, step)

    def _stuck(self, step: ScheduleStep, reached: Callable[[StreamState, _Passed], bool]) -> Iterator[StreamState]:
        """The states from which this step, again and again, never comes to what is waited for."""
        good: set[StreamState] = set()
        for state in self._ways:
            path: dict[StreamState, None] = {}
            at = state
            while at not in good and at not in path:
                path[at] = None
                passed = self._next[at, step]
                if reached(at, passed):
                    good.add(at)
                else:
                    at = passed.following
            if at in good:
                good |= path.keys()
            else:
                yield state


def _stepped(step: ScheduleStep) -> dict[str, Word]:
    """The handshake on the input ports."""
    return {"rst_ni": number(1, 1), "valid_i": number(step.valid, 1), "ready_i": number(step.ready, 1)}


def _is_drained(state: StreamState, passed: _Passed) -> bool:
    return bool(passed.delivered) or not state.held


def _is_shown(state: StreamState, passed: _Passed) -> bool:
    return bool(passed.shown) or not state.held


def _has(words: Registers, beat: int) -> bool:
    """Whether something depends on the data of a beat."""
    return any(node is not None and beat in node.beats for word in words for node, _, _ in word)


@cache
def _older(beats: int) -> Callable[[Name], Name]:
    """The names of beats where so many before them have left."""

    def older(name: Name) -> Name:
        port, beat = name
        return port, None if beat is None else beat - beats

    return older


def _of_beat_0(word: Word) -> Word | None:
    """A word of one beat as if it were beat 0; None for one of several, or of what is not known."""
    nodes = [piece.node for piece in word if piece.node is not None]
    beats = frozenset[int]().union(*(node.beats for node in nodes))
    if len(beats) != 1 or any(node.unknown for node in nodes):
        return None
    return renamed_word(word, _older(*beats))


def _kept(register: int, word: Word, live: range, delivered: int) -> Word:
    """What a register has of beats that are inside, numbered anew; the rest is forgotten."""
    parts, at = [], 0
    for node, low, width in word:
        if node is None:
            parts.append(number(low, width))
        elif node.unknown or not all(beat in live for beat in node.beats):
            parts.append(cut(symbol(forgotten(register), width_of(word)), at, width))
        else:
            part = (WordPiece(node, low, width),)
            parts.append(renamed_word(part, _older(1)) if delivered else part)
        at += width
    return joined(parts)
