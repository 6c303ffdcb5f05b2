"""Golden reference of quantized_add: Simd's SynetQuantizedAdd, for every combination of types and both activations.

    uint8 + uint8 -> uint8     v = a * ad + b * bd + t, rounded and clamped (see `FOLDED`); no activation
    a float32 tensor involved  dequantize, add, activate, quantize by the reciprocal of the output's scale (`generic`)

ad, bd and t are inputs, so that nothing here depends on how t was made (see `sim.golden.addition.fold`).
Source: docs/spec/quantized_add.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from sim.golden.addition import (
    Addends,
    AddParameters,
    Bytes,
    Folded,
    Quantization,
    Uint8Array,
    dequantize,
    fold,
    fold_contracted,
    require_identity_or_relu,
    sum_a_first_fused,
    sum_a_first_unfused,
    sum_b_first_in_double,
    to_bytes,
)
from sim.golden.fixed_point import Int32Array, wrap_int32
from sim.golden.floating_point import Float32Array, away_by_half, to_int32_ties_even, to_int32_truncated

Tensor = npt.NDArray[Any]
Steps = dict[str, Tensor]


@dataclass(frozen=True)
class FoldedMode:
    """One backend of uint8 + uint8 -> uint8: its order of additions, its rounding, and how it makes ad, bd and t.

    `opens` is the operand that is added to t first.  Ties go away where a half is added before the truncation, else to
    even.
    """

    source: str
    opens: Literal["a", "b"]
    add: Callable[[Bytes, Bytes, Folded], Addends]
    ties_away: bool
    fold: Callable[[AddParameters], Folded]


FOLDED: Final[dict[str, FoldedMode]] = {
    "neon_ties_away": FoldedMode("NEON of the snapshot, contracted", "a", sum_a_first_fused, True, fold_contracted),
    "neon_ties_away_unfused": FoldedMode("the same with -ffp-contract=off", "a", sum_a_first_unfused, True, fold),
    "neon_ties_even": FoldedMode("NEON from 7.2.165, contracted", "a", sum_a_first_fused, False, fold_contracted),
    "neon_ties_even_unfused": FoldedMode("the same with -ffp-contract=off", "a", sum_a_first_unfused, False, fold),
    "base": FoldedMode("Base, in steps of double, built for AArch64", "b", sum_b_first_in_double, False, fold),
}


def folded_steps(a: Uint8Array, b: Uint8Array, folded: Folded, mode: str) -> Steps:
    """Every intermediate value, keyed by step, in order of execution, each of the shape of `a`.

    `a` and `b` are uint8 of one shape; `mode` is a key of `FOLDED`.  Keys: a, b, float (the operand that is added
    first), first (the sum of two terms), sum, half (where ties go away), round, output; float32 from float to half,
    then int32, last uint8.  NaN rounds to 0.
    """
    rule = FOLDED[mode]
    first, total = rule.add(a, b, folded)
    half = {"half": away_by_half(total)} if rule.ties_away else {}
    rounded = to_int32_truncated(half["half"]) if rule.ties_away else to_int32_ties_even(total)
    opened = (a if rule.opens == "a" else b).astype(np.float32)
    sums = {"float": opened, "first": first, "sum": total, **half}
    return {"a": a, "b": b, **sums, "round": rounded, "output": to_bytes(rounded)}


def generic_steps(a: Tensor, b: Tensor, parameters: AddParameters, output: str) -> Steps:
    """Every intermediate value where a float32 tensor is involved, as Base does it on every backend.

    `a` and `b` are uint8 or float32 of one shape, `output` is "float32" or "uint8".  A float32 tensor ignores its
    quantization.  Keys: a, b, difference and real (of the first uint8 operand: each step follows from the one before),
    sum, relu (where asked for), and for uint8: scale, round, offset, output.  The offset is added in int32 and wraps,
    as on AArch64.  `ValueError`: an activation but Identity and ReLU, for which upstream calls a NULL pointer.
    """
    require_identity_or_relu(parameters.activation, "the library")
    steps = _summed(a, b, parameters)
    if parameters.relu:
        steps["relu"] = parameters.activation.of(steps["sum"])
    if output == "float32":
        return steps | {"output": steps.get("relu", steps["sum"])}
    with np.errstate(all="ignore"):
        reciprocal = np.float32(1) / np.float32(parameters.output.scale)
        steps["scale"] = np.asarray(steps.get("relu", steps["sum"]) * reciprocal)
    return steps | offset_steps(to_int32_ties_even(steps["scale"]), parameters.output.zero_point)


def page_steps(a: Tensor, b: Tensor, parameters: AddParameters, output: str = "uint8") -> Steps:
    """Every intermediate value of what the page says; of three uint8 tensors the result is `addition.add_page`'s.

    Operands and `output` as in `generic_steps`.  Keys: a, b, difference, real, sum, that of the activation where one is
    asked for (relu, leakyrelu, ...), and for uint8: quotient, round, output.  The offset is added exactly.
    """
    steps = _summed(a, b, parameters)
    active = parameters.activation.of(steps["sum"])
    if parameters.activation.name != "Identity":
        steps[parameters.activation.name.lower()] = active
    if output == "float32":
        return steps | {"output": active}
    with np.errstate(all="ignore"):
        steps["quotient"] = np.asarray(active / np.float32(parameters.output.scale))
    steps["round"] = to_int32_ties_even(steps["quotient"])
    placed = steps["round"].astype(np.int64) + parameters.output.zero_point
    return steps | {"output": np.asarray(np.clip(placed, 0, 255)).astype(np.uint8)}


def _summed(a: Tensor, b: Tensor, parameters: AddParameters) -> Steps:
    """Operands, the dequantization of the first uint8 one, and the sum."""
    with np.errstate(all="ignore"):
        total = np.asarray(real(a, parameters.a) + real(b, parameters.b))
    dequantized: Steps = {}
    for values, quantization in ((b, parameters.b), (a, parameters.a)):
        if values.dtype == np.uint8:
            difference = wrap_int32(values.astype(np.int64) - quantization.zero_point)
            dequantized = {"difference": difference, "real": dequantize(values, quantization)}
    return {"a": a, "b": b, **dequantized, "sum": total}


def real(values: Tensor, quantization: Quantization) -> Float32Array:
    """float32 values themselves, uint8 ones dequantized."""
    return values if values.dtype == np.float32 else dequantize(values, quantization)


def offset_steps(rounded: Int32Array, zero_point: int) -> Steps:
    """The steps round, offset and output: the zero point is added in int32 and wraps."""
    placed = wrap_int32(rounded.astype(np.int64) + zero_point)
    return {"round": rounded, "offset": placed, "output": to_bytes(placed)}
