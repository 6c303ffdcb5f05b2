"""The golden reference of a kernel on all inputs of one shape: its outputs and the kernel's arguments as lanes."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from inspect import unwrap
from math import prod
from typing import Any

import numpy as np

from isa.evaluate.smt import Found, Impossible, Solver
from isa.lane import U1, Lane, Place, Read, constant
from sim.kernels.domain import Domain, number_types
from sim.kernels.input_tree import Where, rebuilt
from sim.kernels.inputs import edited, numbers_of
from sim.kernels.kernel import Inputs, Kernel, KernelError
from sim.kernels.signature import (
    RETURNED,
    FunctionArgument,
    Pointer,
    ScalarArgument,
    Signature,
    Struct,
    extents,
    flattened,
)
from sim.symbolic.numbers.arrays import SymbolicArray, array_of
from sim.symbolic.numbers.elementwise import equal, less, negated, settled
from sim.symbolic.numbers.floats import bits_of, format_of, is_floating, operation
from sim.symbolic.numbers.integers import SymbolicInt, is_symbolic
from sim.symbolic.numbers.known_names import lanes_passed_on
from sim.symbolic.numbers.tracing import Untraceable, Way, every_way, line_raising
from sim.symbolic.simplify import simplified
from sim.symbolic.unknowns import cut_out

SECONDS_FOR_AN_INPUT = 10.0
"""How long the solver may look for an input that the reference refuses."""


@dataclass(frozen=True)
class ReferenceCase:
    """What the reference makes of all inputs for which `given` is 1, which is where all `conditions` are.

    `outputs` are the elements of each output array in C order; `arguments` those of each argument of the kernel.
    """

    given: Lane
    conditions: tuple[Lane, ...]
    outputs: Mapping[str, list[Lane]]
    arguments: Mapping[str, list[Lane]]


@dataclass(frozen=True)
class TracedReference:
    """A reference on all inputs of one shape.

    `inputs` are the unknown numbers, by where they stand in the input set; `known` the names of those that are as in
    the example: they were to be, had to be, or are no integers.  `refused` counts the ways on which the reference
    raises: what they take is no input of the kernel.  `unknown_arguments` are the arguments that are not the same
    number in every case.
    """

    example: Inputs
    inputs: Mapping[Where, Read]
    known: frozenset[str]
    cases: tuple[ReferenceCase, ...]
    refused: int
    unknown_arguments: frozenset[str]

    @property
    def scalars(self) -> dict[str, Read]:
        """The unknown numbers that are no elements of arrays, by name."""
        named = ((name_of(where), lane) for where, lane in self.inputs.items())
        return {name: lane for name, lane in named if lane.place.file == f"in.{name}"}

    def values(self) -> dict[Place, int]:
        """The numbers of the example by the inputs that stand for them."""
        found = numbers_of(self.example)
        return {lane.place: _bits(found[where]) for where, lane in self.inputs.items()}

    def input_set(self, values: Mapping[Place, int]) -> Inputs:
        """The example with these numbers in the place of its own."""
        return _with_values(self.example, self.inputs, values)


def traced_reference(
    kernel: Kernel, example: Inputs, known: Collection[str] = (), with_outputs: bool = True
) -> TracedReference:
    """The reference on all inputs that differ from the example in numbers that are not named as known.

    A name is that of a field, which goes for all within.  Scalars that shapes name are known.  A number that Python or
    numpy must know becomes known as well.  Raises Untraceable, with file and line, and KernelError for outputs of
    another dtype or shape than the signature wants.  Without outputs the reference is not run: then the arguments are
    those of all input sets in the domains, whether kernel and reference take them or not.
    """
    if kernel.valid is not None and with_outputs:
        raise Untraceable(f"{kernel.title} has a valid(inputs), which proofs do not take into account: give domains")
    if strange := untraced(kernel.signature):
        raise Untraceable(f"{strange} of {kernel.title} is no array, number or vector: proofs know nothing else")
    sizes = kernel.signature.sizes
    held = frozenset(known) | sizes
    while True:
        inputs: dict[Where, Read] = {}

        def run(
            inputs: dict[Where, Read] = inputs, held: frozenset[str] = held
        ) -> tuple[dict[str, list[Lane]], dict[str, list[Lane]]]:
            tree = {name: unknown_input(kernel, (name,), value, held, inputs) for name, value in example.items()}
            arguments = kernel.arguments(tree)
            outputs = _outputs(kernel, kernel.golden(tree), arguments) if with_outputs else {}
            return outputs, _arguments(kernel, arguments)

        try:
            with lanes_passed_on(globals_of(kernel)):
                ways = every_way(run)
            break
        except Untraceable as error:
            scalars = {name_of(where) for where, lane in inputs.items() if lane.place in error.needs}
            if not error.needs or len(scalars) < len(error.needs) or not scalars - held:
                raise
            held |= scalars
    numbers = numbers_of(example)
    domain = [
        condition for where, lane in inputs.items() for condition in in_domain(kernel, where, lane, numbers[where])
    ]
    cases, refused = [], 0
    for way in ways:
        conditions = (*way.conditions, *domain)
        given = simplified(reduce(lambda a, b: settled(a & b), conditions, constant(1)))
        if way.raised is not None and not with_outputs:
            refused += 1
        elif way.raised is not None:
            refused += is_refusal(kernel, example, inputs, way, given)
        elif way.result is not None and given.high:
            outputs, arguments = way.result
            cases.append(ReferenceCase(given, tuple(map(simplified, conditions)), outputs, arguments))
    unknown = {
        name for case in cases for name, lanes in case.arguments.items() if any(lane.value is None for lane in lanes)
    } | {
        name
        for case in cases
        for name, lanes in case.arguments.items()
        if _numbers(lanes) != _numbers(cases[0].arguments[name])
    }
    kept = {name_of(where) for where in numbers if where not in inputs and where[-1] not in sizes}
    return TracedReference(example, inputs, frozenset(kept), tuple(cases), refused, frozenset(unknown))


def untraced(signature: Signature) -> str:
    """The name of an argument, or of the result, that proofs do not know; "" where there is none."""
    tables = [pointer.name for pointer in signature.pointers if pointer.indirect or pointer.may_be]
    functions = [argument.name for argument in signature.by_value if isinstance(argument, FunctionArgument)]
    structures = [a.name for a in signature.arguments if isinstance(a, Struct) and not _is_of_numbers(a)]
    returned = [RETURNED] if signature.returned is not None else []
    return next(iter([*tables, *functions, *structures, *returned]), "")


def _is_of_numbers(struct: Struct) -> bool:
    """Whether a structure is one that is only read, by pointer, and has numbers beside each other."""
    if not struct.by_pointer or struct.direction != "in" or struct.shape or struct.pointers:
        return False
    end = 0
    for field in sorted(struct.placed_fields, key=lambda field: field.offset):
        if field.bits or field.offset < end or len(field.strides) > 1:
            return False
        end = field.offset + field.dtype.itemsize * prod(field.shape)
    return True


def name_of(where: Where) -> str:
    """The name of a number: its fields, without the index of an element of an array."""
    return ".".join(str(part) for part in where)


def _numbers(lanes: list[Lane]) -> list[int | None]:
    return [lane.value for lane in lanes]


def globals_of(kernel: Kernel) -> dict[str, Any]:
    function: Any = unwrap(kernel.golden)
    while hasattr(function, "func"):
        function = unwrap(function.func)
    return getattr(function, "__globals__", {})


def unknown_input(kernel: Kernel, where: Where, value: Any, known: frozenset[str], inputs: dict[Where, Read]) -> Any:
    name = name_of(where)
    if name in known or not known.isdisjoint(map(str, where)):
        return value
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "iub" and not is_floating(value.dtype):
            raise Untraceable(f"the input {name} holds {value.dtype}, which is not among what can be traced")
        elements = np.empty(value.shape, object)
        for number, at in enumerate(np.ndindex(value.shape)):
            inputs[(*where, *at)] = elements[at] = Read(
                Place(f"in.{name}", number), *number_range(kernel, where, value.dtype)
            )
        elements.flags.writeable = False
        return SymbolicArray(elements, value.dtype)
    if isinstance(value, np.integer | np.float32 | np.float64):
        lane = inputs[where] = Read(Place(f"in.{name}"), *number_range(kernel, where, value.dtype))
        scalar = np.empty((), object)
        scalar[()] = lane
        return SymbolicArray(scalar, value.dtype, scalar=True)
    if type(value) is int:
        lane = inputs[where] = Read(Place(f"in.{name}"), *number_range(kernel, where, _dtype(kernel, where)))
        return SymbolicInt(lane)
    return rebuilt(value, lambda key, part: unknown_input(kernel, (*where, key), part, known, inputs))


def _dtype(kernel: Kernel, where: Where) -> np.dtype[Any]:
    """The dtype of the argument that has the number's name; where there is none, int32."""
    types = [a.type for a in kernel.signature.arguments if isinstance(a, ScalarArgument) and a.name == where[-1]]
    types += [dtype for name, dtype in number_types(kernel.signature) if name == name_of(where)]
    return types[0] if types and types[0].kind in "iu" else np.dtype("int32")


