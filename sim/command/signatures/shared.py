"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sim.processes import processors

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
LONGEST = 86_400.0
"""Seconds, of what may be waited for."""
Seed = Annotated[int, typer.Option(min=0, help="Seed of the random vectors.")]
RandomLanes = Annotated[int, typer.Option(min=0, help="Random output lanes, after the corner cases.")]
Mode = Annotated[str | None, typer.Option(help="Which of the kernel's arithmetics; default: the first.")]
March = Annotated[str | None, typer.Option(help="Compile for it, such as armv8.2-a+dotprod.")]
Cflags = Annotated[str, typer.Option(help="More flags of the compiler, as in a shell.")]
Processors = Annotated[
    str | None, typer.Option("--core", help="Say what the code needs that these lack: cortex-a53,cortex-a72,...")
]
Jobs = Annotated[int, typer.Option("--jobs", min=1, help="Processes; default: one for each processor.")]
ALL_PROCESSORS = processors()
CompileWith = Annotated[
    str | None,
    typer.Option(
        "--compile",
        help="How your build compiles the source: 'aarch64-linux-gnu-gcc -O2 -c x.c', run without a shell and "
        "with -g, or a compile_commands.json with its entry.",
    ),
]
Files = Annotated[
    list[Path] | None,
    typer.Option(
        "--object", "--source",
        help="In the place of the kernel's sources: an object, library, lib.a(member.o), linked program or source; "
        "may be repeated.",
    ),
]  # fmt: skip
ObjectFile = Annotated[
    Path | None, typer.Option("--object", help="Of a kernel: this object, library, lib.a(member.o) or linked program.")
]
KernelSymbol = Annotated[str | None, typer.Option("--symbol", help="The function in it; default: the kernel's.")]
Hold = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=NUMBER", help="This argument has this number in all input sets; may be repeated."),
]
Include = Annotated[
    list[Path] | None, typer.Option(exists=True, file_okay=False, help="A folder of headers; may be repeated.")
]
Beside = Annotated[
    list[Path] | None,
    typer.Option("--with", help="A source, object or library that is linked with it; may be repeated."),
]
Constructors = Annotated[bool, typer.Option("--constructors", help="Run those of static objects before the calls.")]
