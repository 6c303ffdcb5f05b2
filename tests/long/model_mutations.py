"""The long run of damaged networks, .tflite and .onnx: none may crash, hang, fill the memory or end in a traceback.

    PYTHONPATH=tests .venv/bin/python -m long.model_mutations [--count N] [--seed FIRST] [--workers N]

Each is read and run by the golden reference in a process whose memory is limited.  Ends with 1 where one was neither
run nor refused in one sentence, with what repeats it.
"""

from __future__ import annotations

import argparse
import resource
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

from sim.terminal.script import at_least_one, run_by_hand
from support.model_mutations import READERS, damaged_network_outcome

BATCH = 100
ADDRESS_SPACE = 6 << 30
"""Bytes: what numpy's and onnx's libraries reserve, and the largest array that a layer may take."""


def batch(folder: Path, suffix: str, seeds: range) -> list[str]:
    """In a process of its own."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    return [damaged_network_outcome(folder, suffix, seed) for seed in seeds]


def main() -> int:
    parser = argparse.ArgumentParser(description="Damaged networks, read and run.")
    parser.add_argument("--count", type=at_least_one, default=20_000, help="how many of each kind of file")
    parser.add_argument("--seed", type=int, default=0, help="of the first file of either kind; the others count up")
    parser.add_argument("--workers", type=at_least_one, default=2, help="processes at once")
    given = parser.parse_args()
    outcomes, failures = Counter[str](), list[tuple[str, str]]()
    starts = range(given.seed, given.seed + given.count, BATCH)
    work = [(suffix, range(at, min(at + BATCH, starts.stop))) for suffix, at in product(READERS, starts)]
    with TemporaryDirectory() as folder, ProcessPoolExecutor(given.workers) as workers:
        running = [(suffix, seeds, workers.submit(batch, Path(folder), suffix, seeds)) for suffix, seeds in work]
        for suffix, seeds, future in running:
            try:
                found = future.result()
            except BrokenProcessPool:
                only = f"--count {len(seeds)} --seed {seeds.start}"
                failures.append((f"{suffix}, one of these or of those beside: a process died", only))
                continue
            outcomes.update(f"{suffix} {outcome.split(':')[0]}" for outcome in found)
            failures += [
                (f"{suffix}: {outcome}", f"--count 1 --seed {seed}")
                for seed, outcome in zip(seeds, found, strict=True)
                if outcome.startswith("wrong")
            ]
    for name, count in sorted(outcomes.items()):
        print(f"{name:<16} {count:,}")
    print(f"failures         {len(failures)}")
    for failure, only in failures:
        print(f"{failure}\nreproduce: PYTHONPATH=tests .venv/bin/python -m long.model_mutations {only}")
    return 1 if failures or not outcomes else 0


if __name__ == "__main__":
    run_by_hand(main)
