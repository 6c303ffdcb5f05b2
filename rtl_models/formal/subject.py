"""All theorems about one module, asked of other equations for it: those of a mutant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from rtl_models.formal.equations.smt2 import NoSuchSignal
from rtl_models.formal.equations.written import Subject
from rtl_models.formal.theorem import Theorem, refuted
from rtl_models.formal.theorems import LANES, module_theorems
from rtl_models.formal.units.pipelines import at_level
from rtl_models.formal.units.tables import unit_theorems
from rtl_models.latencies import depths
from sim.prove.claim import Claim


@dataclass(frozen=True)
class Decision:
    """What the theorems say of equations.

    "equivalent": all hold, and together they say what every output and every register becomes; for inputs that are
    legal where `given` says so.  Else `theorem` is the name of the one that is refuted, or that the solver cannot
    decide for this `reason`; `values` are the inputs of a counter-example.
    """

    outcome: Literal["refuted", "equivalent", "unknown"]
    theorem: str = ""
    reason: str = ""
    values: Mapping[str, int] = field(default_factory=dict)


@cache
def _by_subject() -> Mapping[Subject, list[Theorem]]:
    grouped: dict[Subject, list[Theorem]] = {}
    for theorem in module_theorems(LANES):  # as `theorems` asks: no second time
        grouped.setdefault(theorem.subject, []).append(theorem)
    return grouped


def subjects() -> list[Subject]:
    """The modules at parameters that theorems are about."""
    return list(_by_subject())


def about(subject: Subject) -> list[Theorem]:
    """The theorems about a module; none where there are none.

    Those of `quantize_down_channels` are made for tables of any size.
    """
    if subject.module == "quantize_down_channels" and subject not in _by_subject():
        given = dict(subject.parameters)
        (level,) = (
            level
            for level in range(len(depths(subject.module)))
            if at_level(subject.module, level) in subject.parameters
        )
        return list(unit_theorems(given["Lanes"], level, given["Channels"] // given["Lanes"]))
    return list(_by_subject().get(subject, []))


def decide(
    subject: Subject, equations: str, seconds: float, first: Callable[[Claim], bool] = lambda _: True
) -> Decision:
    """Ask all theorems about a module of these equations, each for so many seconds, up to one that is refuted.

    Those of the claims that come `first` are asked before the others.  Raises ValueError where there are no theorems,
    UnreadableEquations, isa.evaluate.smt.SolverMissing.
    """
    asked = sorted(about(subject), key=lambda theorem: not first(theorem.claim))
    if not asked:
        raise ValueError(f"there is no theorem about {subject}")
    found = Decision("equivalent")
    for theorem in asked:
        name = theorem.claim.name
        try:
            finding = refuted(theorem, equations, seconds)
        except NoSuchSignal as missing:
            found = Decision("unknown", name, str(missing))
            continue
        if finding.outcome == "counter-example":
            return Decision("refuted", name, values=finding.values)
        if finding.outcome != "proved":
            found = Decision("unknown", name, finding.reason)
    return found
