"""An out-of-order pipeline, cycle by cycle: retire, issue the oldest ready micro-operation of each pipe, dispatch.

A micro-operation is given its pipe when it is dispatched, the one that will be through with its work first, or the next
in turn, as the core has it.  A store is split: its first micro-operation needs the address only, the others the data.
An updated base register needs no pipe.  What waits for an instruction in a pipe starts in the cycle after that at the
earliest, however late it needs it.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Hashable, Iterable, Mapping
from heapq import heappop, heappush
from math import inf

from sim.timing.model.caches import NO_DELAYS
from sim.timing.model.cadence import Cadence, Interval
from sim.timing.model.core import Core
from sim.timing.model.dataflow import Flight, FlightPart, ReferencePoint, Value
from sim.timing.model.operation import Operation, Reservation, operations_on, reservations, store_forward
from sim.timing.model.passage import gathered
from sim.timing.model.schedule import NO_STALL, Schedule, Stall, StallKind
from sim.timing.model.stored_bytes import StoredBytes
from sim.timing.model.stream import Executed


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
        self._ready: dict[str, list[tuple[int, int, FlightPart, Reservation]]] = {pipe: [] for pipe in core.pipes}
        self._free = dict.fromkeys(core.pipes, 0)
        self._holder = dict.fromkeys(core.pipes, -1)
        self._calendar: defaultdict[int, list[FlightPart]] = defaultdict(list)
        self._values: dict[str, Value] = {}
        self._stored = StoredBytes()
        self._stores: dict[int, Value] = {}
        self._issued_stores: deque[tuple[int, Value]] = deque()
        self._bases: dict[int, Value] = {}
        self._moved: deque[FlightPart] = deque()
        self._cadence = Cadence()
        self._turns: defaultdict[tuple[str, ...], int] = defaultdict(int)
        self._mispredicted: Value | None = None
        self._taken = Interval(core.taken_branch_interval)
        self._last_taken: int  # once a branch was taken

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
            stall = Stall(StallKind.ORDER, number - 1) if number else NO_STALL
            while obstacle := self._obstacle(one, operation):
                kind, what = obstacle
                self._next_cycle()
                cause = number - 1  # or who made way in this cycle
                if kind is StallKind.QUEUE:
                    cause = self._holder[what]
                elif kind is StallKind.REORDER:
                    cause = self._made_way
                elif kind is StallKind.BRANCH:
                    cause = self._last_taken
                elif kind is StallKind.MISPREDICT and self._mispredicted is not None:
                    cause = self._mispredicted.number
                stall = Stall(kind, cause, what)
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
        origin = ReferencePoint(self._cycle, len(self._flights))
        buffer = [(id(f.operation), None if f.open else max(f.ready - self._cycle, 1)) for f in self._buffer]
        values = [value for flight in self._buffer for value in flight.values if value.issued is None]
        registers = [(name, origin.value(value)) for name, value in self._values.items() if origin.matters(value)]
        forward, issued = max(self.core.store_forward_scalar, self.core.store_forward_vector), self._issued_stores
        while issued and issued[0][0] + forward < self._cycle:  # the others still hold up loads
            issued.popleft()
        return (
            self._slots, tuple(buffer),
            tuple([origin.readers(value) for value in (*values, *self._bases.values())]), tuple(sorted(registers)),
            tuple((pipe, tuple((number - origin.number, order) for number, order, *_ in sorted(heap)))
                  for pipe, heap in self._ready.items()),
            tuple((cycle - self._cycle, tuple(map(origin.part, parts)))
                  for cycle, parts in sorted(self._calendar.items())),
            tuple(max(free - self._cycle, 0) for free in self._free.values()),
            tuple(sorted(origin.value(value) for _, value in issued)), self._taken.state(self._cycle),
            self._cadence.state(), tuple(sorted(self._turns.items())),
        )  # fmt: skip

    def _pipes(self, operation: Operation) -> list[str]:
        """The pipe of each micro-operation: of its alternatives the one with the least work before it, or the next.

        Whether its queue has room or not.  Work are the cycles that a pipe needs for what waits in its queue, for what
        is in it, and for what goes before in the same instruction.
        """
        queued, free, now = self._queued_cycles, self._free, self._cycle
        pipes: list[str] = []
        own: dict[str, int] = {}
        for number, use in enumerate(operation.uses):
            if self.core.in_turn:
                before = [other.pipes for other in operation.uses[:number]].count(use.pipes)
                pipes.append(use.pipes[(self._turns[use.pipes] + before) % len(use.pipes)])
                continue
            chosen = min(use.pipes, key=lambda pipe: queued[pipe] + max(free[pipe] - now, 0) + own.get(pipe, 0))
            pipes.append(chosen)
            own[chosen] = own.get(chosen, 0) + use.cycles
        return pipes

    def _obstacle(self, one: Executed, operation: Operation) -> tuple[StallKind, str] | None:
        """What keeps an instruction from being dispatched in this cycle."""
        if self._slots <= 0:
            return StallKind.WIDTH, ""
        branch = self._mispredicted
        if branch is not None and (branch.issued is None or self._cycle < branch.issued + self.core.mispredict):
            return StallKind.MISPREDICT, ""
        if one.taken and self._cycle < self._taken.next:
            return StallKind.BRANCH, ""
        if self._buffered and self._buffered + operation.slots > self.core.reorder_buffer > 0:
            return StallKind.REORDER, ""
        pipes = self._pipes(operation)
        for pipe in pipes:
            queued, entries = self._queued[pipe], operation.entries * pipes.count(pipe)
            if queued and queued + entries > self.core.queues.get(pipe, inf):
                return StallKind.QUEUE, pipe
        return None

    def _dispatch(self, one: Executed, operation: Operation, stall: Stall, mispredicted: bool) -> None:
        flight = Flight(len(self._flights), one, operation, self._cycle, stall, mispredicted)
        self._flights.append(flight)
        self._buffer.append(flight)
        self._buffered += operation.slots
        self._slots -= operation.slots
        uses = reservations(operation, one, self.core) if one.loads else operation.uses
        waiting = tuple(zip(self._pipes(operation), uses, strict=True))
        for pipe, use in waiting:
            self._queued[pipe] += operation.entries
            self._queued_cycles[pipe] += use.cycles
            if self.core.in_turn:
                self._turns[use.pipes] = (self._turns[use.pipes] + 1) % len(use.pipes)
        if mispredicted and self.core.mispredict:
            self._mispredicted = Value(flight.number, None)
            flight.values.append(self._mispredicted)
        self._link(flight, waiting)
        if one.taken:
            self._taken.event(self._cycle)
            self._last_taken = flight.number

    def _link(self, flight: Flight, waiting: tuple[tuple[str, Reservation], ...]) -> None:
        """Connect its parts with the values that they read, then make what it writes the values that others read."""
        operation, number, soonest = flight.operation, flight.number, self._cycle + 1
        if operation.is_store and len(waiting) > 1:
            main = FlightPart(flight, waiting[1:], soonest, first=1)
            address = FlightPart(flight, waiting[:1], soonest)
            parts = [(main, operation.data_sources), (address, operation.address_sources)]
        else:
            main = FlightPart(flight, waiting, soonest)
            parts = [(main, operation.sources)]
        flight.open = len(parts)
        base = next((result for result in operation.results if result.updates_base), None)
        if base is not None:
            moved = self._bases[number] = Value(number, base)
            parts.append((FlightPart(flight, (), soonest, base=moved), operation.address_sources))
        for part, sources in parts:
            for source in sources:
                read = self._values.get(source.name)
                if read is not None and read.result is not None:
                    missed = read.number in self._delays and not read.result.updates_base
                    kind = StallKind.MEMORY if missed else source.kind
                    read.read_by(part, source.after[read.result], Stall(kind, read.number, source.name))
        if flight.one.loads:
            self._read_stored(main)
        for result in operation.results:
            if not result.updates_base:
                made = self._values[result.name] = Value(number, result)
                flight.values.append(made)
        if flight.one.stores:
            self._stored.store(flight.one.stores, number)
            made = self._stores[number] = Value(number, None)
            flight.values.append(made)
        if base is not None:
            self._values[base.name] = moved
        for part, _ in parts:
            part.missing -= 1
            if not part.missing:
                self._complete(part)

    def _read_stored(self, part: FlightPart) -> None:
        """A load of bytes that were stored is ready no sooner than their stores forward them."""
        one = part.flight.one
        for writer in self._stored.writers(one.loads):
            store = self._flights[writer].one
            if not store_forward(store.stores, self.core):
                continue
            forward = self._cadence.whole((store.instruction, one.instruction), store_forward(store.stores, self.core))
            delay = max(forward - part.flight.operation.latency, 0)
            self._stores[writer].read_by(part, delay, Stall(StallKind.STORE, writer))

    def _next_cycle(self) -> None:
        """The oldest retire, as long as they are ready; what has its operands starts in its pipe.

        `_made_way` is the oldest: where any retire in this cycle, it is the one for which the others waited.
        """
        self._cycle += 1
        self._slots = self.core.width + min(self._slots, 0)
        buffer = self._buffer
        if buffer:
            self._made_way = buffer[0].number
        left = self.core.retire_width or len(buffer)
        while buffer and left and 0 <= buffer[0].ready <= self._cycle:
            flight = buffer.popleft()
            flight.retired = self._cycle
            self._buffered -= flight.operation.slots
            left -= 1
        for part in self._calendar.pop(self._cycle, ()):
            for order, (pipe, use) in enumerate(part.waiting, part.first):
                heappush(self._ready[pipe], (part.flight.number, order, part, use))
        for pipe, ready in self._ready.items():
            if ready and self._free[pipe] <= self._cycle:
                self._issue(pipe, *heappop(ready)[2:])

    def _issue(self, pipe: str, part: FlightPart, use: Reservation) -> None:
        """A micro-operation starts."""
        flight, end = part.flight, self._cycle + use.cycles
        if use.fraction is not None:
            end += self._cadence.extra((pipe, use.pipes), use.fraction)
        if self._cycle > part.available:
            flight.issue_stall = Stall(StallKind.PIPE, self._holder[pipe], pipe)
        self._free[pipe] = end
        self._holder[pipe] = flight.number
        self._queued[pipe] -= flight.operation.entries
        self._queued_cycles[pipe] -= use.cycles
        flight.pipes.append((pipe, self._cycle, end))
        part.issued += 1
        if part.issued == len(part.waiting):
            self._started(part, self._cycle)

    def _complete(self, part: FlightPart) -> None:
        """All operands of a part are on their way.

        Bases are published one after the other, however long the chain of those is that wait for each other.
        """
        if part.base is None:
            if part.waiting:
                self._calendar[max(part.available, self._cycle + 1)].append(part)
            else:
                self._started(part, part.available)
            return
        self._moved.append(part)
        if len(self._moved) > 1:
            return
        while self._moved:
            moved = self._moved[0]
            if moved.base is not None:
                moved.base.publish(moved.available, self._complete)
                self._bases.pop(moved.flight.number)
            self._moved.popleft()

    def _started(self, part: FlightPart, at: int) -> None:
        """The last micro-operation of a part starts; with the last part the instruction is issued."""
        flight = part.flight
        flight.open -= 1
        if part.available > flight.available:
            flight.available, flight.operand_stall = part.available, part.stall
        flight.issued = max(flight.issued, at)
        if flight.open:
            return
        operation, at = flight.operation, flight.issued + self._delays.get(flight.number, 0)
        if operation.fraction is not None:
            at += self._cadence.extra(operation.timing.name, operation.fraction)
        flight.ready = at + operation.done_after
        for value in flight.values:
            value.publish(at, self._complete)
        if flight.one.stores:
            self._issued_stores.append((at, self._stores[flight.number]))
