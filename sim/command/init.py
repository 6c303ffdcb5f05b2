"""`lanewise init`: files to begin with."""

from __future__ import annotations

import keyword
from pathlib import Path
from typing import Annotated, Final

import typer

from isa.errors import USAGE
from sim.terminal.output import fail, print_text, write_file

_EXAMPLE = Path(__file__).parent / "example"
_NAME = "my_kernel"
_REQUANTIZATION = "requantization"
_CONVENTION = "double_rounding"
"""That of the example, for which another is put."""
_IN_C: Final = {
    _CONVENTION: "ties_away(ties_up(product, 31), shift)",
    "double_rounding_ties_up": "ties_up(ties_up(product, 31), shift)",
    "single_rounding": "ties_up(product, 31 + shift)",
    "single_rounding_ties_away": "ties_away(product, 31 + shift)",
    "single_rounding_floor": "product >> (31 + shift)",
    "single_rounding_truncated": "product / (INT64_C(1) << (31 + shift))",
}
"""The conventions that `--golden` offers, as the source of the example computes them."""

_WORDS_OF_C: Final = frozenset((
    "asm", "auto", "bool", "break", "case", "char", "const", "constexpr", "continue", "default", "do", "double", "else",
    "enum", "extern", "false", "float", "for", "goto", "if", "inline", "int", "long", "main", "nullptr", "register",
    "restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch", "true", "typedef", "typeof",
    "union", "unsigned", "void", "volatile", "while",
))  # fmt: skip
"""Those of its standards and of what it includes, and the function that has a signature already."""

init = typer.Typer(help="Write files to begin with.", no_args_is_help=True)


@init.callback()
def init_commands() -> None:
    """Write files to begin with."""


@init.command()
def kernel(
    name: Annotated[str, typer.Argument(help="A C identifier: the name of the files and of the function.")],
    folder: Annotated[Path, typer.Option(file_okay=False, exists=True, help="Where to write them.")] = Path("."),
    golden: Annotated[
        str | None,
        typer.Option(help=f"A requantization whose golden reference is this convention: {', '.join(_IN_C)}."),
    ] = None,
) -> None:
    """Write NAME.py and NAME.c: a kernel of your own that `lanewise check NAME.py` passes, with comments."""
    if not name.isidentifier() or not name.isascii() or keyword.iskeyword(name):
        fail(f"{name!r} is no name of a function: give letters, digits and _, not beginning with a digit", USAGE)
    if name in _WORDS_OF_C:
        fail(f"{name!r} is a word of C and no name of a function: give another", USAGE)
    if golden is not None and golden not in _IN_C:
        fail(f"there is no example of {golden!r}: give one of {', '.join(_IN_C)}", USAGE)
    example = _NAME if golden is None else _REQUANTIZATION
    written = {}
    for suffix in (".c", ".py"):
        text = (_EXAMPLE / f"{example}{suffix}").read_text(encoding="utf-8")
        if golden is not None:
            text = text.replace(_IN_C[_CONVENTION], _IN_C[golden]).replace(_CONVENTION, golden)
        written[folder / f"{name}{suffix}"] = text.replace(_NAME, name)
    if taken := [path for path in written if path.exists()]:
        fail(f"{taken[0]} is there already: give another name or folder", USAGE)
    for path, text in written.items():
        write_file(path, text.encode())
    print_text(f"wrote {' and '.join(str(path) for path in written)}; next: lanewise check {folder / name}.py")
