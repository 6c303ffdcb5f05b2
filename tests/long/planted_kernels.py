"""A planted fault in each of hundreds of kernels, and their correct twins: what a check finds, refuses and blames.

    PYTHONPATH=tests .venv/bin/python -m long.planted_kernels [WORD ...]    only those with one of the words

A fault counts as found where the inputs of a default check fail at -O2; they are the same at every level.  Apart are
faults of which it is proved that no input of their domain shows them.  What is not found, and twins that are refused,
are listed; then the exit code is 1.  Of a fault that is found the lines that the report names are held against the line
that differs from the twin: named, among at most four, among more, not told, or wrong, which is listed and ends with 1
too.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time

import long.planted.held_out.kernels as held_out
import long.planted.held_out_again.kernels as held_out_again
import long.planted.held_out_blame.kernels as held_out_blame
import long.planted.held_out_calls.kernels as held_out_calls
import long.planted.held_out_trust.kernels as held_out_trust
import long.planted.in_sight.kernels as in_sight
from long.planted.planted import PlantedKernel
from sim.check.aim.aiming import aim
from sim.check.check import check_job, jobs_of
from sim.check.repair.place import with_faults
from sim.check.report import Outcome
from sim.check.vectors import make_vectors
from sim.terminal.script import parser_of, run_by_hand

CORPORA = {
    "in sight": in_sight.CORPUS,
    "held out": held_out.CORPUS,
    "held out again": held_out_again.CORPUS,
    "held out blame": held_out_blame.CORPUS,
    "held out trust": held_out_trust.CORPUS,
    "held out calls": held_out_calls.CORPUS,
}
LANES, SEED = 2000, 1
"""Those of a default check."""
SHORT = 4
"""Lines that a person looks through; of more, a list is no answer."""
BLAMED = ("named", "among few", "among more", "not told", "wrong")


def outcome_of(planted: PlantedKernel, folder: Path) -> Outcome:
    """The -O2 build of a kernel on the inputs of a default check."""
    kernel = planted.kernel(folder)
    (job,) = jobs_of(kernel, ["O2"])
    vectors = make_vectors(kernel, LANES, SEED)
    vectors = aim(kernel, [job], vectors).added_to(vectors)
    (outcome,) = with_faults(kernel, [job], vectors, [check_job(kernel, job, vectors, engine="machine")])
    return outcome


def blame_of(planted: PlantedKernel, outcome: Outcome) -> str:
    """One of `BLAMED`, for a fault that was found."""
    if outcome.mismatch is None or outcome.mismatch.fault is None or not outcome.mismatch.fault.lines:
        return "not told"
    lines = outcome.mismatch.fault.lines
    if not planted.places & set(lines):
        return "wrong"
    return "named" if len(lines) == 1 else "among few" if len(lines) <= SHORT else "among more"


def measure(name: str, words: list[str], folder: Path) -> list[str]:
    """Show what a check makes of the kernels of a corpus; the titles of those that it is wrong about."""
    corpus, wrong, took = CORPORA[name], list[str](), list[float]()
    met, of, blamed = Counter[str](), Counter[str](), Counter[tuple[str, str]]()
    for planted in corpus.kernels():
        if not is_wanted(f"{name}, {planted.title}", words):
            continue
        start, kind = process_time(), planted.kind or "correct"
        outcome = outcome_of(planted, folder)
        found = bool(outcome.failure)
        took.append(process_time() - start)
        if planted.title in corpus.cannot_show and corpus.cannot_show[planted.title]():
            kind = "cannot show"
        right = found == (kind not in ("correct", "cannot show"))
        met[kind] += right
        of[kind] += 1
        if not right:
            wrong.append(f"{name}, {planted.title}")
        blame = blame_of(planted, outcome) if found and planted.kind else ""
        blamed[kind, blame] += 1
        if blame == "wrong" and outcome.mismatch is not None:
            wrong.append(f"{name}, {planted.title}, blamed {outcome.mismatch.fault}")
        verdict = f"{'as it should be' if right else 'WRONG'} {blame}".rstrip()
        print(f"{name}, {planted.title}: {verdict} {took[-1]:.1f} s", file=sys.stderr)
    passed = ("correct", "cannot show")
    for kind, count in sorted(of.items()):
        print(f"{name}: {kind:12} {met[kind]:3} of {count:3} {'passed' if kind in passed else 'found'}")
    for kind in sorted(set(of) - set(passed)):
        counts = ", ".join(f"{blamed[kind, blame]} {blame}" for blame in BLAMED if blamed[kind, blame])
        print(f"{name}: {kind:12} lines at fault: {counts}")
    if took:
        found_of = [sum(counts[kind] for kind in of if kind not in passed) for counts in (met, of)]
        print(f"{name}: found {found_of[0]} of {found_of[1]} faults that some input shows")
        counts = ", ".join(f"{sum(blamed[kind, blame] for kind in of)} {blame}" for blame in BLAMED)
        print(f"{name}: lines at fault of those found: {counts}")
        print(f"{name}: slowest {max(took):.1f} s, median {median(took):.1f} s")
    return wrong


def is_wanted(title: str, words: list[str]) -> bool:
    """Whether a title has one of the words; without words, all."""
    return not words or any(word in title for word in words)


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("words", nargs="*", metavar="word")
    words = parser.parse_args().words
    titles = [f"{name}, {planted.title}" for name, corpus in CORPORA.items() for planted in corpus.kernels()]
    if not any(is_wanted(title, words) for title in titles):
        parser.error(f"no kernel has one of these words: {', '.join(words)}")
    with TemporaryDirectory() as folder:
        wrong = [title for name in CORPORA for title in measure(name, words, Path(folder))]
    print(*(f"WRONG {title}" for title in wrong), sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    run_by_hand(main)
