"""How fast the lane machine runs compiled kernels: medians of several runs, and ratios within one run.

make bench
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from statistics import median
from struct import pack
from time import perf_counter

import numpy as np

from sim import Emulator, Machine
from sim.call.call import RETURN_ADDRESS, STACK_SIZE, STACK_TOP
from sim.check.check import Job, check_job
from sim.check.vectors import make_vectors
from sim.kernels.kernel import built_in_kernel
from sim.terminal.script import parser_of, run_by_hand
from sim.toolchain.compilers import build
from sim.toolchain.image import Image
from sim.toolchain.levels import LEVELS
from sim.toolchain.starting import map_image

LENGTH, RUNS = 4096, 7
ACCUMULATORS, OUTPUT = 0x1000_0000, 0x2000_0000
REQUANTIZE = Path(__file__).with_name("requantize_fp32.c")
KERNEL = built_in_kernel("quantize_down")


def prepared(engine: Machine | Emulator, image: Image) -> Callable[[], int]:
    """A function that runs one row of `LENGTH` accumulators and returns the number of instructions."""
    map_image(engine.memory, image)
    engine.memory.map(STACK_TOP - STACK_SIZE, STACK_SIZE)
    engine.memory.map(ACCUMULATORS, 4 * LENGTH, "r")
    engine.memory.map(OUTPUT, LENGTH)
    rng = np.random.default_rng(1)
    engine.memory.write(ACCUMULATORS, rng.integers(-6000, 6000, LENGTH, dtype=np.int32).tobytes())
    entry = image.symbol(KERNEL.symbol).address

    def run() -> int:
        arguments = (ACCUMULATORS, 0, OUTPUT, LENGTH, 254601600, 1, 2, 0)
        for number, value in enumerate(arguments):
            engine.x[number] = value
        engine.sp, engine.x[30], engine.pc = STACK_TOP - 16, RETURN_ADDRESS, entry
        engine.memory.write(STACK_TOP - 16, (255).to_bytes(8, "little"))
        return engine.run(until=RETURN_ADDRESS)

    return run


def prepared_requantize(engine: Machine | Emulator, image: Image) -> Callable[[], int]:
    """As `prepared`, for the single-precision scale of requantize_fp32.c."""
    map_image(engine.memory, image)
    engine.memory.map(STACK_TOP - STACK_SIZE, STACK_SIZE)
    engine.memory.map(ACCUMULATORS, 4 * LENGTH, "r")
    engine.memory.map(OUTPUT, LENGTH)
    rng = np.random.default_rng(1)
    engine.memory.write(ACCUMULATORS, rng.integers(-40000, 40000, LENGTH, dtype=np.int32).tobytes())
    entry = image.symbol("requantize").address

    def run() -> int:
        engine.x[0], engine.x[1], engine.x[2], engine.x[3] = ACCUMULATORS, OUTPUT, LENGTH, 3
        engine.v[0] = int.from_bytes(pack("<f", 0.0031415), "little")
        engine.sp, engine.x[30], engine.pc = STACK_TOP, RETURN_ADDRESS, entry
        return engine.run(until=RETURN_ADDRESS)

    return run


def speed(run: Callable[[], int]) -> float:
    """Instructions per second, the median of several runs after one to warm up."""
    run()
    rates = []
    for _ in range(RUNS):
        start = perf_counter()
        count = run()
        rates.append(count / (perf_counter() - start))
    return median(rates)


def lockstep_speed(source: Path, level: str) -> float:
    """Instructions per second in lockstep, compared after each."""
    vectors = make_vectors(KERNEL, 2000, 1)
    start = perf_counter()
    outcome = check_job(KERNEL, Job(source, (f"-{level}",)), vectors, lambda _: None)
    return outcome.instructions / (perf_counter() - start)


def main() -> None:
    parser_of(__doc__).parse_args()
    print("instructions per second             machine    emulator  machine/emulator   lockstep")
    for source in KERNEL.sources:
        for level in LEVELS:
            image = build(source, f"-{level}")
            machine, emulator = (speed(prepared(engine, image)) for engine in (Machine(), Emulator()))
            name = f"{source.name} -{level}"
            together = lockstep_speed(source, level)
            print(f"{name:30} {machine:12,.0f} {emulator:12,.0f} {machine / emulator:12.2f} {together:14,.0f}")
    image = build(REQUANTIZE, "-O2")
    machine, emulator = (speed(prepared_requantize(engine, image)) for engine in (Machine(), Emulator()))
    print(f"{REQUANTIZE.name + ' -O2':30} {machine:12,.0f} {emulator:12,.0f} {machine / emulator:12.2f}")


if __name__ == "__main__":
    run_by_hand(main)
