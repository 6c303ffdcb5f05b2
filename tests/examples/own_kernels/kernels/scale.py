"""scale: int8 samples times a gain with seven bits of fraction."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from fixed import to_fraction

from sim.kernels import Domain, Kernel, parse_prototype

NAME, SIGNATURE = parse_prototype("void scale(const int8_t a[n], int32_t gain, int8_t y[n], size_t n)")


def golden(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """What y must be."""
    return {"y": to_fraction(inputs["a"].astype(np.int64) * inputs["gain"])}


KERNEL = Kernel(
    name=NAME, symbol=NAME, sources=(Path("scale.c"),), signature=SIGNATURE, golden=golden,
    domain={"gain": Domain(-256, 256)}, typical={"n": 256, "gain": 100},
)  # fmt: skip
