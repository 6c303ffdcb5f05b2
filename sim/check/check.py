"""A whole check of one kernel: every build and the program of intrinsics against the golden reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from isa.rows import TABLE
from isa.table import Table
from sim.check.call import (
    MAX_INSTRUCTIONS,
    CallError,
    CallResult,
    CompiledKernel,
    Engine,
    Implementation,
    ProgramKernel,
)
from sim.check.compare import Comparison, WrongLane
from sim.check.coverage import Coverage
from sim.check.explain.kernel import explain_kernel
from sim.check.guards.findings import GuardError, GuardFinding
from sim.check.report import PROGRAM, Mismatch, Outcome
from sim.check.tracing import Finding, LaneTracer
from sim.check.vectors import Vectors, call_seed
from sim.function_types import require_fit
from sim.image import Image, ImageError
from sim.kernels.kernel import Kernel, KernelError
from sim.machine.errors import ExecutionError
from sim.objects import open_image
from sim.toolchain import ToolchainError, ToolchainUnavailable, is_source

LEVELS = ("O0", "O1", "O2", "O3", "Os", "Oz")
CANDIDATES = 400
"""At most so many wrong lanes are weighed, from all input sets: the first sets have all the same simple parameters."""
Advance = Callable[[int], None]
"""Told how many input sets are done."""


class Job(NamedTuple):
    """One implementation to check: a source and its flags, or the program (no source)."""

    source: Path | None
    flags: tuple[str, ...]

    @property
    def name(self) -> str:
        return PROGRAM if self.source is None else self.source.name


def jobs_of(kernel: Kernel, levels: Sequence[str], flags: Sequence[str] = ()) -> list[Job]:
    """Every source at every optimisation level, with the kernel's flags and these, then the program of intrinsics.

    What is compiled already comes once, without flags.
    """
    builds = [
        Job(source, (f"-{level}", *kernel.flags, *flags) if is_source(source) else ())
        for source in kernel.sources
        for level in (levels if is_source(source) else levels[:1])
    ]
    return builds + ([Job(None, ())] if kernel.program is not None else [])


def check_job(
    kernel: Kernel, job: Job, vectors: Vectors, advance: Advance, table: Table = TABLE, engine: Engine = "lockstep",
    max_instructions: int = MAX_INSTRUCTIONS,
) -> Outcome:  # fmt: skip
    """Run one implementation on all vectors, each call of compiled code up to so many instructions.

    Raises ToolchainUnavailable; every other failure is in the outcome.
    """
    image: Image | None = None
    try:
        image = open_image(job.source, kernel.symbol, *job.flags) if job.source is not None else None
        implementation: Implementation
        if image is not None:
            require_fit(image, kernel.symbol, kernel.signature)
            implementation = CompiledKernel(image, kernel, table, engine, max_instructions)
        else:
            implementation = ProgramKernel(kernel)
        code = sha256(image.code_of(kernel.symbol)).hexdigest() if image is not None else ""
    except ToolchainUnavailable:
        raise
    except (ToolchainError, ImageError) as error:
        return Outcome(job.name, " ".join(job.flags), 0, 0, 0, frozenset(), 0, "", failure=str(error))
    return _Run(kernel, job, vectors, implementation, image, code).outcome(advance)


class _Run:
    """One implementation on all vectors."""

    def __init__(
        self, kernel: Kernel, job: Job, vectors: Vectors, implementation: Implementation, image: Image | None, code: str
    ) -> None:
        self._kernel, self._job, self._vectors = kernel, job, vectors
        self._implementation, self._image, self._code = implementation, image, code
        self._results: list[CallResult] = []
        self._findings: dict[str, GuardFinding] = {}
        self._number = 0
        self._divergence = ""
        self._interrupted = False

    def outcome(self, advance: Advance) -> Outcome:
        stopped = self._run(advance)
        comparison = Comparison(self._kernel, self._vectors, self._results)
        mismatch = self._mismatch(comparison)
        failure = "\n".join(str(part) for part in (stopped, self._divergence, mismatch) if part)
        unverified: Counter[str] = sum((Counter(r.unverified) for r in self._results), Counter())
        return Outcome(
            self._job.name, " ".join(self._job.flags), comparison.vectors, comparison.lanes,
            sum(r.instructions for r in self._results), self._implementation.forms,
            sum(r.qc_events for r in self._results), self._code, failure, self._divergence, mismatch, self._interrupted,
            dict(unverified), tuple(self._findings.values()), self._coverage(), self._failed_set(stopped, comparison),
        )  # fmt: skip

    def _coverage(self) -> Coverage | None:
        """Of compiled code in lockstep only."""
        return self._implementation.coverage() if isinstance(self._implementation, CompiledKernel) else None

    def _failed_set(self, stopped: str, comparison: Comparison) -> int | None:
        if comparison.wrong:
            return comparison.wrong[0].number
        return self._number if stopped or self._divergence else None

    def _run(self, advance: Advance) -> str:
        """Make the calls, up to the first divergence, harmful finding or error; returns finding or error as text.

        A program of intrinsics refuses wrong types and numbers by TypeError and ValueError.
        """
        for number, inputs in enumerate(self._vectors.inputs):
            self._number = number
            try:
                result = self._implementation.call(self._kernel.arguments(inputs), call_seed(self._vectors, number))
            except (ExecutionError, CallError, KernelError, TypeError, ValueError) as error:
                if isinstance(error, GuardError):
                    self._findings[str(error)] = error.finding
                return f"input set {number}: {error}{self._source_of(error)}"
            except KeyboardInterrupt:
                self._interrupted = True
                return ""
            if result.divergence is not None:
                self._divergence = f"input set {number}: {result.divergence}"
                return ""
            self._results.append(result)
            advance(1)
            if harmful := self._noted(result.findings):
                return f"input set {number}: " + "\n".join(str(finding) for finding in harmful)
        return ""

    def _noted(self, findings: Sequence[GuardFinding]) -> list[GuardFinding]:
        """Keep what was found, of harmless findings the first of each kind and place; returns the harmful ones."""
        for finding in findings:
            key = f"{finding.kind} {finding.where}" if finding.harmless else str(finding)
            self._findings.setdefault(key, finding)
        return [finding for finding in findings if not finding.harmless]

    def _source_of(self, error: Exception) -> str:
        pc = error.pc if isinstance(error, ExecutionError) else None
        return f" ({self._image.place_of(pc)})" if self._image is not None and pc is not None else ""

    def _mismatch(self, comparison: Comparison) -> Mismatch | None:
        if not comparison.wrong:
            return None
        lane, finding = self._clearest_finding(comparison)
        parted, node = finding.parting, finding.writer if finding.parting is None else finding.parting.node
        pc = node.recorded.pc if node is not None else None
        return Mismatch(
            engine=lane.engine,
            output=lane.output,
            lane=lane.place,
            got=comparison.got(lane),
            expected=comparison.expected(lane),
            inputs=comparison.inputs_of(lane),
            lanes_different=len({(wrong.number, wrong.output, wrong.place) for wrong in comparison.wrong}),
            parted_at=parted.step if parted is not None else None,
            golden_step=finding.golden_step,
            agreed=parted.agreed if parted is not None else (),
            instruction=node.recorded.occurrence.instruction.text if node is not None else "",
            source=self._image.place_of(pc) if self._image is not None and pc is not None else "intrinsics",
            came_from=finding.came_from,
            conventions=comparison.agreeing_conventions(),
            explanation=self._explanation(lane.engine),
        )

    def _explanation(self, engine: str) -> tuple[str, ...]:
        if not self._kernel.conventions:
            return ()
        results = [result.outputs[engine] for result in self._results]
        return tuple(explain_kernel(self._kernel, self._vectors.inputs, results))

    def _clearest_finding(self, comparison: Comparison) -> tuple[WrongLane, Finding]:
        """The clearest wrong lane that still depends on the inputs.

        One that was set to a constant on the way (a bound, chosen by a branch) tells less, so of lanes that became
        the same number only the clearest is tried.
        """
        tracer = LaneTracer(self._kernel, self._vectors, self._implementation)
        some = comparison.wrong[:: len(comparison.wrong) // CANDIDATES + 1]
        by_clarity = sorted(some, key=lambda lane: -tracer.distinct_steps(lane.number, lane.place))
        clearest = {comparison.got(lane): lane for lane in reversed(by_clarity)}
        findings = []
        for lane in sorted(clearest.values(), key=by_clarity.index)[:8]:
            finding = tracer.trace(lane, comparison.right_lanes(lane), comparison.right_sets(lane))
            findings.append((lane, finding))
            if finding.elements or not finding.written:
                return lane, finding
        return findings[0]
