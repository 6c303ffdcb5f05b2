"""requantize on the bench: the factors of its lanes and their events are those of quantized_multiplier."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from random import Random
from typing import Final

import numpy as np

from isa.lane import S32
from rtl_models.benches.coverage.unit_coverpoints import (
    INT32,
    Arithmetic,
    CoveredNumber,
    Lanes,
    broadcast,
    lost,
    of_bounds,
    read_byte,
)
from rtl_models.benches.coverage.unit_stimulus import OFFSETS, WHOLE_BYTE, beside_powers, bounds, in_turn, wrapped
from rtl_models.benches.driving.frame import UnitFrame
from rtl_models.benches.unit_bench import UnitBench
from rtl_models.benches.units.quantized_multiplier_bench import (
    FACTORS,
    Factor,
    factor_operands,
    factors_in_turn,
    factors_of,
    factors_of_a_layer,
    is_defined,
    numbers_of_lanes,
    rare_factors,
    scaled,
    scaled_events,
)
from rtl_models.units import UNITS
from sim.golden.fixed_point import Int64Array

NUMBERS: Final = (
    CoveredNumber("accumulator", *INT32), CoveredNumber("bias", *INT32), *FACTORS, CoveredNumber("offset", *INT32),
    CoveredNumber("minimum", 0, 255), CoveredNumber("maximum", 0, 255), CoveredNumber("signed", 0, 1),
)  # fmt: skip
_IDENTITY: Final[tuple[int, Factor]] = (0, (S32.low, 0, 0))
"""The factor -1 by two roundings: nothing is rounded."""
_BEATS: Final = 40


def events(of: Lanes) -> Lanes:
    """What can happen on the way from an accumulator to its byte."""
    low, high = (read_byte(of[name], of["signed"]) for name in ("minimum", "maximum"))
    biased = S32.wrap(of["accumulator"] + of["bias"])
    total = scaled(of, biased) + of["offset"]
    return {
        "bias wraps": lost(S32, of["accumulator"] + of["bias"]),
        **scaled_events(of, biased),
        "the sum is far above": (total > high) & lost(S32, total),
        "the sum is far below": (total < low) & lost(S32, total),
        **of_bounds(total, low, high),
    }


def frames(rng: Random, lanes: int) -> Iterator[UnitFrame]:
    """Roundings and factors in turn, with corners of offsets and bounds, and with offsets that make bytes."""
    for number in count():
        rounding, factors = factors_in_turn(number, lanes)
        turn = number // 6 * 3 + number % 3
        if number // 3 % 2 == 0:
            settings = {"offset": in_turn(OFFSETS, turn)} | bounds(turn)
        else:
            settings = {"offset": in_turn((100, 128, 7), number // 6)} | WHOLE_BYTE
        yield _frame(rounding, factors, settings, rng)


def long_frame(rng: Random, lanes: int, beats: int) -> UnitFrame:
    """A layer with a scale for each channel."""
    return _frame(0, factors_of_a_layer(lanes), {"offset": 3} | WHOLE_BYTE, rng, beats)


def rare_frames(rng: Random, lanes: int) -> list[UnitFrame]:
    """Those of the factors, each brought near to a byte, and sums far outside of one by one bit."""
    found = []
    for rounding, factor, values in rare_factors(rng):
        for offset in {100, _offset_to_a_byte(factor, values[0])}:
            found.append(_in_every_lane(rounding, factor, values, offset, lanes))
    powers = [-value for value in beside_powers(rng)]
    return [*found, _in_every_lane(*_IDENTITY, powers, 0, lanes)]


def _offset_to_a_byte(factor: Factor, value: int) -> int:
    """What makes about 100 of the number times the factor, as far as 32 bits go."""
    multiplier, left, right = factor
    product = (value * multiplier << left) >> (31 + right)
    return max(S32.low, min(S32.high, 100 - product))


def _in_every_lane(rounding: int, factor: Factor, values: list[int], offset: int, lanes: int) -> UnitFrame:
    accumulators = np.tile(np.array(values, np.int64)[:, None], (1, lanes))
    operands = {"accumulator_i": accumulators, "bias_i": np.zeros_like(accumulators)}
    settings = {"rounding": rounding, "offset": offset} | WHOLE_BYTE
    return UnitFrame(settings, operands | factor_operands([factor] * lanes, len(values)))


def _frame(
    rounding: int, factors: list[Factor], settings: dict[str, int], rng: Random, beats: int = _BEATS
) -> UnitFrame:
    """The first half of the beats without a bias."""
    totals = numbers_of_lanes(rounding, factors, rng, beats)
    biases: Int64Array = np.roll(totals, 1, axis=0)
    biases[: beats // 2] = 0
    operands = {"accumulator_i": wrapped(totals - biases), "bias_i": biases}
    return UnitFrame({"rounding": rounding} | settings, operands | factor_operands(factors, beats))


def _aimed(frame: UnitFrame, rng: Random) -> UnitFrame:
    settings = {name: value for name, value in frame.settings.items() if name != "rounding"}
    return _frame(frame.settings["rounding"], factors_of(frame), settings, rng, frame.beats)


BENCH: Final = UnitBench(
    unit=UNITS["requantize"],
    coverpoints=Arithmetic(NUMBERS, events, broadcast, [("rounding", "shift")]),
    frames=frames,
    long_frame=long_frame,
    round=72,
    fitted=lambda frame, _: frame if is_defined(frame) else None,
    rare_frames=rare_frames,
    aimed=lambda frame, rng, _: _aimed(frame, rng),
)
