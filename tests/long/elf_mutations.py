"""The long run of damaged ELF files: none may crash, hang, fill the memory or end in a traceback.

    PYTHONPATH=tests .venv/bin/python -m long.elf_mutations [--files N] [--links N] [--seed FIRST]

Ends with 1 where a file was neither opened nor refused in one sentence, with the command that repeats it.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.progress import Progress

from sim.terminal.script import run_by_hand
from support.elf_mutations import damaged_outcome, limit_memory
from support.elf_originals import originals

BATCH = 50


@dataclass
class Total:
    """What came of all files; `failures` by the command's options that repeat one."""

    outcomes: Counter[str] = field(default_factory=Counter)
    failures: dict[str, str] = field(default_factory=dict)

    def add(self, option: str, seed: int, outcome: str) -> None:
        self.outcomes[f"{option} {outcome.split(':')[0]}"] += 1
        if outcome.startswith("wrong"):
            self.failures[only(option, 1, seed)] = outcome


def only(option: str, count: int, seed: int) -> str:
    """The options of a run of just these."""
    return " ".join(f"--{name} {count if name == option else 0}" for name in ("files", "links")) + f" --seed {seed}"


def batch(folder: Path, option: str, seeds: range) -> list[tuple[int, str]]:
    """In a process of its own: its memory is limited."""
    limit_memory()
    return [(seed, damaged_outcome(folder, option, seed)) for seed in seeds]


def batches(option: str, first: int, count: int) -> Iterator[tuple[str, range]]:
    for start in range(first, first + count, BATCH):
        yield option, range(start, min(start + BATCH, first + count))


def run(folder: Path, work: list[tuple[str, range]]) -> Total:
    """All batches over the cores; a batch whose process dies is a failure."""
    total = Total()
    with Progress(console=Console(stderr=True)) as progress, ProcessPoolExecutor() as workers:
        task = progress.add_task("files", total=sum(len(seeds) for _, seeds in work))
        running = [(option, seeds, workers.submit(batch, folder, option, seeds)) for option, seeds in work]
        for option, seeds, future in running:
            try:
                for seed, outcome in future.result():
                    total.add(option, seed, outcome)
            except BrokenProcessPool:
                total.failures[only(option, len(seeds), seeds.start)] = "wrong: a process died"
            progress.advance(task, len(seeds))
    return total


def summary(total: Total, first: int) -> Iterator[str]:
    """The figures, then every failure with what repeats it."""
    yield f"first seed      {first}"
    yield from (f"{name:<15} {count:,}" for name, count in sorted(total.outcomes.items()))
    yield f"failures        {len(total.failures)}"
    for options, failure in total.failures.items():
        yield f"\n{failure}\nreproduce: PYTHONPATH=tests .venv/bin/python -m long.elf_mutations {options}"


def main() -> int:
    """0 where every file was opened or refused, else 1."""
    parser = argparse.ArgumentParser(description="Damaged ELF files, read and linked.")
    parser.add_argument("--files", type=int, default=20_000, help="how many to read")
    parser.add_argument("--links", type=int, default=1_000, help="how many to link")
    parser.add_argument("--seed", type=int, default=0, help="of the first file of either kind; the others count up")
    given = parser.parse_args()
    with TemporaryDirectory() as place:
        os.environ["LANEWISE_CACHE"] = str(Path(place, "cache"))
        originals(Path(place))
        counts = {"files": given.files, "links": given.links}
        work = [one for option, count in counts.items() for one in batches(option, given.seed, count)]
        total = run(Path(place), work)
    print("\n".join(summary(total, given.seed)))
    return 1 if total.failures or not total.outcomes else 0


if __name__ == "__main__":
    run_by_hand(main)
