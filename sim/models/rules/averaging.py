"""The mean of bytes or int16 along axes as rules: TFLite's ways, and XNNPACK's.

Source: docs/spec/neighbours.md section 30.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Final

import numpy as np

from sim.explanation.rule import Integers, Operands, RuleStep, is_tie, only
from sim.golden.layers.mean import (
    MeanScales,
    mean_by_reciprocal,
    mean_cut,
    mean_in_fixed_point,
    mean_in_float32,
    mean_of_raw_sums,
    mean_of_scaled_sums,
)
from sim.golden.scaling import double_rounding, double_rounding_ties_up, single_rounding
from sim.models.layers import Averaged
from sim.models.rules.multiplied import SIDES

BLOCK: Final = 16
"""Channels that TFLite's kernel of images takes at a time."""
IN_BLOCKS: Final = "mean_of_raw_sums_in_blocks"
BY_ONE_ROUNDING: Final = "mean_by_single_rounding"
_IN_REALS: Final = ("mean_by_reciprocal", "mean_in_float32", "mean_in_float32_raised")
_OLDER: Final = "older versions of TFLite and TensorFlow Lite Micro"


@dataclass(frozen=True, eq=False)
class Averaging:
    """One way: `way` makes numbers of sums, and `operands["behind"]` is 1 behind the last whole block of channels."""

    name: str
    note: str
    way: Callable[[Integers], Integers]
    made: Averaged
    behind: Callable[[Integers], Integers] | None = None
    rises: bool = False

    def run(self, operands: Operands) -> Integers:
        sums = operands["sum"].astype(np.int64)
        if self.behind is None:
            return self.way(sums)
        return np.where(operands["behind"], self.behind(sums), self.way(sums))

    def steps(self, element: Mapping[str, int]) -> list[RuleStep]:
        by = scales_of(self.made)
        units = Fraction(element["sum"] - by.input_zero * self.made.count, self.made.count)
        exact = units * Fraction(float(by.input)) / Fraction(float(by.output))
        placed = int(self.run(only(element, ("sum", "behind")))[0])
        return [
            RuleStep("mean", placed - by.output_zero, exact, "tie" if is_tie(exact) else ""),
            RuleStep("offset", placed, exact + by.output_zero),
        ]

    def one_off(self) -> Iterator[tuple[str, Averaging]]:
        """With what multiplies sums one unit in the last place off."""
        for units, side in SIDES:
            (same,) = (one for one in averaging_rules(self.made, units) if one.name == self.name)
            what = "float32 scale one unit in the last place" if self.name in _IN_REALS else "multiplier one"
            yield f"the {what} {side}", same


def scales_of(made: Averaged, units: int = 0) -> MeanScales:
    return MeanScales(made.scale.scales[0], made.scale.zero_point, made.to.scales[0], made.to.zero_point, units)


def averaging_rules(made: Averaged, units: int = 0) -> list[Averaging]:
    """Every way, TFLite's reference first; `units` is by how many what multiplies sums is off."""
    by, count = scales_of(made, units), made.count
    raw = partial(mean_of_raw_sums, count=count, by=by)
    once = partial(raw, rescale=double_rounding)
    found = [
        Averaging(
            "mean_in_fixed_point", "LiteRT's kernels but for images, and TensorFlow Lite Micro",
            partial(mean_in_fixed_point, count=count, by=by, rescale=double_rounding), made,
        ),
        Averaging(
            BY_ONE_ROUNDING, "TFLite's single-rounding build",
            partial(mean_in_fixed_point, count=count, by=by, rescale=single_rounding), made,
        ),
        Averaging("mean_in_float32", _OLDER, partial(mean_in_float32, count=count, by=by), made),
        Averaging("mean_in_float32_raised", _OLDER, partial(mean_in_float32, count=count, by=by, raised=0.5), made),
    ]  # fmt: skip
    if made.dtype != "int16":
        reciprocal = partial(mean_by_reciprocal, count=count, by=by)
        found.insert(1, Averaging("mean_by_reciprocal", "XNNPACK, and LiteRT by it", reciprocal, made))
    if made.is_of_images and made.dtype != "uint8":
        scaled = partial(mean_of_scaled_sums, count=count, by=by, rescale=double_rounding)
        found.append(Averaging("mean_of_scaled_sums", f"{_OLDER}, of images", scaled, made))
    if made.is_of_images and made.dtype != "int16":
        found.append(Averaging("mean_of_raw_sums", "LiteRT's kernel of images, channel by channel", once, made))
        ties_up = partial(raw, rescale=double_rounding_ties_up)
        found.append(Averaging(IN_BLOCKS, "LiteRT's kernel of images, 16 channels at a time", ties_up, made, once))
    if (by.input, by.input_zero) == (by.output, by.output_zero):
        found.append(Averaging("mean_cut", _OLDER, partial(mean_cut, count=count), made))
    return found
