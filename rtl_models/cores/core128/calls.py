"""Calls of compiled functions on `core128`: the state in which one begins, what Machine does then, the verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from isa.evaluate.exact import QC
from rtl_models.cores.core128.comparison import ExpectedRun, differences
from rtl_models.cores.core128.configuration import SLOWEST
from rtl_models.cores.core128.design import FLAGS_REGISTER, PC_REGISTER, Core128Program, simulate
from rtl_models.cores.core128.rows import row_of
from sim.call.caller import RETURN_ADDRESS, Call, Caller
from sim.call.guards.undefined_bytes import SeededBytes
from sim.call.limits import MAX_INSTRUCTIONS
from sim.kernels.kernel import Inputs, Kernel, Outputs
from sim.machine.machine import Machine
from sim.machine.trace import Step
from sim.timing.model.core import Core
from sim.toolchain.image import Image

_SPARE: int = 64
"""Cycles that a call may take longer than its instructions one after the other would."""


@dataclass(frozen=True)
class CoreCall:
    """A call as a program of core128, and what that must do.

    `refused` is the text of the instruction that core128 does not have, before which it must stop; "" where it has all.
    `outputs` takes the output arrays out of the data that the program leaves.
    """

    program: Core128Program
    due: ExpectedRun
    refused: str
    outputs: Callable[[Mapping[int, bytes]], Outputs]


@dataclass(frozen=True)
class CallVerdict:
    """What core128 did in a call: instructions, the cycle in which the last is done, all that differs."""

    instructions: int
    cycles: int
    differences: Sequence[str]
    refused: str

    def as_json(self) -> dict[str, object]:
        """Its fields, and whether it agrees."""
        return {**asdict(self), "agrees": self.agrees}

    @property
    def agrees(self) -> bool:
        """Whether every commit and every byte is as it must be; also in a call that ends at what the core has not."""
        return not self.differences


def core_call(image: Image, kernel: Kernel, arguments: Inputs, seed: int, limit: int = MAX_INSTRUCTIONS) -> CoreCall:
    """One call of a kernel's compiled function with the arguments of its signature; undefined bytes are seeded.

    It is followed on Machine until it returns, core128 lacks an instruction, or `limit` are done.
    Raises MemoryFault, Trap, UnsupportedInstruction; KernelError for the arguments.
    """
    machine = Machine(engine="interpreted")
    caller = Caller(image, kernel, machine)
    placed = caller.prepare(Call(arguments, seed), SeededBytes(seed))
    regions = machine.memory.regions
    code = [region for region in regions if "x" in region.permissions]
    base, end = code[0].start, code[-1].end
    places = {region.start: region.end - region.start for region in regions if region not in code}
    registers = {number: machine.x[number] for number in range(31)} | {31: machine.sp}
    registers |= {32 + number: machine.v[number] for number in range(32)}
    registers |= {FLAGS_REGISTER: machine.nzcv, PC_REGISTER: machine.pc}
    words, data = (
        machine.memory.read(base, end - base),
        {at: machine.memory.read(at, size) for at, size in places.items()},
    )
    steps, saturated, refused = list[Step](), list[bool](), ""
    while machine.pc != RETURN_ADDRESS and len(steps) < limit:
        at = machine.pc - base
        if row_of(int.from_bytes(words[at : at + 4], "little")) is None:
            refused = machine.instruction_at(machine.pc).text
            break
        steps.append(machine.step())
        saturated.append(bool(machine.fpsr & QC))
    program = Core128Program(
        code_base=base, code=words, data=data, registers=registers,
        stop=machine.pc if not refused else RETURN_ADDRESS, cycles=SLOWEST * len(steps) + _SPARE,
    )  # fmt: skip
    after = {at: machine.memory.read(at, size) for at, size in places.items()}

    def outputs(left: Mapping[int, bytes]) -> Outputs:
        for at, content in left.items():
            machine.memory.write(at, content)
        return caller.buffers.outputs(machine.memory, placed)

    return CoreCall(program, ExpectedRun(steps, saturated, after, "word" if refused else ""), refused, outputs)


def verdict_of(call: CoreCall, simulator: Path, core: Core) -> CallVerdict:
    """The call on a simulator of core128 with the parameters of the core.  Raises SimulationUnavailable."""
    (run,) = simulate(simulator, [call.program])
    cycles = int(run.commits["ready"].max()) if len(run.commits) else 0
    return CallVerdict(len(run.commits), cycles, differences(call.program, call.due, run, core), call.refused)
