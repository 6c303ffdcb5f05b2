"""An instruction as a pipeline sees it: what it reads and for what, what it makes and when, which pipes it needs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from math import floor
from typing import Final, NamedTuple

from isa.instruction import Instruction
from isa.lane import Place
from isa.operands import Address, Extended, RegisterList, Shifted
from isa.parse import parse
from sim.timing.classes.all_classes import timing_class
from sim.timing.model.core import ClassTiming, Core
from sim.timing.model.schedule import StallKind
from sim.timing.model.stream import Accesses, Executed

_TRACKED = ("x", "sp", "v", "nzcv")
"""Registers that an instruction can wait for.  FPSR is sticky and FPCR hardly ever written: nothing waits for them."""


@dataclass(frozen=True, eq=False)
class WrittenRegister:
    """One register that an instruction writes; `name` is its text.

    `latency` and `forwarded` (None: never) are the cycles from issue to the issue of a consumer, the latter into the
    accumulator of an instruction of the same `group`.  `updates_base` is the base register of an access, which does not
    wait for its data.  `scalar` is any other result in a general register.
    """

    name: str
    latency: int
    forwarded: int | None
    group: str
    updates_base: bool
    scalar: bool


@dataclass(frozen=True, eq=False)
class ReadRegister:
    """One register that an instruction reads: what it is for, and how long after each result it can be read.

    It is needed `late` cycles after the instruction starts.
    """

    name: str
    kind: StallKind
    group: str
    core: Core
    shifted: bool
    late: int
    after: Distances = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "after", Distances(self))


class Distances(dict[WrittenRegister, int]):
    """For one source, the cycles from the issue of the producer of each result to its own, worked out when asked."""

    def __init__(self, source: ReadRegister) -> None:
        super().__init__()
        self._source = source

    def __missing__(self, result: WrittenRegister) -> int:
        source, core, cycles = self._source, self._source.core, result.latency
        if source.kind is StallKind.ACCUMULATOR and result.forwarded is not None and source.group == result.group:
            cycles = result.forwarded
        if source.kind is StallKind.ADDRESS and result.scalar:
            cycles = max(cycles, 1 + core.address_delay)
        if source.shifted:
            cycles += core.shifted_delay
        distance = self[result] = max(cycles - source.late, 0)
        return distance


class Reservation(NamedTuple):
    """One of `pipes` is occupied for `cycles`, from `start` cycles after issue on.

    `fraction` is what it is longer on average, None if nothing.
    """

    pipes: tuple[str, ...]
    cycles: int
    fraction: Fraction | None
    start: int


@dataclass(frozen=True, eq=False, kw_only=True)
class Operation:
    """An instruction on a core.

    `latency` is that of its results, in whole cycles; `fraction` is what it is longer on average, or None.  Of several
    `uses` a store occupies the first as soon as it knows its address.
    """

    text: str
    timing: ClassTiming
    sources: tuple[ReadRegister, ...]
    results: tuple[WrittenRegister, ...]
    latency: int
    fraction: Fraction | None
    uses: tuple[Reservation, ...]
    slots: int
    first: bool
    is_store: bool

    @cached_property
    def reads(self) -> tuple[tuple[str, StallKind, Distances], ...]:
        """Its sources, quick to go through: name, what for, and how long after each result."""
        return tuple((source.name, source.kind, source.after) for source in self.sources)

    @cached_property
    def fixed(self) -> tuple[tuple[str, int, int], ...] | None:
        """Pipe, start and cycles of its uses; None where one has a choice of pipes or a fraction of a cycle."""
        if any(len(use.pipes) > 1 or use.fraction is not None for use in self.uses):
            return None
        return tuple((use.pipes[0], use.start, use.cycles) for use in self.uses)

    @cached_property
    def address_sources(self) -> tuple[ReadRegister, ...]:
        """Those that a store needs to know where it goes."""
        return tuple(source for source in self.sources if source.kind is StallKind.ADDRESS)

    @cached_property
    def data_sources(self) -> tuple[ReadRegister, ...]:
        """The others."""
        return tuple(source for source in self.sources if source.kind is not StallKind.ADDRESS)

    @cached_property
    def makes_a_value(self) -> bool:
        """Whether it writes a register other than the base of an access."""
        return any(not result.updates_base for result in self.results)

    @cached_property
    def is_vector(self) -> bool:
        """Whether it writes a vector register."""
        return any(result.name.startswith("v") for result in self.results)

    @cached_property
    def last_result(self) -> int:
        """Whole cycles from its issue until all of its results are there, one at least."""
        return max([1, *(result.latency for result in self.results)])

    @cached_property
    def done_after(self) -> int:
        """Whole cycles from its issue until it is done."""
        return self.latency if self.makes_a_value else 1

    @cached_property
    def entries(self) -> int:
        """Entries that each of its micro-operations takes in the queue of its pipe."""
        return max(1, self.timing.slots // len(self.uses)) if self.uses else 0


class Operations(dict[Instruction, Operation]):
    """The operations of a core by instruction, worked out when asked."""

    def __init__(self, core: Core) -> None:
        super().__init__()
        self.core = core

    def __missing__(self, instruction: Instruction) -> Operation:
        operation = self[instruction] = operation_of(instruction, self.core)
        return operation


@lru_cache(maxsize=8)
def operations_on(core: Core) -> Operations:
    """The operations of a core; they are kept for the cores that were asked for last."""
    return Operations(core)


def operation_of(instruction: Instruction, core: Core) -> Operation:
    """An instruction as this core sees it."""
    timing, roles = core.timing(timing_class(instruction.pattern)), _Roles(instruction)
    latency, group = floor(timing.latency), timing.group
    accumulator = roles.accumulator() if group else None
    old = (roles.values - roles.factors - roles.addresses).intersection(instruction.places_written)
    merge_late = latency - floor(timing.merge) if timing.merge is not None else 0
    sources = []
    for place in instruction.places_read:
        if place.file in _TRACKED and (timing.merges or place not in old):
            for kind in [StallKind.ACCUMULATOR] if place == accumulator else roles.kinds(place):
                is_stored = instruction.stores and kind is StallKind.OPERAND
                late = core.store_data_late if is_stored else merge_late if place in old else 0
                sources.append(ReadRegister(str(place), kind, group, core, place in roles.shifted, late))
    results = []
    for place in instruction.places_written:
        if place.file in _TRACKED:
            base = place in roles.addresses and roles.updates_base
            scalar = place.file in ("x", "sp") and not base
            forwarded = floor(timing.accumulate) if timing.accumulate is not None and not base else None
            results.append(
                WrittenRegister(str(place), core.writeback if base else latency, forwarded, group, base, scalar)
            )
    return Operation(
        text=instruction.text,
        timing=timing,
        sources=tuple(sources),
        results=tuple(results),
        latency=latency,
        fraction=timing.latency - latency or None,
        uses=tuple(Reservation(use.pipes, floor(use.cycles), use.cycles % 1 or None, use.start) for use in timing.uses),
        slots=timing.slots + (core.structure_writeback_slots if roles.moves_structures else 0),
        first=timing.first,
        is_store=instruction.stores,
    )


WIDEST_SCALAR: Final = 8
"""Bytes: what stores more at once is forwarded as a vector is."""


def store_forward(stores: Accesses, core: Core) -> Fraction:
    """The cycles from the issue of a store of these bytes to that of a consumer of a load of them."""
    vector = max(size for _, size in stores) > WIDEST_SCALAR
    return core.store_forward_vector if vector else core.store_forward_scalar


PLAIN_LOAD = "load vector 128 (ldr q)"
"""The class whose pipes are the load pipes of a core."""


def load_pipes(core: Core) -> frozenset[str]:
    """The pipes that a load which is not aligned keeps longer."""
    return frozenset(pipe for use in core.timing(PLAIN_LOAD).uses for pipe in use.pipes)


def reservations(operation: Operation, one: Executed, core: Core) -> tuple[Reservation, ...]:
    """The uses of an instruction; a vector load that is not aligned keeps its load pipe longer."""
    size = core.unaligned_bytes
    if (
        not size
        or not operation.is_vector
        or not any(length >= size and address % size for address, length in one.loads)
    ):
        return operation.uses
    longer = load_pipes(core)
    return tuple(
        use._replace(cycles=use.cycles + core.unaligned_cycles) if longer.intersection(use.pipes) else use
        for use in operation.uses
    )


class _Roles:
    """What the registers of an instruction are for, by its operands."""

    def __init__(self, instruction: Instruction) -> None:
        self._operands = parse(instruction.pattern.operand_text, instruction.registers)
        self._instruction = instruction
        addresses = [operand for operand in self._operands if isinstance(operand, Address)]
        parts = [part for address in addresses for part in (address.base, address.offset)]
        registers = [part.base if isinstance(part, Shifted | Extended) else part for part in parts]
        self.addresses = frozenset(place for register in registers for place in _places(register))
        self.updates_base = any(address.mode != "offset" for address in addresses)
        self.moves_structures = self.updates_base and isinstance(self._operands[0], RegisterList)
        values = [frozenset(_places(operand)) for operand in self._operands]
        self.values, self.factors = frozenset[Place]().union(*values), frozenset[Place]().union(*values[1:])
        self.shifted = frozenset(o.base.place for o in self._operands if isinstance(o, Shifted | Extended))

    def kinds(self, place: Place) -> list[StallKind]:
        """What a register is read for, unless it is an accumulator: a store can need it twice."""
        if place.file == "nzcv":
            return [StallKind.FLAGS]
        if place not in self.addresses:
            return [StallKind.OPERAND]
        return [StallKind.ADDRESS, *([StallKind.OPERAND] if self._instruction.stores and place in self.values else [])]

    def accumulator(self) -> Place | None:
        """The register that products are added to, if it is read: the last of four, else the destination.

        None if it is a factor as well.
        """
        places = [place for operand in self._operands for place in _places(operand)]
        accumulator = places[-1 if len(places) == 4 else 0] if places else None
        factors = places[1:-1] if len(places) == 4 else places[1:]
        return None if accumulator in factors else accumulator


def _places(operand: object) -> Iterable[Place]:
    if isinstance(operand, RegisterList):
        return [register.place for register in operand.registers]
    place = getattr(operand, "place", None)
    return [place] if isinstance(place, Place) else []
