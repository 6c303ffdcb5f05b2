"""Products of sums multiplied out, and products of products as one: what is equal as a polynomial is equal by its form.

It is tried where the usual form does not decide: solvers are slow at products, and slower at many of them.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from isa.lane import Binary, Lane, operands_first
from sim.symbolic.nodes import NOTHING, LinearSum, Simplifier

MOST_TERMS: Final = 32
"""A product of more terms stays as it is, but for that of one term with a sum, which is no longer than the sum."""


def expanded(s: Simplifier, lane: Lane) -> Lane:
    """An equal number, its products multiplied out."""
    known: dict[Lane, Lane] = {}
    for node in operands_first([lane]):
        args = [known[arg] for arg in node.args]
        if isinstance(node, Binary) and node.operator == "multiply":
            known[node] = _product(s, s.sum_of(args[0]), s.sum_of(args[1])) or s.again(node, args)
        else:
            known[node] = s.again(node, args) if args else node
    return known[lane]


def _product(s: Simplifier, one: LinearSum, other: LinearSum) -> Lane | None:
    is_linear = min(len(one.terms), len(other.terms)) < 2
    if not is_linear and (len(one.terms) + 1) * (len(other.terms) + 1) > MOST_TERMS:
        return None
    total = NOTHING.plus(one, other.constant).plus(other, one.constant)
    total = total.plus(LinearSum({}, -one.constant * other.constant))
    for a, times in one.terms.items():
        for b, more in other.terms.items():
            factors = s.sorted((*_factors(a), *_factors(b)))
            made = factors[0]
            for factor in factors[1:]:
                made = s.computed("multiply", made, factor)
            total = total.plus(s.sum_of(made), times * more)
    return s.total(total)


def _factors(term: Lane) -> list[Lane]:
    """What a product is made of, each as often as it is in it."""
    found, pending = Counter[Lane](), [term]
    while pending:
        node = pending.pop()
        if isinstance(node, Binary) and node.operator == "multiply":
            pending += node.args
        else:
            found[node] += 1
    return list(found.elements())
