"""Where a wrong output lane of an implementation leaves the golden reference: the call is recorded and traced back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sim.check.blame import Calibration, Lineage, Origin, Parting, origin_of, parting
from sim.check.call import Implementation, Recorded
from sim.check.vectors import Vectors, call_seed
from sim.kernels.kernel import Kernel
from sim.kernels.signature import Pointer

RIGHT_LANES = 8
Lane = tuple[int, ...]


@dataclass(frozen=True)
class Finding:
    """Where the lane parted (None: every step appears), and the array elements it came from."""

    parting: Parting | None
    elements: tuple[str, ...]
    written: bool

    @property
    def came_from(self) -> str:
        if not self.written:
            return "nothing: it was never written"
        return ", ".join(self.elements) or "no element of any array"


class Detective:
    """Traces lanes of one implementation on some vectors."""

    def __init__(self, kernel: Kernel, vectors: Vectors, implementation: Implementation) -> None:
        self._kernel, self._vectors, self._implementation = kernel, vectors, implementation
        self._records: dict[int, tuple[dict[str, int], list[Recorded]]] = {}

    def clarity(self, number: int, lane: Lane) -> int:
        """How well the golden steps of a lane can be told from each other: by how many different large values."""
        return len({value for value in self._steps(number, lane).values() if abs(value) > 2})

    def investigate(self, number: int, output: str, lane: Lane, right: Sequence[Lane]) -> Finding:
        """Repeat call `number` and trace one wrong lane of it; `right` are lanes of the same output that agree."""
        addresses, trace = self._record(number)
        chosen = self._telling(number, lane, right)
        calibration = Calibration.of([self._lineage(number, output, other, addresses, trace) for other in chosen])
        lineage = self._lineage(number, output, lane, addresses, trace)
        elements = tuple(self._elements(lineage.origin, addresses, number))
        return Finding(parting(lineage, calibration), elements, lineage.is_written)

    def _record(self, number: int) -> tuple[dict[str, int], list[Recorded]]:
        """The buffers' addresses and all that call `number` executes."""
        if number not in self._records:
            arguments = self._kernel.arguments(self._vectors.inputs[number])
            self._records[number] = self._implementation.record(arguments, call_seed(self._vectors, number))
        return self._records[number]

    def _telling(self, number: int, lane: Lane, right: Sequence[Lane]) -> set[Lane]:
        """The nearest right lanes, which the same code may have computed, and the clearest ones."""
        distances = {other: sum(abs(a - b) for a, b in zip(lane, other, strict=True)) for other in right}
        nearest = sorted(right, key=lambda other: distances[other])[:RIGHT_LANES]
        clearest = sorted(right, key=lambda other: (-self.clarity(number, other), other))[:RIGHT_LANES]
        return {*nearest, *clearest}

    def _steps(self, number: int, lane: Lane) -> dict[str, int]:
        steps = self._kernel.steps(self._vectors.inputs[number])
        return {name: int(values[lane]) for name, values in steps.items()}

    def _lineage(
        self, number: int, output: str, lane: Lane, addresses: Mapping[str, int], trace: Sequence[Recorded]
    ) -> Lineage:
        pointer = next(p for p in self._kernel.signature.outputs if p.name == output)
        element = int(np.ravel_multi_index(lane, self._vectors.golden[number][output].shape))
        address = addresses[output] + element * _item_size(pointer)
        origin = origin_of(trace, address, _item_size(pointer))
        inputs = {p.name: addresses[p.name] + element * _item_size(p) for p in self._inputs()}
        return Lineage(address, origin, self._steps(number, lane), inputs)

    def _inputs(self) -> list[Pointer]:
        return [pointer for pointer in self._kernel.signature.pointers if pointer.direction != "out"]

    def _elements(self, origin: Origin, addresses: Mapping[str, int], number: int) -> Iterator[str]:
        """The array elements among the bytes that a lane started from."""
        arguments = self._kernel.arguments(self._vectors.inputs[number])
        for pointer in self._inputs():
            array = arguments.get(pointer.name)
            size = 0 if array is None else array.size
            offsets = (byte - addresses[pointer.name] for byte in origin.memory)
            elements = {offset // _item_size(pointer) for offset in offsets}
            yield from (f"{pointer.name}[{element}]" for element in sorted(elements) if 0 <= element < size)


def _item_size(pointer: Pointer) -> int:
    return np.dtype(pointer.dtype).itemsize
