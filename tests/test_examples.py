"""The examples that Hypothesis draws here: always the same in the fast suite, those of a seed in `make explore`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.sampled import shown_too_by

TESTS = Path(__file__).parent
DRAWN, IMPORTING = "test_batch_arithmetic.py", "test_timing_report.py"
"""Tests that draw from all numbers of 64 bits, and tests that import much which those do not."""

EXAMPLE = re.compile(r"^Test case: (.*?^\))$", re.MULTILINE | re.DOTALL)


def examples(*options: str, hash_seed: int = 1) -> list[str]:
    """The examples of the first of those tests, in a process of its own."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--numprocesses=0", "--capture=no"]
    command += ["--hypothesis-verbosity=verbose", "-k", "saturat or wrap", *options]
    environment = os.environ | {"PYTHONHASHSEED": str(hash_seed)}
    done = subprocess.run(command, capture_output=True, text=True, cwd=TESTS, env=environment, check=True)
    return EXAMPLE.findall(done.stdout)


@pytest.mark.slow
def test_examples_depend_neither_on_what_is_imported_nor_on_the_seed_of_hashes() -> None:
    alone = examples(DRAWN)
    assert len(alone) >= 100
    assert examples(IMPORTING, DRAWN, hash_seed=2) == alone


@pytest.mark.slow
@shown_too_by("test_examples.py::test_an_exploration_says_its_seeds_and_how_it_went")
def test_the_seed_of_an_exploration_decides_on_its_examples() -> None:
    first, again, other = (examples(DRAWN, "--hypothesis-profile=explore", f"--hypothesis-seed={n}") for n in (5, 5, 6))
    assert len(first) >= 100
    assert (first == again, first == other) == (True, False)


@pytest.mark.slow
def test_an_exploration_says_its_seeds_and_how_it_went() -> None:
    test = f"{TESTS / DRAWN}::test_small_quotients_round_toward_zero"
    command = [sys.executable, str(TESTS / "long" / "explore.py"), "--rounds", "1", "--seed", "5", test]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert (printed[0], printed[-1]) == ("seed 5", "seeds 5 to 5: 0 of 1 rounds failed")
