"""What mutation has found, in words and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from rtl_models.mutation.judgement import Judgement
from rtl_models.mutation.verdict import FATES, Fate, MutantVerdict
from rtl_models.tools.sources import LANES
from sim.toolchain.shell import typed
from sim.view.sentences import counted

TIMEOUT: Final = 60.0
"""Seconds for one question to the solver, where no others are asked for."""


@dataclass(frozen=True)
class Asked:
    """What was asked for: modules by `name`, so many mutants of each, drawn by the seed; one of them, or None: all.

    `own` are the words that name a user's modules.
    """

    name: str
    count: int
    seed: int
    timeout: float = TIMEOUT
    mutant: int | None = None
    own: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        """What asks for it."""
        options = {"--count": self.count, "--seed": self.seed, "--timeout": self.timeout, "--mutant": self.mutant}
        left_out = {"--timeout": TIMEOUT, "--mutant": None}
        words = [str(word) for pair in options.items() if pair not in left_out.items() for word in pair]
        return typed(["lanewise", "rtl", "mutate", *([self.name] if self.name else []), *self.own, *words])

    def alone(self, judgement: Judgement, verdict: MutantVerdict) -> str:
        """What asks for one mutant of a module."""
        name = self.name if "--adapter" in self.own else str(judgement.subject)
        return replace(self, name=name, mutant=verdict.mutant.number).command


def line(judgement: Judgement) -> str:
    """A module on one line."""
    counts = ", ".join(f"{len(judgement.having(fate))} {fate}" for fate in FATES)
    return f"{judgement.subject}: {counted(len(judgement.verdicts), 'mutant')}, {counts}; {_score([judgement])}"


def details(judgement: Judgement, asked: Asked) -> Iterator[str]:
    """The mutants that the bench lets live, each with where it is written and the command that judges it again."""
    for verdict in judgement.verdicts:
        if verdict.fate != "killed by bench":
            yield f"  {verdict.fate}: {verdict.mutant.words}"
            for place in verdict.mutant.places:
                file, _, number = place.partition(":")
                text = judgement.sources.get(file) or (LANES / file).read_text()
                yield f"      {place}: {text.splitlines()[int(number) - 1].strip()}"
            if verdict.by:
                yield f"      {verdict.by}"
            if verdict.values:
                yield f"      with {', '.join(f'{name} = {value}' for name, value in verdict.values.items())}"
            yield f"      again: {asked.alone(judgement, verdict)}"


def summary(judgements: Sequence[Judgement], asked: Asked) -> str:
    """The last lines: all together, and the command that gives the same again."""
    total = sum(len(judgement.verdicts) for judgement in judgements)
    counts = ", ".join(f"{_count(judgements, fate)} {fate}" for fate in FATES)
    return (
        f"{counted(total, 'mutant')} of {counted(len(judgements), 'module')}: {counts}; {_score(judgements)}\n"
        f"again: {asked.command}"
    )


def _score(judgements: Sequence[Judgement]) -> str:
    """Of the mutants that can be killed, the part that the benches kill, where modules have one of their own."""
    with_bench = [judgement for judgement in judgements if judgement.rows]
    if not with_bench and judgements:
        return "theorems alone are asked"
    by_bench, by_proof = (_count(with_bench, fate) for fate in ("killed by bench", "killed by proof"))
    killable = by_bench + by_proof + _count(with_bench, "undecided")
    if not killable:
        return "there is none that can be killed"
    return f"the benches kill {100 * by_bench / killable:.1f} % of those that can be killed"


def _count(judgements: Sequence[Judgement], fate: Fate) -> int:
    return sum(len(judgement.having(fate)) for judgement in judgements)


def as_json(judgements: Sequence[Judgement], asked: Asked, tools: Sequence[str], *, finished: bool) -> dict[str, Any]:
    """The report for machines, with the certificate of every mutant; only what is finished has passed."""
    return {
        "passed": finished and all(judgement.passed for judgement in judgements),
        "tools": list(tools),
        "count": asked.count,
        "seed": asked.seed,
        **{fate: _count(judgements, fate) for fate in FATES},
        "modules": [_module(judgement, asked) for judgement in judgements],
    }


def _module(judgement: Judgement, asked: Asked) -> dict[str, Any]:
    return {
        "module": judgement.subject.module,
        "parameters": dict(judgement.subject.parameters),
        "bench_rows": judgement.rows,
        "netlist": judgement.origin._asdict(),
        **{fate: len(judgement.having(fate)) for fate in FATES},
        "mutants": [
            {
                "number": verdict.mutant.number,
                "command": verdict.mutant.command,
                "words": verdict.mutant.words,
                "places": verdict.mutant.places,
                "fate": verdict.fate,
                "by": verdict.by,
                "values": dict(verdict.values),
                "evidence": dict(verdict.evidence),
                "again": asked.alone(judgement, verdict),
            }
            for verdict in judgement.verdicts
        ],
    }
