"""One build of a kernel on input sets of a check, run again and again with instructions replaced."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np

from isa.instruction import Instruction
from isa.lane import Place
from sim.call.call import MAX_INSTRUCTIONS
from sim.call.prepared import PER_CALL, PreparedCall, Repeater
from sim.check.aim.candidates import candidates, elements_of
from sim.check.vectors import Vectors
from sim.kernels.input_tree import Where
from sim.kernels.inputs import Samples, cut, edited, fitted, is_valid, numbers_of, sizes_of
from sim.kernels.kernel import Inputs, Kernel, KernelError
from sim.kernels.tolerance import agreement, all_agree
from sim.toolchain.image import Image

MATTERING: Final = 3
"""Failing calls on which it is seen whether an instruction matters: in one, a table may have one number for all."""
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
ALL_REACH: Final = 12
"""Failing calls that all execute what is at fault."""
CUT: Final = 3
"""So many of the shortest failing input sets are cut, where they are long."""
SHORT: Final = 2_000
"""Instructions of a call that is short enough."""
LENGTHS: Final = (1, 2, 4, 8, 16, 32, 64, 128)
"""Elements that one axis is cut to, of any of at most so many windows:"""
WINDOWS: Final = 64
FRESH: Final = 1_000_000
"""Instructions that running further input sets may take, on which what seems right must be right as well."""
SAMPLES, FEW = 200, 4
"""Of such input sets, and the elements that some of them have at most."""
TRIED, CHANGED = 160, 3
"""Neighbours of failing input sets that are tried, and the numbers that one has otherwise at most."""
OBSERVED: Final = 100_000
"""Instructions after which the slots of the stack are known."""
LONGER: Final = 8
"""So many times as long a changed call may take: at -O0 one by one, what was not looked at, and not sixteen at once."""
PER_CHANGE: Final = 1_000
"""What making a changed instruction ready costs, in instructions."""


class _Further(NamedTuple):
    """The number under which an input set is kept, and whether the build has it right."""

    number: int
    is_right: bool


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
        for number in sorted(range(len(vectors.inputs)), key=lambda number: elements_of(vectors.inputs[number])):
            (right if self._is_right(number, MAX_INSTRUCTIONS) else failing).append(number)
            if self.spent > FIRST_RUN and failing:
                break
        shortest = sorted(failing, key=self._took.__getitem__)[: CUT if kernel.is_drawn else 0]
        failing += [number for one in shortest if self._took[one] > SHORT for number in self._cut(one)]
        self.failing = sorted(failing[:: len(failing) // FAILING + 1], key=self._took.__getitem__)
        self._left_over, self._seed = [number for number in failing if number not in self.failing], vectors.seed + 1
        some = right[:: len(right) // SOME + 1]
        self._failing, self._right = [*self.failing], [*some, *(number for number in right if number not in some)]
        self._wrong: dict[int, dict[str, np.ndarray]] = {}
        self._way: Counter[int] | None = None

    @property
    def instructions(self) -> Mapping[int, Instruction]:
        """The instructions that were executed, by address."""
        return self._repeater.instructions

    def are_right_with(self, replaced: Mapping[int, Instruction]) -> bool:
        """Whether every lane is right with these instructions, by address, in the place of others.

        What is right because a part of the code is no longer executed, such as a loop that is passed by, is not.  What
        is right otherwise has to be so on input sets too that had no part in finding it.
        """
        self._repeater.patch(replaced)
        self.spent += PER_CHANGE * len(replaced)
        try:
            if (
                not self._are_right(self._failing)
                or self._goes_another_way_with(replaced)
                or not self._are_right(self._right)
            ):
                return False
            fresh = self._fresh  # which runs them as compiled
            self._repeater.patch(replaced)
            return self._are_right(fresh)
        except ValueError:  # numbers that no instruction makes, such as those of a shift by 2^32
            return False

    def matters(self, replaced: Mapping[int, Instruction]) -> bool:
        """Whether a wrong lane of one of the shortest failing calls becomes another number, or the call fails."""
        first, *others = self.failing[:MATTERING]
        short = [first, *(number for number in others if self._took[number] <= 2 * self._took[first])]
        return any(self._matters(number, replaced) for number in short)

    def _matters(self, number: int, replaced: Mapping[int, Instruction]) -> bool:
        self._repeater.patch({})
        before = self._wrong_lanes(number)
        self._repeater.patch(replaced)
        try:
            return before is None or before != self._wrong_lanes(number)
        except ValueError:
            return True

    def _wrong_lanes(self, number: int) -> list[bytes] | None:
        """What a failing call makes of the lanes that are wrong without a change; None where it fails."""
        outputs, executed = self._repeater.run(self._calls[number], self._most(number))
        self.spent += executed + PER_CALL
        if outputs is None:
            return None
        if number not in self._wrong:
            made, golden = outputs, self._golden[number]
            self._wrong[number] = {n: ~agreement(made[n], golden[n], self._kernel.tolerance) for n in golden}
        return [outputs[name][wrong].tobytes() for name, wrong in self._wrong[number].items()]

    def _most(self, number: int) -> int:
        """Instructions after which a changed call is taken for one that does not end.

        What is wrong may end early, as a search for a number that is none of the right ones.
        """
        return LONGER * self._took[number] + 100

    def _are_right(self, numbers: list[int]) -> bool:
        for position, number in enumerate(numbers):
            if not self._is_right(number, self._most(number)):
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
        some = self.failing[:WAYS]
        return Counter(pc for number in some for pc in self._repeater.path(self._calls[number], self._most(number)))

    @cached_property
    def reached(self) -> frozenset[int]:
        """The addresses of the instructions that each of the shortest failing calls executes."""
        self._repeater.patch({})
        some = self.failing[:ALL_REACH]
        return frozenset.intersection(
            *(frozenset(self._repeater.path(self._calls[number], self._took[number])) for number in some)
        )

    @cached_property
    def data_reads(self) -> list[frozenset[tuple[int, int, int]]]:
        """What each of the shortest failing calls reads of the program's data: instruction, address and bytes."""
        self._repeater.patch({})
        some = self.failing[:ALL_REACH]
        return [frozenset(self._repeater.loads_of_data(self._calls[n], self._took[n])) for n in some]

    @cached_property
    def _fresh(self) -> list[int]:
        """The numbers of input sets that had no part in the search: those left over, those near failing ones that fail
        too, then others of another seed, which may all lack what shows the fault.
        """
        self._repeater.patch({})
        found, end = self._left_over + self._neighbours(), self.spent + FRESH
        others = iter(self._others())
        with suppress(KernelError):  # the check says so of the kernel's own
            while self.spent < end and (inputs := next(others, None)) is not None:
                if (further := self._further(inputs)) is not None:
                    found.append(further.number)
        return found

    def _others(self) -> Iterator[Inputs]:
        """Drawn ones, among them as many that are cut to one or a few elements, which lack what others have besides."""
        rng, samples = np.random.default_rng(self._seed), Samples(self._kernel, self._kernel.sample)
        for _ in range(SAMPLES):
            inputs = samples.draw(rng)
            yield inputs
            numbers = {int(value) for value in inputs.values() if isinstance(value, int | np.integer)}
            for size in numbers.intersection(sizes_of({}, inputs)):
                inputs = cut(inputs, size, 0, min(size, int(rng.integers(1, FEW + 1))))
            yield inputs
        if self._kernel.is_drawn:
            yield from (candidate.inputs for candidate in candidates(self._kernel, self._seed))

    def _neighbours(self) -> list[int]:
        """The numbers of input sets that fail, each like one that fails but for some numbers, drawn or of elsewhere."""
        rng, samples = np.random.default_rng(self._seed), Samples(self._kernel, self._kernel.sample)
        known, found, end = [*self.failing], list[int](), self.spent + FRESH
        for _ in range(TRIED) if self._kernel.is_drawn else ():
            if self.spent > end:
                break
            inputs, drawn = self._inputs[known[int(rng.integers(len(known)))]], samples.draw(rng)
            places = [(name, *at) for name, *at in numbers_of(inputs) if name not in self._kernel.signature.sizes]
            if not places:
                break
            chosen = {places[int(at)] for at in rng.integers(len(places), size=int(rng.integers(1, CHANGED + 1)))}
            others = {place: _another(inputs, drawn, place, rng) for place in chosen}
            changed = edited(inputs, others.get)
            if (further := self._further(changed)) is not None and not further.is_right:
                found.append(further.number)
                known.append(further.number)
        return found

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

    def held(self, pc: int, register: Place) -> int | None:
        """What a register holds where the shortest failing call first comes to an address; None where it does not."""
        number = self.failing[0]
        noted = self._repeater.noted(self._calls[number], self._took[number], {pc: [register]})
        if pc not in noted:
            return None
        (first,), *_ = noted[pc]
        return first

    def _cut(self, number: int) -> list[int]:
        """A failing input set cut to what still fails, as the number that it gets; none where nothing shorter does."""
        inputs, found = self._inputs[number], list[int]()
        for size in sizes_of(self._golden[number], inputs):
            for length in (length for length in LENGTHS if length < size):
                starts = range(0, size, length)
                if len(starts) > WINDOWS:
                    continue
                some = (self._further(cut(inputs, size, start, length)) for start in starts)
                shorter = next((one.number for one in some if one is not None and not one.is_right), None)
                if shorter is not None:
                    found, inputs = [shorter], self._inputs[shorter]
                    break
        return found

    def _further(self, inputs: Inputs) -> _Further | None:
        """A further input set, run as compiled; None if it is none of the kernel."""
        number = len(self._inputs)
        try:
            inputs = fitted(self._kernel, inputs)
            if not is_valid(self._kernel, inputs):
                return None
            golden = self._kernel.expected(inputs)
            self._calls[number] = self._repeater.prepare(inputs, number)
        except Exception:  # the user's own code raises anything
            return None
        self._inputs.append(inputs)
        self._golden.append(golden)
        return _Further(number, self._is_right(number, MAX_INSTRUCTIONS))

    def _is_right(self, number: int, limit: int) -> bool:
        if number not in self._calls:
            self._calls[number] = self._repeater.prepare(self._inputs[number], number)
        outputs, executed = self._repeater.run(self._calls[number], limit)
        self._took.setdefault(number, executed)
        self.spent += executed + PER_CALL
        return outputs is not None and all_agree(outputs, self._golden[number], self._kernel.tolerance)


def _another(inputs: Inputs, drawn: Inputs, place: Where, rng: np.random.Generator) -> Any:
    """Another number of the same input, or of the same field of it: of the set itself or of a drawn one."""
    name, fields = str(place[0]), [part for part in place if isinstance(part, str)]
    found = [
        number
        for some in (inputs, drawn)
        for where, number in numbers_of({name: some[name]}).items()
        if [part for part in where if isinstance(part, str)] == fields
    ]
    return found[int(rng.integers(len(found)))]
