"""What a stream of instructions works on, so that its cycles can be told per unit of work."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from isa.instruction import Instruction
from isa.lane import Binary, Floating, walk
from sim.timing.model.stream import Executed
from sim.timing.native.array_stream import array_stream

_FLOATING: Final = ("multiply", "multiply_add", "multiply_extended")
_REDUCES: Final = 4
"""With so many products for each output it is the products that take the time, not the outputs."""


class Work(NamedTuple):
    """Bytes loaded and stored, products of lanes (with or without an addition), and outputs (0: not known).

    `elements` are what somebody says that it works on, 0 where nobody does.
    """

    bytes: int
    products: int
    outputs: int
    elements: int = 0

    @property
    def unit(self) -> str:
        """What its cycles are told per: "element" where they are said, "product" of a reduction, else "output", if
        known, else "byte".
        """
        if self.elements:
            return "element"
        if self.products and self.products >= _REDUCES * self.outputs:
            return "product"
        return "output" if self.outputs else "byte"

    @property
    def units(self) -> int:
        """How many of these it does; 0 where it does nothing that is counted."""
        return {"element": self.elements, "product": self.products, "output": self.outputs, "byte": self.bytes}[
            self.unit
        ]

    @property
    def operations(self) -> int:
        """As GOPS count them: a product is two, a multiplication and an addition."""
        return 2 * self.products


def work_of(stream: Sequence[Executed], outputs: int) -> Work:
    """The work of what was executed, of which `outputs` elements are known to come."""
    arrays = array_stream(stream)
    transferred = int(arrays.loads.sizes.sum()) + int(arrays.stores.sizes.sum())
    executed = zip(arrays.sites, arrays.executions.tolist(), strict=True)
    return Work(transferred, sum(_products(instruction) * times for (_, instruction), times in executed), outputs)


@lru_cache(maxsize=4096)
def _products(instruction: Instruction) -> int:
    nodes = list(walk(instruction.lanes))
    integers = sum(isinstance(node, Binary) and node.operator == "multiply" for node in nodes)
    return integers + sum(isinstance(node, Floating) and node.operation.name in _FLOATING for node in nodes)
