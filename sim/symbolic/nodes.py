"""Expressions of which equal ones are the same object, and the table of rules that bring them to one form.

The language is `isa.lane.Lane`.  An expression is built from its leaves upwards; each node is offered to the rules of
its kind, and the first that says something takes its place.  A node for which none does is kept, and found again when
an equal one is built: that is why `is` tells equality.

A whole number is at bottom a sum: terms with factors, and a constant.  Sums have one form, terms in an order that does
not depend on the names of inputs as far as that is possible, so that lanes that differ in the numbers of their inputs
only look alike.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, product
from typing import Any, Final, NamedTuple
from zlib import crc32

from isa.evaluate.batch.narrowing import grown
from isa.lane import (
    Binary,
    Constant,
    Field,
    Int,
    Lane,
    Operator,
    Pick,
    Read,
    head,
    operands_first,
    pick,
    rebuilt,
)

Rule = Callable[["Simplifier", Any], Lane | None]
"""What a node becomes whose operands are simplified; None where the rule has nothing to say."""
RULES: Final[dict[str, list[Rule]]] = defaultdict(list)
"""The rules by the first word of a node's `head`, in the order in which they are tried."""
SumRule = Callable[["Simplifier", "LinearSum"], "LinearSum | None"]
SUM_RULES: Final[list[SumRule]] = []
"""What a sum becomes before it is built."""
MOST_CASES: Final = 256
"""Combinations of conditions that are looked at for the range of a sum of them."""


def rule(*kinds: str) -> Callable[[Rule], Rule]:
    """Enter a rule for nodes of these kinds."""

    def entered(function: Rule) -> Rule:
        for kind in kinds:
            RULES[kind].append(function)
        return function

    return entered


def sum_rule(function: SumRule) -> SumRule:
    """Enter a rule for sums."""
    SUM_RULES.append(function)
    return function


class LinearSum(NamedTuple):
    """A number as terms, none of them a sum or a number itself, each with its factor, and a constant."""

    terms: Mapping[Lane, int]
    constant: int

    def plus(self, other: LinearSum, factor: int = 1) -> LinearSum:
        """With a multiple of another one added."""
        terms = dict(self.terms)
        for term, times in other.terms.items():
            terms[term] = terms.get(term, 0) + factor * times
            if not terms[term]:
                del terms[term]
        return LinearSum(terms, self.constant + factor * other.constant)

    def times(self, factor: int) -> LinearSum:
        """A multiple of it."""
        return LinearSum({term: factor * times for term, times in self.terms.items()}, factor * self.constant)


NOTHING: Final = LinearSum({}, 0)


