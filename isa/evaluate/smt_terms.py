"""The bit-vectors of lane expressions: each signed and exactly as wide as its node's range, so nothing can overflow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, assert_never

from isa.errors import LanewiseError
from isa.evaluate.smt_products import highest_corners, second_highest_product
from isa.lane import Binary, Constant, Field, Floating, Int, Lane, Load, Pick, Place, Read, Saturate, walk

Term = Any
"""A term of the solver, whose package has no type hints."""


class Untranslatable(LanewiseError):
    """An expression that has no bit-vector; the message names the node and the reason."""


def width(lane: Lane) -> int:
    """Bits of the signed number that holds every value of the lane."""
    return lane.magnitude_bits + 1


def _field_of(leaf: Lane) -> Int:
    """The smallest type that holds an input."""
    return Int(width(leaf) if leaf.low < 0 else max(1, leaf.magnitude_bits), leaf.low < 0)


class Terms:
    """The terms of expressions, made with the module of the solver.

    `inputs` has a constant of the solver for each place that they read.

    `facts` are formulas that hold for all inputs which are allowed: the ranges of inputs that are no types, and what
    follows for products from the ranges of their factors.
    """

    def __init__(self, api: Any) -> None:
        self._api = api
        self.manager = self._api.TermManager()
        self.inputs: dict[Place, Term] = {}
        self.facts: list[Term] = []
        self._leaves: dict[Place, Read] = {}
        self._terms: dict[Lane, Term] = {}

    def term(self, lane: Lane) -> Term:
        """The signed bit-vector of `width(lane)` bits.  Raises Untranslatable for memory and floating point."""
        for node in reversed(_operands_last(lane)):
            if node not in self._terms:
                self._terms[node] = self._translated(node)
        return self._terms[lane]

    def holds(self, condition: Lane) -> Term:
        """The formula that a condition is not 0."""
        return self.made("DISTINCT", self.term(condition), self._number(0, width(condition)))

    def made(self, kind: str, *args: Term, indices: Iterable[int] = ()) -> Term:
        """A term of the solver from others."""
        return self.manager.mk_term(getattr(self._api.Kind, kind), list(args), list(indices))

    def evaluated(self, lane: Lane, values: Mapping[Place, int]) -> int:
        """The number that the lane's term is for these inputs, by the solver's own simplification."""
        term = self.term(lane)
        numbers = {t: self._number(values[p], t.sort().bv_size()) for p, t in self.inputs.items()}
        value = self._api.Bitwuzla(self.manager).simplify_term(self.manager.substitute_term(term, numbers))
        return Int(width(lane), signed=True).wrapped(int(value.value(16), 16))

    def read_back(self, place: Place, bits: str) -> int:
        """The number of an input from its bits in a model, written in base 16."""
        return _field_of(self._leaves[place]).wrapped(int(bits, 16))

    def _number(self, value: int, bits: int) -> Term:
        # in base 16: of a number of thousands of digits Python writes no decimals, which the solver would read else
        return self.manager.mk_bv_value(self.manager.mk_bv_sort(bits), f"{value % (1 << bits):x}", 16)

    def _fitted(self, term: Term, bits: int) -> Term:
        """The term extended with its sign, or cut."""
        have = term.sort().bv_size()
        if have < bits:
            return self.made("BV_SIGN_EXTEND", term, indices=[bits - have])
        return term if have == bits else self.made("BV_EXTRACT", term, indices=[bits - 1, 0])

    def _translated(self, lane: Lane) -> Term:
        match lane:
            case Constant(number):
                return self._number(number, width(lane))
            case Read():
                return self._input(lane)
            case Field():
                return self._field(lane)
            case Saturate():
                return self._saturated(lane)
            case Pick():
                return self._picked(lane)
            case Binary():
                return self._binary(lane)
            case Load(_, size):
                raise Untranslatable(f"what memory holds is not an input of a proof: load[{size}] has no bit-vector")
            case Floating(operation):
                raise Untranslatable(
                    "floating point follows FPCR and Arm's NaN rules, which the solver's theory does not have: "
                    f"floating[{operation}] has no bit-vector"
                )
            case _:
                assert_never(lane)

    def _input(self, lane: Read) -> Term:
        place = lane.place
        known = self._leaves.setdefault(place, lane)
        if (known.low, known.high) != (lane.low, lane.high):
            raise Untranslatable(f"{place} is read both as {known.low}..{known.high} and as {lane.low}..{lane.high}")
        if place not in self.inputs:
            self.inputs[place] = self.manager.mk_const(self.manager.mk_bv_sort(_field_of(lane).bits), str(place))
            self.facts += self._bounds(lane, self._extended(self.inputs[place], lane))
        return self._extended(self.inputs[place], lane)

    def _extended(self, term: Term, lane: Lane) -> Term:
        """An input as a signed number: one that is never negative has no sign bit of its own."""
        missing = width(lane) - term.sort().bv_size()
        return self.made("BV_ZERO_EXTEND", term, indices=[missing]) if missing > 0 else self._fitted(term, width(lane))

    def _bounds(self, lane: Lane, term: Term) -> list[Term]:
        full = _field_of(lane)
        if (full.low, full.high) == (lane.low, lane.high):
            return []
        low, high = self._number(lane.low, width(lane)), self._number(lane.high, width(lane))
        return [self.made("BV_SLE", low, term), self.made("BV_SLE", term, high)]

    def _binary(self, lane: Binary) -> Term:
        match lane.operator:
            case "add":
                return self._computed("BV_ADD", lane)
            case "subtract":
                return self._computed("BV_SUB", lane)
            case "shift_left":
                return self._computed("BV_SHL", lane)
            case "shift_right":
                return self._computed("BV_ASHR", lane)
            case "and":
                return self._computed("BV_AND", lane)
            case "or":
                return self._computed("BV_OR", lane)
            case "xor":
                return self._computed("BV_XOR", lane)
            case "less":
                return self._bit(self.made("BV_SLT", *self._operands(lane)))
            case "equal":
                return self._bit(self.made("EQUAL", *self._operands(lane)))
            case "multiply":
                return self._product(lane)
            case "divide":
                return self._divided(lane)
            case "minimum":
                return self._chosen(lane, lane.a, lane.b)
            case "maximum":
                return self._chosen(lane, lane.b, lane.a)
            case _:
                assert_never(lane.operator)

    def _operands(self, lane: Binary) -> tuple[Term, Term]:
        """Both operands, as wide as the widest of them and the result."""
        bits = max(width(node) for node in (lane, lane.a, lane.b))
        return self._fitted(self._terms[lane.a], bits), self._fitted(self._terms[lane.b], bits)

    def _computed(self, kind: str, lane: Binary) -> Term:
        return self._fitted(self.made(kind, *self._operands(lane)), width(lane))

    def _product(self, lane: Binary) -> Term:
        """The product, with what is known of it and what a solver that works bit by bit is slow to find out."""
        a, b = self._operands(lane)
        bits = a.sort().bv_size()
        product = self.made("BV_MUL", a, b)
        negative = [self.made("BV_SLT", term, self._number(0, bits)) for term in (a, b, product)]
        zero = self.made("EQUAL", product, self._number(0, bits))
        signs = self.made("EQUAL", negative[2], self.made("XOR", *negative[:2]))
        above = self.made("BV_SGT", product, self._number(second_highest_product(lane.a, lane.b), bits))
        corners = []
        for corner in highest_corners(lane.a, lane.b):
            at = [self.made("EQUAL", t, self._number(k, bits)) for t, k in zip((a, b), corner, strict=True)]
            corners.append(self.made("AND", *at))
        self.facts += [
            self.made("OR", zero, signs),
            self.made("BV_SLE", self._number(lane.low, bits), product),
            self.made("BV_SLE", product, self._number(lane.high, bits)),
            self.made("IMPLIES", above, self.made("OR", *corners) if len(corners) > 1 else corners[0]),
        ]
        return self._fitted(product, width(lane))

    def _bit(self, formula: Term) -> Term:
        return self.made("ITE", formula, self._number(1, 2), self._number(0, 2))

    def _chosen(self, lane: Binary, below: Lane, above: Lane) -> Term:
        """The first operand where `below` < `above`, else the second: a minimum, or in reverse order a maximum."""
        bits = max(width(lane.a), width(lane.b))
        first, second = (self._fitted(self._terms[operand], bits) for operand in (lane.a, lane.b))
        less = self.made("BV_SLT", self._fitted(self._terms[below], bits), self._fitted(self._terms[above], bits))
        return self._fitted(self.made("ITE", less, first, second), width(lane))

    def _divided(self, lane: Binary) -> Term:
        a, b = self._operands(lane)
        zero = self._number(0, a.sort().bv_size())
        quotient = self.made("ITE", self.made("EQUAL", b, zero), zero, self.made("BV_SDIV", a, b))
        return self._fitted(quotient, width(lane))

    def _field(self, lane: Field) -> Term:
        operand, lsb, element = lane.operand, lane.lsb, lane.element
        whole = self._fitted(self._terms[operand], max(width(operand), lsb + element.bits))
        bits = self.made("BV_EXTRACT", whole, indices=[lsb + element.bits - 1, lsb])
        return bits if element.signed else self.made("BV_ZERO_EXTEND", bits, indices=[1])

    def _saturated(self, lane: Saturate) -> Term:
        element = lane.element
        bits = max(width(lane.operand), element.bits + 1)
        value = self._fitted(self._terms[lane.operand], bits)
        low, high = (self._number(end, bits) for end in (element.low, element.high))
        capped = self.made("ITE", self.made("BV_SGT", value, high), high, value)
        return self._fitted(self.made("ITE", self.made("BV_SLT", value, low), low, capped), width(lane))

    def _picked(self, lane: Pick) -> Term:
        index, items, otherwise = lane.index, lane.items, lane.otherwise
        bits, which = width(lane), self._terms[index]
        result = self._fitted(self._terms[otherwise], bits)
        for number in reversed(range(len(items))):
            if index.low <= number <= index.high:
                here = self.made("EQUAL", which, self._number(number, width(index)))
                result = self.made("ITE", here, self._fitted(self._terms[items[number]], bits), result)
        return result


def _operands_last(lane: Lane) -> list[Lane]:
    """Every node with its operands after it, also those that another node reaches first."""
    users: dict[Lane, int] = dict.fromkeys(walk([lane]), 0)
    for node in users:
        for arg in node.args:
            users[arg] += 1
    ordered, ready = [], [lane]
    while ready:
        node = ready.pop()
        ordered.append(node)
        for arg in node.args:
            users[arg] -= 1
            if users[arg] == 0:
                ready.append(arg)
    return ordered
