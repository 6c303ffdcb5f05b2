"""A call or a loop timed on a core: its schedule and its report; beside it, what llvm-mca says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Final

from sim.cycles.branches import Branches, branches_in_words
from sim.cycles.input import Timed, TimedCall, TimedLoop
from sim.cycles.llvm_mca import Estimate, LlvmMca, LlvmMcaError, LlvmMcaMissing
from sim.timing.analysis.bounds import Bounds, bounds_of_loop
from sim.timing.analysis.error_range import ErrorRange, bases, error_as_json, error_range
from sim.timing.analysis.reasons import Lines, no_lines
from sim.timing.analysis.report import CyclesReport, Json, exact
from sim.timing.analysis.reporting import report
from sim.timing.loops.bare_loop import ASSUMED
from sim.timing.loops.found_loops import find_loops, hottest, steady
from sim.timing.loops.loop import Loop
from sim.timing.loops.steady import LoopTiming, time_loop
from sim.timing.model.core import Core
from sim.timing.model.schedule import Schedule
from sim.timing.native.library import why_not
from sim.timing.native.scheduling import NATIVE_FROM, schedule
from sim.toolchain.branches import with_targets
from sim.toolchain.compilers import ASSEMBLY, is_source
from sim.toolchain.image import Image

MOST_SCHEDULED: Final = 20_000
"""Instructions of a loop of which every cycle is accounted for; what comes after them repeats them."""
_FEW: Final = 16
_PERIODS: Final = 4
_NAMES: Final = ("name", "core", "core_title", "core_error")

Source = Callable[[str], str]
"""The text of a source line by its place, such as "kernel.c:41"; "" where it is not known."""
Told = Callable[[str], str]
"""The text of an instruction with the place that a branch goes to, in the place of its address."""


@dataclass(frozen=True)
class Conditions:
    """What a call finds: branches seen before or not; all its data in the first cache, or empty caches."""

    warm: bool = True
    caches: bool = False

    @property
    def texts(self) -> list[str]:
        """What is not as usual, in words."""
        return ["untrained branches"] * (not self.warm) + ["empty caches"] * self.caches


@dataclass(frozen=True, kw_only=True)
class LoopResult:
    """A loop: the cycles of all `count` bodies, of which each does `copies` iterations; bounds and instructions of one.

    `elements` are those of all (None: not known).  The report is about the first `reported` bodies.
    """

    loop: Loop
    timing: LoopTiming
    bounds: Bounds
    count: int
    instructions: int
    reported: int
    elements: int | None = None
    copies: int = 1

    @property
    def iterations(self) -> int:
        """Of the loop that was given."""
        return self.count * self.copies

    @property
    def cycles_per_iteration(self) -> Fraction:
        """Of the loop that was given, in the steady state."""
        return self.timing.per_iteration / self.copies

    @property
    def cycles_per_element(self) -> Fraction | None:
        """In the steady state."""
        return self.cycles_per_iteration * self.iterations / self.elements if self.elements else None

    @property
    def figures(self) -> Json:
        """The whole of it, by the names that a report has for the figures of a call."""
        return {
            "instructions_executed": self.count * self.instructions,
            "cycles": self.timing.cycles,
            "elements": self.elements,
            **exact("cycles_per_element", self.cycles_per_element),
            **exact("cycles_per_iteration", self.cycles_per_iteration),
        }

    def as_json(self) -> Json:
        """For machines, all in iterations of the loop that was given."""
        return {
            "iterations": self.iterations,
            "iterations_per_body": self.copies,
            "instructions_per_iteration": float(Fraction(self.instructions, self.copies)),
            "cycles": self.timing.cycles,
            **exact("cycles_per_iteration", self.cycles_per_iteration),
            "steady_after_iterations": self.timing.warm_up * self.copies,
            "steady_period": self.timing.period * self.copies,
            "binding_bound": self.bounds.binding.name,
            "binding_bound_cycles": float(self.bounds.binding.cycles / self.copies),
        }


@dataclass(frozen=True, kw_only=True)
class TimedResult:
    """What was timed on a core.  Of a loop, schedule and report are those of its first iterations.

    `told` makes the texts of instructions ready to be read: in those of the report branches name places already.
    `branches` are those of a call, `notes` what must be known to read the figures, in sentences.  `llvm_mca` is what it
    says of the same, or the sentence why it does not; None if it was not asked.
    """

    title: str
    call: str
    schedule: Schedule
    report: CyclesReport
    source: Source
    told: Told = str
    loop: LoopResult | None = None
    branches: Branches | None = None
    notes: tuple[str, ...] = ()
    llvm_mca: Estimate | str | None = None

    @property
    def cycles(self) -> int:
        """Of the whole call or loop."""
        return self.loop.timing.cycles if self.loop else self.report.cycles

    @property
    def error_range(self) -> ErrorRange | None:
        """How far estimates were off on kernels out of sight when this core's rules were chosen; None if none."""
        return error_range(self.schedule.core)

    @property
    def bases(self) -> dict[str, int]:
        """How many instructions of the schedule have figures measured, of a model, inferred or assumed: most first."""
        return bases(self.schedule.stream, self.schedule.core)

    @property
    def microseconds(self) -> Fraction | None:
        """The same at the core's clock; None where it has none."""
        clock = self.schedule.core.clock
        return self.cycles / clock.megahertz if clock else None

    def as_json(self) -> Json:
        """For machines.

        Figures are those of the whole call or loop, everything else that the report has too; of a loop, the report is
        that of its first iterations and stands under `sample`.
        """
        made: Json = {"timed": self.title, "call": self.call, **self._reported()}
        made["microseconds"] = None if self.microseconds is None else float(self.microseconds)
        known = self.error_range
        made["range"] = list(known.cycles(self.cycles)) if known else None
        made["unseen"] = error_as_json(self.schedule.core)
        made["bases"] = self.bases
        made["branches"] = self.branches._asdict() if self.branches else None
        made["notes"] = list(self.notes)
        said = self.llvm_mca
        if isinstance(said, str):
            made["llvm-mca"] = {"error": said}
        elif said is not None:
            copies = self.loop.copies if self.loop else 1
            each = None if said.per_iteration is None else float(said.per_iteration / copies)
            made["llvm-mca"] = {"version": said.version, "model": said.model, "cycles": said.cycles,
                                "cycles_per_iteration": each}  # fmt: skip
        return made

    def _reported(self) -> Json:
        report = self.report.as_json()
        if self.loop is None:
            return {**report, "loop": None, "sample": None}
        named = {key: report[key] for key in _NAMES}
        sample = {key: value for key, value in report.items() if not key.startswith(("core", "name", "cycles_per_"))}
        iterations = self.loop.reported * self.loop.copies
        loop, sample = self.loop.as_json(), {"iterations": iterations, **sample}
        return {**named, **self.loop.figures, "loop": loop, "sample": sample}


