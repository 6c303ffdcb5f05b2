"""One build of a kernel on input sets of a check, run again and again with instructions replaced."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import Final

import numpy as np

from isa.instruction import Instruction
from sim.call.call import MAX_INSTRUCTIONS
from sim.call.prepared import PreparedCall, Repeater
from sim.check.vectors import Vectors
from sim.kernels.inputs import cut, in_domain, sizes_of
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
WAYS: Final = 4
"""Failing calls by which the way is told that the code takes."""
CUT: Final = 3
"""So many of the shortest failing input sets are cut, where they are long."""
SHORT: Final = 2_000
"""Instructions of a call that is short enough."""
LENGTHS: Final = (1, 2, 4, 8, 16, 32, 64, 128)
"""Elements that one axis is cut to, of any of at most so many windows:"""
WINDOWS: Final = 64
OBSERVED: Final = 100_000
"""Instructions after which the slots of the stack are known."""
PER_CHANGE: Final = 1_000
"""What making a changed instruction ready costs, in instructions."""
PER_CALL: Final = 300
"""What making a call ready costs, in instructions."""


class RepairTrials:
    """Which replaced instructions make every lane right.

    `failing` are the numbers of input sets that the build has wrong, `spent` the instructions that all runs took.
    """

    def __init__(self, image: Image, kernel: Kernel, vectors: Vectors) -> None:
        self._repeater, self._kernel = Repeater(image, kernel), kernel
        self._inputs, self._golden = [*vectors.inputs], [*vectors.golden]
        self._took: dict[int, int] = {}
        self._calls: dict[int, PreparedCall] = {}
        self.spent = 0
        failing, right = list[int](), list[int]()
        for number in sorted(range(len(vectors.inputs)), key=lambda number: _elements(vectors.inputs[number])):
            (right if self._is_right(number, MAX_INSTRUCTIONS) else failing).append(number)
            if self.spent > FIRST_RUN and failing:
                break
        shortest = sorted(failing, key=self._took.__getitem__)[: CUT if kernel.is_drawn else 0]
        failing += [number for one in shortest if self._took[one] > SHORT for number in self._cut(one)]
        self.failing = sorted(failing[:: len(failing) // FAILING + 1], key=self._took.__getitem__)
        some = right[:: len(right) // SOME + 1]
        self._failing, self._right = [*self.failing], [*some, *(number for number in right if number not in some)]
        self._wrong: dict[str, np.ndarray] | None = None
        self._way: Counter[int] | None = None

    @property
    def instructions(self) -> Mapping[int, Instruction]:
        """The instructions that were executed, by address."""
        return self._repeater.instructions

    def are_right_with(self, replaced: Mapping[int, Instruction]) -> bool:
        """Whether every lane is right with these instructions, by address, in the place of others.

        What is right because a part of the code is no longer executed, such as a loop that is passed by, is not.
        """
        self._repeater.patch(replaced)
        self.spent += PER_CHANGE * len(replaced)
        try:
            return (
                self._are_right(self._failing)
                and not self._goes_another_way_with(replaced)
                and self._are_right(self._right)
            )
        except ValueError:  # numbers that no instruction makes, such as those of a shift by 2^32
            return False

    def matters(self, replaced: Mapping[int, Instruction]) -> bool:
        """Whether a lane of the shortest failing call that is wrong becomes another number, or the call fails."""
        self._repeater.patch({})
        before = self._wrong_lanes()
        self._repeater.patch(replaced)
        try:
            return before is None or before != self._wrong_lanes()
        except ValueError:
            return True

    def _wrong_lanes(self) -> list[bytes] | None:
        """What the shortest failing call makes of the lanes that are wrong without a change; None where it fails."""
        number = self.failing[0]
        outputs, executed = self._repeater.run(self._calls[number], 2 * self._took[number] + 100)
        self.spent += executed + PER_CALL
        if outputs is None:
            return None
        if self._wrong is None:
            golden = self._golden[number]
            self._wrong = {name: ~agreement(outputs[name], golden[name], self._kernel.tolerance) for name in golden}
        return [outputs[name][wrong].tobytes() for name, wrong in self._wrong.items()]

    def _are_right(self, numbers: list[int]) -> bool:
        for position, number in enumerate(numbers):
            if not self._is_right(number, 2 * self._took[number] + 100):
                if self._took[number] <= 2 * self._took[numbers[0]]:
                    numbers.insert(0, numbers.pop(position))  # what refutes one may refute the next
                return False
        return True

    def _goes_another_way_with(self, replaced: Mapping[int, Instruction]) -> bool:
        """Whether failing calls pass by a part of the code, and execute another more often for it."""
        if self._way is None:
            self._way = self._executions({})
        before, now = self._way, self._executions(replaced)
        passed_by = before.keys() - now.keys()
        return len(passed_by) * PASSED_BY > len(before) and any(now[pc] > before[pc] for pc in now)

    def _executions(self, replaced: Mapping[int, Instruction]) -> Counter[int]:
        """How often some failing calls execute each instruction, by address."""
        self._repeater.patch(replaced)
        limits = {number: 2 * self._took[number] + 100 for number in self.failing[:WAYS]}
        return Counter(pc for number, most in limits.items() for pc in self._repeater.path(self._calls[number], most))

    @cached_property
    def reached(self) -> frozenset[int]:
        """The addresses of the instructions that the shortest failing call executes."""
        self._repeater.patch({})
        number = self.failing[0]
        return frozenset(self._repeater.path(self._calls[number], self._took[number]))

    def slots(self) -> dict[int, int]:
        """The slots of the stack that instructions read or write, by address; those that reach only one, always."""
        self._repeater.patch({})
        found: dict[int, set[int]] = {}
        seen = 0
        for number in (*self._failing, *self._right):
            for pc, slot in self._repeater.slots(self._calls[number], self._took[number]):
                found.setdefault(pc, set()).add(slot)
            seen += self._took[number]
            if seen > OBSERVED:
                break
        return {pc: slot for pc, (slot, *others) in found.items() if not others}

    def _cut(self, number: int) -> list[int]:
        """A failing input set cut to what still fails, as the number that it gets; none where nothing shorter does."""
        inputs, found = self._inputs[number], list[int]()
        for size in sizes_of(self._golden[number], inputs):
            for length in (length for length in LENGTHS if length < size):
                starts = range(0, size, length)
                if len(starts) > WINDOWS:
                    continue
                shorter = next((s for start in starts if (s := self._fails(cut(inputs, size, start, length)))), None)
                if shorter is not None:
                    found, inputs = [shorter], self._inputs[shorter]
                    break
        return found

    def _fails(self, inputs: Inputs) -> int | None:
        """The number under which a further input set is kept, if it fails; None if it does not or is none."""
        number = len(self._inputs)
        try:
            golden = self._kernel.expected(inputs)
            self._calls[number] = self._repeater.prepare(inputs, number)
        except Exception:  # the user's own code raises anything
            return None
        if not in_domain(self._kernel, inputs):
            return None
        self._inputs.append(inputs)
        self._golden.append(golden)
        return None if self._is_right(number, MAX_INSTRUCTIONS) else number

    def _is_right(self, number: int, limit: int) -> bool:
        if number not in self._calls:
            self._calls[number] = self._repeater.prepare(self._inputs[number], number)
        outputs, executed = self._repeater.run(self._calls[number], limit)
        self._took.setdefault(number, executed)
        self.spent += executed + PER_CALL
        golden, tolerance = self._golden[number], self._kernel.tolerance
        return outputs is not None and all(agreement(outputs[name], golden[name], tolerance).all() for name in golden)


def _elements(inputs: Inputs) -> int:
    return sum(value.size for value in inputs.values() if isinstance(value, np.ndarray))
