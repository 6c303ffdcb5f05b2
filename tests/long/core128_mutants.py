"""Mutants of the text of `core128`, drawn by a seed: random words and compiled kernels find each, or a proof says more.

PYTHONPATH=tests .venv/bin/python -m long.core128_mutants [mutants] [seed]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from long.core128_faults import KERNELS
from rtl_models.cores.core128.calls import core_call
from rtl_models.cores.core128.comparison import differences
from rtl_models.cores.core128.configuration import Core128, configurations
from rtl_models.cores.core128.design import Core128Run, simulate, simulator
from rtl_models.cores.core128.random_programs import RandomRun, RandomWords, program_words, random_runs
from rtl_models.cores.core128.rows import all_rows
from rtl_models.formal.core_rows import RowClaims, decided_row
from rtl_models.formal.equations.written import derive_equations
from sim.call.kernel_image import open_kernel
from sim.cycles.typical import typical_arguments
from sim.kernels import built_in_kernel
from sim.terminal.script import at_least_one, parser_of, run_by_hand
from sim.timing.model.core import Core
from sim.toolchain.tools import cache_directory
from support.core128_mutants import TextMutant, mutants, planted, rows_with

MUTANTS: Final = 100
WORDS: Final = (500, 6_000, 14_000, 60_000)
"""Executed, random: of those that the first find no mutant is asked again."""
LENGTH: Final = 50
"""Executed words of a program: one in four is stopped at its end."""
SECONDS: Final = 60.0
"""For the solver, for each row."""
EQUIVALENT, KILLED, UNKNOWN = "equivalent, by proof", "killed by proof", "LIVES"
Runs = Sequence[tuple[RandomRun, Core128Run]]
"""With what the core does without mutants, which is known to be due."""


def first_difference(number: int, program: Path, runs: Runs, core: Core) -> str:
    """What a mutant does otherwise than is due; "" where nothing."""
    given = simulate(program, [run.program for run, _ in runs], f"+fault={number}")
    for (run, due), one in zip(runs, given, strict=True):
        same = np.array_equal(one.commits, due.commits) and one.data == due.data
        same &= (one.error, one.done) == (due.error, due.done)
        if not same and (found := differences(run.program, run.due, one, core)):
            return found[0]
    return ""


def proved(mutant: TextMutant) -> str:
    """What the solver says of the rows that it is in: that all are what instructions say, or that one is not."""
    found = rows_with(mutant)
    if found is None:
        return UNKNOWN
    unit, numbers, design = found
    equations = derive_equations(design, cache_directory())
    outcomes = {decided_row(RowClaims(unit, n, all_rows()[n]), [], equations, SECONDS).outcome for n in numbers}
    return KILLED if "counter-example" in outcomes else EQUIVALENT if outcomes == {"proved"} else UNKNOWN


def all_runs(seed: int) -> Iterator[list[RandomRun]]:
    """Few random words first, which most mutants do not survive; more with kernels; then many."""
    chosen = RandomWords(seed)
    for number, words in enumerate(WORDS):
        runs = list(random_runs(chosen, seed + number, words, LENGTH))
        if number == 1:
            runs += [kernel_run(name) for name in KERNELS]
        yield runs


def kernel_run(name: str) -> RandomRun:
    """A compiled kernel on its typical input set."""
    kernel = built_in_kernel(name)
    image = open_kernel(kernel, kernel.sources[0], "-O2", *kernel.flags)
    call = core_call(image, kernel, typical_arguments(kernel, None, 1), 1)
    return RandomRun(call.program, call.due)


def main() -> int:
    """The exit code."""
    parser = parser_of(__doc__)
    parser.add_argument("mutants", nargs="?", type=at_least_one, default=MUTANTS)
    parser.add_argument("seed", nargs="?", type=int, default=1)
    options = parser.parse_args()
    count, seed = options.mutants, options.seed
    chosen, core = mutants(count, seed), configurations()["uneven"]  # in which no latency hides another
    program = simulator(Core128(core=core), planted(chosen), "bench")
    left, words = list(enumerate(chosen, 1)), 0
    for runs in all_runs(seed):
        right = simulate(program, [run.program for run in runs], "+fault=0")
        for run, given in zip(runs, right, strict=True):
            if wrong := differences(run.program, run.due, given, core):
                print(f"without a mutant: {wrong[0]}")
                return 1
        words += program_words(runs)
        for number, mutant in left[:]:
            if found := first_difference(number, program, list(zip(runs, right, strict=True)), core):
                left.remove((number, mutant))
                print(f"{number:3} {mutant}\n      {found}", flush=True)
        print(f"{words:,} words: {count - len(left)} of {count} killed", flush=True)
        if not left:
            break
    fates = [proved(mutant) for _, mutant in left]
    for (number, mutant), fate in zip(left, fates, strict=True):
        print(f"{number:3} {mutant}: {fate}")
    told = {fate: fates.count(fate) for fate in dict.fromkeys(fates)}
    print(f"{count} mutants, {count - len(left)} killed by {words:,} words, {told or 'none lives'}")
    return 1 if set(fates) - {EQUIVALENT, KILLED} else 0


if __name__ == "__main__":
    run_by_hand(main)
