"""A build run on some inputs of a shape: what is wrong there is a counter-example, whether it was followed or not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Final

import numpy as np

from isa.evaluate.exact import Evaluation
from isa.lane import Place
from sim.call.call import Implementation
from sim.call.guards.findings import CallError, GuardError
from sim.kernels.kernel import Inputs, Kernel
from sim.kernels.tolerance import agreement
from sim.machine.errors import ExecutionError, UnmodelledMode, UnsupportedInstruction
from sim.symbolic.equality import Equality, counter_example, drawn
from sim.symbolic.reference import TracedReference

TRIED: Final = 24
"""Input sets: the example, and random ones, in the place of those that the reference refuses the example again."""
SECONDS: Final = 5.0
"""For inputs that go where a build could not be followed, and for those that show an undefined byte."""
SEEDS: Final = 2
"""Calls on each input set, each with a seed of its own: arrays lie in other places, and other bytes are undefined."""


@dataclass(frozen=True)
class NumbersOfInputs:
    """Numbers of inputs as a state to evaluate on."""

    values: Mapping[Place, int]

    def read(self, place: Place) -> int:
        """The number of an input; 0 for what nobody defines."""
        return self.values.get(place, 0)

    def load(self, address: int, size: int) -> bytes:
        """Raises LookupError: expressions of a proof load nothing."""
        raise LookupError(f"nothing is loaded from {address:#x}")


@dataclass(frozen=True)
class WrongCall:
    """Inputs on which a build is wrong, and how: the first element of an output, "" where the call itself is wrong.

    `values` are the numbers that were put into the example, `seed` is that of the call.
    """

    inputs: Inputs
    values: Mapping[Place, int]
    output: str
    number: int
    reason: str
    seed: int


def wrong_call(
    kernel: Kernel,
    called: Implementation,
    reference: TracedReference,
    suspected: Iterable[Equality],
    beside: str = "the reference",
) -> WrongCall | None:
    """The first of some inputs that the reference takes on which a call is wrong; None where none is.

    Inputs for which an equality that is `suspected` does not hold come behind the example.  Wrong is what a check
    refuses: another number than the reference has, and what no caller may find.  Nothing is said of calls that need
    what is not there.  `beside` is what the kernel's reference is called.  Raises KernelError where that fails.
    """
    for tried, (inputs, values) in enumerate(_some_inputs(reference, suspected)):
        wanted = kernel.expected(inputs)
        for seed in reversed(range(SEEDS * tried, SEEDS * (tried + 1))):
            try:
                result = called.call(kernel.arguments(inputs), seed)
            except (ExecutionError, CallError, TypeError, ValueError) as error:  # the last two are a program's own
                if isinstance(error, (UnsupportedInstruction, UnmodelledMode)) or _is_elsewhere(error):
                    return None
                return WrongCall(inputs, values, "", 0, str(error), seed)
            for finding in result.findings:
                if not finding.harmless:
                    return WrongCall(inputs, values, "", 0, str(finding), seed)
            for outputs in result.outputs.values():
                for name, array in wanted.items():
                    if (apart := np.flatnonzero(~agreement(outputs[name], array, kernel.tolerance))).size:
                        made, golden = outputs[name].flat[apart[0]], array.flat[apart[0]]
                        reason = f"it is {made}, of {beside} {golden}"
                        return WrongCall(inputs, values, name, int(apart[0]), reason, seed)
    return None


def _is_elsewhere(error: Exception) -> bool:
    """Whether a call went where a symbol is missing: what is there is not known."""
    return isinstance(error, GuardError) and error.finding.kind == "missing symbol"


def _some_inputs(
    reference: TracedReference, suspected: Iterable[Equality]
) -> Iterator[tuple[Inputs, Mapping[Place, int]]]:
    yield reference.example, {}
    for question in suspected:
        if values := counter_example(question, SECONDS):
            yield reference.input_set(values), values
    rng = Random(1)
    for _ in range(TRIED - 1):
        values = {lane.place: drawn(lane, rng) for lane in reference.inputs.values()}
        evaluation = Evaluation(NumbersOfInputs(values))
        if any(evaluation.value(case.given) for case in reference.cases):
            yield reference.input_set(values), values
        else:  # a kernel that takes few: with other undefined bytes the example is another call
            yield reference.example, {}
