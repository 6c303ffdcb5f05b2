"""Small mistakes planted in our own modules: lockstep, guards, blame, timing, golden arithmetic.  What tests notice.

    PYTHONPATH=tests .venv/bin/python -m long.mutants [--count N] [--seed S] [--area NAME] [--jobs N] [--tests GLOB ...]
    PYTHONPATH=tests .venv/bin/python -m long.mutants --only MUTANT ...

First it is recorded which tests of the fast suite reach which blocks of these modules.  Then every mutant is run on the
tests that reach its place, the fastest first, in copies of the checkout and of the process; it is killed where one
fails that passes without the mistake, or where one ends its process or does not end.  All that is found out is kept for
as long as the code and the tests are the same: a run that was stopped goes on.  `--only` tries anew.  What survives is
listed with the command that tries it again.  What no test can kill is in `mutation/equivalent.toml`, with the reason.
The exit code is 1 where fewer than 98 % of the others are killed, or where an entry of that file is of no mutant or of
one that is killed.
"""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Sequence

from isa.errors import INTERRUPTED, MISMATCH, MISSING, USAGE
from long.mutation.found import KeptFindings
from long.mutation.judgement import FATES, Fate, Verdict, equivalents, judged
from long.mutation.mutants import AREAS, drawn, mutants_of
from long.mutation.reach import files_of_tests, kept_in, recorded
from long.mutation.trial import NotCollected
from sim.processes import processors
from sim.terminal.script import at_least_one, parser_of, run_by_hand
from sim.view.sentences import counted

ENOUGH = 0.98
"""Of the mutants that can be killed, the part that has to be."""
START = "PYTHONPATH=tests .venv/bin/python -m long.mutants"


def line(name: str, verdicts: Sequence[Verdict]) -> str:
    """Some verdicts on one line."""
    counts = ", ".join(f"{_count(verdicts, fate)} {fate}" for fate in FATES)
    return f"{name}: {counted(len(verdicts), 'mutant')}, {counts}; {_score(verdicts)}"


def details(verdict: Verdict) -> list[str]:
    """A mutant with the line that it changes, and what tries it again."""
    told = [f"  {verdict.fate}: {verdict.mutant.name}, {verdict.mutant.words}"]
    told += [f"      {text}" for text in verdict.mutant.difference()]
    return [*told, f"      {verdict.by}", f"      again: {START} --only {verdict.mutant.name}"]


def enough(verdicts: Sequence[Verdict]) -> bool:
    """Whether there are mutants, so many of them killed, and none of the killed ones said to be equivalent."""
    killed, survived = _count(verdicts, "killed"), _count(verdicts, "survived")
    return not _count(verdicts, "judged wrongly") and killed > 0 and killed >= ENOUGH * (killed + survived)


def _count(verdicts: Sequence[Verdict], fate: Fate) -> int:
    return sum(verdict.fate == fate for verdict in verdicts)


def _score(verdicts: Sequence[Verdict]) -> str:
    killed, survived = _count(verdicts, "killed"), _count(verdicts, "survived")
    if not killed + survived:
        return "there is none that can be killed"
    return f"the tests kill {100 * killed / (killed + survived):.1f} % of those that can be killed"


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--count", type=at_least_one, default=300, help="mutants, as many of each area")
    parser.add_argument("--seed", type=int, default=1, help="draws the mutants")
    parser.add_argument("--area", choices=list(AREAS), help="one area alone")
    parser.add_argument("--only", nargs="+", default=[], metavar="MUTANT", help="some mutants alone, by their names")
    parser.add_argument("--tests", nargs="+", default=["test_*.py"], metavar="GLOB", help="only tests in these files")
    parser.add_argument("--jobs", type=at_least_one, default=processors(), help="processes")
    options = parser.parse_args()
    begun = time.monotonic()
    areas = [options.area] if options.area else list(AREAS)
    everything = {area: mutants_of(area) for area in AREAS}
    names = {mutant.name for mutants in everything.values() for mutant in mutants}
    if unknown := sorted(set(options.only) - names):
        print(f"there is no mutant {unknown[0]}", file=sys.stderr)
        return USAGE
    equivalent = equivalents()
    stale = sorted(set(equivalent) - names)
    chosen = [mutant for area in areas for mutant in drawn(everything[area], options.count // len(areas), options.seed)]
    if options.only:
        chosen = [mutant for mutants in everything.values() for mutant in mutants if mutant.name in options.only]
    verdicts: list[Verdict] = []
    try:
        tests = sorted({file for glob in options.tests for file in files_of_tests(glob)})
        reach, kept = recorded(tests, options.jobs), KeptFindings(kept_in() / "findings.jsonl", tests)
        if options.only:
            kept.forget(options.only)
        for verdict in judged(chosen, reach, equivalent, options.jobs, kept):
            verdicts.append(verdict)
            said = f"{verdict.mutant.name} {verdict.fate}: {verdict.by}"
            seconds = f"{time.monotonic() - begun:.0f} s"
            print(f"{len(verdicts)} of {len(chosen)}, {seconds}: {said}", file=sys.stderr, flush=True)
    except NotCollected as error:
        print(f"the tests cannot be collected:\n{error}", file=sys.stderr)
        return MISSING
    except KeyboardInterrupt:
        print(f"stopped after {counted(len(verdicts), 'mutant')}; the same command goes on", file=sys.stderr)
        return INTERRUPTED
    verdicts.sort(key=lambda verdict: (verdict.mutant.file, verdict.mutant.change.line, verdict.mutant.name))
    for area in areas:
        of_area = [verdict for verdict in verdicts if verdict.mutant.area == area]
        if of_area:
            print(line(area, of_area))
        for verdict in of_area:
            if verdict.fate != "killed":
                print("\n".join(details(verdict)))
    for name in stale:
        print(f"{name} in mutation/equivalent.toml: there is no such mutant any more")
    print(line("all", verdicts))
    print(f"{time.monotonic() - begun:.0f} s; again: {shlex.join([*START.split(), *sys.argv[1:]])}")
    return 0 if enough(verdicts) and not stale else MISMATCH


if __name__ == "__main__":
    run_by_hand(main)
