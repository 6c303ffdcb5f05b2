"""The arrays of a call in memory: each in a mapping of its own, between pages that are not mapped.

A structure by pointer lies there as an array does.  What a table of pointers points to lies in one mapping, with room
between each two, the table in another.

An array ends where its mapping ends, as nearly as its alignment allows, or begins where it begins, in turns from call
to call: the first byte read or written past that side is a fault, and so is a write to an input.  What an output holds
before the call, and what lies between the rows of a strided array or beside an array in its mapping, is undefined.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product
from typing import Any

import numpy as np

from sim.call.guards.undefined_bytes import UndefinedBytes
from sim.kernels.c_types import write_fields
from sim.kernels.kernel import Inputs, KernelError
from sim.kernels.signature import (
    InMemory,
    Pointer,
    Signature,
    Struct,
    extents,
    is_given,
    steps_in_elements,
)
from sim.machine.memory import PAGE, Memory

FIRST_BUFFER, BUFFER_SPACING = 0x1000_0000_0000, 0x10_0000_0000
TABLE = "*"
"""Stands before the name of an array whose table of pointers is meant."""
LARGEST_BUFFER = 0x4000_0000
"""Bytes of one array, far above what a check can run on."""


def whole_pages(size: int) -> int:
    """`size` rounded up to pages, at least one."""
    return max(PAGE, (size + PAGE - 1) // PAGE * PAGE)


@dataclass(frozen=True)
class PlacedArray:
    """Where an array lies: `size` bytes from `address` on, of which a strided one owns only its rows.

    `extents` and `strides` count elements.  A field of structures, which `is_part`, is placed by itself as well.
    """

    pointer: InMemory
    address: int
    extents: tuple[int, ...]
    strides: tuple[int, ...]
    is_part: bool = False

    @cached_property
    def size(self) -> int:
        """Bytes from the first element to the end of the last."""
        if 0 in self.extents:
            return 0
        last = sum((extent - 1) * stride for extent, stride in zip(self.extents, self.strides, strict=True))
        return (last + 1) * self._itemsize

    @cached_property
    def _itemsize(self) -> int:
        return self.pointer.type.itemsize

    @property
    def parts(self) -> Iterator[PlacedArray]:
        """The fields of structures, each as an array."""
        for offset, field in self.pointer.arrays if isinstance(self.pointer, Struct) else ():
            shape = (*self.extents, *(int(extent) for extent in field.shape[len(self.extents) :]))
            strides = tuple(int(stride) for stride in field.strides)
            yield PlacedArray(field, self.address + offset, shape, strides, is_part=True)

    def position_of(self, address: int) -> tuple[int, ...]:
        """The indices of the element that has the byte at an address; the last is beyond its extent between rows."""
        element, at = (address - self.address) // self._itemsize, list[int]()
        for stride in self.strides:
            index, element = divmod(element, stride) if stride else (0, element)  # of 0, all are the first
            at.append(index)
        return tuple(at)

    def view(self, data: bytearray) -> np.ndarray[Any, Any]:
        """The array in its bytes."""
        strides = [stride * self._itemsize for stride in self.strides]
        return np.ndarray(self.extents, self.pointer.type, data, strides=strides)


def address_of(pointer: InMemory | None, placed: Mapping[str, PlacedArray]) -> int:
    """What is passed for a pointer: the address of its table if it has one, else of its array; 0 for null."""
    if pointer is None:
        return 0
    where = placed.get(TABLE + pointer.name, placed.get(pointer.name))
    return 0 if where is None else where.address


def _in_place(pointer: Pointer, arguments: Inputs, placed: Mapping[str, PlacedArray]) -> PlacedArray:
    """An output in the place of the input that it may be.  Raises KernelError where it has another size."""
    shape, other = extents(pointer, arguments), placed.get(pointer.may_be)
    if arguments[pointer.name] != pointer.may_be or other is None:
        raise KernelError(
            f"the output {pointer.name!r} can be {pointer.may_be!r} where that is given, and nothing else"
        )
    # The same memory has the same rights: what may be read behind the input may be read here.
    pointer = replace(pointer, over_read=max(pointer.over_read, other.pointer.over_read))
    where = PlacedArray(pointer, other.address, shape, steps_in_elements(pointer, arguments))
    if where.size != other.size:
        sizes = f"{where.size} and {other.size} bytes"
        raise KernelError(f"{pointer.name!r} cannot be {other.pointer.name!r}: they have {sizes}")
    return where


def _write_fields(placed: PlacedArray, value: Any, data: bytearray) -> None:
    """Put the fields of structures into their bytes.  Raises KernelError for what they cannot be."""
    struct = placed.pointer
    assert isinstance(struct, Struct)
    try:
        write_fields(struct, value, data, placed.extents)
    except (TypeError, ValueError, OverflowError) as error:
        raise KernelError(f"the argument {struct.name!r} is no such structure: {error}") from None


class Buffers:
    """The mappings of a function's pointer arguments in one or more memories, made as calls need them."""

    def __init__(self, signature: Signature, memories: Sequence[Memory]) -> None:
        self._signature = signature
        self._memories = memories
        self._starts: dict[tuple[str, int], int] = {}

    def place(self, arguments: Inputs, undefined: UndefinedBytes, at_end: bool) -> dict[str, PlacedArray]:
        """Copy the arrays to memory, at the ends or at the starts of their mappings; null pointers are left out.

        Each is found under its name, a table of pointers with `TABLE` before it, fields of structures by themselves
        as well.  Raises KernelError where an array is missing or has another dtype or shape than the signature says,
        and where an array that is written shares memory with another: here each lies in memory of its own.
        """
        for one, other in combinations(self._signature.pointers, 2):
            first, second = arguments.get(one.name), arguments.get(other.name)
            are_arrays = isinstance(first, np.ndarray) and isinstance(second, np.ndarray)
            if are_arrays and "inout" in (one.direction, other.direction) and np.shares_memory(first, second):
                raise KernelError(
                    f"the arguments {one.name!r} and {other.name!r} share memory: give each its own array"
                )
        placed, same = dict[str, PlacedArray](), list[Pointer]()
        for pointer in (*self._signature.in_memory, *self._returned):
            if isinstance(pointer, Pointer) and pointer.is_choice and arguments.get(pointer.name) is not None:
                same.append(pointer)
            elif arguments.get(pointer.name) is not None or not is_given(pointer):
                if isinstance(pointer, Pointer) and pointer.is_choice:
                    pointer = replace(pointer, may_be="")  # it has a place of its own
                where = self._place(pointer, arguments, undefined, at_end)
                placed[pointer.name] = where
                placed |= {part.pointer.name: part for part in where.parts}
            elif not pointer.nullable:
                raise KernelError(f"the argument {pointer.name!r} is missing")
        for pointer in same:
            placed[pointer.name] = _in_place(pointer, arguments, placed)
        for pointer in self._signature.pointers:
            if pointer.indirect and pointer.name in placed:
                placed[TABLE + pointer.name] = self._place_table(pointer, arguments, placed, undefined, at_end)
        for memory, (struct, offset, address) in product(self._memories, self._addresses(placed)):
            memory.write(placed[struct.name].address + offset, address.to_bytes(8, "little"))
        return placed

    @cached_property
    def _returned(self) -> tuple[Struct, ...]:
        """What the function returns in memory."""
        if self._signature.result_pieces is not None:
            return ()
        assert isinstance(self._signature.returned, Struct)
        return (replace(self._signature.returned, direction="out"),)

    def _addresses(self, placed: Mapping[str, PlacedArray]) -> Iterator[tuple[Struct, int, int]]:
        """The pointers in structures by pointer: structure, offset and address."""
        for struct in self._signature.blocks:
            for offset, pointer in struct.pointers if struct.name in placed else ():
                yield struct, offset, address_of(pointer, placed)

    def outputs(self, memory: Memory, placed: Mapping[str, PlacedArray]) -> dict[str, np.ndarray[Any, Any]]:
        """The output arrays as they are now in one of the memories; those of null pointers are left out."""
        arrays = {pointer.name: placed[pointer.name] for pointer in self._signature.outputs if pointer.name in placed}
        return {name: a.view(bytearray(memory.read(a.address, a.size))).copy() for name, a in arrays.items()}

    def _place_table(
        self, pointer: Pointer, arguments: Inputs, placed: Mapping[str, PlacedArray], undefined: UndefinedBytes,
        at_end: bool,
    ) -> PlacedArray:  # fmt: skip
        """The table of pointers to rows.  Raises KernelError where a shared one has others than there are."""
        rows = placed[pointer.name]
        step = rows.strides[0] * pointer.type.itemsize
        addresses = np.array([rows.address + row * step for row in range(rows.extents[0])], np.uint64)
        if pointer.shared:
            if pointer.may_be:
                addresses = np.append(addresses, np.uint64(placed[pointer.may_be].address))
            among = np.asarray(arguments.get(pointer.rows, ()))
            if among.shape != rows.extents[:1] or not ((among >= 0) & (among < len(addresses))).all():
                raise KernelError(
                    f"the argument {pointer.rows!r} must be {rows.extents[0]} numbers from 0 to {len(addresses) - 1}"
                )
            addresses = addresses[among.astype(np.int64)]
        table = Pointer(TABLE + pointer.name, "uint64", (len(addresses),))
        return self._place(table, {table.name: addresses}, undefined, at_end)

    def _place(self, pointer: InMemory, arguments: Inputs, undefined: UndefinedBytes, at_end: bool) -> PlacedArray:
        """Write one array to its mapping, which is made where the argument has none of that size yet."""
        shape = extents(pointer, arguments)
        if min(shape, default=0) < 0:
            raise KernelError(f"the argument {pointer.name!r} cannot have the shape {list(shape)}")
        unplaced = PlacedArray(pointer, 0, shape, steps_in_elements(pointer, arguments))
        if unplaced.size > LARGEST_BUFFER:
            raise KernelError(f"the argument {pointer.name!r} has {unplaced.size} bytes: at most {LARGEST_BUFFER}")
        room = whole_pages(unplaced.size + pointer.over_read)
        if (pointer.name, room) not in self._starts:
            start = FIRST_BUFFER + len(self._starts) * BUFFER_SPACING
            may_be_output = any(
                output.may_be == pointer.name for output in self._signature.pointers if output.is_choice
            )
            for memory in self._memories:
                memory.map(start, room, "r" if pointer.direction == "in" and not may_be_output else "rw")
            self._starts[pointer.name, room] = start
        start = self._starts[pointer.name, room]
        alignment = max(
            pointer.alignment, pointer.c_alignment if isinstance(pointer, Struct) else pointer.type.alignment
        )
        before = (room - unplaced.size - pointer.over_read) // alignment * alignment if at_end else 0
        around = undefined.draw(room - unplaced.size)
        data = bytearray(undefined.draw(unplaced.size))
        if is_given(pointer):
            array = arguments[pointer.name]
            if isinstance(pointer, Struct):
                _write_fields(unplaced, array, data)
                array = unplaced.view(data)
            if not isinstance(array, np.ndarray):
                wanted = f"an array {pointer.type}{list(shape)}"
                raise KernelError(f"the argument {pointer.name!r} must be {wanted}, not {type(array).__name__}")
            if array.dtype != pointer.type or array.shape != shape:
                wanted, given = f"{pointer.type}{list(shape)}", f"{array.dtype}{list(array.shape)}"
                raise KernelError(f"the argument {pointer.name!r} must be {wanted}, not {given}")
            if not isinstance(pointer, Struct):
                unplaced.view(data)[...] = array
        for memory in self._memories:
            memory.write(start, around[:before] + data + around[before:])
        return PlacedArray(pointer, start + before, shape, unplaced.strides)
