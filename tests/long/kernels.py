"""The long run of the kernels: every mode, every build and the program, on 200,000 separating vectors.

    PYTHONPATH=tests .venv/bin/python -m long.kernels [--vectors N] [--seed N] [KERNEL[:MODE] ...]

The builds run on the lane machine alone; the fast suite runs them in lockstep.  Ends with 1 where a lane differs or
where no vector separates a mode from any other arithmetic, with the command that repeats it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import NamedTuple

from rich.console import Console
from rich.progress import Progress

from sim.check.check import check_job, jobs_of
from sim.check.separation import separation_of
from sim.check.vectors import Vectors, make_vectors
from sim.kernels import Kernel, built_in_kernel, kernel_modes, kernel_names
from sim.processes import processors, spread_here
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


class Part(NamedTuple):
    """One implementation of a mode, by its number, or what separates the mode from others (None)."""

    name: str
    number: int | None


class Checked(NamedTuple):
    """What came of a part."""

    part: Part
    lanes: int = 0
    failures: tuple[str, ...] = ()
    vectors: int = 0
    separating: int = 0
    separated: int = 0
    conventions: int = 0
    seconds: float = 0.0


@lru_cache(maxsize=2)
def prepared(name: str, vectors: int, seed: int) -> tuple[Kernel, Vectors]:
    """A mode with its vectors; parts of one come to a process one after the other."""
    kernel = built_in_kernel(*name.split(":"))
    return kernel, make_vectors(kernel, vectors, seed)


def check(vectors: int, seed: int, part: Part) -> Checked:
    """Check a part, in a process of its own."""
    started = time.process_time()
    kernel, made = prepared(part.name, vectors, seed)
    if part.number is None:
        separation = separation_of(kernel, made)
        nothing = ("no vector separates it",) if kernel.conventions and not separation.lanes_of_own else ()
        return Checked(
            part, failures=nothing, vectors=made.count, separating=separation.lanes_of_own,
            separated=sum(pair.lanes > 0 for pair in separation.of_own), conventions=len(separation.of_own),
            seconds=time.process_time() - started,
        )  # fmt: skip
    outcome = check_job(kernel, jobs_of(kernel, LEVELS)[part.number], made, engine="machine")
    failures = (f"{outcome.title}: {outcome.failure}",) if outcome.failure else ()
    return Checked(part, outcome.lanes_compared, failures, seconds=time.process_time() - started)


def row_of(name: str, parts: Sequence[Checked]) -> Row:
    """All parts of a mode together."""
    (about,) = (each for each in parts if each.part.number is None)
    failures = tuple(failure for each in parts for failure in each.failures)
    return Row(
        name, len(parts) - 1, about.vectors, about.separating, about.separated, about.conventions,
        sum(each.lanes for each in parts), failures, sum(each.seconds for each in parts),
    )  # fmt: skip


def run(names: Sequence[str], vectors: int, seed: int) -> list[Row]:
    """All implementations of all modes over the cores; each row is printed when it is there."""
    rows, done = [], {name: list[Checked]() for name in names}
    counts = {name: len(jobs_of(built_in_kernel(*name.split(":")), LEVELS)) for name in names}
    # The program first: it takes longest.
    parts = [Part(name, number) for name in names for number in (*reversed(range(counts[name])), None)]
    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task("implementations", total=len(parts))
        for each in spread_here(partial(check, vectors, seed), parts, processors()):
            progress.advance(task)
            found = done[each.part.name]
            found.append(each)
            if len(found) == counts[each.part.name] + 1:
                rows.append(row_of(each.part.name, sorted(found, key=lambda one: one.part.number or 0)))
                print(rows[-1], flush=True)
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
    sys.exit(main())
