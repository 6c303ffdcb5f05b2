"""Which call a command is to debug, from what a user names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from sim.call.captured import chosen_call
from sim.call.kernel_image import Build
from sim.call.limits import MAX_INSTRUCTIONS
from sim.check.aim.kept import aimed_or_kept
from sim.check.check import Job, check_job, jobs_of
from sim.check.repair.fault import FAULT_PLACE
from sim.check.vectors import call_seed, make_vectors
from sim.check.written_inputs import read_inputs
from sim.cycles.typical import output_elements, typical_arguments
from sim.debug.calls import DebugError, DebuggedCall, debug_captured, debug_failing, debug_function, debug_kernel
from sim.kernels.inputs import Samples
from sim.kernels.kernel import Inputs, Kernel, built_in_kernel
from sim.kernels.kernel_file import is_path, load_kernel
from sim.toolchain.compile_commands import object_as_told, source_as_told
from sim.toolchain.compilers import is_source
from sim.toolchain.levels import LEVELS

_DRAWN = 100
"""Random input sets of which the largest is called where none is named."""


@dataclass(frozen=True, kw_only=True)
class DebugRequest:
    """What is to be debugged, as it was given; None for what was not given.

    `what` is a kernel, a kernel file (.py), captured calls (.jsonl), or a source, object or library with the function
    `symbol` and its `arguments`.  Of a kernel, `number` is an input set of a check with that `seed` and so many random
    `vectors`, `inputs` is one as JSON, and `failing` asks for the first one that fails, made small; `faults` are the
    source lines, of which a check has found one at fault, such as "kernel.c:41".  Its code may be `kernel_symbol` of an
    `object_file`, and it may `hold` numbers of its calls; `compile_with` is how the source of it, or of a function, is
    compiled.
    """

    what: str
    symbol: str | None = None
    arguments: tuple[str, ...] = ()
    level: str = "-O2"
    flags: tuple[str, ...] = ()
    beside: tuple[Path, ...] = ()
    mode: str | None = None
    source: str | None = None
    length: int | None = None
    seed: int = 1
    vectors: int | None = None
    number: int | None = None
    inputs: str | None = None
    failing: bool = False
    faults: tuple[str, ...] = ()
    call: str | None = None
    limit: int = MAX_INSTRUCTIONS
    object_file: Path | None = None
    kernel_symbol: str | None = None
    compile_with: str | None = None
    constructors: bool = False
    hold: Mapping[str, int] = field(default_factory=dict)


def find_call(wanted: DebugRequest) -> DebuggedCall:
    """The call that is meant.  Raises DebugError for what does not fit, and what compiling and reading raise."""
    path = source = Path(wanted.what)
    is_file = is_path(wanted.what)
    is_kernel = not is_file or path.suffix == ".py"
    which = {
        "--failing": wanted.failing, "--set": wanted.number is not None, "--inputs": wanted.inputs is not None,
        "--length": wanted.length is not None,
    }  # fmt: skip
    chosen = [option for option, given in which.items() if given]
    if not is_kernel and (chosen or wanted.mode):
        raise DebugError(f"{', '.join(which)} and --mode are for a kernel, and {wanted.what} is none")
    if len(chosen) > 1:
        raise DebugError(f"{chosen[0]} and {chosen[1]} both say which call of the kernel: give one of them")
    if is_kernel and wanted.symbol is not None:
        raise DebugError(f"{wanted.what} is a kernel and takes no function or argument such as {wanted.symbol!r}")
    if wanted.faults and not is_kernel:
        raise DebugError(f"--fault is for a kernel with a golden reference, and {wanted.what} is none")
    of_kernels = {"--object": wanted.object_file, "--symbol": wanted.kernel_symbol, "--hold": wanted.hold}
    if not is_kernel and (given := [option for option, value in of_kernels.items() if value]):
        raise DebugError(f"{given[0]} is for a kernel, and {wanted.what} is none")
    for fault in wanted.faults:
        if not FAULT_PLACE.fullmatch(fault):
            raise DebugError(
                f"--fault takes FILE:LINE, such as kernel.c:41, or kernel+0x1c of code without lines, not {fault!r}"
            )
    if wanted.call is not None and path.suffix != ".jsonl":
        raise DebugError(f"--call is for captured calls (.jsonl), and {wanted.what} has none")
    if is_kernel:
        kernel = load_kernel(path, wanted.mode) if is_file else built_in_kernel(wanted.what, wanted.mode)
        source = next(iter(kernel.sources), path)
        build = Build(
            files=[wanted.object_file] if wanted.object_file else (), compile_with=wanted.compile_with,
            symbol=wanted.kernel_symbol, beside=wanted.beside, constructors=wanted.constructors,
        )  # fmt: skip
        found = _of_kernel(build.of(kernel.held(wanted.hold)), wanted)
    elif path.suffix == ".jsonl":
        found = debug_captured(chosen_call(path, wanted.call))
    elif wanted.symbol is None:
        raise DebugError(f"name the function of {path} to call, and give its arguments")
    else:
        flags = (wanted.level, *wanted.flags)
        file = path if wanted.compile_with is None else object_as_told(wanted.compile_with, path)
        found = debug_function(
            file, wanted.symbol, wanted.arguments, flags, wanted.beside, wanted.seed, wanted.constructors
        )
    if wanted.compile_with is not None:
        found = replace(found, compiled_from=source_as_told(wanted.compile_with, source))
    return replace(found, limit=wanted.limit, faults=wanted.faults)


def _of_kernel(kernel: Kernel, wanted: DebugRequest) -> DebuggedCall:
    sources = [each for each in kernel.sources if wanted.source in (None, each.name)]
    if not sources and wanted.source is not None and Path(wanted.source).is_file():
        sources = [Path(wanted.source)]
        kernel = replace(kernel, sources=tuple(sources), program=None)
    if not sources:
        raise DebugError(f"{kernel.name} has no source {wanted.source!r}: {', '.join(s.name for s in kernel.sources)}")
    compiled = is_source(sources[0])
    job = Job(sources[0], (wanted.level, *kernel.flags, *wanted.flags) if compiled else ())
    if wanted.failing:
        return _failing(kernel, job, wanted)
    if wanted.inputs is not None:
        return debug_kernel(kernel, job, read_inputs(kernel, wanted.inputs), wanted.seed)
    if wanted.number is not None:
        vectors = make_vectors(kernel, wanted.vectors, wanted.seed)
        if wanted.number >= len(vectors.inputs):
            vectors = aimed_or_kept(wanted.what, kernel, [job], vectors).added_to(vectors)
        if wanted.number >= len(vectors.inputs):
            raise DebugError(f"a check with these options has {len(vectors.inputs):,} input sets, from 0 on")
        return debug_kernel(kernel, job, vectors.inputs[wanted.number], call_seed(vectors, wanted.number))
    if wanted.length is not None and not kernel.takes_inputs:  # a row of arguments, which no golden reference knows
        row = typical_arguments(kernel, wanted.length, wanted.seed)
        return debug_kernel(replace(kernel, arguments=dict), job, row, has_golden=False)
    return debug_kernel(kernel, job, _typical_inputs(kernel, wanted))


def _failing(kernel: Kernel, job: Job, wanted: DebugRequest) -> DebuggedCall:
    """The first failing input set of a check with these options, made small."""
    vectors = make_vectors(kernel, wanted.vectors, wanted.seed)
    outcome = check_job(kernel, job, vectors, max_instructions=wanted.limit)
    if not outcome.failure:  # as a check aims them, then at this build
        for jobs in (jobs_of(kernel, LEVELS, wanted.flags), [job]):
            aimed = aimed_or_kept(wanted.what, kernel, jobs, vectors).added_to(vectors)
            outcome = check_job(kernel, job, aimed, max_instructions=wanted.limit)
            if outcome.failure:
                return debug_failing(kernel, job, aimed, outcome)
    if not outcome.failure:
        raise DebugError(f"{outcome.title} agrees on all {len(vectors.inputs):,} input sets: no call of it fails")
    return debug_failing(kernel, job, vectors, outcome)


def _typical_inputs(kernel: Kernel, wanted: DebugRequest) -> Inputs:
    """A row of the domain, of a length that may be chosen; where inputs are no arguments, the largest of some sets."""
    if kernel.takes_inputs:
        return typical_arguments(kernel, wanted.length, wanted.seed)
    rng = np.random.default_rng(wanted.seed)
    samples = Samples(kernel, kernel.sample)
    drawn = [samples.draw(rng) for _ in range(_DRAWN)]
    return max(drawn, key=lambda inputs: output_elements(kernel.signature, kernel.arguments(inputs)))
