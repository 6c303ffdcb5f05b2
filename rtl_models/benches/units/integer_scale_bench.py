"""integer_scale on the bench."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from random import Random
from typing import Final

import numpy as np

from isa.lane import S32
from rtl_models.benches.coverage.stimulus import extremes
from rtl_models.benches.coverage.unit_coverpoints import (
    INT32,
    Arithmetic,
    CoveredNumber,
    Lanes,
    broadcast,
    divided,
    lost,
    of_bounds,
    read_byte,
    ties,
)
from rtl_models.benches.coverage.unit_stimulus import (
    WHOLE_BYTE,
    beside_division_ties,
    beside_powers,
    bounds,
    in_turn,
    spread,
    wrapped,
)
from rtl_models.benches.driving.frame import UnitFrame
from rtl_models.benches.unit_bench import UnitBench
from rtl_models.units import UNITS

NUMBERS: Final = (
    CoveredNumber("accumulator", *INT32), CoveredNumber("bias", *INT32), CoveredNumber("multiplier", *INT32),
    CoveredNumber("shift", 0, 31), CoveredNumber("offset", *INT32), CoveredNumber("rounding", 0, 2),
    CoveredNumber("minimum", 0, 255), CoveredNumber("maximum", 0, 255), CoveredNumber("signed", 0, 1),
)  # fmt: skip
_MULTIPLIERS: Final = (1, 3, S32.low, -1, S32.high, 0, 123, -5, 0x10001, 1 << 16, -99999)
_SHIFTS: Final = (1, 0, 8, 31, 15, 30, 4)
_OFFSETS: Final = (0, S32.high, 1, -1, 100, S32.low, -1000)


def events(of: Lanes) -> Lanes:
    """What can happen on the way from an accumulator to its byte."""
    low, high = (read_byte(of[name], of["signed"]) for name in ("minimum", "maximum"))
    total = of["accumulator"] + of["bias"] + of["offset"]
    product = S32.wrap(total) * of["multiplier"]
    number, shift, rounding = S32.wrap(product), of["shift"], of["rounding"]
    tied = ties(number, shift)
    return {
        "the sum wraps": lost(S32, total),
        "the product wraps": lost(S32, product),
        **{
            f"{name}, {sign}": tied & rounding.equals(value) & signed
            for value, name in enumerate(("tie away from zero", "tie up", "tie down"))
            for sign, signed in (("negative", number < 0), ("positive", number > 0))
        },
        **of_bounds(divided(number, shift), low, high),
    }


def frames(rng: Random, lanes: int) -> Iterator[UnitFrame]:
    """Corners, and small quotients that lie between the bounds, in turn."""
    for number in count():
        turn, settings = number // 2, {"rounding": number // 2 % 3}
        if number % 2 == 0:
            settings |= {"multiplier": in_turn(_MULTIPLIERS, turn), "shift": in_turn(_SHIFTS, turn)}
            settings |= {"offset": in_turn(_OFFSETS, turn)} | bounds(turn)
        else:
            settings |= {"multiplier": in_turn((1, -1, 1, 3), turn), "shift": 1 + turn % 31, "offset": 0}
            settings |= in_turn((WHOLE_BYTE, {"signed": 1, "minimum": 128, "maximum": 127}), turn)
        yield _frame(settings, rng, lanes)


def long_frame(rng: Random, lanes: int, beats: int) -> UnitFrame:
    """Settings of a layer."""
    return _frame({"multiplier": 37, "shift": 12, "offset": 500, "rounding": 2} | WHOLE_BYTE, rng, lanes, beats)


def rare_frames(rng: Random, lanes: int) -> list[UnitFrame]:
    """Every shift by every rounding, products by every power of two, and sums far outside of a byte by one bit."""
    signed = {"signed": 1, "minimum": 128, "maximum": 127}
    divided_ones = [
        _plain({"multiplier": 1, "shift": shift, "rounding": rounding} | signed, beside_division_ties(shift), lanes)
        for shift in range(32)
        for rounding in range(3)
    ]
    powers = beside_powers(rng)
    multiplied = []
    for k in range(32):  # the highest bits of a product come down to a byte
        multiplier = (1 << k) - (1 << 32 if k == 31 else 0)
        values = [rng.getrandbits(32) - (1 << 31) for _ in range(40)]
        multiplied.append(_plain({"multiplier": multiplier, "shift": 24, "rounding": 1} | signed, values, lanes))
        odd = {"multiplier": multiplier | 1, "shift": 24, "rounding": 2}
        multiplied.append(_plain(odd | signed, values, lanes))
    sums = [_plain({"multiplier": 1, "shift": 0, "rounding": 0} | WHOLE_BYTE, powers, lanes)]
    return [*divided_ones, *multiplied, *sums]


def _plain(settings: dict[str, int], values: list[int], lanes: int) -> UnitFrame:
    """The values without a bias or an offset, each in every lane."""
    accumulators = spread(values, len(values), lanes)
    operands = {"accumulator_i": accumulators, "bias_i": np.zeros_like(accumulators)}
    return UnitFrame(settings | {"offset": 0}, operands)


def _frame(settings: dict[str, int], rng: Random, lanes: int, beats: int = 0) -> UnitFrame:
    """Sums worth dividing, less the offset: as many beats without a bias, then as many with one."""
    ties_there = beside_division_ties(settings["shift"])
    some = [rng.randint(S32.low, S32.high) >> rng.randrange(32) for _ in range(4)]
    values = [*extremes(S32), *ties_there, *some]
    total = beats or 2 * len(values)
    sums = spread(values, total, lanes) - settings["offset"]
    biases = spread(rng.sample(values, len(values)), total, lanes)
    biases[: total // 2] = 0
    return UnitFrame(settings, {"accumulator_i": wrapped(sums - biases), "bias_i": biases})


BENCH: Final = UnitBench(
    unit=UNITS["integer_scale"],
    coverpoints=Arithmetic(NUMBERS, events, broadcast, [("rounding", "shift"), ("rounding", "signed")]),
    frames=frames,
    long_frame=long_frame,
    round=66,
    rare_frames=rare_frames,
    aimed=lambda frame, rng, lanes: _frame(dict(frame.settings), rng, lanes, frame.beats),
)
