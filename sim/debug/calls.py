"""Calls that a session can be of: of a kernel, of a function with its arguments as text, of a captured call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from isa.errors import LanewiseError
from isa.lane import Place
from sim.call.buffers import PlacedArray
from sim.call.call import CallError, CompiledKernel
from sim.call.caller import RETURN_ADDRESS, Call, Caller
from sim.call.captured import CapturedCall
from sim.call.guards.findings import GuardError
from sim.call.guards.undefined_bytes import SeededBytes
from sim.call.kernel_image import open_kernel
from sim.call.limits import MAX_INSTRUCTIONS
from sim.call.lockstep import Lockstep
from sim.call.single import open_function, read_arguments
from sim.check.check import Job, check_job
from sim.check.repair.fault import FaultLines
from sim.check.report import Mismatch, Outcome
from sim.check.vectors import Vectors, call_seed
from sim.emulator import Emulator
from sim.kernels.kernel import Inputs, Kernel
from sim.machine.errors import ExecutionError
from sim.machine.machine import Machine
from sim.machine.memory import Memory
from sim.replay.run import difference
from sim.shrink.failing import shrink
from sim.shrink.trial import alone
from sim.toolchain.compilers import is_source
from sim.toolchain.image import Image

_NO_BUILD: Final = Job(None, ())
Prepare = Callable[[Machine, Sequence[Memory]], Mapping[str, PlacedArray]]
"""Makes a call ready on a new machine, and in other memories that must be alike; returns where its arrays lie."""


class DebugError(LanewiseError):
    """What there is no session of; the message is one sentence."""


class Trouble(NamedTuple):
    """What is wrong with a call, in words.

    It happens at the last execution before number `before` of the instruction at `pc`, or of what writes the `spot`;
    without these it is the one number `before` itself.  A wrong lane of an output is a `mismatch`.
    """

    says: str
    before: int
    pc: int | None = None
    mismatch: Mismatch | None = None
    spot: str = ""

    @property
    def has_happened(self) -> bool:
        """Whether it is behind its instruction that one sees it, and not before one that cannot be executed."""
        return bool(self.mismatch is not None or self.pc is not None or self.spot)


@dataclass(frozen=True, kw_only=True)
class DebuggedCall:
    """One call: how it is made ready, and the address where it has returned.

    `image` has its source lines, `kernel` its golden reference, of which `inputs` are the input set; None where there
    is none.  `job` is the build and `seed` that of what the caller does not define.  `blamed` are instruction and
    source line where a check of more calls saw a lane part, "" where none did, and `faults` the lines, one of which it
    has found at fault, by changes of the code after which every lane is right.  `compiled_from` is the source of an
    image that a user's command has compiled, None where the image is of a source itself, or of none.  `captured` has
    what was recorded of a captured call.
    """

    title: str
    prepare: Prepare
    until: int
    limit: int = MAX_INSTRUCTIONS
    image: Image | None = None
    kernel: Kernel | None = None
    inputs: Inputs = field(default_factory=dict)
    has_golden: bool = False
    job: Job = _NO_BUILD
    seed: int = 0
    blamed: tuple[str, str] = ("", "")
    faults: tuple[str, ...] = ()
    compiled_from: Path | None = None
    captured: CapturedCall | None = None

    @property
    def source(self) -> Path | None:
        """The source that it was compiled from; None where that is not known."""
        if self.compiled_from is None and self.image is not None and is_source(self.image.path):
            return self.image.path
        return self.compiled_from

    @property
    def result(self) -> Place | None:
        """The register of the result; None where there is none."""
        returns = self.kernel is not None and self.kernel.signature.returns
        return self.kernel.signature.result if self.kernel is not None and returns else None

    @property
    def result_size(self) -> int:
        """Bytes of the result."""
        returns = self.kernel.signature.returns if self.kernel is not None else ""
        return np.dtype(returns).itemsize if returns else 0

    def trouble(self) -> Trouble | None:
        """What a guarded call in lockstep, and the golden reference, find wrong with it first."""
        if self.kernel is None or self.image is None:
            return self._divergence()
        compiled = CompiledKernel(self.image, self.kernel, max_instructions=self.limit)
        try:
            result = compiled.call(self.kernel.arguments(self.inputs), self.seed)
        except GuardError as error:
            return Trouble(str(error), compiled.executed + 1, error.finding.pc)
        except (ExecutionError, CallError) as error:
            return Trouble(str(error), compiled.executed)
        if result.divergence is not None:
            return Trouble(str(result.divergence), result.divergence.index)
        for finding in result.findings:
            if not finding.harmless:
                return Trouble(str(finding), result.instructions, finding.pc)
        return self._mismatch(result.instructions)

    def _mismatch(self, instructions: int) -> Trouble | None:
        """A wrong lane of an output."""
        if self.kernel is None or not self.has_golden:
            return None
        golden = self.kernel.expected(self.inputs)
        vectors = Vectors([self.inputs], [golden], 0)
        outcome = check_job(self.kernel, self.job, vectors, engine="machine", max_instructions=self.limit)
        if outcome.mismatch is None:
            return None
        if self.faults:
            return Trouble(
                str(outcome.blaming(FaultLines(lines=self.faults)).mismatch), instructions, mismatch=outcome.mismatch
            )
        told, (instruction, source) = str(outcome.mismatch), self.blamed
        if instruction and self.blamed != (outcome.mismatch.instruction, outcome.mismatch.source):
            told += f"\n  the check, of more calls, has blamed {instruction} ({source})"
        return Trouble(told, instructions, mismatch=outcome.mismatch)

    def _divergence(self) -> Trouble | None:
        """Where machine and emulator differ first, or machine and record, in a call of which no more is known."""
        machine, emulator = Machine(), Emulator()
        self.prepare(machine, [emulator.memory])
        lockstep = Lockstep(machine, emulator, self.image)
        try:
            divergence = lockstep.run(self.until, self.limit)
        except ExecutionError as error:
            return Trouble(str(error), machine.instructions_executed)
        if divergence is not None:
            return Trouble(str(divergence), divergence.index)
        if self.captured is None or machine.pc != self.until:
            return None
        other, executed = difference(self.captured, self.limit), machine.instructions_executed
        return None if other is None else Trouble(other.detail, executed, spot=other.spot)


def debug_kernel(
    kernel: Kernel, job: Job, inputs: Inputs, seed: int = 1, has_golden: bool = True, image: Image | None = None
) -> DebuggedCall:
    """A call of one build of a kernel on an input set; `seed` is that of the undefined bytes around the call.

    Raises DebugError for the program of intrinsics, and what compiling raises.
    """
    if job.source is None:
        raise DebugError("the program of intrinsics has no machine code to go through: choose a source")
    opened = open_kernel(kernel, job.source, *job.flags) if image is None else image

    def prepare(machine: Machine, others: Sequence[Memory]) -> Mapping[str, PlacedArray]:
        caller = Caller(opened, kernel, machine, others)
        return caller.prepare(Call(kernel.arguments(inputs), seed), SeededBytes(seed))

    flags = next((flag for flag in job.flags if flag.startswith("-O")), "")
    return DebuggedCall(
        title=f"{kernel.title}, {job.name} {flags}".rstrip(), prepare=prepare, until=RETURN_ADDRESS, image=opened,
        kernel=kernel, inputs=inputs, has_golden=has_golden, job=job, seed=seed,
    )  # fmt: skip


def debug_other_build(call: DebuggedCall, flags: Sequence[str], source: str = "", symbol: str = "") -> DebuggedCall:
    """The same call of another build: of another source, one of its kernel's by name or any by path, of another
    function in it, with other flags; those that are not given are the same.  Raises DebugError where the call has no
    source, and where there is no such one, and as `debug_kernel`.
    """
    kernel, own = call.kernel, call.job.source
    if kernel is None or own is None:
        raise DebugError(f"{call.title} is of no source that could be built again")
    chosen = next((each for each in kernel.sources if each.name == (source or own.name)), Path(source))
    if not chosen.is_file():
        known = ", ".join(each.name for each in kernel.sources)
        raise DebugError(f"{kernel.name} has no source {source!r}, and there is no such file: it has {known}")
    if not source and not is_source(chosen):
        raise DebugError(f"{chosen.name} is not compiled: there is no other build of it")
    levels = [flag for flag in flags if flag.startswith("-O")]
    kept = [flag for flag in call.job.flags if not (levels and flag.startswith("-O"))]
    built = (*levels, *kept, *(flag for flag in flags if flag not in levels)) if is_source(chosen) else ()
    job = Job(chosen, built, symbol or call.job.symbol)
    return replace(debug_kernel(job.of(kernel), job, call.inputs, call.seed, call.has_golden), limit=call.limit)


def debug_failing(kernel: Kernel, job: Job, vectors: Vectors, outcome: Outcome, shrunk: bool = True) -> DebuggedCall:
    """The first input set of some vectors on which a check of the build fails, as its outcome says, made small first.

    Raises DebugError where none fails, and as `debug_kernel`.
    """
    if outcome.failed_set is None:
        raise DebugError(f"{outcome.title} has no call that fails: {outcome.failure or 'it agrees'}")
    inputs, seed = vectors.inputs[outcome.failed_set], call_seed(vectors, outcome.failed_set)
    if shrunk:
        small = shrink(kernel, job, vectors, outcome.failed_set)
        if small.outcome is not None and small.outcome.failed_set is not None:
            single = alone(kernel, small.inputs, vectors.seed)
            inputs, seed = small.inputs, call_seed(single, small.outcome.failed_set)
    call = debug_kernel(kernel, job, inputs, seed)
    if outcome.mismatch is None or outcome.mismatch.parted_at is None:
        return call
    return replace(call, blamed=(outcome.mismatch.instruction, outcome.mismatch.source))


def debug_function(
    file: Path,
    symbol: str,
    texts: Sequence[str],
    flags: Sequence[str],
    beside: Sequence[Path] = (),
    seed: int = 0,
    constructors: bool = False,
) -> DebuggedCall:
    """A call of a function as `lanewise run` makes it.  Raises what reading the arguments and compiling raise."""
    name, image, prototype = open_function(file, symbol, flags, beside, constructors)
    signature, values = read_arguments(prototype.signature, texts)
    kernel = Kernel(name=name, symbol=name, sources=(file,), signature=signature, golden=dict)
    return debug_kernel(kernel, Job(file, tuple(flags)), values, seed, has_golden=False, image=image)


def debug_captured(call: CapturedCall) -> DebuggedCall:
    """A captured call; its maps are all the memory that there is.

    A session of it raises CaptureError where these cannot be set up.
    """

    def prepare(machine: Machine, others: Sequence[Memory]) -> Mapping[str, PlacedArray]:
        for memory in (machine.memory, *others):
            call.set_up(memory)
        machine.registers.copy(call.registers_before())
        machine.pc = call.entry
        return {}

    return DebuggedCall(title=call.name, prepare=prepare, until=call.ret, captured=call)
