"""Wires of a module over time, as terms of the solver.

A signal is a wire, or some of its bits, after so many edges of the clock:

    valid_i                      the input port, now
    u_rescale.product_q@1        the wire after the next edge
    u_shift.data_q[5+:5]@1       five of its bits, from bit 5 on

The inputs are free at each edge, and so are the registers now: what is proved of them is proved from any state.  What
nothing drives is free too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, cast

from isa.evaluate.smt_terms import Term, Terms
from rtl_models.formal.equations.smt2 import Equations, Expression, NoSuchSignal, UnreadableEquations, plain
from sim.view.sentences import counted

_SIGNAL = re.compile(r"^(.+?)(?:\[(\d+)\+:(\d+)\])?(?:@(\d+))?$")
KINDS = {
    "bvadd": "BV_ADD", "bvsub": "BV_SUB", "bvmul": "BV_MUL", "bvneg": "BV_NEG", "bvnot": "BV_NOT", "bvand": "BV_AND",
    "bvor": "BV_OR", "bvxor": "BV_XOR", "bvxnor": "BV_XNOR", "bvshl": "BV_SHL", "bvlshr": "BV_SHR", "bvashr": "BV_ASHR",
    "bvslt": "BV_SLT", "bvsle": "BV_SLE", "bvsgt": "BV_SGT", "bvsge": "BV_SGE",
    "bvult": "BV_ULT", "bvule": "BV_ULE", "bvugt": "BV_UGT", "bvuge": "BV_UGE",
    "concat": "BV_CONCAT", "ite": "ITE", "=": "EQUAL", "distinct": "DISTINCT",
    "and": "AND", "or": "OR", "xor": "XOR", "not": "NOT",
}  # fmt: skip
"""By operator of SMT-LIB, as yosys writes it, its kind for the solver."""


@dataclass(frozen=True)
class WireBits:
    """A wire's bits `lsb` up to `lsb + bits`, all where there are none given, after `edge` edges of the clock."""

    wire: str
    lsb: int = 0
    bits: int | None = None
    edge: int = 0

    @classmethod
    def named(cls, name: str) -> WireBits:
        """From its name."""
        wire, lsb, bits, edge = cast(re.Match[str], _SIGNAL.match(name)).groups()
        return cls(wire, int(lsb or 0), int(bits) if bits else None, int(edge or 0))

    def __str__(self) -> str:
        part = "" if self.bits is None else f"[{self.lsb}+:{self.bits}]"
        return f"{self.wire}{part}" + (f"@{self.edge}" if self.edge else "")


class TermBit(NamedTuple):
    """Where a bit of the state comes from: a bit of a term."""

    term: Term
    bit: int


class Unrolled:
    """The terms of a module's signals.

    Constants of the solver may be given for signals that are free; other bits of the state get constants of their own.
    """

    def __init__(self, terms: Terms, equations: Equations, given: Mapping[WireBits, Term]) -> None:
        self._terms, self._equations, self._given = terms, equations, given
        self._moments: list[Moment] = []

    def term(self, signal: WireBits) -> Term:
        """The bits of a signal.  Raises NoSuchSignal, UnreadableEquations."""
        while len(self._moments) <= signal.edge:
            before = self._moments[-1] if self._moments else None
            self._moments.append(Moment(self._terms, self._equations, self._sources(len(self._moments)), before))
        whole = self._moments[signal.edge].wire(signal.wire)
        bits, have = signal.bits or whole.sort().bv_size(), whole.sort().bv_size()
        if signal.lsb + bits > have:
            raise NoSuchSignal(f"the wire {signal.wire} has {counted(have, 'bit')}: there is no {signal}")
        ends = (signal.lsb + bits - 1, signal.lsb)
        return whole if bits == have else self._terms.made("BV_EXTRACT", whole, indices=ends)

    def _sources(self, edge: int) -> dict[int, TermBit]:
        """The bits of the state that are given, now or as inputs of a later edge."""
        return {
            state: TermBit(term, bit)
            for signal, term in self._given.items()
            if signal.edge == edge
            for bit, state in enumerate(free_bits(self._equations, signal) or [])
        }


