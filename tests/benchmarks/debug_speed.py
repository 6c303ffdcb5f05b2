"""How fast a session of the debugger moves and answers: the first time, and the median of several.

The function squares numbers with saturation, and adds them up; it is called on 160,000 of them, which are a million
instructions, and on ten times as many.  A bar is for the length that it names.

make bench
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

import numpy as np

from sim.check import Job
from sim.debug import Session, debug_function, debug_kernel
from sim.debug.trace.selection import Selection
from sim.debug.trace.text import text_trace
from sim.kernels import built_in_kernel
from sim.terminal.script import parser_of, run_by_hand
from support.gdb_client import GdbClient, Serving

RUNS, STEPS = 5, 2000
SOURCE = """
#include <arm_neon.h>
void square(const int16_t *in, int16_t *out, int32_t *total, int length) {
    int32x4_t sum = vdupq_n_s32(0);
    for (int i = 0; i < length; i += 8) {
        int16x8_t numbers = vld1q_s16(in + i);
        numbers = vqrdmulhq_s16(numbers, numbers);
        for (int again = 0; again < 8; again++)
            numbers = vqaddq_s16(numbers, vdupq_n_s16((int16_t)(again + i)));
        sum = vpadalq_s16(sum, numbers);
        vst1q_s16(out + i, numbers);
    }
    *total = vaddvq_s32(sum);
}
"""


def session_of(folder: Path, length: int) -> Session:
    """A session of a call on `length` numbers, at its first instruction."""
    file = folder / "square.c"
    file.write_text(SOURCE)
    numbers = ",".join(str(number) for number in np.random.default_rng(1).integers(-9000, 9000, length))
    return Session(debug_function(file, "square", [numbers, f"zeros:{length}", "zeros:1", str(length)], ("-O1",)))


def told(name: str, bar: str, work: Callable[[], object]) -> None:
    """Prints how long it takes."""
    wall, processor = [], []
    for _ in range(RUNS):
        before, start = process_time(), perf_counter()
        work()
        wall.append(perf_counter() - start)
        processor.append(process_time() - before)
    print(f"{name:52} {wall[0]:9.4f} {median(wall):9.4f} {median(processor):9.4f}  {bar}", flush=True)


def stepping(session: Session) -> None:
    session.goto(0)
    with Serving(session) as port:
        client = GdbClient(port)
        client.ask("QStartNoAckMode")
        for _ in range(STEPS):
            client.ask("s")
        client.close()


def tell_of(session: Session, length: int) -> None:
    """What depends on how long a call is."""
    session.goto_end()
    count, places = session.position, iter(np.random.default_rng(2).integers(0, session.position, 10 * RUNS).tolist())
    print(f"a call of {count:,} instructions")
    told(f"  {STEPS:,} steps of a gdb client", "1 s", lambda: stepping(session))
    told("  goto of any instruction", "0.3 s of 10^7", lambda: session.goto(next(places)))

    def backwards() -> None:
        session.goto_end()
        assert session.reverse_to("writes in[0]") is None

    told("  reverse-continue to the start", "2 s of 10^6", backwards)
    session.goto_end()
    told("  why of an output lane", "2 s of 10^6", lambda: session.why(f"out[{length - 1}]"))
    told("  why of the sum of all", "2 s of 10^6", lambda: session.why("total[0]"))
    told(
        "  trace as text",
        f"{count / 300_000:.1f} s",
        lambda: sum(len(line) for line in text_trace(session, Selection())),
    )


def main() -> None:
    parser_of(__doc__).parse_args()
    kernel = built_in_kernel("quantize_down")
    inputs = kernel.sample(np.random.default_rng(1))
    print(f"{'':52} {'first s':>9} {'median s':>9} {'cpu s':>9}  bar")
    job = Job(kernel.sources[0], ("-O2",))
    told("start of a session on quantize_down, built before", "1 s", lambda: Session(debug_kernel(kernel, job, inputs)))
    with TemporaryDirectory() as folder:
        for length in (160_000, 1_600_000):
            tell_of(session_of(Path(folder), length), length)


if __name__ == "__main__":
    run_by_hand(main)
