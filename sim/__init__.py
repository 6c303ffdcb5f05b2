"""Running instructions, comparing implementations of a kernel, timing.

Names are imported when they are first asked for: `import sim` costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isa.lazy import lazy_exports

if TYPE_CHECKING:
    from isa.errors import LanewiseError
    from isa.intrinsics import Program
    from isa.processors import UnknownFeature
    from sim.doctor import __version__
    from sim.emulator import Emulator
    from sim.explanation.answer import explain
    from sim.kernels import Kernel
    from sim.machine.batch import Batch
    from sim.machine.batch_program import ProgramBatch
    from sim.machine.errors import MemoryFault, Trap, Unpredictable, UnsupportedInstruction
    from sim.machine.machine import Machine
    from sim.machine.memory import Memory
    from sim.machine.trace import Step

__all__ = [
    "Batch",
    "Emulator",
    "Kernel",
    "LanewiseError",
    "Machine",
    "Memory",
    "MemoryFault",
    "Program",
    "ProgramBatch",
    "Step",
    "Trap",
    "UnknownFeature",
    "Unpredictable",
    "UnsupportedInstruction",
    "__version__",
    "explain",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "Batch": "sim.machine.batch",
            "Emulator": "sim.emulator",
            "Kernel": "sim.kernels",
            "LanewiseError": "isa.errors",
            "Machine": "sim.machine.machine",
            "Memory": "sim.machine.memory",
            "MemoryFault": "sim.machine.errors",
            "Program": "isa.intrinsics",
            "ProgramBatch": "sim.machine.batch_program",
            "Step": "sim.machine.trace",
            "Trap": "sim.machine.errors",
            "UnknownFeature": "isa.processors",
            "Unpredictable": "sim.machine.errors",
            "UnsupportedInstruction": "sim.machine.errors",
            "__version__": "sim.doctor",
            "explain": "sim.explanation.answer",
        },
    )
