"""What the README says is so."""

from __future__ import annotations

import re
import runpy
from itertools import takewhile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from isa.rows import TABLE
from sim.command import app as cli

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
COMMANDS = re.findall(r"^    lanewise (.*?)(?: +#.*)?$", README, re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_of_the_readme_is_there_with_its_options(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    words = command.split()
    named = list(takewhile(lambda word: not word.startswith("--"), words))[:2]
    told = CliRunner().invoke(cli.app, [*named, "--help"])
    assert {word for word in words if word.startswith("--")} <= set(re.findall(r"--[\w-]+", told.stdout))
    assert told.exit_code == 0


@pytest.mark.slow
def test_the_commands_of_a_kernel_of_ones_own_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    init, check, debug, prove = (command.split() for command in COMMANDS if "my_kernel" in command)
    assert [CliRunner().invoke(cli.app, words).exit_code for words in (init, check, prove)] == [0, 0, 0]
    printed = CliRunner().invoke(cli.app, debug)
    assert (printed.exit_code, "no call of it fails" in printed.stderr) == (2, True)


@pytest.mark.slow
def test_the_picture_is_what_the_program_shows(tmp_path: Path) -> None:
    """`python docs/pictures.py` makes it again."""
    made = runpy.run_path(str(ROOT / "docs" / "pictures.py"))
    assert made["picture"](tmp_path) == made["PICTURE"].read_text()


@pytest.mark.parametrize("target", re.findall(r"^    make ([\w-]+)$", README, re.MULTILINE))
def test_every_make_target_of_the_readme_exists(target: str) -> None:
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_the_number_of_forms_is_that_of_the_table() -> None:
    assert f"{len(TABLE.forms):,} forms on" in README


def test_ci_runs_the_commands_of_the_readme_and_what_they_begin_with() -> None:
    commands = [each.split() for each in re.findall(r"^make .+$", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)]
    targets = [word for words in commands for word in words[1:] if word != "-j2"]
    assert sorted(targets) == sorted([*re.findall(r"^    make ([\w-]+)$", README, re.MULTILINE), "check"])
