"""Theorems put to the solver one after the other, each with its false claim."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rtl_models.formal.equations.written import derive_equations
from rtl_models.formal.own import OwnTheorem
from rtl_models.formal.theorem import NOT_ASKED, Lemma, NotPlanted, Theorem, decided, decided_lemma, refuted
from rtl_models.formal.theorems import LANES, theorems
from sim.prove.claim import Finding
from sim.prove.report import is_meant

AnyTheorem = Theorem | Lemma | OwnTheorem


@dataclass(frozen=True)
class TheoremVerdict:
    """What was found of a theorem or a lemma, and of its false claim.

    `unplanted`: the fault's text is not in the module.  `told` shows of a user's module why it does not hold.
    """

    theorem: AnyTheorem
    finding: Finding
    false_claim: Finding
    unplanted: bool = False
    told: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether the theorem is proved and its false claim refuted: without that, a proof says nothing."""
        return self.finding.outcome == "proved" and self.false_claim.outcome == "counter-example"

    @property
    def is_open(self) -> bool:
        """Whether nobody knows: no answer was come to, of the theorem or of its false claim."""
        if self.finding.outcome != "proved":
            return self.finding.outcome == "unknown"
        return self.false_claim.outcome == "unknown" and not self.unplanted

    @property
    def seconds(self) -> float:
        """What the solver took for both."""
        return self.finding.seconds + self.false_claim.seconds


def verdict_of(theorem: AnyTheorem, cache: Path, seconds: float) -> TheoremVerdict:
    """Ask for a theorem, and where it is proved for its false claim, at most so many seconds each.

    `cache` keeps what yosys writes.

    Raises MalformedCuts, YosysMissing, Refused, NoSuchSignal, UnreadableEquations, OSError, and
    isa.evaluate.smt.SolverMissing.
    """
    if isinstance(theorem, OwnTheorem):
        own = theorem.verdict(cache, seconds)
        return TheoremVerdict(theorem, own.finding, own.false_claim, told=own.told)
    if isinstance(theorem, Lemma):
        finding = decided_lemma(theorem.claim, seconds)
    else:
        finding = decided(theorem, derive_equations(theorem.design, cache), seconds)
    if finding.outcome != "proved":
        return TheoremVerdict(theorem, finding, NOT_ASKED)
    try:
        if isinstance(theorem, Lemma):
            return TheoremVerdict(theorem, finding, decided_lemma(theorem.false_claim, seconds))
        false = refuted(theorem, derive_equations(theorem.wrong_design, cache), seconds)
        return TheoremVerdict(theorem, finding, false)
    except NotPlanted as reason:
        return TheoremVerdict(theorem, finding, Finding("unknown", 0, reason=str(reason)), unplanted=True)


def verdicts(asked: Iterable[AnyTheorem], cache: Path, seconds: float) -> Iterator[TheoremVerdict]:
    """`verdict_of` for each, as they come."""
    return (verdict_of(theorem, cache, seconds) for theorem in asked)


def theorems_named(pattern: str, lanes: int = LANES) -> list[Theorem | Lemma]:
    """Those with a word of their name starting with the pattern, or matching it as a glob; all for ""."""
    return [theorem for theorem in theorems(lanes) if is_meant(theorem.name, pattern)]
