"""How long `explain` takes for a million elements: wall time of the slowest of several questions.

.venv/bin/python tests/benchmarks/explain_speed.py

The accumulators of the first two questions are all over int32, so that nothing is repeated and every rule is computed
on every element; the others are those of a layer.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

import sim
from sim.golden.addition import AddParameters, Quantization, add_tflite
from sim.golden.scaling import double_rounding, single_rounding
from sim.terminal.script import parser_of, run_by_hand

SHAPE, RUNS = (1000, 1000), 3
MULTIPLIER = 1583594044
Question = Callable[[], Any]


def to_int8(scaled: Any) -> Any:
    return np.clip(scaled, -128, 127).astype(np.int8)


def questions() -> dict[str, Question]:
    rng = np.random.default_rng(1)
    anything = rng.integers(-(2**31), 2**31, SHAPE).astype(np.int32)
    usual = rng.integers(-30000, 30000, SHAPE).astype(np.int32)
    multipliers, shifts = rng.integers(2**30, 2**31, SHAPE[1]), rng.integers(6, 9, SHAPE[1])
    real = MULTIPLIER * 2.0**-53
    right = to_int8(double_rounding(anything, MULTIPLIER, -22))
    wrong = right.copy()
    wrong[::7, ::5] += 1
    channels = to_int8(single_rounding(usual, multipliers, -shifts))
    a, b = (rng.integers(0, 256, SHAPE, np.uint8) for _ in range(2))
    total = add_tflite(a, b, AddParameters(Quantization(0.01), Quantization(0.01), Quantization(0.02)))
    return {
        "real scale, explained": lambda: sim.explain(right, accumulators=anything, scale=real),
        "real scale, nothing explains it": lambda: sim.explain(wrong, accumulators=anything, scale=real),
        "1,000 channels, explained": lambda: sim.explain(
            channels, accumulators=usual, multiplier=multipliers, shift=shifts
        ),
        "1,000 channels, one zero point off": lambda: sim.explain(
            channels, accumulators=usual, multiplier=multipliers, shift=shifts, zero_point=1
        ),
        "addition, explained": lambda: sim.explain(total, a=a, b=b, scale_a=0.01, scale_b=0.01, scale=0.02),
    }


def seconds(question: Question) -> float:
    start = perf_counter()
    question()
    return perf_counter() - start


def main() -> None:
    parser_of(__doc__).parse_args()
    print(f"{'explain, 1,000,000 elements':40} {'median s':>9} {'longest s':>10}")
    longest = 0.0
    for name, question in questions().items():
        times = [seconds(question) for _ in range(RUNS)]
        longest = max(longest, *times)
        print(f"{name:40} {median(times):9.2f} {max(times):10.2f}")
    print(f"the longest of all: {longest:.2f} s (bar: 5 s)")


if __name__ == "__main__":
    run_by_hand(main)
