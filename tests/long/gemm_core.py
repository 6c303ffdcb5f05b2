"""`gemm_core` in three sizes on random layers under every pattern of stalls: results, cycles, and how many there were.

PYTHONPATH=tests .venv/bin/python -m long.gemm_core [seed]
"""

from __future__ import annotations

import time
from collections import Counter
from typing import Final

from rtl_models.cores.gemm import GemmCore
from rtl_models.cores.gemm_run import run_gemm_core
from sim.terminal.script import parser_of, run_by_hand

CORES: Final = (GemmCore(), GemmCore(rows=5, columns=8, deep=True), GemmCore(rows=16, columns=16))
LAYERS: Final = 24
"""Of random shapes under each pattern of stalls, for each core."""
DUE: Final = {"multiply_accumulates": 10_000_000, "shapes": 200}
"""At least, of all of them together."""
COUNTED: Final = ("multiply_accumulates", "shapes", "cycles_compared", "wrong_beats", "cycles_off")


def main() -> int:
    """The exit code."""
    parser = parser_of(__doc__)
    parser.add_argument("seed", nargs="?", type=int, default=1)
    seed, passed, total = parser.parse_args().seed, True, Counter[str]()
    for core in CORES:
        begun = time.monotonic()
        outcome = run_gemm_core(core, seed, layers=LAYERS)
        print(f"{core.rows} rows: {outcome.told()}\n{time.monotonic() - begun:.0f} s", flush=True)
        total.update({name: int(outcome.figures.get(name, 0)) for name in COUNTED})
        passed &= outcome.passed
    print("together: " + ", ".join(f"{name.replace('_', ' ')} {total[name]:,}" for name in COUNTED))
    enough = all(total[name] >= least for name, least in DUE.items())
    return 0 if passed and enough else 1


if __name__ == "__main__":
    run_by_hand(main)
