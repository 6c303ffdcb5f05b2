"""quantize_down_channels on the bench: the arithmetic and its events are those of quantize_down."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import count
from random import Random
from typing import Final

import numpy as np

from isa.lane import S32
from rtl_models.benches.coverage.unit_coverpoints import Arithmetic, Columns, Met, broadcast, classes
from rtl_models.benches.coverage.unit_stimulus import (
    EXACT,
    MULTIPLIERS,
    OFFSETS,
    SHIFTS,
    SMALL_ODD,
    WHOLE_BYTE,
    beside_product_ties,
    bounds,
    in_turn,
    rescaling_values,
    wrapped,
)
from rtl_models.benches.driving.frame import UnitFrame
from rtl_models.benches.unit_bench import UnitBench
from rtl_models.benches.units.quantize_down_bench import NUMBERS, events
from rtl_models.register_map import CHANNELS
from rtl_models.unit_values import channel_setting
from rtl_models.units import UNITS
from sim.golden.fixed_point import Int64Array

_UNIT: Final = UNITS["quantize_down_channels"]
_BIASES: Final = (0, S32.low, 1, -1, S32.high, 1000, -1000, 12345678, -87654321)
_BEATS: Final = 36


def channels_of(frame: UnitFrame, lanes: int) -> Int64Array:
    """[beats, lanes]: the channel of each number; from the number of channels on it has none."""
    numbers = np.arange(frame.beats * lanes) % (lanes * beats_of_a_row(frame, lanes))
    return numbers.reshape(-1, lanes)


def beats_of_a_row(frame: UnitFrame, lanes: int) -> int:
    """A row begins with a beat of its own."""
    return -(-frame.settings["channels"] // lanes)


def _columns(frame: UnitFrame, lanes: int) -> Columns:
    """The numbers of the tables where they are used; those of channel 0 where a number has no channel."""
    channels, settings = channels_of(frame, lanes).ravel(), frame.settings
    own = {
        field: np.array([settings[channel_setting(field, c)] for c in range(settings["channels"])], np.int64)
        for field in _UNIT.tables
    }
    one = {name: settings[name] for name in _UNIT.settings}
    used = np.where(channels < one["channels"], channels, 0)
    return {**broadcast(UnitFrame(one, frame.operands), lanes), **{field: table[used] for field, table in own.items()}}


_ARITHMETIC: Final = Arithmetic(NUMBERS, events, _columns, [("accumulator", "multiplier")])


def coverpoints(most: int, frame: UnitFrame, lanes: int) -> Met:
    """Those of the arithmetic where there is a channel, and how rows end."""
    channels, row = channels_of(frame, lanes), beats_of_a_row(frame, lanes)
    ends = np.arange(frame.beats)[:, None] % row == row - 1
    inside = frame.settings["channels"] % lanes != 0
    return {name: met & (channels < frame.settings["channels"]) for name, met in _ARITHMETIC(frame, lanes).items()} | {
        "a row of one beat": ends & (row == 1),
        "a row of several beats": ends & (row > 1),
        "a row ends inside a beat": ends & inside,
        "a row ends with its beat": ends & (not inside),
        "a frame ends inside a row": ~ends[-1:],
        **{
            f"channels {name}": ends & (a <= frame.settings["channels"] <= b)
            for name, (a, b) in classes(1, most).items()
        },
    }


def frames(most: int, rng: Random, lanes: int) -> Iterator[UnitFrame]:
    """Rows of every kind in turn, their channels with all corners of the settings, or with small results.

    Of the tables' `most` channels every length is met; a frame has its longest row twice, and the beginning of a third.
    """
    # 13 lengths, so that each meets every corner of the settings
    lengths = [min(length, most) for length in (5, 1, most, 16, 3, 8, most - 1, 4, 17, 2, most // 2 + 1, 15, 7)]
    for number in count():
        within = bounds(number // 2) if number % 2 else WHOLE_BYTE
        offset = in_turn(OFFSETS, number // 2) if number % 2 else in_turn((100, 128, 7), number)
        settings = {"offset": offset, "channels": in_turn(lengths, number)} | within
        beats = max(_BEATS, 2 * -(-settings["channels"] // lanes) + 1)
        yield _frame(settings, number, rng, lanes, beats + number % 3)


def long_frame(most: int, rng: Random, lanes: int, beats: int) -> UnitFrame:
    """Rows of as many channels as there are."""
    settings = {"offset": 3, "channels": most} | WHOLE_BYTE
    return _frame(settings, 1, rng, lanes, beats)


def _frame(settings: dict[str, int], number: int, rng: Random, lanes: int, beats: int) -> UnitFrame:
    """All corners of bias, multiplier and shift in the channels of odd numbers; in even ones a wrong rounding shows.

    Each channel has the corners of its own rescaling, row after row: without regard to the bias, then with it.
    """
    channels = []
    for turn in range(number, number + settings["channels"]):
        if number % 2:
            channels.append((in_turn(_BIASES, turn), in_turn(MULTIPLIERS, turn), in_turn(SHIFTS, turn)))
        else:
            channels.append((in_turn(_BIASES, turn), in_turn(EXACT, turn // 3), in_turn((0, 1, 2, 31, 3), turn)))
    settings |= _tables(channels)
    blank = UnitFrame(settings, {"accumulator_i": np.zeros((beats, lanes), np.int64)})
    columns = _columns(blank, lanes)
    pairs = list(zip(columns["multiplier"].tolist(), columns["shift"].tolist(), strict=True))
    pools = {pair: rescaling_values(*pair, rng) for pair in sorted(set(pairs))}
    own = [pools[pair] for pair in pairs]
    turns = rng.randrange(99) + np.arange(beats * lanes) // lanes
    chosen = [in_turn(pool, int(turn)) for pool, turn in zip(own, turns, strict=True)]
    biases = np.where(turns // np.array(list(map(len, own))) % 2 == 0, columns["bias"], 0)
    accumulators = wrapped(np.array(chosen, np.int64) - biases).reshape(-1, lanes)
    return UnitFrame(settings, {"accumulator_i": accumulators})


def _tables(channels: Sequence[tuple[int, int, int]]) -> dict[str, int]:
    """Of bias, multiplier and shift of every channel."""
    return {
        channel_setting(field, channel): value
        for channel, own in enumerate(channels)
        for field, value in zip(_UNIT.tables, own, strict=True)
    }


def rare_frames(most: int, rng: Random, lanes: int) -> list[UnitFrame]:
    """Products close to ties: every channel, but for those beyond `CHANNELS`, has a small odd multiplier."""
    channels = min(most, CHANNELS)
    multipliers = [in_turn(SMALL_ODD, channel) for channel in range(channels)]
    settings = {"offset": 128, "channels": channels} | WHOLE_BYTE
    settings |= _tables([(0, multiplier, 0) for multiplier in multipliers])
    rows = np.array([beside_product_ties(multiplier, rng) for multiplier in multipliers], np.int64).T
    return [UnitFrame(settings, {"accumulator_i": rows.reshape(-1, lanes)})]


def fitted(frame: UnitFrame, lanes: int) -> UnitFrame | None:
    """Without the tables of channels that there are not."""
    names = {channel_setting(field, k) for field in _UNIT.tables for k in range(frame.settings["channels"])}
    kept = {name: value for name, value in frame.settings.items() if name in names or name in _UNIT.settings}
    return UnitFrame(kept, frame.operands) if frame.settings["channels"] else None


def bench_at(channels: int) -> UnitBench:
    """With tables of so many channels."""
    return UnitBench(
        unit=_UNIT,
        coverpoints=partial(coverpoints, channels),
        frames=partial(frames, channels),
        long_frame=partial(long_frame, channels),
        round=130,
        fitted=fitted,
        rare_frames=partial(rare_frames, channels),
    )
