"""Checking implementations of a kernel, lane by lane, against its golden reference.

`check_kernel` does all of it; `prove_kernel` decides it for all inputs, `capture_kernel` writes calls down, the other
functions are steps of a check.
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
    from sim.check.kernel import call_kernel, capture_kernel, check_kernel, prove_kernel
    from sim.check.report import Mismatch, Outcome, Report
    from sim.check.separation import Pair, Separation, separation_of
    from sim.check.vectors import Vectors, make_vectors
    from sim.machine.errors import ExecutionError
    from sim.symbolic.kernel_proof import BuildProof, KernelProof, Unproved
    from sim.symbolic.shapes import NoShape
    from sim.toolchain.image import Image, ImageError
    from sim.toolchain.levels import LEVELS
    from sim.toolchain.objects import open_image
    from sim.toolchain.tools import ToolchainError, ToolchainUnavailable

__all__ = [
    "LEVELS",
    "AssembledRun",
    "BackendFault",
    "BackendMissing",
    "BuildProof",
    "CallError",
    "CallResult",
    "ExecutionError",
    "ExternalBackend",
    "GuardFinding",
    "Image",
    "ImageError",
    "Job",
    "KernelProof",
    "Mismatch",
    "NoShape",
    "NotMadeFor",
    "Outcome",
    "Outside",
    "Pair",
    "Report",
    "Separation",
    "ToolchainError",
    "ToolchainUnavailable",
    "Unproved",
    "Vectors",
    "call_kernel",
    "capture_kernel",
    "check_job",
    "check_kernel",
    "jobs_of",
    "make_vectors",
    "open_image",
    "prove_kernel",
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
            "BuildProof": "sim.symbolic.kernel_proof",
            "CallError": "sim.call.guards.findings",
            "CallResult": "sim.call.call",
            "ExecutionError": "sim.machine.errors",
            "ExternalBackend": "sim.check.external",
            "GuardFinding": "sim.call.guards.findings",
            "Image": "sim.toolchain.image",
            "ImageError": "sim.toolchain.image",
            "Job": "sim.check.check",
            "KernelProof": "sim.symbolic.kernel_proof",
            "Mismatch": "sim.check.report",
            "NoShape": "sim.symbolic.shapes",
            "NotMadeFor": "sim.check.external",
            "Outcome": "sim.check.report",
            "Outside": "sim.check.external",
            "Pair": "sim.check.separation",
            "Report": "sim.check.report",
            "Separation": "sim.check.separation",
            "ToolchainError": "sim.toolchain.tools",
            "ToolchainUnavailable": "sim.toolchain.tools",
            "Unproved": "sim.symbolic.kernel_proof",
            "Vectors": "sim.check.vectors",
            "call_kernel": "sim.check.kernel",
            "capture_kernel": "sim.check.kernel",
            "check_job": "sim.check.check",
            "check_kernel": "sim.check.kernel",
            "jobs_of": "sim.check.check",
            "make_vectors": "sim.check.vectors",
            "open_image": "sim.toolchain.objects",
            "prove_kernel": "sim.check.kernel",
            "run_assembled": "sim.call.assembled",
            "separation_of": "sim.check.separation",
        },
    )
