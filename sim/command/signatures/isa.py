"""What `lanewise isa` takes."""

from __future__ import annotations

from typing import Annotated

import typer

from isa.instruction import FEATURES
from sim.command.signatures.shared import ALL_PROCESSORS, AsJson, Jobs
from sim.terminal.on_demand import done_by

MAX_VECTORS = 1_000_000
"""Lane vectors a form that --vectors takes; so many already run for half a day."""

isa = typer.Typer(help="The instruction table: list its forms, show what one does, verify it.", no_args_is_help=True)


@isa.command("list")
@done_by("sim.command.asking.isa:list_forms")
def list_forms(
    pattern: Annotated[str, typer.Argument(help="Part of a form's name, or a glob: sqrdmulh, ld1*.")] = "",
    feature: Annotated[str | None, typer.Option(help=f"Only what needs this extension: {', '.join(FEATURES)}.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the instruction forms that the machine has, with the extensions that each needs."""


@isa.command()
@done_by("sim.command.asking.isa:show")
def show(
    name: Annotated[str, typer.Argument(help="A mnemonic, a form, or an instruction: 'sqadd v0.4s, v1.4s, v2.4s'.")],
    as_json: AsJson = False,
) -> None:
    """Show what an instruction does, in statements derived from the semantics that the machine runs.

    v1.s[2] is an unsigned element, s32 v1.s[2] a signed one; wrap keeps the low bits, saturate clamps and sets QC.
    """


@isa.command()
@done_by("sim.command.asking.isa:verify")
def verify(
    name: Annotated[str, typer.Argument(help="A mnemonic, a form, a glob; default: the whole table.")] = "",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random states.")] = 1,
    vectors: Annotated[int, typer.Option(min=0, max=MAX_VECTORS, help="Lane vectors for each form.")] = 2000,
    jobs: Jobs = ALL_PROCESSORS,
    as_json: AsJson = False,
) -> None:
    """Compare the machine with the exact evaluator and the emulator, form by form, on corner and random states.

    Without a name the whole encoding space of AdvSIMD data processing is walked as the denominator.
    """


@isa.command("intrinsics")
@done_by("sim.command.asking.isa:list_intrinsics")
def list_intrinsics(
    pattern: Annotated[
        str, typer.Argument(help="Part of a name, or a glob of names or mnemonics: vqrdmulh, fml*.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """List the ACLE intrinsics by name, with their C prototype, their instructions and the extension these need.

    Registers are numbered as the result and the arguments are; immediates and lanes are the least allowed.
    """
