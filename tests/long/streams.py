"""The long run of random streams: a million instructions of machine and emulator in lockstep, on all cores.

    PYTHONPATH=tests .venv/bin/python -m long.streams [--instructions N] [--seed FIRST] [--streams COUNT]

Ends with 1 where something diverged, with the command that repeats it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count, islice
from multiprocessing import Pool
from random import Random

from rich.console import Console
from rich.progress import Progress

from sim.terminal.script import at_least_one, run_by_hand
from support.streams import Result, random_stream, run
from support.streams_vocabulary import vocabulary

MILLION = 1_000_000


@dataclass
class Total:
    """What all streams together did; `failures` by seed."""

    instructions: int = 0
    streams: int = 0
    forms: set[str] = field(default_factory=set)
    unverified: set[str] = field(default_factory=set)
    failures: dict[int, str] = field(default_factory=dict)

    def add(self, seed: int, result: Result) -> None:
        self.instructions += result.instructions
        self.streams += 1
        self.forms |= result.forms
        self.unverified |= result.unverified
        if result.failure:
            self.failures[seed] = result.failure


def stream_of(seed: int) -> tuple[int, Result]:
    """Make and run the stream of one seed."""
    rng = Random(seed)
    stream = random_stream(rng, vocabulary())
    return seed, run(stream, rng)


def run_streams(first: int, streams: int | None, instructions: int) -> Total:
    """Streams of the seeds from `first` on: so many of them, or (None) until enough instructions are executed.

    Where 64 of them execute none, no more are run.
    """
    total, before = Total(), -1
    seeds = count(first) if streams is None else iter(range(first, first + streams))
    with Progress(console=Console(stderr=True)) as progress, Pool() as workers:
        task = progress.add_task("instructions", total=instructions if streams is None else None)
        while before < total.instructions and (streams is not None or total.instructions < instructions):
            before = total.instructions
            for seed, result in workers.imap(stream_of, islice(seeds, 64)):
                total.add(seed, result)
                progress.update(task, completed=total.instructions, description=f"seed {seed}")
    return total


def summary(total: Total, first: int) -> Iterator[str]:
    """The figures, then every failure with what repeats it."""
    words = vocabulary()
    missing = sorted(words.of.keys() - total.forms)
    yield f"seeds         {first} to {first + total.streams - 1}"
    yield f"instructions  {total.instructions:,}"
    yield f"forms         {len(total.forms & words.of.keys()):,} of {len(words.of):,}"
    yield from (f"  not executed: {name}" for name in missing[:20])
    yield from (f"  left out: {name}: {reason}" for name, reason in words.left_out.items())
    yield f"unverified    {len(total.unverified)} forms that the emulator lacks or is known to get wrong"
    yield f"divergences   {len(total.failures)}"
    for seed, failure in total.failures.items():
        yield f"\n{failure}\nreproduce: PYTHONPATH=tests .venv/bin/python -m long.streams --seed {seed} --streams 1"


def main() -> int:
    """0 where nothing diverged, else 1."""
    parser = argparse.ArgumentParser(description="Random instruction streams, machine and emulator in lockstep.")
    parser.add_argument("--instructions", type=at_least_one, default=MILLION, help="how many to execute at least")
    parser.add_argument("--seed", type=int, default=0, help="of the first stream; the others count up")
    parser.add_argument("--streams", type=at_least_one, help="how many, instead of a number of instructions")
    given = parser.parse_args()
    total = run_streams(given.seed, given.streams, given.instructions)
    print("\n".join(summary(total, given.seed)))
    return 1 if total.failures or not total.instructions else 0


if __name__ == "__main__":
    run_by_hand(main)
