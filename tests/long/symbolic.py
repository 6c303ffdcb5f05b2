"""The long run of the symbolic machine: every form on many states, then streams until a million instructions are done.

    PYTHONPATH=tests .venv/bin/python -m long.symbolic [--states N] [--instructions N] [--seed FIRST] [--jobs N]

Ends with 1 where symbols came to something else than numbers, with what they came to.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from itertools import count
from multiprocessing import Pool
from random import Random

from rich.console import Console
from rich.progress import Progress

from sim.symbolic import simplify  # noqa: F401  # enters the rules
from sim.symbolic.nodes import Simplifier
from sim.terminal.script import at_least_one, parser_of, run_by_hand
from support.symbolic_forms import FORMS, form_difference
from support.symbolic_streams import stream_difference

MILLION = 1_000_000
LENGTHS = (4, 12, 25)
"""Instructions of a stream, by its seed: expressions grow with each."""
STREAMS_A_TASK = 20


def form_task(name: str, states: int) -> tuple[int, list[str]]:
    """One form on so many states: instructions executed, and what differed."""
    s, rng = Simplifier(), Random(name)
    found = [form_difference(name, rng.choice(FORMS[name]), number, s) for number in range(states)]
    return states, [difference for difference in found if difference]


def stream_task(first: int) -> tuple[int, list[str]]:
    """Streams of some seeds: instructions executed, and what differed."""
    s, executed, found = Simplifier(), 0, list[str]()
    for seed in range(first, first + STREAMS_A_TASK):
        done, difference = stream_difference(Random(seed), s, LENGTHS[seed % len(LENGTHS)])
        executed += done
        if difference:
            found.append(f"seed {seed}: {difference}")
    return executed, found


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--states", type=at_least_one, default=48)
    parser.add_argument("--instructions", type=at_least_one, default=MILLION)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=at_least_one, default=os.cpu_count())
    asked = parser.parse_args()
    differences, done = list[str](), 0
    with Progress(console=Console(stderr=True)) as progress, Pool(asked.jobs) as workers:
        task = progress.add_task("forms", total=len(FORMS))
        for _, found in workers.imap(partial(form_task, states=asked.states), FORMS):
            differences += found
            progress.advance(task)
        task = progress.add_task("instructions of streams", total=asked.instructions)
        seeds: Iterator[int] = count(asked.seed, STREAMS_A_TASK)
        before = -1
        while before < done < asked.instructions:  # where no stream gets anywhere, more of them do not either
            before = done
            for executed, found in workers.imap(stream_task, [next(seeds) for _ in range(16)]):
                differences += found
                done += executed
                progress.advance(task, executed)
    print(f"{len(FORMS)} forms on {asked.states} states each, {done:,} instructions of streams")
    print("\n".join(differences) or "symbols came to what numbers came to")
    return 1 if differences or done < asked.instructions else 0


if __name__ == "__main__":
    run_by_hand(main)
