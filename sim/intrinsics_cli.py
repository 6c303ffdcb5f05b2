"""`lanewise isa intrinsics`: the ACLE intrinsics that programs can call."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from isa.intrinsics import Intrinsic, UnknownIntrinsic, intrinsics_matching
from sim.terminal import USAGE, fail, print_json, print_shown
from sim.view.intrinsics import show_intrinsics


def list_intrinsics(
    pattern: Annotated[
        str, typer.Argument(help="Part of a name, or a glob of names or mnemonics: vqrdmulh, fml*.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """List the ACLE intrinsics by name, with their C prototype, their instructions and the extension these need.

    Registers are numbered as the result and the arguments are; immediates and lanes are the least allowed.
    """
    try:
        found = intrinsics_matching(pattern)
    except UnknownIntrinsic as unknown:
        fail(str(unknown), USAGE)
    if as_json:
        print_json([_as_json(function) for function in found])
    else:
        print_shown(partial(show_intrinsics, found))


def _as_json(function: Intrinsic) -> dict[str, object]:
    return {
        "name": function.name,
        "result": function.result.c_type,
        "parameters": [parameter.c_type for parameter in function.parameters],
        "instructions": [instruction.text for instruction in function.instructions],
        "extensions": list(function.features),
    }
