"""`lanewise conventions`: the rounding and overflow conventions by name, and what tells two of them apart."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from isa.errors import USAGE
from sim.golden.registry.conventions import CONVENTIONS
from sim.prove.separation import SOLVER_SECONDS, NotComparable, separate
from sim.terminal.output import fail, print_json, print_shown
from sim.view.conventions import show_conventions, show_separated


def conventions(
    between: Annotated[
        tuple[str, str] | None, typer.Option(metavar="A B", help="The smallest input that tells these two apart.")
    ] = None,
    timeout: Annotated[float, typer.Option(min=0.01, max=86_400, help="Seconds for the solver.")] = SOLVER_SECONDS,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """List the conventions that systems are known to use, by family: formula, who uses it, rows of the differences.

    With --between: corners and all numbers of 16 bits are tried, the plainest parameters first; where none tells the
    two apart, the solver is asked for all operands, if both are also written as lane expressions.
    """
    if between is not None:
        try:
            separated = separate(*between, timeout)
        except (LookupError, NotComparable) as error:
            fail(str(error.args[0]), USAGE)
        if as_json:
            print_json(separated.as_json())
        else:
            print_shown(partial(show_separated, separated))
    elif as_json:
        print_json([convention.as_json() for convention in CONVENTIONS.values()])
    else:
        print_shown(partial(show_conventions, list(CONVENTIONS.values())))
