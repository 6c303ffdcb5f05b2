"""What a call executes, as a stream for timing: of compiled code, of a program of intrinsics, of a captured call.

Streams end with the instruction that returns.  Functions that the call makes use of, the runtime's among them, are
executed in it like its own.
"""

from __future__ import annotations

from isa.intrinsics import Program
from isa.lane import Place
from sim.call.call import MAX_INSTRUCTIONS, CallError, CompiledKernel, ProgramKernel
from sim.call.caller import RETURN_ADDRESS, STACK_SIZE, STACK_TOP, Call, Caller
from sim.call.captured import CapturedCall, CaptureError
from sim.call.guards.bounds import AccessBounds
from sim.call.guards.findings import GuardError
from sim.call.guards.undefined_bytes import SeededBytes
from sim.call.guards.watch import Watch
from sim.cycles.program_stream import program_stream
from sim.kernels.kernel import Inputs, Kernel
from sim.machine.errors import MemoryFault
from sim.machine.machine import Machine
from sim.timing.model.stream import Executed, run_stream
from sim.toolchain.image import Image


def execute_call(
    image: Image, kernel: Kernel, arguments: Inputs, seed: int, limit: int = MAX_INSTRUCTIONS
) -> list[Executed]:
    """One call of the kernel's compiled function on the machine, with the arguments of its signature.

    Its undefined bytes are seeded.  Raises CallError, MemoryFault, Trap, UnsupportedInstruction; KernelError for the
    arguments.  Of the guards only the mappings and the limit are there.
    """
    if image.unfilled:  # only a guarded call sees that such a variable is read
        CompiledKernel(image, kernel, max_instructions=limit).call(arguments, seed)
    machine = Machine()
    caller = Caller(image, kernel, machine)
    placed = caller.prepare(Call(arguments, seed), SeededBytes(seed))
    watch = Watch(machine, image, AccessBounds(placed.values(), image.segments, caller.stack, image.absent), {})
    try:
        stream = run_stream(machine, RETURN_ADDRESS, limit)
    except MemoryFault as fault:
        if STACK_TOP - 64 * STACK_SIZE < fault.address < STACK_TOP - STACK_SIZE:
            raise CallError(f"the stack of {STACK_SIZE} bytes is too small: {fault}") from None
        finding = watch.of_fault(fault)
        raise (fault if finding is None else GuardError(finding)) from None
    if machine.pc != RETURN_ADDRESS:
        raise GuardError(watch.of_limit(limit))
    return stream


class _RecordedKernel(ProgramKernel):
    """The kernel's program, of which the record is wanted and not what it computes."""

    def stream(self, arguments: Inputs, seed: int) -> list[Executed]:
        program = Program(self._memory)
        self._run(program, arguments, seed)
        return program_stream(program)


def executed_program(kernel: Kernel, arguments: Inputs, seed: int) -> list[Executed]:
    """One run of the kernel's program of intrinsics, allocated to real registers (see `program_stream`).

    Raises as `ProgramKernel` and its `call`, and ValueError as `Program.allocated`.
    """
    return _RecordedKernel(kernel).stream(arguments, seed)


def execute_captured(call: CapturedCall, limit: int = MAX_INSTRUCTIONS) -> list[Executed]:
    """One captured call, from its entry until it returns.

    Raises CaptureError where its memory cannot be set up, CallError where it does not return within the limit, and
    MemoryFault, Trap, UnsupportedInstruction.
    """
    machine = Machine()
    try:
        for address, size, permissions in call.maps:
            machine.memory.map(address, size, permissions)
        for address, data in call.memory:
            machine.memory.write(address, data)
    except (ValueError, MemoryFault) as error:
        raise CaptureError(f"its memory cannot be set up: {error}") from None
    for name, value in {"x30": call.ret, **call.registers}.items():
        machine.write(Place("sp") if name == "sp" else Place(name[0], int(name[1:])), value)
    machine.tpidr = call.tpidr
    machine.nzcv, machine.fpsr, machine.fpcr, machine.pc = call.nzcv or 0, call.fpsr, call.fpcr, call.entry
    stream = run_stream(machine, call.ret, limit)
    if machine.pc != call.ret:
        raise CallError(f"it did not return within {limit:,} instructions")
    return stream
