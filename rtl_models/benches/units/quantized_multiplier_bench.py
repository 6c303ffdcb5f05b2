"""quantized_multiplier on the bench; its factors of each lane are those of requantize, too."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from random import Random
from typing import Final

import numpy as np

from isa.lane import S32, Lane, constant, select
from isa.semantics.multiply import rounding_doubling_multiply_high
from rtl_models.benches.coverage.unit_coverpoints import (
    INT32,
    Arithmetic,
    CoveredNumber,
    Lanes,
    broadcast,
    lost,
    of_rescale,
    rescaled,
    ties,
)
from rtl_models.benches.coverage.unit_stimulus import (
    EXACT,
    MULTIPLIERS,
    NEGATES,
    OF_HALVES,
    SMALL_ODD,
    beside_division_ties,
    beside_product_ties,
    in_turn,
    once_rounded_ties,
    rescaling_values,
    spread,
)
from rtl_models.benches.driving.frame import UnitFrame
from rtl_models.benches.unit_bench import UnitBench
from rtl_models.unit_values import ONE_ROUNDING
from rtl_models.units import UNITS
from sim.golden.fixed_point import Int64Array

Factor = tuple[int, int, int]
"""A multiplier, a left shift and one to the right."""
FACTORS: Final = (
    CoveredNumber("multiplier", *INT32), CoveredNumber("left_shift", 0, 31), CoveredNumber("shift", 0, 31),
    CoveredNumber("rounding", 0, 2),
)  # fmt: skip
NUMBERS: Final = (CoveredNumber("value", *INT32), *FACTORS)
_SHIFTS: Final = ((0, 0), (0, 1), (7, 0), (0, 31), (31, 0), (1, 1), (0, 30), (30, 2), (0, 7), (20, 31), (0, 15))
"""To the left and to the right."""
_BEATS: Final = 40


def scaled_events(of: Lanes, value: Lane) -> dict[str, Lane]:
    """What can happen where a number is scaled by the factor of its lane, as the rounding says."""
    twice, once = of["rounding"].equals(0) | of["rounding"].equals(1), of["rounding"].equals(ONE_ROUNDING)
    shifted = value << of["left_shift"]
    away = of_rescale("twice", S32.wrap(shifted), of["multiplier"], of["shift"], lambda v: v)
    up = away["twice: tie of the division, negative"]
    product, places = value * of["multiplier"], _places(of)
    return {
        "the left shift wraps": twice & lost(S32, shifted),
        **{name: met & of["rounding"].equals(0) for name, met in away.items()},
        "ties up: tie of the division, negative": up & of["rounding"].equals(1),
        "once: tie, negative": once & ties(product, places) & (product < 0),
        "once: tie, positive": once & ties(product, places) & (product > 0),
        "once: the result wraps": once & lost(S32, _nearest(product, places)),
    }


def scaled(of: Lanes, value: Lane) -> Lane:
    """The number times the factor of its lane."""
    shifted = S32.wrap(value << of["left_shift"])
    away = rescaled(shifted, of["multiplier"], of["shift"])
    up = _nearest(rounding_doubling_multiply_high(S32, shifted, of["multiplier"]), of["shift"])
    once = S32.wrap(_nearest(value * of["multiplier"], _places(of)))
    return select(of["rounding"].equals(ONE_ROUNDING), once, select(of["rounding"].equals(1), up, away))


def _places(of: Lanes) -> Lane:
    return of["shift"] + 31 - of["left_shift"]


def _nearest(value: Lane, places: Lane) -> Lane:
    """Divided by 2^places, ties up."""
    return (value + ((constant(1) << places) >> 1)) >> places


def events(of: Lanes) -> Lanes:
    """What can happen on the way from a value to its product."""
    return scaled_events(of, of["value"])


def factors_in_turn(number: int, lanes: int) -> tuple[int, list[Factor]]:
    """A rounding, and the factors of the lanes: all corners of multipliers and of shifts meet in time."""
    rounding, turn = number % 3, number // 3
    factors = []
    for lane in range(lanes):
        place = turn + 7 * lane
        multiplier = in_turn(EXACT if turn % 2 else MULTIPLIERS, place)
        left, right = in_turn(_SHIFTS, turn // 2 + 3 * lane)
        factors.append(legal_factor(rounding, (multiplier, left, right)))
    return rounding, factors


def factors_of_a_layer(lanes: int) -> list[Factor]:
    """With a scale for each channel."""
    return [(1518500250 + lane, 0, 7 + lane % 3) for lane in range(lanes)]


def legal_factor(rounding: int, factor: Factor) -> Factor:
    """The nearest that one rounding takes, where there is one."""
    multiplier, left, right = factor
    return (min(abs(multiplier), S32.high), min(left, 30), right) if rounding == ONE_ROUNDING else factor


def worth_scaling(rounding: int, factor: Factor, rng: Random) -> list[int]:
    """Numbers that come to ties and ends with a factor."""
    multiplier, left, right = factor
    if rounding == ONE_ROUNDING:
        return [*once_rounded_ties(multiplier, right + 30 - left, rng), *rescaling_values(multiplier, right, rng)]
    return [*(value >> left for value in rescaling_values(multiplier, right, rng)), S32.low, S32.high, 0x12345678]


def factor_operands(factors: list[Factor], beats: int) -> dict[str, Int64Array]:
    """By port the factors of the lanes, the same in all beats."""
    names = ("multiplier_i", "left_shift_i", "shift_i")
    columns = zip(*factors, strict=True)
    return {name: np.tile(np.array(column, np.int64), (beats, 1)) for name, column in zip(names, columns, strict=True)}


def numbers_of_lanes(rounding: int, factors: list[Factor], rng: Random, beats: int) -> Int64Array:
    """[beats, lanes]: in each lane what is worth scaling there."""
    columns = []
    for factor in factors:
        values = worth_scaling(rounding, factor, rng)
        columns.append(np.resize(np.array(rng.sample(values, len(values)), np.int64), beats))
    return np.stack(columns, axis=1)


def rare_factors(rng: Random) -> list[tuple[int, Factor, list[int]]]:
    """Roundings and factors with numbers close to ties, every shift to either side, and products of all sizes."""
    found = [(0, (multiplier, 0, 0), beside_product_ties(multiplier, rng)) for multiplier in SMALL_ODD]
    for rounding in (0, 1):
        found += [(rounding, (NEGATES, 0, right), beside_division_ties(right)) for right in range(32)]
    found += [(0, (NEGATES, left, 0), [1, -1, 3, 0x155, rng.getrandbits(31)]) for left in range(32)]
    for places in range(62):
        left, right = max(0, 30 - places), max(0, places - 30)
        for multiplier in (1, 3, 1 << 30, rng.randrange(1, 1 << 30, 2)):
            ties_there = once_rounded_ties(multiplier, places, rng)
            beside = [value + d for value in ties_there for d in (-1, 0, 1)]
            found.append((ONE_ROUNDING, (multiplier, left, right), [rng.getrandbits(31), *beside]))
    found += [(0, (multiplier, 0, 0), list(OF_HALVES)) for multiplier in OF_HALVES]
    return [(r, factor, [v for v in values if S32.low <= v <= S32.high]) for r, factor, values in found]


def factors_of(frame: UnitFrame) -> list[Factor]:
    """The factors of the lanes, of a frame in which they are the same in all beats."""
    columns = (frame.operands[name][0].tolist() for name in ("multiplier_i", "left_shift_i", "shift_i"))
    return list(zip(*columns, strict=True))


def is_defined(frame: UnitFrame) -> bool:
    """Whether the golden has it: with one rounding no multiplier is negative, and no left shift 31."""
    once = frame.settings["rounding"] == ONE_ROUNDING
    odd = (frame.operands["multiplier_i"] < 0).any() or (frame.operands["left_shift_i"] > 30).any()
    return not (once and odd)


def frames(rng: Random, lanes: int) -> Iterator[UnitFrame]:
    """Roundings and factors in turn."""
    for number in count():
        yield _frame(*factors_in_turn(number, lanes), rng, _BEATS)


def long_frame(rng: Random, lanes: int, beats: int) -> UnitFrame:
    """Factors of a layer with a scale for each channel."""
    return _frame(0, factors_of_a_layer(lanes), rng, beats)


def rare_frames(rng: Random, lanes: int) -> list[UnitFrame]:
    """Every one in every lane."""
    return [
        UnitFrame(
            {"rounding": rounding},
            {"value_i": spread(values, len(values), lanes), **factor_operands([factor] * lanes, len(values))},
        )
        for rounding, factor, values in rare_factors(rng)
    ]


def _frame(rounding: int, factors: list[Factor], rng: Random, beats: int) -> UnitFrame:
    values = numbers_of_lanes(rounding, factors, rng, beats)
    return UnitFrame({"rounding": rounding}, {"value_i": values, **factor_operands(factors, beats)})


BENCH: Final = UnitBench(
    unit=UNITS["quantized_multiplier"],
    coverpoints=Arithmetic(NUMBERS, events, broadcast, [("rounding", "shift")]),
    frames=frames,
    long_frame=long_frame,
    round=48,
    fitted=lambda frame, _: frame if is_defined(frame) else None,
    rare_frames=rare_frames,
    aimed=lambda frame, rng, _: _frame(frame.settings["rounding"], factors_of(frame), rng, frame.beats),
)
