"""Instructions a second of the pipelines of `sim.timing`, and the cost of a loop of 10^8 instructions.

Rates are of this machine; medians of five runs, each of processor time.  Bars: in order 200,000, out of order 50,000;
a loop of 10^8 instructions under a second.
"""

from __future__ import annotations

from statistics import median
from time import process_time

from sim.timing.loops.bare_loop import body_in_text, loop_of_body
from sim.timing.loops.loop import Loop
from sim.timing.loops.steady import time_loop
from sim.timing.model.core_file import load_core
from sim.timing.model.pipeline import schedule

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
INSTRUCTIONS = 56_000
RUNS = 5


def rate(loop: Loop, core_name: str) -> float:
    core = load_core(core_name)
    stream = [one for number in range(INSTRUCTIONS // len(loop.body)) for one in loop.iteration(number)]
    seconds = []
    for _ in range(RUNS):
        start = process_time()
        schedule(stream, core)
        seconds.append(process_time() - start)
    return len(stream) / median(seconds)


def main() -> None:
    loop = loop_of_body(body_in_text(REQUANTIZE))
    for name in ("cortex-a55", "cortex-a72", "neoverse-n1"):
        start = process_time()
        found = time_loop(loop, load_core(name), 10**8 // len(loop.body))
        seconds = process_time() - start
        print(
            f"{name}: {rate(loop, name):,.0f} instructions/s; 10^8 of a loop in {seconds:.2f} s"
            f" ({found.per_iteration} cycles an iteration)"
        )


if __name__ == "__main__":
    main()
