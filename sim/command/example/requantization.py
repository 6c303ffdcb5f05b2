"""my_kernel: a requantization of your own, for `lanewise check my_kernel.py`.

Its golden reference is the convention double_rounding; `lanewise conventions` lists the others.  Write your
kernel into the source beside this file: where it rounds otherwise, the report names the convention that it follows.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sim.golden import double_rounding
from sim.kernels import Domain, Kernel, parse_prototype

PROTOTYPE = """
void my_kernel(const int32_t accumulators[rows][channels], const int32_t bias[channels],
               const int32_t multiplier[channels], const int32_t right_shift[channels], int32_t zero_point,
               int8_t output[rows][channels], size_t rows, size_t channels)
"""


def golden(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """int32 accumulators to int8, a multiplier (Q0.31) and a right shift for each channel."""
    return {"output": steps(inputs)["saturate"].astype(np.int8)}


def steps(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Each step's value for every output lane, so that a mismatch names the step it begins at."""
    total = inputs["accumulators"] + inputs["bias"]
    scaled = double_rounding(total, inputs["multiplier"], -inputs["right_shift"])  # it counts to the left
    placed = scaled.astype(np.int64) + inputs["zero_point"]
    return {"add bias": total, "scale": scaled, "add zero point": placed, "saturate": np.clip(placed, -128, 127)}


NAME, SIGNATURE = parse_prototype(PROTOTYPE)

KERNEL = Kernel(
    name=NAME,
    symbol=NAME,
    sources=(Path("my_kernel.c"),),
    signature=SIGNATURE,
    golden=golden,
    steps=steps,
    domain={
        "accumulators": Domain(-(1 << 16), 1 << 16),
        "bias": Domain(-(1 << 12), 1 << 12),
        "multiplier": Domain(1 << 30, (1 << 31) - 1, corners=(3 << 29,)),
        "right_shift": Domain(0, 20),
        "zero_point": Domain(-128, 127),
        "rows": Domain(0, 4),
        "channels": Domain(0, 20),
    },
)
