"""Steps of an array of multiply-accumulate lanes, and what its sums must be."""

from __future__ import annotations

from random import Random
from typing import Final

import numpy as np

from rtl_models.mutation.scenarios.scenario import Scenario, Steps
from rtl_models.mutation.scenarios.signals import PortSignal
from sim.golden.fixed_point import Int64Array

_CYCLES: Final = 400
_CORNERS: Final = (-256, 255, 0, -1, 1, 254, -255, 128)
"""Numbers of 9 bits at the ends, and bytes with an offset."""


def scenarios(rows: int, columns: int, seed: int) -> list[Scenario]:
    """Numbers at the ends and any others; sums begin anew now and then, and once go on for long."""
    rng = Random(seed)
    a, b = (_numbers(count, rng) for count in (rows, columns))
    first = np.array([cycle == 0 or (cycle < _CYCLES // 2 and rng.random() < 0.2) for cycle in range(_CYCLES)])
    step = np.array([cycle == 0 or rng.random() < 0.8 for cycle in range(_CYCLES)])
    products = np.einsum("trk,tck->trc", a, b)
    sums, kept = [], np.zeros_like(products[0])
    for cycle in range(_CYCLES):
        sums.append(products[cycle] + (0 if first[cycle] else kept))
        kept = sums[-1] if step[cycle] else kept
    inputs = {
        "step_i": PortSignal(1, step), "first_i": PortSignal(1, first),
        "a_i": PortSignal(9, a.reshape(_CYCLES, -1)), "b_i": PortSignal(9, b.reshape(_CYCLES, -1)),
    }  # fmt: skip
    outputs = {"sums_o": PortSignal(32, np.array(sums).reshape(_CYCLES, -1))}
    steps = Steps(inputs, outputs, np.zeros(_CYCLES, bool))
    return [Scenario(name="steps", cycles=steps, beats=steps.none())]


def _numbers(count: int, rng: Random) -> Int64Array:
    """[_CYCLES, count, 4]."""
    numbers = [
        rng.choice(_CORNERS) if rng.random() < 0.5 else rng.randint(-256, 255) for _ in range(_CYCLES * count * 4)
    ]
    return np.array(numbers, np.int64).reshape(_CYCLES, count, 4)
