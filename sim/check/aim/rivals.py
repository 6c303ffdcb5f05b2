"""Arithmetics that the golden reference may be mixed up with, and input sets on which they part from it.

Rivals are the conventions of the kernel, and where the golden reference is a requantization that we know, all ours that
take the same numbers.  Where none of the tried input sets tells one, some are sought: on both sides of the rival's own
steps, with numbers at which the two conventions part by themselves, and by the solver, which may prove that none do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain, islice, pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from isa.errors import LanewiseError
from sim.check.aim.boundaries import boundary_sets
from sim.check.aim.candidates import NUMBERS, CandidateSet, candidate_of, drawn
from sim.check.aim.power import Rival, Rivals
from sim.check.aim.solving import parting
from sim.check.aim.variables import Variable, variables_of
from sim.explanation.of_kernel.requantization import (
    KernelLanes,
    Roles,
    is_number,
    requantization_of,
    requantized,
    requantized_output,
)
from sim.kernels.kernel import Inputs, Kernel, KernelError, Outputs
from sim.kernels.signature import Pointer
from sim.kernels.tolerance import all_agree
from sim.symbolic.reference import TracedReference, traced_reference

READINGS: Final = 3000
"""Conventions that are tried for all readings of the arguments, before the golden reference counts as none of ours."""
SEARCHES: Final = 6
"""Searches for steps of a rival."""
FACTORS: Final = 64
"""Pairs of a multiplier and a shift at which two conventions are compared."""
STEPS: Final = 140
"""Steps of the result on either side of 0 whose surroundings are compared: those of a byte."""
ROUNDS: Final = 300
"""Rounds of the solver for a rival in one shape."""
MOST_LANES: Final = 64
"""Those of the longest shape that is followed for that."""
Int64Array = npt.NDArray[np.int64]
Golden = Callable[[Inputs], Outputs]


def rivals_of(
    kernel: Kernel, checked: Sequence[CandidateSet], tried: Sequence[CandidateSet], seed: int
) -> tuple[Rivals, list[CandidateSet]]:
    """The rivals, and input sets to add to those that are `checked`, some of them from `tried`.

    Raises KernelError for a convention that fails.
    """
    rng = np.random.default_rng((seed, FACTORS))
    rivals, added, shapes = list[Rival](), list[CandidateSet](), _Shapes(kernel, checked)
    for name, golden in kernel.conventions.items():
        parts, same_with = partial(_parts, kernel, name), ""
        is_apart = any(map(parts, (*checked, *added)))
        if not is_apart:
            telling = [*islice(filter(parts, chain(tried, _at_its_steps(kernel, golden, checked, rng))), 1)]
            if not telling:
                telling, same_with = _by_solver(kernel, golden, shapes, parts)
            added += telling
            is_apart = bool(telling)
        rivals.append(Rival(name, True, is_apart, same_with))
    output = requantized_output(kernel)
    if output is None:
        return Rivals("", rivals), added
    whole = [*checked, *added, *tried]
    lanes = KernelLanes(kernel, output, [one.inputs for one in whole])
    wanted = [one.golden[output.name] for one in whole]
    recognised = requantization_of(lanes, lanes.joined(wanted), np.array([], np.int64), READINGS) if whole else None
    if recognised is None:
        return Rivals("", rivals), added
    roles, same, numbers = recognised.roles, list(recognised.same), set[int]()
    for name in recognised.others:
        number = _first_parting(lanes, roles, name, wanted)
        if number is not None:
            rivals.append(Rival(name, False, True))
            numbers.add(number)
    added += [whole[number] for number in sorted(numbers) if number >= len(whole) - len(tried)]

    def parts_from(name: str, one: CandidateSet) -> bool:
        of_one = KernelLanes(kernel, output, [one.inputs])
        return _first_parting(of_one, roles, name, [one.golden[output.name]]) is not None

    while (found := _parting_set(kernel, output, roles, same, checked, rng)) is not None:
        apart = [name for name in same if parts_from(name, found)]
        if not apart:
            break
        same = [name for name in same if name not in apart]
        rivals += [Rival(name, False, True) for name in apart]
        added.append(found)
    for name in same[1:]:
        golden = _golden_by(kernel, output, roles, name)
        telling, same_with = _by_solver(kernel, golden, shapes, partial(parts_from, name))
        added += telling
        rivals.append(Rival(name, False, bool(telling), same_with))
    return Rivals(f"{same[0]} of {roles}" if same else "", rivals), added


class _Shapes:
    """A short shape of the kernel's inputs and a longer one, by `sizes`, their numbers of elements."""

    def __init__(self, kernel: Kernel, checked: Sequence[CandidateSet]) -> None:
        self._kernel = kernel
        self._by_size = {one.lanes: one for one in checked if 0 < one.lanes <= MOST_LANES}
        self._traced: dict[int, TracedReference] = {}
        self.sizes = sorted({min(self._by_size), max(self._by_size)} if self._by_size else ())

    def traced(self, size: int) -> TracedReference:
        """The reference on all inputs of a shape, which is the same for all rivals.  Raises as `traced_reference`."""
        if size not in self._traced:
            self._traced[size] = traced_reference(self._kernel, self._by_size[size].inputs)
        return self._traced[size]


