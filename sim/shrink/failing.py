"""Failing inputs made short and simple: the input set that a person wants to see."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from isa.errors import pip_install
from isa.rows import TABLE
from isa.table import Table
from sim.call.call import MAX_INSTRUCTIONS, Engine
from sim.check.check import Job, check_job
from sim.check.report import Outcome
from sim.check.vectors import Vectors
from sim.kernels.inputs import choices, counts_of, cut, edited, fitted, is_valid, sizes_of
from sim.kernels.kernel import Inputs, Kernel
from sim.shrink.literal import literal, statement
from sim.shrink.search import AVAILABLE, smallest_indices, smallest_window
from sim.shrink.trial import MISMATCH, TRIED_INSTRUCTIONS, UNENDING, Failure, Trial, alone

TRIALS: Final = 1500
"""Input sets that one search tries: seconds."""
GROUPS: Final = 32
"""Numbers that are simplified apart from each other; of more, neighbours get the same choice."""


@dataclass(frozen=True)
class Shrunk:
    """What is left of a failing input set.

    `outcome` is the check of `inputs` alone, which fails in the same way; None where they fail only among the others.
    `text` says in a sentence what was done, and "not shrunk" where nothing smaller fails.
    """

    inputs: Inputs
    outcome: Outcome | None
    text: str

    def told(self, whole: Outcome) -> str:
        """The inputs as Python literals, and what they give if that is not what the whole set gave."""
        lines = [f"    {statement(name, value)}" for name, value in self.inputs.items()]
        alone = self.outcome if self.outcome is not whole else None
        said = [f"  gives {alone.failure.splitlines()[0]}"] if alone is not None else []
        return "\n".join([f"{self.text}:", *lines, *said])


def shrink(
    kernel: Kernel, job: Job, vectors: Vectors, number: int, engine: Engine = "lockstep", table: Table = TABLE,
    max_instructions: int = MAX_INSTRUCTIONS,
) -> Shrunk:  # fmt: skip
    """The input set of that number, on which the implementation fails, shrunk to the shortest arrays and the simplest
    numbers that still fail in the same way: a wrong lane, a divergence, an error of the same kind, a finding of the
    same kind, array and instruction.

    First fewer lanes are taken of all axes that are as long as one another, then each number is replaced by a simpler
    one of its domain.  What the golden reference, the domain or the signature refuses does not fail.  Where the kernel
    has a program of intrinsics that agrees on the whole set, it must agree on what is left: so the inputs stay such
    that the kernel is defined on them.  Raises ToolchainUnavailable.
    """
    whole = vectors.inputs[number]
    if not AVAILABLE:
        return Shrunk(whole, None, f"not shrunk, as Hypothesis is not installed ({pip_install('lanewise[pytest]')})")
    limit = min(max_instructions, TRIED_INSTRUCTIONS)
    trial = Trial(kernel, job, vectors.seed, engine, table, limit)
    failure = trial.first_failure(whole)
    if failure is None:
        return Shrunk(whole, None, f"not shrunk, as input set {number} fails only among the others")
    if failure.kind in (MISMATCH, UNENDING):
        faster = Trial(kernel, job, vectors.seed, "machine", table, limit)
    else:
        faster = trial
    small = _Search(kernel, faster, failure, whole).run()

    def verified(inputs: Inputs) -> Outcome | None:
        again = trial.first_failure(inputs)
        last: Engine = "machine" if failure.kind == UNENDING else engine
        single = alone(kernel, inputs, vectors.seed)
        outcome = check_job(kernel, job, single, lambda _: None, table, last, max_instructions)
        return outcome if failure.is_like(again) and outcome.failure else None

    if literal(small) != literal(whole) and (outcome := verified(small)):
        return Shrunk(small, outcome, sizes_told(kernel, whole, small))
    return Shrunk(whole, verified(whole), "not shrunk, as nothing smaller fails")


def sizes_told(kernel: Kernel, whole: Inputs, small: Inputs) -> str:
    before, after = (sum(a.size for a in kernel.expected(inputs).values()) for inputs in (whole, small))
    return f"shrunk to {after} of {before} output lanes"


class _Search:
    """Hypothesis over what can be made of one failing input set."""

    def __init__(self, kernel: Kernel, trial: Trial, failure: Failure, whole: Inputs) -> None:
        self._kernel, self._trial, self._failure, self._whole = kernel, trial, failure, whole
        self._known: dict[str, bool] = {}
        program = Job(None, ())
        self._program = None if kernel.program is None or trial.job == program else Trial(kernel, program, trial.seed)
        if self._program is not None and self._program.first_failure(whole) is not None:
            self._program = None

    def run(self) -> Inputs:
        """Shorter and simpler in turns, until nothing changes."""
        before, inputs = "", self._whole
        while (text := literal(inputs).text) != before:
            before = text
            for size in (*sizes_of(self._kernel.expected(inputs), inputs), *counts_of(self._kernel, inputs)):
                inputs = self._cut(inputs, size)
            inputs = self._simpler(inputs)
        return inputs

    def _cut(self, inputs: Inputs, size: int) -> Inputs:
        def made(drawn: tuple[int, int]) -> Inputs:
            length, start = drawn
            return fitted(self._kernel, cut(inputs, size, start, length), size, start)

        found = smallest_window(size, self._condition(made))
        return inputs if found is None else made(found)

    def _simpler(self, inputs: Inputs) -> Inputs:
        pools = choices(self._kernel, inputs)
        places = list(pools)
        width = -(-len(places) // GROUPS)
        groups = [places[at : at + width] for at in range(0, len(places), max(1, width))]

        def made(drawn: tuple[int, ...]) -> Inputs:
            chosen = {
                path: pools[path][min(at, len(pools[path]) - 1)]
                for group, at in zip(groups, drawn, strict=True)
                for path in group
            }
            return edited(inputs, lambda path, own: chosen.get(path, own))

        counts = [max(len(pools[path]) for path in group) for group in groups]
        found = smallest_indices(counts, self._condition(made)) if groups else None
        return inputs if found is None else made(found)

    def _condition(self, made: Callable[[Any], Inputs]) -> Callable[[Any], bool]:
        """Whether what is made of the drawn numbers still fails."""

        def fails(drawn: Any) -> bool:
            try:
                inputs = made(drawn)
                if not is_valid(self._kernel, inputs):
                    return False
                self._kernel.expected(inputs)
            except Exception:  # the user's own code raises anything
                return False
            text = literal(inputs).text
            if text not in self._known:
                self._known[text] = len(self._known) < TRIALS and self._fails(inputs)
            return self._known[text]

        return fails

    def _fails(self, inputs: Inputs) -> bool:
        """Whether they fail in the same way, and the program of intrinsics agrees on them."""
        failure = self._trial.failure(inputs, self._failure.number)
        if not self._failure.is_like(failure):
            return False
        return self._program is None or self._program.first_failure(inputs) is None
