"""A whole check of one kernel: every build and the program of intrinsics against the golden reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from isa.rows import TABLE
from isa.table import Table
from sim.call.call import (
    MAX_INSTRUCTIONS,
    CallError,
    CallResult,
    CompiledKernel,
    Engine,
    Implementation,
    ProgramKernel,
)
from sim.call.guards.findings import GuardError, GuardFinding
from sim.call.kernel_image import left_out, open_kernel, without_lines
from sim.call.native.code import PATIENCE
from sim.call.native.share import NativeShare
from sim.check.compare import Comparison, WrongLane
from sim.check.report import PROGRAM, Mismatch, Outcome
from sim.check.tracing import LaneTracer, TracedLane
from sim.check.vectors import Vectors, call_seed
from sim.explanation.of_kernel.kernel import explain_kernel
from sim.kernels.kernel import Kernel, KernelError
from sim.machine.errors import ExecutionError
from sim.toolchain.branches import with_targets
from sim.toolchain.compilers import ASSEMBLY, is_source
from sim.toolchain.dwarf.function_types import require_fit
from sim.toolchain.image import Image, ImageError
from sim.toolchain.tools import ToolchainError, ToolchainUnavailable

CANDIDATES = 400
"""At most so many wrong lanes are weighed, from all input sets: the first sets have all the same simple parameters."""
Advance = Callable[[int], None]
"""Told how many input sets are done."""


class Job(NamedTuple):
    """One implementation to check: a source and the compiler's flags, such as ("-O2",), or the program (no source).

    `symbol` is its function, where it is another than the kernel's; `same_code_at` are other levels, such as "-O2", at
    which this source is the same program.
    """

    source: Path | None
    flags: tuple[str, ...]
    symbol: str = ""
    same_code_at: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The file name of the source and the function that is another, or "program"."""
        if self.source is None:
            return PROGRAM
        return f"{self.source.name}:{self.symbol}" if self.symbol else self.source.name

    def of(self, kernel: Kernel) -> Kernel:
        """The kernel with this function."""
        return replace(kernel, symbol=self.symbol) if self.symbol else kernel


def jobs_of(kernel: Kernel, levels: Sequence[str], flags: Sequence[str] = ()) -> list[Job]:
    """Every source at every optimisation level, with the kernel's flags and these, then the program of intrinsics.

    What is compiled already comes once, without flags, and assembly once at all levels that are the same program: for
    that it is built here.
    """
    builds = list[Job]()
    for source in kernel.sources:
        at_levels = [
            Job(source, (f"-{level}", *kernel.flags, *flags) if is_source(source) else ())
            for level in (levels if is_source(source) else levels[:1])
        ]
        builds += _different(kernel, at_levels) if source.suffix in ASSEMBLY else at_levels
    return builds + ([Job(None, ())] if kernel.program is not None else [])


def _different(kernel: Kernel, jobs: Sequence[Job]) -> list[Job]:
    """The builds of one source that are different programs, each with the levels of the others that are the same.

    What cannot be built is left to who runs it, and is like no other.
    """
    found = list[tuple[Image | None, Job]]()
    for job in jobs:
        try:
            image = open_kernel(kernel, job.source, *job.flags) if job.source and len(jobs) > 1 else None
        except (ToolchainError, ImageError):
            image = None
        same = next((at for at, (other, _) in enumerate(found) if image and other and image.runs_as(other)), None)
        if same is None:
            found.append((image, job))
        else:
            other, first = found[same]
            found[same] = other, first._replace(same_code_at=(*first.same_code_at, job.flags[0]))
    return [job for _, job in found]


def check_job(
    kernel: Kernel, job: Job, vectors: Vectors, advance: Advance = lambda _: None, table: Table = TABLE,
    engine: Engine = "lockstep", max_instructions: int = MAX_INSTRUCTIONS,
) -> Outcome:  # fmt: skip
    """Compare one implementation with the golden reference on all vectors.

    A call of compiled code may take so many instructions; `advance` is told, call by call, that one is done; `table`
    says what instructions do.  Raises ToolchainUnavailable; every other failure is in the outcome, an interrupt too.
    """
    return finish_job(begin_job(kernel, job, vectors, advance, table, engine, max_instructions), vectors, advance)


