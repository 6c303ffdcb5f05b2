"""Whether what nobody defined reaches what a call makes, or decides its way: the call is repeated with other bytes.

A call is made once more on a machine of its own, with every undefined byte complemented: registers, flags, the stack,
outputs before they are written, gaps, over-read bytes, the upper bits of narrow arguments.  Where an output, the result
or the way through the code is another, halving finds a single undefined byte that changes it, and two calls that differ
in this byte alone, compared step by step, the instruction that first used it.  What is found did reach, since it was
seen to; a dependence that shows for other values only is seen in other calls, or not.  (`sim.check.origin` walks
expressions instead: its answer leaves out what only made an address or decided a choice, and has what a multiplication
by zero forgot.)
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

import numpy as np

from sim.call.buffers import PlacedArray
from sim.call.caller import RETURN_ADDRESS, Arrays, Call, Caller
from sim.call.guards.bounds import Breach
from sim.call.guards.findings import GuardFinding, Kind
from sim.call.guards.origins import Snapshot, first_difference
from sim.call.guards.undefined_bytes import RepeatedBytes
from sim.call.native.follower import Follower
from sim.kernels.extent import element_name
from sim.machine.errors import ExecutionError
from sim.machine.trace import Step
from sim.toolchain.branches import with_targets

LONGEST_TRACE = 1_000_000
"""Steps in which the first use is looked for."""
Declared = dict[str, tuple[Breach, Step]]
"""By array, the over-reads that were declared and happened."""


class ObservedCall(NamedTuple):
    """What a call made, where its branches led, and how many instructions it took; `stopped` is what ended it early."""

    outputs: Arrays
    branches: array[int]
    executed: int
    stopped: str = ""


@dataclass(frozen=True)
class _Target:
    """A part of what was observed: an output lane, or the way through the code (no output)."""

    output: str = ""
    lane: tuple[int, ...] = ()

    def of(self, observed: ObservedCall) -> object:
        if not self.output:
            return observed.branches, observed.stopped
        return observed.outputs[self.output][self.lane].tobytes() if observed.outputs else None


class _Use(NamedTuple):
    """The first step that an undefined byte made another, and the branch that it decided; None where there is none."""

    step: Step | None
    branch: Step | None


class Influence:
    """Repeats calls on a machine that nobody else uses; `parts` are the undefined bytes of the first time."""

    def __init__(self, caller: Caller, patience: int) -> None:
        self._caller = caller
        self._follower = Follower(caller.machine, patience)

    def steps(self, call: Call, parts: Sequence[bytes], executed: int) -> Iterator[Step]:
        """The so many steps of a call once more."""
        return islice(_Repetition(self._caller, self._follower, call, parts, executed).steps(0), executed)

    def findings(
        self, call: Call, parts: Sequence[bytes], seen: ObservedCall, declared: Declared
    ) -> Iterator[GuardFinding]:
        """What depends on undefined bytes in a call; what was over-read and reached nothing is a note."""
        repetition = _Repetition(self._caller, self._follower, call, parts, 2 * seen.executed + 1000)
        found = list(repetition.findings(seen, declared))
        yield from found
        reached = {finding.where for finding in found if finding.kind == "over-read"}
        for name, (breach, step) in declared.items():
            if name not in reached:
                said = f"{breach.says}, which reached no output"
                yield replace(repetition.at(step, breach.kind, said, breach), harmless=True)


class _Repetition:
    """One call, repeated with some of its undefined bytes complemented, each time up to `limit` instructions."""

    def __init__(self, caller: Caller, follower: Follower, call: Call, parts: Sequence[bytes], limit: int) -> None:
        self._caller, self._follower, self._call, self._parts, self._limit = caller, follower, call, parts, limit
        self._drawn = sum(map(len, parts))

    def findings(self, seen: ObservedCall, declared: Declared) -> Iterator[GuardFinding]:
        """What is another where all undefined bytes are."""
        for target in _changed(seen, self._observed(self._drawn)):
            count = self._first_that_counts(target)
            if count is not None:
                yield self._finding(target, count, declared)

    def steps(self, count: int) -> Iterator[Step]:
        """The call with `count` bytes complemented, step by step, up to where it returns or stops."""
        self._prepare(count)
        machine = self._caller.machine
        with suppress(ExecutionError):
            while machine.pc != RETURN_ADDRESS:
                yield machine.step()

    def _prepare(self, count: int) -> dict[str, PlacedArray]:
        return self._caller.prepare(self._call, RepeatedBytes(self._parts, count))

    def _observed(self, count: int) -> ObservedCall:
        placed, machine = self._prepare(count), self._caller.machine
        branches, stopped, start = array("Q"), "", machine.instructions_executed
        try:
            self._follower.follow(RETURN_ADDRESS, self._limit, branches)
        except ExecutionError as error:
            stopped = str(error)
        if not stopped and machine.pc != RETURN_ADDRESS:
            stopped = "limit"
        outputs = {} if stopped else self._caller.outputs(machine, machine.memory, placed)
        return ObservedCall(outputs, branches, machine.instructions_executed - start, stopped)

    def _first_that_counts(self, target: _Target) -> int | None:
        """How many undefined bytes can be complemented before one more changes the target; None if none does."""

        def value(count: int) -> object:
            return target.of(self._observed(count))

        usual, low, high = value(0), 0, self._drawn
        if value(high) == usual:
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if value(middle) == usual else (low, middle)
        return low

    def _finding(self, target: _Target, count: int, declared: Declared) -> GuardFinding:
        self._prepare(count)
        before = Snapshot(self._caller.machine)
        placed = self._prepare(count + 1)  # one undefined byte more is another
        origin = first_difference(before, Snapshot(self._caller.machine), self._caller, placed)
        use = self._use(count)
        if origin.is_over_read and origin.where in declared:
            breach, step = declared[origin.where]
            said = f"{breach.says}, and byte {origin.byte} {self._reached(target, use)}"
            found = self.at(step, "over-read", said, breach)
        elif target.output and use.step is None:
            lane = element_name(target.output, target.lane)
            return GuardFinding(
                kind="never written", says=f"{lane} holds {origin.text}", where=origin.where,
                first=origin.byte, last=origin.byte, output=target.output, lane=target.lane,
            )  # fmt: skip
        else:
            said = f"uses {origin.text}, which nobody has set, and it {self._reached(target, use)}"
            where = Breach("uninitialised", said, origin.where, origin.byte, origin.byte)
            found = self.at(use.step or use.branch, "uninitialised", said, where)
        return replace(found, output=target.output, lane=target.lane if target.output else None)

    def _use(self, count: int) -> _Use:
        """What that byte changes first, and the branch where the ways part."""
        values, changes, ways = array("q"), array("q"), array("Q")
        for step in islice(self.steps(count), LONGEST_TRACE):
            values.append(_values(step))
            changes.append(_changes(step))
            ways.append(step.next_pc)
        first = None
        for step, value, change, way in zip(self.steps(count + 1), values, changes, ways, strict=False):
            first = step if first is None and _values(step) != value and _changes(step) != change else first
            if step.next_pc != way:
                return _Use(first, step)
        return _Use(first, None)

    def _reached(self, target: _Target, use: _Use) -> str:
        if target.output:
            return f"reached {element_name(target.output, target.lane)}"
        if use.branch is None:
            return "decided whether the call goes on"
        image = self._caller.image
        went = with_targets(use.branch.instruction.text, image)
        return f"decided where {went} ({image.full_place_of(use.branch.pc)}) went"

    def at(self, step: Step | None, kind: Kind, said: str, breach: Breach) -> GuardFinding:
        """The finding, with its instruction where one is known."""
        if step is None:
            return GuardFinding(kind=kind, says=said, where=breach.where, first=breach.first, last=breach.last)
        image = self._caller.image
        text = step.instruction.text
        return GuardFinding(
            kind=kind,
            says=said,
            instruction=text,
            pc=step.pc,
            source=image.place_of(step.pc),
            inlined=image.inlined_at(step.pc),
            where=breach.where,
            first=breach.first,
            last=breach.last,
        )


def _changed(seen: ObservedCall, other: ObservedCall) -> Iterator[_Target]:
    """The way if that is another, else the first lane of each output that has other bytes."""
    way = _Target()
    if way.of(seen) != way.of(other):
        yield way
        return
    for name, array_seen in seen.outputs.items():
        a, b = (
            np.frombuffer(values.tobytes(), "u1").reshape(*values.shape, values.itemsize)
            for values in (array_seen, other.outputs[name])
        )
        lanes = np.argwhere((a != b).any(axis=-1))
        if len(lanes):
            yield _Target(name, tuple(int(index) for index in lanes[0]))


def _values(step: Step) -> int:
    """The same number for steps that leave the same values; a step that writes over a byte makes them the same."""
    return hash((tuple((place, new) for place, _, new in step.writes), tuple((at, new) for at, _, new in step.memory)))


def _changes(step: Step) -> int:
    """The same for steps that change the same bits: a step that keeps a byte, as an insertion, does not use it."""
    registers = tuple((place, old ^ new) for place, old, new in step.writes)
    memory = tuple((at, int.from_bytes(old, "little") ^ int.from_bytes(new, "little")) for at, old, new in step.memory)
    return hash((registers, memory))
