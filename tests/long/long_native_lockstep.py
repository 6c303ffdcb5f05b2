"""Lockstep in native code beside that in Python: code of all forms in every rounding mode; the tests of Python's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from isa.evaluate.floating.formats import FZ
from support.native_lockstep import NativeTwins

TESTS = Path(__file__).parents[1]
FILES = (
    "test_lockstep.py", "test_guards.py", "test_call.py", "test_exclusives.py", "test_unpredictable.py",
    "test_coverage.py", "test_unverified_by_emulation.py", "test_broken_kernels.py", "test_edges.py",
)  # fmt: skip
SEEDS, WORDS, RUNS = 4, 1200, 5


@pytest.mark.parametrize("fpcr", [mode << 22 | flush for mode in range(4) for flush in (0, FZ)])
@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_code_with_faults_comes_to_the_same(seed: int, fpcr: int) -> None:
    assert NativeTwins(100 + seed, WORDS, fpcr).differences(runs=RUNS) == []


@pytest.mark.parametrize("file", FILES)
def test_what_holds_of_lockstep_holds_in_native_code_from_the_first_instruction_on(file: str) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "support.impatient", str(TESTS / file)]
    made = subprocess.run(
        command, capture_output=True, text=True, cwd=TESTS.parent, env={**os.environ, "PYTHONPATH": str(TESTS)}
    )
    assert made.returncode == 0, made.stdout
