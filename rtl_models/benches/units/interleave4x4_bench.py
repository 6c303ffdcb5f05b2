"""interleave4x4 on the bench."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from random import Random
from typing import Final

import numpy as np

from rtl_models.benches.coverage.unit_coverpoints import Met
from rtl_models.benches.coverage.unit_stimulus import in_turn
from rtl_models.benches.driving.frame import UnitFrame
from rtl_models.benches.unit_bench import UnitBench
from rtl_models.units import UNITS

_ELEMENTS: Final = (1, 2, 4)
_BEATS: Final = (1, 2, 7)


def coverpoints(frame: UnitFrame, lanes: int) -> Met:
    """Every byte of a beat apart from the others, for every size of element."""
    octets = frame.operands["data_i"].astype("<u4").view(np.uint8).reshape(frame.beats, -1)
    apart = np.array([len(set(row)) == len(row) for row in octets.tolist()])
    return {
        f"elements of {element} bytes, all bytes apart": (apart & (frame.settings["element"] == element))[:, None]
        for element in _ELEMENTS
    }


def frames(rng: Random, lanes: int) -> Iterator[UnitFrame]:
    """Every size of element in frames of different lengths."""
    for number in count():
        yield _frame(in_turn(_ELEMENTS, number), in_turn(_BEATS, number // 3), rng, lanes)


def long_frame(rng: Random, lanes: int, beats: int) -> UnitFrame:
    """Bytes."""
    return _frame(1, beats, rng, lanes)


def _frame(element: int, beats: int, rng: Random, lanes: int) -> UnitFrame:
    """In each beat a few bytes of each row, no two alike."""
    octets = [rng.sample(range(256), 4 * lanes) for _ in range(beats)]
    data = np.array(octets, np.uint8).view("<u4").astype(np.int64)
    return UnitFrame({"element": element}, {"data_i": data})


BENCH: Final = UnitBench(
    unit=UNITS["interleave4x4"],
    coverpoints=coverpoints,
    frames=frames,
    long_frame=long_frame,
    round=18,
)
