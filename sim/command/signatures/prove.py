"""What `lanewise prove` takes."""

from __future__ import annotations

from typing import Annotated

import typer

from sim.command.signatures.shared import (
    ALL_PROCESSORS,
    LONGEST,
    AsJson,
    Cflags,
    CompileWith,
    Files,
    Include,
    Jobs,
    March,
    Mode,
)
from sim.terminal.on_demand import done_by


@done_by("sim.command.running.prove:prove")
def prove(
    what: Annotated[
        str,
        typer.Argument(
            help="A kernel, FILE.py, a prototype (--same), or part of a claim's name, or a glob; default: all claims."
        ),
    ] = "",
    list_only: Annotated[bool, typer.Option("--list", help="Name the claims, prove nothing.")] = False,
    as_json: AsJson = False,
    timeout: Annotated[float, typer.Option(min=0.01, max=LONGEST, help="Seconds for one claim or question.")] = 60,
    jobs: Jobs = ALL_PROCESSORS,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Prove anew what an earlier run decided.")] = False,
    mode: Mode = None,
    opt: Annotated[
        str | None, typer.Option(help="Of a kernel: optimisation levels, separated by commas; default: O2.")
    ] = None,
    lengths: Annotated[str, typer.Option(help="Of a kernel: lengths of rows, such as 0..33,64.")] = "0..17",
    rows: Annotated[
        str | None,
        typer.Option(help="Of a kernel: numbers of rows, such as 1..8; default: 0..5, as far as its domain goes."),
    ] = None,
    all_lengths: Annotated[
        bool, typer.Option("--all-lengths", help="Of a kernel: prove it for any length besides, by induction.")
    ] = False,
    program: Annotated[
        bool, typer.Option("--program", help="Of a kernel: prove its program of intrinsics in the place of builds.")
    ] = False,
    each: Annotated[
        list[str] | None,
        typer.Option(help="Of a kernel: a number to take value by value, NAME=0..31; may be repeated."),
    ] = None,
    known: Annotated[
        list[str] | None, typer.Option(help="Of a kernel: a number to leave as it is in the examples; may be repeated.")
    ] = None,
    source: Files = None,
    symbol: Annotated[str | None, typer.Option(help="The function in it; default: the kernel's.")] = None,
    compile_with: CompileWith = None,
    march: March = None,
    cflags: Cflags = "",
    include: Include = None,
    same: Annotated[
        tuple[str, str] | None,
        typer.Option(
            help="Of a kernel or a prototype: two builds, each O0, FILE:FUNCTION@O0 or program, that give the same.",
            metavar="A B",
        ),
    ] = None,
    find: Annotated[
        str | None,
        typer.Option(
            help="Of a kernel or a prototype: an input to find, 'tie at FILE:LINE', 'branch at FILE:LINE', "
            "'unlike CONVENTION at OUTPUT[3]'."
        ),
    ] = None,
) -> None:
    """Decide for all inputs: claims about instructions and conventions, or that compiled kernels are their references.

    Of a kernel, built-in or a kernel file, every output lane of each build is compared with the golden reference for
    all numbers in the domains, in every shape of the lengths and numbers of rows; --same compares two builds; --find
    looks for an input with which an instruction of a source line meets a class of operands or goes one way, or proves
    that there is none: exit codes 0, 1, and 3 where neither is known.  Otherwise claims are decided: that instructions
    compute what Arm's manual says, and how conventions relate; FILE.py may hold claims of your own, in a list named
    CLAIMS of sim.prove.Claim; the file is run.  A verdict is proved, a counter-example, which for a kernel is checked
    at once, or unknown with the reason: exit codes 0, 1 and 3 of a kernel.
    """
