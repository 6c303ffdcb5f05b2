"""The long run of proofs: faults planted by seed in the machine code of kernels, each proved or refuted, and tried.

    PYTHONPATH=tests .venv/bin/python -m long.proofs [--faults N] [--seed FIRST] [--seconds N] [--jobs N]
        [--json FILE]

Ends with 1 where a proof says of a fault what inputs say otherwise: proved although some input shows it, or refuted by
inputs on which the check in lockstep finds nothing.  `undecided` are shown: no more is said of them than that.
Ctrl-C says what is known until then, with 130.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from rich.console import Console
from rich.progress import Progress

from isa.errors import INTERRUPTED, MISMATCH
from sim.terminal.script import at_least_one, parser_of, run_by_hand
from support.planted_words import SUBJECTS, Planted, judged


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--faults", type=at_least_one, default=240)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=120, help="for a question")
    parser.add_argument("--jobs", type=at_least_one, default=os.cpu_count())
    parser.add_argument("--json", default=None)
    asked = parser.parse_args()
    found: list[Planted] = []
    with (
        Progress(console=Console(stderr=True)) as progress,
        ProcessPoolExecutor(asked.jobs, get_context("fork")) as workers,
    ):
        task = progress.add_task("faults", total=asked.faults)
        seeds = range(asked.seed, asked.seed + asked.faults)
        try:
            planted = [workers.submit(judged, SUBJECTS[n % len(SUBJECTS)], n, asked.seconds) for n in seeds]
            for done in as_completed(planted):
                one = done.result()
                found.append(one)
                progress.advance(task)
                if one.verdict == "undecided" or one.verdict.startswith("WRONGLY"):
                    print(f"{one.verdict}: {one.subject}, {one.where}: {one.said}", flush=True)
        except KeyboardInterrupt:
            workers.shutdown(wait=False, cancel_futures=True)
            print(f"interrupted after {len(found)} of {asked.faults}", flush=True)
    verdicts = Counter(one.verdict for one in found)
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items())))
    if asked.json:
        with open(asked.json, "w") as file:
            json.dump([one._asdict() for one in sorted(found)], file, indent=1)
    wrong = any(verdict.startswith("WRONGLY") for verdict in verdicts)
    return MISMATCH if wrong else INTERRUPTED if len(found) < asked.faults else 0


if __name__ == "__main__":
    run_by_hand(main)
