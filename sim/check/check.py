"""A whole check of one kernel: every build and the program of intrinsics against the golden reference."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import numpy as np

from isa.rows import TABLE
from isa.table import Table
from sim.check.call import CallError, CallResult, CompiledKernel, Implementation, ProgramKernel
from sim.check.detective import Detective, Finding
from sim.check.report import Mismatch, Outcome
from sim.check.vectors import Vectors, call_seed
from sim.image import Image, ImageError
from sim.kernels.kernel import Inputs, Kernel, Outputs
from sim.machine.errors import ExecutionError
from sim.toolchain import ToolchainError, ToolMissing, build

LEVELS = ("O0", "O1", "O2", "O3", "Os", "Oz")
Advance = Callable[[int], None]
"""Told how many input sets are done."""


class Job(NamedTuple):
    """One implementation to check: a source and its flags, or the program (no source)."""

    source: Path | None
    flags: tuple[str, ...]

    @property
    def name(self) -> str:
        return "program" if self.source is None else self.source.name


def jobs_of(kernel: Kernel, levels: Sequence[str], extra_flags: Sequence[str] = ()) -> list[Job]:
    """Every source at every optimisation level, then the program of intrinsics."""
    builds = [Job(source, (f"-{level}", *extra_flags)) for source in kernel.sources for level in levels]
    return builds + ([Job(None, ())] if kernel.program is not None else [])


def check_job(kernel: Kernel, job: Job, vectors: Vectors, advance: Advance, table: Table = TABLE) -> Outcome:
    """Run one implementation on all vectors.  Raises ToolMissing; every other failure is in the outcome."""
    image: Image | None = None
    try:
        image = build(job.source, *job.flags) if job.source is not None else None
        implementation = CompiledKernel(image, kernel, table) if image is not None else ProgramKernel(kernel)
    except ToolMissing:
        raise
    except (ToolchainError, ImageError) as error:
        return Outcome(job.name, " ".join(job.flags), 0, 0, 0, frozenset(), 0, "", failure=str(error))
    code = sha256(image.code_of(kernel.symbol)).hexdigest() if image is not None else ""
    return _Run(kernel, job, vectors, implementation, image, code).outcome(advance)


class _WrongLane(NamedTuple):
    number: int
    engine: str
    output: str
    place: tuple[int, ...]


class _Run:
    """One implementation on all vectors."""

    def __init__(
        self, kernel: Kernel, job: Job, vectors: Vectors, implementation: Implementation, image: Image | None, code: str
    ) -> None:
        self._kernel, self._job, self._vectors = kernel, job, vectors
        self._implementation, self._image, self._code = implementation, image, code
        self._results: list[CallResult] = []

    def outcome(self, advance: Advance) -> Outcome:
        stopped, divergence, interrupted = "", "", False
        for number, inputs in enumerate(self._vectors.inputs):
            try:
                result = self._implementation.call(self._kernel.arguments(inputs), call_seed(self._vectors, number))
            except (ExecutionError, CallError) as error:
                stopped = f"input set {number}: {error}{self._source_of(error)}"
                break
            except KeyboardInterrupt:
                interrupted = True
                break
            self._results.append(result)
            if result.divergence is not None:
                divergence = str(result.divergence)
                break
            advance(1)
        mismatch = self._mismatch()
        failure = "\n".join(str(part) for part in (stopped, divergence, mismatch) if part)
        return Outcome(
            self._job.name, " ".join(self._job.flags), self._vectors_run(), self._lanes(),
            sum(r.instructions for r in self._results), self._implementation.forms,
            sum(r.saturated for r in self._results), self._code, failure, divergence, mismatch, interrupted,
        )  # fmt: skip

    def _source_of(self, error: Exception) -> str:
        pc = error.pc if isinstance(error, ExecutionError) else None
        return f" ({self._image.place_of(pc)})" if self._image is not None and pc is not None else ""

    def _vectors_run(self) -> int:
        golden = self._vectors.golden[: len(self._results)]
        return sum(array.size for outputs in golden for array in outputs.values())

    def _lanes(self) -> int:
        return sum(array.size for r in self._results for outputs in r.outputs.values() for array in outputs.values())

    def _wrong_lanes(self) -> Iterator[_WrongLane]:
        for number, (result, golden) in enumerate(zip(self._results, self._vectors.golden, strict=False)):
            for engine, outputs in result.outputs.items():
                for name, expected in golden.items():
                    for lane in np.argwhere(outputs[name] != expected):
                        yield _WrongLane(number, engine, name, tuple(int(i) for i in lane))

    def _mismatch(self) -> Mismatch | None:
        wrong = list(self._wrong_lanes())
        if not wrong:
            return None
        detective = Detective(self._kernel, self._vectors, self._implementation)
        lane, finding = self._clearest_finding(detective, wrong)
        parted, node = finding.parting, finding.parting.node if finding.parting is not None else None
        pc = node.recorded.pc if node is not None else None
        return Mismatch(
            lane.engine, lane.output, lane.place,
            self._got(lane),
            int(self._vectors.golden[lane.number][lane.output][lane.place]),
            self._inputs_text(lane), len(wrong),
            parted.step if parted is not None else None,
            parted.golden if parted is not None else None,
            parted.agreed if parted is not None else (),
            node.recorded.occurrence.instruction.text if node is not None else "",
            self._image.place_of(pc) if self._image is not None and pc is not None else "intrinsics",
            finding.came_from,
            self._agreeing_conventions(),
        )  # fmt: skip

    def _clearest_finding(self, detective: Detective, wrong: Sequence[_WrongLane]) -> tuple[_WrongLane, Finding]:
        """The clearest wrong lane that still depends on the inputs.

        One that was set to a constant on the way (a bound, chosen by a branch) tells less, so of lanes that became
        the same number only the clearest is tried.
        """
        clearest = sorted(wrong[:400], key=lambda lane: -detective.clarity(lane.number, lane.place))
        one_each = {self._got(lane): lane for lane in reversed(clearest)}
        findings = []
        for lane in [lane for lane in clearest if one_each[self._got(lane)] is lane][:8]:
            right = self._right_lanes(lane, wrong)
            findings.append((lane, detective.investigate(lane.number, lane.output, lane.place, right)))
            if findings[-1][1].elements or not findings[-1][1].written:
                return findings[-1]
        return findings[0]

    def _got(self, lane: _WrongLane) -> int:
        return int(self._results[lane.number].outputs[lane.engine][lane.output][lane.place])

    def _right_lanes(self, lane: _WrongLane, wrong: Sequence[_WrongLane]) -> list[tuple[int, ...]]:
        """The lanes of the same output that are right."""
        bad = {other.place for other in wrong if (other.number, other.output) == (lane.number, lane.output)}
        shape = self._vectors.golden[lane.number][lane.output].shape
        return [place for place in np.ndindex(shape) if place not in bad]

    def _inputs_text(self, lane: _WrongLane) -> str:
        arguments = self._kernel.arguments(self._vectors.inputs[lane.number])
        shape = self._vectors.golden[lane.number][lane.output].shape
        parts = []
        for name, value in arguments.items():
            at_lane = isinstance(value, np.ndarray) and value.shape == shape
            parts.append(f"{name}{list(lane.place)}={value[lane.place]}" if at_lane else f"{name}={value}")
        return ", ".join(parts)

    def _agreeing_conventions(self) -> tuple[str, ...]:
        return tuple(name for name, golden in self._kernel.conventions.items() if self._agrees(golden))

    def _agrees(self, golden: Callable[[Inputs], Outputs]) -> bool:
        """Whether a convention gives every output of this implementation."""
        for inputs, result in zip(self._vectors.inputs, self._results, strict=False):
            try:
                expected = golden(inputs)
            except ValueError:
                return False
            for outputs in result.outputs.values():
                if any(not np.array_equal(outputs[name], array) for name, array in expected.items()):
                    return False
        return True
