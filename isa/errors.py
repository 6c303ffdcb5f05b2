"""The base of every error that lanewise raises on purpose, with the exit code that a command ends with."""

from __future__ import annotations

from typing import Final

MISMATCH: Final = 1
"""Something was compared, or run, and is wrong."""
USAGE: Final = 2
"""What was given cannot be used."""
MISSING: Final = 3
"""The environment lacks something: a tool, a writable folder, room."""
INTERRUPTED: Final = 130
"""Ended by Ctrl-C, as shells say it."""


class LanewiseError(Exception):
    """Something that whoever runs lanewise can mend.  The message is one sentence, without a traceback.

    `exit_code` is what the command ends with: 1 for a mismatch, 2 for what was given, 3 for what is missing.
    """

    exit_code: int = USAGE