USUAL: Final = Conditions()
"""Branches that were seen before, and data in the first cache."""


def time_on(timed: Timed, core: Core, conditions: Conditions = USUAL) -> TimedResult:
    """Time a call on a core under these conditions; a loop is always warm.

    Raises ValueError for a call that executes nothing, a loop that is too long to be simulated, and caches that the
    core does not have or of which a latency is not known.
    """
    return _loop_on(timed, core) if isinstance(timed, TimedLoop) else _call_on(timed, core, conditions)


def _call_on(timed: TimedCall, core: Core, conditions: Conditions) -> TimedResult:
    found = schedule(timed.stream, core, warm=conditions.warm, caches=conditions.caches)
    made = _of_image(report(timed.title, found, _lines(timed), timed.elements or None), timed.image)
    branches = timed.branches if conditions.warm else timed.branches.untrained
    said = (branches_in_words(branches, conditions.warm),) if branches.executed else ()
    source, slow = source_of(timed.image), len(timed.stream) >= NATIVE_FROM and why_not()
    without = (f"scheduled in Python, a hundred times slower than in C: {slow}",) if slow else ()
    return TimedResult(
        title=timed.title,
        call=timed.call,
        schedule=found,
        report=made,
        source=source,
        told=_told(timed.image),
        branches=branches,
        notes=(*said, *timed.notes, *without),
    )


