"""The folder of everything that was made and is kept: what is in it, and how it stays within a size.

Only files that are named by a digest, as everything that is kept is, are counted and removed: the folder may be any
that the user has named.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

MOST: Final = 4 << 30
"""Bytes that the folder holds before what was used least recently goes."""
RECENT: Final = 3600.0
"""Seconds for which nothing that was used goes by itself, as another process may be about to open it."""
_AFTER: Final = 0.8
"""The share of `MOST` that is left."""
_LOOKED: Final = "size-looked-at"
"""A file whose time says when the size was looked at last."""
_KEPT: Final = re.compile(r"(?:(?P<kind>[a-z]+)-)?[0-9a-f]{16,64}(?P<suffix>\.[a-zA-Z0-9]{1,8})")


@dataclass(frozen=True)
class KeptFile:
    """`kind` is its folder below the cache and its name with * for the digest; `used`, in seconds since 1970, when."""

    path: Path
    kind: str
    size: int
    used: float


def kept_files(cache: Path) -> Iterator[KeptFile]:
    """What is kept in the folder, and in those in it; nothing where there is no such folder.  Raises OSError."""
    folders = [cache]
    if cache.is_dir():
        folders += sorted(path for path in cache.iterdir() if path.is_dir() and not path.is_symlink())
    for folder in folders:
        with contextlib.suppress(FileNotFoundError), os.scandir(folder) as entries:
            for entry in entries:
                if (named := _KEPT.fullmatch(entry.name)) and entry.is_file(follow_symlinks=False):
                    with contextlib.suppress(FileNotFoundError):  # another process has removed it
                        found = entry.stat(follow_symlinks=False)
                        stem = f"{named['kind']}-*" if named["kind"] else "*"
                        kind = str(Path(folder.relative_to(cache), stem + named["suffix"]))
                        yield KeptFile(Path(entry.path), kind, found.st_size, found.st_mtime)


def mark_used(*files: Path) -> None:
    """Note that files are used now; where that cannot be, as in a folder that is only read, they grow old."""
    with contextlib.suppress(OSError):
        for file in files:
            os.utime(file)


def keep_within(cache: Path, most: int = MOST) -> None:
    """Where more is kept than `most` bytes, remove what was used least recently, but for what was just used.

    It is looked at once in `RECENT` seconds: with thousands of files it takes a while.  Raises OSError.
    """
    looked = cache / _LOOKED
    if looked.exists() and time.time() - looked.stat().st_mtime < RECENT:
        return
    looked.touch()
    files = sorted(kept_files(cache), key=lambda file: file.used)
    size = sum(file.size for file in files)
    if size > most:
        for file in files:
            if size <= _AFTER * most or time.time() - file.used < RECENT:
                break
            file.path.unlink(missing_ok=True)
            size -= file.size


def clear(cache: Path, unused_for: float) -> list[KeptFile]:
    """Remove what was not used for so many seconds; returns what was removed.  Raises OSError."""
    before = time.time() - unused_for
    removed = [file for file in kept_files(cache) if file.used <= before]
    for file in removed:
        file.path.unlink(missing_ok=True)
    return removed
