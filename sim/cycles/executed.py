"""What a call executes, as a stream for timing: of compiled code, of a program of intrinsics, of a captured call.

Streams end with the instruction that returns.  Functions that the call makes use of, the runtime's among them, are
executed in it like its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from isa.intrinsics import Program
from sim.call.call import MAX_INSTRUCTIONS, CallError, CompiledKernel, ProgramKernel
from sim.call.caller import RETURN_ADDRESS, STACK_SIZE, STACK_TOP, Call, Caller
from sim.call.captured import CapturedCall
from sim.call.guards.bounds import AccessBounds
from sim.call.guards.findings import GuardError, GuardFinding
from sim.call.guards.undefined_bytes import SeededBytes
from sim.call.guards.watch import Watch
from sim.call.native.code import PATIENCE
from sim.call.native.recorder import MachineRecorder, Recording
from sim.cycles.program_stream import program_stream
from sim.kernels.kernel import Inputs, Kernel
from sim.machine.errors import MemoryFault
from sim.machine.machine import Machine
from sim.timing.model.stream import Executed, executed
from sim.timing.native.array_stream import ArrayAccesses, ArrayStream, array_stream, joined, starts
from sim.toolchain.image import Image

_AT_ONCE: Final = 1 << 16
"""Instructions that are recorded with their values, before these are left out."""


def recorded_stream(machine: Machine, until: int, limit: int) -> ArrayStream:
    """Execute until the program counter is `until` or `limit` instructions are done, in native code where that is worth
    it.

    Where it was the limit, `machine.pc` is not `until`.  Raises as `Machine.step`.
    """
    recorder, parts, left = MachineRecorder(machine, PATIENCE), list[ArrayStream](), limit
    while machine.pc != until and left > 0:
        recording = recorder.record(until, min(left, _AT_ONCE))
        parts.append(_stream_of(recording, machine.pc))
        left -= len(recording)
        if len(recording) < _AT_ONCE and machine.pc != until and left > 0:  # a fault, or code has changed
            parts.append(array_stream([executed(machine.step())]))
            left -= 1
    return joined(parts)


def _stream_of(recording: Recording, end: int) -> ArrayStream:
    """A recording without its values; `end` is where it went on."""
    count, accesses = len(recording), recording.accesses
    next_pcs = np.append(recording.pcs, np.uint64(end))[1:]
    of_kind = []
    for writes in (0, 1):
        own = accesses[accesses["writes"] == writes]
        first = starts(np.bincount(own["instruction"].astype(np.int64), minlength=count))
        of_kind.append(ArrayAccesses(first, own["address"].copy(), own["size"].copy()))
    pcs, numbers = np.unique(recording.pcs, return_inverse=True)
    sites = [(pc, recording.instructions[pc]) for pc in pcs.tolist()]
    taken = next_pcs != recording.pcs + np.uint64(4)
    return ArrayStream(sites, numbers.astype(np.int32), next_pcs, taken, *of_kind)


def execute_call(
    image: Image, kernel: Kernel, arguments: Inputs, seed: int, limit: int = MAX_INSTRUCTIONS
) -> Sequence[Executed]:
    """One call of the kernel's compiled function on the machine, with the arguments of its signature.

    Its undefined bytes are seeded.  Raises CallError, MemoryFault, Trap, UnsupportedInstruction; KernelError for the
    arguments; GuardError for an access outside of what the call was given, and for the limit.  The stack is taken
    whole here: what lies below sp is no finding.
    """
    if image.unfilled:  # only a guarded call sees that such a variable is read
        CompiledKernel(image, kernel, max_instructions=limit).call(arguments, seed)
    machine = Machine()
    caller = Caller(image, kernel, machine)
    placed = caller.prepare(Call(arguments, seed), SeededBytes(seed))
    watch = Watch(machine, image, AccessBounds(placed.values(), image.segments, caller.stack, image.absent), {})
    try:
        stream = recorded_stream(machine, RETURN_ADDRESS, limit)
    except MemoryFault as fault:
        if STACK_TOP - 64 * STACK_SIZE < fault.address < STACK_TOP - STACK_SIZE:
            raise CallError(f"the stack of {STACK_SIZE} bytes is too small: {fault}") from None
        finding = watch.of_fault(fault)
        raise (fault if finding is None else GuardError(finding)) from None
    if machine.pc != RETURN_ADDRESS:
        raise GuardError(watch.of_limit(limit))
    finding = _outside(stream, watch)
    if finding is not None:
        raise GuardError(finding)
    return stream


def _outside(stream: ArrayStream, watch: Watch) -> GuardFinding | None:
    """What the first instruction does wrong that accesses what the call was not given.

    Accesses within the ranges that need no look are left out by the array; there are few others.
    """
    allowed = watch.bounds.allowed
    lowest = STACK_TOP - STACK_SIZE
    ranges = [*allowed.ranges, *([] if allowed.stack_top is None else [(lowest, allowed.stack_top, True, True)])]
    suspects = list[tuple[int, int, int, bool]]()
    for accesses, writes in ((stream.loads, False), (stream.stores, True)):
        begin, end = accesses.addresses, accesses.addresses + accesses.sizes
        unseen = np.ones(len(begin), bool)
        for start, stop, *permissions in ranges:
            if permissions[writes]:
                unseen &= (begin < start) | (end > stop)
        (places,) = unseen.nonzero()
        numbers = np.searchsorted(accesses.first, places, "right") - 1
        suspects += [
            (n, int(begin[at]), int(accesses.sizes[at]), writes) for n, at in zip(numbers, places, strict=True)
        ]
    for number, address, size, writes in sorted(suspects):
        pc, instruction = stream.sites[stream.site[number]]
        found = None if pc is None else watch.of_access(address, size, writes, lowest, instruction.text, pc)
        if found is not None:
            return found
    return None


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


def execute_captured(call: CapturedCall, limit: int = MAX_INSTRUCTIONS) -> Sequence[Executed]:
    """One captured call, from its entry until it returns.

    Raises CaptureError where its memory cannot be set up, CallError where it does not return within the limit, and
    MemoryFault, Trap, UnsupportedInstruction.
    """
    machine = Machine()
    call.set_up(machine.memory)
    machine.registers.copy(call.registers_before())
    machine.pc = call.entry
    stream = recorded_stream(machine, call.ret, limit)
    if machine.pc != call.ret:
        raise CallError(f"it did not return within {limit:,} instructions")
    return stream
