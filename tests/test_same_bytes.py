"""Two runs of a check give the same bytes, whatever the hash seed: as text, JSON and JUnit."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

START = [sys.executable, "-m", "sim"]
CHECK = ("check", "product.py", "--opt", "O1,O2", "--vectors", "50", "--junit", "report.xml")


def outputs(folder: Path, hash_seed: int, *words: str) -> tuple[bytes, bytes]:
    """What a command writes to stdout, and as JUnit where it does."""
    environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed), "COLUMNS": "100"}
    done = subprocess.run([*START, *words], cwd=folder, env=environment, capture_output=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    junit = folder / "report.xml"
    return done.stdout, junit.read_bytes() if junit.exists() else b""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An example kernel, which is wrong: so that a report has all of its parts."""
    subprocess.run([*START, "init", "kernel", "product"], cwd=tmp_path, check=True, capture_output=True)
    source = tmp_path / "product.c"
    source.write_text(source.read_text().replace("(a * b + 64) >> 7", "(a * b + 63) >> 7"))
    return tmp_path


@pytest.mark.parametrize("form", [(), ("--json",), ("--coverage",)], ids=["text", "json", "coverage"])
def test_a_check_does_not_depend_on_the_hash_seed(folder: Path, form: tuple[str, ...]) -> None:
    assert outputs(folder, 1, *CHECK, *form) == outputs(folder, 2, *CHECK, *form)
