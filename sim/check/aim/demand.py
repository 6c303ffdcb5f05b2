"""What the search did not meet, asked of the solver: code is followed on symbols, and inputs that come of it are run.

Work is bounded by instructions that are followed and rounds of the solver, not by time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import product
from typing import Final

from isa.errors import LanewiseError
from isa.evaluate.smt import SolverMissing, solver_version
from sim.check.aim.mistakes import Mistake, differing
from sim.check.aim.read_later import BitsReadLater
from sim.check.aim.solving import cannot_hold, followed, never_met
from sim.kernels.kernel import Inputs, Kernel
from sim.symbolic.following.lookout import Goal
from sim.toolchain.image import Image

FOLLOWED: Final = 600
"""Instructions that are followed of one shape, those of all ways together."""
FOLLOWED_AT_ANY_LENGTH: Final = 4000
"""Those of any length: rounds of loops are followed several times over."""
ROUNDS, IN_ALL = 100, 600
"""Rounds of the solver for a goal in one shape, and for all of them."""
Confirm = Callable[[Inputs, Inputs], Collection[Goal]]
"""Runs inputs that were made from an example, both given, and says which goals they meet."""


def sought(
    kernel: Kernel, image: Image, examples: Sequence[Inputs], goals: Collection[Goal], confirm: Confirm
) -> set[Goal]:
    """Ask for inputs of the shapes of examples that meet goals; returns those that no input of these shapes meets."""
    left, impossible, spent = dict.fromkeys(goals), set(goals if examples else ()), 0
    try:
        solver_version()
    except SolverMissing:
        return set()
    for example in examples:
        try:
            shape = followed(kernel, image, example, left, FOLLOWED)
        except LanewiseError:  # arguments that cannot be made of symbols
            impossible.clear()
            continue
        for goal in goals:
            if goal in left:
                found = shape.seek(goal, min(ROUNDS, IN_ALL - spent))
                spent += found.rounds
                if found.inputs is not None:
                    for met in confirm(example, found.inputs):
                        left.pop(met, None)
                if not found.impossible:
                    impossible.discard(goal)
    return impossible & left.keys()


def has_one_shape(kernel: Kernel) -> bool:
    """Whether all inputs of a kernel have the same shape."""
    return kernel.takes_inputs and not kernel.signature.sizes and not _nullable(kernel)


def never(
    kernel: Kernel, image: Image, absences: Mapping[frozenset[str], Inputs], goals: Collection[Goal]
) -> set[Goal]:
    """The goals that no input of the kernel meets, whatever its length, as far as that is shown.

    `absences` are examples by the null pointers that they have: each combination is looked at.
    """
    found, nullable = set(goals), _nullable(kernel)
    for nulls in product((False, True), repeat=len(nullable)):
        absent = frozenset(name for name, is_null in zip(nullable, nulls, strict=True) if is_null)
        if not found or absent not in absences:
            return set()
        try:
            found &= never_met(kernel, image, absences[absent], found, FOLLOWED_AT_ANY_LENGTH, ROUNDS)
        except LanewiseError:  # code that is not followed for any length
            return set()
    return found


def changing_nothing(kernel: Kernel, image: Image, mistakes: Iterable[Mistake]) -> set[Mistake]:
    """The mistakes with which no bit that anything later depends on is another, whatever registers and memory hold.

    One that changes nothing on a domain alone is none of them: who declared that domain should hear of it.
    """
    later, found = BitsReadLater(image, kernel), set[Mistake]()
    with suppress(SolverMissing):
        for mistake in mistakes:
            counting = differing(mistake, later.after(mistake.pc))
            if counting is not None and later.allows(mistake.pc, mistake.instruction) and cannot_hold(counting, ROUNDS):
                found.add(mistake)
    return found


def _nullable(kernel: Kernel) -> list[str]:
    return [pointer.name for pointer in kernel.signature.pointers if pointer.nullable]
