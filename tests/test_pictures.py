"""The pictures of the pages are what commands print; `python docs/pictures.py` makes them again."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PICTURES: dict[str, Any] = runpy.run_path(str(DOCS / "pictures.py"))
IN_LONG_RUNS = ("check", "cycles", "prove")
"""What takes seconds: `tests/long/long_docs.py` draws it."""


def drawn(name: str, folder: Path) -> str:
    text: str = PICTURES["picture_of"](name, folder)
    return text


def committed(name: str) -> str:
    return (DOCS / "static" / f"{name}.svg").read_text()


@pytest.mark.parametrize("name", sorted(set(PICTURES["COMMANDS"]) - set(IN_LONG_RUNS)))
def test_a_picture_is_what_its_command_prints(name: str, tmp_path: Path) -> None:
    assert drawn(name, tmp_path) == committed(name)


def test_every_picture_is_of_a_command_and_on_a_page() -> None:
    """The README has that of `lanewise debug`."""
    shown = {name for page in DOCS.glob("*.md") for name in re.findall(r"\(static/(\w+)\.svg\)", page.read_text())}
    files = {path.stem for path in (DOCS / "static").glob("*.svg")}
    assert files == {*PICTURES["COMMANDS"], PICTURES["PICTURE"].stem}
    assert shown == set(PICTURES["COMMANDS"])


@pytest.mark.parametrize("name", PICTURES["COMMANDS"])
def test_a_picture_fetches_nothing_and_is_of_what_it_says(name: str) -> None:
    text = committed(name)
    assert re.findall(r"(?:href|src|url)\s*[=(]\s*[\"']?https?:", text) == []
    command, _ = PICTURES["COMMANDS"][name]
    assert command.partition(" --")[0].split()[1] in text
