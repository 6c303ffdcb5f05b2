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

from rtl_models.cores.gemm import BYTES, CHANNEL_FIELDS, GemmCore, GemmLayer
from rtl_models.unit_values import channel_setting
from sim.golden.fixed_point import Int64Array
from sim.kernels.conv2d.golden import Geometry, output_shape
from sim.kernels.kernel import Inputs, Kernel

AnyArray = npt.NDArray[Any]
ROUNDINGS: Final = ("double_rounding", "double_rounding_ties_up", "single_rounding")
"""What the modes are named by, in the order of the setting `rounding`."""
MODES: Final = tuple(f"{kind}_{rounding}" for rounding in ROUNDINGS for kind in ("s8", "u8"))
"""Those of fixed point; there is no hardware for scales in float."""
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
    rounding = ROUNDINGS.index(kernel.mode.partition("_")[2])
    if not math.prod(shape):
        return LayerOnCore([], shape, dtype, "")
    settings = {
        "a_offset": -int(given["input_zero"]), "b_offset": -int(given.get("weights_zero", 0)),
        "offset": int(given["output_zero"]), "minimum": int(given["lower"]), "maximum": int(given["upper"]),
        "signed": int(dtype == np.int8), "rounding": rounding,
    }  # fmt: skip
    biases = np.zeros(columns, np.int32) if given["bias"] is None else given["bias"]
    shifts = given["left_shifts"].astype(np.int64)
    factors = list(zip(biases, given["multipliers"], np.maximum(-shifts, 0), np.maximum(shifts, 0), strict=True))
    a = rows.astype(np.int64) & 0xFF
    b = weights.reshape(columns, rows.shape[1]).T.astype(np.int64) & 0xFF
    if not a.shape[1]:  # a row of no numbers is one of a number that counts for nothing: the input's zero point
        a, b = np.full((len(a), 1), int(given["input_zero"]) & 0xFF), np.zeros((1, columns), np.int64)
    products = []
    for first in range(0, columns, core.channels):
        tables = {
            channel_setting(name, channel): int(value)
            for channel, numbers in enumerate(factors[first : first + core.channels])
            for name, value in zip(CHANNEL_FIELDS, numbers, strict=True)
        }
        products.append(GemmLayer({**settings, **tables}, a, b[:, first : first + core.channels]))
    return LayerOnCore(products, shape, dtype, reason or _lacking(rows, core))


def _lacking(rows: AnyArray, core: GemmCore) -> str:
    """What no product of the core can be; "" for what it can."""
    height, depth = rows.shape
    if depth > BYTES * core.steps:
        return f"depth lies above {BYTES * core.steps}"
    return f"there are more than {_HIGHEST:,} rows" if height > _HIGHEST else ""


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
