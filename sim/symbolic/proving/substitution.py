"""What a build makes of the numbers of its arguments, as expressions of the inputs of the reference."""

from __future__ import annotations

from collections.abc import Mapping

from isa.lane import Lane, operands_first
from sim.kernels.kernel import Kernel
from sim.symbolic.call import input_leaf
from sim.symbolic.reference import ReferenceCase, TracedReference
from sim.symbolic.simplify import SIMPLIFIER


def argument_lanes(kernel: Kernel, reference: TracedReference, case: ReferenceCase) -> dict[Lane, Lane]:
    """What stands for each number of the arguments: the lane that the reference's inputs make it."""
    by: dict[Lane, Lane] = {}
    for name in reference.unknown_arguments:
        for index, lane in enumerate(case.arguments[name]):
            leaf = SIMPLIFIER.simplified(input_leaf(kernel, name, index))
            if leaf is not lane:
                by[leaf] = lane
    return by


class Substitution:
    """Puts lanes in the place of leaves; what it made of a node is kept for the next lane that has it."""

    def __init__(self) -> None:
        self._made: dict[object, dict[Lane, Lane]] = {}

    def of(self, lane: Lane, by: Mapping[Lane, Lane]) -> Lane:
        """The lane with its leaves replaced, in its one form."""
        if not by:
            return lane
        known = self._made.setdefault(tuple(by.items()), dict(by))
        for node in operands_first([lane], known):
            known[node] = SIMPLIFIER.again(node, [known[arg] for arg in node.args])
        return known[lane]
