"""Bytes that become real numbers: by one rounding, or by three.

Source: docs/spec/requantization.md section 7.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Float32Array = npt.NDArray[np.float32]
Way = Callable[[npt.NDArray[Any], np.float32, int], Float32Array]


def dequantized(values: npt.NDArray[Any], scale: np.float32, zero_point: int) -> Float32Array:
    """float32((q - z) * s): the difference is exact.

    >>> dequantized(np.array([5, 7]), np.float32(0.1), 3)
    array([0.2, 0.4], dtype=float32)
    """
    return np.asarray((values.astype(np.int64) - zero_point).astype(np.float32) * scale)


def dequantized_by_sum(values: npt.NDArray[Any], scale: np.float32, zero_point: int) -> Float32Array:
    """float32(float32(q * s) + float32(-z * s)).

    >>> dequantized_by_sum(np.array([5, 7]), np.float32(0.1), 3)
    array([0.19999999, 0.39999998], dtype=float32)
    """
    return np.asarray(values.astype(np.float32) * scale + np.float32(-zero_point) * scale)


WAYS: Final[Mapping[Way, str]] = {
    dequantized: "TFLite's reference, XNNPACK, ONNX Runtime and PyTorch",
    dequantized_by_sum: "TFLite's optimised kernels without delegates",
}
"""The ways, and who uses them."""
