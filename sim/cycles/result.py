"""A call or a loop timed on a core: its schedule and its report; beside it, what llvm-mca says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from sim.cycles.input import ASSEMBLY, Timed, TimedLoop
from sim.image import Image
from sim.llvm_mca import Estimate, LlvmMca, LlvmMcaError, LlvmMcaMissing
from sim.timing.bounds import Bounds, bounds_of_loop
from sim.timing.core import Core
from sim.timing.found_loops import found_loops, hottest, steady
from sim.timing.pipeline import schedule
from sim.timing.reasons import Lines, no_lines
from sim.timing.report import CyclesReport, Json
from sim.timing.reporting import report
from sim.timing.schedule import Schedule
from sim.timing.steady import LoopTiming, time_loop
from sim.timing.stream import Executed
from sim.toolchain import is_source

MOST_SCHEDULED: Final = 20_000
"""Instructions of a loop of which every cycle is accounted for; what comes after them repeats them."""
_FEW: Final = 16
_PERIODS: Final = 4

Source = Callable[[str], str]
"""The text of a source line by its place, such as "kernel.c:41"; "" where it is not known."""


@dataclass(frozen=True)
class Conditions:
    """What a call finds: branches seen before or not; all its data in the first cache, or empty caches."""

    warm: bool = True
    caches: bool = False

    @property
    def texts(self) -> list[str]:
        """What is not as usual, in words."""
        return ["untrained branches"] * (not self.warm) + ["empty caches"] * self.caches


@dataclass(frozen=True)
class LoopResult:
    """A loop: the cycles of all `count` iterations, bounds and instructions of one, how many its report is about."""

    timing: LoopTiming
    bounds: Bounds
    count: int
    instructions: int
    reported: int

    def as_json(self) -> Json:
        """For machines, fractions as numbers and as text."""
        each = self.timing.per_iteration
        return {
            "iterations": self.count,
            "instructions_per_iteration": self.instructions,
            "cycles": self.timing.cycles,
            "cycles_per_iteration": float(each),
            "cycles_per_iteration_exact": str(each),
            "steady_after_iterations": self.timing.warm_up,
            "steady_period": self.timing.period,
            "binding_bound": self.bounds.binding.name,
            "binding_bound_cycles": float(self.bounds.binding.cycles),
            "iterations_reported": self.reported,
        }


@dataclass(frozen=True)
class Result:
    """What was timed on a core.  Of a loop, schedule and report are those of its first iterations.

    `llvm_mca` is what it says of the same, or the sentence why it does not; None if it was not asked.
    """

    title: str
    call: str
    schedule: Schedule
    report: CyclesReport
    source: Source
    loop: LoopResult | None = None
    llvm_mca: Estimate | str | None = None

    def as_json(self) -> Json:
        """For machines."""
        made: Json = {"timed": self.title, "call": self.call, **self.report.as_json()}
        if self.loop:
            made["loop"] = self.loop.as_json()
        if self.llvm_mca is not None:
            made["llvm-mca"] = _as_json(self.llvm_mca)
        return made


def time_on(timed: Timed, core: Core, conditions: Conditions) -> Result:
    """A call under these conditions; a loop is always warm.

    Raises ValueError for a call that executes nothing, a loop that is too long to be simulated, and caches that the
    core does not have or of which a latency is not known.
    """
    lines = lines_of(timed.image) if timed.image else no_lines
    if not isinstance(timed, TimedLoop):
        found = schedule(timed.stream, core, warm=conditions.warm, caches=conditions.caches)
        made = report(timed.title, found, lines, timed.elements or None)
        return Result(timed.title, timed.call, found, made, source_of(timed.image))
    timing = time_loop(timed.loop, core, timed.count)
    some = _reported(timed, timing)
    first = schedule(_iterations(timed, some), core)
    loop = LoopResult(timing, bounds_of_loop(timed.loop, core), timed.count, len(timed.loop.body), some)
    made = report(timed.title, first, lines, some * timed.elements or None)
    return Result(timed.title, "", first, made, source_of(timed.image), loop)


def beside(result: Result, timed: Timed, tool: LlvmMca) -> Result:
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


def steady_start(result: Result) -> int:
    """The number of the instruction with which a steady iteration of the hottest loop begins; 0 without one."""
    loop = hottest(found_loops(result.schedule.stream))
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


def _iterations(timed: TimedLoop, count: int) -> list[Executed]:
    return list(chain.from_iterable(timed.loop.iteration(number) for number in range(count)))


def _as_json(said: Estimate | str) -> Json:
    if isinstance(said, str):
        return {"error": said}
    each = None if said.per_iteration is None else float(said.per_iteration)
    return {"version": said.version, "model": said.model, "cycles": said.cycles, "cycles_per_iteration": each}
