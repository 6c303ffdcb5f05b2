"""How many vectors a check gets through: seconds of a processor for each part of it, and what processes gain.

The kernel of `lanewise init kernel`, and quantize_down: with 2,000 random output lanes, all in short rows, and with as
many as a check takes that is told no number.  The ratio is what a lane costs among many, of what it costs among few.

make bench
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

from sim import command
from sim.check.aim.aiming import aim
from sim.check.amounts import SHORT_LANES, USUAL_LANES
from sim.check.check import Job, check_job, jobs_of
from sim.check.separation import separation_of
from sim.check.vectors import make_vectors
from sim.kernels.kernel import Kernel, built_in_kernel
from sim.kernels.kernel_file import load_kernel
from sim.processes import processors, spread_here
from sim.terminal.script import parser_of, run_by_hand
from sim.toolchain.levels import LEVELS

RUNS = 3
EXAMPLE = Path(command.__file__).parent / "example" / "my_kernel.py"


def seconds(run: Callable[[], object], clock: Callable[[], float] = process_time) -> float:
    """The median of several runs."""
    found = []
    for _ in range(RUNS):
        start = clock()
        run()
        found.append(clock() - start)
    return median(found)


def checked(kernel: Kernel, lanes: int) -> float:
    """Print what each part of a check takes; seconds for each output lane."""
    made, jobs = make_vectors(kernel, lanes, 1), jobs_of(kernel, LEVELS)
    drawn = seconds(lambda: make_vectors(kernel, lanes, 1))
    parts = {"vectors": drawn, "separation": seconds(lambda: separation_of(kernel, made))}
    parts["aim"] = seconds(lambda: aim(kernel, jobs, made))
    for job in jobs:
        check_job(kernel, job, made)  # to compile
        parts[" ".join((job.name, *job.flags[:1]))] = seconds(partial(check_job, kernel, job, made))
    for name, taken in parts.items():
        print(f"  {name:24}{taken:8.2f} s")
    whole = sum(parts.values())
    print(f"{kernel.name}, {made.count:,} vectors: {whole:.1f} s, {1e6 * whole / made.count:,.0f} us each")
    return whole / made.count


def gained(kernel: Kernel) -> float:
    """How many times as fast all builds are checked by one process for each processor, by the clock on the wall."""
    made, jobs = make_vectors(kernel, SHORT_LANES, 1), jobs_of(kernel, LEVELS)

    def check(job: Job) -> bool:
        return not check_job(kernel, job, made).failure

    one = seconds(lambda: all(spread_here(check, jobs, 1)), perf_counter)
    return one / seconds(lambda: all(spread_here(check, jobs, processors())), perf_counter)


def main() -> None:
    parser_of(__doc__).parse_args()
    for kernel in (load_kernel(EXAMPLE), built_in_kernel("quantize_down")):
        few, many = checked(kernel, SHORT_LANES), checked(kernel, USUAL_LANES)
        print(f"a lane among many costs {many / few:.3f} of one among few")
        print(f"{processors()} processes are {gained(kernel):.2f} times as fast as one")


if __name__ == "__main__":
    run_by_hand(main)
