"""Files made by programs, kept under a key for as long as what they were made from stays the same.

Every function may raise OSError.
"""

import contextlib
import hashlib
import json
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from sim.toolchain.cache import keep_within, mark_used

_STALE = 3600
"""Seconds; no compiler runs so long."""
_looked_at: dict[Path, float] = {}
"""By folder, when this process looked for what killed ones left there, in seconds: with thousands of files it takes a
while."""

_SETTLED = 2_000_000_000
"""Nanoseconds after which a change is told from the one before, whatever the file system."""
_digests: dict[Path, tuple[tuple[int, ...], str]] = {}
"""By file, what the system says of it, and the digest."""

Make = Callable[[Path], tuple[Path, list[Path] | None]]
"""In a scratch directory: what was made there, and from which files; None where not all of them are known."""


def kept_or_made(cache: Path, name: str, suffix: str, make: Make) -> Path:
    """The file that an entry tells of while it and its inputs are unchanged, else a new one beside the entry.

    Entries are JSON, of these names in the folder `cache`, whose size has a limit; the files' names are the digests of
    their contents with the suffix.
    """
    entry = cache / f"{name}.json"
    # An entry that is not there, or damaged, whatever JSON made of it, is made anew.
    with contextlib.suppress(
        OSError, ValueError, TypeError, LookupError, AttributeError, StopIteration, RecursionError
    ):
        digests: dict[str, str] = json.loads(entry.read_bytes())
        kept = Path(next(iter(digests)))
        named = kept == entry.with_name(digests[str(kept)] + suffix)
        if named and all(_digest(Path(file)) == digest for file, digest in digests.items()):
            mark_used(entry, kept)
            return kept
    started = time.time_ns()
    entry.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=entry.parent) as scratch:
        made, inputs = make(Path(scratch))
        final = entry.with_name(_digest(made) + suffix)
        made.replace(final)
        if inputs is not None and not any(file.stat().st_mtime_ns > started for file in inputs):
            write_whole(entry, json.dumps({str(file): _digest(file) for file in (final, *inputs)}).encode())
    _remove_stale_scratch(entry.parent)
    keep_within(cache)
    return final


def write_whole(file: Path, content: bytes) -> None:
    """Write a file, and the folders it lies in, so that no reader meets half of it: it is moved into place."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=file.parent) as scratch:
        written = Path(scratch, file.name)
        written.write_bytes(content)
        written.replace(file)


def _remove_stale_scratch(directory: Path) -> None:
    """Remove what processes that were killed have left behind: scratch that is old.  Looked for once in `_STALE`."""
    if time.monotonic() - _looked_at.get(directory, -_STALE) < _STALE:
        return
    _looked_at[directory] = time.monotonic()
    for left in directory.glob(f"{tempfile.gettempprefix()}*"):
        with contextlib.suppress(OSError):  # another process may be faster
            if time.time() - left.stat().st_mtime > _STALE:
                shutil.rmtree(left)


def _digest(file: Path) -> str:
    """Of its content, which is read once while the system says that nothing has changed.

    What has changed just now is read again: two changes in one tick of the system's clock look like one.
    """
    about = file.stat()
    seen = about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns
    known = _digests.get(file)
    if known is not None and known[0] == seen:
        return known[1]
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    if time.time_ns() - max(about.st_mtime_ns, about.st_ctime_ns) > _SETTLED:
        _digests[file] = seen, digest
    return digest
