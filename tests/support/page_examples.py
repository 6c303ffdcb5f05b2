"""The examples of a page in Markdown: Python and shell blocks, each with the output that is shown behind it."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

_PYTHON = re.compile(r"```python\n(.*?)```\n(?:\n|[^`]+?\n\n)?```\n(.*?)```", re.DOTALL)
_SHELL = re.compile(r"```sh\n(.*?)```\n(?:\n(<!-- begins[^\n]*-->\n)?```\n(.*?)```)?", re.DOTALL)


class Example(NamedTuple):
    """Code and what it prints, all of it or the beginning."""

    code: str
    output: str
    is_whole: bool = True


def python_examples(page: str) -> list[Example]:
    """The blocks ```python that a block of output follows, with no more than prose between."""
    return [Example(code, output) for code, output in _PYTHON.findall(page)]


def shell_examples(page: str) -> list[Example]:
    """The blocks ```sh; a block right behind is the output, or its beginning under a comment that says `begins`."""
    found = _SHELL.findall(page)
    return [Example(code, output, not begins and output != "") for code, begins, output in found]


def block_after(page: str, text: str) -> str:
    """The first fenced block after a piece of the page's text."""
    start = page.index("```\n", page.index(text)) + 4
    return page[start : page.index("```", start)]


def printed_by(code: str, page: str) -> str:
    """What Python code prints; faults in it name the page."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, page, "exec"), {})
    return printed.getvalue()


def run_in_shell(script: str, folder: Path, columns: int = 80) -> subprocess.CompletedProcess[str]:
    """A script run in that folder, with the commands of this installation."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COLUMNS": str(columns)}
    return subprocess.run(["sh", "-c", script], capture_output=True, text=True, cwd=folder, env=environment)


def without_trailing_blanks(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")
