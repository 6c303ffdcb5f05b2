"""Input sets by the hundred that are aimed at a kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, Final, NamedTuple

import numpy as np

from sim.check.aim.boundaries import boundary_sets, number_sets
from sim.check.aim.variables import Variable, shown_domains, undeclared_changes, variables_of
from sim.kernels.domain import LARGEST, Domains, Pick, at_random, at_some_extremes, extreme_sets, fitting, input_set
from sim.kernels.kernel import Inputs, Kernel, Outputs

SIZES: Final = ((7, 1, 8), (15, 2, 8), (31, 1, 8), (40, 3, 4), (200, 1, 8))
"""Lengths of rows, numbers of rows, and from how many input sets steps are looked for: tails of every length behind
none, one and two steps of sixteen lanes, and many lanes."""
NUMBERS: Final = (31, 1, 8)
"""Of the input sets in which every number among the arguments goes next to a step in its turn."""
LONG: Final = ((1500, 1, 0), (5000, 1, 0), (17, 300, 0), (17, 1500, 0))
"""Lengths and numbers of rows at which sums overflow, along a row and down a column, where the domain has them."""
NEAR: Final = 48
"""Input sets next to steps of each of the sizes at most."""
ELEMENTS: Final = 4096
"""Elements of all arrays of an input set at most, but for long ones."""
DRAWN: Final = 100
"""Input sets that are drawn of a size until the kernel accepts one."""
BASES, EXTREMES = 16, 4
"""Of how many of a kernel's own input sets others are made, and how often with arguments at their extremes."""


class CandidateSet(NamedTuple):
    """An input set with its golden outputs.

    `is_near` says that output lanes are next to a step of the golden reference, `is_long` that it has many elements.
    `undeclared` are the arguments without a declared domain that were changed.
    """

    inputs: Inputs
    golden: Outputs
    is_near: bool = False
    is_long: bool = False
    undeclared: tuple[str, ...] = ()

    @property
    def lanes(self) -> int:
        """Its output lanes."""
        return sum(array.size for array in self.golden.values())

    @property
    def elements(self) -> int:
        """The elements of all its arrays."""
        return elements_of(self.inputs) + self.lanes


def candidates(kernel: Kernel, seed: int) -> Iterator[CandidateSet]:
    """The candidates, small ones first, drawn from `seed`.  Raises KernelError for the golden reference."""
    rng, seen = np.random.default_rng((seed, len(SIZES))), set[int]()
    for length, rows, rounds in (*SIZES, *LONG):
        limit = ELEMENTS if rounds else LARGEST
        length, rows, elements = fitting(kernel.signature, kernel.domain, length, rows, limit)
        if elements in seen or elements > LARGEST:
            continue
        seen.add(elements)
        near: list[Inputs] = []
        for number in range(rounds):
            usual = drawn(kernel, length, rows, rng, nulls=number % 4 == 3)
            for begin in (*usual, *drawn(kernel, length, rows, rng, at_some_extremes)):
                near += boundary_sets(kernel, begin, variables_of(kernel, begin, kernel.domain), rng)
        for one in near[:NEAR]:
            yield CandidateSet(one, kernel.expected(one), is_near=True)
        some = [one for _ in range(rounds) for one in drawn(kernel, length, rows, rng, at_some_extremes)]
        ends = filter(kernel.accepts, extreme_sets(kernel.signature, kernel.domain, length, rows))
        for far in (*drawn(kernel, length, rows, rng), *some, *ends):
            yield CandidateSet(far, kernel.expected(far), is_long=not rounds)
    length, rows, rounds = NUMBERS
    for _ in range(rounds):
        for begin in drawn(kernel, length, rows, rng):
            for one in number_sets(kernel, begin, variables_of(kernel, begin, kernel.domain), rng):
                yield CandidateSet(one, kernel.expected(one), is_near=True)


def changed_candidates(kernel: Kernel, own: Sequence[CandidateSet], seed: int) -> Iterator[CandidateSet]:
    """Candidates made from a kernel's own input sets, by lot drawn from `seed`, by changes of their numbers.

    Extents stay.  Numbers stay in the declared domains of the arguments, and where none is declared between those of
    the own input sets; what the golden reference or the kernel's own `arguments` refuses is left out.
    """
    rng = np.random.default_rng((seed, len(own)))
    domains = {**shown_domains(kernel, [one.inputs for one in own]), **kernel.domain}
    usable = [one.inputs for one in own if one.lanes and one.elements <= ELEMENTS]
    for number in rng.permutation(len(usable))[:BASES]:
        base = usable[number]
        variables = variables_of(kernel, base, domains)
        extremes = (_at_some_extremes(base, variables, rng) for _ in range(EXTREMES))
        near = (boundary_sets(kernel, base, variables, rng), number_sets(kernel, base, variables, rng))
        for sets, is_near in ((extremes, False), *((found, True) for found in near)):
            yield from _defined(kernel, base, sets, is_near)


def _defined(kernel: Kernel, base: Inputs, changed: Iterator[Inputs], is_near: bool) -> Iterator[CandidateSet]:
    """The changed input sets on which the kernel is defined, up to one that cannot be made."""
    with suppress(Exception):  # the user's own code raises anything
        for inputs in changed:
            with suppress(Exception):
                undeclared = undeclared_changes(kernel, base, inputs)
                if undeclared is not None and kernel.accepts(inputs):
                    yield CandidateSet(inputs, kernel.expected(inputs), is_near, undeclared=tuple(undeclared))


def candidate_of(kernel: Kernel, base: Inputs, inputs: Inputs) -> CandidateSet | None:
    """An input set that was made from another as a candidate; None where the kernel is not defined on it."""
    made = next(_defined(kernel, base, iter([inputs]), is_near=False), None)
    return made._replace(undeclared=()) if made is not None and kernel.is_drawn else made


def _at_some_extremes(inputs: Inputs, variables: Sequence[Variable], rng: np.random.Generator) -> Inputs:
    """Half of the variables as they are, by lot; of the others as `at_some_extremes` has them."""
    pick = at_some_extremes({variable.name: variable.domain for variable in variables}, rng)
    for variable in variables:
        if rng.random() < 0.5:
            inputs = variable.put(inputs, pick(variable.name, variable.dtype, variable.of(inputs).shape))
    return inputs


def drawn(
    kernel: Kernel, length: int, rows: int, rng: np.random.Generator,
    picking: Callable[[Domains, np.random.Generator], Pick] = at_random, nulls: bool = False,
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """A drawn input set, the first of some that the kernel accepts; none where it accepts none of them."""
    pick = picking(kernel.domain, rng)
    sets = (input_set(kernel.signature, kernel.domain, pick, length, rows, nulls, apart) for apart in range(1, DRAWN))
    yield from islice(filter(kernel.accepts, sets), 1)


def elements_of(inputs: Inputs) -> int:
    """The elements of all arrays of an input set."""
    return sum(value.size for value in inputs.values() if isinstance(value, np.ndarray))
