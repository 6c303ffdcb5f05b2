"""Expressions with some of their nodes replaced, by others or by numbers of which only the range is known."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from isa.lane import Floating, Lane, Place, Read, operands_first, rebuilt


def replaced(lanes: Iterable[Lane], by: Mapping[Lane, Lane]) -> list[Lane]:
    """The lanes with some of their nodes replaced, every node once; ranges stay what they were."""
    wanted, known = list(lanes), dict(by)
    for node in operands_first(wanted, known):
        args = [known[arg] for arg in node.args]
        same = all(new is old for new, old in zip(args, node.args, strict=True))
        known[node] = node if same else rebuilt(node, args)
    return [known[lane] for lane in wanted]


def cut_out(lanes: Iterable[Lane], at: Collection[Lane] = ()) -> list[Lane]:
    """The lanes with an unknown number of its range in the place of each of these nodes that is no number itself.

    So it is for each floating-point operation, of which solvers know nothing: what holds of the result whatever those
    numbers are, holds of the lanes.
    """
    wanted, by = list(lanes), dict[Lane, Lane]()
    for node in operands_first(wanted):
        if node.args and (isinstance(node, Floating) or node in at):
            by[node] = Read(Place(f"cut{len(by)}"), node.low, node.high)
    return replaced(wanted, by)
