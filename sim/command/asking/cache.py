"""`lanewise cache`: what is kept of what was made, and how it goes."""

from __future__ import annotations

from functools import partial

from isa.errors import MISSING
from sim.terminal.output import fail, print_json, print_shown, print_text
from sim.toolchain.cache import clear, kept_files
from sim.toolchain.tools import cache_directory
from sim.view.cache import show_kept, summary

_DAY = 24 * 3600


def cache(clear_it: bool, older_than: float, as_json: bool) -> None:
    """Do what `lanewise cache` says: its options are those of `sim.command.signatures.cache`."""
    if older_than and not clear_it:
        fail("--older-than says what --clear removes: give both")
    folder = cache_directory()
    try:
        listed = clear(folder, older_than * _DAY) if clear_it else list(kept_files(folder))
    except OSError as error:
        fail(f"cannot {'clear' if clear_it else 'read'} the cache {folder}: {error.strerror}", MISSING)
    kinds = summary(listed)
    if as_json:
        print_json("cache", {"folder": str(folder), "removed" if clear_it else "kept": kinds})
    elif clear_it:
        print_text(f"removed {len(listed)} files, {sum(file.size for file in listed) / 2**20:.1f} MiB, from {folder}")
    else:
        print_shown(partial(show_kept, folder, kinds))
