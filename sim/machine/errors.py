"""What can stop a running program."""

from __future__ import annotations

from dataclasses import dataclass

from isa.errors import MISMATCH, LanewiseError


@dataclass
class ExecutionError(LanewiseError):
    """An instruction that could not be executed.

    `pc` is its address and `disassembly` its text (None and "" where memory was accessed from outside of a run);
    `address` and `size` are the bytes concerned: the access, or the instruction itself.
    """

    exit_code = MISMATCH

    address: int
    size: int
    reason: str
    pc: int | None = None
    disassembly: str = ""

    def __str__(self) -> str:
        if self.pc is None:
            return self.reason
        return f"at {self.pc:#x}, {self.disassembly or 'instruction fetch'}: {self.reason}"


@dataclass
class MemoryFault(ExecutionError):
    """An access to memory that is not mapped or does not permit it; `writes` where it would have changed memory."""

    writes: bool = False


class AlignmentFault(MemoryFault):
    """An access whose address must be a multiple of its size and is not (see `sim.machine.alignment`)."""


class Trap(ExecutionError):
    """An instruction that asks for an operating system or a debugger: svc, brk, hlt, hvc, smc, udf.

    It ends the run; `pc` stays at it.
    """


class UnsupportedInstruction(ExecutionError):
    """An instruction that the table does not have, or that needs a feature the machine lacks."""


class UnmodelledMode(LanewiseError, ValueError):
    """A value for FPCR with a mode of floating point that is not modelled."""


class Unpredictable(ExecutionError):
    """An instruction of which Arm leaves open what it does, such as `str x9, [x9], #8`: see `isa.decode`.

    The program is at fault: processors differ in what they make of it.
    """
