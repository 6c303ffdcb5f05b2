"""What a run of theorems has found, in words and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from isa.evaluate.exact import Evaluation
from rtl_models.formal.run import Verdict
from rtl_models.formal.theorem import Theorem
from sim.check.prove import Finding, Inputs, sides_of
from sim.check.prove_steps import steps


def line(verdict: Verdict) -> str:
    """One theorem on one line."""
    return f"{_word(verdict):15} {verdict.seconds:6.2f} s  {verdict.theorem.claim.name}"


def _word(verdict: Verdict) -> str:
    return "twin not refuted" if verdict.finding.outcome == "proved" and not verdict.holds else verdict.finding.outcome


def details(verdict: Verdict) -> Iterator[str]:
    """What there is to say of a theorem that does not hold, and the command that asks again."""
    theorem, finding = verdict.theorem, verdict.finding
    yield f"{theorem.claim.name}: {_word(verdict)}"
    if finding.outcome == "counter-example":
        yield from (f"  {text}" for text in _example(theorem, finding))
    elif finding.outcome == "unknown":
        yield f"  {finding.reason}"
    else:
        twin, found = theorem.twin, verdict.twin
        yield f"  its twin, {twin.text!r} as {twin.wrong!r}: {found.reason or found.outcome}"
    yield f'  reproduce: python -m rtl_models.formal "{theorem.claim.name}"'


def _example(theorem: Theorem, finding: Finding) -> Iterator[str]:
    """The input lanes, each output that is wrong, and how the expected values come about."""
    sides = sides_of(theorem.claim)
    evaluation = Evaluation(Inputs(finding.values))
    outputs = set(sides.left) | {"result_o", "saturated_o"}
    yield ", ".join(f"{name} = {value}" for name, value in finding.values.items() if name not in outputs)
    for name, lane in sides.left.items():
        got, expected = evaluation.value(lane), evaluation.value(sides.right[name])
        if got != expected:
            yield f"{name}: {theorem.module}.sv at Width {theorem.width} gives {got}, expected {expected}"
    yield "expected, step by step:"
    yield from (f"  {step}" for step in steps(sides.right, finding.values))


def summary(verdicts: Sequence[Verdict], tools: str) -> str:
    """The last line: how many of each, in what time, by which tools."""
    proved = sum(verdict.finding.outcome == "proved" for verdict in verdicts)
    refuted = sum(verdict.twin.outcome == "counter-example" for verdict in verdicts)
    seconds = sum(verdict.seconds for verdict in verdicts)
    modules = len({verdict.theorem.module for verdict in verdicts})
    return (
        f"{proved} of {len(verdicts)} theorems about {modules} modules proved for all inputs, "
        f"{refuted} wrong twins refuted; {seconds:.1f} s in the solver ({tools})"
    )


def as_json(verdicts: Sequence[Verdict], tools: str) -> dict[str, object]:
    """The report for machines."""
    return {
        "passed": bool(verdicts) and all(verdict.holds for verdict in verdicts),
        "theorems": len(verdicts),
        "tools": tools,
        "findings": [_as_json(verdict) for verdict in verdicts],
    }


def _as_json(verdict: Verdict) -> dict[str, object]:
    finding = verdict.finding
    return {
        "theorem": verdict.theorem.claim.name,
        "module": verdict.theorem.module,
        "width": verdict.theorem.width,
        "outcome": finding.outcome,
        "twin": verdict.twin.outcome,
        "holds": verdict.holds,
        "seconds": round(verdict.seconds, 3),
        "values": dict(finding.values),
        "reason": finding.reason,
    }
