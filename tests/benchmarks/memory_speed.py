"""What memory costs in lockstep, in Python: a replay by what it maps, and a run by how often it branches and stores.

make bench
"""

from __future__ import annotations

from collections.abc import Sequence
from resource import RUSAGE_SELF, getrusage
from statistics import median
from time import process_time

from sim import Emulator, Machine
from sim.call.captured import CapturedCall, CapturedLine
from sim.call.lockstep import Lockstep
from sim.replay.run import replay
from sim.terminal.script import parser_of, run_by_hand

CODE, DATA, FAR, RETURN = 0x10000, 0x20000, 1 << 40, 0x7FFF_0000
ADD_ONE = (0x4C407420, 0x4F000424, 0x4EA48400, 0x4C007420, 0xD65F03C0)
"""ld1 {v0.8h}, [x1]; movi v4.4s, #1; add v0.4s, v0.4s, v4.4s; st1 {v0.8h}, [x1]; ret"""
BRANCHES = (0xF1000400, 0xB5FFFFE0)
"""subs x0, x0, #1; cbnz x0, the first"""
STORES = (0xF9000022, 0xF1000400, 0xB5FFFFC0)
"""str x2, [x1]; subs x0, x0, #1; cbnz x0, the first"""
RUNS = 5
NEVER = 1 << 62
"""So much patience with Python that native code does not run."""
Map = tuple[int, int, str]


def code(words: Sequence[int]) -> bytes:
    return b"".join(word.to_bytes(4, "little") for word in words)


def replay_seconds(maps: Sequence[Map]) -> float:
    """Processor time of a call of five instructions in lockstep, with these maps beside its own."""
    own = ((CODE, 0x1000, "rx"), (DATA, 0x1000, "rw"))
    call = CapturedCall(
        name="add one", entry=CODE, ret=RETURN, maps=(*own, *maps), memory=((CODE, code(ADD_ONE)),),
        registers={"x1": DATA}, fpcr=0, nzcv=0, outputs=(), final={}, instructions=len(ADD_ONE),
    )  # fmt: skip
    start = process_time()
    assert replay(CapturedLine(1, call), "lockstep", 1000).kind == "passed"
    return process_time() - start


def instructions_a_second(words: Sequence[int], count: int, size: int) -> float:
    """In lockstep, of a loop that is passed `count` times, with a data map of `size` bytes."""
    machine, emulator = Machine(), Emulator()
    for engine in (machine, emulator):
        engine.memory.map(CODE, 0x1000, "rx")
        engine.memory.write(CODE, code(words))
        engine.memory.map(DATA, size, "rw")
    machine.pc, machine.x[0], machine.x[1] = CODE, count, DATA
    start = process_time()
    assert Lockstep(machine, emulator, patience=NEVER).run(CODE + 4 * len(words), 10**9) is None
    return machine.instructions_executed / (process_time() - start)


def main() -> None:
    parser_of(__doc__).parse_args()
    print("replay of five instructions, processor time, median; and to that with no map beside its own")
    alone = median(replay_seconds(()) for _ in range(RUNS))
    for name, maps in (
        ("no map beside its own", ()),
        ("one map of 64 MiB", ((FAR, 64 << 20, "rw"),)),
        ("one map of 900 MiB", ((FAR, 900 << 20, "rw"),)),
        ("2,000 maps of a page", [(FAR + 0x2000 * number, 0x1000, "rw") for number in range(2_000)]),
        ("20,000 maps of a page", [(FAR + 0x2000 * number, 0x1000, "rw") for number in range(20_000)]),
    ):
        seconds = median(replay_seconds(maps) for _ in range(RUNS))
        print(f"{name:30} {seconds:8.3f} s {seconds / alone:8.1f}")
    print("instructions a second in lockstep; and to those of a map of a page")
    for name, words in (("branches", BRANCHES), ("branches and stores", STORES)):
        page = median(instructions_a_second(words, 5_000, 0x1000) for _ in range(RUNS))
        for size in (0x1000, 1 << 20, 64 << 20):
            rate = median(instructions_a_second(words, 5_000, size) for _ in range(RUNS))
            print(f"{name + f', {size >> 10:,} KiB':30} {rate:10,.0f} {rate / page:8.2f}")
    print(f"100,000 branches: {200_000 / instructions_a_second(BRANCHES, 100_000, 256 << 20):.1f} s with 256 MiB")
    print(f"peak of the process: {getrusage(RUSAGE_SELF).ru_maxrss >> 10} MiB")


if __name__ == "__main__":
    run_by_hand(main)
