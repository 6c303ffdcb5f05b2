"""`lanewise conventions`: the rounding and overflow conventions by name, and what tells two of them apart."""

from __future__ import annotations

from functools import partial

from isa.errors import USAGE
from sim.golden.registry.conventions import CONVENTIONS, conventions_of
from sim.prove.separation import NotComparable, separate
from sim.terminal.output import fail, print_json, print_shown
from sim.view.rounding.conventions import show_conventions, show_separated


def conventions(
    whose: str,
    between: tuple[str, str] | None,
    timeout: float,
    as_json: bool,
) -> None:
    """Do what `lanewise conventions` says: its options are those of `sim.command.signatures.conventions`."""
    if between is not None:
        if whose:
            fail("--between is of two conventions: name no user of conventions", USAGE)
        try:
            separated = separate(*between, timeout)
        except (LookupError, NotComparable) as error:
            fail(str(error.args[0]), USAGE)
        if as_json:
            print_json("conventions-between", separated.as_json())
        else:
            print_shown(partial(show_separated, separated))
        return
    try:
        shown = conventions_of(whose) if whose else list(CONVENTIONS.values())
    except LookupError as error:
        fail(str(error.args[0]), USAGE)
    if as_json:
        print_json("conventions", [convention.as_json() for convention in shown])
    else:
        print_shown(partial(show_conventions, shown))
