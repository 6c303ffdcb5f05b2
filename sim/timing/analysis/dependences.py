"""Which instructions of a stream wait for results of which others, whatever a pipeline makes of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from sim.timing.model.core import Core
from sim.timing.model.operation import WrittenRegister, operations_on, store_forward
from sim.timing.model.schedule import StallKind
from sim.timing.model.stored_bytes import StoredBytes
from sim.timing.model.stream import Executed


class Dependence(NamedTuple):
    """A result that an instruction needs.

    `producer` is the number of the instruction that makes it; the consumer issues at least `cycles` after it, on
    average (a latency may lie between whole cycles).  `what` is the register, "" for a store.  `base`: it is the base
    register that the producer moves on, which out of order needs the producer's address only.
    """

    producer: int
    cycles: Fraction | int
    kind: StallKind
    what: str
    base: bool = False


def dependences(stream: Sequence[Executed], core: Core) -> Iterator[tuple[Dependence, ...]]:
    """For each instruction of a stream, the results that it needs, through registers and through memory."""
    operations, stored = operations_on(core), StoredBytes()
    made: dict[str, tuple[int, WrittenRegister, Fraction | None]] = {}
    for number, one in enumerate(stream):
        operation = operations[one.instruction]
        needed = []
        for source in operation.sources:
            if source.name in made:
                producer, result, fraction = made[source.name]
                whole = source.after[result]
                cycles = whole if fraction is None or result.updates_base else whole + fraction
                needed.append(Dependence(producer, cycles, source.kind, source.name, result.updates_base))
        for writer in stored.writers(one.loads) if one.loads else ():
            forward = store_forward(stream[writer].stores, core)
            needed.append(Dependence(writer, max(forward - operation.latency, Fraction(0)), StallKind.STORE, ""))
        made.update((result.name, (number, result, operation.fraction)) for result in operation.results)
        stored.store(one.stores, number)
        yield tuple(needed)
