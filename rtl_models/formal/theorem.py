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
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from isa.evaluate.smt import Found
from isa.lane import Lane, walk
from rtl_models.formal.question import Question
from rtl_models.formal.yosys import Design, Subject, design_of
from sim.check.prove import Claim, Finding, Sides, prove_sides, sides_of

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
    return _found(theorem, equations, seconds, Question.smallest)


def refuted(theorem: Theorem, equations: str, seconds: float) -> Finding:
    """As `decided`, for a claim expected to fail: the first counter-example will do."""
    return _found(theorem, equations, seconds, Question.checked)


def _found(theorem: Theorem, equations: str, seconds: float, shown: Callable[[Question, Found], Finding]) -> Finding:
    """Each result of the claim on its own, up to one that is not proved: a solver is quicker with one product."""
    started, finding = time.monotonic(), Finding("proved", 0)
    for sides in _each(sides_of(theorem.claim)):
        question = Question(sides, equations, started + seconds)
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
