"""An in-order pipeline: instructions issue in the order of the program, as soon as the first constraint lets them.

Results become ready out of order: a short operation after a long one does not wait for it.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, takewhile

from sim.timing.model.caches import NO_DELAYS
from sim.timing.model.cadence import Cadence, Interval
from sim.timing.model.core import Core
from sim.timing.model.operation import Operation, WrittenRegister, operations_on, reservations, store_forward
from sim.timing.model.passage import Busy, gathered
from sim.timing.model.schedule import NO_STALL, Schedule, Stall, StallKind
from sim.timing.model.stored_bytes import StoredBytes
from sim.timing.model.stream import Executed

_Made = tuple[int, WrittenRegister, int]
"""When a register's value was issued, as which result, by the instruction of which number."""
_Use = tuple[str, int, int]
"""A pipe, from when on after issue it is occupied, and for how long."""
_Passed = tuple[Executed, Operation, int, int, Stall, tuple[Busy, ...], bool]
"""An instruction: when it issued and is ready, why no earlier, what it occupied, whether it was predicted wrong."""


class InOrder:
    """The pipeline of an in-order core; `feed` may be called again and again."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self._operations = operations_on(core)
        self._passed: list[_Passed] = []
        self._now = 0
        self._used_slots = 0
        self._made: dict[str, _Made] = {}
        self._free = dict.fromkeys(core.pipes, 0)
        self._holder: dict[str, int] = {}
        self._unaligned = bool(core.unaligned_bytes)
        self._stored = StoredBytes()
        self._stores: dict[int, tuple[int, Fraction]] = {}
        self._cadence = Cadence()
        self._delays: Mapping[int, int] = NO_DELAYS
        self._redirect = 0
        self._redirected_by: int  # once a branch was mispredicted
        self._taken = Interval(core.taken_branch_interval)
        self._last_taken: int  # once a branch was taken

    def feed(
        self, stream: Iterable[Executed], mispredicted: Collection[int] = (), delays: Mapping[int, int] = NO_DELAYS
    ) -> None:
        """Issue these instructions after those before.

        `mispredicted` are branches and `delays` the cycles that loads take longer, by their numbers from the very
        first instruction on.
        """
        self._delays = delays
        number = len(self._passed)
        for one in stream:
            self._issue(number, one, number in mispredicted)
            number += 1

    def schedule(self) -> Schedule:
        """What became of everything that was fed."""
        if not self._passed:
            return gathered(self.core, (), (), [()] * 5, [()] * 3, (), ())
        stream, operations, issued, ready, stalls, pipes, mispredicted = zip(*self._passed, strict=True)
        none = [NO_STALL] * len(stalls)
        times = issued, issued, issued, ready, list(accumulate(ready, max))
        return gathered(self.core, stream, operations, times, (stalls, none, none), pipes, mispredicted)

    def state(self) -> Hashable:
        """All that the times of what comes next depend on, counted from now on, after no branch was mispredicted."""
        now, number = self._now, len(self._passed)
        longest = self.core.address_delay + self.core.shifted_delay
        made = [(name, id(result), issued - now) for name, (issued, result, _) in self._made.items()
                if issued + result.latency + longest > now]  # fmt: skip
        longest_forward = max(self.core.store_forward_scalar, self.core.store_forward_vector)
        stores = takewhile(lambda store: store[1][0] + longest_forward >= now, reversed(self._stores.items()))
        return (
            self._used_slots, tuple(sorted(made)), tuple(max(free - now, 0) for free in self._free.values()),
            tuple((store - number, issued - now, forward) for store, (issued, forward) in stores),
            self._taken.state(now), self._cadence.state(),
        )  # fmt: skip

    @property
    def in_flight(self) -> int:
        """Instructions that are dispatched and not retired: in order, nobody waits behind."""
        return 0

    @property
    def now(self) -> int:
        """The cycle in which the last instruction issued."""
        return self._now

    def _issue(self, number: int, one: Executed, mispredicted: bool) -> None:
        """One instruction.  The constraints are in line here, each a cycle and its reason: this is the hot path."""
        operation, free, made = self._operations[one.instruction], self._free, self._made
        at, kind, cause, what = self._now, StallKind.ORDER, number - 1, ""
        if self._used_slots and (operation.first or self._used_slots + operation.slots > self.core.width):
            at, kind = (
                at + 1,
                StallKind.PAIRING if self._used_slots + operation.slots <= self.core.width else StallKind.WIDTH,
            )
        if self._redirect > at:
            at, kind, cause = self._redirect, StallKind.MISPREDICT, self._redirected_by
        for name, role, after in operation.reads:
            if name in made:
                issued, result, producer = made[name]
                if (ready := issued + after[result]) > at:
                    missed = producer in self._delays and not result.updates_base
                    at, kind, cause, what = ready, StallKind.MEMORY if missed else role, producer, name
        for writer in self._stored.writers(one.loads) if one.loads else ():
            issued, forward = self._stores[writer]
            pair = self._passed[writer][0].instruction, one.instruction
            if (ready := issued + self._cadence.whole(pair, forward) - operation.latency) > at:
                at, kind, cause, what = ready, StallKind.STORE, writer, ""
        taken: Sequence[_Use] | None = operation.fixed
        if taken is None or (self._unaligned and one.loads):
            taken = self._chosen(operation, one, at)
        for pipe, start, _ in taken:
            if free[pipe] - start > at:
                at, kind, cause, what = free[pipe] - start, StallKind.PIPE, self._holder[pipe], pipe
        if one.taken and self._taken.next > at:
            at, kind, cause, what = self._taken.next, StallKind.BRANCH, self._last_taken, ""
        if at > self._now:
            self._now, self._used_slots = at, 0
        self._used_slots += operation.slots
        busy = []
        for pipe, start, cycles in taken:
            free[pipe] = end = at + start + cycles
            self._holder[pipe] = number
            busy.append((pipe, at + start, end))
        ready = self._finish(number, one, operation, at)
        if mispredicted:
            self._redirect, self._redirected_by = at + self.core.mispredict, number
        self._passed.append((one, operation, at, ready, Stall(kind, cause, what), tuple(busy), mispredicted))

    def _chosen(self, operation: Operation, one: Executed, at: int) -> list[_Use]:
        """The uses of an instruction that would issue at that cycle, with a pipe for each.

        Of the alternatives that are not taken yet it is the first that is free, else the one that is free first.
        """
        taken: list[_Use] = []
        free = self._free
        for use in reservations(operation, one, self.core):
            pipes: Sequence[str] = use.pipes
            if taken:
                others = [pipe for pipe, _, _ in taken]
                pipes = [pipe for pipe in pipes if pipe not in others] or pipes
            for pipe in pipes:
                if free[pipe] <= at:
                    break
            else:
                pipe = min(pipes, key=free.__getitem__)
            extra = self._cadence.extra((pipe, use), use.fraction) if use.fraction is not None else 0
            taken.append((pipe, use.start, use.cycles + extra))
            at = max(at, free[pipe] - use.start)
        return taken

    def _finish(self, number: int, one: Executed, operation: Operation, at: int) -> int:
        """Note results, stores and branches; returns when it is ready.  An updated base does not wait for the data."""
        issued = at + self._delays[number] if number in self._delays else at
        if operation.fraction is not None:
            issued += self._cadence.extra(operation.timing.name, operation.fraction)
        for result in operation.results:
            self._made[result.name] = at if result.updates_base else issued, result, number
        if one.stores:
            self._stored.store(one.stores, number)
            self._stores[number] = at, store_forward(one.stores, self.core)
        if one.taken:
            self._taken.event(at)
            self._last_taken = number
        return issued + operation.done_after
