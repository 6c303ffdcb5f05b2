"""The repository in tests/examples, used as a stranger would who has copied it: its tests, campaign and hook."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "tests" / "examples" / "own_kernels"
LANEWISE = [sys.executable, "-P", "-m", "sim"]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With results of its campaign."""
    folder = tmp_path_factory.mktemp("copied") / "own_kernels"
    shutil.copytree(EXAMPLE, folder)
    assert done(folder, *LANEWISE, "campaign", "lanewise.toml")[0] == 0
    return folder


def done(folder: Path, *command: str) -> tuple[int, str]:
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout + ended.stderr


def test_the_action_keeps_the_store_of_a_run_with_faults() -> None:
    """What takes it up and what keeps it are steps of their own, of the same files; the second one always."""
    steps = re.split(r"^    - ", (ROOT / "docs" / "ci" / "action.yml").read_text(), flags=re.M)
    (taken,) = [step for step in steps if "uses: actions/cache/restore@" in step]
    (kept,) = [step for step in steps if "uses: actions/cache/save@" in step]
    paths = [re.findall(r"path: \|\n((?: {10}\S+\n)+)", step) for step in (taken, kept)]
    assert (len(paths[0]), paths[0]) == (1, paths[1])
    assert kept.startswith("if: always()\n")
    (ident,) = re.findall(r"id: (\w+)", taken)
    assert f"steps.{ident}.outputs.cache-primary-key" in kept
    assert not [step for step in steps if "uses: actions/cache@" in step]


@pytest.mark.slow
@pytest.mark.parametrize("words", [("-P", "-m", "pytest"), ("-m", "pytest", "-p", "no:lanewise")])
def test_a_repository_with_a_package_of_our_name_is_tested_as_the_page_says(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "sim").mkdir()
    (tmp_path / "sim" / "__init__.py").touch()
    (tmp_path / "isa.py").touch()
    (tmp_path / "test_it.py").write_text("def test_it() -> None:\n    assert True\n")
    code, said = done(tmp_path, sys.executable, *words, "-p", "no:cacheprovider", "test_it.py")
    assert (code, "1 passed" in said) == (0, True), said
    code, said = done(tmp_path, sys.executable, "-m", "pytest", "test_it.py")  # the reason for the page's words
    assert (code, "no fixture kernel in this run" in said) == (0, True), said


@pytest.mark.slow
def test_its_campaign_agrees(copy: Path) -> None:
    code, said = done(copy, *LANEWISE, "results", "lanewise.sqlite")
    assert (code, re.findall(r"\d+ jobs, .*", said)) == (0, ["13 jobs, 13 agrees"])
