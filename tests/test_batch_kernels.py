"""Every build of every built-in kernel on a batch, against a machine for each member."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sim import Batch, Machine
from sim.call.call import RETURN_ADDRESS, STACK_SIZE, STACK_TOP
from sim.kernels.quantize_down import KERNEL
from sim.toolchain.compilers import build
from sim.toolchain.levels import LEVELS
from sim.toolchain.starting import map_image

MEMBERS, LONGEST = 9, 40
ACCUMULATORS, BIAS, OUTPUT = 0x1000_0000, 0x2000_0000, 0x3000_0000
Column = list[int]


def calls() -> list[Column]:
    """x0 to x7 of each member: lengths from 0 on, multipliers and shifts of their own, a bias or none."""
    rng = np.random.default_rng(5)
    rows = []
    for member in range(MEMBERS):
        bias = BIAS if member % 2 else 0
        multiplier, offset, lower = (int(rng.integers(low, high)) for low, high in ((1, 2**31), (-300, 300), (0, 99)))
        length = LONGEST * member // (MEMBERS - 1)
        rows.append([ACCUMULATORS, bias, OUTPUT, length, multiplier, member, offset % 2**64, lower])
    return rows


def mapped(engine: Batch | Machine, accumulators: np.ndarray, bias: np.ndarray) -> None:
    """The stack with the ninth argument, and the arrays."""
    for address, size in ((STACK_TOP - STACK_SIZE, STACK_SIZE), (ACCUMULATORS, 4096), (BIAS, 4096), (OUTPUT, 4096)):
        engine.memory.map(address, size, "rw")
    engine.memory.write(STACK_TOP - 16, (200).to_bytes(8, "little"))
    for address, numbers in ((ACCUMULATORS, accumulators), (BIAS, bias)):
        if isinstance(engine, Batch):
            engine.memory.write(address, numbers)
        else:
            engine.memory.write(address, numbers.tobytes())
    engine.sp, engine.x[30] = STACK_TOP - 16, RETURN_ADDRESS


def state(engine: Machine) -> tuple[object, ...]:
    general, vectors = ([file[i] for i in range(len(file))] for file in (engine.x, engine.v))
    flags = [engine.nzcv, engine.fpsr, engine.instructions_executed]
    return (*general, engine.sp, *vectors, *flags, engine.memory.read(OUTPUT, LONGEST))


def member_state(batch: Batch, member: int) -> tuple[object, ...]:
    general = [int(batch.x[i][member]) for i in range(31)]
    vectors = [int.from_bytes(batch.v[i][member].tobytes(), "little") for i in range(32)]
    flags = [int(column[member]) for column in (batch.nzcv, batch.fpsr, batch.instructions_executed)]
    output = batch.memory.read(OUTPUT, LONGEST)[member].tobytes()
    return (*general, int(batch.sp[member]), *vectors, *flags, output)


@pytest.mark.parametrize("source", KERNEL.sources, ids=lambda source: source.name)
@pytest.mark.parametrize("level", LEVELS)
def test_a_build_does_on_a_batch_what_it_does_on_machines(source: Path, level: str) -> None:
    image, rng = build(source, f"-{level}"), np.random.default_rng(1)
    accumulators, biases = rng.integers(-(2**31), 2**31, (2, MEMBERS, LONGEST)).astype(np.int32)
    batch, alone, rows = Batch(MEMBERS), [], calls()
    map_image(batch.memory, image)
    mapped(batch, accumulators, biases)
    for number, column in enumerate(zip(*rows, strict=True)):
        batch.x[number] = np.array(column, np.uint64)
    batch.pc = image.symbol(KERNEL.symbol).address
    batch.run(until=RETURN_ADDRESS)
    for row, numbers, bias in zip(rows, accumulators, biases, strict=True):
        machine = Machine()
        map_image(machine.memory, image)
        mapped(machine, numbers, bias)
        machine.pc = image.symbol(KERNEL.symbol).address
        for number, value in enumerate(row):
            machine.x[number] = value
        machine.run(until=RETURN_ADDRESS)
        alone.append(state(machine))
    assert not batch.faults
    assert [member_state(batch, member) for member in range(MEMBERS)] == alone