def _by_solver(
    kernel: Kernel, golden: Golden, shapes: _Shapes, parts: Callable[[CandidateSet], bool]
) -> tuple[list[CandidateSet], str]:
    """An input set that parts the kernel from another golden reference, if one is found; else where none can.

    That is said of shapes, by their numbers of elements; "" where it is not known.
    """
    rival = replace(kernel, golden=golden, conventions={})
    for size in shapes.sizes:
        try:
            mine = shapes.traced(size)
            sought = parting(mine, rival, ROUNDS)
        except LanewiseError:  # numpy that is not followed
            return [], ""
        if sought.inputs is not None:
            made = candidate_of(kernel, mine.example, sought.inputs)
            return [made] if made is not None and not made.undeclared and parts(made) else [], ""
        if not sought.impossible:
            return [], ""
    return [], " or ".join(map(str, shapes.sizes))


def _golden_by(kernel: Kernel, output: Pointer, roles: Roles, name: str) -> Golden:
    """The golden reference as a convention makes it."""

    def golden(inputs: Inputs) -> Outputs:
        made = KernelLanes(kernel, output, [inputs]).made(roles, name)
        return {output.name: made.astype(output.dtype).reshape(kernel.golden(inputs)[output.name].shape)}

    return golden


def _parts(kernel: Kernel, name: str, one: CandidateSet) -> bool:
    """Whether a convention of the kernel is defined on an input set and gives what a check would not accept."""
    made = kernel.by_convention(name, one.inputs, one.golden)
    return made is not None and not all_agree(made, one.golden, kernel.tolerance)


def _at_its_steps(
    kernel: Kernel, golden: Golden, checked: Sequence[CandidateSet], rng: np.random.Generator
) -> Iterator[CandidateSet]:
    """Input sets on both sides of the steps that another golden reference has, within declared domains."""
    rival = replace(kernel, golden=golden, conventions={})
    for _ in range(SEARCHES):
        with suppress(KernelError):  # the rival refuses it
            base = _base(kernel, checked, rng)
            if base is None:
                return
            for inputs in boundary_sets(rival, base, _free(kernel, base), rng):
                found = candidate_of(kernel, base, inputs)
                if found is not None:
                    yield found


def _base(kernel: Kernel, checked: Sequence[CandidateSet], rng: np.random.Generator) -> Inputs | None:
    """An input set whose numbers are to be changed; None where there is none with lanes."""
    if kernel.is_drawn:
        length, rows, _ = NUMBERS
        return next(drawn(kernel, length, rows, rng), None)
    some = [one for one in checked if one.lanes >= 4] or [one for one in checked if one.lanes]
    return some[int(rng.integers(len(some)))].inputs if some else None


