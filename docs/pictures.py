"""The picture of the README: `python docs/pictures.py` makes it.

`lanewise debug` at the one mistake of a kernel: a product is narrowed without rounding.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from sim.debug import Session
from sim.debug.app.screen import Debugger
from sim.debug.commands import SessionCommands
from sim.debug.request import DebugRequest, find_call

PICTURE: Final = Path(__file__).parent / "static" / "debug.svg"
SIZE: Final = (116, 29)
"""Columns and rows."""
_FONT_FACE: Final = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)


def picture(folder: Path) -> str:
    """The terminal as SVG, of a kernel that `lanewise init kernel` writes into the folder, with the mistake put in.

    It fetches nothing: its letters are those that the reader has.
    """
    subprocess.run([Path(sys.executable).with_name("lanewise"), "init", "kernel", "requant"], cwd=folder, check=True)
    source = folder / "requant.c"
    source.write_text(source.read_text().replace("vqrshrn_n_s16", "vqshrn_n_s16"))
    wanted = DebugRequest(what=str(folder / "requant.py"), failing=True, vectors=2000, faults=("requant.c:8",))
    session = Session(find_call(wanted))

    async def shown() -> str:
        app = Debugger(session, SessionCommands(session).opening())
        async with app.run_test(size=SIZE) as pilot:
            for _ in range(3):  # laid out in one refresh, painted in the next
                await pilot.pause()
            return app.export_screenshot(title="lanewise debug requant.py --failing --fault requant.c:8")

    return _FONT_FACE.sub("", asyncio.run(shown())).replace("Fira Code", "ui-monospace, Menlo, Consolas")


if __name__ == "__main__":
    with TemporaryDirectory() as made:
        PICTURE.write_text(picture(Path(made)), encoding="utf-8")
