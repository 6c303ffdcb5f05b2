"""A planted fault in each of 200 kernels, and their correct twins: what a default check finds, and what it refuses.

    PYTHONPATH=tests .venv/bin/python -m long.planted_kernels [WORD ...]    only titles with one of the words

A fault counts as found where the inputs of a default check fail at -O2; they are the same at every level.  What is not
found, and twins that are refused, are listed; then the exit code is 1.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from long.planted.kernels import PlantedKernel, planted_kernels
from sim.check.aim.aiming import aim
from sim.check.check import check_job, jobs_of
from sim.check.report import Outcome
from sim.check.vectors import make_vectors

LANES, SEED = 2000, 1
"""Those of a default check."""


def outcome_of(planted: PlantedKernel, folder: Path) -> Outcome:
    """The -O2 build of a kernel on the inputs of a default check."""
    kernel = planted.kernel(folder)
    (job,) = jobs_of(kernel, ["O2"])
    vectors = make_vectors(kernel, LANES, SEED)
    return check_job(kernel, job, aim(kernel, [job], vectors).added_to(vectors), engine="machine")


def main() -> int:
    words, wrong, slowest = sys.argv[1:], list[str](), 0.0
    met, of = Counter[str](), Counter[str]()
    with TemporaryDirectory() as folder:
        for planted in planted_kernels():
            if words and not any(word in planted.title for word in words):
                continue
            start, kind = process_time(), planted.kind or "correct"
            right = bool(outcome_of(planted, Path(folder)).failure) == bool(planted.kind)
            slowest = max(slowest, process_time() - start)
            met[kind] += right
            of[kind] += 1
            if not right:
                wrong.append(planted.title)
            print(f"{planted.title}: {'as it should be' if right else 'WRONG'}", file=sys.stderr)
    for kind, count in sorted(of.items()):
        print(f"{kind:12} {met[kind]:3} of {count:3} {'passed' if kind == 'correct' else 'found'}")
    print(f"slowest {slowest:.1f} s")
    print(*(f"WRONG {title}" for title in wrong), sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
