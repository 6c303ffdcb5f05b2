"""Images that are resized by bilinear interpolation, as rules: TFLite's ways, XNNPACK's, and ONNX Runtime's of bytes.

Operands are places in the whole output.  Source: docs/spec/neighbours.md sections 36 and 43.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from sim.explanation.rule import Integers, Operands, RuleStep, is_tie
from sim.golden.layers.bilinear import BY_XNNPACK, IN_INTEGERS, IN_REALS, Resizing, Way
from sim.models.network import AnyArray

_USERS: Final = {
    "bilinear_in_10_bits": "TFLite and TensorFlow Lite Micro, of int8 and int16",
    "bilinear_in_10_bits_ties_up": "TFLite's single-rounding build",
    "bilinear_in_float32": "TFLite's reference",
    "bilinear_by_weights_in_float32": "TFLite's optimised kernels without delegates",
    "bilinear_in_11_bits": "XNNPACK, and LiteRT by it",
}


@dataclass(frozen=True, eq=False)
class Interpolating:
    """One way on a whole image [N, H, W, C]; `operands["place"]` counts the numbers of the output."""

    name: str
    way: Way
    image: AnyArray
    by: Resizing
    rises: bool = False

    @property
    def note(self) -> str:
        return _USERS[self.name]

    def run(self, operands: Operands) -> Integers:
        return np.asarray(self._output.ravel()[operands["place"]])

    def steps(self, element: Mapping[str, int]) -> list[RuleStep]:
        at = np.unravel_index(element["place"], self._output.shape)
        image, row, column, channel = (int(one) for one in at)
        y, x = self._lies_at(row, 1), self._lies_at(column, 2)
        top, left = int(y), int(x)
        (down, along), (bottom, right) = (y - top, x - left), (top + (y > top), left + (x > left))
        pixels = [int(self.image[image, i, j, channel]) for i in (top, bottom) for j in (left, right)]
        weights = [of_row * of_column for of_row in (1 - down, down) for of_column in (1 - along, along)]
        exact = sum((weight * pixel for weight, pixel in zip(weights, pixels, strict=True)), Fraction(0))
        told = f"{float(y):.6g} down and {float(x):.6g} along, between {', '.join(map(str, pixels))}"
        return [RuleStep(told, int(self._output[at]), exact, "tie" if is_tie(exact) else "")]

    def _lies_at(self, place: int, axis: int) -> Fraction:
        """Where a row or column of the output lies in the image, in real numbers."""
        before, behind = self.image.shape[axis], (self.by.rows, self.by.columns)[axis - 1]
        if self.by.corners and behind > 1:
            return Fraction(place * (before - 1), behind - 1)
        half = Fraction(int(self.by.centres), 2)
        at: Fraction = (place + half) * before / behind - half
        return min(max(at, Fraction(0)), Fraction(before - 1))

    @cached_property
    def _output(self) -> Integers:
        return self.way(self.image, self.by)


def interpolating_rules(image: AnyArray, by: Resizing) -> list[Interpolating]:
    """Every way that takes such numbers, TFLite's reference first."""
    ways = dict(IN_REALS if image.dtype == np.uint8 else IN_INTEGERS)
    if image.dtype != np.int16:
        ways |= BY_XNNPACK
    return [Interpolating(name, way, image, by) for name, way in ways.items()]


@dataclass(frozen=True, eq=False)
class CutInterpolation:
    """Bytes as ONNX Runtime resizes them as such: float32 sums (flat) that `operands["number"]` counts, cut.

    Source: docs/spec/neighbours.md section 43.
    """

    sums: npt.NDArray[np.float32]
    rises: bool = False

    @property
    def name(self) -> str:
        return "bilinear_in_float32_cut"

    @property
    def note(self) -> str:
        return "ONNX Runtime, of bytes without pairs"

    def run(self, operands: Operands) -> Integers:
        return np.trunc(self.sums[operands["number"]]).astype(np.int64)

    def steps(self, element: Mapping[str, int]) -> list[RuleStep]:
        exact = Fraction(float(self.sums[element["number"]]))
        return [RuleStep("between four numbers", int(exact), exact)]
