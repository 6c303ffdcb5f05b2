"""Layers that only move numbers: where each number of the output came from, and what other move makes somebody's.

A layer is run on numbers that count the elements of its inputs, a byte at a time, as it may take no wider ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sim.explanation.explanation import place_of
from sim.models.causes.causes import Cause
from sim.models.computed import computed
from sim.models.layers import Inputs, Several
from sim.models.network import AnyArray, Network, NetworkLayer, NotComputed

Number = int | float
_JOINS: Final = ("CONCATENATION", "PACK", "Concat", "QLinearConcat")
_TURNS: Final = ("TRANSPOSE", "Transpose")
_COMPUTE: Final = ("MAXIMUM", "MINIMUM", "NEG", "SHAPE", "Shape", "Relu", "Clip", "Max", "Min")
"""Layers without a rounding whose numbers are not those of one place of an input."""
_MOST: Final = 5
"""Axes, or inputs, of which every order is tried."""


@dataclass(frozen=True, kw_only=True)
class Moved:
    """One element of an output: what it is, and what somebody else has there.

    `tensor` and `place` are the input and the element of it that this one is, "" where it is none, as around what is
    padded; with `read` it is made of that number there.  `is_copy` says whether `yours` is any number of the inputs.
    """

    element: tuple[int, ...]
    tensor: str
    place: tuple[int, ...]
    expected: Number
    yours: Number
    is_copy: bool = True
    read: Number | None = None

    def __str__(self) -> str:
        how, number = ("moved from", "") if self.read is None else ("made of", f", {self.read},")
        source = f"{how} element {place_of(self.place)} of {self.tensor}{number} " if self.tensor else ""
        foreign = "" if self.is_copy else ", not a copy of its input"
        return f"element {place_of(self.element)}: {source}it is {self.expected}; yours {self.yours}{foreign}"

    def as_json(self) -> dict[str, Any]:
        """Plain data; a number that is not finite as text."""
        expected, yours = (one if np.isfinite(one) else str(one) for one in (self.expected, self.yours))
        return {
            "element": list(self.element),
            "tensor": self.tensor,
            "place": list(self.place),
            "expected": expected,
            "yours": yours,
            "is_copy": self.is_copy,
        }


def moved(
    network: Network, layer: NetworkLayer, given: Inputs, which: int, made: AnyArray, output: AnyArray, at: int
) -> tuple[Moved, tuple[Cause, ...]]:
    """Of output `which` of a layer, `made` here and `output` elsewhere: what element `at` (flat) is, and the causes."""
    inputs = _moved_inputs(layer)
    origins = _origins(network, layer, given, which, inputs) if inputs else None
    element = tuple(int(one) for one in np.unravel_index(at, output.shape))
    yours, expected = output[element].item(), made[element].item()
    tensor, place = "", tuple[int, ...]()
    if origins is not None and origins[element] >= 0:
        tensor, place = _named(network, given, inputs, int(origins[element]))
    is_copy = not inputs or any((given[number] == yours).any() for number in inputs)
    told = Moved(element=element, tensor=tensor, place=place, expected=expected, yours=yours, is_copy=is_copy)
    if origins is None:
        return told, ()
    return told, tuple(_causes(network, layer, given, which, made, output, origins, inputs))


def _moved_inputs(layer: NetworkLayer) -> tuple[int, ...]:
    """The tensors whose numbers a layer moves, each once; none where it moves none."""
    if layer.operator in _COMPUTE:
        return ()
    if layer.operator in _JOINS:
        return tuple(dict.fromkeys(layer.inputs))
    return layer.inputs[1:2] if layer.operator == "SPLIT" else layer.inputs[:1]


def _origins(
    network: Network, layer: NetworkLayer, given: Inputs, which: int, inputs: Sequence[int]
) -> npt.NDArray[np.int64] | None:
    """Which element of the inputs, counted through all of them, each of the output is; -1 for none of them."""
    sizes = [given[number].size for number in inputs]
    starts = np.cumsum([0, *sizes])

    def made_of(byte: int) -> npt.NDArray[np.int64]:
        """Of that byte of one more than each element's number: 0 is for none."""
        marks = {
            number: ((np.arange(start + 1, start + size + 1) >> 8 * byte & 0xFF).astype(given[number].dtype)).reshape(
                given[number].shape
            )
            for number, start, size in zip(inputs, starts.tolist(), sizes, strict=False)
        }
        return _made(network, layer, {**given, **marks}, which).astype(np.int64) & 0xFF

    zeros = {number: np.zeros_like(given[number]) for number in inputs}
    ones = {number: np.ones_like(given[number]) for number in inputs}
    try:
        taken = _made(network, layer, {**given, **zeros}, which) != _made(network, layer, {**given, **ones}, which)
        count = sum(made_of(byte) << 8 * byte for byte in range((int(starts[-1]).bit_length() + 7) // 8))
    except NotComputed:  # it depends on what the numbers are
        return None
    return np.where(taken, count, 0) - 1


def _made(network: Network, layer: NetworkLayer, given: Inputs, which: int) -> AnyArray:
    made = computed(network, layer, given)
    made = made.parts[which] if isinstance(made, Several) else made
    if not isinstance(made, np.ndarray):
        raise NotComputed("it does not only move numbers")
    return made


def _named(network: Network, given: Inputs, inputs: Sequence[int], origin: int) -> tuple[str, tuple[int, ...]]:
    """The tensor that holds an element of those that are counted through the inputs, and its place there."""
    for number in inputs:
        if origin < given[number].size:
            place = tuple(int(one) for one in np.unravel_index(origin, given[number].shape))
            return network.tensors[number].name, place
        origin -= given[number].size
    raise AssertionError("an element of no input")


def _causes(
    network: Network, layer: NetworkLayer, given: Inputs, which: int, made: AnyArray, output: AnyArray,
    origins: npt.NDArray[np.int64], inputs: Sequence[int],
) -> Iterator[Cause]:  # fmt: skip
    """Other moves of the same inputs that make every element."""
    first = given[inputs[0]]
    is_other = first.size == output.size and not np.array_equal(first.ravel(), made.ravel())
    if len(inputs) == 1 and is_other and np.array_equal(first.ravel(), output.ravel()):
        yield Cause("move", "its input as it lies gives all elements")
    if layer.operator in _TURNS and first.ndim <= _MOST:
        for order in permutations(range(first.ndim)):
            if np.array_equal(np.transpose(first, order), output):
                yield Cause("move", f"the axes in the order {', '.join(map(str, order))} give all elements")
    if layer.operator in _JOINS and len(layer.inputs) <= _MOST:
        for numbers in dict.fromkeys(permutations(layer.inputs)):
            with suppress(NotComputed):
                if np.array_equal(_made(network, replace(layer, inputs=numbers), given, which), output):
                    names = ", ".join(network.tensors[number].name for number in numbers)
                    yield Cause("move", f"its inputs in the order {names} give all elements")
    around = origins < 0
    if around.any() and np.array_equal(made[~around], output[~around]):
        others = np.unique(output[around])
        if others.size == 1:
            before = made[around][0].item()
            yield Cause("zero point", f"padding with {others[0].item()} instead of {before} gives all elements")
    if len(inputs) == 1:
        for axis, stride in enumerate(np.cumprod([1, *first.shape[:0:-1]])[::-1].tolist()):
            for by, side in ((1, "further"), (-1, "back")):
                shifted = origins + by * stride
                if around.any() or shifted.min(initial=0) < 0 or shifted.max(initial=0) >= first.size:
                    continue
                if np.array_equal(first.ravel()[shifted], output):
                    told = f"numbers from one place {side} along axis {axis} of its input give all elements"
                    yield Cause("move", told)
