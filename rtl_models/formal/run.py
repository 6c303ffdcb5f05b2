"""Theorems put to the solver one after the other, each with its wrong twin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rtl_models.formal.theorem import Lemma, NotPlanted, Theorem, decided, decided_lemma, refuted
from rtl_models.formal.theorems import LANES, theorems
from rtl_models.formal.yosys import equations
from sim.check.prove import Finding
from sim.check.prove_report import named


@dataclass(frozen=True)
class Verdict:
    """What was found of a theorem or a lemma, and of its twin; `unplanted`: the twin's text is not in the module."""

    theorem: Theorem | Lemma
    finding: Finding
    twin: Finding
    unplanted: bool = False

    @property
    def holds(self) -> bool:
        """Whether the theorem is proved and its twin refuted: without that, a proof says nothing."""
        return self.finding.outcome == "proved" and self.twin.outcome == "counter-example"

    @property
    def seconds(self) -> float:
        """What the solver took for both."""
        return self.finding.seconds + self.twin.seconds


def verdict_of(theorem: Theorem | Lemma, cache: Path, seconds: float) -> Verdict:
    """Ask for a theorem, and where it is proved for its twin, at most so many seconds each.

    `cache` keeps what yosys writes.

    Raises YosysMissing, Refused, NoSuchSignal, Unreadable, isa.evaluate.smt.SolverMissing, OSError.
    """
    finding = _of_theorem(theorem, cache, seconds)
    if finding.outcome != "proved":
        return Verdict(theorem, finding, _NOT_ASKED)
    try:
        return Verdict(theorem, finding, _of_twin(theorem, cache, seconds))
    except NotPlanted as reason:
        return Verdict(theorem, finding, Finding("unknown", 0, reason=str(reason)), unplanted=True)


_NOT_ASKED = Finding("unknown", 0, reason="not asked: the theorem itself is not proved")


def _of_theorem(theorem: Theorem | Lemma, cache: Path, seconds: float) -> Finding:
    if isinstance(theorem, Lemma):
        return decided_lemma(theorem.claim, seconds)
    return decided(theorem, equations(theorem.design, cache), seconds)


def _of_twin(theorem: Theorem | Lemma, cache: Path, seconds: float) -> Finding:
    if isinstance(theorem, Lemma):
        return decided_lemma(theorem.twin, seconds)
    return refuted(theorem, equations(theorem.wrong_design, cache), seconds)


def verdicts(asked: Iterable[Theorem | Lemma], cache: Path, seconds: float) -> Iterator[Verdict]:
    """`verdict_of` for each, as they come."""
    return (verdict_of(theorem, cache, seconds) for theorem in asked)


def theorems_named(pattern: str, lanes: int = LANES) -> list[Theorem | Lemma]:
    """Those with a word of their name starting with the pattern, or matching it as a glob; all for ""."""
    known = theorems(lanes)
    wanted = {claim.name for claim in named([theorem.claim for theorem in known], pattern)}
    return [theorem for theorem in known if theorem.claim.name in wanted]
