"""The arguments and outputs of a captured call, by the signature of the function that it calls."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from isa.lane import Place
from sim.call.buffers import PlacedArray
from sim.call.captured import CapturedCall, CaptureError, Expected
from sim.kernels.c_types import read_fields
from sim.kernels.kernel import Inputs, Outputs
from sim.kernels.signature import (
    FunctionArgument,
    InMemory,
    Passed,
    Pointer,
    Signature,
    Stack,
    Struct,
    extents,
    is_given,
    nested,
    steps_in_elements,
)

Read = Callable[[int, int], bytes]
"""So many bytes of memory at an address, the address first.  Raises CaptureError where they are not known."""


def recorded_memory(call: CapturedCall, is_after: bool) -> Read:
    """Memory as it was recorded before the call, or after it: then only what the outputs say."""
    recorded = call.outputs if is_after else [Expected(*part) for part in call.memory]

    def read(address: int, size: int) -> bytes:
        for part in recorded:
            start = address - part.address
            if start >= 0 and start + size <= len(part.data):
                return part.data[start : start + size]
        when = "after" if is_after else "before"
        raise CaptureError(f"what {size} bytes at {address:#x} held {when} the call is not recorded")

    return read


def inputs_of(call: CapturedCall, signature: Signature) -> Inputs:
    """The arguments of a call by name, without those that are only written.  Raises CaptureError."""
    before, passed = recorded_memory(call, is_after=False), signature.passed()
    found: dict[str, Any] = {}
    tables = [pointer.name for pointer in signature.pointers if pointer.indirect]
    if strange := [*tables, *(struct.name for struct in signature.blocks if struct.direction != "in")]:
        raise CaptureError(f"the argument {strange[0]!r} of a captured call cannot be told: it is no array of numbers")
    for argument in signature.by_value:
        if isinstance(argument, FunctionArgument) or (isinstance(argument, Struct) and argument.pointers):
            raise CaptureError(f"the argument {argument.name!r} of a captured call cannot be told: it holds addresses")
        if isinstance(argument, Struct) and argument.by_pointer:
            continue
        data = _passed(call, passed[argument.name], argument.type.itemsize, before)
        if isinstance(argument, Struct):
            found[argument.name] = nested(
                {name: value[()] for name, value in read_fields(argument, bytearray(data)).items()}
            )
        else:
            values = np.frombuffer(data, argument.type.base)
            found[argument.name] = values if argument.type.shape else values[0].item()
    for struct in signature.blocks:
        found[struct.name] = _structures(call, struct, passed[struct.name], found, before)
    for pointer in filter(is_given, signature.pointers):
        placed = _placed(call, pointer, passed[pointer.name], found)
        found[pointer.name] = None if placed is None else _array(placed, before)
    return found


def _structures(call: CapturedCall, struct: Struct, passed: Passed, arguments: Inputs, before: Read) -> Any:
    """The fields of structures that a pointer leads to; None for null."""
    address = int.from_bytes(_passed(call, passed, 8, before), "little")
    if not address and struct.nullable:
        return None
    outer, _ = _laid_out(struct, arguments)
    whole = bytearray(before(address, prod(outer) * struct.type.itemsize))
    return nested(read_fields(struct, whole, outer))


def outputs_of(call: CapturedCall, signature: Signature, inputs: Inputs, after: Read) -> Outputs:
    """The output arrays of a call with these inputs, in memory after it.  Raises CaptureError."""
    return {name: _array(placed, after) for name, placed in placed_outputs(call, signature, inputs).items()}


def placed_outputs(call: CapturedCall, signature: Signature, inputs: Inputs) -> dict[str, PlacedArray]:
    """Where the output arrays of a call with these inputs are, without those that are null.  Raises CaptureError."""
    passed = signature.passed()
    placed = {each.name: _placed(call, each, passed[each.name], inputs) for each in signature.outputs}
    return {name: each for name, each in placed.items() if each is not None}


def _placed(call: CapturedCall, pointer: Pointer, passed: Passed, arguments: Inputs) -> PlacedArray | None:
    address = int.from_bytes(_passed(call, passed, 8, recorded_memory(call, is_after=False)), "little")
    if not address and pointer.nullable:
        return None
    return PlacedArray(pointer, address, *_laid_out(pointer, arguments))


def _laid_out(pointer: InMemory, arguments: Inputs) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The extents of an array, and its strides in elements.  Raises CaptureError for what no array has."""
    try:
        shape, steps = extents(pointer, arguments), steps_in_elements(pointer, arguments)
    except ValueError as error:
        raise CaptureError(f"the call is none of that signature: {error}") from None
    if min(shape, default=0) < 0:
        raise CaptureError(f"the call is none of that signature: {pointer.name!r} cannot have the shape {list(shape)}")
    return shape, steps


def _array(placed: PlacedArray, read: Read) -> np.ndarray[Any, Any]:
    return placed.view(bytearray(read(placed.address, placed.size) if placed.size else b"")).copy()


def _passed(call: CapturedCall, passed: Passed, size: int, before: Read) -> bytes:
    """The bytes of an argument, from where it travels."""
    data = bytearray(8 if passed.copy is not None else size)
    for piece in passed.pieces:
        if isinstance(piece.location, Place):
            number = call.registers.get(str(piece.location), 0)
            part = number.to_bytes(16, "little")
        else:
            assert isinstance(piece.location, Stack)
            part = before(call.registers.get("sp", 0) + piece.location.offset, piece.size)
        data[piece.start : piece.start + piece.size] = part[: piece.size]
    return bytes(data) if passed.copy is None else before(int.from_bytes(data, "little"), size)
