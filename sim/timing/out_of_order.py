"""An out-of-order pipeline, cycle by cycle: retire, issue the oldest ready micro-operation of each pipe, dispatch.

A micro-operation is given its pipe when it is dispatched, the one that will be through with its work first.  A store is
split: its first micro-operation needs the address only, the others the data.  An updated base register needs no pipe.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from heapq import heappop, heappush
from math import inf

from sim.timing.caches import NO_DELAYS
from sim.timing.cadence import Cadence, Interval
from sim.timing.core import Core
from sim.timing.dataflow import Flight, Origin, Part, Value
from sim.timing.operation import Operation, Reservation, Source, operations_on, reservations, store_forward
from sim.timing.passage import gathered
from sim.timing.schedule import NO_STALL, Kind, Schedule, Stall
from sim.timing.stored_bytes import StoredBytes
from sim.timing.stream import Executed


class OutOfOrder:
    """The pipeline of an out-of-order core; `feed` may be called again and again."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self._operations = operations_on(core)
        self._flights: list[Flight] = []
        self._delays: Mapping[int, int] = NO_DELAYS
        self._made_way = -1
        self._cycle = 0
        self._slots = core.width
        self._buffer: deque[Flight] = deque()
        self._buffered = 0
        self._queued = dict.fromkeys(core.pipes, 0)
        self._queued_cycles = dict.fromkeys(core.pipes, 0)
        self._ready: dict[str, list[tuple[int, int, Part, Reservation]]] = {pipe: [] for pipe in core.pipes}
        self._free = dict.fromkeys(core.pipes, 0)
        self._holder = dict.fromkeys(core.pipes, -1)
        self._calendar: defaultdict[int, list[Part]] = defaultdict(list)
        self._values: dict[str, Value] = {}
        self._stored = StoredBytes()
        self._stores: dict[int, Value] = {}
        self._issued_stores: deque[Value] = deque()
        self._bases: dict[int, Value] = {}
        self._moved: deque[Part] = deque()
        self._cadence = Cadence()
        self._mispredicted: Value | None = None
        self._taken = Interval(core.taken_branch_interval)
        self._last_taken = -1

    def feed(
        self, stream: Iterable[Executed], mispredicted: Collection[int] = (), delays: Mapping[int, int] = NO_DELAYS
    ) -> None:
        """Dispatch these instructions after those before.

        `mispredicted` are branches and `delays` the cycles that loads take longer, by their numbers from the very
        first instruction on.
        """
        self._delays = delays
        number = len(self._flights)
        for one in stream:
            operation = self._operations[one.instruction]
            stall = self._wait(number, one, operation)
            self._dispatch(one, operation, stall, number in mispredicted)
            number += 1

    def schedule(self) -> Schedule:
        """What became of everything that was fed, once all of it is done."""
        while self._buffer:
            self._next_cycle()
        flights = self._flights
        times = [[f.entered for f in flights], [f.available for f in flights], [f.issued for f in flights],
                 [f.ready for f in flights], [f.retired for f in flights]]  # fmt: skip
        stalls = [
            [f.entry_stall for f in flights],
            [f.operand_stall for f in flights],
            [f.issue_stall for f in flights],
        ]
        stream, operations = [f.one for f in flights], [f.operation for f in flights]
        pipes, mispredicted = [tuple(f.pipes) for f in flights], [f.mispredicted for f in flights]
        return gathered(self.core, stream, operations, times, stalls, pipes, mispredicted)

    @property
    def in_flight(self) -> int:
        """Instructions that are dispatched and not retired."""
        return len(self._buffer)

    @property
    def now(self) -> int:
        """The cycle in which the last instruction was dispatched."""
        return self._cycle

    def state(self) -> Hashable:
        """All that the times of what comes next depend on, counted from now on."""
        origin = Origin(self._cycle, len(self._flights))
        buffer = [(id(f.operation), None if f.open else max(f.ready - self._cycle, 0)) for f in self._buffer]
        values = [value for flight in self._buffer for value in flight.values if value.issued is None]
        registers = [(name, origin.value(value)) for name, value in self._values.items() if origin.matters(value)]
        return (
            self._slots, tuple(buffer),
            tuple(origin.readers(value) for value in (*values, *self._bases.values())), tuple(sorted(registers)),
            tuple((pipe, tuple((number - origin.number, order) for number, order, *_ in sorted(heap)))
                  for pipe, heap in self._ready.items()),
            tuple((cycle - self._cycle, tuple(map(origin.part, parts)))
                  for cycle, parts in sorted(self._calendar.items())),
            tuple(max(free - self._cycle, 0) for free in self._free.values()),
            self._young_stores(origin), self._taken.state(self._cycle), self._cadence.state(),
        )  # fmt: skip

    def _young_stores(self, origin: Origin) -> tuple[Hashable, ...]:
        """Those that were issued and still hold up a load of the same bytes."""
        forward, issued = max(self.core.store_forward_scalar, self.core.store_forward_vector), self._issued_stores
        while issued and (issued[0].issued or 0) + forward < self._cycle:
            issued.popleft()
        return tuple(sorted(origin.value(value) for value in issued))

    def _pipes(self, operation: Operation) -> list[str]:
        """The pipe of each micro-operation: of its alternatives the one with the least work before it.

        Whether its queue has room or not; what goes before it in the same instruction counts as work.
        """
        pipes: list[str] = []
        for use in operation.uses:
            pipes.append(use.pipes[0] if len(use.pipes) == 1 else min(use.pipes, key=self._work_with(operation, pipes)))
        return pipes

    def _work_with(self, operation: Operation, pipes: list[str]) -> Callable[[str], int]:
        if not pipes:
            return self._work
        added = [(pipe, use.cycles) for pipe, use in zip(pipes, operation.uses, strict=False)]
        return lambda pipe: self._work(pipe) + sum(cycles for taken, cycles in added if taken == pipe)

    def _has_room(self, pipe: str, entries: int) -> bool:
        return not self._queued[pipe] or self._queued[pipe] + entries <= self.core.queues.get(pipe, inf)

    def _work(self, pipe: str) -> int:
        """The cycles that a pipe needs for what waits in its queue and for what is in it."""
        return self._queued_cycles[pipe] + max(self._free[pipe] - self._cycle, 0)

    def _wait(self, number: int, one: Executed, operation: Operation) -> Stall:
        """Let cycles pass until it can be dispatched; says why it could not be before."""
        stall = Stall(Kind.ORDER, number - 1) if number else NO_STALL
        while obstacle := self._obstacle(one, operation):
            kind, what = obstacle
            self._next_cycle()
            stall = Stall(kind, self._cause(kind, what, number), what)
        return stall

    def _obstacle(self, one: Executed, operation: Operation) -> tuple[Kind, str] | None:
        """What keeps an instruction from being dispatched in this cycle."""
        if self._slots <= 0:
            return Kind.WIDTH, ""
        if self._mispredicted is not None and not self._redirected(self._mispredicted):
            return Kind.MISPREDICT, ""
        if one.taken and self._cycle < self._taken.next:
            return Kind.BRANCH, ""
        if self._buffered and self._buffered + operation.slots > self.core.reorder_buffer > 0:
            return Kind.REORDER, ""
        pipes = self._pipes(operation)
        for pipe in pipes:
            if not self._has_room(pipe, operation.entries * pipes.count(pipe)):
                return Kind.QUEUE, pipe
        return None

    def _redirected(self, branch: Value) -> bool:
        return branch.issued is not None and self._cycle >= branch.issued + self.core.mispredict

    def _cause(self, kind: Kind, what: str, number: int) -> int:
        """The instruction that made way in this cycle."""
        if kind is Kind.QUEUE:
            return self._holder[what]
        if kind is Kind.REORDER:
            return self._made_way
        if kind is Kind.BRANCH:
            return self._last_taken
        if kind is Kind.MISPREDICT and self._mispredicted is not None:
            return self._mispredicted.number
        return number - 1

    def _dispatch(self, one: Executed, operation: Operation, stall: Stall, mispredicted: bool) -> None:
        flight = Flight(len(self._flights), one, operation, self._cycle, stall, mispredicted)
        self._flights.append(flight)
        self._buffer.append(flight)
        self._buffered += operation.slots
        self._slots -= operation.slots
        uses = reservations(operation, one, self.core) if one.loads else operation.uses
        waiting = list(zip(self._pipes(operation), uses, strict=True))
        for pipe, use in waiting:
            self._queued[pipe] += operation.entries
            self._queued_cycles[pipe] += use.cycles
        self._link(flight, waiting)
        self._note_branch(flight)

    def _link(self, flight: Flight, waiting: list[tuple[str, Reservation]]) -> None:
        """Connect its parts with the values that they read, then make what it writes the values that others read."""
        operation = flight.operation
        splits = operation.is_store and len(waiting) > 1
        main = Part(flight, waiting[1:], self._cycle + 1, first=1) if splits else Part(flight, waiting, self._cycle + 1)
        parts = [(main, operation.data_sources if splits else operation.sources)]
        if splits:
            parts.append((Part(flight, waiting[:1], self._cycle + 1), operation.address_sources))
        flight.open = len(parts)
        base = next((result for result in operation.results if result.updates_base), None)
        if base is not None:
            value = self._bases[flight.number] = Value(flight.number, base)
            parts.append((Part(flight, [], self._cycle + 1, value), operation.address_sources))
        for part, sources in parts:
            self._read(part, sources)
        if flight.one.loads:
            self._read_stored(main)
        self._write(flight)
        if base is not None:
            self._values[base.name] = value
        for part, _ in parts:
            part.missing -= 1
            if not part.missing:
                self._complete(part)

    def _read(self, part: Part, sources: tuple[Source, ...]) -> None:
        for source in sources:
            value = self._values.get(source.name)
            if value is not None and value.result is not None:
                kind = Kind.MEMORY if value.number in self._delays else source.kind
                value.read_by(part, source.after[value.result], Stall(kind, value.number, source.name))

    def _read_stored(self, part: Part) -> None:
        """A load of bytes that were stored is ready no sooner than their stores forward them."""
        one = part.flight.one
        for writer in self._stored.writers(one.loads):
            store = self._flights[writer].one
            if not store_forward(store.stores, self.core):
                continue
            forward = self._cadence.whole((store.instruction, one.instruction), store_forward(store.stores, self.core))
            delay = max(forward - part.flight.operation.latency, 0)
            self._stores[writer].read_by(part, delay, Stall(Kind.STORE, writer))

    def _write(self, flight: Flight) -> None:
        number = flight.number
        for result in flight.operation.results:
            if not result.updates_base:
                value = self._values[result.name] = Value(number, result)
                flight.values.append(value)
        if flight.one.stores:
            self._stored.store(flight.one.stores, number)
            self._stores[number] = Value(number, None)
            flight.values.append(self._stores[number])

    def _note_branch(self, flight: Flight) -> None:
        if flight.mispredicted and self.core.mispredict:
            self._mispredicted = Value(flight.number, None)
            flight.values.append(self._mispredicted)
        if flight.one.taken:
            self._taken.event(self._cycle)
            self._last_taken = flight.number

    def _next_cycle(self) -> None:
        self._cycle += 1
        self._slots = self.core.width + min(self._slots, 0)
        self._retire()
        for part in self._calendar.pop(self._cycle, ()):
            for order, (pipe, use) in enumerate(part.waiting, part.first):
                heappush(self._ready[pipe], (part.flight.number, order, part, use))
        for pipe, ready in self._ready.items():
            if ready and self._free[pipe] <= self._cycle:
                self._issue(pipe, *heappop(ready)[2:])

    def _retire(self) -> None:
        """The oldest, as long as they are ready; `_made_way` is the first of a cycle, for which the others waited."""
        buffer = self._buffer
        if buffer and 0 <= buffer[0].ready <= self._cycle:
            self._made_way = buffer[0].number
        left = self.core.retire_width or len(buffer)
        while buffer and left and 0 <= buffer[0].ready <= self._cycle:
            flight = buffer.popleft()
            flight.retired = self._cycle
            self._buffered -= flight.operation.slots
            left -= 1

    def _issue(self, pipe: str, part: Part, use: Reservation) -> None:
        """A micro-operation starts."""
        flight, end = part.flight, self._cycle + use.cycles
        if use.fraction is not None:
            end += self._cadence.extra((pipe, use.pipes), use.fraction)
        if self._cycle > part.available:
            flight.issue_stall = Stall(Kind.PIPE, self._holder[pipe], pipe)
        self._free[pipe] = end
        self._holder[pipe] = flight.number
        self._queued[pipe] -= flight.operation.entries
        self._queued_cycles[pipe] -= use.cycles
        flight.pipes.append((pipe, self._cycle, end))
        part.issued += 1
        if part.issued == len(part.waiting):
            self._started(part, self._cycle)

    def _complete(self, part: Part) -> None:
        """All operands of a part are on their way."""
        if part.base is not None:
            self._publish_base(part)
        elif part.waiting:
            self._calendar[max(part.available, self._cycle + 1)].append(part)
        else:
            self._started(part, part.available)

    def _publish_base(self, part: Part) -> None:
        """One after the other, however long the chain of bases is that wait for each other."""
        self._moved.append(part)
        if len(self._moved) > 1:
            return
        while self._moved:
            base = self._moved[0].base
            if base is not None:
                base.publish(self._moved[0].available, self._complete)
                self._bases.pop(base.number, None)
            self._moved.popleft()

    def _started(self, part: Part, at: int) -> None:
        """The last micro-operation of a part starts; with the last part the instruction is issued."""
        flight = part.flight
        flight.open -= 1
        if part.available > flight.available:
            flight.available, flight.operand_stall = part.available, part.stall
        flight.issued = max(flight.issued, at)
        if not flight.open:
            self._finish(flight)

    def _finish(self, flight: Flight) -> None:
        operation, at = flight.operation, flight.issued + self._delays.get(flight.number, 0)
        if operation.fraction is not None:
            at += self._cadence.extra(operation.timing.name, operation.fraction)
        flight.ready = at + operation.done_after
        for value in flight.values:
            value.publish(at, self._complete)
        if flight.one.stores:
            self._issued_stores.append(self._stores[flight.number])
