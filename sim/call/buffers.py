"""The arrays of a call in memory: each in a mapping of its own, between pages that are not mapped.

An array ends where its mapping ends, as nearly as its alignment allows, or begins where it begins, in turns from call
to call: the first byte read or written past that side is a fault, and so is a write to an input.  What an output holds
before the call, and what lies between the rows of a strided array or beside an array in its mapping, is undefined.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from sim.call.guards.undefined_bytes import UndefinedBytes
from sim.kernels.kernel import Inputs, KernelError
from sim.kernels.signature import Pointer, Signature, extents, is_given, steps_in_elements
from sim.machine.memory import PAGE, Memory

FIRST_BUFFER, BUFFER_SPACING = 0x1000_0000_0000, 0x10_0000_0000
LARGEST_BUFFER = 1 << 30
"""Bytes of one array, far above what a check can run on."""


def whole_pages(size: int) -> int:
    """`size` rounded up to pages, at least one."""
    return max(PAGE, (size + PAGE - 1) // PAGE * PAGE)


@dataclass(frozen=True)
class PlacedArray:
    """Where an array lies: `size` bytes from `address` on, of which a strided one owns only its rows.

    `extents` and `strides` count elements.
    """

    pointer: Pointer
    address: int
    extents: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def size(self) -> int:
        """Bytes from the first element to the end of the last."""
        if 0 in self.extents:
            return 0
        last = sum((extent - 1) * stride for extent, stride in zip(self.extents, self.strides, strict=True))
        return (last + 1) * self._itemsize

    @property
    def _itemsize(self) -> int:
        return np.dtype(self.pointer.dtype).itemsize

    def view(self, data: bytearray) -> np.ndarray[Any, Any]:
        """The array in its bytes."""
        strides = [stride * self._itemsize for stride in self.strides]
        flat = np.frombuffer(data, self.pointer.dtype)
        return np.lib.stride_tricks.as_strided(flat, self.extents, strides)


class Buffers:
    """The mappings of a function's pointer arguments in one or more memories, made as calls need them."""

    def __init__(self, signature: Signature, memories: Sequence[Memory]) -> None:
        self._signature = signature
        self._memories = memories
        self._starts: dict[tuple[str, int], int] = {}

    def place(self, arguments: Inputs, undefined: UndefinedBytes, at_end: bool = True) -> dict[str, PlacedArray]:
        """Copy the arrays to memory, at the ends or at the starts of their mappings; null pointers are left out.

        Raises KernelError where an array is missing or has another dtype or shape than the signature says, and where
        an array that is written shares memory with another: here each lies in memory of its own.
        """
        for one, other in combinations(self._signature.pointers, 2):
            first, second = arguments.get(one.name), arguments.get(other.name)
            are_arrays = isinstance(first, np.ndarray) and isinstance(second, np.ndarray)
            if are_arrays and "inout" in (one.direction, other.direction) and np.shares_memory(first, second):
                raise KernelError(
                    f"the arguments {one.name!r} and {other.name!r} share memory: give each its own array"
                )
        placed = {}
        for pointer in self._signature.pointers:
            if arguments.get(pointer.name) is not None or not is_given(pointer):
                placed[pointer.name] = self._place(pointer, arguments, undefined, at_end)
            elif not pointer.nullable:
                raise KernelError(f"the argument {pointer.name!r} is missing")
        return placed

    def outputs(self, memory: Memory, placed: Mapping[str, PlacedArray]) -> dict[str, np.ndarray[Any, Any]]:
        """The output arrays as they are now in one of the memories; those of null pointers are left out."""
        arrays = {pointer.name: placed[pointer.name] for pointer in self._signature.outputs if pointer.name in placed}
        return {name: a.view(bytearray(memory.read(a.address, a.size))).copy() for name, a in arrays.items()}

    def _place(self, pointer: Pointer, arguments: Inputs, undefined: UndefinedBytes, at_end: bool) -> PlacedArray:
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
            for memory in self._memories:
                memory.map(start, room, "r" if pointer.direction == "in" else "rw")
            self._starts[pointer.name, room] = start
        start = self._starts[pointer.name, room]
        before = (room - unplaced.size - pointer.over_read) // pointer.alignment * pointer.alignment if at_end else 0
        around = undefined.bytes(room - unplaced.size)
        data = bytearray(undefined.bytes(unplaced.size))
        if is_given(pointer):
            array, wanted = arguments[pointer.name], f"{pointer.dtype}{list(shape)}"
            if not isinstance(array, np.ndarray):
                raise KernelError(
                    f"the argument {pointer.name!r} must be an array {wanted}, not {type(array).__name__}"
                )
            if array.dtype != np.dtype(pointer.dtype) or array.shape != shape:
                given = f"{array.dtype}{list(array.shape)}"
                raise KernelError(f"the argument {pointer.name!r} must be {wanted}, not {given}")
            unplaced.view(data)[...] = array
        for memory in self._memories:
            memory.write(start, around[:before] + data + around[before:])
        return replace(unplaced, address=start + before)
