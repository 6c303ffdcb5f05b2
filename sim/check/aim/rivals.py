"""Arithmetics that the golden reference may be mixed up with, and input sets on which they part from it.

Rivals are the conventions of the kernel, and where the golden reference is a requantization that we know, all ours that
take the same numbers.  Where none of the tried input sets tells one, some are sought: on both sides of the rival's own
steps, with numbers at which the two conventions part by themselves, and by the solver, which may prove that none do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice, pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from isa.errors import LanewiseError
from sim.check.aim.boundaries import boundary_sets
from sim.check.aim.candidates import DRAWN, CandidateSet, candidate_of
from sim.check.aim.power import Rival, Rivals
from sim.check.aim.solving import parting
from sim.check.aim.variables import Variable, undeclared_changes, variables_of
from sim.explanation.of_kernel.requantization import (
    KernelLanes,
    Roles,
    is_number,
    requantization_of,
    requantized,
    requantized_output,
)
from sim.kernels.domain import at_random, input_set
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
MOST: Final = 1 << 60
"""Beyond all that conventions take."""
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
    for name in kernel.conventions:
        if not any(_parts(kernel, name, one) for one in (*checked, *added)):
            found = (one for one in (*tried, *_at_its_steps(kernel, name, checked, rng)) if _parts(kernel, name, one))
            added += islice(found, 1)
        is_apart, same_with = any(_parts(kernel, name, one) for one in (*checked, *added)), ""
        if not is_apart:
            solved, same_with = _by_solver(kernel, kernel.conventions[name], shapes)
            is_apart = any(_parts(kernel, name, one) for one in solved)
            added += solved if is_apart else []
        rivals.append(Rival(name, True, is_apart, same_with))
    output = requantized_output(kernel)
    if output is None:
        return Rivals("", rivals), added
    whole = [*checked, *added, *tried]
    lanes = KernelLanes(kernel, output, [one.inputs for one in whole])
    golden = [one.golden[output.name] for one in whole]
    recognised = requantization_of(lanes, lanes.joined(golden), np.array([], np.int64), READINGS) if whole else None
    if recognised is None:
        return Rivals("", rivals), added
    for name in recognised.others:
        number = _first_parting(lanes, recognised.roles, name, golden)
        if number is not None:
            rivals.append(Rival(name, False, True))
            if number >= len(whole) - len(tried):
                added.append(whole[number])
    same = list(recognised.same)
    while len(same) > 1 and (telling := _parting_set(kernel, recognised.roles, same, checked, rng)) is not None:
        of_one = KernelLanes(kernel, output, [telling.inputs])
        wanted = of_one.joined([telling.golden[output.name]])
        apart = [name for name in same if not of_one.give(recognised.roles, name, wanted)]
        if not apart:
            break
        same = [name for name in same if name not in apart]
        rivals += [Rival(name, False, True) for name in apart]
        added.append(telling)
    for name in same[1:]:
        solved, same_with = _by_solver(kernel, _golden_by(kernel, output, recognised.roles, name), shapes)
        is_apart = any(
            not KernelLanes(kernel, output, [one.inputs]).give(recognised.roles, name, one.golden[output.name].ravel())
            for one in solved
        )
        added += solved if is_apart else []
        rivals.append(Rival(name, False, is_apart, same_with))
    return Rivals(f"{same[0]} of {recognised.roles}" if same else "", rivals), added


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


def _by_solver(kernel: Kernel, golden: Golden, shapes: _Shapes) -> tuple[list[CandidateSet], str]:
    """Input sets that should part the kernel from another golden reference, one at most; else where none can.

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
            return [made] if made is not None and not made.undeclared else [], ""
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
    kernel: Kernel, name: str, checked: Sequence[CandidateSet], rng: np.random.Generator
) -> Iterator[CandidateSet]:
    """Input sets on both sides of the steps that a convention of the kernel has, within declared domains."""
    rival = replace(kernel, golden=kernel.conventions[name], conventions={})
    for _ in range(SEARCHES):
        try:
            base = _base(kernel, checked, rng)
            if base is None:
                return
            for inputs in boundary_sets(rival, base, _free(kernel, base), rng):
                if undeclared_changes(kernel, base, inputs) is not None:
                    yield CandidateSet(inputs, kernel.expected(inputs))
        except KernelError:  # one of the two refuses it
            continue


def _base(kernel: Kernel, checked: Sequence[CandidateSet], rng: np.random.Generator) -> Inputs | None:
    """An input set whose numbers are to be changed; None where there is none with lanes."""
    if kernel.is_drawn:
        pick = at_random(kernel.domain, rng)
        drawn = (input_set(kernel.signature, kernel.domain, pick, 23, 1, nulls=False) for _ in range(DRAWN))
        return next(filter(kernel.accepts, drawn), None)
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
    kernel: Kernel, roles: Roles, same: Sequence[str], checked: Sequence[CandidateSet], rng: np.random.Generator
) -> CandidateSet | None:
    """An input set on which two of the conventions part that the golden reference may be; None where none was found."""
    base, output = _base(kernel, checked, rng), requantized_output(kernel)
    free = {} if base is None else {variable.name: variable for variable in _free(kernel, base)}
    changed = [name for name in (roles.multiplier, roles.shift) if name and not is_number(name)]
    if base is None or output is None or not roles.shift or not {roles.value, *changed} <= set(free):
        return None
    for _ in range(FACTORS):
        numbers = {name: int(free[name].domain.draw(free[name].dtype, (), rng)) for name in changed}
        for name, wanted in ((roles.bias, 0), (roles.zero_point, 0), (roles.lower, -MOST), (roles.upper, MOST)):
            if name in free:
                low, high = (int(end) for end in free[name].domain.bounds(free[name].dtype))
                numbers[name] = min(max(wanted, low), high)
        values = _values(roles, numbers, free[roles.value])

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
            if not kernel.accepts(inputs):
                continue
            with suppress(KernelError):
                return CandidateSet(inputs, kernel.expected(inputs))
    return None


def _values(roles: Roles, numbers: Mapping[str, int], variable: Variable) -> Int64Array:
    """The accumulators around every step of a byte, and those of the domain's ends, which it holds."""

    multiplier = _number(roles.multiplier, numbers) if roles.multiplier else 1 << 31
    factor = multiplier * 2.0 ** (roles.sign * _number(roles.shift, numbers) - 31)
    steps = (np.arange(-STEPS, STEPS) + 0.5) / (factor or 1.0) - _number(roles.bias, numbers)
    low, high = (int(end) for end in variable.domain.bounds(variable.dtype))
    near = np.floor(np.clip(steps, -MOST, MOST)).astype(np.int64)
    every = np.concatenate([*(near + step for step in (-1, 0, 1, 2)), np.array([low, low + 1, high - 1, high])])
    return np.asarray(np.unique(every[(every >= low) & (every <= high)]))


def _number(name: str, numbers: Mapping[str, int]) -> int:
    """What an argument is set to, or the constant in its place; 0 for one that cannot be set."""
    return int(name) if is_number(name) else numbers.get(name, 0)
