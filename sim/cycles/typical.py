"""The call of a kernel that is timed where its author names none: a row of a size that may be chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod
from typing import Any, Final

import numpy as np

from sim.kernels.domain import Domain, number_types
from sim.kernels.extent import names_in
from sim.kernels.inputs import Samples, is_valid
from sim.kernels.kernel import Inputs, Kernel, KernelError
from sim.kernels.signature import Signature, extents

USUAL_LENGTH: Final = 256
"""Elements of a row, where the kernel takes any number."""
_DRAWN: Final = 100

Arguments = Mapping[str, Any]


def typical_arguments(kernel: Kernel, length: int | None, seed: int) -> dict[str, Any]:
    """The call that the kernel says is typical, else the largest of a hundred random calls; where it has rows of any
    length, one row of `length` (256).

    Where `valid` refuses a row of the usual length, the largest call stands.  Raises KernelError for a length that the
    kernel does not let choose, and for numbers that are none of its domain.
    """
    rng = np.random.default_rng(seed)
    if kernel.typical and length is None:
        return dict(kernel.arguments(_typical_inputs(kernel, rng)))
    samples = Samples(kernel, kernel.sample)
    drawn = [dict(kernel.arguments(samples.draw(rng))) for _ in range(_DRAWN)]
    largest = max(drawn, key=lambda arguments: output_elements(kernel.signature, arguments))
    axis = row_length(kernel.signature)
    if axis is None and length is not None:
        raise KernelError(f"the size of a call of {kernel.name} is no number of elements: leave --length out")
    if axis is None:
        return largest
    wanted = USUAL_LENGTH if length is None else length
    nearest = _allowed(kernel, axis, wanted)
    if length not in (None, nearest):
        raise KernelError(f"the domain of {axis!r} in {kernel.name} has no {length}: the nearest is {nearest}")
    row = _one_row(kernel, largest, axis, nearest)
    if not kernel.takes_inputs or kernel.accepts(row):
        return row
    if length is not None:
        raise KernelError(f"a row of {length} is none of {kernel.name}: its valid refuses it, leave --length out")
    return largest


def _typical_inputs(kernel: Kernel, rng: np.random.Generator) -> Inputs:
    """What the kernel says itself, completed by random numbers where its input sets are drawn."""
    if not kernel.is_drawn:
        if missing := [name for name in kernel.sample(rng) if name not in kernel.typical]:
            raise KernelError(f"typical of {kernel.name} lacks {', '.join(missing)}: give what its sample gives")
        if not is_valid(kernel, kernel.typical):
            raise KernelError(f"typical of {kernel.name} is not in its domain, or not valid")
        return kernel.typical
    types = dict(number_types(kernel.signature))
    for name, number in kernel.typical.items():
        if name not in types or not isinstance(number, int | float):
            raise KernelError(f"typical of {kernel.name} names {name!r} = {number!r:.40}: give numbers of arguments")
        if not kernel.domain.get(name, Domain()).holds(number):
            raise KernelError(f"typical of {kernel.name} has {name} = {number}, which is not in its domain")
    fixed = {name: Domain(choices=(number,)) for name, number in kernel.typical.items()}
    try:
        told = replace(kernel, domain={**kernel.domain, **fixed})
    except ValueError as error:
        raise KernelError(f"typical of {kernel.name} has a number that its argument does not hold: {error}") from None
    return Samples(kernel, told.sample).draw(rng)


def output_elements(signature: Signature, arguments: Arguments) -> int:
    """Of all output arrays that are given."""
    return sum(prod(extents(pointer, arguments)) for pointer in signature.outputs_of(arguments))


def elements_of(signature: Signature, arguments: Arguments) -> int:
    """What a call's cycles are told per: the elements of its largest output array; 0 without one.

    A second output of one element, or as long as the first, is no work of its own.
    """
    return max((prod(extents(pointer, arguments)) for pointer in signature.outputs_of(arguments)), default=0)


def row_length(signature: Signature) -> str | None:
    """The argument that says how many elements a row has in all arrays; None where there is none.

    An extent that is a distance of rows (named a stride), which further arguments go with, is none.
    """
    named = [pointer for pointer in signature.pointers if any(isinstance(extent, str) for extent in pointer.shape)]
    last = {pointer.shape[-1] for pointer in named}
    length = last.pop() if len(last) == 1 else None
    strided = any(pointer.strides for pointer in named)
    if not isinstance(length, str) or not length.isidentifier():
        return None
    return None if strided or "stride" in length else length


def _allowed(kernel: Kernel, name: str, wanted: int) -> int:
    """The number nearest to the wanted one that the domain of an argument has."""
    domain = kernel.domain.get(name, Domain())
    if domain.choices:
        return int(min(domain.choices, key=lambda choice: abs(choice - wanted)))
    types = {argument.name: argument.type for argument in kernel.signature.by_value}
    low, high = domain.bounds(types[name])
    return int(min(max(wanted, low), high))


def _one_row(kernel: Kernel, arguments: Arguments, axis: str, length: int) -> dict[str, Any]:
    """The call with so many elements in a row, the first row over and over, and one of everything else.

    Raises KernelError for a call without elements, which has nothing to repeat.
    """
    pointers = kernel.signature.pointers
    extents_named = {name for pointer in pointers for extent in pointer.shape for name in names_in(extent)}
    sizes = {name: length if name == axis else _allowed(kernel, name, 1) for name in extents_named}
    sized = {**arguments, **sizes}
    repeated = dict(sized)
    for pointer in pointers:
        array = arguments.get(pointer.name)
        if array is None:
            continue
        shape = extents(pointer, sized)
        if not array.size:
            raise KernelError(f"the array {pointer.name!r} of the largest of {_DRAWN} random calls is empty")
        repeated[pointer.name] = np.resize(array.reshape(-1, array.shape[-1])[0], shape).astype(pointer.dtype)
    return repeated
