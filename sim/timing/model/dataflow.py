"""Values on their way: what an instruction makes, which parts of other instructions wait for it, and since when not."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import KW_ONLY, dataclass, field
from typing import NamedTuple

from sim.timing.model.operation import Operation, Reservation, WrittenRegister
from sim.timing.model.passage import Busy
from sim.timing.model.schedule import NO_STALL, Stall
from sim.timing.model.stream import Executed


@dataclass(eq=False, slots=True)
class Flight:
    """An instruction from dispatch on; `open` counts its parts that did not issue, -1 stands for a time to come."""

    number: int
    one: Executed
    operation: Operation
    entered: int
    entry_stall: Stall
    mispredicted: bool
    _: KW_ONLY
    open: int = field(init=False)
    available: int = 0
    issued: int = 0
    ready: int = -1
    retired: int = field(init=False)
    operand_stall: Stall = NO_STALL
    issue_stall: Stall = NO_STALL
    pipes: list[Busy] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class FlightPart:
    """Micro-operations of one instruction that wait for the same operands.

    `waiting` are its micro-operations, each with its pipe, numbered from `first` on; `base` is the base register that
    it updates; `missing` counts the operands of which nobody knows when they come, and 1 while operands are added.
    """

    flight: Flight
    waiting: tuple[tuple[str, Reservation], ...]
    available: int
    _: KW_ONLY
    base: Value | None = None
    first: int = 0
    missing: int = 1
    stall: Stall = NO_STALL
    issued: int = 0


@dataclass(eq=False, slots=True)
class Value:
    """One register, or the bytes of a store, made by the instruction of that number; `issued` is None until it is."""

    number: int
    result: WrittenRegister | None
    issued: int | None = None
    readers: list[tuple[FlightPart, int, Stall]] = field(default_factory=list)

    def read_by(self, part: FlightPart, delay: int, stall: Stall) -> None:
        """`part` can issue `delay` cycles after this value was issued; else it waits, and says `stall`."""
        if self.issued is None:
            part.missing += 1
            self.readers.append((part, delay, stall))
        elif self.issued + delay > part.available:
            part.available, part.stall = self.issued + delay, stall

    def publish(self, at: int, complete: Callable[[FlightPart], None]) -> None:
        """It was issued; `complete` is called with each part that now has all its operands."""
        self.issued = at
        for part, delay, stall in self.readers:
            if at + delay > part.available:
                part.available, part.stall = at + delay, stall
            part.missing -= 1
            if not part.missing:
                complete(part)
        self.readers.clear()


class ReferencePoint(NamedTuple):
    """The cycle and the number from which on parts and values are described, so that descriptions can be compared."""

    cycle: int
    number: int

    def part(self, part: FlightPart) -> Hashable:
        """A part that did not issue."""
        left = max(part.available - self.cycle, 0)
        return part.flight.number - self.number, part.waiting, left, part.missing, part.issued, part.base is not None

    def readers(self, value: Value) -> Hashable:
        """A value that was not issued, with all that wait for it."""
        return value.number - self.number, tuple([(self.part(part), delay) for part, delay, _ in value.readers])

    def value(self, value: Value) -> tuple[int, int, int]:
        """A value: which it is, and either when it was issued or which instruction makes it."""
        if value.issued is None:
            return id(value.result), 0, value.number - self.number
        return id(value.result), 1, value.issued - self.cycle

    def matters(self, value: Value) -> bool:
        """Whether a reader may still have to wait for it."""
        slack = 64 if value.result is None else value.result.latency + 64
        return value.issued is None or value.issued + slack > self.cycle
