"""A kernel timed by one function: what `lanewise cycles KERNEL` does, for programs and notebooks; and loops to time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from sim.call.call import MAX_INSTRUCTIONS
from sim.cycles.cores import REAL_CORES, cores_of
from sim.cycles.input import kernel_calls
from sim.cycles.result import TimedResult, time_on
from sim.kernels.kernel import Kernel
from sim.timing.analysis.advice import Advice
from sim.timing.analysis.advice import advise as tried_changes
from sim.timing.analysis.loop_report import uniform_loop
from sim.timing.analysis.sweeps import alignment_sweep, cache_sweep
from sim.timing.loops.bare_loop import body_in_file, loop_of_body
from sim.timing.loops.found_loops import Entry, find_loops, hottest
from sim.timing.loops.loop import Loop
from sim.timing.model.core import Core
from sim.timing.model.stream import Executed
from sim.toolchain.levels import level_flags


def time_kernel(
    kernel: Kernel,
    cores: str | Core | Sequence[str | Core] = REAL_CORES,
    *,
    levels: Sequence[str] = ("O2",),
    flags: Sequence[str] = (),
    length: int | None = None,
    seed: int = 1,
) -> list[TimedResult]:
    """Time a typical call of a kernel on each core: its first source at each of the `levels` ("O0" to "Oz"), then its
    program.

    The call is the largest of a hundred random ones, drawn from `seed`; where the kernel has rows of any length, one
    row of `length` elements (256).  Results are in the order of the calls, for each in that of the cores, in cycles.
    Raises ValueError for other levels, KernelError, CoreError, and what compiling and calling raise:
    ToolchainError, ImageError, ExecutionError, CallError.
    """
    chosen = cores_of(cores)
    calls = kernel_calls(kernel, level_flags(levels), flags, length, seed, MAX_INSTRUCTIONS)
    return [time_on(call, core) for call in calls for core in chosen]


def loop_in_file(file: str | Path, label: str | None = None, *flags: str) -> Loop:
    """The loop of a source, or of compiled code, that stands behind a label or in a function, without its caller.

    Without a label it is the last loop of a source.  Raises BareLoopError for code that is no loop or whose iterations
    differ, and what compiling raises: ToolchainError, ImageError.
    """
    return loop_of_body(body_in_file(Path(file), label, *flags))


def advise(result: TimedResult) -> list[Advice]:
    """Changes tried on what was timed: on the loop, else on a call's hottest one, else on all that it executes.

    Those that save most come first; `best_advice` has the few that are advised.  Raises ValueError if nothing can be
    tried.
    """
    core, stream = result.schedule.core, result.schedule.stream
    hottest, entry = result.report.hottest, _longest_entry(stream)
    loop = uniform_loop(stream, entry) if entry else None
    if result.loop:
        tried = tried_changes(result.loop.loop, core, result.loop.count)
    elif entry and loop and hottest:
        tried = tried_changes(loop, core, hottest.iterations, len(entry.iterations))
    else:
        tried = tried_changes(stream, core)
    return [replace(one, what=result.told(one.what)) for one in tried]


SWEEPS: Final = ("alignment", "cache")
"""What can be gone through with `sweep`."""


def sweep(result: TimedResult, over: str) -> dict[int, int]:
    """Cycles of what was timed, by bytes that every access is moved ("alignment"), or by L2's latency ("cache").

    With "cache" the caches are empty at first, those of a loop alone never.  Raises ValueError for a loop then, for a
    core without a second cache, and for another word.
    """
    core = result.schedule.core
    if over == "alignment":
        loop = result.loop
        return alignment_sweep(loop.loop, core, loop.count) if loop else alignment_sweep(result.schedule.stream, core)
    if over != "cache":
        raise ValueError(f"a sweep is over {' or '.join(SWEEPS)}, not {over!r}")
    if result.loop:
        raise ValueError("a loop alone is warm: caches are of calls")
    return cache_sweep(result.schedule.stream, core)


def hottest_loop(stream: Sequence[Executed]) -> Loop | None:
    """The loop in which a stream executes most, from its longest run; None without one, or if its iterations differ."""
    entry = _longest_entry(stream)
    return uniform_loop(stream, entry) if entry else None


def _longest_entry(stream: Sequence[Executed]) -> Entry | None:
    loop = hottest(find_loops(stream))
    return loop.longest if loop else None
