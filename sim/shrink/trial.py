"""One implementation, asked again and again whether and how it fails on an input set of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from isa.rows import TABLE
from isa.table import Table
from sim.call.call import CallError, CallResult, CompiledKernel, Engine, Implementation, ProgramKernel
from sim.call.guards.findings import GuardError, GuardFinding
from sim.call.kernel_image import open_kernel
from sim.check.check import Job
from sim.check.vectors import Vectors, call_seed
from sim.kernels.kernel import Inputs, Kernel, KernelError, Outputs
from sim.kernels.tolerance import Tolerance, all_agree
from sim.machine.errors import ExecutionError

MISMATCH: Final = "mismatch"
DIVERGENCE: Final = "divergence"
UNENDING: Final = "instruction limit"
"""Besides the other kinds of `GuardFinding` and the names of exceptions, what kinds of failure there are."""
TRIED_INSTRUCTIONS: Final = 200_000
"""Of a call that is tried: a second; far above what a failing row of lanes takes."""


@dataclass(frozen=True)
class Failure:
    """How the call of that number fails; `result` is what it gave, if it came to its end.

    `place` says of a guard's finding the array and the address of the instruction; two of them are not the same fault.
    """

    kind: str
    number: int
    result: CallResult | None = None
    place: tuple[str, int | None] = ("", None)

    def is_like(self, other: Failure | None) -> bool:
        """Whether the other is of the same kind, by the same instruction on the same array."""
        return other is not None and (self.kind, self.place) == (other.kind, other.place)


def alone(kernel: Kernel, inputs: Inputs, seed: int) -> Vectors:
    """The vectors of one input set: twice the same, as arrays lie at the ends and at the starts of their mappings by
    turns.  Raises KernelError.
    """
    golden = kernel.expected(inputs)
    return Vectors([inputs, inputs], [golden, golden], seed)


class Trial:
    """Raises ToolchainError and ImageError where there is nothing to run."""

    def __init__(
        self, kernel: Kernel, job: Job, seed: int, engine: Engine = "lockstep", table: Table = TABLE,
        max_instructions: int = TRIED_INSTRUCTIONS,
    ) -> None:  # fmt: skip
        self._kernel, self.job, self.seed = kernel, job, seed
        self._implementation = _implementation(kernel, job, table, engine, max_instructions)

    def first_failure(self, inputs: Inputs) -> Failure | None:
        """That of the input set alone."""
        return self.first_of(alone(self._kernel, inputs, self.seed))

    def first_of(self, vectors: Vectors) -> Failure | None:
        """That of the first input set that fails."""
        found = (self._failure(vectors, number) for number in range(len(vectors.inputs)))
        return next((failure for failure in found if failure is not None), None)

    def failure(self, inputs: Inputs, number: int) -> Failure | None:
        """That of one of the two calls of an input set alone."""
        return self._failure(alone(self._kernel, inputs, self.seed), number)

    def _failure(self, vectors: Vectors, number: int) -> Failure | None:
        try:
            arguments = self._kernel.arguments(vectors.inputs[number])
            result = self._implementation.call(arguments, call_seed(vectors, number))
        except (ExecutionError, CallError, KernelError, TypeError, ValueError) as error:
            if isinstance(error, GuardError):
                return Failure(error.finding.kind, number, place=_place(error.finding))
            return Failure(type(error).__name__, number)
        return _failure(result, vectors.golden[number], number, self._kernel.tolerance)


def _failure(result: CallResult, golden: Outputs, number: int, tolerance: Tolerance | None) -> Failure | None:
    """What is wrong with a call that came back."""
    if result.divergence is not None:
        return Failure(DIVERGENCE, number, result)
    harmful = [f for f in result.findings if not f.harmless and (not f.output or f.output in golden)]
    if harmful:
        return Failure(harmful[0].kind, number, result, _place(harmful[0]))
    is_right = all(all_agree(outputs, golden, tolerance) for outputs in result.outputs.values())
    return None if is_right else Failure(MISMATCH, number, result)


def _place(finding: GuardFinding) -> tuple[str, int | None]:
    """An endless loop goes on anywhere: there the instruction tells nothing."""
    return ("", None) if finding.kind == UNENDING else (finding.where, finding.pc)


def _implementation(kernel: Kernel, job: Job, table: Table, engine: Engine, limit: int) -> Implementation:
    if job.source is None:
        return ProgramKernel(kernel)
    image = open_kernel(kernel, job.source, *job.flags)
    return CompiledKernel(image, kernel, table, engine, limit)
