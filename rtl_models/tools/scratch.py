"""Temporary folders in which tools write: what goes wrong there for want of room is said to be that."""

from __future__ import annotations

import filecmp
import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import disk_usage
from tempfile import TemporaryDirectory
from typing import Final

from isa.errors import MISSING, LanewiseError

_ROOM: Final = 1 << 20
"""Bytes: what a tool could not write to its end may be gone again, so that some of the room is back."""


class ScratchUnusable(LanewiseError):
    """There is no temporary folder, or no room in it: one sentence."""

    exit_code = MISSING


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder that goes with the block.

    Raises ScratchUnusable where there can be none, and after any block that leaves it full, whatever the block raises:
    tools say something else, or nothing, of a file that they could not write to its end.
    """
    try:
        made = TemporaryDirectory(ignore_cleanup_errors=True)
    except OSError as error:
        raise ScratchUnusable(f"there is no temporary folder: {error}; name one in TMPDIR") from error
    with made as folder:
        try:
            yield Path(folder)
        except Exception as error:
            _require_room(Path(folder), error)
            raise
        _require_room(Path(folder))


def named_by_content(file: Path) -> Path:
    """The file where it is now: its folder, one of `mkdtemp`, gets a name by its content, the same in every run.

    Where an earlier run has left that folder, this one goes; where something else has its name, it stays as it is.
    """
    with file.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    kept = file.parent.with_name(f"{file.parent.name.rpartition('-')[0]}-{digest[:16]}") / file.name
    try:
        file.parent.rename(kept.parent)
    except OSError:
        if not kept.is_file() or not filecmp.cmp(file, kept, shallow=False):
            return file
        shutil.rmtree(file.parent)
    return kept


def _require_room(folder: Path, error: Exception | None = None) -> None:
    if disk_usage(folder).free < _ROOM:
        there = f" (there: {str(error).splitlines()[0]})" if str(error or "") else ""
        said = f"no space left in the temporary folder {folder.parent}; name another one in TMPDIR{there}"
        raise ScratchUnusable(said) from error
