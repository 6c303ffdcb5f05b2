"""Recorded programs on many sets of inputs: each as if it had been recorded on its own."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from isa.evaluate.exact import QC
from isa.intrinsics import ElementPointer, int32x4_t, vqaddq_s32
from sim import Memory, MemoryFault, Program, ProgramBatch
from sim.kernels.quantize_down import program as quantize_down

MEMBERS, LENGTH, PAGE = 16, 37, 4096
ACCUMULATORS, BIAS, OUTPUT = 0x10000, 0x20000, 0x30000
REGIONS = ((ACCUMULATORS, "r"), (BIAS, "r"), (OUTPUT, "rw"))


def recorded(accumulators: bytes, bias: bytes) -> tuple[Program, Memory]:
    """One row of quantize_down, run on this input; and its memory afterwards."""
    memory = Memory()
    for address, permissions in REGIONS:
        memory.map(address, PAGE, permissions)
    memory.write(ACCUMULATORS, accumulators)
    memory.write(BIAS, bias)
    pointers = ElementPointer(ACCUMULATORS, "int32"), ElementPointer(BIAS, "int32"), ElementPointer(OUTPUT, "uint8")
    return quantize_down.run(memory, *pointers, [LENGTH], 1 << 30, 3, 10, 0, 255), memory


def inputs() -> tuple[list[bytes], bytes]:
    """Accumulators for each member, of which every other one has some that saturate, and a bias for all."""
    rng = Random(1)
    rows = [
        b"".join(rng.randrange(-3000, 3000).to_bytes(4, "little", signed=True) for _ in range(LENGTH))
        for _ in range(MEMBERS)
    ]
    extremes = (2**31 - 1).to_bytes(4, "little") * 5
    return [row if n % 2 else extremes + row[20:] for n, row in enumerate(rows)], bytes(4 * LENGTH)


def replayed(rows: list[bytes], bias: bytes) -> ProgramBatch:
    batch = ProgramBatch(recorded(bytes(4 * LENGTH), bias)[0], MEMBERS)
    for address, permissions in REGIONS:
        batch.memory.map(address, PAGE, permissions)
    batch.memory.write(ACCUMULATORS, np.array([np.frombuffer(row, np.int32) for row in rows]))
    batch.memory.write(BIAS, bias)
    batch.run()
    return batch


def test_every_member_has_the_output_that_the_program_gives_alone() -> None:
    rows, bias = inputs()
    alone = [recorded(row, bias)[1].read(OUTPUT, LENGTH) for row in rows]
    assert [row.tobytes() for row in replayed(rows, bias).memory.read(OUTPUT, LENGTH)] == alone


def test_every_member_has_the_qc_that_the_program_gives_alone() -> None:
    rows, bias = inputs()
    alone = [QC if recorded(row, bias)[0].saturated else 0 for row in rows]
    assert replayed(rows, bias).fpsr.tolist() == alone


def test_every_member_has_the_registers_that_the_program_leaves_alone() -> None:
    rows, bias = inputs()
    batch = replayed(rows, bias)
    for member, row in enumerate(rows):
        registers = recorded(row, bias)[0].registers
        assert b"".join(values[member].tobytes() for values in batch.registers.vectors) == bytes(registers.vectors)


def added() -> Program:
    with Program() as program:
        vqaddq_s32(int32x4_t(1, 2, 3, 4), int32x4_t(10, 20, 30, 40))
    return program


def test_inputs_are_those_of_the_recording_at_first() -> None:
    batch = ProgramBatch(added(), 2)
    batch.run()
    assert batch.v[2].view("<i4").tolist() == [[11, 22, 33, 44]] * 2


def test_a_register_that_nothing_writes_takes_an_input_for_each_member() -> None:
    batch = ProgramBatch(added(), 2)
    batch.v[0] = np.array([[0, 0, 0, 0], [2**31 - 1, 0, 0, 0]], np.int32)
    batch.run()
    assert batch.v[2].view("<i4").tolist() == [[10, 20, 30, 40], [2**31 - 1, 20, 30, 40]]
    assert batch.fpsr.tolist() == [0, QC]


def test_a_member_that_faults_stops_and_the_others_go_on() -> None:
    rows, bias = inputs()
    batch = ProgramBatch(recorded(rows[0], bias)[0], 2)
    for address, permissions in REGIONS:
        batch.memory.map(address, PAGE, permissions)
    first = next(n for n, row in enumerate(batch.registers.general) if int(row[0, 0]) == ACCUMULATORS)
    batch.x[first] = np.array([ACCUMULATORS, 0x90000], np.uint64)
    batch.run()
    outputs = batch.memory.read(OUTPUT, LENGTH)
    assert {member: type(fault) for member, fault in batch.faults.items()} == {1: MemoryFault}
    assert (set(outputs[0].tolist()), set(outputs[1].tolist())) == ({10}, {0})


def test_a_virtual_register_that_the_program_does_not_have_is_refused() -> None:
    with pytest.raises(IndexError, match="there is no v3: v0 to v2"):
        ProgramBatch(added(), 2).v[3]
