"""Whether the way of a wrong lane has the faulty line: `Session.why` on the planted faults of `long.planted_kernels`.

    PYTHONPATH=tests .venv/bin/python -m long.why_faults [LEVEL [COUNT]]    default: O2, a hundred drawn with a seed

Ends with 1 where fewer than 95 % have it.  Of an optimised build it is counted apart where only the lines name it that
the way has at -O0 too, and whether the line table gives the faulty line any instruction at all.
"""

from __future__ import annotations

import sys
from collections import Counter
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
from sim.terminal.script import at_least_one, parser_of, run_by_hand

ENOUGH = 0.95


ON, AT_O0, OFF, RIGHT = "on the way", "on the way at -O0 alone", "NOT ON THE WAY", "no wrong lane"


def told_of(planted: PlantedKernel, level: str, folder: Path) -> tuple[str, bool]:
    """Where the way of the first wrong lane has the faulty line, and whether an instruction belongs to that line."""
    kernel = planted.kernel(folder)
    (job,) = jobs_of(kernel, [level])
    vectors = make_vectors(kernel, LANES, SEED)
    outcome = check_job(kernel, job, vectors, engine="machine")
    if not outcome.failure:
        vectors = aim(kernel, [job], vectors).added_to(vectors)
        outcome = check_job(kernel, job, vectors, engine="machine")
    if outcome.mismatch is None or outcome.failed_set is None:
        return RIGHT, False
    inputs = vectors.inputs[outcome.failed_set]
    session = Session(debug_kernel(kernel, job, inputs, call_seed(vectors, outcome.failed_set)))
    session.goto_end()
    for name, expected in kernel.expected(inputs).items():
        wrong = np.argwhere(session.array(name) != expected)
        if len(wrong):
            way = session.why(session.spot_of(name, tuple(wrong[0].tolist())))
            has_code = session.call.image is not None and any(
                str(at) in planted.places for *_, at in session.call.image.lines
            )
            if planted.places.isdisjoint(line.removeprefix("near ") for line in way.lines):
                return OFF, has_code
            return AT_O0 if planted.places <= {*way.unoptimized} else ON, has_code
    return RIGHT, False


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("level", nargs="?", default="O2")
    parser.add_argument("count", nargs="?", type=at_least_one, default=100)
    given = parser.parse_args()
    level, count = given.level, given.count
    faults = [planted for corpus in CORPORA.values() for planted in corpus.kernels() if planted.kind]
    Random(1).shuffle(faults)
    answers = Counter[tuple[str, bool]]()
    with TemporaryDirectory() as folder:
        for planted in faults[:count]:
            begun = perf_counter()
            told, has_code = told_of(planted, level.removeprefix("-"), Path(folder))
            answers[told, has_code] += 1
            code = "" if has_code or told == RIGHT else ", the line has no instruction"
            print(f"{planted.title}: {told}{code}, {perf_counter() - begun:.1f} s", file=sys.stderr)
    counted = {told: answers[told, False] + answers[told, True] for told in (ON, AT_O0, OFF, RIGHT)}
    wrong = counted[ON] + counted[AT_O0] + counted[OFF]
    have = counted[ON] + counted[AT_O0]
    print(f"-{level.removeprefix('-')}: the faulty line is on the way of {have} of {wrong} wrong lanes,")
    print(f"in {counted[AT_O0]} by the lines at -O0 alone, where {answers[AT_O0, False]} have no instruction;")
    print(f"of the {counted[OFF]} others {answers[OFF, False]} have none; {counted[RIGHT]} kernels have no wrong lane")
    return 1 if have < ENOUGH * wrong or not wrong else 0


if __name__ == "__main__":
    run_by_hand(main)
