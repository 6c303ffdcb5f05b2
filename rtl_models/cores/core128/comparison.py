"""What `core128` must commit, by Machine and by the pipeline of `sim.timing`, and whether it does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from isa.evaluate.exact import QC
from isa.lane import Place
from rtl_models.cores.core128.design import (
    FLAGS_REGISTER,
    NO_REGISTER,
    PC_REGISTER,
    Core128Program,
    Core128Run,
)
from sim.emulator import Emulator
from sim.machine.machine import Machine
from sim.machine.trace import Step
from sim.timing.model.core import Core
from sim.timing.model.in_order import InOrder
from sim.timing.model.stream import executed

_MASK64 = (1 << 64) - 1


@dataclass(frozen=True)
class ExpectedRun:
    """The steps of a program on Machine, QC after each, the data at its end, and the error that core128 must have."""

    steps: Sequence[Step]
    saturated: Sequence[bool]
    data: Mapping[int, bytes]
    error: str


def register_number(place: Place) -> int | None:
    """The number that a register has on the commit port; None for what is none there."""
    match place.file:
        case "x":
            return place.index if isinstance(place.index, int) else None
        case "sp":
            return 31
        case "v":
            return 32 + place.index if isinstance(place.index, int) else None
        case _:
            return None


def prepare(machine: Machine | Emulator, program: Core128Program) -> None:
    """Map the memory of a program, of whole pages, and set its registers."""
    contents = [(program.code_base, program.code, "rx"), *((base, data, "rw") for base, data in program.data.items())]
    for base, content, permissions in contents:
        machine.memory.map(base, -(-len(content) // 4096) * 4096, permissions)
        machine.memory.write(base, content)
    for number, value in program.registers.items():
        if number < 32:
            machine.write(Place("sp") if number == 31 else Place("x", number), value & _MASK64)
        elif number < FLAGS_REGISTER:
            machine.write(Place("v", number - 32), value)
        else:
            machine.write(Place({FLAGS_REGISTER: "nzcv", PC_REGISTER: "pc"}[number]), value)


def expected_cycles(steps: Sequence[Step], core: Core) -> tuple[Sequence[int], Sequence[int]]:
    """The cycles in which instructions issue and from which they are ready."""
    pipeline = InOrder(core)
    pipeline.feed(map(executed, steps))
    schedule = pipeline.schedule()
    return schedule.issued, schedule.ready


def differences(program: Core128Program, due: ExpectedRun, run: Core128Run, core: Core) -> list[str]:
    """Each way in which a run is not what it must be, in words; the first commits that differ first."""
    found = []
    if len(run.commits) != len(due.steps):
        found.append(f"{len(run.commits)} instructions are committed, {len(due.steps)} are due")
    if run.error != due.error or run.done == bool(due.error):
        found.append(f"it stops with {run.error!r}, {due.error!r} is due")
    for base, content in due.data.items():
        given = run.data[base]
        if given != content:
            at = next(k for k, (one, other) in enumerate(zip(given, content, strict=True)) if one != other)
            found.append(f"the byte at {base + at:#x} is {given[at]:#x}, {content[at]:#x} is due")
    issued, ready = expected_cycles(due.steps, core)
    state = dict(program.registers)
    qc = False
    for number, (step, commit) in enumerate(zip(due.steps, run.commits.tolist(), strict=False)):
        pc, _, issue, done, first_register, second_register, base_register, flags, *values = commit
        where = f"instruction {number} at {step.pc:#x}, {step.instruction.text},"
        if pc != step.pc:
            found.append(f"{where} is committed as {pc:#x}")
            break
        registers = {}
        for register, value in (
            (first_register, values[0] | values[1] << 64), (second_register, values[2] | values[3] << 64),
            (base_register, values[4]),
        ):  # fmt: skip
            if register != NO_REGISTER:
                registers[register] = value & _MASK64 if register < 32 else value
        if flags & 16:
            registers[FLAGS_REGISTER] = flags & 15
        wanted = {}
        for place, _, new in step.writes:
            target = FLAGS_REGISTER if place.file == "nzcv" else register_number(place)
            if target is not None:
                wanted[target] = new
        # a step tells only what it writes; what the core writes besides must be what is there already
        for register, value in registers.items():
            if wanted.get(register, state.get(register, 0)) != value:
                found.append(f"{where} gives register {register} {value:#x}, not {wanted.get(register, 0):#x}")
        missing = [r for r in wanted if r not in registers and wanted[r] != state.get(r, 0)]
        found += [f"{where} does not give register {register}" for register in missing]
        state.update(wanted)
        qc |= bool(flags & 32)
        if qc != due.saturated[number]:
            found.append(f"{where} leaves QC {int(qc)}")
            break
        if (issue, done) != (issued[number], ready[number]):
            found.append(f"{where} issues at {issue} and is ready at {done}, not {issued[number]} and {ready[number]}")
        if len(found) > 5:
            break
    return found


def emulator_differences(program: Core128Program, due: ExpectedRun) -> list[str]:
    """Each register and byte that Unicorn has otherwise at the end of the same instructions."""
    emulator = Emulator()
    prepare(emulator, program)
    machine_state: dict[Place, int] = {}
    for step in due.steps:
        machine_state.update({place: new for place, _, new in step.writes})
    emulator.run(None, len(due.steps))
    found = []
    for place, value in machine_state.items():
        if place.file in ("x", "v", "sp", "nzcv") and emulator.read(place) != value:
            found.append(f"{place} is {emulator.read(place):#x} in Unicorn, {value:#x} in Machine")
    if due.saturated and bool(emulator.read(Place("fpsr")) & QC) != due.saturated[-1]:
        found.append("QC differs in Unicorn")
    if any(emulator.memory.read(base, len(content)) != content for base, content in due.data.items()):
        found.append("memory differs in Unicorn")
    return found
