"""A run over all values of lanes in words and for machines."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from sim.verify.exhaust.exhaust import ExhaustedInstruction
from sim.verify.exhaust.functions import ComparedFunctions
from sim.verify.exhaust.loop import LaneResult
from sim.view.sentences import counted


@dataclass(frozen=True, kw_only=True)
class ExhaustionReport:
    """What was asked for by `name`, the results, and why other forms of that name were left out."""

    name: str
    results: Sequence[ExhaustedInstruction]
    left_out: Sequence[str]
    seed: int
    interrupted: bool

    @property
    def passed(self) -> bool:
        """Whether all was compared and nothing differs."""
        return bool(self.results) and all(
            one.disagreement is None and one.compared == one.values for one in self.results
        )

    @property
    def reproduce(self) -> str:
        return f"lanewise exhaust {shlex.quote(self.name)} --seed {self.seed} --anew"

    def as_json(self) -> dict[str, object]:
        results = []
        for one in self.results:
            different = one.disagreement
            sides = {} if different is None else {
                "between": different.between,
                "lane": different.lane,
                "operands": different.operands,
                **{side: getattr(different, side)._asdict() for side in ("model", "emulator", "exact")},
            }  # fmt: skip
            results.append(asdict(one) | {"disagreement": sides or None})
        return {
            "passed": self.passed,
            "interrupted": self.interrupted,
            "results": results,
            "left_out": list(self.left_out),
            "seed": self.seed,
            "reproduce": self.reproduce,
        }


@dataclass(frozen=True, kw_only=True)
class FunctionsReport:
    """What came of two functions on all values."""

    result: ComparedFunctions
    interrupted: bool

    @property
    def passed(self) -> bool:
        """Whether all was compared and nothing differs."""
        return self.result.compared == self.result.values and not self.result.differing

    def as_json(self) -> dict[str, object]:
        first = self.result.first
        return {
            "passed": self.passed,
            "interrupted": self.interrupted,
            **asdict(self.result),
            "first": None if first is None else first._asdict(),
        }

    def in_words(self) -> Iterator[str]:
        """The report as lines."""
        result, (one, other) = self.result, self.result.sides
        operands = " and ".join(f"{o.name} ({o.low}..{o.high})" for o in result.operands)
        operands += "".join(f", {name} = {number:g}" for name, number in result.given.items())
        share = "all" if result.compared == result.values else f"{result.compared:,} of"
        before = f", {result.kept:,} of them in runs before" if result.kept else ""
        yield f"{one} against {other}: {share} {result.values:,} values of {operands} compared{before}"
        if result.first is not None:
            given = ", ".join(f"{name} = {number}" for name, number in result.first.operands.items())
            left, right = result.first.results
            yield f"  DIFFER in {result.differing:,} of them, first in {given}: {left} and {right}"
        if self.interrupted:
            yield "STOPPED: no verdict; the same command goes on"
        else:
            yield "PASSED: the same on all of them" if self.passed else "FAILED"


def pace(done: int, left: int, seconds: float) -> str:
    """How fast it goes, and for how long."""
    rate = done / max(seconds, 1e-3)
    return f"{rate / 1e6:.1f} M/s, {left / rate:.0f} s left" if rate else "begins"


def in_words(report: ExhaustionReport) -> Iterator[str]:
    """The report as lines."""
    for reason in report.left_out:
        yield f"left out: {reason}"
    for one in report.results:
        operands = " and ".join(f"{name} ({bits} bits)" for name, bits in one.operands.items())
        share = "all" if one.compared == one.values else f"{one.compared:,} of"
        before = f", {one.kept:,} of them in runs before" if one.kept else ""
        yield f"{one.text}: {share} {one.values:,} values of {operands} compared{before}"
        if (found := one.disagreement) is not None:
            where = "" if found.lane is None else f"lane {found.lane} of "
            given = ", ".join(f"{name} = {value:#x}" for name, value in found.operands.items())
            yield f"  DIFFERS between {found.between}: {where}{given}"
            yield from (f"    {side:<9}{_shown(getattr(found, side))}" for side in ("model", "emulator", "exact"))
    samples = sum(one.samples for one in report.results)
    if report.interrupted:
        yield "STOPPED: no verdict; the same command goes on"
    elif report.passed:
        sampled = f"C and the exact evaluator on {counted(samples, 'random register')} (seed {report.seed})"
        yield f"PASSED: model and emulator agree on all of them, results and QC; {sampled}"
    else:
        yield "FAILED"
    yield f"again: {report.reproduce}"


def _shown(result: LaneResult) -> str:
    return f"{result.register:#x}{' and sets QC' if result.saturates else ''}"
