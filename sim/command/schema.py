"""`lanewise schema`: what is printed for machines, as JSON Schema."""

from __future__ import annotations

from typing import Annotated

import typer

from sim.terminal.documents import document_names, schema_text, schema_title
from sim.terminal.output import print_text


def schema(
    name: Annotated[str | None, typer.Argument(help="A document, one of those that are listed without it.")] = None,
) -> None:
    """Print the JSON Schema of what a command prints with --json, or list those that there are.

    Also that of a captured call, and of a line of `lanewise trace --format json`.
    """
    if name is not None:
        print_text(schema_text(name).rstrip("\n"))
        return
    names = document_names()
    width = max(map(len, names))
    print_text("\n".join(f"{each:{width}}  {schema_title(each)}" for each in names))
