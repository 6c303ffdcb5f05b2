"""mix: a share of one int8 signal, and the rest of another."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from fixed import to_fraction

from sim.kernels import Domain, Kernel, parse_prototype

NAME, SIGNATURE = parse_prototype(
    "void mix(const int8_t a[n], const int8_t b[n], int32_t share, int8_t y[n], size_t n)"
)


def golden(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """What y must be."""
    share = int(inputs["share"])
    return {"y": to_fraction(inputs["a"].astype(np.int64) * share + inputs["b"].astype(np.int64) * (128 - share))}


KERNEL = Kernel(
    name=NAME, symbol=NAME, sources=(Path("mix.c"),), signature=SIGNATURE, golden=golden,
    domain={"share": Domain(0, 128)}, typical={"n": 256, "share": 32},
)  # fmt: skip
