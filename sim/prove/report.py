"""What a run of claims has found."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from sim.prove.claim import Claim, Finding, sides_of
from sim.prove.conventions import CONVENTION_CLAIMS
from sim.prove.forms import form_claims
from sim.prove.steps import steps


@dataclass(frozen=True)
class ProofReport:
    """The findings in the order of the claims; `asked` is what the user named, "" for everything."""

    findings: tuple[tuple[Claim, Finding], ...]
    asked: str
    claims: int
    solver: str
    timeout: float
    interrupted: bool

    @property
    def passed(self) -> bool:
        """Whether every claim was decided as claimed; no claim at all is no pass."""
        return bool(self.findings) and len(self.findings) == self.claims and not self.refuted

    @property
    def refuted(self) -> list[tuple[Claim, Finding]]:
        """The claims that are not as claimed, or not known to be."""
        return [(claim, finding) for claim, finding in self.findings if not finding.supports(claim)]

    @property
    def outcomes(self) -> Mapping[str, int]:
        """How often each outcome occurred."""
        return Counter(finding.outcome for _, finding in self.findings)

    @property
    def time_taken(self) -> str:
        """What is another in every run, as a sentence: the solver's seconds, those of kept answers left out."""
        asked = [(finding.seconds, claim.name) for claim, finding in self.findings if not finding.cached]
        kept = len(self.findings) - len(asked)
        longest = f", the longest {max(asked)[0]:.2f} s: {max(asked)[1]}" if asked else ""
        return f"{sum(seconds for seconds, _ in asked):.2f} s in the solver{longest}; kept from before: {kept}"

    @property
    def forms(self) -> int:
        """Instruction forms whose arithmetic was proved, in every lane."""
        return len({form for claim, finding in self.findings if finding.supports(claim) for form in claim.covers})

    def as_json(self) -> dict[str, object]:
        """The report for machines."""
        findings = []
        for claim, finding in self.findings:
            left, right = computations(claim, finding)
            findings.append(
                {
                    "claim": claim.name,
                    "relation": claim.relation,
                    "outcome": finding.outcome,
                    "as_claimed": finding.supports(claim),
                    "reason": finding.reason,
                    "inputs": dict(finding.values),
                    "smallest": finding.smallest,
                    "left": left,
                    "right": right,
                    "covers": claim.covers,
                }
            )
        return {
            "passed": self.passed,
            "claims": self.claims,
            "outcomes": dict(self.outcomes),
            "instruction_forms": self.forms,
            "solver": self.solver,
            "timeout": self.timeout,
            "findings": findings,
        }


def computations(claim: Claim, finding: Finding) -> tuple[Sequence[str], Sequence[str]]:
    """How the left and the right side compute on a counter-example; nothing for another outcome."""
    if finding.outcome != "counter-example":
        return (), ()
    sides = sides_of(claim)
    return steps(sides.left, finding.values), steps(sides.right, finding.values)


def built_in_claims() -> list[Claim]:
    """Every claim of lanewise itself: the conventions, then the instruction forms."""
    return [*CONVENTION_CLAIMS, *form_claims()]


def named(claims: Iterable[Claim], pattern: str) -> list[Claim]:
    """The claims with a word of their name starting with the pattern, matching it as a glob, or covering that form."""
    return [claim for claim in claims if is_meant(claim.name, pattern) or pattern.lower() in claim.covers]


def is_meant(name: str, pattern: str) -> bool:
    """Whether a word of the name starts with the pattern, or the name matches it as a glob."""
    wanted, text = pattern.lower(), name.lower()
    return bool(re.search(rf"(?<!\w){re.escape(wanted)}", text)) or fnmatchcase(text, wanted)
