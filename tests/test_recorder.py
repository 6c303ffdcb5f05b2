"""A recording says what `Machine.step` says, whether it is made in native code or in Python."""

from __future__ import annotations

import pytest

from sim import Machine
from sim.call.caller import RETURN_ADDRESS, Call, Caller
from sim.call.guards.undefined_bytes import SeededBytes
from sim.call.native.recorder import SATURATED, MachineRecorder, Recording, registers_written
from sim.check.vectors import make_vectors
from sim.kernels.kernel import built_in_kernel
from sim.machine.registers import register_number
from sim.machine.trace import Step
from sim.toolchain.compilers import build
from support.lockstep_pairs import CODE, DATA, NO_COMPILER, NOP, NOWHERE, STR_X4_X1
from support.small_machines import machine_with

MOV_W0_TO_CODE, LDP_Q0_Q1_X1, LDR_X3_X1, SQADD, SQADD_AGAIN = 0xB9000025, 0xAD400420, 0xF9400023, 0x4EA00C00, 0x4EA00C21
MRS_X6_FPSR, SUBS_X0_X0_1, B_NE_BACK, LD4_V0 = 0xD53B4426, 0xF1000400, 0x54FFFFE1, 0x4C400020
FADD_H0_H1_H0, SMMLA = 0x1EE02820, 0x4E82A420
CODES = {
    "a loop with a store": ([STR_X4_X1, SUBS_X0_X0_1, B_NE_BACK - 0x20, NOP], {"x0": 400}),
    "loads of several registers": ([LDP_Q0_Q1_X1, LD4_V0, LDR_X3_X1], {}),
    "saturations, and QC read between them": ([LDP_Q0_Q1_X1, SQADD, MRS_X6_FPSR, SQADD_AGAIN, SQADD, MRS_X6_FPSR], {}),
    "what native code leaves": ([LDP_Q0_Q1_X1, SMMLA, FADD_H0_H1_H0, STR_X4_X1, NOP], {}),
}


def told(recording: Recording) -> list[tuple[object, ...]]:
    """By instruction: its address and text, the registers that it wrote, its accesses, whether it saturated."""
    found = list[tuple[object, ...]]()
    for number, pc in enumerate(recording.pcs.tolist()):
        instruction = recording.code[recording.numbers[number]]
        first, end = recording.first_values[number : number + 2]
        values = [int.from_bytes(row.tobytes(), "little") for row in recording.values[first:end]]
        written = dict(zip(registers_written(instruction), values, strict=True))
        own = recording.accesses[recording.accesses["instruction"] == number]
        accesses = [(int(a["address"]), a["bytes"].tobytes()[: a["size"]], int(a["writes"])) for a in own]
        status = int(recording.status[number])
        found.append((pc, instruction.text, written, sorted(accesses), status % 16, bool(status & SATURATED)))
    return found


def stepped(machine: Machine, until: int, most: int) -> list[tuple[object, ...]]:
    """The same by `Machine.step`, where nothing has saturated before."""
    found = list[tuple[object, ...]]()
    while machine.pc != until and len(found) < most:
        before, step = machine.fpsr, machine.step()
        accesses = [(at, data, 0) for at, data in step.reads_memory] + [(at, new, 1) for at, _, new in step.memory]
        saturated = machine.fpsr != before
        found.append((step.pc, step.instruction.text, _written(step), sorted(accesses), machine.nzcv, saturated))
    return found


def _written(step: Step) -> dict[tuple[str, int], int]:
    return {("v" if p.file == "v" else "x", register_number(p)): new for p, _, new in step.writes if p.file in _FILES}


_FILES = ("v", "x", "sp")


@pytest.mark.parametrize("patience", [0, NO_COMPILER], ids=["native", "Python"])
@pytest.mark.parametrize(("name", "source", "level"), [("quantize_down", 0, "O2"), ("requantize", 1, "O0")])
def test_a_recorded_call_is_what_steps_say(name: str, source: int, level: str, patience: int) -> None:
    kernel = built_in_kernel(name)
    image = build(kernel.sources[source], f"-{level}")
    inputs = make_vectors(kernel, 0, 1).inputs[-1]
    callers = [Caller(image, kernel, Machine()) for _ in range(2)]
    for caller in callers:
        caller.prepare(Call(kernel.arguments(inputs), 1), SeededBytes(1))
    recording = MachineRecorder(callers[0].machine, patience).record(RETURN_ADDRESS, 100_000)
    expected = stepped(callers[1].machine, RETURN_ADDRESS, 100_000)
    mine = told(recording)
    assert len(recording) > 50
    assert [row[:-1] for row in mine] == [row[:-1] for row in expected]
    first, seen = ([at for at, row in enumerate(rows) if row[-1]] for rows in (mine, expected))
    assert first[:1] == seen  # QC is sticky: `stepped` sees the first only


@pytest.mark.parametrize("most", [1, 2, 3, 5, 10_000])
@pytest.mark.parametrize(("code", "x"), CODES.values(), ids=CODES)
def test_native_and_python_recordings_are_the_same(code: list[int], x: dict[str, int], most: int) -> None:
    until = CODE + 4 * len(code)
    mine, other = (
        MachineRecorder(machine_with(code, **x), patience).record(until, most) for patience in (0, NO_COMPILER)
    )
    assert told(mine) == told(other)
    assert len(mine) == min(most, {4: 1201}.get(len(code), len(code)))


@pytest.mark.parametrize("patience", [0, NO_COMPILER], ids=["native", "Python"])
def test_each_saturation_counts_though_qc_is_sticky(patience: int) -> None:
    machine = machine_with(CODES["saturations, and QC read between them"][0])
    machine.memory.write(DATA, b"\xff\xff\xff\x7f" * 8)
    recording = MachineRecorder(machine, patience).record(CODE + 24, 100)
    assert [bool(status & SATURATED) for status in recording.status] == [False, True, False, True, True, False]
    assert (machine.x[6] >> 27 & 1, machine.fpsr >> 27 & 1) == (1, 1)


@pytest.mark.parametrize("patience", [0, NO_COMPILER], ids=["native", "Python"])
def test_a_fault_ends_it_with_the_state_before(patience: int) -> None:
    machine = machine_with([NOP, LDR_X3_X1, NOP], x1=NOWHERE)
    recording = MachineRecorder(machine, patience).record(CODE + 12, 100)
    assert (len(recording), machine.pc, machine.instructions_executed) == (1, CODE + 4, 1)


@pytest.mark.parametrize("patience", [0, NO_COMPILER], ids=["native", "Python"])
def test_it_ends_behind_a_store_that_changes_code(patience: int) -> None:
    machine = machine_with([MOV_W0_TO_CODE, NOP, NOP], x1=CODE + 8, x5=LDR_X3_X1)
    recorder = MachineRecorder(machine, patience)
    first, second = recorder.record(CODE + 12, 100), recorder.record(CODE + 12, 100)
    assert [one.text for one in first.code] == ["str w5, [x1]"]
    assert (second.start, [one.form.mnemonic for one in second.code]) == (1, ["nop", "ldr"])
