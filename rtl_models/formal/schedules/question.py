"""Whether a word of a module is a number that data make up, for all data: a question to the solver."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from isa.evaluate.smt import Found, Solver
from isa.evaluate.smt_terms import Term, Untranslatable
from isa.lane import Int, Lane, Read
from rtl_models.formal.equations.unrolling import KINDS, WireBits
from rtl_models.formal.schedules.symbols import Name, Word, WordNode, WordPiece, width_of
from sim.prove.claim import input_lane, left_open

_WORD: Final = "the module's word"
Cuts = Mapping[WordNode, Lane]
"""Nodes in the place of which a number stands, as many bits of it as the node has."""


@dataclass(frozen=True)
class Answered:
    """What is found, for this reason where that is nothing.

    Of a counter-example `data` are by beat, counted from the one whose result it is, the numbers on the ports.
    """

    outcome: Literal["proved", "counter-example", "unknown"]
    reason: str = ""
    data: Mapping[int, Mapping[str, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Due:
    """What a word is to be of the signals of beat 0, wherever `given` is not 0; `kinds` are theirs, by name."""

    lane: Lane
    given: Lane
    kinds: Mapping[str, Int]


class WordQuestion:
    """Whether a word is a number, as many bits of it as the word has."""

    def __init__(
        self, word: Word, due: Due, ports: Mapping[str, int], deadline: float, cuts: Cuts | None = None
    ) -> None:
        self._solver = Solver(deadline)
        self._ports, self._cuts = ports, cuts or {}
        self._known: dict[WordNode, Term] = {}
        self._symbols: dict[Name, Read] = {}
        kind = Int(width_of(word), signed=False)
        self._due, self._given = kind.wrap(due.lane), due.given
        for name, signal in due.kinds.items():
            self._tie(name, signal)
        self._result = input_lane(_WORD, kind)
        self._solver.terms.term(self._result)
        self._equate(self._result, self._word(word))

    def answer(self) -> Answered:
        """What the solver says."""
        try:
            self._solver.require(self._given)
            answer = self._solver.check(self._result.equals(self._due).equals(0))
            reason = "" if isinstance(answer, Found) else left_open(self._solver, answer)
        except Untranslatable as error:
            return Answered("unknown", str(error))
        if isinstance(answer, Found):
            return Answered("counter-example", data=self._data(answer))
        return Answered("unknown", reason) if reason else Answered("proved")

    def _tie(self, name: str, kind: Int) -> None:
        """A signal that the number is made of is bits of a port of the beat."""
        signal = WireBits.named(name)
        lane = input_lane(name, kind)
        self._solver.terms.term(lane)
        port = self._symbol((signal.wire, 0), self._ports[signal.wire])
        self._equate(lane, self._cut(port, signal.lsb, kind.bits))

    def _equate(self, lane: Read, term: Term) -> None:
        terms = self._solver.terms
        terms.facts.append(terms.made("EQUAL", terms.inputs[lane.place], term))

    def _data(self, found: Found) -> dict[int, dict[str, int]]:
        data: dict[int, dict[str, int]] = {}
        for (port, beat), lane in self._symbols.items():
            if beat is not None:
                data.setdefault(beat, {})[port] = found.values.get(lane.place, 0)
        return data

    def _symbol(self, name: Name, width: int) -> Term:
        port, beat = name
        if name not in self._symbols:
            label = f"{port}, unknown" if beat is None else f"{port} of beat {beat}"
            self._symbols[name] = input_lane(label, Int(width, signed=False))
            self._solver.terms.term(self._symbols[name])
        return self._solver.terms.inputs[self._symbols[name].place]

    def _word(self, word: Word) -> Term:
        parts = [self._piece(piece) for piece in reversed(word)]
        return parts[0] if len(parts) == 1 else self._solver.terms.made("BV_CONCAT", *parts)

    def _piece(self, piece: WordPiece) -> Term:
        if piece.node is None:
            manager = self._solver.terms.manager
            return manager.mk_bv_value(manager.mk_bv_sort(piece.width), piece.low)
        return self._cut(self._node(piece.node), piece.low, piece.width)

    def _cut(self, term: Term, low: int, width: int) -> Term:
        if width == term.sort().bv_size():
            return term
        return self._solver.terms.made("BV_EXTRACT", term, indices=[low + width - 1, low])

    def _node(self, node: WordNode) -> Term:
        if node not in self._known:
            number = self._cuts.get(node)
            self._known[node] = self._made(node) if number is None else self._number(number, node.width)
        return self._known[node]

    def _number(self, lane: Lane, width: int) -> Term:
        """As many bits of a number."""
        term = self._solver.terms.term(lane)
        missing = width - term.sort().bv_size()
        if missing > 0:
            return self._solver.terms.made("BV_SIGN_EXTEND", term, indices=[missing])
        return self._cut(term, 0, width)

    def _made(self, node: WordNode) -> Term:
        """Its operation; where that gives or takes a truth value, a bit for it."""
        if node.name is not None:
            return self._symbol(node.name, node.width)
        terms, args = self._solver.terms, [self._word(arg) for arg in node.args]
        if node.operation == "ite":
            one = terms.manager.mk_bv_value(terms.manager.mk_bv_sort(1), 1)
            return terms.made("ITE", terms.made("EQUAL", args[0], one), *args[1:])
        kind = _ON_BITS.get(node.operation, node.operation)
        made = terms.made(KINDS[kind], *args)
        if not made.sort().is_bool():
            return made
        bits = [terms.manager.mk_bv_value(terms.manager.mk_bv_sort(1), bit) for bit in (1, 0)]
        return terms.made("ITE", made, *bits)


_ON_BITS: Final = {"and": "bvand", "or": "bvor", "xor": "bvxor", "not": "bvnot"}
"""A truth value is a bit here."""
