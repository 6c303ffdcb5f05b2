"""Both pipelines once more, from their description only: every cycle is looked at, nothing is remembered, all is slow.

Latencies and occupancies are whole cycles here, and every access hits.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

from isa.lane import Place
from isa.operands import Address, Extended, General, RegisterList, Shifted
from isa.parse import parse
from sim.timing.classes.all_classes import timing_class
from sim.timing.model.core import ClassTiming, Core, Use
from sim.timing.model.stream import Accesses, Executed

Role = Literal["accumulator", "old", "address", "shifted", "stored", "plain"]
WAITED_FOR = ("x", "sp", "v", "nzcv")
"""The register files whose values an instruction waits for."""

PLAIN_LOAD = "load vector 128 (ldr q)"
"""The class whose pipes are a core's load pipes."""


class Times(NamedTuple):
    """Of every instruction of a stream, as in `sim.timing.model.schedule.Schedule`."""

    entered: list[int]
    issued: list[int]
    ready: list[int]
    retired: list[int]


class Need(NamedTuple):
    """A register that an instruction reads, and which earlier instruction wrote it last."""

    register: Place
    role: Role
    writer: int


@dataclass(frozen=True)
class Numbered:
    """One instruction of a stream on a core, with what comes before it."""

    core: Core
    stream: Sequence[Executed]
    number: int

    @property
    def one(self) -> Executed:
        return self.stream[self.number]

    @cached_property
    def timing(self) -> ClassTiming:
        return self.core.timing(timing_class(self.one.instruction.pattern))

    @property
    def latency(self) -> int:
        return whole(self.timing.latency)

    @property
    def slots(self) -> int:
        """Those of its class, and what moving a base with registers in a list takes."""
        moves = isinstance(self.operands[0], RegisterList) if self.operands else False
        more = moves and any(self.updates(register) for register in self.addresses())
        return self.timing.slots + self.core.structure_writeback_slots * more

    @property
    def duration(self) -> int:
        """Cycles from issue until it can retire: where nothing waits for a result, one."""
        written = self.one.instruction.places_written
        has_result = any(place.file in WAITED_FOR and not self.updates(place) for place in written)
        return self.latency if has_result else 1

    @cached_property
    def operands(self) -> tuple[object, ...]:
        instruction = self.one.instruction
        return parse(instruction.pattern.operand_text, instruction.registers)

    @cached_property
    def needs(self) -> tuple[Need, ...]:
        return tuple(
            Need(register, role, writer)
            for register, role in self.reads()
            if (writer := self.last_writer(register)) is not None
        )

    def reads(self) -> Iterator[tuple[Place, Role]]:
        """A register may be read for several reasons."""
        for register in self.one.instruction.places_read:
            if register.file in WAITED_FOR:
                yield from ((register, role) for role in self.roles(register))

    def roles(self, register: Place) -> Iterator[Role]:
        if register in self.addresses():
            yield "address"
        if register in self.shifted():
            yield "shifted"
        if register in self.sources():
            yield "accumulator" if self.is_last_of_four(register) else "stored" if self.one.stores else "plain"
        elif register in self.destinations():
            yield from self.old_destination(register)
        elif register not in (*self.addresses(), *self.shifted()):
            yield "plain"

    def old_destination(self, register: Place) -> Iterator[Role]:
        if self.timing.merges:
            yield "old" if self.timing.merge is not None else "plain" if self.is_four() else "accumulator"

    def is_four(self) -> bool:
        return len(list(places(self.operands))) == 4 and not self.one.stores

    def is_last_of_four(self, register: Place) -> bool:
        registers = list(places(self.operands))
        return self.is_four() and register == registers[3] and register not in registers[1:3]

    def destinations(self) -> list[Place]:
        written = self.one.instruction.places_written
        return [place for place in places(self.operands[:1]) if place in written and not self.one.stores]

    def sources(self) -> list[Place]:
        return list(places(self.operands if not self.destinations() else self.operands[1:]))

    def shifted(self) -> list[Place]:
        return [operand.base.place for operand in self.operands if isinstance(operand, Shifted | Extended)]

    def addresses(self) -> list[Place]:
        found = [operand for operand in self.operands if isinstance(operand, Address)]
        return [place for address in found for place in address_places(address)]

    def last_writer(self, register: Place) -> int | None:
        earlier = range(self.number - 1, -1, -1)
        return next((k for k in earlier if register in self.stream[k].instruction.places_written), None)

    def at(self, number: int) -> Numbered:
        return Numbered(self.core, self.stream, number)

    def updates(self, register: Place) -> bool:
        """Whether this is the base register that the access moves on."""
        moving = [operand for operand in self.operands if isinstance(operand, Address) and operand.mode != "offset"]
        return any(address.base.place == register for address in moving)

    def distance(self, need: Need) -> int:
        """Cycles from the issue of the writer of what is needed to the issue of this."""
        writer, core = self.at(need.writer), self.core
        if writer.updates(need.register):
            cycles = core.writeback
        elif need.role == "accumulator" and writer.timing.accumulate is not None and self.is_of_group(writer):
            return whole(writer.timing.accumulate)
        else:
            cycles = writer.latency
        if need.role == "address" and need.register.file != "v" and not writer.updates(need.register):
            return max(cycles, 1 + core.address_delay)
        early = core.shifted_delay if need.role == "shifted" else 0
        late = core.store_data_late if need.role == "stored" else 0
        if need.role == "old":
            late = self.latency - whole(self.timing.merge)
        return max(0, cycles + early - late)

    def is_of_group(self, other: Numbered) -> bool:
        return self.timing.group == other.timing.group != ""

    @cached_property
    def stores(self) -> dict[int, int]:
        """The stores that wrote the loaded bytes last, and the cycles from their issue to that of this load."""
        loaded = bytes_of(self.one.loads)
        found = {self.last_store(byte) for byte in loaded} - {None}
        return {number: max(0, self.at(number).forward - self.latency) for number in found if number is not None}

    def last_store(self, byte: int) -> int | None:
        earlier = range(self.number - 1, -1, -1)
        return next((k for k in earlier if byte in bytes_of(self.stream[k].stores)), None)

    @property
    def forward(self) -> int:
        """Cycles from the issue of this store to the issue of a consumer of a load of its bytes."""
        is_vector = any(size > 8 for _, size in self.one.stores)
        return whole(self.core.store_forward_vector if is_vector else self.core.store_forward_scalar)

    @property
    def is_vector(self) -> bool:
        return any(place.file == "v" for place in self.one.instruction.places_written)

    @property
    def uses(self) -> tuple[tuple[tuple[str, ...], int, int], ...]:
        """Pipes, busy cycles and the first of them."""
        return tuple((use.pipes, whole(use.cycles) + self.longer(use), use.start) for use in self.timing.uses)

    def longer(self, use: Use) -> int:
        load_pipes = {pipe for load in self.core.timing(PLAIN_LOAD).uses for pipe in load.pipes}
        is_longer = self.is_vector and self.is_unaligned and load_pipes.intersection(use.pipes)
        return self.core.unaligned_cycles if is_longer else 0

    @property
    def is_unaligned(self) -> bool:
        least = self.core.unaligned_bytes
        return least > 0 and any(size >= least and address % least for address, size in self.one.loads)