def begin_job(
    kernel: Kernel, job: Job, vectors: Vectors, advance: Advance = lambda _: None, table: Table = TABLE,
    engine: Engine = "lockstep", max_instructions: int = MAX_INSTRUCTIONS,
) -> JobRun | Outcome:  # fmt: skip
    """Run one implementation on vectors that others may follow, or say why there is none.  As `check_job`."""
    kernel = job.of(kernel)
    image: Image | None = None
    try:
        image = open_kernel(kernel, job.source, *job.flags) if job.source is not None else None
        implementation: Implementation
        if image is not None:
            require_fit(image, kernel.symbol, kernel.signature)
            patience = 0 if vectors.count >= PATIENCE else PATIENCE  # native code will run, so from the beginning
            implementation = CompiledKernel(image, kernel, table, engine, max_instructions, patience)
        else:
            implementation = ProgramKernel(kernel)
        code = sha256(image.code_of(kernel.symbol)).hexdigest() if image is not None else ""
    except ToolchainUnavailable:
        raise
    except (ToolchainError, ImageError) as error:
        return Outcome(
            implementation=job.name,
            flags=" ".join(job.flags),
            vectors=0,
            lanes_compared=0,
            instructions=0,
            forms=frozenset(),
            qc_events=0,
            code="",
            failure=str(error),
        )
    run = JobRun(kernel, job, vectors, implementation, image, code)
    run.go_on(vectors, advance)
    return run


def finish_job(begun: JobRun | Outcome, vectors: Vectors, advance: Advance = lambda _: None) -> Outcome:
    """What came of an implementation on all vectors, the first of which are those that it was begun with."""
    if isinstance(begun, Outcome):
        return begun
    begun.go_on(vectors, advance)
    return begun.outcome()


