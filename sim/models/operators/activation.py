"""The bounds that a fused activation comes to in the numbers of an output."""

from __future__ import annotations

from sim.golden.bounds import REALS, activation_bounds_tflite
from sim.models.network import NotComputed, TensorScale


def activation_bounds(activation: str, scale: TensorScale, dtype: str) -> tuple[int | None, int | None]:
    """The bounds of a fused activation in the output's numbers; None and None where the dtype alone bounds.

    Raises NotComputed for an activation, a scale or a dtype of which `activation_bounds_tflite` knows none.
    """
    if activation not in REALS:
        raise NotComputed(f"the fused activation {activation} is not computed")
    if activation == "NONE":
        return None, None
    try:
        return activation_bounds_tflite(activation, scale.scales[0], scale.zero_point, dtype)
    except ValueError as error:
        raise NotComputed(str(error)) from None
