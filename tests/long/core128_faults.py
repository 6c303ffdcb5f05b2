"""Faults planted in `core128`: each must be found by random words and by compiled kernels, some by many more words.

PYTHONPATH=tests .venv/bin/python -m long.core128_faults [seed]
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rtl_models.cores.core128.calls import core_call
from rtl_models.cores.core128.comparison import differences
from rtl_models.cores.core128.configuration import Core128, configurations
from rtl_models.cores.core128.design import simulate, simulator
from rtl_models.cores.core128.random_programs import RandomRun, RandomWords, program_words, random_runs
from sim.call.kernel_image import open_kernel
from sim.cycles.typical import typical_arguments
from sim.kernels import built_in_kernel
from sim.terminal.script import parser_of, run_by_hand
from sim.timing.model.core import Core
from support.core128_faults import FAULTS, planted

WORDS: Final = 20_000
MORE: Final = 300_000
"""For the faults that so many do not find."""
LENGTH: Final = 50
"""Executed words of a program: one in four is stopped at its end."""
AT_ONCE: Final = 100
"""Programs that are simulated before they are compared."""
KERNELS: Final = ("offset_contribution", "quantize_down")


def found_after(program: Path, number: int, runs: Sequence[RandomRun], core: Core) -> tuple[int, str]:
    """How many words it takes to find a fault, and the first difference; "" where nothing differs."""
    words = 0
    for first in range(0, len(runs), AT_ONCE):
        part = runs[first : first + AT_ONCE]
        given = simulate(program, [run.program for run in part], f"+fault={number}")
        for run, one in zip(part, given, strict=True):
            words += len(run.due.steps)
            if differing := differences(run.program, run.due, one, core):
                return words, differing[0]
    return words, ""


def main() -> int:
    """The exit code."""
    parser = parser_of(__doc__)
    parser.add_argument("seed", nargs="?", type=int, default=1)
    seed = parser.parse_args().seed
    core = configurations()["uneven"]  # in which no latency hides another
    program = simulator(Core128(core=core), planted(), "bench")
    runs = list(random_runs(RandomWords(seed), seed, WORDS, LENGTH))
    for name in KERNELS:
        kernel = built_in_kernel(name)
        image = open_kernel(kernel, kernel.sources[0], "-O2", *kernel.flags)
        call = core_call(image, kernel, typical_arguments(kernel, None, 1), 1)
        runs.append(RandomRun(call.program, call.due))
    if (right := found_after(program, 0, runs, core))[1]:
        print(f"without a fault: {right[1]}")
        return 1
    left, words = list(enumerate(FAULTS, 1)), 0
    for tried in (runs, random_runs(RandomWords(seed + 1), seed + 1, MORE, LENGTH)):
        if not left:
            break
        some = list(tried)
        words += program_words(some)
        for number, fault in left[:]:
            after, first = found_after(program, number, some, core)
            if first:
                left.remove((number, fault))
                print(f"{number:2} {fault.name}: after {after:,} words: {first}", flush=True)
    for number, fault in left:
        print(f"{number:2} {fault.name}: NOT FOUND")
    found = len(FAULTS) - len(left)
    print(f"{found} of {len(FAULTS)} faults found in {words:,} words")
    return 1 if left else 0


if __name__ == "__main__":
    run_by_hand(main)
