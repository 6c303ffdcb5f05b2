"""A kernel checked or called by one function: what `lanewise check` does, for programs and notebooks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from sim.call.call import CallResult, CompiledKernel, Engine, ProgramKernel
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
from sim.toolchain.compilers import fixed_flags, is_source
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
    if not isinstance(kernel, Kernel):  # what a type checker says, to those who have none
        how = "sim.kernels.load_kernel makes one of a file, built_in_kernel of a name"
        raise KernelError(f"check_kernel takes a Kernel, not {kernel!r:.60}: {how}")
    require_levels(levels)
    require_amounts(vectors=vectors, seed=seed)
    if missing := [file for file in (*kernel.sources, *kernel.with_sources) if not file.is_file()]:
        raise KernelError(
            f"the source {missing[0]} is not there: sim.kernels.load_kernel finds it beside a kernel file"
        )
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
