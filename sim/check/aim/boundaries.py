"""Inputs on both sides of a step of the golden reference: where an output lane goes from one number to the next.

Whatever moves a result a little (a rounding that ties otherwise, a constant one off, a shift that loses a bit) moves
the places at which it steps, and nothing else.  So the last input before a step and the first one behind it tell such
a mistake, however rare it is: two kernels that agree on both sides of every step agree everywhere between.

A step is found by halving.  Elements of an input that belong to different output lanes, by the extents that both name,
are searched all at once.  Where a lane is a sum over an axis that the output lacks, one element after the other goes as
near to the step as it can, so that the smallest weight decides how near.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sim.check.aim.variables import Variable
from sim.kernels.domain import Domain
from sim.kernels.extent import value_of
from sim.kernels.kernel import Inputs, Kernel
from sim.kernels.signature import RETURNED

Places = tuple[npt.NDArray[np.intp], ...]
"""An index of an array, for many elements of it at once."""
Rungs = npt.NDArray[np.int64]
_SIGN: Final = np.uint64(1 << 63)
REFINEMENTS: Final = 4
"""How many arguments, one after the other, go near to a step."""


class LaneSteps:
    """The numbers at which lanes of one output are to step, as rungs, where they are `chosen`."""

    def __init__(self, kernel: Kernel, output: str, inputs: Inputs, shape: tuple[int, ...]) -> None:
        outputs = {pointer.name: pointer for pointer in kernel.signature.outputs}
        self.output = output
        self.axes = outputs[output].shape if output != RETURNED else ()
        self.numbers, self.chosen = (np.atleast_1d(np.zeros(shape, kind)) for kind in (np.int64, bool))
        dtype = np.dtype(outputs[output].dtype if output != RETURNED else kernel.signature.returns)
        self._kernel, self._ladder, self._arguments = kernel, Ladder(Domain(), dtype), kernel.arguments(inputs)

    def extent(self, axis: int | str) -> int:
        """Of an axis by its name or number."""
        return value_of(axis, self._arguments)

    def at(self, inputs: Inputs, lanes: Places) -> Rungs:
        """The golden numbers of some lanes, as rungs.  Raises KernelError."""
        return self._ladder.rungs(np.atleast_1d(self._kernel.expected(inputs)[self.output]))[lanes]

    def choose(self, lanes: Places, one: Rungs, other: Rungs, rng: np.random.Generator) -> Rungs:
        """Where each of the lanes steps: for those that have no number yet, one that lies between the two ends."""
        low, high = np.minimum(one, other), np.maximum(one, other)
        drawn = rng.integers(np.where(low < high, low + 1, high), high, endpoint=True)
        self.numbers[lanes] = np.where(self.chosen[lanes], self.numbers[lanes], drawn)
        self.chosen[lanes] |= low < high
        return np.asarray(self.numbers[lanes])


def boundary_sets(
    kernel: Kernel, inputs: Inputs, variables: Sequence[Variable], rng: np.random.Generator
) -> Iterator[dict[str, Any]]:
    """From one input set others, two by two: before and behind steps of output lanes.  Raises KernelError."""
    steps, state = _steps_of(kernel, inputs, rng), dict(inputs)
    if steps is None or not variables:
        return
    weights = np.sqrt([_shared_elements(variable, steps) for variable in variables])
    for _ in range(REFINEMENTS):
        variable = variables[int(rng.choice(len(variables), p=weights / weights.sum()))]
        found = _nearer(kernel, state, variable, steps, rng)
        if found is not None:
            yield from found
            state, _ = found
            if set(variable.axes) == set(steps.axes):
                return  # each lane has an element of its own, so no other brings it nearer


def number_sets(
    kernel: Kernel, inputs: Inputs, variables: Sequence[Variable], rng: np.random.Generator
) -> Iterator[dict[str, Any]]:
    """From one input set others, two by two: for each number among the arguments, next to a step of some lane.

    A factor of 31 bits moves a lane more finely than a byte does.  Raises KernelError.
    """
    for variable in variables:
        steps = _steps_of(kernel, inputs, rng)
        if not variable.axes and steps is not None:
            yield from _nearer(kernel, inputs, variable, steps, rng) or ()


def _steps_of(kernel: Kernel, inputs: Inputs, rng: np.random.Generator) -> LaneSteps | None:
    """Those of one output that has lanes, by lot; None where none has."""
    expected = kernel.expected(inputs)
    names = sorted(name for name, array in expected.items() if array.size)
    if not names:
        return None
    output = str(rng.choice(names))
    return LaneSteps(kernel, output, inputs, expected[output].shape)


def _shared_elements(variable: Variable, steps: LaneSteps) -> int:
    """How many output lanes are searched at once: the indices along the axes that both have."""
    return int(np.prod([steps.extent(axis) for axis in set(variable.axes) & set(steps.axes)], dtype=int))


def _pairs(variable: Variable, steps: LaneSteps, rng: np.random.Generator) -> tuple[Places, Places]:
    """An element of the variable and an output lane for each index of the axes that they share.

    Along other axes both are drawn.
    """
    shared = [axis for axis in dict.fromkeys(variable.axes) if axis in steps.axes]
    sizes = [steps.extent(axis) for axis in shared]
    count = int(np.prod(sizes, dtype=int))
    index = np.indices(sizes).reshape(len(sizes), count)

    def places(axes: tuple[int | str, ...]) -> Places:
        chosen = [
            index[shared.index(axis)] if axis in shared else rng.integers(steps.extent(axis), size=count)
            for axis in axes
        ]
        return tuple(chosen) or (np.zeros(count, int),)

    return places(variable.axes), places(steps.axes)


def _nearer(
    kernel: Kernel, state: Inputs, variable: Variable, steps: LaneSteps, rng: np.random.Generator
) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """The state with elements of the variable next to a step of their lanes, and with the next number behind it.

    None where no lane steps between the ends of the domain, and where what lies between is not accepted.
    """
    elements, lanes = _pairs(variable, steps, rng)
    ladder, whole = Ladder(variable.domain, variable.dtype), variable.of(state)

    def with_rungs(rungs: Rungs) -> dict[str, Any]:
        changed = whole.copy()
        changed[elements] = ladder.numbers(rungs)
        return variable.put(state, changed)

    current = ladder.rungs(whole[elements])
    low, high = (
        _accepted_end(kernel, with_rungs, current, np.full_like(current, end)) for end in (ladder.low, ladder.high)
    )
    at_low, at_high = steps.at(with_rungs(low), lanes), steps.at(with_rungs(high), lanes)
    wanted = steps.choose(lanes, at_low, at_high, rng)
    reached = steps.at(state, lanes) >= wanted
    changes_low, changes_high = (at_low >= wanted) != reached, (at_high >= wanted) != reached
    if not (changes_low | changes_high).any():
        return None
    near, behind = current, np.where(changes_high, high, np.where(changes_low, low, current))
    while (np.maximum(near, behind).view(np.uint64) - np.minimum(near, behind).view(np.uint64) > 1).any():
        middle = halfway(near, behind)
        if not kernel.accepts(with_rungs(middle)):
            return None
        same = (steps.at(with_rungs(middle), lanes) >= wanted) == reached
        near, behind = np.where(same, middle, near), np.where(same, behind, middle)
    return with_rungs(near), with_rungs(behind)


def _accepted_end(kernel: Kernel, with_rungs: Callable[[Rungs], dict[str, Any]], current: Rungs, end: Rungs) -> Rungs:
    """The end of the domain, or on half of the way to it, and half of that, what the kernel accepts."""
    while (end != current).any() and not kernel.accepts(with_rungs(end)):
        nearer = halfway(current, end)
        end = np.where(nearer == end, current, nearer)  # halves are rounded down: upwards they come to one, and stay
    return end


class Ladder:
    """The numbers that a domain has of a dtype, lowest first, each on a rung: neighbours are one rung apart.

    Integers are their own rungs, of 64 unsigned bits 2^63 lower; floats have those of their bits, with both zeros on
    one; choices are counted from 0.  `low` and `high` are the rungs of the ends.
    """

    def __init__(self, domain: Domain, dtype: np.dtype[Any]) -> None:
        self._dtype = dtype
        self._choices = np.unique(np.array(domain.choices, dtype)) if domain.choices else None
        if self._choices is not None:
            self.low, self.high = 0, len(self._choices) - 1
        else:
            ends = self.rungs(np.array(domain.bounds(dtype), dtype))
            self.low, self.high = int(ends[0]), int(ends[1])

    def rungs(self, numbers: np.ndarray[Any, Any]) -> Rungs:
        """The rungs of numbers of the dtype; of one that is no choice, that of the next higher one."""
        if self._choices is not None:
            return np.minimum(np.searchsorted(self._choices, numbers), self.high).astype(np.int64)
        if self._dtype.kind == "f":
            bits = np.abs(numbers).view(f"i{self._dtype.itemsize}").astype(np.int64)
            return np.asarray(np.where(np.signbit(numbers), -bits, bits))
        if self._dtype == np.uint64:
            return np.asarray((numbers ^ _SIGN).view(np.int64))
        return numbers.astype(np.int64)

    def numbers(self, rungs: Rungs) -> np.ndarray[Any, Any]:
        """The numbers of rungs in `low`..`high`."""
        if self._choices is not None:
            return np.asarray(self._choices[rungs])
        if self._dtype.kind == "f":
            sign = -1 << 8 * self._dtype.itemsize - 1
            return np.where(rungs < 0, sign - rungs, rungs).astype(f"i{self._dtype.itemsize}").view(self._dtype)
        if self._dtype == np.uint64:
            return np.asarray(rungs.view(np.uint64) ^ _SIGN)
        return rungs.astype(self._dtype)


def halfway(one: Rungs, other: Rungs) -> Rungs:
    """The rungs in the middle, without overflow."""
    return np.asarray((one >> 1) + (other >> 1) + (one & other & 1))
