"""Input sets that a kernel takes: drawn, cut to fewer lanes, with simpler numbers.  Nothing is changed in place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from sim.kernels.domain import Domain, Number
from sim.kernels.input_tree import NUMBERS, Where, leaves, rebuilt
from sim.kernels.kernel import Inputs, Kernel, KernelError, Outputs
from sim.kernels.signature import extents

Edit = Callable[[Where, Any], Any]
LARGEST_HALVED: Final = 2.0**64
"""Floats beyond are only tried as they are."""

FIRST_DRAWN: Final = 1000
"""So many are drawn before it is asked how many of them were valid."""
ONE_OF: Final = 100
"""Of so many one must be valid at least."""


class FewValid(KernelError):
    """What is drawn is nearly never valid."""


class Samples:
    """Input sets of one of a kernel's ways to draw them, `sample` or `long_sample`, without those that it refuses."""

    def __init__(self, kernel: Kernel, sample: Callable[[np.random.Generator], Inputs]) -> None:
        self._kernel, self._sample = kernel, sample
        self._drawn, self._valid = 0, 0

    def draw(self, rng: np.random.Generator) -> Inputs:
        """The next that the kernel accepts.  Raises FewValid, and KernelError for a `valid` that fails."""
        while self._drawn < FIRST_DRAWN or self._drawn <= ONE_OF * self._valid:
            inputs = self._sample(rng)
            self._drawn += 1
            if self._kernel.accepts(inputs):
                self._valid += 1
                return inputs
        took = f"valid of {self._kernel.name} takes {self._valid} of {self._drawn:,} random input sets"
        raise FewValid(
            f"{took}, at least one of {ONE_OF} is wanted: give narrower domains, or a sample that makes valid ones"
        )


def sizes_of(outputs: Outputs, inputs: Inputs) -> list[int]:
    """The extents of the outputs, then of the inputs, that can shrink, the last axes first, each once."""
    arrays = [*outputs.values(), *(value for value in inputs.values() if isinstance(value, np.ndarray))]
    return list(dict.fromkeys(extent for array in arrays for extent in array.shape[::-1] if extent > 0))


def counts_of(kernel: Kernel, inputs: Inputs) -> list[int]:
    """The numbers from which extents of arrays are computed and which are no extent themselves, as of `a[8 * n]`."""
    named = [inputs[name] for name in sorted(kernel.signature.sizes) if name in inputs]
    extents = {extent for value in inputs.values() if isinstance(value, np.ndarray) for extent in value.shape}
    numbers = [int(number) for number in named if isinstance(number, int | np.integer)]
    return list(dict.fromkeys(number for number in numbers if number > 0 and number not in extents))


def cut(inputs: Inputs, size: int, start: int, length: int) -> Inputs:
    """The inputs with so many elements, from one on and round the end, of every axis of that size and of every tuple;
    integers of that value become the length.

    Round the end, so that an element that matters can come to any place.  Raises what a dataclass raises that refuses
    its new fields.
    """
    chosen = [(start + step) % size for step in range(length)]
    return {name: _cut(value, size, chosen) for name, value in inputs.items()}


def _cut(value: Any, size: int, chosen: list[int]) -> Any:
    if isinstance(value, np.ndarray):
        for axis in [axis for axis, extent in enumerate(value.shape) if extent == size]:
            value = value.take(chosen, axis)
        return value
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return type(value)(len(chosen)) if value == size else value
    if isinstance(value, tuple) and len(value) == size and not hasattr(value, "_fields"):
        return tuple(value[at] for at in chosen)
    return rebuilt(value, lambda _, part: _cut(part, size, chosen))


