"""Files that a command will write at its end: refused before anything runs."""

from __future__ import annotations

import os
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from isa.errors import MISSING, USAGE, pip_install
from sim.terminal.output import fail

PICTURES: Final = (".png", ".svg")
"""What files that pictures are drawn to may end in."""


def require_drawable(option: str, file: Path | None) -> None:
    """End the command, with one sentence, where no picture can be drawn to the file that the option names."""
    if file is None:
        return
    if file.suffix not in PICTURES:
        fail(f"{option} writes {' and '.join(PICTURES)}, not {file}", USAGE)
    require_writable(option, file)
    if find_spec("matplotlib") is None:
        fail(f"{option} needs matplotlib; run: {pip_install('lanewise[plots]')}", MISSING)


def require_writable(option: str, file: Path | None) -> None:
    """End the command, with one sentence, where the file cannot be written that an option names; "" for an argument."""
    if file is not None and (hindrance := _hindrance(file)):
        fail(f"{option} cannot write {file}: {hindrance}".lstrip())


def _hindrance(file: Path) -> str:
    folder = file.absolute().parent
    if not folder.is_dir():
        return "there is no such folder"
    with suppress(FileNotFoundError):
        file.stat()  # raises for a name that is none; from Python 3.14 on the questions below answer no
    if file.is_dir():
        return "it is a folder"
    if file.exists() and not file.is_file():
        return "" if os.access(file, os.W_OK) else "nothing may be written to it"
    return "" if os.access(folder, os.W_OK | os.X_OK) else "its folder lets nothing be written"
