"""Theorems about modules, and the question that each puts to the solver.

A claim has signals of the module as its inputs, outputs and later values among them; the module's equations tie those
to the others:

    claim   result_o == saturate(a_i + b_i), saturated_o == whether that clamps     for all a_i, b_i
    where   (result_o, saturated_o) = the equations of sqadd.sv at 32 bits, of (a_i, b_i)

    claim   product_q@1 == (value_i * multiplier_i if enable_i, else product_q)     from any state
    where   product_q@1 = what the equations make of the state after an edge
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import cast

from isa.evaluate.smt import Found, Impossible, Solver, Undecided
from isa.evaluate.smt_terms import Term, Untranslatable
from isa.lane import Lane, Place, walk
from rtl_models.formal.smt2 import Equations, NoSuchSignal, parsed
from rtl_models.formal.unrolling import Signal, Unrolled, free_bits
from rtl_models.formal.yosys import Design, Subject, design_of
from sim.check.prove import Claim, Finding, Sides, prove_sides, sides_of, tells_apart
from sim.check.prove_shrink import smallest_found

Lanes = Mapping[str, Lane]


class NotPlanted(Exception):
    """A fault that has no place in the module as it is now: its text must occur exactly once."""


@dataclass(frozen=True)
class Fault:
    """A mistake in the text of a module: `text`, which occurs once in the file, becomes `wrong`."""

    file: str
    text: str
    wrong: str

    def planted(self, design: Design) -> Design:
        """The design with the mistake.  Raises NotPlanted."""
        source = design.sources[self.file]
        if source.count(self.text) != 1:
            raise NotPlanted(f"{self.text!r} occurs {source.count(self.text)} times in {self.file}, not once")
        return replace(design, sources={**design.sources, self.file: source.replace(self.text, self.wrong)})

    def __str__(self) -> str:
        return f"{self.text!r} as {self.wrong!r}"


@dataclass(frozen=True)
class Theorem:
    """A claim about the signals of a module at parameters.

    `twin` is a fault of the module with which the claim must be refuted: a claim that cannot fail says nothing.
    """

    claim: Claim
    subject: Subject
    twin: Fault

    @property
    def design(self) -> Design:
        """The module that is meant."""
        return design_of(self.subject)

    @property
    def wrong_design(self) -> Design:
        """The module of the twin.  Raises NotPlanted."""
        return self.twin.planted(self.design)


@dataclass(frozen=True)
class Lemma:
    """A claim about numbers, on which theorems are composed; `twin` is a false one, which must be refuted."""

    claim: Claim
    twin: Claim


def decided(theorem: Theorem, equations: str, seconds: float) -> Finding:
    """The answer, a counter-example as small as the time allows.  Raises NoSuchSignal, Unreadable."""
    return _found(theorem, equations, seconds, _Question.smallest)


def refuted(theorem: Theorem, equations: str, seconds: float) -> Finding:
    """As `decided`, for a claim expected to fail: the first counter-example will do."""
    return _found(theorem, equations, seconds, _Question.checked)


def _found(theorem: Theorem, equations: str, seconds: float, shown: Callable[[_Question, Found], Finding]) -> Finding:
    """Each result of the claim on its own, up to one that is not proved: a solver is quicker with one product."""
    started, finding = time.monotonic(), Finding("proved", 0)
    for sides in _each(sides_of(theorem.claim)):
        question = _Question(sides, parsed(equations), started + seconds)
        answer = question.answer()
        finding = shown(question, answer) if isinstance(answer, Found) else question.without_example(answer)
        if finding.outcome != "proved":
            break
    return replace(finding, seconds=time.monotonic() - started)


def _each(sides: Sides) -> Iterator[Sides]:
    """The results of a claim one by one, with the inputs that each depends on."""
    for name in sides.left:
        left, right = sides.left[name], sides.right[name]
        reached = {lane.detail for lane in walk([left, right, sides.given]) if lane.op == "read"}
        inputs = tuple(lane for lane in sides.inputs if lane.detail in reached)
        yield Sides(inputs, {name: left}, {name: right}, sides.given)


def decided_lemma(claim: Claim, seconds: float) -> Finding:
    """The answer to a claim about numbers."""
    return prove_sides(sides_of(claim), seconds)


class _Question:
    """Whether some state and inputs, and what follows from them, contradict the claim."""

    def __init__(self, sides: Sides, equations: Equations, deadline: float) -> None:
        self.sides = sides
        self._solver = Solver(deadline)
        self._lanes = {cast(Place, lane.detail).file: lane for lane in sides.inputs}
        self._free = _free(equations, self._lanes)
        self._tie(equations)

    def _tie(self, equations: Equations) -> None:
        """Add to the facts that every other signal is what the equations give for the free ones."""
        terms = self._solver.terms
        given = {Signal.named(name): self._constant(name) for name in self._free}
        unrolled = Unrolled(terms, equations, given)
        for name in sorted(name for name in self._lanes if name not in self._free and not is_ghost(name)):
            term, constant = unrolled.term(Signal.named(name)), self._constant(name)
            if term.sort() != constant.sort():
                raise NoSuchSignal(f"{name} has a width of {term.sort().bv_size()}, not {constant.sort().bv_size()}")
            terms.facts.append(terms.made("EQUAL", constant, term))

    def _constant(self, name: str) -> Term:
        """The solver's constant that a signal is, as wide as the signal."""
        lane = self._lanes[name]
        self._solver.terms.term(lane)
        return self._solver.terms.inputs[cast(Place, lane.detail)]

    def answer(self) -> Found | Impossible | Undecided:
        """What the solver says."""
        try:
            self._solver.require(self.sides.given)
            return self._solver.check(self.sides.differ)
        except Untranslatable as error:
            return Undecided(str(error))

    def without_example(self, answer: Impossible | Undecided) -> Finding:
        """Proved, unless no input at all fulfils the equations and what is given."""
        possible = self._solver.check() if isinstance(answer, Impossible) else answer
        if isinstance(possible, Impossible):
            return Finding("unknown", 0, reason="no input at all fulfils what is given")
        return Finding("unknown", 0, reason=answer.reason) if isinstance(answer, Undecided) else Finding("proved", 0)

    def smallest(self, first: Found) -> Finding:
        """The counter-example with the smallest inputs."""
        free = [lane for name, lane in self._lanes.items() if name in self._free]
        values, smallest = smallest_found(self._solver, free, self.sides.differ, first)
        last = self._solver.check(self.sides.differ, *(lane.equals(values[lane]) for lane in free))
        return replace(self.checked(last if isinstance(last, Found) else first), smallest=smallest)

    def checked(self, found: Found) -> Finding:
        """A counter-example that the exact evaluator agrees with."""
        values = {name: found.values.get(Place(name), min(max(0, k.low), k.high)) for name, k in self._lanes.items()}
        if not tells_apart(self.sides, values):
            return Finding("unknown", 0, reason=f"solver and exact evaluation disagree on {values}")
        return Finding("counter-example", 0, values)


def is_ghost(name: str) -> bool:
    """Whether a signal is none of the module: it stands beside it, for an invariant about what has happened."""
    return name.startswith("ghost.")


def _free(equations: Equations, names: Iterable[str]) -> frozenset[str]:
    """The signals that can have any value: no two of them share a bit."""
    free: dict[str, set[tuple[int, int]]] = {}
    for name in names:
        signal = Signal.named(name)
        if is_ghost(name):
            continue
        bits = {(signal.edge, bit) for bit in free_bits(equations, signal) or []}
        if bits and not any(bits & taken for taken in free.values()):
            free[name] = bits
    return frozenset(free)
