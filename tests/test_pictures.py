"""The pictures of the pages are what commands print; `python docs/pictures.py` makes them again."""

from __future__ import annotations

import html
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from sim.command.app import Lanewise
from support.sampled import sampled

DOCS = Path(__file__).parents[1] / "docs"
PICTURES: dict[str, Any] = runpy.run_path(str(DOCS / "pictures.py"))
AT_ONCE = ("cache", "conventions", "doctor", "init", "isa", "kernels", "run", "schema", "trace")
IN_LONG_RUNS = sorted(set(PICTURES["COMMANDS"]) - set(AT_ONCE))
"""What takes seconds: `tests/long/long_docs.py` draws it."""
OF_THE_DAY = ("cache", "doctor", "results")
"""What has dates or versions in it, which are others on another day."""


def drawn(name: str, folder: Path) -> str:
    text: str = PICTURES["picture_of"](name, folder)
    return text


def committed(name: str) -> str:
    return (DOCS / "static" / f"{name}.svg").read_text()


def as_compared(name: str, text: str) -> str:
    """The picture, or of one of the day its words without numbers, and without lines, which are as long as these."""
    if name not in OF_THE_DAY:
        return text
    words = html.unescape(" ".join(re.findall(r"<text[^>]*>([^<]*)</text>", text))).split()
    return " ".join(re.sub(r"[\d.:-]*\d", "0", word) for word in words if word.strip("─"))


@pytest.mark.slow
@pytest.mark.parametrize("name", sampled(AT_ONCE, 3))
def test_a_picture_is_what_its_command_prints(name: str, tmp_path: Path) -> None:
    assert as_compared(name, drawn(name, tmp_path)) == as_compared(name, committed(name))


def test_every_command_has_a_picture_and_each_is_on_a_page() -> None:
    """That of `lanewise debug` is in the README."""
    shown = {name for page in DOCS.glob("*.md") for name in re.findall(r"\(static/(\w+)\.svg\)", page.read_text())}
    commands = {*Lanewise.COMMANDS, "rtl"}
    assert {path.stem for path in (DOCS / "static").glob("*.svg")} == commands
    assert {*PICTURES["COMMANDS"], "gdb", PICTURES["PICTURE"].stem} == commands
    assert shown == commands - {PICTURES["PICTURE"].stem}


@pytest.mark.parametrize("name", PICTURES["COMMANDS"])
def test_a_picture_fetches_nothing_and_is_of_what_it_says(name: str) -> None:
    text = committed(name)
    assert re.findall(r"(?:href|src|url)\s*[=(]\s*[\"']?https?:", text) == []
    assert PICTURES["COMMANDS"][name].command.partition(" --")[0].split()[1] in text