def free_bits(equations: Equations, signal: WireBits) -> list[int] | None:
    """The bits of the state that a signal is, if it is nothing else; after an edge only inputs are free."""
    bits = equations.bits_of(equations.wire(signal.wire))
    if bits is None or (signal.edge and signal.wire not in equations.inputs):
        return None
    return bits[signal.lsb :][: signal.bits]


class Moment:
    """The terms of all wires in one state, each made once.

    `given` says where bits of the state come from, by their numbers.  Others are what the registers become after the
    moment before; where there is none, and for inputs, they are free.
    """

    def __init__(
        self, terms: Terms, equations: Equations, given: Mapping[int, TermBit], before: Moment | None = None
    ) -> None:
        self._terms, self._equations = terms, equations
        self._sources = dict(given)
        self._before = before
        self._made: dict[str, Term] = {}
        self._next = {bit: pair for pair in equations.registers for bit in pair[1]} if before else {}
        self._free = terms.manager.mk_const(terms.manager.mk_bv_sort(equations.state_bits), "state")

    def wire(self, name: str) -> Term:
        """A wire as a bit-vector.  Raises NoSuchSignal, UnreadableEquations."""
        return self._vector(self._equations.wire(name))

    def following(self) -> list[tuple[Term, list[int]]]:
        """What each register becomes, and which bits of the state it is.  Raises UnreadableEquations."""
        return [(self._vector(following), places) for following, places in self._equations.registers]

    def _vector(self, expression: Expression) -> Term:
        """Yosys has one bit as a truth value."""
        term = self._term(expression)
        return self._terms.made("ITE", term, self._bits("1"), self._bits("0")) if term.sort().is_bool() else term

    def _term(self, expression: Expression) -> Term:
        if isinstance(expression, str):
            if expression in ("true", "false"):
                return self._terms.manager.mk_true() if expression == "true" else self._terms.manager.mk_false()
            if not expression.startswith("#b"):
                raise UnreadableEquations(f"the equations use {expression}, which is no constant")
            return self._bits(expression[2:])
        head, *args = expression
        if isinstance(head, list):
            return self._indexed(head, args)
        if head in KINDS:
            return self._terms.made(KINDS[head], *map(self._term, args))
        if args == ["state"] and plain(head) in self._equations.functions:
            name = plain(head)
            if name not in self._made:
                self._made[name] = self._term(self._equations.functions[name])
            return self._made[name]
        raise UnreadableEquations(f"the equations use {head}, for which there is no term")

    def _indexed(self, head: list[Expression], args: list[Expression]) -> Term:
        _, operator, high, low = cast(list[str], head)
        if operator != "extract":
            raise UnreadableEquations(f"the equations use {operator}, for which there is no term")
        if args != ["state"]:
            return self._terms.made("BV_EXTRACT", self._term(args[0]), indices=[int(high), int(low)])
        sources = []
        for bit in range(int(low), int(high) + 1):
            if bit not in self._sources and self._before is not None and bit in self._next:
                following, places = self._next[bit]
                term = self._before._vector(following)
                self._sources |= {place: TermBit(term, k) for k, place in enumerate(places)}
            sources.append(self._sources.get(bit, TermBit(self._free, bit)))
        runs = reversed(_runs(sources))
        parts = [self._terms.made("BV_EXTRACT", run[0].term, indices=[run[-1].bit, run[0].bit]) for run in runs]
        return parts[0] if len(parts) == 1 else self._terms.made("BV_CONCAT", *parts)

    def _bits(self, digits: str) -> Term:
        manager = self._terms.manager
        return manager.mk_bv_value(manager.mk_bv_sort(len(digits)), digits, 2)


def _runs(sources: list[TermBit]) -> list[list[TermBit]]:
    """As few pieces as there are: cut where a bit is not the next one of the same term."""
    runs = [sources[:1]]
    for before, source in pairwise(sources):
        if source.term is before.term and source.bit == before.bit + 1:
            runs[-1].append(source)
        else:
            runs.append([source])
    return runs
