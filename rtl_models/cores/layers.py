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

from rtl_models.cores.gemm import BYTES, CHANNEL_FIELDS, GemmCore, GemmLayer, WindowLayer
from rtl_models.register_map import outside
from rtl_models.unit_values import Settings, channel_setting
from sim.golden.fixed_point import Int64Array
from sim.kernels.conv2d.golden import Geometry, output_shape
from sim.kernels.kernel import Inputs, Kernel

AnyArray = npt.NDArray[Any]
ROUNDINGS: Final = ("double_rounding", "double_rounding_ties_up", "single_rounding")
"""What the modes are named by, in the order of the setting `rounding`."""
MODES: Final = tuple(f"{kind}_{rounding}" for rounding in ROUNDINGS for kind in ("s8", "u8"))
"""Those of fixed point; there is no hardware for scales in float."""


LAYER_STEPS: Final = 128
"""Of the core: windows of 3 x 3 of up to 56 channels."""
Operands = Sequence[tuple[AnyArray, AnyArray, Geometry | None]]
"""Rows [rows, depth] and columns [depth, columns]; or an image and the columns of its windows, as in `WindowLayer`."""


class LayerOperands(NamedTuple):
    """What a layer multiplies, one below the other, and the shape of its output."""

    operands: Operands
    shape: tuple[int, ...]


@dataclass(frozen=True)
class LayerOnCore:
    """An input set of a layer: products, each of as many columns as the core has channels at most.

    They come side by side, `across` of them, then below.  `reason` says what the core lacks, the same for all that lack
    it; "" where it has all.
    """

    products: Sequence[GemmLayer]
    across: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    reason: str

    def output(self, results: Sequence[Int64Array]) -> AnyArray:
        """Of the products' results, bytes 0..255 [rows, columns]; there are none of an empty output."""
        below = [list(results[first : first + self.across]) for first in range(0, len(results), self.across)]
        numbers = np.block(below) if below else np.zeros(0)
        return numbers.astype(np.uint8).view(self.dtype).reshape(self.shape)


def layer_on_core(kernel: Kernel, inputs: Inputs, core: GemmCore) -> LayerOnCore:
    """What the core is given for an input set of a kernel in `LAYERS`, in one of `MODES`."""
    operands, shape = LAYERS[kernel.name](inputs)
    given = kernel.arguments(inputs)
    columns, dtype = shape[-1], inputs["weights"].dtype
    rounding = ROUNDINGS.index(kernel.mode.partition("_")[2])
    if not math.prod(shape):
        return LayerOnCore([], 1, shape, dtype, "")
    settings = {
        "a_offset": -int(given["input_zero"]), "b_offset": -int(given.get("weights_zero", 0)),
        "offset": int(given["output_zero"]), "minimum": int(given["lower"]), "maximum": int(given["upper"]),
        "signed": int(dtype == np.int8), "rounding": rounding,
    }  # fmt: skip
    biases = np.zeros(columns, np.int32) if given["bias"] is None else given["bias"]
    shifts = given["left_shifts"].astype(np.int64)
    factors = list(zip(biases, given["multipliers"], np.maximum(-shifts, 0), np.maximum(shifts, 0), strict=True))
    starts, products = range(0, columns, core.channels), []
    for rows, weights, geometry in operands:
        for first in starts:
            tables = {
                channel_setting(name, channel): int(value)
                for channel, numbers in enumerate(factors[first : first + core.channels])
                for name, value in zip(CHANNEL_FIELDS, numbers, strict=True)
            }
            some = weights[..., first : first + core.channels]
            products.append(_product({**settings, **tables}, rows, some, geometry))
    reasons = (_lacking(product, core) for product in products)
    return LayerOnCore(products, len(starts), shape, dtype, next(filter(None, reasons), ""))


def _product(settings: Settings, rows: AnyArray, weights: AnyArray, geometry: Geometry | None) -> GemmLayer:
    a, b = (numbers.astype(np.int64) & 0xFF for numbers in (rows, weights))
    if not a.shape[-1]:  # no numbers are one that counts for nothing: the input's zero point
        a = np.full((*a.shape[:-1], 1), -settings["a_offset"] & 0xFF)
        b = np.zeros((*b.shape[:-2], 1, b.shape[-1]), np.int64)
    return GemmLayer(settings, a, b) if geometry is None else WindowLayer(settings, a, b, geometry)


def _lacking(product: GemmLayer, core: GemmCore) -> str:
    """What no product of the core can be; "" for what it can."""
    if product.shape.k > BYTES * core.steps:
        return f"depth lies above {BYTES * core.steps}"
    if isinstance(product, WindowLayer) and product.image_words > core.image:
        return f"an image has more than {core.image:,} words of four channels"
    return outside(product.registers)


def _of_fully_connected(inputs: Inputs) -> LayerOperands:
    rows, weights = inputs["input"], inputs["weights"]
    return LayerOperands([(rows, weights.T, None)], (len(rows), len(weights)))


def _of_conv2d(inputs: Inputs) -> LayerOperands:
    """Pixels are rows, those that a stride passes over apart; else every image has its windows."""
    images, weights, geometry = inputs["input"], inputs["weights"], inputs["geometry"]
    shape = output_shape(images.shape, weights.shape, geometry)
    if weights.shape[1:3] == (1, 1) and geometry == Geometry(geometry.stride_y, geometry.stride_x):
        pixels = images[:, :: geometry.stride_y, :: geometry.stride_x]
        rows = pixels.reshape(math.prod(pixels.shape[:3]), weights.shape[3])
        return LayerOperands([(rows, weights[:, 0, 0].T, None)], shape)
    return LayerOperands([(image, weights.transpose(1, 2, 3, 0), geometry) for image in images], shape)


LAYERS: Final[Mapping[str, Callable[[Inputs], LayerOperands]]] = {
    "fully_connected": _of_fully_connected,
    "conv2d": _of_conv2d,
}
"""By kernel."""
