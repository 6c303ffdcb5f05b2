"""How fast the compiled engine runs kernels beside bare Unicorn, and how soon it begins: medians, ratios of one run.

Unicorn has no hook here: nothing is counted, noted or compared.  Processor time is measured.  At last what the programs
of layers gain by their parts, which are recorded once and repeated.

make bench
"""

from __future__ import annotations

from collections.abc import Callable
from os import environ
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from unittest.mock import patch

import unicorn
from benchmarks.interrupt import LOOP, map_loop, seconds_to_end
from benchmarks.machine_speed import prepared

from isa.acle.program import OpenProgram
from sim import Emulator, Machine
from sim.call.call import ProgramKernel
from sim.call.caller import RETURN_ADDRESS, Call, Caller
from sim.call.guards.undefined_bytes import SeededBytes
from sim.check.vectors import call_seed, make_vectors
from sim.kernels import Inputs
from sim.kernels.kernel import Kernel, built_in_kernel
from sim.machine.compiled.sequence import CompiledProgram
from sim.terminal.script import parser_of, run_by_hand
from sim.toolchain.compilers import build
from sim.toolchain.image import Image

RUNS, ENOUGH = 5, 200_000
QUANTIZE_DOWN = built_in_kernel("quantize_down")
LAYERS, LANES = ("conv2d", "depthwise_conv2d", "fully_connected"), 20_000
NAMES = ("quantize_down", "quantized_multiplier", "requantize", "quantized_add", "offset_contribution", "transpose1xw")


class BareEmulator(Emulator):
    """Unicorn without hooks: `run` only runs, on memory that it is given beforehand."""

    def __init__(self) -> None:
        with patch.object(unicorn.Uc, "hook_add", lambda *_: None):
            super().__init__()

    def run(self, until: int | None = None, *_: object) -> int:
        for region in self.memory.regions:
            self._given.give(region.start)
        self._engine.emu_start(self.pc, until)
        return 0


def seconds(run: Callable[[], object], times: int) -> float:
    """Of one run: the median of several measurements of so many, after one to warm up."""
    run()
    found = []
    for _ in range(RUNS):
        start = process_time()
        for _ in range(times):
            run()
        found.append((process_time() - start) / times)
    return median(found)


def on_row(image: Image) -> tuple[int, float, float]:
    """Instructions of a row of quantize_down, and the seconds that engine and Unicorn take."""
    machine, bare = Machine(engine="compiled"), BareEmulator()
    run, run_bare = prepared(machine, image), prepared(bare, image)
    count = run()
    times = max(1, ENOUGH * 20 // count)
    return count, seconds(run, times), seconds(run_bare, times)


def elements(inputs: Inputs) -> int:
    """How many numbers its arrays have."""
    return sum(getattr(array, "size", 0) for array in inputs.values())


def line(name: str, count: int, mine: float, bare: float) -> str:
    """Instructions per second of both, and how many times as fast the compiled engine is."""
    return f"{name:48}{count / mine:16,.0f}{count / bare:16,.0f}{bare / mine:8.2f}"


def on_call(kernel: Kernel, image: Image) -> tuple[int, float, float]:
    """The same of the longest of some calls of a kernel, without what prepares them."""
    machine, bare = Machine(engine="compiled"), BareEmulator()
    caller = Caller(image, kernel, machine, [bare.memory])
    inputs = max(make_vectors(kernel, 2000, 1).inputs, key=elements)
    caller.prepare(Call(kernel.arguments(inputs), 1), SeededBytes(1))
    registers, entry = machine.registers, machine.pc
    general, vectors, flags = registers.general[:], bytes(registers.vectors), registers.flags[:]

    def restart() -> None:
        registers.general[:], registers.vectors[:], registers.flags[:], machine.pc = general, vectors, flags, entry

    def run() -> int:
        restart()
        return machine.run(until=RETURN_ADDRESS)

    def run_bare() -> int:
        restart()
        bare.load_registers(registers)
        bare.pc = entry
        return bare.run(RETURN_ADDRESS)

    count = run()
    times = max(1, ENOUGH // count)
    return count, seconds(run, times), seconds(run_bare, times)


def starts(image: Image) -> tuple[float, float]:
    """Seconds to the end of a first run: with an empty cache, and with the unit in it."""
    found = []
    with TemporaryDirectory() as folder, patch.dict(environ, {"LANEWISE_CACHE": folder}):
        for _ in range(2):
            run = prepared(Machine(engine="compiled"), image)
            start = perf_counter()
            run()
            found.append(perf_counter() - start)
    return found[0], found[1]


def end() -> float:
    """Seconds from an interrupt to the end of an endless loop."""
    machine = Machine(engine="compiled")
    map_loop(machine.memory)
    machine.pc = LOOP
    machine.run(max_instructions=100_000_000)
    return seconds_to_end(machine.run)


def on_program(kernel: Kernel) -> tuple[int, float, float]:
    """Instructions of a kernel's program on all vectors of a check, and its seconds: parts repeated, parts called."""
    vectors, program = make_vectors(kernel, LANES, 1), ProgramKernel(kernel)

    def run() -> int:
        calls = enumerate(vectors.inputs)
        return sum(
            program.call(kernel.arguments(one), call_seed(vectors, number)).instructions for number, one in calls
        )

    repeated = seconds(run, 1)
    with patch.object(CompiledProgram, "perform", OpenProgram.perform):
        return run(), repeated, seconds(run, 1)


def main() -> None:
    parser_of(__doc__).parse_args()
    print(f"{'instructions per second':48}{'compiled':>16}{'bare Unicorn':>16}{'ratio':>8}")
    for source, level in ((QUANTIZE_DOWN.sources[0], "O2"), (QUANTIZE_DOWN.sources[1], "O0")):
        image = build(source, f"-{level}")
        print(line(f"row of 4096, {source.name} -{level}", *on_row(image)))
        cold, kept = starts(image)
        print(f"  first run {cold:.2f} s, with the unit kept {1000 * kept:.0f} ms")
    print(f"an interrupt ends an endless loop after {1000 * median(end() for _ in range(RUNS)):.0f} ms")
    ratios = dict[str, list[float]]()
    for name in NAMES:
        kernel = built_in_kernel(name)
        for source in kernel.sources:
            for level in ("O0", "O2", "O3"):
                count, mine, bare = on_call(kernel, build(source, f"-{level}"))
                ratios.setdefault(level, []).append(bare / mine)
                print(line(f"call of {count:,}, {name} {source.name} -{level}", count, mine, bare))
    for level, found in ratios.items():
        print(f"median of the calls at -{level}: {median(found):.2f}")
    print(f"{'instructions of programs per second':48}{'repeated':>16}{'called':>16}{'ratio':>8}")
    for name in LAYERS:
        print(line(f"{name}, {LANES:,} random lanes", *on_program(built_in_kernel(name))))


if __name__ == "__main__":
    run_by_hand(main)
