"""What `monitor` says in gdb: what gdb itself does not know of."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from isa.errors import LanewiseError
from sim.debug.commands import SessionCommands, help_text
from sim.debug.session import Session

GDB_COMMANDS: Final = Path(__file__).with_name("gdb_commands.py")
"""What gdb loads (-x FILE) to have the same as commands of its own."""
_ALSO: Final = """
stop qc              also stop behind what saturates; again: no longer

After what goes elsewhere, gdb looks again with: maintenance flush register-cache"""


class MonitorCommands:
    """The commands of a session, and those that only gdb needs; `stops_at_qc` is what was asked for."""

    def __init__(self, session: Session) -> None:
        self._commands = SessionCommands(session)
        self.stops_at_qc = False

    def answer(self, text: str) -> str:
        """What a command says, of several lines perhaps; what is wrong with it in a sentence."""
        if text.split() == ["stop", "qc"]:
            self.stops_at_qc = not self.stops_at_qc
            return f"stops behind what saturates: {'yes' if self.stops_at_qc else 'no'}"
        if text.strip() in ("", "help"):
            return help_text() + _ALSO
        try:
            return self._commands.answer(text)
        except (LanewiseError, ValueError) as error:
            return str(error)