def whole(number: object) -> int:
    """Raises ValueError for a number between two whole ones: this description knows no averages."""
    if number != int(number):  # type: ignore[call-overload]
        raise ValueError(f"{number} is not whole")
    return int(number)  # type: ignore[call-overload,no-any-return]


def places(operands: Sequence[object]) -> Iterator[Place]:
    for operand in operands:
        if isinstance(operand, RegisterList):
            yield from (register.place for register in operand.registers)
        elif not isinstance(operand, Address | Shifted | Extended) and hasattr(operand, "place"):
            yield operand.place


def address_places(address: Address) -> Iterator[Place]:
    yield address.base.place
    offset = address.offset.base if isinstance(address.offset, Shifted | Extended) else address.offset
    if isinstance(offset, General):
        yield offset.place


def bytes_of(accesses: Accesses) -> set[int]:
    return {byte for address, size in accesses for byte in range(address, address + size)}


# ---------------------------------------------------------------- in order


@dataclass
class InOrder:
    """An in-order core: `busy` are its pipes by cycle, `slots` what is left of each cycle."""

    core: Core
    stream: Sequence[Executed]
    mispredicted: Collection[int]
    issued: list[int] = field(default_factory=list)
    busy: set[tuple[str, int]] = field(default_factory=set)
    used: dict[int, int] = field(default_factory=dict)

    def times(self) -> Times:
        for number in range(len(self.stream)):
            self.issue(Numbered(self.core, self.stream, number))
        ready = [at + Numbered(self.core, self.stream, k).duration for k, at in enumerate(self.issued)]
        retired = [max(ready[: k + 1]) for k in range(len(ready))]
        return Times(self.issued, self.issued, ready, retired)

    def issue(self, one: Numbered) -> None:
        cycle = self.issued[-1] if self.issued else 0
        while not self.can_issue(one, cycle):
            cycle += 1
        self.issued.append(cycle)
        self.used[cycle] = self.used.get(cycle, 0) + one.slots
        self.busy |= self.reserved(one, cycle) or set()

    def can_issue(self, one: Numbered, cycle: int) -> bool:
        return (
            self.has_slots(one, cycle)
            and all(cycle >= self.issued[need.writer] + one.distance(need) for need in one.needs)
            and self.has_stored(one, cycle)
            and self.has_fetched(one, cycle)
            and self.reserved(one, cycle) is not None
        )

    def has_slots(self, one: Numbered, cycle: int) -> bool:
        used = self.used.get(cycle, 0)
        return used == 0 or (not one.timing.first and used + one.slots <= self.core.width)

    def has_stored(self, one: Numbered, cycle: int) -> bool:
        return all(cycle >= self.issued[store] + after for store, after in one.stores.items())

    def has_fetched(self, one: Numbered, cycle: int) -> bool:
        after = one.number - 1
        redirected = after not in self.mispredicted or cycle >= self.issued[after] + self.core.mispredict
        return redirected and may_branch(one, cycle, self.issued)

    def reserved(self, one: Numbered, cycle: int) -> set[tuple[str, int]] | None:
        """What it occupies if it issues in that cycle; None if it cannot."""
        found: set[tuple[str, int]] = set()
        for pipes, cycles, start in one.uses:
            ways = [{(pipe, cycle + start + k) for k in range(cycles)} for pipe in pipes]
            free = [way for way in ways if not way & (self.busy | found)]
            if not free:
                return None
            found |= free[0]
        return found


