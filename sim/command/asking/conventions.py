"""`lanewise conventions`: the rounding and overflow conventions by name, and what tells two of them apart."""

from __future__ import annotations

from functools import partial

from isa.errors import USAGE
from sim.golden.registry.conventions import CONVENTIONS, conventions_of
from sim.models.rules.conventions import LayersApart, layer_conventions, layer_conventions_of, layers_apart
from sim.prove.separation import NotComparable, Separated, separate
from sim.terminal.output import fail, print_json, print_shown
from sim.view.rounding.conventions import show_conventions, show_layers_apart, show_separated


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
            separated = _separated(*between, timeout)
        except (LookupError, NotComparable) as error:
            fail(str(error.args[0]), USAGE)
        if as_json:
            print_json("conventions-between", separated.as_json())
        elif isinstance(separated, LayersApart):
            print_shown(partial(show_layers_apart, separated))
        else:
            print_shown(partial(show_separated, separated))
        return
    of_layers = layer_conventions_of(whose) if whose else list(layer_conventions().values())
    try:
        shown = conventions_of(whose) if whose else list(CONVENTIONS.values())
    except LookupError as error:
        if not of_layers:
            fail(str(error.args[0]), USAGE)
        shown = []
    if as_json:
        found = [*(one.as_json() for one in shown), *(one.as_json() for one in of_layers)]
        print_json("conventions", found)
    else:
        print_shown(partial(show_conventions, shown, of_layers))


def _separated(one: str, other: str, timeout: float) -> Separated | LayersApart:
    """By the operands of their family, else on layers that may be either."""
    if one in CONVENTIONS and other in CONVENTIONS:
        try:
            return separate(one, other, timeout)
        except NotComparable:
            of_layers = layers_apart(one, other)
            if of_layers is None:
                raise
            return of_layers
    of_layers = layers_apart(one, other)
    if of_layers is None:
        raise NotComparable(f"no kind of layer may be {one} and {other}: give two conventions of one kind")
    return of_layers
