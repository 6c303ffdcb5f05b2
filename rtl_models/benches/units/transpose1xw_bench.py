"""transpose1xw on the bench."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count, product
from random import Random
from typing import Final

import numpy as np

from rtl_models.benches.coverage.unit_coverpoints import Met
from rtl_models.benches.coverage.unit_stimulus import in_turn
from rtl_models.benches.driving.frame import UnitFrame
from rtl_models.benches.unit_bench import UnitBench
from rtl_models.units import UNITS

CHUNK: Final = 16
"""Bytes of a chunk, of which a beat has one for every four lanes."""
_WIDTHS: Final = (1, 16, 5, 32, 3, 64, 17, 2, 33, 8, 63, 4, 48, 100, 7, 65, 12, 31, 128)
_HEIGHTS: Final = (1, 2, 5, 1, 3)
_ELEMENTS: Final = (1, 2, 4)
_LARGE: Final = tuple((1 << k) + more for k in range(5, 10) for more in (0, 1))
_DESTINATIONS: Final = (0, 0xFFFFFFF0, 16, 0x7FFFFFF0, 0xFFFFFF00, 0x12345670, 0xFFFFFFC0)


def row_bytes(settings: Mapping[str, int]) -> int:
    """Those of a row that are not its tail."""
    return settings["width"] * settings["element"]


def beats_of_a_row(settings: Mapping[str, int], lanes: int) -> int:
    """A row begins with a beat of its own."""
    return -(-row_bytes(settings) // (4 * lanes))


def coverpoints(frame: UnitFrame, lanes: int) -> Met:
    """Where rows and frames end, for every size of element; a coverpoint of a frame is met in all its beats."""
    settings, a_row = frame.settings, beats_of_a_row(frame.settings, lanes)
    numbers = np.arange(frame.beats)
    ends = numbers % a_row == a_row - 1
    chunks = -(-row_bytes(settings) // CHUNK) - (a_row - 1) * lanes // 4
    first, last = settings["destination"], settings["destination"] + CHUNK * (numbers.size - 1)
    met = {
        "a row of one beat": ends & (a_row == 1),
        "a row of several beats": ends & (a_row > 1),
        "a frame of one row": ends & (settings["height"] == 1),
        "a frame of several rows": ends & (settings["height"] > 1),
        "a frame of one beat": ends & (frame.beats == 1),
        "addresses wrap": ends & (first >> 32 != last >> 32),
    }
    met |= {f"a row ends with chunk {k}": ends & (chunks == k + 1) for k in range(lanes // 4)}
    has_tail = row_bytes(settings) % CHUNK != 0
    for element, zero, tail in product(_ELEMENTS, (0, 1), (False, True)):
        name = f"elements of {element} bytes, {'zero' if zero else 'given'} tail, {'one' if tail else 'none'}"
        met[name] = ends & ((settings["element"], settings["zero_tail"], has_tail) == (element, zero, tail))
    return {name: where[:, None] for name, where in met.items()}


def frames(rng: Random, lanes: int) -> Iterator[UnitFrame]:
    """Shapes and places in turn."""
    for number in count():
        settings = {"destination": in_turn(_DESTINATIONS, number), "width": in_turn(_WIDTHS, number)}
        settings |= {"height": in_turn(_HEIGHTS, number), "element": in_turn(_ELEMENTS, number)}
        yield _frame(settings | {"zero_tail": number // 3 % 2}, rng, lanes)


def rare_frames(rng: Random, lanes: int) -> list[UnitFrame]:
    """Tall and wide shapes anywhere, the tall among flat ones: their settings come in the middle of one another."""
    shapes = [(1, height, 1) for height in _LARGE] + [
        (8 * width, 1, element) for width in _LARGE for element in _ELEMENTS
    ]
    rng.shuffle(shapes)
    settings = [dict(zip(("width", "height", "element"), shape, strict=True)) for shape in shapes]
    return [_frame(each | {"destination": rng.getrandbits(28) << 4, "zero_tail": 1}, rng, lanes) for each in settings]


def long_frame(rng: Random, lanes: int, beats: int) -> UnitFrame:
    """The widest rows there are."""
    settings = {"destination": 0x1000, "width": 65535, "height": 1, "element": 1, "zero_tail": 1}
    return _frame(settings | {"height": -(-beats // beats_of_a_row(settings, lanes))}, rng, lanes)


def _frame(settings: dict[str, int], rng: Random, lanes: int) -> UnitFrame:
    beats = settings["height"] * beats_of_a_row(settings, lanes)
    return UnitFrame(
        settings, {"data_i": np.random.default_rng(rng.getrandbits(64)).integers(0, 1 << 32, (beats, lanes))}
    )


def fitted(frame: UnitFrame, lanes: int) -> UnitFrame | None:
    """As many whole rows as there are beats for, or the beginning of one; None where the settings make no rows."""
    settings = dict(frame.settings)
    if min(settings["width"], settings["height"], settings["element"]) < 1:
        return None
    settings["width"] = min(settings["width"], frame.beats * 4 * lanes // settings["element"])
    a_row = beats_of_a_row(settings, lanes)
    settings["height"] = min(settings["height"], frame.beats // a_row)
    return UnitFrame(settings, frame.cut(0, settings["height"] * a_row).operands)


BENCH: Final = UnitBench(
    unit=UNITS["transpose1xw"],
    coverpoints=coverpoints,
    frames=frames,
    long_frame=long_frame,
    round=114,
    fitted=fitted,
    rare_frames=rare_frames,
    samples_settings=True,
)
