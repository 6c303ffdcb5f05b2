"""How fast a batch of 4,096 members runs requantization: medians of several runs, and the ratio to Machine in one run.

Processor time is measured: other work on the computer does not count.

make bench

A lane operation is one 32-bit lane of one instruction: an instruction on 4,096 members is 16,384 of them.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import process_time

import numpy as np
from numpy.typing import NDArray

from sim import Batch, Machine
from sim.call.call import RETURN_ADDRESS, STACK_SIZE, STACK_TOP
from sim.kernels.kernel import built_in_kernel
from sim.terminal.script import parser_of, run_by_hand
from sim.toolchain.compilers import build
from sim.toolchain.image import Image
from sim.toolchain.levels import LEVELS
from sim.toolchain.starting import map_image

MEMBERS, RUNS = 4096, 7
CODE, DATA, OUTPUT, TIMES = 0x10000, 0x20000, 0x30000, 16
KERNEL = built_in_kernel("quantize_down")
LENGTH = 256
ACCUMULATORS, RESULTS = 0x1000_0000, 0x2000_0000

LOOP = {
    "ldr q0, [x1], #16": 0x3CC10420,
    "sqrdmulh v0.4s, v0.4s, v4.4s": 0x6EA4B400,
    "and v1.16b, v0.16b, v5.16b": 0x4E251C01,
    "sshr v1.4s, v1.4s, #31": 0x4F210421,
    "sqadd v0.4s, v0.4s, v1.4s": 0x4EA10C00,
    "srshl v0.4s, v0.4s, v5.4s": 0x4EA55400,
    "add v0.4s, v0.4s, v6.4s": 0x4EA68400,
    "sqxtn v0.4h, v0.4s": 0x0E614800,
    "sqxtun v0.8b, v0.8h": 0x2E212800,
    "str s0, [x2], #4": 0xBC004440,
    "subs x0, x0, #1": 0xF1000400,
    "b.ne #-0x2c": 0x54FFFEA1,
}
"""The requantization of four accumulators a turn: multiplier in v4, minus the shift in v5, offset in v6."""
VECTOR = 9
"""Instructions of the loop on vectors of four 32-bit lanes."""


def load_loop(engine: Batch | Machine) -> None:
    """The loop, its data and its parameters."""
    for address, permissions in ((CODE, "rx"), (DATA, "r"), (OUTPUT, "rw")):
        engine.memory.map(address, 4096, permissions)
    engine.memory.write(CODE, b"".join(word.to_bytes(4, "little") for word in LOOP.values()))
    for register, value in ((4, 254601600), (5, -2), (6, 10)):
        engine.v[register] = int.from_bytes((value % 2**32).to_bytes(4, "little") * 4, "little")


def write_rows(engine: Batch | Machine, address: int, rows: NDArray[np.int32]) -> None:
    """A row of numbers for each member."""
    if isinstance(engine, Batch):
        engine.memory.write(address, rows)
    else:
        engine.memory.write(address, rows.tobytes())


def loop_on(engine: Batch | Machine) -> Callable[[], int]:
    """A function that runs the loop `TIMES` times and returns the number of instructions, all members together."""
    load_loop(engine)
    rng = np.random.default_rng(1)
    members = engine.members if isinstance(engine, Batch) else 1
    data = rng.integers(-6000, 6000, (members, 4 * TIMES), dtype=np.int32)
    write_rows(engine, DATA, data)

    def run() -> int:
        engine.x[0], engine.x[1], engine.x[2], engine.pc = TIMES, DATA, OUTPUT, CODE
        return int(np.sum(engine.run(until=CODE + 4 * len(LOOP))))

    return run


def binary_on(engine: Batch | Machine, image: Image) -> Callable[[], int]:
    """A function that runs the compiled kernel on one row of `LENGTH` accumulators in every member."""
    map_image(engine.memory, image)
    engine.memory.map(STACK_TOP - STACK_SIZE, STACK_SIZE)
    engine.memory.map(ACCUMULATORS, 4096, "r")
    engine.memory.map(RESULTS, 4096)
    members = engine.members if isinstance(engine, Batch) else 1
    rows = np.random.default_rng(1).integers(-6000, 6000, (members, LENGTH), dtype=np.int32)
    write_rows(engine, ACCUMULATORS, rows)
    entry = image.symbol(KERNEL.symbol).address

    def run() -> int:
        for number, value in enumerate((ACCUMULATORS, 0, RESULTS, LENGTH, 254601600, 1, 2, 0)):
            engine.x[number] = value
        engine.sp, engine.x[30], engine.pc = STACK_TOP - 16, RETURN_ADDRESS, entry
        engine.memory.write(STACK_TOP - 16, (255).to_bytes(8, "little"))
        return int(np.sum(engine.run(until=RETURN_ADDRESS)))

    return run


def speed(run: Callable[[], int]) -> float:
    """Instructions per second, the median of several runs after one to warm up."""
    run()
    rates = []
    for _ in range(RUNS):
        start = process_time()
        count = run()
        rates.append(count / (process_time() - start))
    return median(rates)


def main() -> None:
    parser_of(__doc__).parse_args()
    print(f"{'instructions per second':30} {'machine':>12} {f'batch of {MEMBERS:,}':>16} {'batch/machine':>14}")
    machine, batch = speed(loop_on(Machine())), speed(loop_on(Batch(MEMBERS)))
    print(f"{'requantize loop':30} {machine:12,.0f} {batch:16,.0f} {batch / machine:14.1f}")
    print(f"{'  its 32-bit lane operations':30} {'':12} {batch * 4 * VECTOR / len(LOOP):16,.0f}")
    for source in KERNEL.sources:
        for level in LEVELS:
            image = build(source, f"-{level}")
            machine, batch = (speed(binary_on(engine, image)) for engine in (Machine(), Batch(MEMBERS)))
            print(f"{f'{source.name} -{level}':30} {machine:12,.0f} {batch:16,.0f} {batch / machine:14.1f}")


if __name__ == "__main__":
    run_by_hand(main)
