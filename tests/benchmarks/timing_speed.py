"""Instructions a second of the pipelines of `sim.timing` in C and in Python, whole reports, and a loop of 10^8.

Rates are of this machine; medians of five runs, each of processor time.  Bars: in C in order 5,000,000, out of order
1,500,000; the report of 10^6 instructions in 10 s and 500 MB; a loop of 10^8 instructions under a second.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from resource import RUSAGE_SELF, getrusage
from statistics import median
from time import process_time

from sim.terminal.script import parser_of, run_by_hand
from sim.timing.analysis.reporting import report
from sim.timing.loops.bare_loop import body_in_text, loop_of_body
from sim.timing.loops.loop import Loop
from sim.timing.loops.steady import time_loop
from sim.timing.model import pipeline
from sim.timing.model.core_file import load_core
from sim.timing.native.array_stream import ArrayStream, array_stream
from sim.timing.native.library import library
from sim.timing.native.scheduling import mispredictions, native_schedule, schedule

REQUANTIZE = """
loop:
    ldp q0, q1, [x0], #32
    sqrdmulh v0.4s, v0.4s, v16.4s
    sqrdmulh v1.4s, v1.4s, v16.4s
    srshl v0.4s, v0.4s, v17.4s
    srshl v1.4s, v1.4s, v17.4s
    sqxtn v4.4h, v0.4s
    sqxtn2 v4.8h, v1.4s
    sqadd v4.8h, v4.8h, v18.8h
    sqxtun v6.8b, v4.8h
    umax v6.8b, v6.8b, v19.8b
    umin v6.8b, v6.8b, v20.8b
    str d6, [x1], #8
    subs x2, x2, #8
    b.ne loop
"""
INSTRUCTIONS = {"in C": 1_000_000, "in Python": 28_000}
RUNS = 5


def stream_of(loop: Loop, count: int) -> ArrayStream:
    return array_stream([one for number in range(count // len(loop.body)) for one in loop.iteration(number)])


def seconds(work: Callable[[], object]) -> float:
    """The median of the runs."""
    found = []
    for _ in range(RUNS):
        start = process_time()
        work()
        found.append(process_time() - start)
    return median(found)


def main() -> None:
    parser_of(__doc__).parse_args()
    loop = loop_of_body(body_in_text(REQUANTIZE))
    long, short = (stream_of(loop, count) for count in INSTRUCTIONS.values())
    library()
    for name in ("cortex-a55", "cortex-a72", "neoverse-n1"):
        core = load_core(name)
        native = len(long) / seconds(partial(native_schedule, long, core, mispredictions(long, True)))
        slow = len(short) / seconds(partial(pipeline.schedule, short, core))
        whole = seconds(lambda core=core: report("loop", schedule(long, core)))  # type: ignore[misc]
        endless = seconds(partial(time_loop, loop, core, 10**8 // len(loop.body)))
        print(
            f"{name}: {native:,.0f} instructions/s in C, {slow:,.0f} in Python ({native / slow:.0f} times);"
            f" report of {len(long):,} in {whole:.1f} s; 10^8 of a loop in {endless:.2f} s"
        )
    print(f"most memory: {getrusage(RUSAGE_SELF).ru_maxrss // 1024} MB, the stream among it")


if __name__ == "__main__":
    run_by_hand(main)
