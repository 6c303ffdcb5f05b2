"""A core to time for: what each class of instruction costs on it, and the parameters of its pipeline."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, NamedTuple

Status = Literal["modelled", "unmodelled", "absent"]
Basis = Literal["measured", "model", "inferred", "assumed"]

WHOLE = (
    "width",
    "reorder_buffer",
    "retire_width",
    "address_delay",
    "shifted_delay",
    "writeback",
    "structure_writeback_slots",
    "store_data_late",
    "unaligned_bytes",
    "unaligned_cycles",
    "mispredict",
    "in_turn",
)
"""The parameters that are whole numbers."""
FRACTIONAL = ("store_forward_scalar", "store_forward_vector", "taken_branch_interval")
"""The parameters that may be fractions of a cycle: averages, reached by cadence."""

_USE = re.compile(r"(?P<pipes>\w+(?:\|\w+)*)(?:\*(?P<cycles>[0-9.]+))?(?:@(?P<start>[0-9]+))?")
_DECIMAL = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_LONGEST = 1_000_000
_OF_AN_INSTRUCTION = 10_000
"""Cycles of one at most, far above any: a schedule takes as long to make as it has cycles."""


class Use(NamedTuple):
    """One reservation: one of `pipes` is busy for `cycles`, from `start` cycles after issue on."""

    pipes: tuple[str, ...]
    cycles: Fraction
    start: int


@dataclass(frozen=True, kw_only=True)
class ClassTiming:
    """What an instruction class costs on a core.

    `latency` is the cycles from issue to the issue of a consumer; `throughput` the cycles per instruction of an
    endless independent sequence (the stated fact: engines work from `uses`, all of which are needed, and `slots`,
    the dispatch or issue slots).  `accumulate` is the latency into the accumulator of an instruction whose class has
    the same `group`, and `merge` that from the old value of the destination (None: `latency`).  In order, `first`
    issues only as the first of its cycle.  Where not `merges`, the old value of the destination is not waited for.
    `status` is `absent` where the core lacks the instruction and `unmodelled`
    where no source could be read: the figures are then assumed.
    """

    name: str
    latency: Fraction
    throughput: Fraction
    uses: tuple[Use, ...]
    accumulate: Fraction | None
    group: str
    merge: Fraction | None
    slots: int
    first: bool
    merges: bool
    basis: Basis
    source: str
    status: Status


class CacheLevel(NamedTuple):
    """A level of cache: `size` and `line` in bytes, `latency` of a hit in cycles (None: no source says)."""

    name: str
    size: int
    ways: int
    line: int
    latency: int | None


class Clock(NamedTuple):
    """How many cycles a core does in a microsecond, what that rests on, and who says so."""

    megahertz: Fraction
    basis: Basis
    source: str


class Validation(NamedTuple):
    """How far the figures were from measured cycles of some kernels, and who says so."""

    kernels: str
    error: str
    source: str


@dataclass(frozen=True, kw_only=True)
class Unseen:
    """The error on a family of measured kernels that were out of sight when rules were chosen, in percent.

    Of each of its `rows` it is (estimate - measured) / measured; `mean` and `largest` have its sign, and are None where
    they were not kept.  `note` says what else must be known, "" for nothing.
    """

    project: str
    family: str
    rows: int
    mean_absolute: Fraction
    mean: int | None
    largest: int | None
    note: str
    source: str


@dataclass(frozen=True)
class About:
    """Where a core's figures come from: every citation, that of each parameter, and what is left out.

    `split` says how the kernels of `unseen` were kept apart from others; "" where there are none.
    """

    sources: tuple[str, ...]
    parameters: Mapping[str, str]
    not_modelled: tuple[str, ...]
    validation: tuple[Validation, ...]
    unseen: tuple[Unseen, ...] = ()
    split: str = ""


@dataclass(frozen=True, eq=False, kw_only=True)
class Core:
    """A core, the same only as itself.  A parameter that is 0 switches its rule off; all times are cycles.

    `queues` gives the entries of a pipe's issue queue, of which an instruction takes max(1, slots / uses).
    A load or store of structures that moves its base takes `structure_writeback_slots` more dispatch slots; other
    accesses that do have classes of their own.  No result in a general register, but for an updated base, is an address
    operand sooner than 1 + `address_delay` after issue; a shifted or extended register operand is read `shifted_delay`
    early; store data is needed `store_data_late` after issue.  `store_forward_*` counts from the issue of a store to
    the issue of a consumer of a load of the same bytes.  A vector load of at least `unaligned_bytes`, not aligned to
    them, keeps its load pipe `unaligned_cycles` longer.  Out of order, a micro-operation that several pipes can do goes
    to the one with the least work before it, or with `in_turn` (1) to these pipes in turn, whatever waits there.
    """

    name: str
    title: str
    order: Literal["in", "out"]
    width: int
    pipes: tuple[str, ...]
    classes: Mapping[str, ClassTiming]
    reorder_buffer: int
    retire_width: int
    queues: Mapping[str, int]
    address_delay: int
    shifted_delay: int
    writeback: int
    structure_writeback_slots: int
    store_data_late: int
    store_forward_scalar: Fraction
    store_forward_vector: Fraction
    unaligned_bytes: int
    unaligned_cycles: int
    mispredict: int
    in_turn: int
    taken_branch_interval: Fraction
    levels: tuple[CacheLevel, ...]
    about: About
    clock: Clock | None = None

    def timing(self, name: str) -> ClassTiming:
        """What that class costs.  Raises ValueError where there is no such class."""
        if name not in self.classes:
            raise ValueError(f"{name!r} is not an instruction class")
        return self.classes[name]

    def with_latency(self, name: str, cycles: int | str | Fraction) -> Core:
        """This core with another latency of one class.  Raises ValueError."""
        return self._with_class(replace(self.timing(name), latency=time_of(cycles)))

    def with_uses(self, name: str, text: str) -> Core:
        """This core with other pipes for one class, as a core file writes them.  Raises ValueError."""
        return self._with_class(replace(self.timing(name), uses=parse_uses(text, self.pipes)))

    def with_parameter(self, name: str, value: int | str | Fraction) -> Core:
        """This core with another parameter, or `queues.F0` for a queue's entries.  Raises ValueError."""
        head, _, pipe = name.partition(".")
        if head == "queues" and pipe in self.pipes:
            return replace(self, queues={**self.queues, pipe: whole_of(value)})
        if name not in (*WHOLE, *FRACTIONAL):
            raise ValueError(f"{name!r} is not a parameter of a core: {', '.join((*WHOLE, *FRACTIONAL))}, queues.PIPE")
        number = parameter_of(name, value)
        return replace(self, **{name: number})  # type: ignore[arg-type]  # the name decides which of the two it is

    def _with_class(self, timing: ClassTiming) -> Core:
        return replace(self, classes={**self.classes, timing.name: timing})


