"""The long run of the kernels: every mode, every build and the program, on 200,000 separating vectors.

    PYTHONPATH=tests .venv/bin/python -m long.kernels [--vectors N] [--seed N] [KERNEL[:MODE] ...]

The builds run on the lane machine alone; the fast suite runs them in lockstep.  Ends with 1 where a lane differs or
where no vector separates a mode from any other arithmetic, with the command that repeats it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from rich.console import Console
from rich.progress import Progress

from sim.check.check import check_job, jobs_of
from sim.check.separation import separation_of
from sim.check.vectors import make_vectors
from sim.kernels import built_in_kernel, kernel_modes, kernel_names
from sim.processes import processors, spread_here
from sim.terminal.script import run_by_hand
from sim.toolchain.levels import LEVELS


@dataclass(frozen=True)
class Row:
    """What came of one mode; `separating` are the vectors on which another arithmetic gives something else.

    `seconds` are those of a processor.
    """

    name: str
    implementations: int
    vectors: int
    separating: int
    separated: int
    conventions: int
    lanes: int
    failures: tuple[str, ...]
    seconds: float

    def __str__(self) -> str:
        return (
            f"{self.name:<44} {self.implementations:>2} implementations  {self.vectors:>7,} vectors, "
            f"{self.separating:>7,} separate ({self.separated} of {self.conventions} arithmetics)  "
            f"{self.lanes:>9,} lanes, {len(self.failures)} failures  {self.seconds:>5.0f} s"
        )


def check(vectors: int, seed: int, name: str) -> Row:
    """Check a mode, in a process of its own."""
    started = time.process_time()
    kernel = built_in_kernel(*name.split(":"))
    made = make_vectors(kernel, vectors, seed)
    outcomes = [check_job(kernel, job, made, engine="machine") for job in jobs_of(kernel, LEVELS)]
    failures = [f"{outcome.title}: {outcome.failure}" for outcome in outcomes if outcome.failure]
    separation = separation_of(kernel, made)
    if kernel.conventions and not separation.lanes_of_own:
        failures.append("no vector separates it")
    return Row(
        name, len(outcomes), made.count, separation.lanes_of_own, sum(pair.lanes > 0 for pair in separation.of_own),
        len(separation.of_own), sum(outcome.lanes_compared for outcome in outcomes), tuple(failures),
        time.process_time() - started,
    )  # fmt: skip


def run(names: Sequence[str], vectors: int, seed: int) -> list[Row]:
    """All implementations of all modes over the cores; each row is printed when it is there."""
    rows = []
    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task("modes", total=len(names))
        for row in spread_here(partial(check, vectors, seed), names, processors()):
            progress.advance(task)
            rows.append(row)
            print(row, flush=True)
    return rows


def main() -> int:
    """0 where every lane agrees, else 1."""
    parser = argparse.ArgumentParser(description="Every mode of every kernel on separating vectors.")
    parser.add_argument("modes", nargs="*", help="KERNEL or KERNEL:MODE; default: all")
    parser.add_argument("--vectors", type=int, default=200_000, help="random output lanes of each mode")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    chosen = given.modes or kernel_names()
    names = [name if ":" in name else f"{name}:{mode}" for name in chosen for mode in kernel_modes(name.split(":")[0])]
    rows = run(list(dict.fromkeys(names)), given.vectors, given.seed)
    failures = [row for row in rows if row.failures]
    print(f"{len(rows)} modes, seed {given.seed}: {len(failures)} with failures")
    for row in failures:
        print("\n".join(row.failures))
        print(
            f"reproduce: PYTHONPATH=tests .venv/bin/python -m long.kernels {row.name} "
            f"--vectors {given.vectors} --seed {given.seed}"
        )
    return 1 if failures or not rows else 0


if __name__ == "__main__":
    run_by_hand(main)
