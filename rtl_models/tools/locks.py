"""A lock between processes: what one of them makes, the others wait for and find."""

from __future__ import annotations

import fcntl
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Timer
from typing import Final

PATIENCE: Final = 2.0
"""Seconds after which a process that waits says so."""


@contextmanager
def alone(lock: Path, held_by: str) -> Iterator[None]:
    """One process at a time; `held_by` says of the one that is waited for what it does, as a sentence on stderr.

    `lock` is a file, made where there is none.  Raises OSError where it cannot be.
    """
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as file:
        notice = Timer(PATIENCE, partial(print, held_by, file=sys.stderr, flush=True))
        notice.start()
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
        finally:
            notice.cancel()
        yield
