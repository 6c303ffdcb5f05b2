"""A stream of executed instructions as arrays: a million of them in some tens of megabytes, and C can read it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, Final, NamedTuple, overload

import numpy as np

from isa.instruction import Instruction
from sim.timing.model.stream import Accesses, Executed

Array = np.ndarray[Any, Any]
AT_ONCE: Final = 4096
"""How many of what is in arrays are made together when they are gone through: a matter of memory and time."""


class ArrayAccesses(NamedTuple):
    """The loads, or the stores, of a stream.

    `first` (int64) says where those of each instruction begin, and where the last ones end; `addresses` are uint64,
    `sizes` uint32, in bytes.
    """

    first: Array
    addresses: Array
    sizes: Array

    def of(self, number: int) -> Accesses:
        """Those of one instruction."""
        where = slice(self.first[number], self.first[number + 1])
        if where.start == where.stop:
            return ()
        return tuple(zip(self.addresses[where].tolist(), self.sizes[where].tolist(), strict=True))


class ArrayStream(Sequence[Executed]):
    """Executed instructions, each one of the `sites`: addresses with the instruction there, in order of execution.

    `site` (int32) has the number of each instruction's site, `next_pcs` (uint64) where it went on (anything in a
    program of intrinsics, of which no address is known), `taken` (bool) whether it left the straight line.
    """

    def __init__(
        self, sites: Sequence[tuple[int | None, Instruction]], site: Array, next_pcs: Array, taken: Array,
        loads: ArrayAccesses, stores: ArrayAccesses,
    ) -> None:  # fmt: skip
        self.sites = tuple(sites)
        self.site, self.next_pcs, self.taken = site, next_pcs, taken
        self.loads, self.stores = loads, stores

    def __len__(self) -> int:
        return len(self.site)

    @overload
    def __getitem__(self, number: int) -> Executed: ...

    @overload
    def __getitem__(self, number: slice) -> list[Executed]: ...

    def __getitem__(self, number: int | slice) -> Executed | list[Executed]:
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(len(self)))]
        if not -len(self) <= number < len(self):
            raise IndexError(f"instruction {number} of {len(self)}")
        number %= len(self)
        pc, instruction = self.sites[self.site[number]]
        next_pc = None if pc is None else int(self.next_pcs[number])
        loads, stores = self.loads.of(number), self.stores.of(number)
        return Executed(pc, instruction, loads, stores, bool(self.taken[number]), next_pc)

    def __iter__(self) -> Iterator[Executed]:
        return chain.from_iterable(self[start : start + AT_ONCE] for start in range(0, len(self), AT_ONCE))

    @cached_property
    def instructions(self) -> tuple[Instruction, ...]:
        """The different instructions."""
        return tuple({id(instruction): instruction for _, instruction in self.sites}.values())

    @cached_property
    def instruction_of_site(self) -> Array:
        """Of each site, which one of `instructions` is there (int32)."""
        known = {id(instruction): number for number, instruction in enumerate(self.instructions)}
        return np.array([known[id(instruction)] for _, instruction in self.sites], np.int32)

    @cached_property
    def executions(self) -> Array:
        """How often each site is executed (int64)."""
        return np.bincount(self.site, minlength=len(self.sites))

    @cached_property
    def pcs(self) -> Array:
        """The address of each site (uint64); 0 in a program of intrinsics."""
        return np.array([pc or 0 for pc, _ in self.sites], np.uint64)


def starts(counts: Array) -> Array:
    """Where each of several groups begins that lie one after the other, and where the last one ends (int64)."""
    found = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=found[1:])
    return found


def array_stream(stream: Sequence[Executed]) -> ArrayStream:
    """The same stream as arrays."""
    if isinstance(stream, ArrayStream):
        return stream
    numbers: dict[tuple[int | None, int], int] = {}
    sites: list[tuple[int | None, Instruction]] = []
    found, next_pcs = [], []
    for one in stream:
        key = one.pc, id(one.instruction)
        number = numbers.get(key)
        if number is None:
            number = numbers[key] = len(sites)
            sites.append((one.pc, one.instruction))
        found.append(number)
        next_pcs.append(one.next_pc or 0)
    return ArrayStream(
        sites, np.array(found, np.int32), np.array(next_pcs, np.uint64), np.array([one.taken for one in stream], bool),
        _accesses([one.loads for one in stream]), _accesses([one.stores for one in stream]),
    )  # fmt: skip


def _accesses(accesses: Sequence[Accesses]) -> ArrayAccesses:
    first = starts(np.array([len(each) for each in accesses], np.int64))
    pairs = list(chain.from_iterable(accesses))
    addresses, sizes = ([pair[at] for pair in pairs] for at in (0, 1))
    return ArrayAccesses(first, np.array(addresses, np.uint64), np.array(sizes, np.uint32))


def joined(parts: Sequence[ArrayStream]) -> ArrayStream:
    """Streams one after the other."""
    numbers: dict[tuple[int | None, int], int] = {}
    sites: list[tuple[int | None, Instruction]] = []
    found = [np.zeros(0, np.int32)]
    for part in parts:
        for pc, instruction in part.sites:
            if (pc, id(instruction)) not in numbers:
                numbers[pc, id(instruction)] = len(sites)
                sites.append((pc, instruction))
        new = np.array([numbers[pc, id(instruction)] for pc, instruction in part.sites], np.int32)
        found.append(new[part.site])
    loads, stores = (_joined([getattr(part, name) for part in parts]) for name in ("loads", "stores"))
    next_pcs = np.concatenate([np.zeros(0, np.uint64), *(part.next_pcs for part in parts)])
    taken = np.concatenate([np.zeros(0, bool), *(part.taken for part in parts)])
    return ArrayStream(sites, np.concatenate(found), next_pcs, taken, loads, stores)


def _joined(parts: Sequence[ArrayAccesses]) -> ArrayAccesses:
    ends = np.cumsum([0, *(part.first[-1] for part in parts)])
    first = [part.first[1:] + end for part, end in zip(parts, ends, strict=False)]
    return ArrayAccesses(
        np.concatenate([np.zeros(1, np.int64), *first]),
        np.concatenate([np.zeros(0, np.uint64), *(part.addresses for part in parts)]),
        np.concatenate([np.zeros(0, np.uint32), *(part.sizes for part in parts)]),
    )
