"""The pictures of the README and of these pages: `python docs/pictures.py` makes them.

That of the README is `lanewise debug` at the one mistake of a kernel: a product is narrowed without rounding.  The
others are what commands print, the first lines of it.
"""

from __future__ import annotations

import asyncio
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from rich.console import Console
from rich.text import Text

from sim.debug import Session
from sim.debug.app.screen import Debugger
from sim.debug.commands import SessionCommands
from sim.debug.request import DebugRequest, find_call

STATIC: Final = Path(__file__).parent / "static"
PICTURE: Final = STATIC / "debug.svg"
COMMANDS: Final = {
    "check": ("lanewise check requant.py --opt O2 --vectors 2000", 17),
    "prove": ("lanewise prove requant.py --opt O2 --lengths 0..17", 22),
    "cycles": ("lanewise cycles requant.c requant zeros:64 zeros:64 zeros:64 64 --core cortex-a72", 32),
    "conventions": ("lanewise conventions --between double_rounding single_rounding", 4),
    "isa": ("lanewise isa show 'sqrdmulh v0.4s, v1.4s, v2.4s'", 16),
    "trace": ("lanewise trace requant.c requant 64,-64,3 64,64,64 zeros:3 3 --opt O2", 16),
}
"""By the name of the picture the command, and how many of its lines are shown; `requant` is the wrong kernel."""
COLUMNS: Final = 110
SIZE: Final = (116, 29)
"""Columns and rows."""
_FONT_FACE: Final = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)


def picture(folder: Path) -> str:
    """The terminal as SVG, of a kernel that `lanewise init kernel` writes into the folder, with the mistake put in.

    It fetches nothing: its letters are those that the reader has.
    """
    _write_kernel(folder)
    wanted = DebugRequest(what=str(folder / "requant.py"), failing=True, vectors=2000, faults=("requant.c:8",))
    session = Session(find_call(wanted))

    async def shown() -> str:
        app = Debugger(session, SessionCommands(session).opening())
        async with app.run_test(size=SIZE) as pilot:
            for _ in range(3):  # laid out in one refresh, painted in the next
                await pilot.pause()
            return app.export_screenshot(title="lanewise debug requant.py --failing --fault requant.c:8")

    return _with_own_letters(asyncio.run(shown()))


def picture_of(name: str, folder: Path) -> str:
    """What one of `COMMANDS` prints in the folder, as SVG, with the colours of a terminal."""
    _write_kernel(folder)
    command, lines = COMMANDS[name]
    terminal = {"FORCE_COLOR": "1", "COLORTERM": "truecolor", "TERM": "xterm-256color", "COLUMNS": str(COLUMNS)}
    words = [Path(sys.executable).with_name("lanewise"), *shlex.split(command)[1:]]
    kept = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    done = subprocess.run(words, cwd=folder, env={**kept, **terminal}, capture_output=True, text=True)
    if not done.stdout:
        sys.exit(f"{command}: {done.stderr}")
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    shown = Text.from_ansi(done.stdout.strip("\n")).split("\n")[:lines]
    for line in shown:
        line.rstrip()
        console.print(line)
    return _with_own_letters(console.export_svg(title=command, unique_id=f"lanewise-{name}"))


def _write_kernel(folder: Path) -> None:
    """The example of `lanewise init kernel`, narrowed without rounding."""
    made = [Path(sys.executable).with_name("lanewise"), "init", "kernel", "requant"]
    subprocess.run(made, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    source = folder / "requant.c"
    source.write_text(source.read_text().replace("vqrshrn_n_s16", "vqshrn_n_s16"))


def _with_own_letters(drawn: str) -> str:
    return _FONT_FACE.sub("", drawn).replace("Fira Code", "ui-monospace, Menlo, Consolas")


if __name__ == "__main__":
    with TemporaryDirectory() as made:
        PICTURE.write_text(picture(Path(made)), encoding="utf-8")
    for each in COMMANDS:
        with TemporaryDirectory() as made:
            (STATIC / f"{each}.svg").write_text(picture_of(each, Path(made)), encoding="utf-8")
