"""Checking implementations of a kernel, lane by lane, against its golden reference.

`check_kernel` does all of it; the other functions are its steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isa.lazy import lazy_exports

if TYPE_CHECKING:
    from sim.call.assembled import AssembledRun, run_assembled
    from sim.call.call import CallResult
    from sim.call.guards.findings import CallError, GuardFinding
    from sim.check.check import Job, check_job, jobs_of
    from sim.check.external import BackendFault, BackendMissing, ExternalBackend, NotMadeFor, Outside
    from sim.check.kernel import call_kernel, check_kernel
    from sim.check.report import Mismatch, Outcome, Report
    from sim.check.separation import Pair, Separation, separation_of
    from sim.check.vectors import Vectors, make_vectors
    from sim.machine.errors import ExecutionError
    from sim.toolchain.image import Image, ImageError
    from sim.toolchain.levels import LEVELS
    from sim.toolchain.objects import open_image
    from sim.toolchain.tools import ToolchainError, ToolchainUnavailable

__all__ = [
    "LEVELS",
    "AssembledRun",
    "BackendFault",
    "BackendMissing",
    "CallError",
    "CallResult",
    "ExecutionError",
    "ExternalBackend",
    "GuardFinding",
    "Image",
    "ImageError",
    "Job",
    "Mismatch",
    "NotMadeFor",
    "Outcome",
    "Outside",
    "Pair",
    "Report",
    "Separation",
    "ToolchainError",
    "ToolchainUnavailable",
    "Vectors",
    "call_kernel",
    "check_job",
    "check_kernel",
    "jobs_of",
    "make_vectors",
    "open_image",
    "run_assembled",
    "separation_of",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "LEVELS": "sim.toolchain.levels",
            "AssembledRun": "sim.call.assembled",
            "BackendFault": "sim.check.external",
            "BackendMissing": "sim.check.external",
            "CallError": "sim.call.guards.findings",
            "CallResult": "sim.call.call",
            "ExecutionError": "sim.machine.errors",
            "ExternalBackend": "sim.check.external",
            "GuardFinding": "sim.call.guards.findings",
            "Image": "sim.toolchain.image",
            "ImageError": "sim.toolchain.image",
            "Job": "sim.check.check",
            "Mismatch": "sim.check.report",
            "NotMadeFor": "sim.check.external",
            "Outcome": "sim.check.report",
            "Outside": "sim.check.external",
            "Pair": "sim.check.separation",
            "Report": "sim.check.report",
            "Separation": "sim.check.separation",
            "ToolchainError": "sim.toolchain.tools",
            "ToolchainUnavailable": "sim.toolchain.tools",
            "Vectors": "sim.check.vectors",
            "call_kernel": "sim.check.kernel",
            "check_job": "sim.check.check",
            "check_kernel": "sim.check.kernel",
            "jobs_of": "sim.check.check",
            "make_vectors": "sim.check.vectors",
            "open_image": "sim.toolchain.objects",
            "run_assembled": "sim.call.assembled",
            "separation_of": "sim.check.separation",
        },
    )
