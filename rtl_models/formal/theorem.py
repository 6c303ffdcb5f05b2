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
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from isa.errors import LanewiseError
from isa.evaluate.smt import Found
from isa.lane import Lane, Read, walk
from rtl_models.formal.equations.written import Subject, SubjectSources, design_of
from rtl_models.formal.question import SolverQuestion
from sim.prove.claim import Claim, Finding, Sides, prove_sides, sides_of

Lanes = Mapping[str, Lane]
NOT_ASKED: Final = Finding("unknown", 0, reason="not asked: the theorem itself is not proved")
"""What is found of a false claim whose theorem does not hold."""


class NotPlanted(LanewiseError):
    """A fault that has no place in the module as it is now: its text must occur exactly once."""


@dataclass(frozen=True)
class Fault:
    """A mistake in the text of a module: `text`, which occurs once in the file, becomes `wrong`."""

    file: str
    text: str
    wrong: str

    def planted(self, design: SubjectSources) -> SubjectSources:
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

    `fault` is one of the module with which the claim must be refuted: a claim that cannot fail says nothing.
    """

    claim: Claim
    subject: Subject
    fault: Fault

    @property
    def name(self) -> str:
        """That of the claim."""
        return self.claim.name

    @property
    def design(self) -> SubjectSources:
        """The module that is meant."""
        return design_of(self.subject)

    @property
    def wrong_design(self) -> SubjectSources:
        """The module with the fault.  Raises NotPlanted."""
        return self.fault.planted(self.design)


@dataclass(frozen=True)
class Lemma:
    """A claim about numbers, on which theorems are composed; `false_claim` must be refuted."""

    claim: Claim
    false_claim: Claim

    @property
    def name(self) -> str:
        """That of the claim."""
        return self.claim.name


def decided(theorem: Theorem, equations: str, seconds: float) -> Finding:
    """The answer, a counter-example as small as the time allows.  Raises NoSuchSignal, UnreadableEquations."""
    return _found(theorem, equations, seconds, SolverQuestion.smallest)


def refuted(theorem: Theorem, equations: str, seconds: float) -> Finding:
    """As `decided`, for a claim expected to fail: the first counter-example will do."""
    return _found(theorem, equations, seconds, SolverQuestion.checked)


def _found(
    theorem: Theorem, equations: str, seconds: float, shown: Callable[[SolverQuestion, Found], Finding]
) -> Finding:
    """Each result of the claim on its own, up to one that is not proved: a solver is quicker with one product."""
    started, finding = time.monotonic(), Finding("proved", 0)
    claimed = sides_of(theorem.claim)
    for name, left in claimed.left.items():
        right = claimed.right[name]
        reached = {lane.place for lane in walk([left, right, claimed.given]) if isinstance(lane, Read)}
        inputs = tuple(lane for lane in claimed.inputs if lane.place in reached)
        sides = Sides(inputs, {name: left}, {name: right}, claimed.given)
        question = SolverQuestion(sides, equations, started + seconds)
        answer = question.answer()
        finding = shown(question, answer) if isinstance(answer, Found) else question.without_example(answer)
        if finding.outcome != "proved":
            break
    return replace(finding, seconds=time.monotonic() - started)


def decided_lemma(claim: Claim, seconds: float) -> Finding:
    """The answer to a claim about numbers."""
    return prove_sides(sides_of(claim), seconds)
