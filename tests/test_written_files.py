"""What a command writes takes the place of no device, pipe or link."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from sim.call.capture import Capture
from sim.terminal.output import write_file
from sim.view.document import document


@pytest.fixture
def pipe(tmp_path: Path) -> tuple[Path, Callable[[], bytes]]:
    """A pipe with a name, and what has come through it."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    end = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    return path, lambda: os.read(end, 100)


def test_a_pipe_is_written_to_and_stays_one(pipe: tuple[Path, Callable[[], bytes]]) -> None:
    path, read = pipe
    write_file(path, b"a page")
    assert (stat.S_ISFIFO(path.stat().st_mode), read()) == (True, b"a page")


def test_a_link_stays_one_and_its_file_is_written(tmp_path: Path) -> None:
    link, file = tmp_path / "link", tmp_path / "file"
    file.write_bytes(b"before")
    link.symlink_to(file)
    write_file(link, b"a page")
    assert (link.is_symlink(), file.read_bytes()) == (True, b"a page")


def test_captured_calls_which_are_two_files_go_to_no_pipe(pipe: tuple[Path, Callable[[], bytes]]) -> None:
    with pytest.raises(OSError, match="calls are two files"):
        Capture().save(pipe[0])
    assert stat.S_ISFIFO(pipe[0].stat().st_mode)


def test_a_page_steers_nobody_by_the_name_of_a_file() -> None:
    page = document("\x1b[31mred", "", "<p>a\u202eb\x07</p>")
    assert ("\\x1b[31mred</title>" in page, "a\\u202eb\\x07" in page, "\x1b" in page) == (True, True, False)
