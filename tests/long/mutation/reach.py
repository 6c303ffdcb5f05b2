"""Which tests of the fast suite reach which blocks of the modules that are mutated: recorded once, and kept.

What is kept of a file of tests belongs to it and to all code that tests use.  So many files are recorded together that
an interrupt costs minutes.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from long.mutation.blocks import Source, with_probes
from long.mutation.mutants import AREAS, ROOT, Mutant, files_of
from long.mutation.recorder import REACH
from long.mutation.trial import LONGEST, copied, surroundings
from sim.toolchain.kept import write_whole
from sim.toolchain.tools import cache_directory

_CODE: Final = (
    "isa", "sim", "rtl_models", "tests/support", "tests/conftest.py",
    *(f"tests/long/mutation/{name}.py" for name in ("blocks", "recorder", "server", "trial")),
)  # fmt: skip
_SUFFIXES: Final = (".py", ".toml", ".c", ".h", ".txt", ".sv", ".cpp")
_TOGETHER: Final = 24
"""Files of tests."""
Blocks = Mapping[str, frozenset[int]]
"""Lines of blocks, by module."""


@dataclass(frozen=True, eq=False)
class ReachingTest:
    """A test, the seconds of a processor that it takes, and what it reaches, in its own process or in others."""

    name: str
    seconds: float
    here: Blocks
    elsewhere: Blocks

    @property
    def file(self) -> str:
        return self.name.partition("::")[0]

    @property
    def function(self) -> str:
        return self.name.partition("[")[0]


@dataclass(frozen=True)
class Reach:
    """All tests that pass, and the blocks that imports run."""

    tests: tuple[ReachingTest, ...]
    imported: Blocks

    def of(self, mutant: Mutant) -> tuple[list[ReachingTest], list[ReachingTest]]:
        """The tests that may notice a mutant, the best first: in a copy of their process, and in a new one.

        The latter where the mistake is in what an import runs, which all tests of the modules beside it may notice, and
        for tests that reach it in other processes only.
        """
        module, block = mutant.module, mutant.change.block
        package = module.rpartition(".")[0]
        of_module = [test for test in self.tests if module in test.here or module in test.elsewhere]
        of_package = [test for test in self.tests if any(m.startswith(package) for m in (*test.here, *test.elsewhere))]
        of_import = list(dict.fromkeys(_best_first(of_module) + _best_first(of_package)))
        if block is None:
            return [], of_import
        at_import = block in self.imported.get(module, ())
        here = [test for test in self.tests if block in test.here.get(module, ())]
        elsewhere = [test for test in self.tests if block in test.elsewhere.get(module, ())]
        files = {test.file for test in here}
        # what reached it may be kept for the tests after it
        beside = [test for test in self.tests if test.file in files and block not in test.here.get(module, ())]
        chosen = _best_first(here) + _best_first(beside)
        return _within_time(chosen), _within_time(_best_first(elsewhere) + (chosen + of_import if at_import else []))


def _best_first(tests: Iterable[ReachingTest]) -> list[ReachingTest]:
    """The fastest first; the second case of a function that tests counts twice its time, the third three times."""
    seen, ranked = Counter[str](), []
    for test in sorted(tests, key=lambda test: test.seconds):
        seen[test.function] += 1
        ranked.append((test.seconds * seen[test.function], seen[test.function], test.name, test))
    return [test for *_, test in sorted(ranked)]


def _within_time(tests: Sequence[ReachingTest]) -> list[ReachingTest]:
    taken, seconds = list[ReachingTest](), 0.0
    for test in dict.fromkeys(tests):
        seconds += test.seconds
        if not taken or seconds <= LONGEST:
            taken.append(test)
    return taken


def recorded(files: Sequence[str], jobs: int) -> Reach:
    """Of all tests but those of hardware, in these files; what is not kept is recorded in so many processes."""
    folder = kept_in()
    kept = {file: folder / f"reach-{digest(file)}.json" for file in files}
    missing = [file for file in files if not kept[file].is_file()]
    for at in range(0, len(missing), _TOGETHER):
        print(f"recording which tests reach what: {at} of {len(missing)} files of tests", file=sys.stderr, flush=True)
        for file, content in _record(missing[at : at + _TOGETHER], jobs).items():
            write_whole(kept[file], json.dumps(content).encode())
    if missing:
        current = {f"reach-{digest(file)}.json" for file in files_of_tests()}
        for old in folder.glob("reach-*.json"):  # of other code
            if old.name not in current:
                old.unlink(missing_ok=True)
    found, imported = list[ReachingTest](), defaultdict[str, set[int]](set)
    for path in kept.values():
        content = json.loads(path.read_bytes())
        found += [
            ReachingTest(t["name"], t["seconds"], _blocks(t["here"]), _blocks(t["elsewhere"])) for t in content["tests"]
        ]
        for module, lines in content["imported"].items():
            imported[module].update(lines)
    return Reach(tuple(found), {module: frozenset(lines) for module, lines in imported.items()})


def kept_in() -> Path:
    """The folder of what is kept of one run for the next."""
    return cache_directory() / "mutants"


def files_of_tests(glob: str = "test_*.py") -> list[str]:
    """The files of tests, as paths from the root of the checkout."""
    return sorted(str(path.relative_to(ROOT)) for path in ROOT.joinpath("tests").glob(glob))


def _blocks(found: Mapping[str, Sequence[int]]) -> Blocks:
    return {module: frozenset(lines) for module, lines in found.items()}


@cache
def digest(*files: str) -> str:
    """Of all code that tests use, and of some files of tests."""
    found = hashlib.sha256(_code())
    for file in files:
        found.update(f" {file}".encode() + (ROOT / file).read_bytes())
    return found.hexdigest()


@cache
def _code() -> bytes:
    found = hashlib.sha256()
    for name in _CODE:
        for path in sorted((ROOT / name).rglob("*")) or [ROOT / name]:
            if path.suffix in _SUFFIXES:
                found.update(path.read_bytes())
    return found.digest()


def _record(files: Sequence[str], jobs: int) -> dict[str, Any]:
    """Run the tests of these files in a copy of the checkout whose modules have probes."""
    with TemporaryDirectory() as scratch:
        checkout, told = copied(Path(scratch, "checkout")), Path(scratch, "told")
        told.mkdir()
        for file in {file for area in AREAS for file in files_of(area)}:
            (checkout / file).write_bytes(with_probes(Source.of((ROOT / file).read_bytes())))
        command = [
            sys.executable, "-m", "pytest", "-q", "-p", "long.mutation.recorder", "-p", "no:cacheprovider",
            "-m", "not rtl", f"--numprocesses={jobs}", "--dist=worksteal", "--tb=no", *files,
        ]  # fmt: skip
        environment = surroundings(checkout) | {REACH: str(told)}
        done = subprocess.run(command, cwd=checkout, stdout=sys.stderr, env=environment)
        ran = {record["test"] for record in _lines(told, "tests")}
        collected = [test for tests in _lines(told, "collected") for test in tests]
        if done.returncode not in (0, 1) or not collected or not ran.issuperset(collected):
            sys.exit(f"not all tests were run: pytest ends with {done.returncode}")
        return read_record(told, files)


def read_record(told: Path, files: Iterable[str]) -> dict[str, Any]:
    """What `long.mutation.recorder` has written into a folder, by file of tests."""
    reached = defaultdict[str, dict[bool, dict[str, set[int]]]](
        lambda: {True: defaultdict(set), False: defaultdict(set)}
    )
    for path in told.glob("reached-*"):
        process = path.name.partition("-")[2]
        whole = path.read_text().rpartition("\n")[0]  # a test may forbid its programs to write: the last line is cut
        for line in whole.splitlines():
            number, module, at = line.split()
            reached[number][number.partition(".")[0] == process][module].add(int(at))
    of_fixture = {}
    for path in told.glob("fixtures-*"):
        for line in path.read_text().splitlines():
            number, seconds = line.split()
            of_fixture[number] = float(seconds)
    imported = {module: sorted(lines) for module, lines in reached["0"][False].items()}
    found: dict[str, Any] = {file: {"tests": [], "imported": imported} for file in files}
    for record in _lines(told, "tests"):
        if record["outcome"] != "passed":
            if record["outcome"] == "failed":
                print(f"left out, it fails with probes: {record['test']}", file=sys.stderr)
            continue
        seconds = record["seconds"] + sum(of_fixture.get(number, 0) for number in set(record["fixtures"]))
        test: dict[str, Any] = {"name": record["test"], "seconds": round(seconds, 2)}
        for here, key in ((True, "here"), (False, "elsewhere")):
            blocks = defaultdict[str, set[int]](set)
            for number in (record["number"], *record["fixtures"]):
                for module, lines in reached[number][here].items():
                    blocks[module] |= lines
            test[key] = {module: sorted(lines) for module, lines in sorted(blocks.items())}
        found[record["test"].partition("::")[0]]["tests"].append(test)
    return found


def _lines(told: Path, kind: str) -> list[Any]:
    return [json.loads(line) for path in told.glob(f"{kind}-*") for line in path.read_text().splitlines()]