def _free(kernel: Kernel, base: Inputs) -> list[Variable]:
    """What may be changed of an input set such that it stays one of the kernel's."""
    variables = variables_of(kernel, base, kernel.domain)
    return variables if kernel.is_drawn else [one for one in variables if one.name in kernel.domain]


def _first_parting(lanes: KernelLanes, roles: Roles, name: str, golden: Sequence[np.ndarray[Any, Any]]) -> int | None:
    """The number of the first input set that tells a convention; where it refuses one, that does not count."""
    start = 0
    for number, array in enumerate(golden):
        some = np.arange(start, start + array.size)
        start += array.size
        try:
            if (lanes.made(roles, name, some) != array.ravel()).any():
                return number
        except ValueError:
            continue
    return None


def _parting_set(
    kernel: Kernel, output: Pointer, roles: Roles, same: Sequence[str], checked: Sequence[CandidateSet],
    rng: np.random.Generator,
) -> CandidateSet | None:  # fmt: skip
    """An input set on which two of the conventions part that the golden reference may be; None where none was found."""
    base = _base(kernel, checked, rng)
    free = {} if base is None else {variable.name: variable for variable in _free(kernel, base)}
    changed = [name for name in (roles.multiplier, roles.shift) if name and not is_number(name)]
    if base is None or not roles.shift or not {roles.value, *changed} <= set(free):
        return None
    ends = {
        name: [int(end) for end in free[name].domain.bounds(free[name].dtype)]
        for name in (roles.value, roles.bias, roles.zero_point, roles.lower, roles.upper)
        if name in free
    }
    for _ in range(FACTORS):
        numbers = {name: int(free[name].domain.draw(free[name].dtype, (), rng)) for name in changed}
        numbers |= {name: sorted((0, *ends[name]))[1] for name in (roles.bias, roles.zero_point) if name in ends}
        numbers |= {name: ends[name][at] for at, name in enumerate((roles.lower, roles.upper)) if name in ends}
        values = _values(roles, numbers, *ends[roles.value])

        def of(name: str, numbers: Mapping[str, int] = numbers, values: Int64Array = values) -> Int64Array:
            return values if name == roles.value else np.full(values.size, _number(name, numbers))

        made = []
        for name in same:
            with suppress(ValueError):  # one that refuses these
                made.append(requantized(replace(roles, lower="", upper=""), name, output.dtype, of))
        differ = np.any([one != other for one, other in pairwise(made)], axis=0)
        if differ.any():
            inputs: Inputs = base
            for name, number in {**numbers, roles.value: values[differ]}.items():
                shape = free[name].of(base).shape
                inputs = free[name].put(inputs, np.resize(np.asarray(number, free[name].dtype), shape))
            found = candidate_of(kernel, base, inputs)
            if found is not None:
                return found
    return None


def _values(roles: Roles, numbers: Mapping[str, int], low: int, high: int) -> Int64Array:
    """The accumulators around every step of a byte, and those at the ends of their domain, which it holds."""
    multiplier = _number(roles.multiplier, numbers) if roles.multiplier else 1 << 31
    factor = multiplier * 2.0 ** (roles.sign * _number(roles.shift, numbers) - 31)
    steps = (np.arange(-STEPS, STEPS) + 0.5) / (factor or 1.0) - _number(roles.bias, numbers)
    near = np.floor(steps[(steps >= low) & (steps < high)]).astype(np.int64)
    every = np.concatenate([*(near + step for step in (-1, 0, 1, 2)), np.array([low, low + 1, high - 1, high])])
    return np.asarray(np.unique(every[(every >= low) & (every <= high)]))


def _number(name: str, numbers: Mapping[str, int]) -> int:
    """What an argument is set to, or the constant in its place; 0 for one that cannot be set."""
    return int(name) if is_number(name) else numbers.get(name, 0)
