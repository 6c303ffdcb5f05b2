"""Products of which only low bits count, as others that have the same low bits: one product in the place of two.

The form of low bits keeps nothing that they do not depend on, so it has lost what the factors were wrapped to.  Where
the whole product stands beside it, the two have nothing in common any more, and a solver would have to multiply.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from isa.lane import Binary, Constant, Field, Lane, Pick, operands_first
from sim.symbolic.nodes import LinearSum, Simplifier, is_condition
from sim.symbolic.rules.windows import again_if_new, low_bits


def shared_products(s: Simplifier, lanes: Iterable[Lane]) -> dict[Lane, Lane]:
    """Elements in these lanes, and equal ones in which products stand that are in the lanes already.

    The lanes are in their one form; what is to stand in their place is not.
    """
    nodes, by = list(operands_first(lanes)), dict[Lane, Lane]()
    products = [node for node in nodes if isinstance(node, Binary) and node.operator == "multiply"]
    for node in nodes if len(products) > 1 else ():
        if isinstance(node, Field):
            operand = _congruent(s, node.operand, node.lsb + node.element.bits, products)
            if operand is not node.operand:
                by[node] = s.kept(Field(operand, node.lsb, node.element, node.low, node.high))
    return by


def _congruent(s: Simplifier, lane: Lane, bits: int, products: Sequence[Lane]) -> Lane:
    """A number that is equal modulo 2^bits, made of these products wherever they do."""
    parts = s.sum_of(lane)
    if lane not in parts.terms:
        made, changed = LinearSum({}, parts.constant), False
        for term, times in parts.terms.items():
            room = bits - ((times & -times).bit_length() - 1)
            new = _congruent(s, term, room, products) if room > 0 else term
            made, changed = made.plus(s.sum_of(new), times), changed or new is not term
        return s.total(made) if changed else lane
    if isinstance(lane, Pick):
        items = [_congruent(s, item, bits, products) for item in lane.args[1:]]
        return again_if_new(s, lane, [lane.index, *items])
    if not isinstance(lane, Binary) or is_condition(lane):
        return lane
    if lane.operator == "shift_right" and isinstance(lane.b, Constant):
        return again_if_new(s, lane, [_congruent(s, lane.a, bits + lane.b.low, products), lane.b])
    if lane.operator == "multiply":
        for product in products:
            low = s.sum_of(low_bits(s, product, bits))
            sign = low.terms.get(lane, 0)
            if product is not lane and abs(sign) == 1 and low == LinearSum({lane: sign}, 0):
                return s.total(LinearSum({product: sign}, 0))
    if lane.operator in ("and", "or", "xor", "multiply"):
        return again_if_new(s, lane, [_congruent(s, arg, bits, products) for arg in lane.args])
    return lane