class JobRun:
    """One implementation on vectors, to which others may be added."""

    def __init__(
        self, kernel: Kernel, job: Job, vectors: Vectors, implementation: Implementation, image: Image | None, code: str
    ) -> None:
        self._kernel, self._job, self._vectors = kernel, job, vectors
        self._implementation, self._image, self._code = implementation, image, code
        self._results: list[CallResult] = []
        self._findings: dict[str, GuardFinding] = {}
        self._number: int  # of the latest call
        self._stopped: str | None = None
        self._divergence = ""
        self._interrupted = False

    def go_on(self, vectors: Vectors, advance: Advance) -> None:
        """Make the calls that were not made yet, unless one of those stopped the run."""
        self._vectors = vectors
        if not (self._stopped or self._divergence or self._interrupted):
            self._stopped = self._run(advance)

    def outcome(self) -> Outcome:
        """What came of the calls so far."""
        stopped = self._stopped
        comparison = Comparison(self._kernel, self._vectors, self._results)
        mismatch = self._mismatch(comparison)
        failure = "\n".join(str(part) for part in (stopped, self._divergence, mismatch) if part)
        unverified: Counter[str] = sum((Counter(r.unverified) for r in self._results), Counter())
        failed_set = self._number if stopped or self._divergence else None
        if comparison.wrong:
            failed_set = comparison.wrong[0].number
        compiled = self._implementation if isinstance(self._implementation, CompiledKernel) else None
        reached = {finding.where for finding in self._findings.values() if finding.kind == "missing symbol"}
        return Outcome(
            implementation=self._job.name, flags=" ".join(self._job.flags), vectors=comparison.vectors,
            lanes_compared=comparison.lanes,
            instructions=sum(r.instructions for r in self._results), forms=self._implementation.forms,
            qc_events=sum(r.qc_events for r in self._results), code=self._code, failure=failure,
            divergence=self._divergence, mismatch=mismatch, interrupted=self._interrupted,
            unverified=dict(unverified), findings=tuple(self._findings.values()),
            coverage=compiled.coverage() if compiled is not None else None, failed_set=failed_set,
            needs=compiled.needs if compiled is not None else (),
            native=compiled.native if compiled is not None else NativeShare(),
            same_code_at=self._job.same_code_at,
            left_out=() if self._image is None else (
                *left_out(self._image, reached), *without_lines(self._image, self._kernel.symbol)
            ),
        )  # fmt: skip

    def _run(self, advance: Advance) -> str | None:
        """Make the calls, up to the first divergence, harmful finding or error; returns finding or error as text.

        A program of intrinsics refuses wrong types and numbers by TypeError and ValueError.
        """
        for number in range(len(self._results), len(self._vectors.inputs)):
            inputs, self._number = self._vectors.inputs[number], number
            try:
                result = self._implementation.call(self._kernel.arguments(inputs), call_seed(self._vectors, number))
            except (ExecutionError, CallError, KernelError, TypeError, ValueError) as error:
                if isinstance(error, GuardError):
                    self._findings[str(error)] = error.finding
                pc = error.pc if isinstance(error, ExecutionError) else None
                source = f" ({self._image.full_place_of(pc)})" if self._image is not None and pc is not None else ""
                return f"input set {number}: {error}{source}"
            except KeyboardInterrupt:
                self._interrupted = True
                return None
            if result.divergence is not None:
                self._divergence = f"input set {number}: {result.divergence}"
                return None
            self._results.append(result)
            advance(1)
            for finding in result.findings:  # of harmless ones the first of each kind and place
                key = f"{finding.kind} {finding.where}" if finding.harmless else str(finding)
                self._findings.setdefault(key, finding)
            if harmful := [finding for finding in result.findings if not finding.harmless]:
                return f"input set {number}: " + "\n".join(str(finding) for finding in harmful)
        return None

    def _mismatch(self, comparison: Comparison) -> Mismatch | None:
        if not comparison.wrong:
            return None
        lane, finding = self._clearest_finding(comparison)
        parted, node = finding.parting, finding.writer if finding.parting is None else finding.parting.node
        instruction, source, inlined = "", "", ""
        if node is not None:
            instruction, pc, source = node.recorded.occurrence.instruction.text, node.recorded.pc, "intrinsics"
            if self._image is not None and pc is not None:
                instruction = with_targets(instruction, self._image)
                source, inlined = self._image.place_of(pc), self._image.inlined_at(pc)
        outputs = [result.outputs[lane.engine] for result in self._results]
        sets = self._vectors.inputs  # where one stands twice, its lanes are the same
        return Mismatch(
            engine=lane.engine,
            output=lane.output,
            lane=lane.place,
            got=comparison.got(lane),
            expected=comparison.expected(lane),
            inputs=comparison.inputs_of(lane, finding.came_from),
            lanes_different=len({(id(sets[one.number]), one.output, one.place) for one in comparison.wrong}),
            parted_at=parted.step if parted is not None else None,
            golden_step=finding.golden_step,
            agreed=parted.agreed if parted is not None else (),
            instruction=instruction,
            source=source,
            inlined=inlined,
            came_from=finding.came_from,
            conventions=comparison.agreeing_conventions(),
            explanation=tuple(explain_kernel(self._kernel, self._vectors.inputs, outputs)),
        )

    def _clearest_finding(self, comparison: Comparison) -> tuple[WrongLane, TracedLane]:
        """The clearest wrong lane that still depends on the inputs.

        One that was set to a constant on the way (a bound) tells less, so of lanes that became the same number only the
        clearest is tried.
        """
        tracer = LaneTracer(self._kernel, self._vectors, self._implementation)
        some = comparison.wrong[:: len(comparison.wrong) // CANDIDATES + 1]
        by_clarity = sorted(some, key=lambda lane: -tracer.distinct_steps(lane.number, lane.place))
        clearest = {comparison.got(lane): lane for lane in reversed(by_clarity)}
        findings = []
        for lane in sorted(clearest.values(), key=by_clarity.index)[:8]:
            finding = tracer.trace(lane, comparison.right_lanes(lane), comparison.right_sets(lane))
            findings.append((lane, finding))
            if (finding.elements and not finding.is_bound) or not finding.written:
                return lane, finding
        return next((each for each in findings if each[1].elements), findings[0])