def _domain(kernel: Kernel, where: Where) -> Domain:
    named = tuple(part for part in where if isinstance(part, str))
    names = [name_of(named), named[-1], named[0]]
    return next((kernel.domain[name] for name in names if name in kernel.domain), Domain())


def number_range(kernel: Kernel, where: Where, dtype: np.dtype[Any]) -> tuple[int, int]:
    if dtype.kind == "f":
        return 0, (1 << 8 * dtype.itemsize) - 1
    edges = [int(edge) for edge in _domain(kernel, where).edges(dtype).tolist()]
    return min(edges), max(edges)


def _bits(number: Any) -> int:
    """A number as a lane has it."""
    return bits_of(number, number.dtype) if isinstance(number, np.floating) else int(number)


def in_domain(kernel: Kernel, where: Where, lane: Read, own: Any) -> Iterator[Lane]:
    """What a number of the range must fulfil to be in the domain, where the domain has gaps."""
    domain = _domain(kernel, where)
    if isinstance(own, np.floating):
        yield from _floats_in_domain(domain, lane, own.dtype)
        return
    if domain.choices:
        yield negated(
            reduce(lambda a, b: settled(a & b), [negated(equal(lane, constant(int(n)))) for n in domain.choices])
        )
        return
    low = lane.low if domain.low is None else int(domain.low)
    high = lane.high if domain.high is None else int(domain.high)
    if (low, high) != (lane.low, lane.high):
        outside = settled(less(lane, constant(low)) | less(constant(high), lane))
        others = [negated(equal(lane, constant(int(number)))) for number in domain.corners]
        yield negated(reduce(lambda a, b: settled(a & b), others, outside))


