"""Forms on all values of their lanes, model against emulator: all 2^32 pairs of 16 bits, all 2^32 of 32 bits.

    PYTHONPATH=tests .venv/bin/python -m long.exhausted_forms [--jobs N]

What agreed is kept: a run that was stopped goes on.
"""

from __future__ import annotations

import time

from isa.catalogue import instruction_of
from isa.errors import MISMATCH
from sim.processes import processors
from sim.terminal.script import at_least_one, parser_of, run_by_hand
from sim.toolchain.tools import cache_directory
from sim.verify.exhaust.exhaust import Exhaustion, words_of
from sim.view.exhaust import ExhaustionReport, in_words

PAIRS = (
    "sqrdmulh", "sqdmulh", "sqadd", "uqadd", "sqsub", "uqsub", "srhadd", "urhadd", "shadd", "uhsub", "sabd", "uabd",
    "smax", "umin", "cmgt", "cmhi", "mul", "add", "sub",
)  # fmt: skip
SHIFTED = ("sqshl", "sqrshl", "uqrshl", "srshl", "urshl", "sshl", "ushl")
WIDENING = ("smull", "umull", "sqdmull", "saddl", "usubl", "sabdl")
INSTRUCTIONS = (
    *(f"{mnemonic} v0.8h, v1.8h, v2.8h" for mnemonic in (*PAIRS, *SHIFTED)),
    *(f"{mnemonic} v0.4s, v1.4h, v2.4h" for mnemonic in WIDENING),
    "sqrdmulh v0.8h, v1.8h, v2.h[4]",
    "sqxtn v0.4h, v1.4s",
    "sqxtun v0.4h, v1.4s",
    "uqxtn v0.4h, v1.4s",
    "sqrshrn v0.4h, v1.4s, #0xf",
    "sqrshrun v0.4h, v1.4s, #0x10",
    "rshrn v0.4h, v1.4s, #8",
    "sqneg v0.4s, v1.4s",
    "clz v0.4s, v1.4s",
)


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--jobs", type=at_least_one, default=processors(), help="processes")
    options = parser.parse_args()
    begun, wrong = time.monotonic(), 0
    for text in INSTRUCTIONS:
        instruction = instruction_of(text)
        assert instruction is not None, text
        run = Exhaustion(words_of(instruction.form, instruction.pattern.text), cache_directory(), 1)
        started, before = time.monotonic(), run.done
        for _ in run.run(options.jobs):
            pass
        report = ExhaustionReport(name=text, results=run.results(), left_out=(), seed=1, interrupted=False)
        seconds = time.monotonic() - started
        lines = list(in_words(report))
        print(f"{lines[0]}, {(run.done - before) / 1e6 / seconds:.0f} M/s", flush=True)
        if not report.passed:
            wrong += 1
            print("\n".join(lines[1:]))
    print(f"{len(INSTRUCTIONS) - wrong} of {len(INSTRUCTIONS)} agree, {time.monotonic() - begun:.0f} s")
    return MISMATCH if wrong else 0


if __name__ == "__main__":
    run_by_hand(main)
