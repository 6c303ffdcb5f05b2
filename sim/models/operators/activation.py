"""The bounds that a fused activation comes to in the numbers of an output.

Source: `tensorflow/lite/kernels/kernel_util.cc`.
"""

from __future__ import annotations

import numpy as np

from sim.models.network import NotComputed, TensorScale


def activation_bounds(activation: str, scale: TensorScale, dtype: str) -> tuple[int | None, int | None]:
    """The bounds of a fused activation in the output's numbers; None and None where the dtype alone bounds.

    `CalculateActivationRangeQuantized` of kernel_util.cc: zero point + round(bound / scale), the quotient in float32.
    """
    reals = {"NONE": (None, None), "RELU": (0.0, None), "RELU6": (0.0, 6.0), "RELU_N1_TO_1": (-1.0, 1.0)}
    if activation not in reals:
        raise NotComputed(f"the fused activation {activation} is not computed")
    if activation == "NONE":
        return None, None
    least, most = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    low, high = reals[activation]
    return (
        least if low is None else max(_placed(low, scale), least),
        most if high is None else min(_placed(high, scale), most),
    )


def _placed(real: float, scale: TensorScale) -> int:
    """A real number in those of a tensor, ties away from zero."""
    quotient = float(np.float32(real) / scale.scales[0])
    return scale.zero_point + int(np.copysign(np.floor(abs(quotient) + 0.5), quotient))
