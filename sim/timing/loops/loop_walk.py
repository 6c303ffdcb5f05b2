"""Following an executed stream through its loops: where each is entered, comes back to its head, and is left."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from sim.timing.model.predictor import CALLS
from sim.timing.model.stream import Executed
from sim.timing.native.array_stream import ArrayStream, array_stream

_RETURNS = ("ret", "retaa", "retab")


class Entry(NamedTuple):
    """One time that a loop is run through: instructions `start` to `end` of the stream, the end excluded.

    `iterations` go from the head to a branch back, one after the other.  What comes before the first, where the loop is
    entered in its middle, and after the last, where it is left there, belongs to the entry only.  `around` is the head
    of the loop that it is entered in.
    """

    head: int
    start: int
    end: int
    iterations: tuple[range, ...]
    around: int | None = None


def branches_back(stream: Iterable[Executed]) -> Mapping[int, frozenset[int]]:
    """The heads of loops, each with the addresses of the taken branches back to it."""
    branches = defaultdict[int, set[int]](set)
    for one in stream:
        if one.pc is not None and one.next_pc is not None and _leads_back(one):
            branches[one.next_pc].add(one.pc)
    return {head: frozenset(addresses) for head, addresses in branches.items()}


def _taken_once(stream: ArrayStream) -> Iterator[Executed]:
    """Of the branches taken from each place to each other one, the first."""
    taken = np.flatnonzero(stream.taken)
    ways = zip(stream.site[taken].tolist(), stream.next_pcs[taken].tolist(), strict=True)
    return (stream[number] for number in dict(zip(ways, taken.tolist(), strict=True)).values())


def _leads_back(one: Executed) -> bool:
    if not one.taken or one.pc is None or one.next_pc is None or one.next_pc > one.pc:
        return False
    return one.instruction.form.mnemonic not in (*CALLS, *_RETURNS)


@dataclass
class _Run:
    """A loop that is being run through: where it and its iterations began, and behind what it was left since."""

    head: int
    branches: frozenset[int]
    start: int
    starts: list[int]
    left: int | None = None

    def entry(self, stream: Sequence[Executed], end: int) -> Entry:
        """The whole of it; its last iteration is one if it reached a branch back."""
        end = end if self.left is None else self.left
        edges = self.starts + [end] * (stream[end - 1].pc in self.branches)
        iterations = tuple(range(a, b) for a, b in pairwise(edges))
        return Entry(self.head, self.start, end, iterations)


@dataclass
class _Activation:
    """One activation of a function: the loops that it runs through, and where it came into the middle of others."""

    runs: dict[int, _Run] = field(default_factory=dict)
    inside: dict[int, int] = field(default_factory=dict)


class LoopWalk:
    """What is found on the way through a stream: `entries`, and the addresses of the functions that loops call.

    Each activation of a function has its own runs.  A run is over where its function returns, and where a branch leads
    to before the head: that is an iteration of a loop around.
    """

    def __init__(self, stream: Sequence[Executed]) -> None:
        arrays = array_stream(stream)
        self.branches = branches_back(_taken_once(arrays))
        self.entries: list[Entry] = []
        self.calls = defaultdict[int, set[int]](set)
        self._stream = arrays
        # By head, the last address of the loop: that of a branch back, of it or of a loop that begins inside of it.
        self._lasts: dict[int, int] = {}
        for head in sorted(self.branches, reverse=True):
            self._lasts[head] = max(self.branches[head])
            for inner in sorted(self._lasts):
                if head < inner <= self._lasts[head]:
                    self._lasts[head] = max(self._lasts[head], self._lasts[inner])
        self._activations = [_Activation()]
        self._follow()

    def _follow(self) -> None:
        ends = frozenset().union(*self.branches.values())
        stream = self._stream
        is_place = [pc in self.branches or pc in ends for pc, _ in stream.sites]
        looked_at = np.flatnonzero(stream.taken | np.array(is_place, bool)[stream.site])
        for index in looked_at.tolist():  # at all others nothing is entered, goes back or is left
            one = stream[index]
            here = self._activations[-1]
            if one.pc is not None and one.pc in here.runs:  # it has come back by a branch
                here.runs[one.pc].starts.append(index)
                here.runs[one.pc].left = None
            elif one.pc is not None and one.pc in self.branches:
                here.runs[one.pc] = _Run(one.pc, self.branches[one.pc], here.inside.pop(one.pc, index), [index])
            if one.next_pc is None or not (one.taken or one.pc in ends):
                continue
            mnemonic = one.instruction.form.mnemonic
            if mnemonic in CALLS:
                for run in here.runs.values():
                    if run.left is None:
                        self.calls[run.head].add(one.next_pc)
                self._activations.append(_Activation())
            elif mnemonic in _RETURNS:
                self._close(self._activations.pop().runs.values(), index + 1)
                self._activations = self._activations or [_Activation()]
            else:
                self._move(index, one, one.next_pc)
        while self._activations:
            self._close(self._activations.pop().runs.values(), len(self._stream))

    def _move(self, index: int, one: Executed, target: int) -> None:
        """Within a function: what is left by it, and what is come into."""
        here = self._activations[-1]
        for run in here.runs.values():
            past_the_last = one.pc == max(run.branches) and not one.taken
            if run.left is None and (past_the_last or not run.head <= target <= self._lasts[run.head]):
                run.left = index + 1
        if _leads_back(one):
            self._close([here.runs.pop(head) for head in [*here.runs] if head > target], index + 1)
        into = [head for head, last in self._lasts.items() if head <= target <= last and head not in here.runs]
        here.inside = {head: here.inside.get(head, index + 1) for head in into}

    def _close(self, runs: Iterable[_Run], end: int) -> None:
        self.entries += [run.entry(self._stream, end) for run in runs]


def nested(entries: Iterable[Entry]) -> list[Entry]:
    """The entries in order, each with the loop around it."""
    around: list[Entry] = []
    result = []
    for entry in sorted(entries, key=lambda entry: (entry.start, -entry.end)):
        while around and around[-1].end <= entry.start:
            around.pop()
        result.append(entry._replace(around=around[-1].head if around else None))
        around.append(entry)
    return result
