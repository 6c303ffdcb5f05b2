"""Theorems about lane modules, and the question that each puts to the solver.

A claim has the ports of the module as its inputs, the outputs among them; the module's equations tie those to the
others:

    claim   result_o == saturate(a_i + b_i), saturated_o == whether that clamps     for all a_i, b_i
    where   (result_o, saturated_o) = the equations of sqadd.sv at 32 bits, of (a_i, b_i)
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import cast

from isa.evaluate.smt import Found, Impossible, Solver, Undecided
from isa.evaluate.smt_terms import Term, Terms, Untranslatable
from isa.lane import U1, Int, Lane, Place
from rtl_models.formal.smt2 import output_terms, ports
from rtl_models.formal.yosys import Design, design_of
from sim.check.prove import Claim, Finding, Range, sides_of, tells_apart
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


@dataclass(frozen=True)
class Theorem:
    """A claim about the ports of a module at a width.

    `twin` is a fault of the module with which the claim must be refuted: a claim that cannot fail says nothing.
    """

    claim: Claim
    module: str
    width: int
    twin: Fault

    @property
    def design(self) -> Design:
        """The module that is meant."""
        return design_of(self.module, self.width)

    @property
    def wrong_design(self) -> Design:
        """The module of the twin.  Raises NotPlanted."""
        return self.twin.planted(self.design)


def outputs_of(result: Int) -> dict[str, Int | Range]:
    """The outputs that every lane module has, as inputs of a claim."""
    return {"result_o": result, "saturated_o": U1}


def decided(theorem: Theorem, equations: str, seconds: float) -> Finding:
    """The answer, a counter-example as small as the time allows.  Raises NotCombinational."""
    started = time.monotonic()
    question = _Question(theorem, equations, started + seconds)
    answer = question.answer()
    finding = question.smallest(answer) if isinstance(answer, Found) else question.without_example(answer)
    return replace(finding, seconds=time.monotonic() - started)


def refuted(theorem: Theorem, equations: str, seconds: float) -> Finding:
    """As `decided`, for a claim expected to fail: the first counter-example will do."""
    started = time.monotonic()
    question = _Question(theorem, equations, started + seconds)
    answer = question.answer()
    finding = question.checked(answer) if isinstance(answer, Found) else question.without_example(answer)
    return replace(finding, seconds=time.monotonic() - started)


class _Question:
    """Whether some inputs and the outputs that follow from them contradict the claim."""

    def __init__(self, theorem: Theorem, equations: str, deadline: float) -> None:
        self.sides = sides_of(theorem.claim)
        self._solver = Solver(deadline)
        self._lanes = dict(zip(theorem.claim.inputs, self.sides.inputs, strict=True))
        self._outputs = ports(equations, "output")
        _state(self._solver.terms, self._lanes, equations)

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
        free = [lane for name, lane in self._lanes.items() if name not in self._outputs]
        values, smallest = smallest_found(self._solver, free, self.sides.differ, first)
        last = self._solver.check(self.sides.differ, *(lane.equals(values[lane]) for lane in free))
        return replace(self.checked(last if isinstance(last, Found) else first), smallest=smallest)

    def checked(self, found: Found) -> Finding:
        """A counter-example that the exact evaluator agrees with."""
        values = {name: found.values.get(Place(name), min(max(0, k.low), k.high)) for name, k in self._lanes.items()}
        if not tells_apart(self.sides, values):
            return Finding("unknown", 0, reason=f"solver and exact evaluation disagree on {values}")
        return Finding("counter-example", 0, values)


def _state(terms: Terms, lanes: Lanes, equations: str) -> None:
    """Add to the facts that the outputs are what the equations give for the inputs."""
    given = {port: _port(terms, lanes[port]) for port in ports(equations, "input")}
    for port, term in output_terms(equations, terms, given).items():
        terms.facts.append(terms.made("EQUAL", _port(terms, lanes[port]), term))


def _port(terms: Terms, lane: Lane) -> Term:
    """The solver's constant that a port is, as wide as the port."""
    terms.term(lane)
    return terms.inputs[cast(Place, lane.detail)]
