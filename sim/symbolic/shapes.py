"""Examples of the shapes in which a kernel is proved: lengths and numbers of rows asked for, pointers null or not."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass
from itertools import product
from typing import Any, Final

import numpy as np

from isa.errors import LanewiseError
from sim.kernels.domain import at_random, domain_of, has_several_sizes, input_set, row_lengths
from sim.kernels.inputs import cut, numbers_of
from sim.kernels.kernel import Inputs, Kernel, KernelError
from sim.kernels.signature import ScalarArgument
from sim.symbolic.kernel_proof import Shape, in_runs

_DRAWN: Final = 200
ROWS: Final = range(6)
"""Numbers of rows where none are asked for, as far as the domain has them: a block of four, none, and every rest."""
_MOST_OF_A_SIZE: Final = 12
_SEED: Final = 1


class NoShape(LanewiseError):
    """A length or a number of rows of which a kernel has no input set; the message names it, and what to give."""


def shapes_of(kernel: Kernel, lengths: Collection[int], rows: Collection[int] | None = None) -> list[Shape]:
    """Every shape of the kernel's own corner cases whose rows have one of the lengths; others are cut from longer ones.

    Of a kernel whose inputs are drawn from domains, every length with every number of rows: those of `rows`, or
    of `ROWS` as far as the domains have them.

    The length of an input set is that of its arrays' rows; with a `sample` of the kernel's own, the last extent of its
    outputs, or of its inputs where it gives one number.  Where there are several lengths, or numbers of rows, they are
    alike in one shape and unlike in another.  Raises NoShape for one that the kernel cannot have, with
    those that it has, and for `rows` of a kernel that has none, or has input sets of its own.
    """
    found: dict[tuple[str, object], Shape] = {}
    candidates = list(_candidates(kernel, lengths, ROWS if rows is None else rows))
    if rows is not None:
        _require_rows(kernel, rows, candidates)
    for length, example in candidates:
        if length in lengths:
            _add(kernel, found, length, example)
    absences = {_absent(example) for _, example in candidates}
    for length, absent in product(lengths, absences):
        if any(shape.length == length and _absent(shape.example) == absent for shape in found.values()):
            continue
        for longer, example in candidates:
            if longer > length and _absent(example) == absent:
                with suppress(LanewiseError, ValueError, TypeError, IndexError):  # it cannot be cut
                    shorter = cut(example, longer, 0, length)
                    if _length(kernel, shorter) == length and not _counts(shorter, length, longer):
                        _add(kernel, found, length, shorter)
                        break
    if missing := set(lengths) - {shape.length for shape in found.values()}:
        given = in_runs({shape.length for shape in found.values()}.union(length for length, _ in candidates))
        raise NoShape(f"{kernel.title} has no input set of length {min(missing)}: give some of {given} by --lengths")
    return sorted(found.values(), key=lambda shape: shape.length)


def sizes_held(kernel: Kernel, shapes: Collection[Shape]) -> frozenset[str]:
    """The numbers of rows, and other extents that no length decides, of which the shapes have not all of the domain."""
    held = set[str]()
    for name, dtype in _numbers_of_rows(kernel).items():
        edges = domain_of(kernel.domain, name).edges(dtype).tolist()
        there = {int(shape.example[name]) for shape in shapes if name in shape.example}
        if int(max(edges)) - int(min(edges)) >= len(there):
            held.add(name)
    return frozenset(held)


def _numbers_of_rows(kernel: Kernel) -> dict[str, np.dtype[Any]]:
    """The arguments that are extents which no length decides."""
    outer = [name for name, is_length in row_lengths(kernel.signature).items() if not is_length]
    given = [argument for argument in kernel.signature.by_value if isinstance(argument, ScalarArgument)]
    return {argument.name: np.dtype(argument.type) for argument in given if argument.name in outer}


def _require_rows(kernel: Kernel, rows: Collection[int], candidates: Collection[tuple[int, Inputs]]) -> None:
    if not kernel.is_drawn:
        raise NoShape(f"{kernel.title} has input sets of its own, with their numbers of rows: leave --rows out")
    if not (names := _numbers_of_rows(kernel)):
        raise NoShape(f"no extent of {kernel.title} is a number of rows: leave --rows out")
    there = {int(example[name]) for name in names for _, example in candidates}
    if missing := set(rows) - there:
        raise NoShape(f"{kernel.title} has no input set of {min(missing)} rows: give some of its domain by --rows")


def _candidates(kernel: Kernel, lengths: Collection[int], rows: Collection[int]) -> Iterator[tuple[int, Inputs]]:
    if kernel.is_drawn:
        random = at_random(kernel.domain, np.random.default_rng(_SEED))
        along = [name for name, is_length in row_lengths(kernel.signature).items() if is_length]
        apart_by = (0, 1) if has_several_sizes(kernel.signature) else (0,)
        numbers = rows if _numbers_of_rows(kernel) else (2,)
        for length, number, nulls, apart in product(lengths, numbers, (False, True), apart_by):
            for left in reversed(range(_DRAWN)):
                drawn = input_set(kernel.signature, kernel.domain, random, length, number, nulls, apart)
                try:
                    made = _length(kernel, drawn)
                except KernelError:  # the reference may refuse an input set, but not all of them; all with sizes apart
                    if not left and not apart:
                        raise
                else:
                    yield (length if length in map(drawn.get, along) else made), drawn
                    break
        return
    rng = np.random.default_rng(_SEED)
    for example in (*kernel.corners(), *(kernel.sample(rng) for _ in range(_DRAWN))):
        yield _length(kernel, example), example


def _length(kernel: Kernel, example: Inputs) -> int:
    for arrays in (kernel.expected(example).values(), example.values()):
        if lengths := [array.shape[-1] for array in arrays if isinstance(array, np.ndarray) and array.ndim]:
            return int(max(lengths))
    return 0


def _counts(example: Inputs, length: int, longer: int) -> bool:
    """Whether a number of an input set that was cut may count more elements than there are now."""
    numbers = (number for where, number in numbers_of(example).items() if isinstance(where[-1], str))
    return any(isinstance(number, int | np.integer) and length < number <= longer for number in numbers)


def _absent(example: Inputs) -> tuple[str, ...]:
    """The inputs that are null pointers."""
    return tuple(name for name, value in example.items() if value is None)


def _add(kernel: Kernel, found: dict[tuple[str, object], Shape], length: int, example: Inputs) -> None:
    counted = _numbers_of_rows(kernel) if kernel.is_drawn else ()
    size = f"length {length}" + "".join(f", {name} {example[name]}" for name in counted)
    key, alike = (size, _form(example)), [shape for (of, _), shape in found.items() if of == size]
    if key not in found and len(alike) < _MOST_OF_A_SIZE:
        words = size + "".join(f", no {name}" for name in _absent(example))
        same = [shape.name for shape in alike if shape.name.split(" (")[0] == words]
        sizes = [f"{name} {example[name]}" for name in sorted(kernel.signature.sizes - set(counted)) if name in example]
        sizes = sizes or (_arrays_unlike(example, alike[0].example) if same else [])
        told = f"{words} ({', '.join(sizes)})"
        numbered = f"{words} (shape {len(same) + 1})" if not sizes or told in same else told
        found[key] = Shape(numbered if same else words, length, example)


def _arrays_unlike(example: Inputs, other: Inputs) -> list[str]:
    """The arrays that have another shape than in the other input set, with it."""
    return [
        f"{name} {'x'.join(map(str, value.shape))}"
        for name, value in example.items()
        if isinstance(value, np.ndarray) and getattr(other.get(name), "shape", None) != value.shape
    ]


def _form(value: Any) -> object:
    """What two input sets of one shape have in common: all but the numbers of arrays, and single numbers."""
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str
    if isinstance(value, Mapping):
        return tuple((key, _form(part)) for key, part in value.items())
    if is_dataclass(value) and not isinstance(value, type):
        return tuple(_form(getattr(value, field.name)) for field in fields(value))
    if isinstance(value, tuple):
        return tuple(map(_form, value))
    return None if value is None else type(value).__name__


def unknown_inputs(shapes: Sequence[Shape], names: Collection[str]) -> set[str]:
    """Of names those that are no input of the shapes' kernel: no argument, no field, and no field of a field."""
    places = [tuple(map(str, place)) for shape in shapes for place in numbers_of(shape.example)]
    parts = {".".join(place[:end]) for place in places for end in range(1, len(place) + 1)}.union(*places)
    return set(names) - {name for shape in shapes for name in shape.example} - parts
