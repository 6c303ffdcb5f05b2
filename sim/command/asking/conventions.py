"""`lanewise conventions`: the rounding and overflow conventions by name, and what tells two of them apart."""

from __future__ import annotations

from functools import partial

from isa.errors import USAGE
from sim.golden.registry.conventions import CONVENTIONS
from sim.prove.separation import NotComparable, separate
from sim.terminal.output import fail, print_json, print_shown
from sim.view.rounding.conventions import show_conventions, show_separated


def conventions(
    between: tuple[str, str] | None,
    timeout: float,
    as_json: bool,
) -> None:
    """Do what `lanewise conventions` says: its options are those of `sim.command.signatures.conventions`."""
    if between is not None:
        try:
            separated = separate(*between, timeout)
        except (LookupError, NotComparable) as error:
            fail(str(error.args[0]), USAGE)
        if as_json:
            print_json("conventions-between", separated.as_json())
        else:
            print_shown(partial(show_separated, separated))
    elif as_json:
        print_json("conventions", [convention.as_json() for convention in CONVENTIONS.values()])
    else:
        print_shown(partial(show_conventions, list(CONVENTIONS.values())))
