"""Where a wrong output lane of an implementation leaves the golden reference: the call is recorded and traced back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from isa.lane import Place
from sim.call.buffers import PlacedArray
from sim.call.call import Implementation, Recorded
from sim.check.blame import Calibration, Dependences, Lineage, Parting, find_parting
from sim.check.compare import Value, WrongLane, as_value
from sim.check.origin import MEMORY, LaneOrigin, Node, bits_of, decided_origin_of, origin_of
from sim.check.vectors import Vectors, call_seed
from sim.kernels.extent import element_name, names_in
from sim.kernels.kernel import Kernel, steps_at
from sim.kernels.signature import RETURNED, Pointer, extents, is_given, steps_in_elements

NEAREST, CLEAREST = 8, 24
"""Right lanes to learn from: neighbours run the same code, other calls give each instruction other values."""
_COMMON = frozenset([1, -1])
"""They, their doubles and 0 stand everywhere in a computation and tell nothing."""
Position = tuple[int, ...]


@dataclass(frozen=True)
class TracedLane:
    """Where the lane parted and the golden value of that step (None: no golden step computes anything), the array
    elements it came from, and what computed it last (None: it was never written).  `is_bound`: these only decided it.
    """

    parting: Parting | None
    golden_step: Value | None
    elements: tuple[str, ...]
    written: bool
    writer: Node | None
    is_bound: bool

    @property
    def came_from(self) -> tuple[str, ...]:
        if not self.written:
            return ("nothing: it was never written",)
        return self.elements or ("no element of any array",)


class LaneTracer:
    """Traces lanes of one implementation on some vectors."""

    def __init__(self, kernel: Kernel, vectors: Vectors, implementation: Implementation) -> None:
        self._kernel, self._vectors, self._implementation = kernel, vectors, implementation
        self._records: dict[int, tuple[dict[str, int], list[Recorded]]] = {}
        self._golden_steps: dict[int, Mapping[str, np.ndarray]] = {}

    def distinct_steps(self, number: int, position: Position) -> int:
        """How well the golden steps of a lane can be told from each other: by how many different large odd parts.

        A shift by another count makes of one step a number that only its odd part tells from the next.
        """
        values = self._steps(number, position).values()
        return len({value // (value & -value) for value in values if value} - _COMMON)

    def trace(self, wrong: WrongLane, right: Sequence[Position], right_sets: Sequence[int]) -> TracedLane:
        """Repeat the call of a wrong lane and trace the lane back.

        `right` are the positions of the same array that agree in that call, `right_sets` the input sets in which the
        position of the wrong lane agrees: what the implementation does there says which instruction computes what.
        """
        lineage = self._lineage(wrong.number, wrong.output, wrong.place)
        near = sorted(right, key=lambda at: sum(abs(a - b) for a, b in zip(wrong.place, at, strict=True)))
        clear = sorted(right_sets, key=lambda number: -self.distinct_steps(number, wrong.place))
        chosen = [(wrong.number, at) for at in near[:NEAREST]] + [(number, wrong.place) for number in clear[:CLEAREST]]
        calibration = Calibration.of([self._lineage(number, wrong.output, at) for number, at in chosen], lineage)
        elements = tuple(self._names(wrong.number, lineage.origin))
        parted = find_parting(lineage, calibration, self._dependences(wrong.number))
        golden = None if parted is None else as_value(self._golden_steps_of(wrong.number)[parted.step][wrong.place])
        writer = max(lineage.origin.nodes, key=lambda node: node.index, default=None)
        return TracedLane(parted, golden, elements, lineage.is_written, writer, lineage.is_bound)

    def _record(self, number: int) -> tuple[dict[str, int], list[Recorded]]:
        """The buffers' addresses and all that call `number` executes."""
        if number not in self._records:
            arguments = self._kernel.arguments(self._vectors.inputs[number])
            self._records[number] = self._implementation.record(arguments, call_seed(self._vectors, number))
        return self._records[number]

    def _steps(self, number: int, position: Position) -> dict[str, int]:
        """The golden steps of one lane, floating-point ones as their bits."""
        return {name: bits_of(value) for name, value in steps_at(self._golden_steps_of(number), position).items()}

    def _golden_steps_of(self, number: int) -> Mapping[str, np.ndarray]:
        """Those of a whole input set, computed once."""
        if number not in self._golden_steps:
            self._golden_steps[number] = self._kernel.golden_steps(self._vectors.inputs[number])
        return self._golden_steps[number]

    def _dependences(self, number: int) -> Dependences | None:
        """By golden step what of an input set it depends on; None where the golden reference refuses to tell.

        That is found by changing one thing at a time: an array is turned round, all else is taken from another set.
        """
        inputs, steps = self._vectors.inputs[number], self._golden_steps_of(number)
        extents = {name for p in self._kernel.signature.pointers for extent in p.shape for name in names_in(extent)}
        found: dict[str, set[str]] = {name: set() for name in steps}
        for name, own in inputs.items():
            if isinstance(own, np.ndarray):
                other = np.flip(own)
            elif name not in extents:
                other = next((o[name] for o in self._vectors.inputs if repr(o.get(name, own)) != repr(own)), own)
            else:
                continue
            try:
                changed = self._kernel.steps({**inputs, name: other})
            except Exception:  # the user's own code raises anything
                return None
            for step, values in steps.items():
                if not np.array_equal(values, changed[step]):
                    found[step].add(name)
        return {step: frozenset(names) for step, names in found.items()}

    def _reached(self, number: int, origin: LaneOrigin) -> dict[str, dict[int, Position]]:
        """Which elements are in the memory that a lane came from, by the arrays that have some: address, position."""
        addresses, _ = self._record(number)
        arguments = self._kernel.arguments(self._vectors.inputs[number])
        found = dict[str, dict[int, Position]]()
        for pointer in self._inputs():
            if arguments.get(pointer.name) is None:
                continue
            shape, steps = extents(pointer, arguments), steps_in_elements(pointer, arguments)
            placed = PlacedArray(pointer, addresses[pointer.name], shape, steps)
            size, reached = _item_size(pointer), dict[int, Position]()
            for byte in sorted(byte for byte in origin.memory if 0 <= byte - placed.address < placed.size):
                position = placed.position_of(byte)
                if all(at < extent for at, extent in zip(position, shape, strict=True)):
                    reached[byte - (byte - placed.address) % size] = position
            if reached:
                found[pointer.name] = reached
        return found

    def _names(self, number: int, origin: LaneOrigin) -> Iterator[str]:
        """The elements that a lane came from."""
        for name, elements in self._reached(number, origin).items():
            for position in elements.values():
                yield element_name(name, position)

    def _lineage(self, number: int, output: str, position: Position) -> Lineage:
        """A lane and its way, with what decided it where it comes from more arrays so.

        That of a bound which was chosen is no more than the bound: what the inputs made was compared with it.
        """
        addresses, trace = self._record(number)
        inputs, numbers = dict[str, int](), dict[str, int]()
        arguments = self._kernel.arguments(self._vectors.inputs[number])
        for pointer in self._inputs():
            if not self._names_another_step(pointer, number, output):
                offset = self._offset(pointer, number, output, position)
                inputs[pointer.name] = addresses[pointer.name] + offset
                array, element = arguments.get(pointer.name), offset // _item_size(pointer)
                if pointer.strides or pointer.indirect or not isinstance(array, np.ndarray):
                    continue
                if array.dtype.kind in "biuf" and element < array.size:
                    numbers[pointer.name] = bits_of(array.ravel()[element])
        steps, signature = self._steps(number, position), self._kernel.signature
        if signature.returns and output == RETURNED:
            spot: tuple[int, int, Place | str] = (0, np.dtype(signature.returns).itemsize, signature.result)
        else:
            pointer = next(p for p in signature.outputs if p.name == output)
            offset = self._offset(pointer, number, output, position)
            if (register := signature.result_byte(output, offset)) is not None:
                spot = (register[1], _item_size(pointer), register[0])
            else:
                spot = (addresses[output] + offset, _item_size(pointer), MEMORY)
        origin = origin_of(trace, *spot)
        reached = self._reached(number, origin)
        is_bound = not reached
        if len(reached) < len(self._inputs()):
            decided = decided_origin_of(trace, *spot)
            more = self._reached(number, decided)
            origin, reached = (decided, more) if len(more) > len(reached) else (origin, reached)
        arrays = {name: frozenset(elements) for name, elements in reached.items()}
        address = spot[0] if spot[2] == MEMORY else 0
        return Lineage(
            address=address, origin=origin, steps=steps, inputs=inputs, numbers=numbers, arrays=arrays,
            is_bound=is_bound,
        )  # fmt: skip

    def _offset(self, pointer: Pointer, number: int, output: str, position: Position) -> int:
        """Bytes from an array's start to its element at that position of an output, or as many elements from it on.

        Of an array that lacks axes of the output, such as a number for each channel, those that it has say where.
        """
        arguments = self._kernel.arguments(self._vectors.inputs[number])
        if (along := self._along(pointer, output)) is not None:
            position = tuple(position[axis] for axis in along)
        if len(position) == len(pointer.shape):
            strides = steps_in_elements(pointer, arguments)
            return sum(at * stride for at, stride in zip(position, strides, strict=True)) * _item_size(pointer)
        shape = self._vectors.golden[number][output].shape
        element = int(np.ravel_multi_index(position, shape)) if shape else 0  # the result has no axes
        return element * _item_size(pointer)

    def _names_another_step(self, pointer: Pointer, number: int, output: str) -> bool:
        """Whether a golden step of an output has the array's name and is not its elements, such as `shift` beside
        `shift[channels]`.

        The numbers of the call tell: those of the step are not all those of the array.
        """
        step = self._golden_steps_of(number).get(pointer.name)
        array = self._kernel.arguments(self._vectors.inputs[number]).get(pointer.name)
        shape = self._vectors.golden[number][output].shape
        if step is None or step.shape != shape or not isinstance(array, np.ndarray):
            return False
        if (along := self._along(pointer, output)) is not None:
            lanes = np.indices(step.shape)
            array = array[tuple(lanes[axis] for axis in along)]
        return not np.array_equal(array.ravel()[: step.size], step.ravel(), equal_nan=True)

    def _along(self, pointer: Pointer, output: str) -> list[int] | None:
        """Along which axes of an output an array goes that lacks some of them, by number; None for another array."""
        axes = next((one.shape for one in self._kernel.signature.outputs if one.name == output), ())  # none of a result
        lacks_some = len(pointer.shape) < len(axes) and set(pointer.shape) <= set(axes)
        return [axes.index(axis) for axis in pointer.shape] if lacks_some else None

    def _inputs(self) -> list[Pointer]:
        return [pointer for pointer in self._kernel.signature.pointers if is_given(pointer)]


def _item_size(pointer: Pointer) -> int:
    return np.dtype(pointer.dtype).itemsize
