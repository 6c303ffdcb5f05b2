"""How fast machine and emulator run in lockstep, native code beside Python, guards on: medians, ratios of one run.

Both compare all registers and all that was written after every instruction, and check every access byte by byte.
Processor time is measured.

make bench
"""

from __future__ import annotations

from statistics import median
from time import process_time

import numpy as np
from benchmarks.interrupt import LOOP, map_loop, seconds_to_end

from sim import Emulator, Machine
from sim.call.caller import RETURN_ADDRESS, Call, Caller
from sim.call.guards.bounds import AccessBounds
from sim.call.guards.undefined_bytes import SeededBytes
from sim.call.guards.watch import Watch
from sim.call.lockstep import Lockstep
from sim.kernels.kernel import built_in_kernel
from sim.terminal.script import parser_of, run_by_hand
from sim.toolchain.compilers import build

RUNS, NEVER = 5, 1 << 62
KERNEL = built_in_kernel("quantize_down")
BUILDS = ((0, "O0"), (0, "O2"), (0, "O3"), (1, "O0"), (1, "O2"))
SHORT, LONG = 128, 1 << 17
"""Numbers of a row: in Python, and natively."""


class Guarded:
    """Calls of a build on a row, in lockstep."""

    def __init__(self, source: int, level: str, length: int, patience: int) -> None:
        self._image = build(KERNEL.sources[source], f"-{level}")
        machine, emulator = Machine(), Emulator()
        self._caller = Caller(self._image, KERNEL, machine, [emulator.memory])
        self.lockstep = Lockstep(machine, emulator, self._image, patience)
        rng = np.random.default_rng(1)
        numbers = {name: rng.integers(-6000, 6000, length, dtype=np.int32) for name in ("accumulators", "bias")}
        settings = {"multiplier": 254601600, "shift": 1, "offset": 2, "lower": 0, "upper": 255}
        self._arguments = {**numbers, **settings, "length": length}
        self.rate()  # to compile, and to warm up

    def rate(self) -> float:
        """Instructions a second of one call, without what prepares it."""
        machine = self.lockstep.machine
        placed = self._caller.prepare(Call(self._arguments, 1), SeededBytes(1))
        bounds = AccessBounds(placed.values(), self._image.segments, self._caller.stack, self._image.absent)
        watch, before = Watch(machine, self._image, bounds, {}), machine.instructions_executed
        start = process_time()
        assert self.lockstep.run(RETURN_ADDRESS, 10**10, watch) is None
        return (machine.instructions_executed - before) / (process_time() - start)


def end() -> float:
    """Seconds from an interrupt to the end of an endless loop."""
    machine, emulator = Machine(), Emulator()
    for memory in (machine.memory, emulator.memory):
        map_loop(memory)
    machine.pc, lockstep = LOOP, Lockstep(machine, emulator, patience=0)
    lockstep.run(0, 10_000_000)
    return seconds_to_end(lambda: lockstep.run(0, NEVER))


def main() -> None:
    parser_of(__doc__).parse_args()
    print(f"{'instructions per second in lockstep':40}{'native':>14}{'Python':>12}{'ratio':>8}")
    ratios = []
    for source, level in BUILDS:
        native, python = Guarded(source, level, LONG, 0), Guarded(source, level, SHORT, NEVER)
        assert not native.lockstep.without_native
        pairs = [(native.rate(), python.rate()) for _ in range(RUNS)]
        mine, other = (median(rates) for rates in zip(*pairs, strict=True))
        ratios.append(median(a / b for a, b in pairs))
        print(
            f"quantize_down {KERNEL.sources[source].name + ' -' + level:26}{mine:14,.0f}{other:12,.0f}{ratios[-1]:8.0f}"
        )
        print(f"  left to Python: {dict(native.lockstep.fallbacks) or 'nothing'}")
    print(f"median of the ratios: {median(ratios):.0f}")
    print(f"an interrupt ends an endless loop after {1000 * median(end() for _ in range(RUNS)):.0f} ms")


if __name__ == "__main__":
    run_by_hand(main)
