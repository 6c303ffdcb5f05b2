"""Layers of the kernels on `gemm_core`: an input set becomes matrix products, and their results the kernel's output.

As every host does (`rtl_models.host`), this computes nothing, and chooses which numbers meet.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from rtl_models.cores.gemm import BYTES, GemmCore, GemmLayer
from rtl_models.unit_values import channel_setting
from sim.golden.fixed_point import INT32_MAX, Int64Array
from sim.kernels.conv2d.golden import Geometry, output_shape
from sim.kernels.kernel import Inputs, Kernel

AnyArray = npt.NDArray[Any]
MODES: Final = ("s8_double_rounding", "u8_double_rounding")
"""Whose rounding is that of `quantize_down`."""
LARGEST: Final = INT32_MAX - 255
"""A multiplier whose results never wrap when a zero point is added, if nothing shifts them to the right."""
_HIGHEST: Final = 65_535
"""Rows: what the register takes."""


class LayerRows(NamedTuple):
    """The rows that a layer multiplies, [rows, depth], the shape of its output, and what the core lacks for it."""

    rows: AnyArray
    shape: tuple[int, ...]
    reason: str


@dataclass(frozen=True)
class LayerOnCore:
    """An input set of a layer: products side by side, each as many columns as the core has channels at most.

    `reason` says what the core lacks, the same for all that lack it; "" where it has all.
    """

    products: Sequence[GemmLayer]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    reason: str

    def output(self, results: Sequence[Int64Array]) -> AnyArray:
        """Of the products' results, bytes 0..255 [rows, columns]; there are none of an empty output."""
        numbers = np.concatenate(results, axis=1) if results else np.zeros(0)
        return numbers.astype(np.uint8).view(self.dtype).reshape(self.shape)


def layer_on_core(kernel: Kernel, inputs: Inputs, core: GemmCore) -> LayerOnCore:
    """What the core is given for an input set of a kernel in `LAYERS`, in one of `MODES`."""
    rows, shape, reason = LAYERS[kernel.name](inputs)
    weights, given = inputs["weights"], kernel.arguments(inputs)
    columns, dtype = shape[-1], weights.dtype
    if not math.prod(shape):
        return LayerOnCore([], shape, dtype, "")
    settings = {
        "a_offset": -int(given["input_zero"]), "b_offset": -int(given.get("weights_zero", 0)),
        "offset": int(given["output_zero"]), "minimum": int(given["lower"]), "maximum": int(given["upper"]),
        "signed": int(dtype == np.int8),
    }  # fmt: skip
    biases = np.zeros(columns, np.int32) if given["bias"] is None else given["bias"]
    factors = list(zip(biases, given["multipliers"], -given["left_shifts"], strict=True))
    a = rows.astype(np.int64) & 0xFF
    b = weights.reshape(columns, rows.shape[1]).T.astype(np.int64) & 0xFF
    products = []
    for first in range(0, columns, core.channels):
        tables = {
            channel_setting(name, channel): int(value)
            for channel, numbers in enumerate(factors[first : first + core.channels])
            for name, value in zip(("bias", "multiplier", "shift"), numbers, strict=True)
        }
        products.append(GemmLayer({**settings, **tables}, a, b[:, first : first + core.channels]))
    return LayerOnCore(products, shape, dtype, reason or _lacking(rows, given, core))


def _lacking(rows: AnyArray, given: Mapping[str, Any], core: GemmCore) -> str:
    """What no product of the core can be; "" for what it can."""
    height, depth = rows.shape
    if not 1 <= depth <= BYTES * core.steps:
        return f"depth lies outside of 1..{BYTES * core.steps}"
    if height > _HIGHEST:
        return f"there are more than {_HIGHEST:,} rows"
    if (given["left_shifts"] > 0).any():
        return "a left shift lies above 0: gemm_core shifts to the right only"
    if (np.abs(given["multipliers"].astype(np.int64))[given["left_shifts"] == 0] > LARGEST).any():
        return f"a multiplier lies above {LARGEST} without a shift: gemm_core's zero point could wrap"
    return ""


def _of_fully_connected(inputs: Inputs) -> LayerRows:
    return LayerRows(inputs["input"], (len(inputs["input"]), len(inputs["weights"])), "")


def _of_conv2d(inputs: Inputs) -> LayerRows:
    """Every pixel is a row, those that a stride passes over apart; a larger window needs addresses of its own."""
    image, window, geometry = inputs["input"], inputs["weights"].shape[1:3], inputs["geometry"]
    shape = output_shape(image.shape, inputs["weights"].shape, geometry)
    is_pixel = window == (1, 1) and geometry == Geometry(geometry.stride_y, geometry.stride_x)
    pixels = image[:, :: geometry.stride_y, :: geometry.stride_x] if is_pixel else image[:0]
    reason = "" if is_pixel else "the window is not 1 x 1 without padding: gemm_core has no generator of addresses"
    depth = math.prod(inputs["weights"].shape[1:])
    return LayerRows(pixels.reshape(math.prod(pixels.shape[:3]), depth), shape, reason)


LAYERS: Final[Mapping[str, Callable[[Inputs], LayerRows]]] = {
    "fully_connected": _of_fully_connected,
    "conv2d": _of_conv2d,
}
"""By kernel."""
