"""The compiler's options as the commands take them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from sim.check.check import LEVELS
from sim.terminal import USAGE, fail


def optimisation_flag(level: str) -> str:
    """The flag of --opt with one level, such as -O2; ends the command where it is none."""
    name = level.removeprefix("-")
    if name not in LEVELS:
        fail(f"--opt takes one of {', '.join(LEVELS)}, not {level!r}", USAGE)
    return f"-{name}"


def compile_flags(march: str | None, cflags: str, include: Sequence[Path]) -> tuple[str, ...]:
    """The flags of --march, --include and --cflags; ends the command where the last one is no shell text."""
    try:
        more = shlex.split(cflags)
    except ValueError as error:
        fail(f"--cflags cannot be split as a shell does: {error}", USAGE)
    return (*([f"-march={march}"] if march else []), *(f"-I{folder.absolute()}" for folder in include), *more)