def fitted(kernel: Kernel, inputs: Inputs, size: int = 1, start: int = 0) -> Inputs:
    """The inputs with arrays cut to the extents that they have now, as those that are computed from what was cut from
    `start` on: of `size` pieces they are taken from that one on, or so many as there are at the end.

    Raises NoExtent where extents cannot be told.
    """
    if not kernel.takes_inputs:
        return inputs
    found = dict(inputs)
    for pointer in kernel.signature.pointers:
        array = inputs.get(pointer.name)
        if isinstance(array, np.ndarray):
            due = extents(pointer, inputs)
            begins = [
                min(start * had // size, max(had - extent, 0)) for had, extent in zip(array.shape, due, strict=False)
            ]
            found[pointer.name] = array[tuple(slice(at, at + extent) for at, extent in zip(begins, due, strict=False))]
    return found


def numbers_of(inputs: Inputs) -> dict[Where, Any]:
    """Every number by its place, in order."""
    found: dict[Where, Any] = {}

    def note(path: Where, number: Any) -> Any:
        found[path] = number
        return number

    edited(inputs, note)
    return found


def edited(inputs: Inputs, edit: Edit) -> Inputs:
    """The inputs with every number replaced by what `edit` makes of it.

    Raises what a dataclass raises that refuses its new fields, and OverflowError for what an array cannot hold.
    """
    return {name: _edited((name,), value, edit) for name, value in inputs.items()}


def _edited(path: Where, value: Any, edit: Edit) -> Any:
    if isinstance(value, np.ndarray):
        array = value.copy()
        for place in np.ndindex(array.shape):
            array[place] = edit((*path, *place), array[place])
        return array
    if isinstance(value, NUMBERS):
        return edit(path, value)
    return rebuilt(value, lambda key, part: _edited((*path, key), part, edit))


def choices(kernel: Kernel, inputs: Inputs) -> dict[Where, Sequence[Any]]:
    """By place, the numbers to try there, the simplest first and its own last; places without a choice are left out.

    All are in the domain of their argument.  Scalars that shapes and strides name are no choice.
    """
    sizes = {(name,) for name in kernel.signature.sizes}
    numbers = {path: number for path, number in numbers_of(inputs).items() if path not in sizes}
    found = {}
    for path, number in numbers.items():
        name = ".".join(part for part in path if isinstance(part, str))
        found[path] = _choices(number, kernel.domain.get(name))
    return {path: pool for path, pool in found.items() if len(pool) > 1}


def is_valid(kernel: Kernel, inputs: Inputs) -> bool:
    """Whether it is one of the kernel: each number that is no array's in its domain, as a cut may have made it another
    length, and all of them accepted.  Raises KernelError for a `valid` that fails.
    """
    numbers = {".".join(map(str, where)): leaf for where, leaf in leaves(inputs).items() if np.ndim(leaf) == 0}
    inside = all(domain.holds(numbers[name]) for name, domain in kernel.domain.items() if name in numbers)
    return inside and kernel.accepts(inputs)


def _choices(number: Any, domain: Domain | None) -> list[Any]:
    own, kind = number.item() if isinstance(number, np.generic) else number, type(number)
    edges = () if domain is None else (domain.low, domain.high, *domain.corners, *domain.choices)
    tried = (*_simpler(own), *(n for n in edges if n is not None))
    simpler = {n for n in tried if _order(n) < _order(own) and (domain is None or domain.holds(n))}
    return [*(kind(n) for n in sorted(simpler, key=_order) if _fits(kind, n)), number]


def _simpler(number: Number) -> Iterator[Number]:
    """0, 1, -1, and steps towards the number that halve the rest: repeated, they come to any number."""
    yield from (0, 1, -1)
    yield abs(number)
    if isinstance(number, float):
        yield from (int(number), *_simpler(int(number))) if abs(number) < LARGEST_HALVED else ()
        return
    for bits in range(1, number.bit_length() + 1):
        part = abs(number) >> bits
        yield from (part, abs(number) - part, -part, part - abs(number))


def _fits(kind: type[Any], number: Number) -> bool:
    """Whether the type holds the number as it is."""
    if issubclass(kind, np.integer):
        return bool(np.iinfo(kind).min <= number <= np.iinfo(kind).max)
    return kind in (int, float) or bool(kind(number) == number)


def _order(number: Number) -> tuple[bool, bool, float, bool]:
    """Integers before fractions, small before large, positive before negative, NaN behind all."""
    if number != number:
        return True, True, 0, True
    return False, number in (np.inf, -np.inf) or number != int(number), abs(number), number < 0