def _floats_in_domain(domain: Domain, lane: Read, dtype: np.dtype[Any]) -> Iterator[Lane]:
    usual = [number for number in (domain.low, domain.high) if number is not None]
    if not usual and not domain.choices:
        return
    one_of = [equal(lane, constant(bits_of(number, dtype))) for number in domain.choices or domain.corners]
    if not domain.choices:
        at_least = operation("greater_or_equal", format_of(dtype), U1)
        low, high = (None if n is None else constant(bits_of(n, dtype)) for n in (domain.low, domain.high))
        bounds = [
            *([at_least(lane, low)] if low is not None else []),
            *([at_least(high, lane)] if high is not None else []),
        ]
        one_of.append(reduce(lambda a, b: settled(a & b), bounds))
    yield negated(reduce(lambda a, b: settled(a & b), map(negated, one_of)))


def _outputs(kernel: Kernel, given: Any, arguments: Inputs) -> dict[str, list[Lane]]:
    if not isinstance(given, Mapping):
        raise KernelError(f"the golden reference of {kernel.name} must return its outputs by name")
    pointers = [p for p in kernel.signature.outputs if p.direction == "out" or arguments.get(p.name) is not None]
    wanted: dict[str, tuple[str, tuple[int, ...]]] = {p.name: (p.dtype, extents(p, arguments)) for p in pointers}
    if kernel.signature.returns:
        wanted[RETURNED] = (kernel.signature.returns, ())
    if set(given) != set(wanted):
        raise KernelError(f"the golden reference of {kernel.name} returns {sorted(given)}: it must be {sorted(wanted)}")
    found = {}
    for name, (dtype, shape) in wanted.items():
        array = array_of(given[name])
        if array.dtype != np.dtype(dtype) or array.shape != shape:
            made = f"{array.dtype}{list(array.shape)}"
            raise KernelError(
                f"the golden reference of {kernel.name} returns {made} as {name!r}: it must be {dtype}{list(shape)}"
            )
        found[name] = [simplified(lane) for lane in array.elements.ravel().tolist()]
    return found


def _arguments(kernel: Kernel, arguments: Inputs) -> dict[str, list[Lane]]:
    found = {}
    types, given = dict(number_types(kernel.signature)), flattened(arguments)
    for struct in kernel.signature.blocks:
        if not isinstance(arguments.get(struct.name), Mapping | None):
            raise Untraceable(f"the structure {struct.name} of {kernel.title} is given without the names of its fields")
    for argument in kernel.signature.arguments:
        if isinstance(argument, Pointer | ScalarArgument):
            types[argument.name] = np.dtype(argument.dtype)
    for name, dtype in types.items():
        value = given.get(name)
        if value is None or (not is_symbolic(value) and np.asarray(value).dtype.kind == "f"):
            continue
        found[name] = [simplified(lane) for lane in array_of(value).astype(dtype).elements.ravel().tolist()]
    return found


def is_refusal(kernel: Kernel, example: Inputs, inputs: Mapping[Where, Read], way: Way[Any], given: Lane) -> bool:
    """Whether some input goes this way, and the reference itself refuses it.

    It goes the same way for all of them, so that one tells of all.  Raises Untraceable where it does not refuse it.
    """
    answer = Solver(time.monotonic() + SECONDS_FOR_AN_INPUT).check(*cut_out([given]))
    if isinstance(answer, Impossible):
        return False
    if isinstance(answer, Found):
        try:
            tried = _with_values(example, inputs, answer.values)
            kernel.arguments(tried)
            kernel.golden(tried)
        except Exception as error:
            if type(error) is type(way.raised):
                return True
        else:
            assert way.raised is not None
            raised = f"{type(way.raised).__name__}: {way.raised}"
            raise Untraceable(f"{line_raising(way.raised)}: traced, the golden reference raises {raised}")
    raise Untraceable(f"it is not known which inputs the golden reference refuses: {way.raised}")


def _with_values(example: Inputs, inputs: Mapping[Where, Read], values: Mapping[Place, int]) -> Inputs:
    """The example with numbers for the unknown ones; those without a value are as near to 0 as they may be."""

    def number(where: Where, own: Any) -> Any:
        lane = inputs.get(where)
        if lane is None:
            return own
        chosen = values.get(lane.place, min(max(0, lane.low), lane.high))
        if isinstance(own, np.floating):
            return np.array(chosen, f"u{own.itemsize}").view(own.dtype)[()]
        return type(own)(chosen)

    return edited(example, number)
