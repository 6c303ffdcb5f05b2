"""Ctrl-C where nothing is worth keeping.  Imports nothing that takes time."""

from __future__ import annotations

import os
from types import FrameType


def end_at_once(_number: int, _frame: FrameType | None) -> None:
    """A handler of SIGINT: a word, and exit code 130."""
    os.write(2, b"lanewise: interrupted\n")
    os._exit(130)


def came_of_an_interrupt(error: BaseException) -> bool:
    """Whether an error was met while Ctrl-C was dealt with, as by a library that closes what it was writing."""
    earlier, seen = error, set[BaseException]()
    while earlier not in seen and not isinstance(earlier, KeyboardInterrupt):
        seen.add(earlier)
        earlier = earlier.__cause__ or earlier.__context__ or earlier
    return isinstance(earlier, KeyboardInterrupt)
