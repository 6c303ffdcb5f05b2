"""A kernel checked, proved, captured or called by one function each: what commands do, for programs and notebooks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path

from isa.evaluate.smt import solver_version
from sim.call.call import CallResult, CompiledKernel, Engine, ProgramKernel
from sim.call.capture import Capture
from sim.call.kernel_image import open_kernel
from sim.check.aim.aiming import aim
from sim.check.amounts import require_amounts
from sim.check.check import Job, check_job, jobs_of
from sim.check.external import ExternalBackend, check_external_backend
from sim.check.repair.place import with_faults
from sim.check.report import Outcome, Report
from sim.check.separation import separation_of
from sim.check.vectors import make_vectors
from sim.kernels.kernel import Inputs, Kernel, KernelError
from sim.symbolic.kernel_proof import KernelProof
from sim.symbolic.proof import Prover
from sim.symbolic.shapes import shapes_of, unknown_inputs
from sim.toolchain.compilers import fixed_flags, is_source
from sim.toolchain.dwarf.function_types import require_fit
from sim.toolchain.image import Image
from sim.toolchain.levels import LEVELS, require_levels
from sim.toolchain.objects import compilers_of


def check_kernel(
    kernel: Kernel,
    *,
    levels: Sequence[str] = LEVELS,
    flags: Sequence[str] = (),
    vectors: int = 2000,
    seed: int = 1,
    engine: Engine = "lockstep",
    external: Sequence[ExternalBackend] = (),
) -> Report:
    """Compare every implementation of a kernel, lane by lane, with its golden reference.

    Each source is compiled at each of the optimisation `levels` ("O0" to "Oz"), with `flags` besides the kernel's own;
    then comes its program of intrinsics, then what is `external`, such as `rtl_models.build_hardware(kernel)`.  The
    inputs are the kernel's corners and random sets, drawn from `seed`, until these have as many output lanes as
    `vectors` says, then sets that are aimed at the golden reference and at one build of each source (`sim.check.aim`).
    With the engine "machine" compiled code runs without the emulator beside it, some 20 times faster.

    What differs, does not build or stops is an outcome of the report, and an interrupt ends it early.  Raises
    ValueError for other levels, vectors and seeds, KernelError where a source is not there, where the golden reference
    or a convention fails, ToolchainUnavailable.
    """
    _require_kernel("check_kernel", kernel)
    require_levels(levels)
    require_amounts(vectors=vectors, seed=seed)
    jobs, drawn = jobs_of(kernel, levels, flags), make_vectors(kernel, vectors, seed)
    aimed = aim(kernel, jobs, drawn)
    drawn = aimed.added_to(drawn)
    separation = separation_of(kernel, drawn)
    checks: list[Callable[[], Outcome]] = [partial(check_job, kernel, job, drawn, engine=engine) for job in jobs]
    checks += [partial(check_external_backend, kernel, one, drawn) for one in external]
    outcomes: list[Outcome] = []
    for check in checks:
        outcomes.append(check())
        if outcomes[-1].interrupted:
            break
    outcomes = with_faults(kernel, jobs, drawn, outcomes)
    options = {"levels": tuple(levels), "flags": tuple(flags), "vectors": vectors, "seed": seed, "engine": engine}
    told = ", ".join(f"{name}={value!r}" for name, value in options.items() if name != "flags" or flags)
    return Report(
        kernel=kernel.name,
        compiler=compilers_of(kernel.sources),
        seed=seed,
        outcomes=outcomes,
        reproduce=f"check_kernel({kernel.name}, {told})",
        common_flags=fixed_flags(*filter(is_source, kernel.sources)),
        engine=engine,
        separation=separation,
        tolerance=str(kernel.tolerance or ""),
        mode=kernel.mode,
        power=aimed.power,
    )


def call_kernel(kernel: Kernel, job: Job, inputs: Inputs, seed: int = 1) -> CallResult:
    """Call one implementation of a kernel on one input set, compiled code in lockstep on machine and emulator.

    `seed` is that of the undefined bytes around the arrays and in the registers.  Nothing is compared with the golden
    reference.  Raises KernelError for the inputs, ToolchainError and ImageError for the source, CallError, and what
    stops the machine: MemoryFault, Trap, UnsupportedInstruction.
    """
    arguments = kernel.arguments(inputs)
    if job.source is None:
        return ProgramKernel(kernel).call(arguments, seed)
    return CompiledKernel(open_kernel(kernel, job.source, *job.flags), kernel).call(arguments, seed)


def prove_kernel(
    kernel: Kernel,
    *,
    levels: Sequence[str] = ("O2",),
    flags: Sequence[str] = (),
    lengths: Collection[int] = range(18),
    rows: Collection[int] | None = None,
    each: Mapping[str, Sequence[int]] | None = None,
    known: Collection[str] = (),
    all_lengths: bool = False,
    seconds: float = 60,
) -> KernelProof:
    """Prove that compiled code leaves what the golden reference does, for all numbers in the kernel's domains.

    Each source is compiled at each of the `levels`, with `flags` besides the kernel's own; every shape has rows of one
    of the `lengths`, and one of the numbers of `rows` (None: 0 to 5, as far as the domain goes).  `each` gives the
    values of numbers that are taken one by one, `known` names those that stay as they are in an example; with
    `all_lengths` loops are proved for any length besides, by induction.  A question may take so many `seconds`.

    The `outcome` is "proved", "counter-example" or "unknown", and each of the `builds` says why.  Raises ValueError for
    other levels, KernelError where a source is not there or an input is not the kernel's, NoShape for a length that it
    cannot have, SolverMissing, ToolchainError, ImageError, ToolchainUnavailable.
    """
    _require_kernel("prove_kernel", kernel)
    require_levels(levels)
    solver_version()
    shapes = shapes_of(kernel, lengths, rows)
    if wrong := sorted(unknown_inputs(shapes, {*known, *(each or {})})):
        names = ", ".join(sorted({name for shape in shapes for name in shape.example}))
        raise KernelError(f"{kernel.title} has no input {wrong[0]!r}; it has {names}")
    builds: dict[str, Image | None] = {}
    for job in jobs_of(kernel, levels, flags):
        if job.source is not None:
            image = open_kernel(job.of(kernel), job.source, *job.flags)
            require_fit(image, kernel.symbol, kernel.signature)
            builds[" ".join([job.name, *job.flags[:1]])] = image
    if not builds:
        raise KernelError(f"{kernel.title} has no source: there is no code to be proved")
    return Prover(
        kernel, builds, shapes, each=each or {}, known=frozenset(known), seconds=seconds, jobs=1, kept_in=None,
        any_length=all_lengths,
    ).run()  # fmt: skip


def capture_kernel(
    kernel: Kernel,
    file: Path | str,
    *,
    level: str = "O2",
    flags: Sequence[str] = (),
    vectors: int = 2000,
    seed: int = 1,
) -> int:
    """Call a kernel on the lane machine with the input sets of a check, and write every call with what it left.

    The first source is compiled at that `level`; the calls go to `file` (.jsonl), their bytes beside it (.npz), in the
    form of docs/captured-calls.md, and `sim.replay.replay_calls` runs them again.  Returns how many there are.  Raises
    ValueError for another level or number, KernelError where a source is not there or the file is called otherwise,
    CallError and ExecutionError for a call that cannot be captured, ToolchainError, ImageError, ToolchainUnavailable,
    OSError.
    """
    _require_kernel("capture_kernel", kernel)
    require_levels((level,))
    require_amounts(vectors=vectors, seed=seed)
    path = Path(file)
    if path.suffix != ".jsonl":
        raise KernelError(f"captured calls are written to a file that ends in .jsonl, not to {path}")
    if not kernel.sources:
        raise KernelError(f"{kernel.title} has no source: there is no code to be called")
    calls, made = Capture(), make_vectors(kernel, vectors, seed)
    image = open_kernel(kernel, kernel.sources[0], f"-{level}", *kernel.flags, *flags)
    for number, inputs in enumerate(made.inputs):
        # each on a machine of its own, with the same bytes around it, so that equal bytes are kept once
        called = CompiledKernel(image, kernel)
        called.capture(kernel.arguments(inputs), 2 * seed, f"{kernel.name} {number}", calls)
    calls.save(path)
    return len(calls)


def _require_kernel(function: str, kernel: Kernel) -> None:
    """Raise KernelError for what is no kernel, or has sources that are not there."""
    if not isinstance(kernel, Kernel):  # what a type checker says, to those who have none
        how = "sim.kernels.load_kernel makes one of a file, built_in_kernel of a name"
        raise KernelError(f"{function} takes a Kernel, not {kernel!r:.60}: {how}")
    if missing := [file for file in (*kernel.sources, *kernel.with_sources) if not file.is_file()]:
        raise KernelError(
            f"the source {missing[0]} is not there: sim.kernels.load_kernel finds it beside a kernel file"
        )
