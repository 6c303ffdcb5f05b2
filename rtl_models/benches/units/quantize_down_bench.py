"""quantize_down on the bench."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count, product
from random import Random
from typing import Final

import numpy as np

from isa.lane import S32, constant
from rtl_models.benches.coverage.unit_coverpoints import (
    INT32,
    Arithmetic,
    CoveredNumber,
    Lanes,
    broadcast,
    lost,
    of_output,
    of_rescale,
    placed,
    read_byte,
    rescaled,
)
from rtl_models.benches.coverage.unit_stimulus import (
    EXACT,
    MULTIPLIERS,
    NEGATES,
    OF_HALVES,
    OFFSETS,
    SHIFTS,
    SMALL_ODD,
    WHOLE_BYTE,
    beside_division_ties,
    beside_powers,
    beside_product_ties,
    bounds,
    in_turn,
    rescaling_values,
    spread,
    wrapped,
)
from rtl_models.benches.driving.frame import UnitFrame
from rtl_models.benches.unit_bench import UnitBench
from rtl_models.units import UNITS

NUMBERS: Final = (
    CoveredNumber("accumulator", *INT32), CoveredNumber("bias", *INT32), CoveredNumber("multiplier", *INT32),
    CoveredNumber("shift", 0, 31),
    CoveredNumber("offset", *INT32), CoveredNumber("minimum", 0, 255), CoveredNumber("maximum", 0, 255),
    CoveredNumber("signed", 0, 1),
)  # fmt: skip


def events(of: Lanes) -> Lanes:
    """What can happen on the way from an accumulator to its byte."""
    low, high = (read_byte(of[name], of["signed"]) for name in ("minimum", "maximum"))
    total, output = of["accumulator"] + of["bias"], (of["offset"], low, high)
    biased, saturated = S32.wrap(total), S32.saturate(total)
    scaled, other = (rescaled(value, of["multiplier"], of["shift"]) for value in (biased, saturated))
    return {
        "bias wraps": lost(S32, total) & (constant(1) - placed(scaled, *output).equals(placed(other, *output))),
        **of_rescale("rescale", biased, of["multiplier"], of["shift"], lambda value: placed(value, *output)),
        **of_output(scaled, *output),
    }


def frames(rng: Random, lanes: int) -> Iterator[UnitFrame]:
    """Corners and small results in turn; every lane gets every corner of the rescaling, with and without a bias."""
    for number in count():
        turn = number // 2
        if number % 2 == 0:
            settings = {"multiplier": in_turn(MULTIPLIERS, turn), "shift": in_turn(SHIFTS, turn)}
            settings |= {"offset": in_turn(OFFSETS, turn)} | bounds(turn)
        else:  # those of small accumulators lie between the bounds, where a wrong rounding shows
            settings = {"multiplier": in_turn(EXACT, turn), "shift": in_turn((0, 1, 2, 31, 3), turn)}
            settings |= {"offset": in_turn((100, 128, 7), turn)} | WHOLE_BYTE
        yield _frame(settings, rng, lanes)


def long_frame(rng: Random, lanes: int, beats: int) -> UnitFrame:
    """Settings of a layer."""
    settings = {"multiplier": 1518500250, "shift": 7, "offset": 3}
    return _frame(settings | WHOLE_BYTE, rng, lanes, beats)


def rare_frames(rng: Random, lanes: int) -> list[UnitFrame]:
    """What comes close to a tie, every shift, sums far outside of a byte by one bit, and products of all sizes."""
    odd = [_plain(multiplier, 0, 128, beside_product_ties(multiplier, rng), lanes) for multiplier in SMALL_ODD]
    divided = [_plain(NEGATES, shift, 100, beside_division_ties(shift), lanes) for shift in range(32)]
    powers = [-value for value in beside_powers(rng)]
    scaled = [_plain(NEGATES, 0, 0, powers, lanes, some) for some in ((0, 255), (10, 200))]
    products = []
    for value, multiplier in product(OF_HALVES, repeat=2):
        offset = min(100 - (value * multiplier >> 31), S32.high)  # makes a byte of the product
        products.append(_plain(multiplier, 0, offset, [value], lanes))
    return [*odd, *divided, *scaled, *products, *(_plain(NEGATES, 0, value, [0], lanes) for value in powers)]


def _plain(
    multiplier: int, shift: int, offset: int, values: Sequence[int], lanes: int, within: tuple[int, int] = (0, 255)
) -> UnitFrame:
    """The values without a bias, each in every lane."""
    settings = {"multiplier": multiplier, "shift": shift, "offset": offset}
    settings |= {"signed": 0, "minimum": within[0], "maximum": within[1]}
    accumulators = spread(values, len(values), lanes)
    return UnitFrame(settings, {"accumulator_i": accumulators, "bias_i": np.zeros_like(accumulators)})


def _frame(settings: dict[str, int], rng: Random, lanes: int, beats: int = 0) -> UnitFrame:
    """As many beats without a bias as there are values, then as many with one, unless told how many."""
    values = rescaling_values(settings["multiplier"], settings["shift"], rng)
    total = beats or 2 * len(values)
    biased = spread(values, total, lanes)
    biases = spread(rng.sample(values, len(values)), total, lanes)
    biases[: len(values)] = 0
    return UnitFrame(settings, {"accumulator_i": wrapped(biased - biases), "bias_i": biases})


COVERPOINTS: Final = Arithmetic(NUMBERS, events, broadcast, [("accumulator", "multiplier")])
BENCH: Final = UnitBench(
    unit=UNITS["quantize_down"],
    coverpoints=COVERPOINTS,
    frames=frames,
    long_frame=long_frame,
    round=88,
    rare_frames=rare_frames,
    aimed=lambda frame, rng, lanes: _frame(dict(frame.settings), rng, lanes, frame.beats),
)
