"""Whether the way of a wrong lane has the faulty line: `Session.why` on the planted faults of `long.planted_kernels`.

    PYTHONPATH=tests .venv/bin/python -m long.why_faults [LEVEL [COUNT]]    default: -O0, a hundred drawn with a seed

Ends with 1 where fewer than 95 % have it, at -O0, where every instruction belongs to one line.
"""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

from long.planted.planted import PlantedKernel
from long.planted_kernels import CORPORA, LANES, SEED
from sim.check.aim.aiming import aim
from sim.check.check import check_job, jobs_of
from sim.check.vectors import call_seed, make_vectors
from sim.debug.calls import debug_kernel
from sim.debug.session import Session

ENOUGH = 0.95


def has_line(planted: PlantedKernel, level: str, folder: Path) -> bool | None:
    """Whether the way of the first wrong lane has the faulty line; None where no lane is wrong."""
    kernel = planted.kernel(folder)
    (job,) = jobs_of(kernel, [level])
    vectors = make_vectors(kernel, LANES, SEED)
    outcome = check_job(kernel, job, vectors, engine="machine")
    if not outcome.failure:
        vectors = aim(kernel, [job], vectors).added_to(vectors)
        outcome = check_job(kernel, job, vectors, engine="machine")
    if outcome.mismatch is None or outcome.failed_set is None:
        return None
    inputs = vectors.inputs[outcome.failed_set]
    session = Session(debug_kernel(kernel, job, inputs, call_seed(vectors, outcome.failed_set)))
    session.goto_end()
    for name, expected in kernel.expected(inputs).items():
        wrong = np.argwhere(session.array(name) != expected)
        if len(wrong):
            lines = session.why(session.spot_of(name, tuple(wrong[0].tolist()))).lines
            return bool(planted.places & {line.removeprefix("near ") for line in lines})
    return None


def main() -> int:
    level, count = sys.argv[1] if len(sys.argv) > 1 else "O0", int(sys.argv[2]) if len(sys.argv) > 2 else 100
    faults = [planted for corpus in CORPORA.values() for planted in corpus.kernels() if planted.kind]
    Random(1).shuffle(faults)
    answers = list[bool]()
    with TemporaryDirectory() as folder:
        for planted in faults[:count]:
            begun = perf_counter()
            answer = has_line(planted, level.removeprefix("-"), Path(folder))
            answers += [] if answer is None else [answer]
            told = {None: "no wrong lane", True: "on the way", False: "NOT ON THE WAY"}[answer]
            print(f"{planted.title}: {told}, {perf_counter() - begun:.1f} s", file=sys.stderr)
    print(f"-{level.removeprefix('-')}: the faulty line is on the way of {sum(answers)} of {len(answers)} wrong lanes")
    return 1 if sum(answers) < ENOUGH * len(answers) else 0


if __name__ == "__main__":
    sys.exit(main())