class Simplifier:
    """Builds expressions in their one form.

    `watch`, where it is given, is told each rule that took the place of a node: its name, the node, what came of it.
    """

    def __init__(self, watch: Callable[[str, Lane, Lane], None] | None = None) -> None:
        self._watch = watch
        self._kept: dict[object, Lane] = {}
        self._made: dict[object, Lane] = {}
        self._simplified: dict[Lane, Lane] = {}
        self._sums: dict[Lane, LinearSum] = {}
        self._built: dict[object, Lane] = {}
        self._order: dict[Lane, tuple[int, int]] = {}
        self.low_parts: dict[tuple[Lane, int], Lane] = {}

    def simplified(self, lane: Lane) -> Lane:
        """The one form of an expression."""
        known = self._simplified
        if lane not in known:
            for node in operands_first([lane], known):
                known[node] = self.again(node, [known[arg] for arg in node.args])
        return known[lane]

    def made(self, node: Lane) -> Lane:
        """The one form of a node whose operands have it already."""
        if isinstance(node, Constant):
            return self.kept(node)
        key = (head(node), node.args, node.low, node.high) if isinstance(node, Read) else (head(node), node.args)
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = self._ruled(node)
            self._simplified[found] = found
        return found

    def _ruled(self, node: Lane) -> Lane:
        for rewrite in RULES[str(head(node)[0])]:
            found = rewrite(self, node)
            if found is not None and found is not node:
                if self._watch is not None:
                    self._watch(rewrite.__name__, node, found)
                return found
        return self.kept(node)

    def kept(self, node: Lane) -> Lane:
        """The one object for a node as it is, with no rule tried."""
        key = (head(node), node.args, node.low, node.high)
        kept = self._kept.get(key)
        if kept is None:
            kept = self._kept[key] = self._with_its_range(node)
            named = (node.place.file, node.low, node.high) if isinstance(node, Read) else head(node)
            shape = hash((crc32(repr(named).encode()), *(self._order[arg][0] for arg in node.args)))
            self._order[kept] = shape, len(self._order)
        return kept

    @staticmethod
    def _with_its_range(node: Lane) -> Lane:
        """The node with the range that follows from its operands, which is the same wherever it comes from."""
        if isinstance(node, Pick):
            return pick(node.index, node.items, node.otherwise)
        if isinstance(node, Field):
            return Field(node.operand, node.lsb, node.element, node.element.low, node.element.high)
        return node

    def order(self, lane: Lane) -> tuple[int, int]:
        """What terms and operands are sorted by: the shape of an expression first, then which came first."""
        return self._order[lane]

    def number(self, value: int) -> Lane:
        """A constant."""
        return self.kept(Constant(value))

    def computed(self, operator: Operator, a: Lane, b: Lane | int) -> Lane:
        """The arithmetic of two operands."""
        return self.made(grown(operator, a, self.number(b) if isinstance(b, int) else b))

    def field(self, lane: Lane, lsb: int, element: Int) -> Lane:
        """An element of a number."""
        return self.made(Field(lane, lsb, element, element.low, element.high))

    def select(self, condition: Lane, yes: Lane, no: Lane) -> Lane:
        """`yes` where a condition is 1, `no` where it is 0."""
        return self.made(pick(condition, (no,), yes))

    def again(self, lane: Lane, args: Sequence[Lane]) -> Lane:
        """The node over other operands."""
        if isinstance(lane, Binary):
            return self.computed(lane.operator, *args)
        return self.made(rebuilt(lane, args))

    def sum_of(self, lane: Lane) -> LinearSum:
        """A number taken apart."""
        if isinstance(lane, Constant):
            return LinearSum({}, lane.low)
        found = self._sums.get(lane)
        return LinearSum({lane: 1}, 0) if found is None else found

    def total(self, parts: LinearSum) -> Lane:
        """The number that a sum is."""
        if not parts.terms:
            return self.number(parts.constant)
        key = (frozenset(parts.terms.items()), parts.constant)
        found = self._built.get(key)
        if found is None:
            found = self._built[key] = self._summed(parts)
            self._simplified[found] = found
        return found

    def difference(self, a: Lane, b: Lane) -> Lane:
        """a - b."""
        return self.total(self.sum_of(a).plus(self.sum_of(b), -1))

    def _summed(self, parts: LinearSum) -> Lane:
        for rewrite in SUM_RULES:
            found = rewrite(self, parts)
            if found is not None:
                made = self.total(found)
                if self._watch is not None:
                    self._watch(rewrite.__name__, self._chain(parts), made)
                return made
        return self._chain(parts)

    def _chain(self, parts: LinearSum) -> Lane:
        """The nodes of a sum, those that are added first."""
        if not parts.terms:
            return self.number(parts.constant)
        ordered = sorted(parts.terms.items(), key=lambda term: (term[1] < 0, self._order[term[0]]))
        constant = parts.constant
        made: Lane | None = None
        if ordered[0][1] < 0:
            made, constant = self.number(constant), 0
        for term, times in ordered:
            part = term if abs(times) == 1 else self.kept(grown("multiply", term, self.number(abs(times))))
            made = part if made is None else self.kept(grown("add" if times > 0 else "subtract", made, part))
        assert made is not None
        if constant:
            made = self.kept(grown("add" if constant > 0 else "subtract", made, self.number(abs(constant))))
        low, high = self._bounds(parts)
        if low == high:
            return self.number(low)
        if (low, high) != (made.low, made.high) and isinstance(made, Binary):
            made = self.kept(Binary(made.operator, made.a, made.b, low, high))
        if len(parts.terms) > 1 or parts.constant or made is not ordered[0][0]:
            self._sums[made] = parts
        return made

    def _bounds(self, parts: LinearSum) -> tuple[int, int]:
        """The range of a sum.  Comparisons with numbers are looked at together, and with what they compare."""
        tests = {term: [_test(factor) for factor in factors(term)] for term in parts.terms if is_condition(term)}
        groups: dict[Lane, set[int]] = {}
        for compared, number, _ in chain.from_iterable(tests.values()):
            near = groups.setdefault(compared, {compared.low, compared.high})
            near.update((number - 1, number, number + 1))
        cases = 1
        for compared, numbers in groups.items():
            groups[compared] = {n for n in numbers if compared.low <= n <= compared.high}
            cases *= len(groups[compared])
        if cases > MOST_CASES:
            groups = {}
        low = high = parts.constant
        compared_terms, conditions = list[tuple[int, Lane]](), list[tuple[int, Sequence[_Test]]]()
        for term, times in parts.terms.items():
            if groups and term in groups:
                compared_terms.append((times, term))
            elif groups and term in tests:
                conditions.append((times, tests[term]))
            else:
                low += min(times * term.low, times * term.high)
                high += max(times * term.low, times * term.high)
        totals = []
        for chosen in product(*groups.values()):
            at = dict(zip(groups, chosen, strict=True))
            holding = sum(times for times, asked in conditions if _all_hold(asked, at))
            totals.append(holding + sum(times * at[term] for times, term in compared_terms))
        return low + min(totals), high + max(totals)

    def sorted(self, lanes: Iterable[Lane]) -> Sequence[Lane]:
        """In the order of operands."""
        return sorted(lanes, key=self.order)


def is_condition(lane: Lane) -> bool:
    """Whether a number is 0 or 1."""
    return lane.low >= 0 and lane.high <= 1


def factors(condition: Lane) -> Sequence[Lane]:
    """The conditions that hold together where this one does, which is a term of a sum."""
    found, pending = list[Lane](), [condition]
    while pending:
        node = pending.pop()
        if isinstance(node, Binary) and node.operator == "and" and is_condition(node.a) and is_condition(node.b):
            pending += (node.b, node.a)
        else:
            found.append(node)
    return found


def compared_with(condition: Lane) -> tuple[Lane, int]:
    """What a comparison compares, and with which number; of another condition itself, and 1."""
    if isinstance(condition, Binary) and condition.operator in ("less", "equal") and isinstance(condition.b, Constant):
        return condition.a, condition.b.low
    return condition, 1


_Test = tuple[Lane, int, bool]
"""What a condition compares, with which number, and whether it asks for less than that."""


def _test(condition: Lane) -> _Test:
    compared, number = compared_with(condition)
    return compared, number, isinstance(condition, Binary) and condition.operator == "less" and compared is condition.a


def _all_hold(tests: Iterable[_Test], at: Mapping[Lane, int]) -> bool:
    return all(at[compared] < number if is_less else at[compared] == number for compared, number, is_less in tests)
