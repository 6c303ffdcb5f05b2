"""What becomes of each mutant: killed by a test, or not; and what was judged of those that no test can kill."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from typing import Final, Literal

from long.mutation.mutants import Mutant
from long.mutation.reach import Reach, ReachingTest
from long.mutation.trial import Collected, NotCollected, Planted, Tests, copied

JUDGED: Final = Path(__file__).with_name("equivalent.toml")
FIRST: Final = 4
"""Tests that a new process is asked for at first: the fewer their files, the sooner they are collected."""
Fate = Literal["killed", "equivalent", "survived", "judged wrongly"]
FATES: Final[tuple[Fate, ...]] = ("killed", "equivalent", "survived", "judged wrongly")


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant, and by what: the test, the reason why it is equivalent, or how many tests passed."""

    mutant: Mutant
    fate: Fate
    by: str


def equivalents() -> dict[str, str]:
    """By the name of a mutant why no test can kill it."""
    return {name: entry["reason"] for name, entry in tomllib.loads(JUDGED.read_text()).items()}


def judged(mutants: Sequence[Mutant], reach: Reach, equivalent: Mapping[str, str], jobs: int) -> Iterator[Verdict]:
    """The verdicts, first on those that need no new process, found in so many processes.  May raise NotCollected.

    Tests that killed a mutant of the same module are run first: they are likely to kill the next one too.
    """
    tests = {mutant: reach.of(mutant) for mutant in mutants}
    files = {test.file for here, _ in tests.values() for test in here}
    modules = sorted({mutant.module for mutant in mutants})
    idle: SimpleQueue[_Judge] = SimpleQueue()
    killers = defaultdict[str, list[str]](list)
    with TemporaryDirectory() as scratch, ThreadPoolExecutor(jobs) as executor:
        judges = list(executor.map(lambda job: _Judge(Path(scratch, str(job)), files, modules), range(jobs)))
        for judge in judges:
            idle.put(judge)

        def one(mutant: Mutant) -> Verdict:
            judge = idle.get()
            try:
                before = killers[mutant.module]
                here, anew = (sorted(some, key=lambda test: test.name not in before) for some in tests[mutant])
                killed, passed = judge.killed(mutant, here, anew)
                if killed:
                    before.append(killed.partition(", which ")[0])
            finally:
                idle.put(judge)
            if mutant.name in equivalent:
                return Verdict(
                    mutant, *(("judged wrongly", killed) if killed else ("equivalent", equivalent[mutant.name]))
                )
            return Verdict(mutant, "killed", killed) if killed else Verdict(mutant, "survived", f"{passed} tests pass")

        try:
            yield from executor.map(one, sorted(mutants, key=lambda mutant: not tests[mutant][0]))
        finally:
            executor.shutdown(cancel_futures=True)
            for judge in judges:
                judge.end()


class _Judge:
    """A copy of the checkout, and a process there that has collected the tests."""

    def __init__(self, folder: Path, files: Iterable[str], modules: Sequence[str]) -> None:
        folder.mkdir()
        self._checkout, self._scratch = copied(folder / "checkout"), folder / "scratch"
        self._collected = Collected(self._checkout, files, modules, self._scratch) if files else None

    def end(self) -> None:
        if self._collected is not None:
            self._collected.__exit__()

    def killed(self, mutant: Mutant, here: Sequence[ReachingTest], anew: Sequence[ReachingTest]) -> tuple[str, int]:
        """What kills the mutant, empty where nothing does, and how many tests passed."""
        passed = 0
        if here and self._collected is not None:
            found = self._collected.tried(_asked(here), mutant)
            if "survived" not in found:
                return f"{found['killed']}, which {found['how']}", 0
            passed += found["survived"]
        for some in filter(None, (anew[:FIRST], anew[FIRST:])):
            files = {test.file for test in some}
            try:
                with Planted(self._checkout, mutant), Collected(self._checkout, files, (), self._scratch) as fresh:
                    found = fresh.tried(_asked(some))
            except NotCollected:
                return "no test can be collected", 0
            if "survived" not in found:
                return f"{found['killed']}, which {found['how']}", 0
            passed += found["survived"]
        return "", passed


def _asked(tests: Sequence[ReachingTest]) -> Tests:
    return [(test.name, test.seconds) for test in tests]
