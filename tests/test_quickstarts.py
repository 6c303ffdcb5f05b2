"""The quickstarts, each walked from its first to its last line in an empty folder."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from support.page_examples import run_in_shell

DOCS = Path(__file__).parents[1] / "docs"
PAGES = {path.stem.removeprefix("quickstart-"): path.read_text() for path in sorted(DOCS.glob("quickstart-*.md"))}
STEP = re.compile(r"(?:^`(\S+)`:\n\n)?^```(\w+)\n(.*?)```", re.DOTALL | re.MULTILINE)
"""A block, below the name of its file where it is one."""
IN_LONG_RUNS = ("cycles", "hardware", "kernel")
"""What takes seconds: `tests/long/long_docs.py` walks it."""


def lines_shown(printed: Sequence[str], shown: Sequence[str]) -> str:
    """The first of the shown lines that is not among the printed ones in their order, "" for none.

    "..." stands for any lines, within a line for any text.
    """
    at, anywhere = 0, False
    for line in shown:
        if line == "...":
            anywhere = True
            continue
        pattern = re.compile(".*".join(map(re.escape, line.split("..."))))
        found = [i for i in range(at, len(printed) if anywhere else at + 1) if i < len(printed)]
        place = next((i for i in found if pattern.fullmatch(printed[i])), None)
        if place is None:
            return line
        at, anywhere = place + 1, False
    return "" if anywhere or at == len(printed) else printed[at]


def walk(page: str, folder: Path) -> list[str]:
    """Write the page's files and run its commands in their order; what they do not print as it says."""
    wrong = []
    for name, language, text in STEP.findall(page):
        if name:
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text)
        if language == "console":
            text, *code = text.split("$ echo $?\n")  # at most once, at the end
            for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                command, *shown = part.rstrip("\n").split("\n")
                done = run_in_shell(command, folder, columns=120)
                if done.returncode != int("".join(code) or 0):
                    wrong.append(f"{command}: exit code {done.returncode}, {done.stderr}")
                printed = [line.rstrip() for line in done.stdout.strip("\n").split("\n")]
                lacking = lines_shown(printed, [line.rstrip() for line in shown])
                wrong += [f"{command}: {lacking!r} in\n{done.stdout}{done.stderr}"] if lacking else []
    return wrong


def test_there_is_one_for_each_door_of_the_readme() -> None:
    readme = (DOCS.parent / "README.md").read_text()
    assert {f"quickstart-{name}" for name in PAGES} == set(re.findall(r"docs/(quickstart-\w+)\.md", readme))
    assert len(PAGES) == 4


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in PAGES if name not in IN_LONG_RUNS])
def test_a_quickstart_goes_as_it_says(name: str, tmp_path: Path) -> None:
    assert walk(PAGES[name], tmp_path) == []


@pytest.mark.parametrize("name", PAGES)
def test_every_block_of_a_quickstart_is_a_file_a_command_or_executed_python(name: str) -> None:
    kinds = {language for file, language, _ in STEP.findall(PAGES[name]) if not file}
    assert kinds
    assert kinds <= {"console", "python"}


@pytest.mark.parametrize(
    ("shown", "lacking"),
    [
        (["a", "b", "c"], ""), (["..."], ""), (["...", "b", "..."], ""), (["a", "...", "c"], ""), (["a", "..."], ""),
        (["b", "..."], "b"), (["...", "b"], "c"), (["...", "c", "...", "a"], "a"), (["a", "c"], "c"),
        (["a", "b", "...x"], "...x"),
    ],
)  # fmt: skip
def test_a_line_that_is_not_printed_is_noticed(shown: list[str], lacking: str) -> None:
    assert lines_shown(["a", "b", "c"], shown) == lacking
