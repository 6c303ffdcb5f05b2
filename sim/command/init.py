"""`lanewise init`: files to begin with."""

from __future__ import annotations

import keyword
from pathlib import Path
from typing import Annotated

import typer

from isa.errors import USAGE
from sim.terminal.output import fail, write_file

_EXAMPLE = Path(__file__).parent / "example"
_NAME = "my_kernel"

init = typer.Typer(help="Write files to begin with.", no_args_is_help=True)


@init.callback()
def init_commands() -> None:
    """Write files to begin with."""


@init.command()
def kernel(
    name: Annotated[str, typer.Argument(help="A C identifier: the name of the files and of the function.")],
    folder: Annotated[Path, typer.Option(file_okay=False, exists=True, help="Where to write them.")] = Path("."),
) -> None:
    """Write NAME.py and NAME.c: a kernel of your own that `lanewise check NAME.py` passes, with comments."""
    if not name.isidentifier() or not name.isascii() or keyword.iskeyword(name):
        fail(f"{name!r} is no name of a function: give letters, digits and _, not beginning with a digit", USAGE)
    written = {
        folder / f"{name}{suffix}": (_EXAMPLE / f"{_NAME}{suffix}").read_text(encoding="utf-8").replace(_NAME, name)
        for suffix in (".c", ".py")
    }
    if taken := [path for path in written if path.exists()]:
        fail(f"{taken[0]} is there already: give another name or folder", USAGE)
    for path, text in written.items():
        write_file(path, text.encode())
    typer.echo(f"wrote {' and '.join(str(path) for path in written)}; next: lanewise check {folder / name}.py")
