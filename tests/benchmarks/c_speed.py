"""How fast generated C runs an instruction over and over, beside generated Python and a batch: lanes per second.

Processor time is measured, medians of several runs: other work on the computer does not count.

make bench
"""

from __future__ import annotations

from collections.abc import Callable
from ctypes import CDLL, c_uint64, c_void_p, create_string_buffer
from statistics import median
from time import process_time

import numpy as np

from isa.decode import decode
from isa.encodings import recorded_words
from isa.evaluate import c
from isa.instruction import Instruction
from sim import Batch, Machine
from sim.terminal.script import parser_of, run_by_hand
from sim.toolchain.host import host_library

CODE, TIMES, MEMBERS, RUNS = 0x10000, 256, 4096, 5
C_TIMES = 1 << 18
FORMS = {
    "add .16b,.16b,.16b": 16, "sqadd .4s,.4s,.4s": 4, "sqrdmulh .8h,.8h,.8h": 8, "srshl .4s,.4s,.4s": 4,
    "sqxtn2 .8h,.4s": 8, "tbl .16b,{1}.16b,.16b": 16, "sqadd .2d,.2d,.2d": 2,
}  # fmt: skip
"""Forms, and the lanes that they write."""
_LOOP = """
static inline int load_bytes(Memory *M, unsigned access, uint64_t at, void *bytes, unsigned size) { return 0; }
static inline int store_bytes(Memory *M, unsigned access, uint64_t at, const void *bytes, unsigned size) { return 0; }

void run(State *S, uint64_t times) {
  for (uint64_t i = 0; i < times; ++i) {
    f(S, 0%s);
    __asm__ volatile("" : : "r"(S) : "memory"); /* every turn reads and writes the registers */
  }
}
"""


def speed(run: Callable[[], int]) -> float:
    """What `run` counts, per second: the median of several runs after one to warm up."""
    run()
    rates = []
    for _ in range(RUNS):
        start = process_time()
        count = run()
        rates.append(count / (process_time() - start))
    return median(rates)


def engine_on(engine: Machine | Batch, word: int) -> Callable[[], int]:
    """A function that executes a row of copies of the instruction and returns their number, all members together."""
    engine.memory.map(CODE, 4096, "rx")
    engine.memory.write(CODE, word.to_bytes(4, "little") * TIMES)
    for number in range(32):
        engine.v[number] = 0x0123456789ABCDEF_8000000000000000 + number

    def run() -> int:
        engine.pc = CODE
        return int(np.sum(engine.run(until=CODE + 4 * TIMES)))

    return run


def c_on(instruction: Instruction) -> Callable[[], int]:
    """A function that executes the instruction as C and returns how often."""
    pattern = instruction.pattern
    function = c.instruction("f", pattern.open_writes(), pattern.register_count, pattern.text)
    registers = "".join(f", {number}" for number in instruction.registers)
    library = CDLL(str(host_library("\n".join([c.PRELUDE, function, _LOOP % registers]), "-O3")))
    library.run.argtypes = (c_void_p, c_uint64)
    state = create_string_buffer(bytes(range(256)) * 4)

    def run() -> int:
        library.run(state, C_TIMES)
        return C_TIMES

    return run


def main() -> None:
    parser_of(__doc__).parse_args()
    heads = ("machine", f"batch of {MEMBERS:,}", "C", "C/machine", "C/batch")
    print(f"{'lanes per second':24}" + "".join(f"{head:>16}" for head in heads))
    for name, lanes in FORMS.items():
        word = recorded_words()[name][0]
        instruction = decode(word.to_bytes(4, "little"), CODE)
        runs = (engine_on(Machine(), word), engine_on(Batch(MEMBERS), word), c_on(instruction))
        machine, batch, compiled = (lanes * speed(run) for run in runs)
        ratios = compiled / machine, compiled / batch
        print(f"{name:24}{machine:16,.0f}{batch:16,.0f}{compiled:16,.0f}" + "".join(f"{r:16,.1f}" for r in ratios))


if __name__ == "__main__":
    run_by_hand(main)
