"""What the README shows is what happens."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

from isa.rows import TABLE
from sim.check.check import Job, check_job
from sim.check.repair.place import with_faults
from sim.check.vectors import make_vectors
from sim.command import app as cli
from sim.kernels import kernel_names
from sim.kernels.quantize_down import KERNEL
from support import page_examples
from support.command import lanewise
from support.page_examples import (
    Example,
    printed_by,
    python_examples,
    run_in_shell,
    shell_examples,
    without_trailing_blanks,
)

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
PYTHON = python_examples(README)
block_after = partial(page_examples.block_after, README)


@pytest.mark.parametrize("example", PYTHON, ids=range(len(PYTHON)))
def test_the_python_examples_print_what_the_readme_says(example: Example) -> None:
    assert printed_by(example.code, "README.md") == example.output


def test_there_are_five_python_examples() -> None:
    assert len(PYTHON) == 5


def printed_by_check(folder: Path, *options: str) -> list[str]:
    """What `lanewise check quantize_down` prints."""
    command = [str(Path(sys.executable).with_name("lanewise")), "check", "quantize_down", *options]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return [line.rstrip() for line in done.stdout.strip("\n").splitlines()]


SHOWN_REPORT = [line.rstrip() for line in block_after("<!-- output of: lanewise check").strip("\n").splitlines()]
"""All of it is compared in `tests/long/long_readme.py`."""


def names(report: list[str]) -> list[str]:
    """The names of a report's figures, in its order."""
    return [found[1] for line in report if (found := re.match(r"([a-z][a-z ]+?)  +\S", line))]


def test_a_smaller_check_reports_the_figures_of_the_readme_in_its_order(tmp_path: Path) -> None:
    printed = printed_by_check(tmp_path, "--opt", "O2", "--vectors", "50")
    assert names(printed) == names(SHOWN_REPORT)
    assert {line for line in printed if line.startswith(("mode", "compiler", "common flags"))} <= set(SHOWN_REPORT)


def test_a_smaller_check_builds_the_code_of_the_readme(tmp_path: Path) -> None:
    printed = printed_by_check(tmp_path, "--opt", "O2", "--vectors", "50")
    codes = [
        re.findall(r"^ (\S+ -O2) .* ([0-9a-f]{8}) ", "\n".join(report), re.MULTILINE)
        for report in (printed, SHOWN_REPORT)
    ]
    assert (len(codes[0]), codes[0]) == (2, codes[1])


def test_the_explanation_begins_as_the_readme_says(tmp_path: Path) -> None:
    script, *_ = shell_examples(README)
    printed = without_trailing_blanks(run_in_shell(script.code, tmp_path).stdout)
    assert printed.startswith(block_after("<!-- begins the output of: lanewise explain").strip())


def test_the_cycles_begin_as_the_readme_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    printed = CliRunner().invoke(cli.app, ["cycles", "quantize_down"]).stdout
    shown = block_after("<!-- begins the output of: lanewise cycles").splitlines()
    assert shown
    assert [line.rstrip() for line in printed.splitlines()][: len(shown)] == shown


@pytest.mark.rtl
def test_the_bench_prints_what_the_readme_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    printed = lanewise("rtl", "test", "sqrdmulh").stdout
    assert printed == block_after("<!-- output of: lanewise rtl test")


@pytest.mark.usefixtures("cache")
def test_all_values_of_an_instruction_are_compared_as_the_readme_says() -> None:
    printed = lanewise("exhaust", "sqrshrn v0.8b, v1.8h, #3", "--jobs", 1).stdout
    assert printed == block_after("<!-- output of: lanewise exhaust")


def test_the_proofs_that_the_readme_asks_for_are_found() -> None:
    """`tests/long/long_readme.py` proves them."""
    printed = lanewise("rtl", "prove", "rescale", "--list")
    assert (printed.exit_code, len(printed.stdout.splitlines())) == (0, 2)


def test_what_tells_two_conventions_apart_is_as_the_readme_says() -> None:
    printed = CliRunner().invoke(cli.app, ["conventions", "--between", "double_rounding", "single_rounding"]).stdout
    shown = block_after("<!-- output of: lanewise conventions --between")
    assert [line.rstrip() for line in printed.splitlines()] == shown.splitlines()


def test_the_commands_of_a_kernel_of_ones_own_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    commands = re.findall(r"^    lanewise (.*my_kernel.*)$", README, re.MULTILINE)
    codes = [CliRunner().invoke(cli.app, command.split()).exit_code for command in commands]
    assert codes == [0, 0]


def test_the_test_of_a_kernel_of_ones_own_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    CliRunner().invoke(cli.app, ["init", "kernel", "my_kernel"])
    text = re.search(r"```py\n(.*?)```", README, re.DOTALL)
    assert text is not None
    (tmp_path / "test_mine.py").write_text(text[1])
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "test_mine.py"], capture_output=True, text=True)
    assert "1 passed" in done.stdout


def test_every_kernel_is_in_the_table_of_kernels() -> None:
    named = set(re.findall(r"^\| `(\w+)` \|", README, re.MULTILINE))
    assert set(kernel_names()) <= named


def test_the_wrong_kernel_is_explained_as_the_readme_says(tmp_path: Path) -> None:
    source = tmp_path / "kernel.c"
    text = KERNEL.sources[0].read_text()
    source.write_text(text.replace("vrshlq_s32(vqaddq_s32(value, fix), minus_shift)", "vrshlq_s32(value, minus_shift)"))
    job, vectors = Job(source, ("-O0",)), make_vectors(KERNEL, 2000, 1)
    (outcome,) = with_faults(KERNEL, [job], vectors, [check_job(KERNEL, job, vectors, lambda _: None)])
    assert str(outcome.mismatch) == block_after("## A wrong kernel").strip()


def test_the_claims_of_the_readme_are_decided_as_it_says(cache: Path) -> None:
    printed = CliRunner().invoke(cli.app, ["prove", "sqrdmulh*"]).stdout
    rows = [" ".join(line.split()) for line in block_after("<!-- rows of: lanewise prove").splitlines()]
    found = " / ".join(" ".join(line.split()) for line in printed.splitlines())
    assert [row for row in rows if row not in found] == []


@pytest.mark.parametrize("target", re.findall(r"^    make (\w+)$", README, re.MULTILINE))
def test_every_make_target_of_the_readme_exists(target: str) -> None:
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_the_number_of_forms_is_that_of_the_table() -> None:
    assert f"({len(TABLE.forms):,} forms)" in README


def test_the_output_of_make_test_ends_in_passing_tests() -> None:
    contracts = (ROOT / "pyproject.toml").read_text().count("[[tool.importlinter.contracts]]")
    shown = block_after("<!-- from: make test -->")
    assert f"Contracts: {contracts} kept, 0 broken." in shown
    assert re.search(r"^\d+ passed(, \d+ skipped)? in ", shown, re.MULTILINE)


def test_every_folder_of_the_readme_exists() -> None:
    folders = re.findall(r"^\| `(\w+)/` \|", README, re.MULTILINE)
    assert [folder for folder in folders if not (ROOT / folder).is_dir()] == []


def test_ci_runs_the_commands_of_the_readme_in_their_order() -> None:
    commands = re.findall(r"^    (make \w+)$", README, re.MULTILINE)
    assert re.findall(r"^(make \w+)$", (ROOT / ".ci" / "run").read_text(), re.MULTILINE) == commands
