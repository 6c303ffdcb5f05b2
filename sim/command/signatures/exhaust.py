"""What `lanewise exhaust` takes."""

from __future__ import annotations

from typing import Annotated

import typer

from sim.command.signatures.shared import ALL_PROCESSORS, AsJson, Jobs, Mode
from sim.terminal.on_demand import done_by
from sim.toolchain.levels import LEVELS


@done_by("sim.command.running.exhaust:exhaust")
def exhaust(
    name: Annotated[
        str,
        typer.Argument(
            help="A mnemonic, a form, an instruction ('sqrshrn v0.8b, v1.8h, #3'; registers count not), a convention, "
            "or the path of a kernel file (.py)."
        ),
    ],
    against: Annotated[
        str | None, typer.Option(help="Of a convention: another that takes the same, see lanewise conventions.")
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option("--with", help="Of conventions: a parameter, as shift=3; else the plainest. May be repeated."),
    ] = None,
    golden: Annotated[
        str | None, typer.Option(help="Of a kernel file: FILE.c:FUNCTION instead of its golden reference.")
    ] = None,
    opt: Annotated[str | None, typer.Option(help=f"Of a kernel file: one of {', '.join(LEVELS)}; default: O2.")] = None,
    mode: Mode = None,
    jobs: Jobs = ALL_PROCESSORS,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the sample for the exact evaluator.")] = 1,
    anew: Annotated[bool, typer.Option("--anew", help="Compare also what was compared in runs before.")] = False,
    as_json: AsJson = False,
) -> None:
    """Compare model and emulator on all values of an instruction's lanes: 2^32 pairs of 16 bits, 2^32 of 32 bits.

    A form with an immediate is tried with each. What agreed is kept, so that the same command goes on after Ctrl-C.

    A convention is compared with another, and a function of one or two integers in a kernel file with its golden
    reference, on all values: how many differ, and which is the first.
    """
