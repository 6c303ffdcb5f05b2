"""Theorems put to the solver one after the other, each with its wrong twin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rtl_models.formal.theorem import NotPlanted, Theorem, decided, refuted
from rtl_models.formal.theorems import theorems
from rtl_models.formal.yosys import equations
from sim.check.prove import Finding
from sim.check.prove_report import named


@dataclass(frozen=True)
class Verdict:
    """What was found of a theorem, and of the module with the fault of its twin."""

    theorem: Theorem
    finding: Finding
    twin: Finding

    @property
    def holds(self) -> bool:
        """Whether the theorem is proved and its twin refuted: without that, a proof says nothing."""
        return self.finding.outcome == "proved" and self.twin.outcome == "counter-example"

    @property
    def seconds(self) -> float:
        """What the solver took for both."""
        return self.finding.seconds + self.twin.seconds


def verdict_of(theorem: Theorem, cache: Path, seconds: float) -> Verdict:
    """Ask for a theorem, and where it is proved for its twin, at most so many seconds each.

    `cache` keeps what yosys writes.

    Raises YosysMissing, Refused, NotCombinational, isa.evaluate.smt.SolverMissing, OSError.
    """
    finding = decided(theorem, equations(theorem.design, cache), seconds)
    return Verdict(theorem, finding, _twin(theorem, cache, seconds) if finding.outcome == "proved" else _NOT_ASKED)


_NOT_ASKED = Finding("unknown", 0, reason="not asked: the theorem itself is not proved")


def _twin(theorem: Theorem, cache: Path, seconds: float) -> Finding:
    try:
        return refuted(theorem, equations(theorem.wrong_design, cache), seconds)
    except NotPlanted as reason:
        return Finding("unknown", 0, reason=str(reason))


def verdicts(asked: Iterable[Theorem], cache: Path, seconds: float) -> Iterator[Verdict]:
    """`verdict_of` for each, as they come."""
    return (verdict_of(theorem, cache, seconds) for theorem in asked)


def theorems_named(pattern: str) -> list[Theorem]:
    """Those with a word of their name starting with the pattern, or matching it as a glob; all for ""."""
    wanted = {claim.name for claim in named([theorem.claim for theorem in theorems()], pattern)}
    return [theorem for theorem in theorems() if theorem.claim.name in wanted]