def parse_uses(text: str, pipes: Collection[str]) -> tuple[Use, ...]:
    """The reservations of `F0|F1*2 + LD@1`: alternatives, busy cycles (1), first cycle (0).  Raises ValueError."""
    uses = []
    for item in map(str.strip, text.split("+") if text.strip() else ()):
        match = _USE.fullmatch(item)
        if match is None:
            raise ValueError(f"{item!r} is not a use of a pipe, such as F0|F1*2@1")
        names = tuple(match["pipes"].split("|"))
        for name in names:
            if name not in pipes:
                raise ValueError(f"there is no pipe {name!r}; the pipes are {', '.join(pipes)}")
        cycles = time_of(match["cycles"] or "1")
        if not cycles:
            raise ValueError("a pipe that is used for 0 cycles is not used: leave it out")
        uses.append(Use(names, cycles, int(time_of(match["start"] or 0))))
    return tuple(uses)


def parameter_of(name: str, value: object) -> int | Fraction:
    """The value of a parameter, checked.  Raises ValueError."""
    number = whole_of(value) if name in WHOLE else cycles_of(value)
    if name == "width" and number < 1:
        raise ValueError("the width must be at least 1")
    if name == "in_turn" and number > 1:
        raise ValueError(f"{number} is not 0 or 1")
    return number


def time_of(value: object) -> Fraction:
    """Cycles of an instruction, from 0 to ten thousand, from a number or its text (`6.27`).  Raises ValueError."""
    return cycles_of(value, _OF_AN_INSTRUCTION)


def cycles_of(value: object, most: int = _LONGEST) -> Fraction:
    """A number of cycles, from 0 to so many, from a number or its text (`6.27`).  Raises ValueError."""
    if (cycles := _number(value)) is None:
        raise ValueError(f"{value!r} is not a number of cycles")
    if not 0 <= cycles <= most:
        raise ValueError(f"{value} is not between 0 and {most}")
    return cycles


def megahertz_of(value: object) -> Fraction:
    """A frequency, above 0, up to a million MHz, from a number or its text (`126.7`).  Raises ValueError."""
    number = _number(value)
    if number is None or not 0 < number <= _LONGEST:
        raise ValueError(f"{value!r} is not a number of MHz above 0, up to {_LONGEST}")
    return number


def _number(value: object) -> Fraction | None:
    if isinstance(value, str):
        return Fraction(value) if _DECIMAL.fullmatch(value) else None
    return Fraction(value) if isinstance(value, int | Fraction) and not isinstance(value, bool) else None


def whole_of(value: object) -> int:
    """A whole number, from 0 to a million, from a number or its text.  Raises ValueError."""
    number = cycles_of(value)
    if number.denominator != 1:
        raise ValueError(f"{value} is not a whole number")
    return int(number)
