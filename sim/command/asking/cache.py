"""`lanewise cache`: what is kept of what was made, and how it goes."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from isa.errors import MISSING
from sim.terminal.output import fail, print_json, print_shown, print_text
from sim.toolchain.cache import clear, kept_files
from sim.toolchain.compilers import cache_directory
from sim.view.cache import show_kept, summary

_DAY = 24 * 3600
Clear = Annotated[bool, typer.Option("--clear", help="Remove what is kept; it is made again when needed.")]
OlderThan = Annotated[
    float, typer.Option(min=0, metavar="DAYS", help="With --clear: only what was not used for so many days.")
]


def cache(
    clear_it: Clear = False,
    older_than: OlderThan = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Say what is kept of what was compiled, built and proved, and where, or clear it.

    Programs, simulators and proofs are kept by the content of all that they are made of, and listed by kind. Beyond
    4 GiB what was used least recently goes by itself.
    """
    if older_than and not clear_it:
        fail("--older-than says what --clear removes: give both")
    folder = cache_directory()
    try:
        listed = clear(folder, older_than * _DAY) if clear_it else list(kept_files(folder))
    except OSError as error:
        fail(f"cannot {'clear' if clear_it else 'read'} the cache {folder}: {error.strerror}", MISSING)
    kinds = summary(listed)
    if as_json:
        print_json({"folder": str(folder), "removed" if clear_it else "kept": kinds})
    elif clear_it:
        print_text(f"removed {len(listed)} files, {sum(file.size for file in listed) / 2**20:.1f} MiB, from {folder}")
    else:
        print_shown(partial(show_kept, folder, kinds))
