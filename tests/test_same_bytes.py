"""Two runs of a command give the same bytes, whatever the hash seed and the number of processes: stdout and files.

What takes another time in every run is told on stderr.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from support.command import lanewise
from support.sampled import sampled

Words = tuple[str, ...]

START = [sys.executable, "-m", "sim"]
JOBS = "JOBS"
"""In the words of a command: how many processes."""
FEW = ("--opt", "O1,O2", "--vectors", "50")
COMMANDS: Mapping[str, Words] = {
    "check": ("check", "product.py", *FEW, "--coverage", "--junit", "report.xml", "--jobs", JOBS),
    "replay": ("replay", "calls.jsonl", "--jobs", JOBS),
    "prove": ("prove", "sqrdmulh", "--jobs", JOBS),
    "isa verify": ("isa", "verify", "uq*", "--vectors", "0", "--jobs", JOBS),
}
CALLS = 20
"""More than a process gets at a time."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An example kernel, which is wrong, so that a report has all of its parts, and calls of it."""
    made = tmp_path_factory.mktemp("same")
    lanewise("init", "kernel", "product", "--folder", made)
    source = made / "product.c"
    source.write_text(source.read_text().replace("(a * b + 64) >> 7", "(a * b + 63) >> 7"))
    calls = made / "calls.jsonl"
    lanewise("capture", made / "product.py", calls, "--vectors", 0)
    calls.write_text("".join(calls.read_text().splitlines(keepends=True)[:CALLS]))
    return made


def outputs(folder: Path, number: int, words: Words) -> tuple[bytes, Mapping[str, bytes]]:
    """What a command writes to stdout, and all files of its folder; the number is hash seed and number of processes."""
    environment = {**os.environ, "PYTHONHASHSEED": str(number), "COLUMNS": "100"}
    given = [str(number) if word == JOBS else word for word in words]
    done = subprocess.run([*START, *given], cwd=folder, env=environment, capture_output=True, check=False)
    assert done.returncode in (0, 1), done.stderr.decode()
    return done.stdout, {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


@pytest.mark.slow
@pytest.mark.parametrize("name", sampled(COMMANDS, 4))
def test_two_runs_of_a_command_write_the_same_bytes(folder: Path, name: str) -> None:
    assert outputs(folder, 1, COMMANDS[name]) == outputs(folder, 2, COMMANDS[name])


@pytest.mark.parametrize("order", "<>")
def test_an_explanation_does_not_depend_on_the_byte_order_of_its_files(order: str, tmp_path: Path) -> None:
    np.save(tmp_path / "accumulators.npy", np.array([7984, -7984, 4513, 348], f"{order}i4"))
    np.save(tmp_path / "output.npy", np.array([11, -11, 6, 1], f"{order}i2"))
    files = ("--accumulators", tmp_path / "accumulators.npy", "--output", tmp_path / "output.npy")
    told = lanewise("explain", *files, "--multiplier", 1583594044, "--shift", 9)
    assert (told.exit_code, told.stdout[:41]) == (0, "single_rounding gives all 4 elements, but")