def may_branch(one: Numbered, cycle: int, entered: Sequence[int]) -> bool:
    """Whether the last taken branch is long enough ago."""
    taken = [number for number in range(one.number) if one.stream[number].taken]
    return not (one.one.taken and taken) or cycle >= entered[taken[-1]] + whole(one.core.taken_branch_interval)


# ---------------------------------------------------------------- out of order


@dataclass
class Micro:
    """A micro-operation: which operands it waits for, its pipe and for how long; `issued` once it started."""

    of: Numbered
    needs: tuple[Need, ...]
    waits_for_a_store: bool
    pipe: str | None
    cycles: int
    entries: int
    issued: int | None = None


@dataclass
class OutOfOrder:
    """An out-of-order core."""

    core: Core
    stream: Sequence[Executed]
    mispredicted: Collection[int]
    entered: list[int] = field(default_factory=list)
    micros: list[list[Micro]] = field(default_factory=list)
    bases: list[Micro] = field(default_factory=list)
    retired: list[int] = field(default_factory=list)
    owed: int = 0

    def times(self) -> Times:
        cycle = 0
        while len(self.retired) < len(self.stream):
            self.issue(cycle, without_pipe=True)
            self.retire(cycle)
            self.issue(cycle)
            self.dispatch(cycle)
            cycle += 1
        issued = [self.issued(number) for number in range(len(self.stream))]
        ready = [known(self.ready(number)) for number in range(len(self.stream))]
        return Times(self.entered, [known(at) for at in issued], ready, self.retired)

    def issued(self, number: int) -> int | None:
        """When the last of its micro-operations started."""
        return latest([micro.issued for micro in self.micros[number]])

    def ready(self, number: int) -> int | None:
        at = self.issued(number)
        return None if at is None else at + self.numbered(number).duration

    def numbered(self, number: int) -> Numbered:
        return self.micros[number][0].of

    # retire

    def retire(self, cycle: int) -> None:
        left = self.core.retire_width or len(self.stream)
        while left and len(self.retired) < len(self.entered) and self.is_done(len(self.retired), cycle):
            self.retired.append(cycle)
            left -= 1

    def is_done(self, number: int, cycle: int) -> bool:
        ready = self.ready(number)
        return ready is not None and ready <= cycle

    # issue

    def issue(self, cycle: int, without_pipe: bool = False) -> None:
        """The oldest first: what they make in no time is there for the younger ones, and what needs no pipe is done."""
        for number, micros in enumerate(self.micros):
            for micro in (self.bases[number], *micros):
                if micro.issued is None and not (without_pipe and micro.pipe) and self.can_start(micro, cycle):
                    micro.issued = cycle

    def can_start(self, micro: Micro, cycle: int) -> bool:
        return (
            cycle > self.entered[micro.of.number]
            and not self.is_busy(micro.pipe, cycle)
            and all(self.is_there(micro, need, cycle) for need in micro.needs)
            and (not micro.waits_for_a_store or self.is_stored(micro.of, cycle))
        )

    def is_busy(self, pipe: str | None, cycle: int) -> bool:
        return pipe is not None and self.left(pipe, cycle) > 0

    def left(self, pipe: str, cycle: int) -> int:
        """Cycles until a pipe is through with what occupies it."""
        ends = [m.issued + m.cycles - cycle for m in self.on(pipe) if m.issued is not None]
        return max([0, *ends])

    def on(self, pipe: str) -> list[Micro]:
        return [micro for micros in self.micros for micro in micros if micro.pipe == pipe]

    def is_there(self, micro: Micro, need: Need, cycle: int) -> bool:
        """What needs a pipe starts a cycle after what it waits for has left one, however late it needs that."""
        writer = self.numbered(need.writer)
        at = self.bases[need.writer].issued if writer.updates(need.register) else self.issued(need.writer)
        woken = micro.pipe is not None and any(m.pipe for m in self.micros[need.writer])
        soonest = int(woken and not writer.updates(need.register))
        return at is not None and cycle >= at + max(micro.of.distance(need), soonest)

    def is_stored(self, one: Numbered, cycle: int) -> bool:
        """A load starts after the stores of its bytes, not beside them."""
        stored = [(self.issued(store), max(1, after)) for store, after in one.stores.items()]
        return all(at is not None and cycle >= at + after for at, after in stored)

    # dispatch

    def dispatch(self, cycle: int) -> None:
        """An instruction enters with its first slot; the slots that are missing are those of the next cycles."""
        free = self.core.width - self.owed
        self.owed = max(0, -free)
        while free > 0 and len(self.entered) < len(self.stream):
            one = Numbered(self.core, self.stream, len(self.entered))
            micros = self.micros_of(one, cycle)
            if not self.may_enter(one, micros, cycle):
                return
            self.enter(one, micros, cycle)
            free -= one.slots
            self.owed = max(0, -free)

    def enter(self, one: Numbered, micros: list[Micro], cycle: int) -> None:
        self.entered.append(cycle)
        self.micros.append(micros)
        address = tuple(need for need in one.needs if need.role == "address")
        self.bases.append(Micro(one, address, False, None, 0, 0))

    def micros_of(self, one: Numbered, cycle: int) -> list[Micro]:
        if not one.uses:
            return [Micro(one, one.needs, True, None, 0, 0)]
        entries = max(1, one.timing.slots // len(one.uses))
        found: list[Micro] = []
        for (pipes, cycles, _), (needs, loads) in zip(one.uses, needs_of_micros(one), strict=True):
            if self.core.in_turn:
                entered = [use for number in range(one.number) for use in self.numbered(number).uses]
                alike = [use for use in (*entered, *one.uses[: len(found)]) if use[0] == pipes]
                pipe = pipes[len(alike) % len(pipes)]
            else:
                pipe = min(pipes, key=lambda name: self.work(name, cycle, found))
            found.append(Micro(one, needs, loads, pipe, cycles, entries))
        return found

    def work(self, pipe: str, cycle: int, beside: list[Micro]) -> int:
        """Cycles of what waits for a pipe, and of what is left in it."""
        return sum(micro.cycles for micro in self.waiting(pipe, beside)) + self.left(pipe, cycle)

    def waiting(self, pipe: str, beside: list[Micro]) -> list[Micro]:
        return [micro for micro in (*self.on(pipe), *beside) if micro.pipe == pipe and micro.issued is None]

    def may_enter(self, one: Numbered, micros: list[Micro], cycle: int) -> bool:
        slots = [self.numbered(number).slots for number in range(len(self.retired), len(self.entered))]
        has_room = not slots or not 0 < self.core.reorder_buffer < sum(slots) + one.slots
        fetched = self.is_redirected(one.number - 1, cycle) and may_branch(one, cycle, self.entered)
        return has_room and fetched and all(self.fits(micro.pipe, micros) for micro in micros)

    def is_redirected(self, branch: int, cycle: int) -> bool:
        if branch not in self.mispredicted or not self.core.mispredict:
            return True
        at = self.issued(branch)
        return at is not None and cycle >= at + self.core.mispredict

    def fits(self, pipe: str | None, micros: list[Micro]) -> bool:
        """Whether a queue has room; what needs more than there is enters an empty one."""
        if pipe is None or pipe not in self.core.queues:
            return True
        before = sum(micro.entries for micro in self.waiting(pipe, []))
        new = sum(micro.entries for micro in micros if micro.pipe == pipe)
        return before == 0 or before + new <= self.core.queues[pipe]


def needs_of_micros(one: Numbered) -> list[tuple[tuple[Need, ...], bool]]:
    """What each of them waits for, and whether for a store too.

    A store's first micro-operation needs the address, the others the data.
    """
    if not one.one.stores or len(one.uses) < 2:
        return [(one.needs, True)] * len(one.uses)
    address = tuple(need for need in one.needs if need.role == "address")
    data = tuple(need for need in one.needs if need.role != "address")
    return [(address, False), *[(data, True)] * (len(one.uses) - 1)]


def latest(cycles: Sequence[int | None]) -> int | None:
    return None if None in cycles else max(cycle for cycle in cycles if cycle is not None)


def known(cycle: int | None) -> int:
    if cycle is None:
        raise ValueError("not known yet")
    return cycle


def reference(stream: Sequence[Executed], core: Core, mispredicted: Collection[int] = ()) -> Times:
    """The times of a stream."""
    return (InOrder if core.order == "in" else OutOfOrder)(core, stream, mispredicted).times()
