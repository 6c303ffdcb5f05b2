"""Exploration: every Hypothesis test on fresh examples, round after round, each round with a seed of its own.

    .venv/bin/python tests/long/explore.py [--rounds N] [--seed FIRST] [TESTS...]

Ends with 1 where something failed, with the command that repeats it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from secrets import randbelow

from sim.terminal.script import at_least_one, run_by_hand

TESTS = Path(__file__).resolve().parents[1]
FAILED = 1
"""What pytest ends with where tests failed; above it, it could not run them."""


def drawn_tests() -> list[str]:
    """The files of the fast suite in which Hypothesis draws examples."""
    return sorted(str(path) for path in TESTS.glob("test_*.py") if "\n@given(" in path.read_text())


def options(seed: int) -> list[str]:
    """Those of pytest that run the tests on the examples of a seed."""
    return ["-m", "hypothesis", "--hypothesis-profile=explore", f"--hypothesis-seed={seed}"]


def explored(seed: int, tests: Sequence[str]) -> int:
    """One round; what pytest ended with."""
    print(f"seed {seed}", flush=True)
    command = [sys.executable, "-m", "pytest", "--numprocesses=auto", *options(seed), *tests]
    status = subprocess.run(command).returncode
    if status < 0:  # by a signal, of which a shell says as much
        return 128 - status
    if status == FAILED:
        print(f"reproduce: .venv/bin/python -m pytest {' '.join(options(seed))} {' '.join(map(shown, tests))}")
    return status


def shown(test: str) -> str:
    """A test as the user names it, from the working directory where that is shorter."""
    file, *name = test.split("::", 1)
    path = Path(file)
    short = path.relative_to(Path.cwd()) if path.is_absolute() and path.is_relative_to(Path.cwd()) else path
    return "::".join([str(short), *name])


def main() -> int:
    """0 where nothing failed, 1 where something did, more where pytest could not run."""
    parser = argparse.ArgumentParser(description="Hypothesis tests on fresh examples, with a seed that repeats them.")
    parser.add_argument("--rounds", type=at_least_one, default=10, help="how often all tests are run")
    parser.add_argument("--seed", type=int, help="of the first round, the others count up; default: a fresh one")
    parser.add_argument("tests", nargs="*", help="files or tests, as pytest takes them; default: all")
    given = parser.parse_args()
    first = randbelow(2**32) if given.seed is None else given.seed
    tests = given.tests or drawn_tests()
    statuses = [explored(seed, tests) for seed in range(first, first + given.rounds)]
    print(f"seeds {first} to {first + given.rounds - 1}: {sum(map(bool, statuses))} of {given.rounds} rounds failed")
    return max(statuses, default=FAILED)


if __name__ == "__main__":
    run_by_hand(main)
