"""The folded add of int8 as ONNX Runtime's MLAS has it on x86-64: bytes with a sign, which no move to uint8 gives.

    v = a * ad + (b * bd + t), both products fused, with ad, bd and t of `fold_contracted`; then rounded and clamped

Moved by 128, t would be another number, and round otherwise.  Source: docs/spec/neighbours.md section 41.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from sim.golden.addition import AddParameters, fold_contracted
from sim.golden.fixed_point import clamp
from sim.golden.floating_point import fused_multiply_add, to_int32_ties_even_indefinite


def add_avx2_of_int8(
    a: npt.NDArray[np.integer[Any]], b: npt.NDArray[np.integer[Any]], parameters: AddParameters
) -> npt.NDArray[np.int8]:
    """As `add_avx2`, of numbers in -128..127 that broadcast; the activation is not applied.

    >>> from sim.golden.addition import Quantization, add_avx2
    >>> given = [(0.07, -127), (0.09, -97), (0.02, -126)]
    >>> parameters = AddParameters(*(Quantization(*one) for one in given))
    >>> moved = AddParameters(*(Quantization(scale, zero + 128) for scale, zero in given))
    >>> add_avx2_of_int8(np.array(-126), np.array(-97), parameters), add_avx2(2, 31, moved).astype(int) - 128
    (array(-122, dtype=int8), np.int64(-123))
    """
    folded = fold_contracted(parameters)
    first = fused_multiply_add(b.astype(np.float32), folded.b_factor, folded.constant)
    total = fused_multiply_add(a.astype(np.float32), folded.a_factor, first)
    return clamp(to_int32_ties_even_indefinite(total), -128, 127).astype(np.int8)
