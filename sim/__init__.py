"""Running instructions, comparing implementations of a kernel, timing."""

from isa.intrinsics import Program
from sim.check.explain.answer import explain
from sim.emulator import Emulator
from sim.kernels import Kernel
from sim.machine.batch import Batch
from sim.machine.batch_program import ProgramBatch
from sim.machine.errors import MemoryFault, Trap, UnsupportedInstruction
from sim.machine.machine import Machine
from sim.machine.memory import Memory
from sim.machine.trace import Step

__all__ = [
    "Batch",
    "Emulator",
    "Kernel",
    "Machine",
    "Memory",
    "MemoryFault",
    "Program",
    "ProgramBatch",
    "Step",
    "Trap",
    "UnsupportedInstruction",
    "explain",
]
