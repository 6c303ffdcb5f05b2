"""The base of every error that lanewise raises on purpose, with the exit code that a command ends with."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

MISMATCH: Final = 1
"""Something was compared, or run, and is wrong."""
USAGE: Final = 2
"""What was given cannot be used."""
MISSING: Final = 3
"""The environment lacks something: a tool, a writable folder, room."""
INTERRUPTED: Final = 130
"""Ended by Ctrl-C, as shells say it."""


def fault_in(file: str | os.PathLike[str], error: BaseException) -> str:
    """What Python of a user's failed with, on one line, behind the last line of the file on the way there, if any.

    Such as ", line 3: ValueError: no".  What is raised where another file is imported is told at the import.
    """
    line, said = line_in(file, error), str(error)
    if isinstance(error, SyntaxError) and os.path.abspath(error.filename or "") == os.path.abspath(file):
        line, said = error.lineno or 1, error.msg
    return f"{f', line {line}' if line else ''}: {type(error).__name__}: {said}".split("\n")[0]


def line_in(file: str | os.PathLike[str], error: BaseException) -> int:
    """The last line of the file on the way to where the error was raised; 0 where it is not on the way."""
    own, line, at = os.path.abspath(file), 0, error.__traceback__
    while at is not None:
        if os.path.abspath(at.tb_frame.f_code.co_filename) == own:
            line = at.tb_lineno
        at = at.tb_next
    return line


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Such as " (did you mean test?)", of the name that is nearest; "" where none is near."""
    near = get_close_matches(name, known, n=1)
    return f" (did you mean {near[0]}?)" if near else ""


def pip_install(what: str) -> str:
    """The command that installs a package, or an extra such as "lanewise[rtl]", into the environment that runs this.

    The pip that a shell finds may be another one's: then the command names this Python.
    """
    own = os.path.realpath(os.path.dirname(sys.executable))
    first = next((folder for folder in os.get_exec_path() if os.path.isfile(os.path.join(folder, "pip"))), "")
    pip = "pip" if os.path.realpath(first) == own else f"{sys.executable} -m pip"
    return f"{pip} install '{what}'" if "[" in what else f"{pip} install {what}"


class LanewiseError(Exception):
    """Something that whoever runs lanewise can mend.  The message is one sentence, without a traceback.

    `exit_code` is what the command ends with: 1 for a mismatch, 2 for what was given, 3 for what is missing.
    """

    exit_code: int = USAGE
