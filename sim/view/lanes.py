"""The lanes of one call around those that are wrong, as plain text: for messages that land in logs."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any, Final

import numpy as np

from sim.check.compare import Place, agreement
from sim.kernels.kernel import Inputs, Outputs

MOST_ROWS: Final = 20
Array = np.ndarray[Any, Any]


def lane_table(arguments: Inputs, golden: Outputs, outputs: Mapping[str, Outputs]) -> str:
    """The first output that is wrong: per lane its inputs, the golden number, what each engine got, the difference.

    `outputs` are those of one call by engine.  Wrong lanes are marked with <; those before and after stand beside them,
    and "..." for what is left out, at most 20 rows.  "" where every lane is right.
    """
    for name, expected in golden.items():
        got = {engine: arrays[name] for engine, arrays in outputs.items()}
        wrong = ~np.logical_and.reduce([agreement(array, expected) for array in got.values()])
        if wrong.any():
            return _table(name, arguments, expected, got, wrong)
    return ""


def _table(name: str, arguments: Inputs, expected: Array, got: Mapping[str, Array], wrong: Array) -> str:
    inputs = {key: lanes for key, value in arguments.items() if (lanes := _lanes(value, expected.shape)) is not None}
    header = [name, *inputs, "golden", *got, "difference", ""]
    rows = [header]
    for previous, place in zip([None, *(shown := _shown(wrong))], shown, strict=False):
        if previous is not None and _follows(previous, place, wrong.shape) > 1:
            rows.append(["...", *[""] * (len(header) - 1)])
        values = [array[place] for array in chain(inputs.values(), (expected,), got.values())]
        rows.append([_index(place), *map(str, values), *_verdict(place, expected, got, wrong)])
    return f"{_aligned(rows)}\n{_counted(wrong, shown)}"


def _lanes(value: Any, shape: Place) -> Array | None:
    """An input array lane by lane, if it has one element for each, or one for each of the last axis."""
    if not isinstance(value, np.ndarray) or not shape or value.shape not in (shape, shape[-1:]):
        return None
    return np.broadcast_to(value, shape)


def _shown(wrong: Array) -> list[Place]:
    """The wrong lanes and their neighbours along the last axis, the first rows of them."""
    flat = np.flatnonzero(wrong)
    near = sorted({at for lane in flat[:MOST_ROWS] for at in (lane - 1, lane, lane + 1) if 0 <= at < wrong.size})
    places = [tuple(int(i) for i in np.unravel_index(at, wrong.shape)) for at in near]
    return places[:MOST_ROWS]


def _follows(before: Place, after: Place, shape: Place) -> int:
    """How many lanes on."""
    return int(np.ravel_multi_index(after, shape)) - int(np.ravel_multi_index(before, shape)) if shape else 0


def _verdict(place: Place, expected: Array, got: Mapping[str, Array], wrong: Array) -> tuple[str, str]:
    """The difference of the first engine that is wrong, and the mark."""
    if not wrong[place]:
        return "", ""
    lane = next(array[place] for array in got.values() if not agreement(array[place], expected[place]))
    return _difference(lane, expected[place]), "<"


def _difference(got: np.generic, expected: np.generic) -> str:
    if got.dtype.kind == "f":
        with np.errstate(all="ignore"):
            return f"{float(got) - float(expected):+g}"
    return f"{int(got) - int(expected):+d}"


def _index(place: Place) -> str:
    return ",".join(map(str, place)) or "-"


def _aligned(rows: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def _counted(wrong: Array, shown: list[Place]) -> str:
    count, marked = int(wrong.sum()), sum(bool(wrong[place]) for place in shown)
    more = f", {count - marked} of them not shown" if marked < count else ""
    return f"{count} of {wrong.size} lanes {'is' if count == 1 else 'are'} wrong{more}"
