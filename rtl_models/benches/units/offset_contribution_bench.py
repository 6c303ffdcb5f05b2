"""offset_contribution on the bench."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from random import Random
from typing import Final

from isa.lane import S32
from rtl_models.benches.coverage.stimulus import extremes
from rtl_models.benches.coverage.unit_coverpoints import INT32, Arithmetic, CoveredNumber, Lanes, broadcast, lost
from rtl_models.benches.coverage.unit_stimulus import in_turn, spread
from rtl_models.benches.driving.frame import UnitFrame
from rtl_models.benches.unit_bench import UnitBench
from rtl_models.units import UNITS

NUMBERS: Final = tuple(
    CoveredNumber(name, *INT32)
    for name in ("product", "column_sums", "row_sum", "bias", "a_offset", "b_offset", "constant")
)
_A_OFFSETS: Final = (0, S32.low, -128, 1, S32.high, -1, 77, 0x12345678, -0x12345678)
_B_OFFSETS: Final = (0, -128, S32.high, 1, 0x7FFF8000, S32.low, -1)
_CONSTANTS: Final = (0, S32.high, -1000, S32.low, 1, -1, 123456, 2)


def events(of: Lanes) -> Lanes:
    """Which of the terms and sums wrap."""
    column, row = of["column_sums"] * of["a_offset"], of["row_sum"] * of["b_offset"]
    terms = S32.wrap(column) + S32.wrap(row)
    return {
        "the column's product wraps": lost(S32, column),
        "the row's product wraps": lost(S32, row),
        "product and bias wrap": lost(S32, of["product"] + of["bias"]),
        "both products wrap": lost(S32, terms),
        "everything wraps": lost(S32, terms + of["product"] + of["bias"] + of["constant"]),
    }


def frames(rng: Random, lanes: int) -> Iterator[UnitFrame]:
    """Offsets and constants in turn."""
    for number in count():
        settings = {"a_offset": in_turn(_A_OFFSETS, number), "b_offset": in_turn(_B_OFFSETS, number)}
        yield _frame(settings | {"constant": in_turn(_CONSTANTS, number)}, rng, lanes)


def long_frame(rng: Random, lanes: int, beats: int) -> UnitFrame:
    """Offsets of a layer."""
    return _frame({"a_offset": -121, "b_offset": -128, "constant": 1982464}, rng, lanes, beats)


def _frame(settings: dict[str, int], rng: Random, lanes: int, beats: int = 0) -> UnitFrame:
    """Every operand has every corner in every lane, and random numbers; each in an order of its own."""
    values = [
        *extremes(S32),
        0x8000,
        -0x8000,
        0xFFFF,
        *(rng.randint(S32.low, S32.high) >> rng.randrange(32) for _ in range(8)),
    ]
    total = beats or len(values)
    per_lane = {
        port: spread(rng.sample(values, len(values)), total, lanes) for port in ("product_i", "column_sums_i", "bias_i")
    }
    return UnitFrame(settings, per_lane | {"row_sum_i": spread(rng.sample(values, len(values)), total, 1)})


BENCH: Final = UnitBench(
    unit=UNITS["offset_contribution"],
    coverpoints=Arithmetic(NUMBERS, events, broadcast, [("column_sums", "a_offset"), ("row_sum", "b_offset")]),
    frames=frames,
    long_frame=long_frame,
    round=72,
)
