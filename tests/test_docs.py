"""What the pages of docs/ show is what happens: every example in them is run."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sim.command import app as cli
from sim.kernels import kernel_names, operator_interface, operators
from support.command import lanewise
from support.page_examples import (
    Example,
    block_after,
    printed_by,
    python_examples,
    run_in_shell,
    shell_examples,
    without_trailing_blanks,
)

DOCS = Path(__file__).parents[1] / "docs"
ROOMS = ("isa", "sim", "rtl_models")
WRITTEN = [path for path in sorted(DOCS.rglob("*.md")) if "generated" not in path.parts]
"""The others are copies that `make docs` makes."""
PAGES = {str(path.relative_to(DOCS)): path.read_text() for path in WRITTEN}
PYTHON = [(name, example) for name, page in PAGES.items() for example in python_examples(page)]
SHELL = [(name, example) for name, page in PAGES.items() for example in shell_examples(page)]


def numbered(examples: list[tuple[str, Example]]) -> list[str]:
    return [f"{name} {number}" for number, (name, _) in enumerate(examples)]


@pytest.mark.parametrize(("page", "example"), PYTHON, ids=numbered(PYTHON))
def test_python_prints_what_the_page_says(page: str, example: Example) -> None:
    assert printed_by(example.code, page) == example.output


@pytest.mark.slow
@pytest.mark.parametrize(("page", "example"), SHELL, ids=numbered(SHELL))
def test_a_shell_example_passes_and_prints_what_the_page_says(page: str, example: Example, tmp_path: Path) -> None:
    done = run_in_shell(example.code, tmp_path, columns=120)
    printed, shown = without_trailing_blanks(done.stdout), without_trailing_blanks(example.output)
    assert (done.returncode, done.stderr) == (0, "")
    assert printed == shown if example.is_whole else printed.startswith(shown)


@pytest.mark.parametrize("page", PAGES)
def test_every_python_example_of_a_page_shows_its_output(page: str) -> None:
    assert len(python_examples(PAGES[page])) == PAGES[page].count("```python")


@pytest.mark.parametrize("name", kernel_names())
def test_every_operator_has_a_section_with_an_example(name: str) -> None:
    operator = operator_interface(name).operator.__name__
    section = PAGES["operators.md"].split(f"\n## {operator}\n")[1].split("\n## ")[0]
    assert any(f"{operator}(" in example.code for example in python_examples(section))


def test_the_table_of_operators_names_the_parameters_of_configure() -> None:
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \|", PAGES["operators.md"], re.MULTILINE)
    for operator, told in rows:
        configure = getattr(getattr(operators, operator), "configure", None)
        parameters = [] if configure is None else list(inspect.signature(configure).parameters)[1:]
        assert told == (", ".join(parameters).replace("_", " ") or "the constructor")
    assert {operator for operator, _ in rows} == {operator_interface(name).operator.__name__ for name in kernel_names()}


def test_everything_public_of_the_operators_is_there() -> None:
    assert [name for name in operators.__all__ if not hasattr(operators, name)] == []
    assert operators.__all__ == sorted(operators.__all__)


def launch_configurations() -> dict[str, dict[str, Any]]:
    """The launch configurations of docs/debugging.md by their types."""
    text = (Path(__file__).parents[1] / "docs/debugging.md").read_text()
    launch = json.loads(text.split("```json\n")[1].split("```")[0])
    return {each["type"]: each for each in launch["configurations"]}


def test_launch_configurations_are_of_the_port_and_program_that_are_served() -> None:
    """What they do is tried by tests/long/clients_vscode.py."""
    text = (Path(__file__).parents[1] / "docs/debugging.md").read_text()
    served = re.search(r"\$ lanewise gdb .* --port (\d+) --elf (\S+)", text)
    assert served is not None
    for each in launch_configurations().values():
        assert each["program"] == f"${{workspaceFolder}}/{served[2]}"
        assert json.dumps(each).count(served[1]) == 1


def printed_by_check(*options: str) -> list[str]:
    """What `lanewise check quantize_down` prints."""
    done = lanewise("check", "quantize_down", *options)
    assert done.exit_code == 0, done.output
    printed = re.sub(r"\A(?: *\n)+", "", done.stdout)
    return [line.rstrip() for line in printed.splitlines()]


SHOWN_REPORT = [
    line.rstrip()
    for line in block_after(PAGES["checking.md"], "<!-- output of: lanewise check").strip("\n").splitlines()
]
"""All of it is compared in `tests/long/long_docs.py`."""


@pytest.fixture(scope="module")
def smaller_report() -> list[str]:
    """What a check of one level on few vectors prints."""
    return printed_by_check("--opt", "O2", "--vectors", "50")


def names(report: list[str]) -> list[str]:
    """The names of a report's figures, in its order."""
    return [found[1] for line in report if (found := re.match(r"([a-z][a-z ]+?)  +\S", line))]


