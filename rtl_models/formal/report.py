"""What a run of theorems has found, in words and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from isa.evaluate.exact import Evaluation
from isa.lane import Lane, Place, walk
from rtl_models.formal.path import on_path
from rtl_models.formal.run import Verdict
from rtl_models.formal.theorem import Lemma, Theorem
from rtl_models.formal.theorems import LANES
from sim.check.prove import Finding, Inputs, Sides, sides_of
from sim.check.prove_steps import steps
from sim.view.cycles_sentences import counted


def line(verdict: Verdict) -> str:
    """One theorem on one line."""
    return f"{_word(verdict):17} {verdict.seconds:6.2f} s  {verdict.theorem.claim.name}"


def _word(verdict: Verdict) -> str:
    if verdict.finding.outcome != "proved" or verdict.holds:
        return verdict.finding.outcome
    return "twin has no place" if verdict.unplanted else "twin not refuted"


def details(verdict: Verdict, lanes: int = LANES) -> Iterator[str]:
    """What there is to say of a theorem that does not hold, and the command that asks again, for units of `lanes`."""
    theorem, finding = verdict.theorem, verdict.finding
    yield f"{theorem.claim.name}: {_word(verdict)}"
    if finding.outcome == "counter-example":
        yield from (f"  {text}" for text in _example(theorem, finding))
    elif finding.outcome == "unknown":
        yield f"  {finding.reason}"
    elif verdict.unplanted:
        yield f"  its wrong twin has no place: {verdict.twin.reason}"
    else:
        yield f"  its twin, {_words(theorem)}: {verdict.twin.reason or verdict.twin.outcome}"
    option = "" if lanes == LANES else f" --lanes {lanes}"
    yield f'  reproduce: lanewise rtl prove "{theorem.claim.name}"{option}'


def _words(theorem: Theorem | Lemma) -> str:
    return str(theorem.twin) if isinstance(theorem, Theorem) else theorem.twin.name


def _example(theorem: Theorem | Lemma, finding: Finding) -> Iterator[str]:
    """What decides, each result that is wrong, and how the expected values come about."""
    sides = sides_of(theorem.claim)
    evaluation = Evaluation(Inputs(finding.values))
    known = [n for n in sides.left if _reached([sides.left[n], sides.right[n]]) <= finding.values.keys()]
    wrong = {n: sides.right[n] for n in known if evaluation.value(sides.left[n]) != evaluation.value(sides.right[n])}
    yield _inputs({name: value for name, value in finding.values.items() if name not in _claimed(theorem, sides)})
    for name, lane in wrong.items():
        got = evaluation.value(sides.left[name])
        yield f"{name}: {_where(theorem)} gives {got}, expected {evaluation.value(lane)}"
    yield "expected, step by step:"
    yield from (f"  {step}" for step in steps(on_path(wrong, finding.values), finding.values))


def _claimed(theorem: Theorem | Lemma, sides: Sides) -> set[str]:
    """The signals of a module that are a left side by themselves: what they are is told beside what is expected."""
    single = [_reached([lane]) for lane in sides.left.values()] if isinstance(theorem, Theorem) else []
    return {name for names in single if len(names) == 1 for name in names}


def _reached(lanes: Iterable[Lane]) -> set[str]:
    """The signals that expressions are about."""
    return {lane.detail.file for lane in walk(lanes) if isinstance(lane.detail, Place)}


_FEW = 12


def _inputs(values: Mapping[str, int]) -> str:
    """All of a few inputs and registers; of many, those that are not 0."""
    shown = {name: value for name, value in values.items() if value or len(values) <= _FEW}
    rest = [] if len(shown) == len(values) else ["all others 0"]
    return ", ".join([*(f"{name} = {_number(value)}" for name, value in shown.items()), *rest])


def _number(value: int) -> str:
    """In base 16 where it is that of many lanes."""
    return str(value) if value.bit_length() <= 32 else hex(value)


def _where(theorem: Theorem | Lemma) -> str:
    """The module at its parameters."""
    if isinstance(theorem, Lemma):
        return "the left side"
    module, _, parameters = str(theorem.subject).partition(" at ")
    return f"{module}.sv at {parameters}"


def summary(verdicts: Sequence[Verdict], tools: str) -> str:
    """The last line: how many of each, in what time, by which tools."""
    proved = sum(verdict.finding.outcome == "proved" for verdict in verdicts)
    refuted = sum(verdict.twin.outcome == "counter-example" for verdict in verdicts)
    seconds = sum(verdict.seconds for verdict in verdicts)
    modules = len({_module(verdict.theorem) for verdict in verdicts} - {""})
    return (
        f"{proved} of {counted(len(verdicts), 'theorem')} about {counted(modules, 'module')} proved for all inputs, "
        f"{counted(refuted, 'wrong twin')} refuted; {seconds:.1f} s in the solver ({tools})"
    )


def _module(theorem: Theorem | Lemma) -> str:
    return theorem.subject.module if isinstance(theorem, Theorem) else ""


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
        "module": _module(verdict.theorem),
        "parameters": dict(verdict.theorem.subject.parameters) if isinstance(verdict.theorem, Theorem) else {},
        "outcome": finding.outcome,
        "twin": verdict.twin.outcome,
        "twin_reason": verdict.twin.reason,
        "holds": verdict.holds,
        "seconds": round(verdict.seconds, 3),
        "values": dict(finding.values),
        "reason": finding.reason,
    }
