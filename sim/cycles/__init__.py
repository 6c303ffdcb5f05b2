"""How long calls and loops take on named cores, and why.

`estimate` does all of it, `time_kernel` for a kernel; the other functions are its steps.  All cycles are estimates with
hot caches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isa.lazy import lazy_exports

if TYPE_CHECKING:
    from sim.call.single import ArgumentError
    from sim.cycles.cores import REAL_CORES
    from sim.cycles.difference import InstructionDifference, differences
    from sim.cycles.estimates import CyclesEstimate, EstimateRow, MeasuredError, estimate, read_measured
    from sim.cycles.input import TimedCall, TimedLoop, kernel_call
    from sim.cycles.kernel import advise, hottest_loop, loop_in_file, sweep, time_kernel
    from sim.cycles.options import UsageError
    from sim.cycles.result import Conditions, LoopResult, TimedResult, time_on
    from sim.cycles.work import Work, work_of
    from sim.timing.analysis.advice import Advice, best_advice
    from sim.timing.analysis.bounds import Bound, Bounds, bounds_of_loop, bounds_of_stream
    from sim.timing.analysis.error_range import ErrorRange, error_range
    from sim.timing.analysis.reasons import ReasonGroup
    from sim.timing.analysis.report import CyclesReport
    from sim.timing.analysis.reporting import core_error
    from sim.timing.analysis.top_down import PipeUse, TopDown, pipe_uses, top_down
    from sim.timing.classes.all_classes import timing_class
    from sim.timing.loops.body import BareLoopError
    from sim.timing.loops.loop import Loop
    from sim.timing.loops.variants import interleaved, unrolled
    from sim.timing.loops.what_if import Change, cycles_of, sensitivity, what_if
    from sim.timing.model.core import Core
    from sim.timing.model.core_file import CoreError, core_names, load_core
    from sim.timing.model.schedule import Schedule
    from sim.timing.model.stream import Executed
    from sim.timing.native.scheduling import schedule

__all__ = [
    "REAL_CORES",
    "Advice",
    "ArgumentError",
    "BareLoopError",
    "Bound",
    "Bounds",
    "Change",
    "Conditions",
    "Core",
    "CoreError",
    "CyclesEstimate",
    "CyclesReport",
    "ErrorRange",
    "EstimateRow",
    "Executed",
    "InstructionDifference",
    "Loop",
    "LoopResult",
    "MeasuredError",
    "PipeUse",
    "ReasonGroup",
    "Schedule",
    "TimedCall",
    "TimedLoop",
    "TimedResult",
    "TopDown",
    "UsageError",
    "Work",
    "advise",
    "best_advice",
    "bounds_of_loop",
    "bounds_of_stream",
    "core_error",
    "core_names",
    "cycles_of",
    "differences",
    "error_range",
    "estimate",
    "hottest_loop",
    "interleaved",
    "kernel_call",
    "load_core",
    "loop_in_file",
    "pipe_uses",
    "read_measured",
    "schedule",
    "sensitivity",
    "sweep",
    "time_kernel",
    "time_on",
    "timing_class",
    "top_down",
    "unrolled",
    "what_if",
    "work_of",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "REAL_CORES": "sim.cycles.cores",
            "Advice": "sim.timing.analysis.advice",
            "ArgumentError": "sim.call.single",
            "BareLoopError": "sim.timing.loops.body",
            "Bound": "sim.timing.analysis.bounds",
            "Bounds": "sim.timing.analysis.bounds",
            "Change": "sim.timing.loops.what_if",
            "Conditions": "sim.cycles.result",
            "Core": "sim.timing.model.core",
            "CoreError": "sim.timing.model.core_file",
            "CyclesEstimate": "sim.cycles.estimates",
            "CyclesReport": "sim.timing.analysis.report",
            "InstructionDifference": "sim.cycles.difference",
            "ErrorRange": "sim.timing.analysis.error_range",
            "EstimateRow": "sim.cycles.estimates",
            "Executed": "sim.timing.model.stream",
            "Loop": "sim.timing.loops.loop",
            "LoopResult": "sim.cycles.result",
            "MeasuredError": "sim.cycles.estimates",
            "PipeUse": "sim.timing.analysis.top_down",
            "ReasonGroup": "sim.timing.analysis.reasons",
            "Schedule": "sim.timing.model.schedule",
            "TimedCall": "sim.cycles.input",
            "TimedLoop": "sim.cycles.input",
            "TimedResult": "sim.cycles.result",
            "TopDown": "sim.timing.analysis.top_down",
            "UsageError": "sim.cycles.options",
            "Work": "sim.cycles.work",
            "advise": "sim.cycles.kernel",
            "best_advice": "sim.timing.analysis.advice",
            "bounds_of_loop": "sim.timing.analysis.bounds",
            "bounds_of_stream": "sim.timing.analysis.bounds",
            "core_error": "sim.timing.analysis.reporting",
            "core_names": "sim.timing.model.core_file",
            "cycles_of": "sim.timing.loops.what_if",
            "differences": "sim.cycles.difference",
            "error_range": "sim.timing.analysis.error_range",
            "estimate": "sim.cycles.estimates",
            "hottest_loop": "sim.cycles.kernel",
            "interleaved": "sim.timing.loops.variants",
            "kernel_call": "sim.cycles.input",
            "load_core": "sim.timing.model.core_file",
            "loop_in_file": "sim.cycles.kernel",
            "pipe_uses": "sim.timing.analysis.top_down",
            "read_measured": "sim.cycles.estimates",
            "schedule": "sim.timing.native.scheduling",
            "sensitivity": "sim.timing.loops.what_if",
            "sweep": "sim.cycles.kernel",
            "time_kernel": "sim.cycles.kernel",
            "time_on": "sim.cycles.result",
            "timing_class": "sim.timing.classes.all_classes",
            "top_down": "sim.timing.analysis.top_down",
            "unrolled": "sim.timing.loops.variants",
            "what_if": "sim.timing.loops.what_if",
            "work_of": "sim.cycles.work",
        },
    )
