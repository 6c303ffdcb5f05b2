"""What the pages of docs/ show is what happens: every example in them is run."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from typing import Any

import pytest

from sim.kernels import kernel_names, operator_interface, operators
from support.page_examples import (
    Example,
    printed_by,
    python_examples,
    run_in_shell,
    shell_examples,
    without_trailing_blanks,
)

DOCS = Path(__file__).parents[1] / "docs"
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
