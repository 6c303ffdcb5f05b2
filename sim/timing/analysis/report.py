"""What `lanewise cycles` says of a timed stream, as a record, as JSON and side by side with others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import NamedTuple

from sim.timing.analysis.bounds import Bounds
from sim.timing.analysis.loop_report import LoopReport

Json = dict[str, object]


class PipeRow(NamedTuple):
    """A pipe: its busy cycles, the part of all cycles that this is, and the instructions that need it most."""

    pipe: str
    busy: int
    share: Fraction
    users: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionRow:
    """An instruction of the code.

    `place` is its source line as text, "" where there is none; `timing_class` what it is timed as.  `issue` is the
    cycle of its issue from the start of a steady iteration of the hottest loop, None outside of it.  `cycles` are those
    charged to it, over all executions, `reason` what most of them passed with.  `slack` is the smallest of its
    executions: by how many cycles its result could be later.  `inlined` is the function that it was written in and the
    line where the code calls it, "rounded at kernel.c:41", "" where nothing was inlined.
    """

    pc: int | None
    text: str
    place: str
    executions: int
    timing_class: str
    issue: int | None
    cycles: int
    reason: str
    slack: int
    inlined: str = ""


class PathRow(NamedTuple):
    """A step of the critical path: how many of its cycles pass with it, all times that it comes together."""

    text: str
    place: str
    reason: str
    cycles: int


class RepeatedRow(NamedTuple):
    """The part of the critical path that comes again and again: its steps in words, how often, how long each time."""

    steps: tuple[str, ...]
    repetitions: int
    cycles: Fraction


class UnmodelledRow(NamedTuple):
    """A class that the core has no sourced figures for: how often it was executed, and what was assumed."""

    timing_class: str
    executed: int
    status: str
    assumed: str


@dataclass(frozen=True, kw_only=True)
class CyclesReport:
    """One call, or one sequence, on one core.

    `cycles` is that of the whole; `elements` None where nobody said how many there are.  `hottest` is the loop in which
    most is executed.  `stalls` are cycles by reason and sum up to `cycles`, as do those of `instructions`.
    `mispredicted` are the branches that were, with how often.
    `core_error` is how far this core's figures were from measured kernels, in one sentence.
    """

    name: str
    core: str
    core_title: str
    core_error: str
    executed: int
    cycles: int
    elements: int | None
    loops: tuple[LoopReport, ...]
    hottest: LoopReport | None
    bounds: Bounds
    pipes: tuple[PipeRow, ...]
    stalls: Mapping[str, int]
    instructions: tuple[InstructionRow, ...]
    critical_path: tuple[PathRow, ...]
    repeated: RepeatedRow | None
    unmodelled: tuple[UnmodelledRow, ...]
    mispredicted: Mapping[str, int]

    @property
    def cycles_per_element(self) -> Fraction | None:
        """Cycles divided by elements, None if it has none."""
        return Fraction(self.cycles, self.elements) if self.elements else None

    @property
    def cycles_per_iteration(self) -> Fraction | None:
        """That of the hottest loop."""
        return self.hottest.cycles_per_iteration if self.hottest else None

    def as_json(self) -> Json:
        """Everything, for machines.  Fractions are numbers, with the exact text beside them under `..._exact`."""
        pipes: list[Json] = []
        for row in self.pipes:
            users = [{"instruction": text, "cycles": cycles} for text, cycles in row.users]
            pipes.append({"pipe": row.pipe, "busy": row.busy, "share": float(row.share), "users": users})
        repeated: Json | None = None
        if again := self.repeated:
            repeated = {"steps": [*again.steps], "repetitions": again.repetitions, **exact("cycles", again.cycles)}
        return {
            "name": self.name,
            "core": self.core,
            "core_title": self.core_title,
            "core_error": self.core_error,
            "instructions_executed": self.executed,
            "cycles": self.cycles,
            "elements": self.elements,
            **exact("cycles_per_element", self.cycles_per_element),
            **exact("cycles_per_iteration", self.cycles_per_iteration),
            **_bounds(self.bounds),
            "above_binding_bound": float(self.bounds.excess(self.cycles)),
            "hottest_loop": self.hottest.head if self.hottest else None,
            "loops": [_loop(loop) for loop in self.loops],
            "pipes": pipes,
            "stalls": dict(self.stalls),
            "instructions": [asdict(row) for row in self.instructions],
            "critical_path": [row._asdict() for row in self.critical_path],
            "critical_path_repeats": repeated,
            "unmodelled": [row._asdict() for row in self.unmodelled],
            "mispredicted": dict(self.mispredicted),
        }


def exact(key: str, value: Fraction | None) -> Json:
    """A number for machines, with its exact text beside it."""
    return {key: None, f"{key}_exact": None} if value is None else {key: float(value), f"{key}_exact": str(value)}


def _bounds(bounds: Bounds) -> Json:
    rows = [{"name": bound.name, **exact("cycles", bound.cycles), "reason": bound.sentence} for bound in bounds.all]
    return {"bounds": rows, "binding_bound": bounds.binding.name}


def _loop(loop: LoopReport) -> Json:
    excess = None
    if loop.bounds is not None and loop.cycles_per_iteration is not None:
        excess = float(loop.bounds.excess(loop.cycles_per_iteration))
    return {
        "head": loop.head,
        "entries": loop.entries,
        "iterations": loop.iterations,
        "instructions_per_iteration": float(loop.instructions),
        **exact("cycles_per_iteration", loop.cycles_per_iteration),
        "steady_state": loop.steady,
        "share": float(loop.share),
        **(_bounds(loop.bounds) if loop.bounds else {"bounds": [], "binding_bound": None}),
        "above_binding_bound": excess,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One line of a comparison; `cycles` is None where only an iteration is known, and the other way round.

    `relative` is how many times the cycles of the first line it takes, per iteration where both have that.
    """

    name: str
    core: str
    cycles: Fraction | None
    cycles_per_iteration: Fraction | None
    cycles_per_element: Fraction | None
    bound: str
    relative: Fraction | None


class Other(NamedTuple):
    """What another tool says of the same code: cycles of the whole, or of an iteration of the hottest loop."""

    name: str
    core: str
    cycles: Fraction | None = None
    cycles_per_iteration: Fraction | None = None


def compare(reports: Sequence[CyclesReport | Other]) -> list[Compared]:
    """Reports and others' figures side by side: compiled code against its program, cores, other tools."""
    rows: list[Compared] = []
    for report in reports:
        per_iteration = report.cycles_per_iteration
        if isinstance(report, Other):
            cycles, per_element, bound = report.cycles, None, ""
        else:
            bounds = (report.hottest.bounds if report.hottest else None) or report.bounds
            cycles, per_element, bound = Fraction(report.cycles), report.cycles_per_element, bounds.binding.name
        first = (rows[0].cycles_per_iteration, rows[0].cycles) if rows else (per_iteration, cycles)
        pairs = zip((per_iteration, cycles), first, strict=True)
        relative = next((mine / other for mine, other in pairs if mine is not None and other), None)
        rows.append(
            Compared(
                name=report.name,
                core=report.core,
                cycles=cycles,
                cycles_per_iteration=per_iteration,
                cycles_per_element=per_element,
                bound=bound,
                relative=relative,
            )
        )
    return rows
