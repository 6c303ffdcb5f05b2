"""Which instructions of a stream wait for results of which others, whatever a pipeline makes of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from sim.timing.core import Core
from sim.timing.operation import Operation, Result, operations_on, store_forward
from sim.timing.schedule import Kind
from sim.timing.stored_bytes import StoredBytes
from sim.timing.stream import Executed


class Dependence(NamedTuple):
    """A result that an instruction needs.

    `producer` is the number of the instruction that makes it; the consumer issues at least `cycles` after it, on
    average (a latency may lie between whole cycles).  `what` is the register, "" for a store.  `base`: it is the base
    register that the producer moves on, which out of order needs the producer's address only.
    """

    producer: int
    cycles: Fraction | int
    kind: Kind
    what: str
    base: bool = False


class _Tracker:
    """Who wrote each register and each byte last."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._operations = operations_on(core)
        self._made: dict[str, tuple[int, Result, Fraction | None]] = {}
        self._stored = StoredBytes()

    def step(self, number: int, one: Executed, stream: Sequence[Executed]) -> tuple[Dependence, ...]:
        """What the instruction of that number needs; what it makes is noted."""
        operation = self._operations[one.instruction]
        needed = (*self._registers(operation), *self._memory(one, operation, stream))
        self._made.update((result.name, (number, result, operation.fraction)) for result in operation.results)
        self._stored.store(one.stores, number)
        return needed

    def _registers(self, operation: Operation) -> Iterator[Dependence]:
        for source in operation.sources:
            if source.name in self._made:
                producer, result, fraction = self._made[source.name]
                whole = source.after[result]
                cycles = whole if fraction is None or result.updates_base else whole + fraction
                yield Dependence(producer, cycles, source.kind, source.name, result.updates_base)

    def _memory(self, one: Executed, operation: Operation, stream: Sequence[Executed]) -> Iterator[Dependence]:
        for writer in self._stored.writers(one.loads) if one.loads else ():
            forward = store_forward(stream[writer].stores, self._core)
            yield Dependence(writer, max(forward - operation.latency, Fraction(0)), Kind.STORE, "")


def dependences(stream: Sequence[Executed], core: Core) -> Iterable[tuple[Dependence, ...]]:
    """For each instruction of a stream, the results that it needs, through registers and through memory."""
    tracker = _Tracker(core)
    return (tracker.step(number, one, stream) for number, one in enumerate(stream))
