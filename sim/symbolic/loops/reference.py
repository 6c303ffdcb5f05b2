"""The golden reference on arrays of any length: what it makes of the element of any index, and of sums."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final

import numpy as np

from isa.lane import Lane, Place, Read, constant, walk
from sim.kernels.domain import domain_of
from sim.kernels.input_tree import Where
from sim.kernels.kernel import Inputs, Kernel
from sim.kernels.signature import RETURNED, ScalarArgument
from sim.symbolic.call import HIGHEST
from sim.symbolic.loops.elements import IndexedElements
from sim.symbolic.numbers.any_length import EXTREME, AnyLength, AnyLengthArray, Total
from sim.symbolic.numbers.arrays import SymbolicArray, array_of
from sim.symbolic.numbers.elementwise import settled
from sim.symbolic.numbers.integers import SymbolicInt, is_symbolic
from sim.symbolic.numbers.known_names import lanes_passed_on
from sim.symbolic.numbers.tracing import Untraceable, every_way
from sim.symbolic.reference import globals_of, in_domain, is_refusal, number_range, unknown_input, untraced
from sim.symbolic.simplify import SIMPLIFIER, simplified

INDEX: Final = "index"
"""The register file of the leaf for the index that is looked at."""


@dataclass(frozen=True)
class AnyLengthCase:
    """What the reference makes of all inputs for which `given` is 1.

    `outputs` has of each output array the element of the index, of the result the number.  `numbers` are the kernel's
    arguments that are no arrays.
    """

    given: Lane
    outputs: Mapping[str, Lane]
    numbers: Mapping[str, Lane]


@dataclass(frozen=True, kw_only=True)
class AnyLengthReference:
    """A reference on arrays of any length.

    `length` is the leaf of the length, `index` that of the index, `elements` has the leaves of elements, `in_domain` is
    1 where those of the index are in their domains, `totals` are the sums by their leaves.
    """

    cases: tuple[AnyLengthCase, ...]
    extent: str
    length: Lane
    index: Lane
    elements: IndexedElements
    in_domain: Lane
    totals: Mapping[Lane, Total]


def any_length_reference(kernel: Kernel, example: Inputs, with_outputs: bool = True) -> AnyLengthReference:
    """The reference of a kernel whose arrays have one axis of one length each.

    Raises Untraceable, with file and line where the reference does what depends on the length.  Without outputs it is
    not run: then the arguments are those of all input sets in the domains, whether kernel and reference take them or
    not.
    """
    if (kernel.valid is not None and with_outputs) or untraced(kernel.signature) or kernel.signature.blocks:
        raise Untraceable(f"{kernel.title} takes what is not proved for any length")
    extent = _extent(kernel)
    arrays = {name: value for name, value in example.items() if isinstance(value, np.ndarray)}
    for name, value in arrays.items():
        if value.ndim != 1 or value.dtype.kind not in "iub":
            raise Untraceable(f"the input {name} is no array of integers of one axis")
        if all(pointer.name != name for pointer in kernel.signature.pointers):
            raise Untraceable(f"the input {name} is no argument: its length is not known to be {extent}")
    if extent in example and type(example[extent]) is not int:
        raise Untraceable(f"the input {extent} is no integer of Python's")
    length = SIMPLIFIER.made(Read(Place(f"in.{extent}"), *_lengths(kernel, extent)))
    elements = IndexedElements(
        SIMPLIFIER, {name: number_range(kernel, (name,), of.dtype) for name, of in arrays.items()}
    )
    index = SIMPLIFIER.made(Read(Place(INDEX), 0, length.high))
    among, numbers = AnyLength(length), dict[Where, Read]()

    def run() -> tuple[dict[str, Lane], dict[str, Lane]]:
        tree: dict[str, Any] = {}
        for name, value in example.items():
            if name in arrays:
                tree[name] = AnyLengthArray(elements.leaf(name, index), value.dtype, among)
            else:
                tree[name] = among.length if name == extent else unknown_input(
                    kernel, (name,), value, frozenset(), numbers
                )  # fmt: skip
        if any(isinstance(where[-1], int) for where in numbers):
            raise Untraceable("an input is an array within a structure")
        arguments = kernel.arguments(tree)
        passed = _numbers(kernel, arguments, elements, index)
        if passed[extent] is not length:
            raise Untraceable(f"the argument {extent!r} is not the length of the inputs")
        return _outputs(kernel, kernel.golden(tree), among) if with_outputs else {}, passed

    with lanes_passed_on(globals_of(kernel)):
        ways = every_way(run)
    domain = [condition for where, lane in numbers.items() for condition in in_domain(kernel, where, lane, np.int64(0))]
    cases = []
    for way in ways:
        if any(isinstance(node, Read) and node.place.file == EXTREME for node in walk(way.conditions)):
            raise Untraceable("the reference decides by the least or the greatest element")
        given = simplified(reduce(lambda a, b: settled(a & b), (*way.conditions, *domain), constant(1)))
        if way.raised is not None and with_outputs:
            if length in walk([given]):
                raise Untraceable(f"whether the reference raises depends on the length: {way.raised}")
            is_refusal(kernel, example, numbers, way, given)
        elif way.result is not None and given.high:
            cases.append(AnyLengthCase(given, *way.result))
    of_index = [
        condition
        for name, value in arrays.items()
        for condition in in_domain(kernel, (name,), _read(elements.leaf(name, index)), value.dtype.type(0))
    ]
    within = simplified(reduce(lambda a, b: settled(a & b), of_index, constant(1)))
    return AnyLengthReference(
        cases=tuple(cases), extent=extent, length=length, index=index, elements=elements, in_domain=within,
        totals=among.totals,
    )  # fmt: skip


def _read(lane: Lane) -> Read:
    assert isinstance(lane, Read)
    return lane


def _extent(kernel: Kernel) -> str:
    """The name of the one length that all arrays have."""
    shapes = {pointer.shape for pointer in kernel.signature.pointers}
    named = {argument.name for argument in kernel.signature.arguments if isinstance(argument, ScalarArgument)}
    if any(pointer.strides for pointer in kernel.signature.pointers) or len(shapes) != 1:
        raise Untraceable("its arrays are not all of one length")
    (shape,) = shapes
    if len(shape) != 1 or shape[0] not in named:
        raise Untraceable("its arrays are not all of one length, which is an argument")
    return str(shape[0])


def _lengths(kernel: Kernel, extent: str) -> tuple[int, int]:
    """The least and the greatest length: of the domain, and so that every array fits behind the highest address."""
    argument = next(a for a in kernel.signature.arguments if a.name == extent and isinstance(a, ScalarArgument))
    low, high = domain_of(kernel.domain, extent).bounds(argument.type)
    size = max(pointer.type.itemsize for pointer in kernel.signature.pointers)
    return max(int(low), 0), min(int(high), HIGHEST // size)


def _outputs(kernel: Kernel, given: Any, among: AnyLength) -> dict[str, Lane]:
    found = {}
    for pointer in kernel.signature.outputs:
        value = given.get(pointer.name)
        if type(value) is not AnyLengthArray or value.dtype != pointer.type or value.among is not among:
            raise Untraceable(f"the reference makes {pointer.name!r} not element by element, or in another dtype")
        found[pointer.name] = simplified(value.lane)
    if kernel.signature.returns:
        array = array_of(given[RETURNED])
        if array.dtype != np.dtype(kernel.signature.returns) or array.shape or array.dtype.kind not in "iub":
            raise Untraceable("the reference returns no integer of the result's dtype")
        found[RETURNED] = simplified(array.elements.item())
    return found


def _numbers(kernel: Kernel, arguments: Inputs, elements: IndexedElements, index: Lane) -> dict[str, Lane]:
    found = {}
    for argument in kernel.signature.arguments:
        value = arguments.get(argument.name)
        if type(value) is AnyLengthArray:
            if value.lane is not elements.leaf(argument.name, index):
                raise Untraceable(f"the argument {argument.name!r} is no input as it is")
        elif isinstance(argument, ScalarArgument) and argument.type.kind in "iub":
            if not isinstance(value, SymbolicInt) and type(value) is not SymbolicArray and is_symbolic(value):
                raise Untraceable(f"the argument {argument.name!r} is no number")
            found[argument.name] = simplified(array_of(value).astype(argument.type).elements.item())
        elif value is not None:
            raise Untraceable(f"the argument {argument.name!r} is no array of any length")
    return found
