"""The arrays of a call in memory: each in a mapping of its own that ends where the array ends.

The first byte read or written past an array is a fault, and so is a write to an input.  What an output holds before
the call is junk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sim.kernels.kernel import Inputs, KernelError
from sim.kernels.signature import Pointer, Signature
from sim.machine.memory import PAGE, Memory

FIRST_BUFFER, BUFFER_SPACING = 0x1000_0000_0000, 0x10_0000_0000


def whole_pages(size: int) -> int:
    """`size` rounded up to pages, at least one."""
    return max(PAGE, (size + PAGE - 1) // PAGE * PAGE)


class Buffers:
    """The mappings of a function's pointer arguments in one or more memories, made as calls need them."""

    def __init__(self, signature: Signature, memories: Sequence[Memory]) -> None:
        self._signature = signature
        self._memories = memories
        self._ends: dict[tuple[str, int], int] = {}

    def place(self, arguments: Inputs, rng: np.random.Generator) -> dict[str, int]:
        """Copy the arrays to memory; returns the address of each pointer argument, 0 for a null pointer.

        Raises KernelError where an array is missing or has another dtype or shape than the signature says.
        """
        return {pointer.name: self._place(pointer, arguments, rng) for pointer in self._signature.pointers}

    def outputs(self, memory: Memory, arguments: Inputs, addresses: Mapping[str, int]) -> dict[str, np.ndarray]:
        """The output arrays as they are now in one of the memories."""
        outputs = {}
        for pointer in self._signature.outputs:
            data = memory.read(addresses[pointer.name], _size(pointer, arguments))
            outputs[pointer.name] = np.frombuffer(data, pointer.dtype).reshape(_shape(pointer, arguments))
        return outputs

    def _place(self, pointer: Pointer, arguments: Inputs, rng: np.random.Generator) -> int:
        array = arguments.get(pointer.name)
        if pointer.direction == "out":
            data = rng.bytes(_size(pointer, arguments))
        elif array is not None:
            data = _checked(pointer, array, arguments).tobytes()
        elif pointer.nullable:
            return 0
        else:
            raise KernelError(f"the argument {pointer.name!r} is missing")
        end = self._mapping(pointer, whole_pages(len(data)))
        for memory in self._memories:
            memory.write(end - len(data), data)
        return end - len(data)

    def _mapping(self, pointer: Pointer, size: int) -> int:
        """The end of the argument's mapping of that size."""
        key = (pointer.name, size)
        if key not in self._ends:
            start = FIRST_BUFFER + len(self._ends) * BUFFER_SPACING
            for memory in self._memories:
                memory.map(start, size, "r" if pointer.direction == "in" else "rw")
            self._ends[key] = start + size
        return self._ends[key]


def _checked(pointer: Pointer, array: np.ndarray, arguments: Inputs) -> np.ndarray:
    wanted = _shape(pointer, arguments)
    if array.dtype != np.dtype(pointer.dtype) or array.shape != wanted:
        given = f"{array.dtype}{list(array.shape)}"
        raise KernelError(f"the argument {pointer.name!r} must be {pointer.dtype}{list(wanted)}, not {given}")
    return np.ascontiguousarray(array)


def _shape(pointer: Pointer, arguments: Inputs) -> tuple[int, ...]:
    return tuple(int(arguments[extent]) if isinstance(extent, str) else extent for extent in pointer.shape)


def _size(pointer: Pointer, arguments: Inputs) -> int:
    return int(np.prod(_shape(pointer, arguments), dtype=np.int64)) * np.dtype(pointer.dtype).itemsize
