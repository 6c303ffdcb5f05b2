"""Small C kernels with a fault in them, for what blame says of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sim.kernels import Domain, Kernel, parse_prototype
from sim.kernels.kernel import Inputs


class Faulty(NamedTuple):
    """A C function whose wrong lines end in a comment, FAULT; `golden` gives what its output should be."""

    text: str
    golden: Callable[[Inputs], np.ndarray]
    parameters: str = "const int32_t a[n], const int32_t b[n], int32_t output[n], int32_t n"


def wide(inputs: Inputs, name: str) -> np.ndarray:
    return np.asarray(inputs[name]).astype(np.int64)


def ties_away(numbers: np.ndarray, bits: int) -> np.ndarray:
    return np.asarray(np.sign(numbers) * (np.abs(numbers) + (1 << bits - 1) >> bits))


EACH = "for (int i = 0; i < n; ++i) {"
SHORT = "const int16_t a[n], const int16_t b[n], int32_t output[n], int32_t n"
BYTES = "const int8_t a[n], const int8_t b[n], int16_t output[n], int32_t n"


def faulty_kernel(faulty: Faulty, folder: Path) -> Kernel:
    source = folder / "kernel.c"
    arguments = faulty.parameters.replace("[n]", "[]")
    source.write_text(f"#include <arm_neon.h>\nvoid kernel({arguments})\n{{\n{faulty.text}\n}}\n")
    name, signature = parse_prototype(f"void kernel({faulty.parameters})")
    (output,) = signature.outputs
    values = {BYTES: Domain(-128, 127), SHORT: Domain(-500, 500)}.get(faulty.parameters, Domain(-60_000, 60_000))
    return Kernel(
        name=name, symbol=name, sources=(source,), signature=signature,
        golden=lambda inputs: {"output": faulty.golden(inputs).astype(output.dtype)},
        domain={"a": values, "b": values, "n": Domain(choices=(8, 16, 24))},
    )  # fmt: skip
