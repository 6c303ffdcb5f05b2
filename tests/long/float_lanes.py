"""The float lanes of the hardware: a hundred million fused products, and every float32 as a byte, rounded both ways.

PYTHONPATH=tests .venv/bin/python -m long.float_lanes [seed]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sim.terminal.script import parser_of, run_by_hand
from support.float_lanes import Compared, FloatLanes

PRODUCTS: Final = 100_000_000
NUMBERS: Final = 1 << 32
PARTS: Final = 16


def main() -> int:
    """The exit code."""
    parser = parser_of(__doc__)
    parser.add_argument("seed", nargs="?", type=int, default=1)
    seed, lanes = parser.parse_args().seed, FloatLanes()
    agree = [
        told("fmla_byte", lambda part: lanes.fmla(seed * PARTS + part, PRODUCTS // PARTS)),
        told("float_to_byte", lambda part: lanes.to_byte(part * (NUMBERS // PARTS), NUMBERS // PARTS)),
    ]
    return 0 if all(agree) else 1


def told(lane: str, compared: Callable[[int], Compared]) -> bool:
    """Say of each part how many vectors agreed; whether all did."""
    total = 0
    for part in range(PARTS):
        found = compared(part)
        total += found.vectors
        if found.differs:
            print(f"{lane}: {total:,} vectors agree, then {', '.join(map(hex, found.differs))} is unlike", flush=True)
            return False
        print(f"{lane}: {total:,} vectors agree", flush=True)
    return True


if __name__ == "__main__":
    run_by_hand(main)
