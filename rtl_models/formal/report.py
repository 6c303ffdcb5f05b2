"""What a run of theorems has found, in words and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from isa.evaluate.exact import Evaluation
from isa.lane import Lane, Read, walk
from rtl_models.formal.equations.path import on_path
from rtl_models.formal.own import OwnTheorem
from rtl_models.formal.run import AnyTheorem, TheoremVerdict
from rtl_models.formal.theorem import NOT_ASKED, Lemma, Theorem
from rtl_models.formal.theorems import LANES
from sim.prove.claim import ClaimInputs, Finding, sides_of
from sim.prove.steps import steps
from sim.toolchain.shell import typed
from sim.view.sentences import counted

_FEW = 12


def line(verdict: TheoremVerdict) -> str:
    """One theorem on one line."""
    return f"{_word(verdict):17} {verdict.seconds:6.2f} s  {verdict.theorem.name}"


def _word(verdict: TheoremVerdict) -> str:
    if verdict.finding.outcome != "proved" or verdict.holds:
        return verdict.finding.outcome
    return "false claim has no place" if verdict.unplanted else "false claim not refuted"


def details(verdict: TheoremVerdict, lanes: int = LANES, own: Sequence[str] = ()) -> Iterator[str]:
    """What there is to say of a theorem that does not hold, and the command that asks again, for units of `lanes`.

    `own` are the words of that command which name a user's modules.
    """
    theorem, finding = verdict.theorem, verdict.finding
    yield f"{theorem.name}: {_word(verdict)}"
    if finding.outcome == "counter-example":
        asked = theorem.theorem if isinstance(theorem, OwnTheorem) else theorem
        shown = _example(asked, finding) if asked is not None else verdict.told
        yield from (f"  {text}" for text in shown)
    elif finding.outcome == "unknown":
        yield f"  {finding.reason}"
    elif verdict.unplanted:
        yield f"  its false claim has no place: {verdict.false_claim.reason}"
    else:
        false = _false_claim(theorem)
        yield f"  its false claim, {false}: {verdict.false_claim.reason or verdict.false_claim.outcome}"
    options = typed([*(() if lanes == LANES else ("--lanes", str(lanes))), *own])
    yield f'  reproduce: lanewise rtl prove "{theorem.name}" {options}'.rstrip()


def _false_claim(theorem: AnyTheorem) -> str:
    if isinstance(theorem, OwnTheorem):
        return "results one higher"
    return str(theorem.fault) if isinstance(theorem, Theorem) else theorem.false_claim.name


def _example(theorem: Theorem | Lemma, finding: Finding) -> Iterator[str]:
    """What decides, each result that is wrong, and how the expected values come about.

    Told are all of a few inputs and registers; of many, those that are not 0.
    """
    sides = sides_of(theorem.claim)
    evaluation = Evaluation(ClaimInputs(finding.values))
    known = [n for n in sides.left if _reached([sides.left[n], sides.right[n]]) <= finding.values.keys()]
    wrong = {n: sides.right[n] for n in known if evaluation.value(sides.left[n]) != evaluation.value(sides.right[n])}
    # a signal of a module that is a left side by itself: what it is is told beside what is expected
    single = [_reached([lane]) for lane in sides.left.values()] if isinstance(theorem, Theorem) else []
    claimed = {name for names in single if len(names) == 1 for name in names}
    values = {name: value for name, value in finding.values.items() if name not in claimed}
    shown = {name: value for name, value in values.items() if value or len(values) <= _FEW}
    numbers = {name: str(value) if value.bit_length() <= 32 else hex(value) for name, value in shown.items()}
    rest = [] if len(shown) == len(values) else ["all others 0"]
    yield ", ".join([*(f"{name} = {number}" for name, number in numbers.items()), *rest])
    where = "the left side"
    if isinstance(theorem, Theorem):
        module, _, parameters = str(theorem.subject).partition(" at ")
        where = f"{module}.sv at {parameters}"
    for name, lane in wrong.items():
        got = evaluation.value(sides.left[name])
        yield f"{name}: {where} gives {got}, expected {evaluation.value(lane)}"
    yield "expected, step by step:"
    yield from (f"  {step}" for step in steps(on_path(wrong, finding.values), finding.values))


def _reached(lanes: Iterable[Lane]) -> set[str]:
    """The signals that expressions are about."""
    return {lane.place.file for lane in walk(lanes) if isinstance(lane, Read)}


def summary(verdicts: Sequence[TheoremVerdict], tools: str) -> str:
    """The last line: how many of each, by which tools."""
    proved = sum(verdict.finding.outcome == "proved" for verdict in verdicts)
    refuted = sum(verdict.false_claim.outcome == "counter-example" for verdict in verdicts)
    not_asked = sum(verdict.false_claim is NOT_ASKED for verdict in verdicts)
    modules = len({_module(verdict.theorem) for verdict in verdicts} - {""})
    return (
        f"{proved} of {counted(len(verdicts), 'theorem')} about {counted(modules, 'module')} proved for all inputs, "
        f"{counted(refuted, 'false claim')} refuted{f', {not_asked} not asked' if not_asked else ''} ({tools})"
    )


def _module(theorem: AnyTheorem) -> str:
    return "" if isinstance(theorem, Lemma) else theorem.subject.module


def as_json(verdicts: Sequence[TheoremVerdict], tools: str, *, finished: bool) -> dict[str, object]:
    """The report for machines; only what is finished has passed."""
    return {
        "passed": finished and all(verdict.holds for verdict in verdicts),
        "theorems": len(verdicts),
        "tools": tools,
        "findings": [
            {
                "theorem": verdict.theorem.name,
                "module": _module(verdict.theorem),
                "parameters": {} if isinstance(verdict.theorem, Lemma) else dict(verdict.theorem.subject.parameters),
                "outcome": verdict.finding.outcome,
                "false_claim": verdict.false_claim.outcome,
                "false_claim_reason": verdict.false_claim.reason,
                "holds": verdict.holds,
                "values": dict(verdict.finding.values),
                "reason": verdict.finding.reason,
            }
            for verdict in verdicts
        ],
    }
