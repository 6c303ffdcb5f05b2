"""`core128` on random words in three latency configurations, against Machine, Unicorn and the pipeline of sim.timing.

PYTHONPATH=tests .venv/bin/python -m long.core128 [words] [seed]
"""

from __future__ import annotations

import time
from collections import Counter
from typing import Final

import numpy as np

from rtl_models.cores.core128.comparison import differences, emulator_differences
from rtl_models.cores.core128.configuration import Core128, configurations
from rtl_models.cores.core128.design import simulate, simulator
from rtl_models.cores.core128.random_programs import CODE_BASE, RandomWords, program_words, random_runs
from sim.terminal.script import at_least_one, parser_of, run_by_hand

WORDS: Final = 1_000_000
"""Executed, in each of the configurations."""
CHUNK: Final = 20_000
"""Words that are simulated at a time."""
LENGTH: Final = 500
"""Executed words of a program."""
SHOWN: Final = 20


def main() -> int:
    """The exit code."""
    parser = parser_of(__doc__)
    parser.add_argument("words", nargs="?", type=at_least_one, default=WORDS)
    parser.add_argument("seed", nargs="?", type=int, default=1)
    options = parser.parse_args()
    words, seed = options.words, options.seed
    cores = configurations()
    # what runs slower is there minutes earlier
    programs = {name: simulator(Core128(core=core), purpose="bench") for name, core in cores.items()}
    begun, done, wrong, forms, errors = time.monotonic(), 0, Counter[str](), set[str](), Counter[str]()
    chosen, distinct, chunk = RandomWords(seed), set[int](), 0
    while done < words:
        runs = list(random_runs(chosen, seed * 1_000_003 + chunk, min(CHUNK, words - done), LENGTH))
        chunk += 1
        done += program_words(runs)
        for run in runs:
            distinct.update(
                np.frombuffer(run.program.code, "<u4")[[step.pc - CODE_BASE >> 2 for step in run.due.steps]].tolist()
            )
        forms.update(step.instruction.form.name for run in runs for step in run.due.steps)
        errors.update(run.due.error for run in runs)
        found = [("Unicorn", text) for run in runs for text in emulator_differences(run.program, run.due)]
        for name, core in cores.items():
            given = simulate(programs[name], [run.program for run in runs])
            found += [
                (name, text)
                for run, one in zip(runs, given, strict=True)
                for text in differences(run.program, run.due, one, core)
            ]
        wrong.update(name for name, _ in found)
        print("\n".join(f"{name}: {text}" for name, text in found[:SHOWN]), end="\n" if found else "")
        print(f"{done:,} words, {sum(wrong.values())} differences, {time.monotonic() - begun:.0f} s", flush=True)
    print(f"{done:,} words ({len(distinct):,} distinct ones, of {len(forms)} forms) in each of {', '.join(cores)}")
    print(f"stopped by {dict(errors)}")
    print(f"differences: {dict(wrong) or 'none'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    run_by_hand(main)
