"""The lanes of one call around those that are wrong, as plain text: for messages that land in logs."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Final

import numpy as np

from sim.kernels.kernel import Inputs, Outputs
from sim.kernels.tolerance import Tolerance, agreement

MOST_ROWS: Final = 20


def lane_table(
    arguments: Inputs, golden: Outputs, outputs: Mapping[str, Outputs], tolerance: Tolerance | None = None
) -> str:
    """The first output that is wrong: per lane its inputs, the golden number, what each engine got, the difference.

    `outputs` are those of one call by engine.  Wrong lanes are marked with <; those before and after stand beside them,
    and "..." for what is left out, at most 20 rows.  "" where every lane is right.
    """
    for name, expected in golden.items():
        got = {engine: arrays[name] for engine, arrays in outputs.items()}
        wrong = ~np.logical_and.reduce([agreement(array, expected, tolerance) for array in got.values()])
        if wrong.any():
            break
    else:
        return ""
    inputs = {  # those that have one element for each lane, or one for each of the last axis
        key: np.broadcast_to(value, wrong.shape)
        for key, value in arguments.items()
        if isinstance(value, np.ndarray) and wrong.shape and value.shape in (wrong.shape, wrong.shape[-1:])
    }
    count, marked = int(wrong.sum()), 0
    some = np.flatnonzero(wrong)[:MOST_ROWS]
    near = sorted({at for lane in some for at in (lane - 1, lane, lane + 1) if 0 <= at < wrong.size})
    rows = [[name, *inputs, "golden", *got, "difference", ""]]
    for before, at in zip([None, *near], near[:MOST_ROWS], strict=False):
        if before is not None and at - before > 1:
            rows.append(["...", *[""] * (len(rows[0]) - 1)])
        place = tuple(int(i) for i in np.unravel_index(at, wrong.shape))
        verdict = ["", ""]
        if wrong[place]:
            marked += 1
            own = expected[place]
            lane = next(array[place] for array in got.values() if not agreement(array[place], own, tolerance))
            if lane.dtype.kind == "f":
                with np.errstate(all="ignore"):
                    verdict = [f"{float(lane) - float(own):+g}", "<"]
            else:
                verdict = [f"{int(lane) - int(own):+d}", "<"]
        values = [array[place] for array in chain(inputs.values(), (expected,), got.values())]
        rows.append([",".join(map(str, place)) or "-", *map(str, values), *verdict])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    more = f", {count - marked} of them not shown" if marked < count else ""
    return "\n".join(
        [*lines, f"{count} of {wrong.size} lanes of this call {'is' if count == 1 else 'are'} wrong{more}"]
    )
