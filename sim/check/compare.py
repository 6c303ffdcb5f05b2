"""Outputs of one implementation against the golden reference, lane by lane.

Integer lanes are equal when their numbers are.  Floating-point lanes are equal when their bits are, or when both are
NaN: which NaN is not compared, zeros of different sign differ.  A kernel may give these outputs a tolerance.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from sim.call.call import CallResult
from sim.check.vectors import Vectors
from sim.kernels.extent import element_name
from sim.kernels.kernel import Inputs, Kernel
from sim.kernels.tolerance import agreement, all_agree

Place = tuple[int, ...]
Value = int | str
"""An integer; of a floating-point number the shortest text that reads back as it, and its bits."""
WHOLE = 8
"""Numbers of an array that are all shown."""


def as_value(number: np.generic) -> Value:
    """A number as it is reported, such as 7 and "0.1 (0x3dcccccd)"."""
    if number.dtype.kind != "f":
        return int(number)
    return f"{number!s} ({np.array(number).view(f'u{number.itemsize}'):#0{2 + 2 * number.itemsize}x})"


def arguments_at(arguments: Inputs, place: Place, shape: Place, elements: Sequence[str] = ()) -> str:
    """The arguments of a call as text on one line, of arrays of an output's shape only the element at one place.

    Of other arrays with more than `WHOLE` numbers those are there that are not the most frequent one, or if these are
    as many, the first and the last ones, and those of the `elements` that are asked for by name.
    """
    parts = []
    for name, value in arguments.items():
        if isinstance(value, np.ndarray) and value.shape == shape:
            parts.append(f"{element_name(name, place)}={value[place]}")
        elif isinstance(value, np.ndarray) and (few := _rare(name, value)):
            parts.append(few)
        elif isinstance(value, np.ndarray):
            lines = np.array2string(value, max_line_width=sys.maxsize, threshold=WHOLE, edgeitems=2)
            parts.append(f"{name}={' '.join(lines.split()).replace('[ ', '[')}")
            if value.size > WHOLE:
                own = (re.fullmatch(rf"{re.escape(name)}((?:\[\d+\]){{{value.ndim}}})", one) for one in elements)
                places = sorted({tuple(map(int, re.findall(r"\d+", one[1]))) for one in own if one})
                parts += [f"{element_name(name, at)}={value[at]}" for at in places[:WHOLE]]
        else:
            parts.append(f"{name}={value}")
    return ", ".join(parts)


def _rare(name: str, array: np.ndarray[Any, Any]) -> str | None:
    """What a long array has where it has not its most frequent number; None where it is short, or that is too much."""
    if array.size <= WHOLE or array.dtype.kind not in "iuf":
        return None
    numbers, counts = np.unique(array, return_counts=True)
    common = numbers[counts.argmax()]
    places = np.argwhere(array != common)
    if not 0 < len(places) <= WHOLE:
        return None
    named = (f"{element_name(name, place)}={array[tuple(place)]}" for place in places)
    return f"{', '.join(named)}, the others of {name} {common}"


class WrongLane(NamedTuple):
    """An output lane that differs: in which input set, of which engine, array and place."""

    number: int
    engine: str
    output: str
    place: Place


class Comparison:
    """The results of the first input sets of some vectors; `wrong` are the lanes that differ, in order."""

    def __init__(self, kernel: Kernel, vectors: Vectors, results: Sequence[CallResult]) -> None:
        self._kernel, self._vectors, self._results = kernel, vectors, results
        self.wrong = [
            WrongLane(number, engine, name, tuple(int(i) for i in place))
            for number, (result, golden) in enumerate(zip(results, vectors.golden, strict=False))
            for engine, outputs in result.outputs.items()
            for name, expected in golden.items()
            for place in np.argwhere(~agreement(outputs[name], expected, kernel.tolerance))
        ]

    @property
    def vectors(self) -> int:
        """Output lanes whose inputs were run."""
        golden = self._vectors.golden[: len(self._results)]
        return sum(array.size for outputs in golden for array in outputs.values())

    @property
    def lanes(self) -> int:
        """Lanes that were compared, once for each engine."""
        return sum(array.size for r in self._results for outputs in r.outputs.values() for array in outputs.values())

    def got(self, lane: WrongLane) -> Value:
        return as_value(self._results[lane.number].outputs[lane.engine][lane.output][lane.place])

    def expected(self, lane: WrongLane) -> Value:
        return as_value(self._vectors.golden[lane.number][lane.output][lane.place])

    def right_lanes(self, lane: WrongLane) -> list[Place]:
        """The places of the same array, in the same input set, that no engine has wrong."""
        bad = {other.place for other in self.wrong if (other.number, other.output) == (lane.number, lane.output)}
        return [place for place in np.ndindex(self._shape(lane)) if place not in bad]

    def right_sets(self, lane: WrongLane) -> list[int]:
        """The other input sets in which the same place of the same array exists and no engine has it wrong."""
        bad = {other.number for other in self.wrong if (other.output, other.place) == (lane.output, lane.place)}
        right = []
        for number in range(len(self._results)):
            array = self._vectors.golden[number].get(lane.output)  # None of a null pointer
            exists = array is not None and all(at < size for at, size in zip(lane.place, array.shape, strict=True))
            if exists and number not in bad:
                right.append(number)
        return right

    def inputs_of(self, lane: WrongLane, came_from: Sequence[str] = ()) -> str:
        """The arguments as text: of arrays like the output only the lane's own element, of long ones with the elements
        that it came from.
        """
        arguments = self._kernel.arguments(self._vectors.inputs[lane.number])
        return arguments_at(arguments, lane.place, self._shape(lane), came_from)

    def agreeing_conventions(self) -> tuple[str, ...]:
        """The kernel's other conventions that give every output there is.  Raises KernelError for one that fails."""
        return tuple(name for name in self._kernel.conventions if self._agrees(name))

    def _shape(self, lane: WrongLane) -> Place:
        return self._vectors.golden[lane.number][lane.output].shape

    def _agrees(self, convention: str) -> bool:
        for inputs, golden, result in zip(self._vectors.inputs, self._vectors.golden, self._results, strict=False):
            made, tolerance = self._kernel.by_convention(convention, inputs, golden), self._kernel.tolerance
            if made is None or not all(all_agree(outputs, made, tolerance) for outputs in result.outputs.values()):
                return False
        return True
