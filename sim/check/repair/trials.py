"""One build of a kernel on input sets of a check, run again and again with instructions replaced."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from isa.instruction import Instruction
from sim.call.call import MAX_INSTRUCTIONS
from sim.call.prepared import Repeater
from sim.check.vectors import Vectors
from sim.kernels.kernel import Inputs, Kernel
from sim.kernels.tolerance import agreement
from sim.toolchain.image import Image

FIRST_RUN: Final = 600_000
"""Instructions that running the input sets once may take; the small ones come first."""
FAILING: Final = 40
"""Input sets that fail, on which a replaced instruction is tried, at most."""
SOME: Final = 20
"""So many of those that are right come before the others: they refute most of what the failing ones do not."""
PASSED_BY: Final = 8
"""A part of the code is an eighth of it and more; a bound that is met more rarely passes by a few instructions."""
PER_CALL: Final = 300
"""What making a call ready costs, in instructions."""


class RepairTrials:
    """Which replaced instructions make every lane right.

    `failing` are the numbers of input sets that the build has wrong, `spent` the instructions that all runs took.
    """

    def __init__(self, image: Image, kernel: Kernel, vectors: Vectors) -> None:
        self._repeater, self._image, self._kernel, self._vectors = Repeater(image, kernel), image, kernel, vectors
        self._took: dict[int, int] = {}
        self._calls = {}
        self.spent = 0
        failing, right = list[int](), list[int]()
        for number in sorted(range(len(vectors.inputs)), key=lambda number: _elements(vectors.inputs[number])):
            self._calls[number] = self._repeater.prepare(vectors.inputs[number], number)
            (right if self._is_right(number, MAX_INSTRUCTIONS) else failing).append(number)
            if self.spent > FIRST_RUN and failing:
                break
        self.failing = sorted(failing[:: len(failing) // FAILING + 1], key=self._took.__getitem__)
        some = right[:: len(right) // SOME + 1]
        self._order = [*self.failing, *some, *(number for number in right if number not in some)]

    @property
    def instructions(self) -> Mapping[int, Instruction]:
        """The instructions that were executed, by address."""
        return self._repeater.instructions

    def are_right_with(self, replaced: Mapping[int, Instruction]) -> bool:
        """Whether every lane is right with these instructions, by address, in the place of others."""
        self._repeater.patch(replaced)
        for position, number in enumerate(self._order):
            if not self._is_right(number, 2 * self._took[number] + 100):
                self._order.insert(0, self._order.pop(position))  # what refutes one may refute the next
                return False
        return True

    def goes_another_way_with(self, replaced: Mapping[int, Instruction]) -> bool:
        """Whether a part of the code is then no longer executed by any call, such as a loop that is passed by."""
        other = Repeater(self._image, self._kernel)
        other.patch(replaced)
        for number in self._order:
            other.run(other.prepare(self._vectors.inputs[number], number), 2 * self._took[number] + 100)
        return len(self.instructions.keys() - other.instructions.keys()) * PASSED_BY > len(self.instructions)

    def _is_right(self, number: int, limit: int) -> bool:
        outputs, executed = self._repeater.run(self._calls[number], limit)
        self._took.setdefault(number, executed)
        self.spent += executed + PER_CALL
        golden, tolerance = self._vectors.golden[number], self._kernel.tolerance
        return outputs is not None and all(agreement(outputs[name], golden[name], tolerance).all() for name in golden)


def _elements(inputs: Inputs) -> int:
    return sum(value.size for value in inputs.values() if isinstance(value, np.ndarray))
