"""What becomes of each mutant: killed by a test, or not; and what was judged of those that no test can kill."""

from __future__ import annotations

import sys
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from threading import Event
from typing import Any, Final, Literal

from long.mutation.found import Found, KeptFindings
from long.mutation.mutants import Mutant
from long.mutation.reach import Reach, ReachingTest
from long.mutation.trial import Collected, NotCollected, NotPlanted, Planted, Tests, copied

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

    @classmethod
    def of(cls, mutant: Mutant, found: Found, equivalent: Mapping[str, str]) -> Verdict:
        """What was found out about a mutant, beside what was judged."""
        if mutant.name in equivalent:
            if found.killed:
                return cls(mutant, "judged wrongly", str(found))
            return cls(mutant, "equivalent", equivalent[mutant.name])
        return cls(mutant, "killed" if found.killed else "survived", str(found))


def equivalents() -> dict[str, str]:
    """By the name of a mutant why no test can kill it."""
    return {name: entry["reason"] for name, entry in tomllib.loads(JUDGED.read_text()).items()}


def judged(
    mutants: Sequence[Mutant], reach: Reach, equivalent: Mapping[str, str], jobs: int, kept: KeptFindings
) -> Iterator[Verdict]:
    """The verdicts as they are found in so many processes, those on what is kept first.  May raise NotCollected.

    Mutants that need no new process are tried before the others, and the tests that killed a mutant of the same module
    are run first: they are likely to kill the next one too.
    """
    pending = []
    for mutant in mutants:
        if found := kept.get(mutant.name):
            yield Verdict.of(mutant, found, equivalent)
        else:
            pending.append(mutant)
    if not pending:
        return
    tests = {mutant: reach.of(mutant) for mutant in pending}
    files = {test.file for some in tests.values() for test in (*some[0], *some[1])}
    modules = sorted({mutant.module for mutant in pending})
    idle: SimpleQueue[_Judge] = SimpleQueue()
    stopped = Event()
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
                found = judge.found(mutant, here, anew)
            finally:
                idle.put(judge)
            if stopped.is_set():  # and so its processes were ended
                raise CancelledError
            before.append(found.killer)
            kept.add(mutant.name, found)
            return Verdict.of(mutant, found, equivalent)

        try:
            ordered = sorted(pending, key=lambda mutant: not tests[mutant][0])
            for future in as_completed([executor.submit(one, mutant) for mutant in ordered]):
                yield future.result()
        finally:
            stopped.set()
            for judge in judges:
                judge.stop()
            executor.shutdown(cancel_futures=True)
            for judge in judges:
                judge.end()


class _Judge:
    """A copy of the checkout, and a process there that has collected the tests.

    A test is believed to kill where it passes, just there and without a mistake; another is asked no more.
    """

    def __init__(self, folder: Path, files: Iterable[str], modules: Sequence[str]) -> None:
        folder.mkdir()
        self._checkout, self._scratch = copied(folder / "checkout"), folder / "scratch"
        self._collected = Collected(self._checkout, files, modules, self._scratch)
        self._fresh: Collected | None = None
        self._believed: dict[ReachingTest, bool] = {}

    def stop(self) -> None:
        """End what is tried just now, from another thread."""
        for process in (self._collected, self._fresh):
            if process is not None:
                process.kill()

    def end(self) -> None:
        self._collected.__exit__()

    def found(self, mutant: Mutant, here: Sequence[ReachingTest], anew: Sequence[ReachingTest]) -> Found:
        """What kills the mutant; the tests `here` are asked in a copy of the process, those `anew` in a new one."""

        def in_a_new_one(tests: Tests) -> dict[str, Any]:
            files = {name.partition("::")[0] for name, _ in tests}
            with Planted(self._checkout, mutant), Collected(self._checkout, files, (), self._scratch) as self._fresh:
                return self._fresh.tried(tests)

        passed = 0
        try:
            found = self._found(here, lambda tests: self._collected.tried(tests, mutant))
            if found.killed:
                return found
            passed = found.passed
        except NotPlanted:
            anew = list(dict.fromkeys([*here, *anew]))
        try:
            for some in (anew[:FIRST], anew[FIRST:]):
                found = self._found(some, in_a_new_one)
                if found.killed:
                    return found
                passed += found.passed
        except NotCollected:
            return Found("", "no test can be collected", 0)
        return Found("", "", passed)

    def _found(self, tests: Sequence[ReachingTest], tried: Callable[[Tests], dict[str, Any]]) -> Found:
        while tests:
            found = Found.of(tried([(test.name, test.seconds) for test in tests]))
            killer = next((test for test in tests if test.name == found.killer), None)
            if killer is None:
                return found
            if killer not in self._believed:
                self._believed[killer] = not Found.of(self._collected.tried([(killer.name, killer.seconds)])).killed
                if not self._believed[killer]:
                    print(f"not asked, it fails without a mistake: {killer.name}", file=sys.stderr, flush=True)
            if self._believed[killer]:
                return found
            tests = [test for test in tests if test is not killer]
        return Found("", "", 0)