@pytest.mark.slow
def test_a_smaller_check_reports_the_figures_of_the_page_in_its_order(smaller_report: list[str]) -> None:
    assert names(smaller_report) == names(SHOWN_REPORT)
    as_there = {line for line in smaller_report if line.startswith(("mode", "compiler", "common flags"))}
    assert as_there <= set(SHOWN_REPORT)


def test_the_prose_of_what_no_input_tells_apart_has_the_lengths_of_the_report_above_it() -> None:
    """They go with the vectors of a check: `tests/long/long_docs.py` holds the report itself."""
    text = PAGES["checking.md"]
    below = text[text.index("The rest are named") :].replace("\n", " ")
    lengths = [re.findall(r"none can with (.*?) +elements", some) for some in (" ".join(SHOWN_REPORT), below)]
    assert lengths[0] == lengths[1] * len(lengths[0])


@pytest.mark.slow
def test_a_smaller_check_builds_the_code_of_the_readme(smaller_report: list[str]) -> None:
    codes = [
        re.findall(r"^ (\S+ -O2) .* ([0-9a-f]{8}) ", "\n".join(report), re.MULTILINE)
        for report in (smaller_report, SHOWN_REPORT)
    ]
    assert (len(codes[0]), codes[0]) == (2, codes[1])


@pytest.mark.slow
def test_the_cycles_begin_as_the_page_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    printed = CliRunner().invoke(cli.app, ["cycles", "quantize_down"]).stdout
    shown = block_after(PAGES["cycles.md"], "<!-- begins the output of: lanewise cycles").splitlines()
    assert shown
    assert [line.rstrip() for line in printed.splitlines()][: len(shown)] == shown


@pytest.mark.slow
@pytest.mark.rtl
def test_the_bench_prints_what_the_page_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    printed = lanewise("rtl", "test", "sqrdmulh").stdout
    assert printed == block_after(PAGES["hardware.md"], "<!-- output of: lanewise rtl test")


@pytest.mark.usefixtures("cache")
def test_all_values_of_an_instruction_are_compared_as_the_page_says() -> None:
    printed = lanewise("exhaust", "sqrshrn v0.8b, v1.8h, #3", "--jobs", 1).stdout
    assert printed == block_after(PAGES["machine.md"], "<!-- output of: lanewise exhaust")


@pytest.mark.slow
def test_the_proofs_that_the_page_asks_for_are_found() -> None:
    """`tests/long/long_docs.py` proves them."""
    printed = lanewise("rtl", "prove", "rescale", "--list")
    assert (printed.exit_code, len(printed.stdout.splitlines())) == (0, 3)  # one of each depth


def test_what_tells_two_conventions_apart_is_as_the_page_says() -> None:
    printed = CliRunner().invoke(cli.app, ["conventions", "--between", "double_rounding", "single_rounding"]).stdout
    shown = block_after(PAGES["conventions.md"], "<!-- output of: lanewise conventions --between")
    assert [line.rstrip() for line in printed.splitlines()] == shown.splitlines()


@pytest.mark.slow
def test_the_test_of_a_kernel_of_ones_own_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    CliRunner().invoke(cli.app, ["init", "kernel", "my_kernel"])
    text = re.search(r"```py\n(.*?)```", PAGES["kernels.md"], re.DOTALL)
    assert text is not None
    (tmp_path / "test_mine.py").write_text(text[1])
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "test_mine.py"], capture_output=True, text=True)
    assert "1 passed" in done.stdout


def test_all_that_asks_what_kind_a_node_is_has_its_row_where_a_new_kind_is_told_of() -> None:
    page = (DOCS / "where-things-go.md").read_text(encoding="utf-8")
    rows = page.partition("## An expression node")[2].partition("\n## ")[0]
    texts = {path: path.read_text(encoding="utf-8") for room in ROOMS for path in (DOCS.parent / room).rglob("*.py")}
    asking = {path.name for path, text in texts.items() if "assert_never(" in text and "isa.lane import" in text}
    assert {name for name in asking if f"{name}`" not in rows} == set()
    assert len(asking) > 20


def test_every_kernel_is_in_the_table_of_kernels() -> None:
    named = set(re.findall(r"^\| `(\w+)` \|", PAGES["conventions.md"], re.MULTILINE))
    assert set(kernel_names()) <= named


@pytest.mark.slow
def test_the_claims_of_the_page_are_decided_as_it_says(cache: Path) -> None:
    printed = CliRunner().invoke(cli.app, ["prove", "sqrdmulh*"]).stdout
    rows = [
        " ".join(line.split()) for line in block_after(PAGES["proving.md"], "<!-- rows of: lanewise prove").splitlines()
    ]
    found = " / ".join(" ".join(line.split()) for line in printed.splitlines())
    assert [row for row in rows if row not in found] == []
