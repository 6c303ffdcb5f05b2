"""What the commands take that look at one call: which one it is."""

from __future__ import annotations

from typing import Annotated

import typer

from sim.kernels.names import kernel_names

Number = int | None
Text = str | None
What = Annotated[
    str,
    typer.Argument(
        metavar="FILE|KERNEL",
        help=f"A kernel ({', '.join(kernel_names())}), a kernel file (.py), a source or object, or captured calls "
        "(.jsonl).",
    ),
]
Function = Annotated[Text, typer.Argument(metavar="[FUNCTION]", help="The function of a file, or its prototype.")]
Arguments = Annotated[
    list[str] | None, typer.Argument(metavar="[ARGUMENTS]...", help="Its arguments, as lanewise run takes them.")
]
Level = Annotated[str, typer.Option(help="Optimisation level of a source.")]
Source = Annotated[
    Text, typer.Option("--source", help="Which of a kernel's sources, or one in their place; default: the first.")
]
Length = Annotated[Number, typer.Option(min=1, max=1 << 24, help="Elements of a kernel's row: 256.")]
Failing = Annotated[bool, typer.Option("--failing", help="A kernel's first input set that a check fails on, shrunk.")]
Faults = Annotated[
    list[str] | None,
    typer.Option("--fault", metavar="FILE:LINE", help="A line that the check has found at fault; may be repeated."),
]
InputSet = Annotated[Number, typer.Option("--set", min=0, help="An input set of a kernel's check by its number.")]
Inputs = Annotated[
    Text, typer.Option("--inputs", metavar="JSON", help="An input set of a kernel, or @FILE.json; as prove prints it.")
]
Vectors = Annotated[Number, typer.Option(min=0, help="Random output lanes of that check.")]
CapturedId = Annotated[Text, typer.Option("--call", metavar="ID", help="Which one of the captured calls.")]
CallSeed = Annotated[int, typer.Option(min=0, help="Of random numbers, and of what the caller does not define.")]
CallLimit = Annotated[int, typer.Option(min=1, help="Instructions that the call may take.")]