def _loop_on(timed: TimedLoop, core: Core) -> TimedResult:
    timing = time_loop(timed.loop, core, timed.count)
    some, size = _reported(timed, timing), len(timed.loop.body)
    first = schedule([one for number in range(some) for one in timed.loop.iteration(number)], core)
    bounds, elements = bounds_of_loop(timed.loop, core), timed.count * timed.elements or None
    loop = LoopResult(
        loop=timed.loop,
        timing=timing,
        bounds=bounds,
        count=timed.count,
        instructions=size,
        reported=some,
        elements=elements,
        copies=timed.copies,
    )
    made = _of_image(report(timed.title, first, _lines(timed), some * timed.elements or None), timed.image)
    return TimedResult(
        title=timed.title,
        call="",
        schedule=first,
        report=made,
        source=source_of(timed.image),
        told=_told(timed.image),
        loop=loop,
        notes=(*filter(None, (timed.chosen,)), ASSUMED),
    )


def _lines(timed: Timed) -> Lines:
    return lines_of(timed.image) if timed.image else no_lines


def _told(image: Image | None) -> Told:
    return partial(with_targets, image=image, addresses=True) if image else str


def _of_image(made: CyclesReport, image: Image | None) -> CyclesReport:
    """With the places that branches go to, and the calls by which inlined instructions came where they are."""
    if image is None:
        return made
    rows, told = [], _told(image)
    for row in made.instructions:
        calls = image.inlined_calls(row.pc) if row.pc is not None else ()
        rows.append(
            replace(row, text=told(row.text), inlined=f"{calls[0].function} at {calls[-1].line}" if calls else "")
        )
    again = made.repeated
    return replace(
        made,
        instructions=tuple(rows),
        critical_path=tuple(row._replace(text=told(row.text)) for row in made.critical_path),
        repeated=again and again._replace(steps=tuple(map(told, again.steps))),
    )


def beside(result: TimedResult, timed: Timed, tool: LlvmMca) -> TimedResult:
    """The result with what llvm-mca says of the same instructions on that core.  Raises LlvmMcaMissing."""
    core = result.report.core
    try:
        if isinstance(timed, TimedLoop):
            return replace(result, llvm_mca=tool.loop(timed.instructions, core, timed.count))
        return replace(result, llvm_mca=tool.stream(timed.instructions, core))
    except LlvmMcaMissing:
        raise
    except LlvmMcaError as error:
        return replace(result, llvm_mca=str(error))


def steady_start(result: TimedResult) -> int:
    """The number of the instruction with which a steady iteration of the hottest loop begins; 0 without one."""
    loop = hottest(find_loops(result.schedule.stream))
    part = steady(loop.longest) if loop else None
    return part.first + 1 if part else 0


def source_of(image: Image | None) -> Source:
    """The lines of the source that the image was made of; no other file is read, whatever debug information says.

    Those of assembly would say every instruction twice.
    """
    if image is None or not is_source(image.path) or image.path.suffix in ASSEMBLY:
        return lambda _: ""
    lines = image.path.read_text(encoding="utf-8", errors="replace").split("\n")
    texts = {f"{image.path.name}:{number}": text.strip() for number, text in enumerate(lines, 1)}
    return lambda place: texts.get(place, "")


def lines_of(image: Image) -> Lines:
    """The source file and line of an address."""

    def line(pc: int) -> tuple[str, int] | None:
        found = image.source_line(pc)
        return (found.file, found.line) if found else None

    return line


def _reported(timed: TimedLoop, timing: LoopTiming) -> int:
    """Iterations that show the steady state, if they are not too many."""
    wanted = max(_FEW, timing.warm_up + _PERIODS * timing.period)
    return max(1, min(timed.count, wanted, MOST_SCHEDULED // len(timed.loop.body)))
