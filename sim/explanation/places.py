"""Where wrong elements lie, where that says something: in one channel, in one row, in the tail, in short rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Final

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]
_WIDTHS: Final = (2, 4, 8, 16, 32, 64)
"""Of the blocks that a tail is left over from."""
_CHANCE: Final = 1e-3


def places_of(masks: Sequence[Bools], what: str) -> list[str]:
    """Sentences such as "all 14 wrong lanes of output lie in channel 3"; `what` is said of the elements.

    `masks` are of one output in several input sets, or of one tensor: of one rank, True where an element is wrong.
    Nothing is said of a place in which as many elements, strewn about, would all lie more often than once in 1000
    times.
    """
    found = [mask for mask in masks if mask.size and mask.ndim]
    count = sum(int(mask.sum()) for mask in found)
    if not count:
        return []
    subject = f"all {count:,} {what} lie" if count > 1 else f"the one of the {what} lies"
    return [f"{subject} in {place}" for place in dict.fromkeys((*_in_one(found, count), *_in_tail(found, count)))]


def _in_one(masks: Sequence[Bools], count: int) -> Iterator[str]:
    """One index of the last axis, or of the first of several."""
    (rank,), size = {mask.ndim for mask in masks}, sum(mask.size for mask in masks)
    names = {rank - 1: "channel" if rank > 1 else "element"} | ({0: "row"} if rank > 1 else {})
    for axis, name in names.items():
        indices = {int(at) for mask in masks for at in np.nonzero(mask)[axis]}
        from_end = {int(at) - mask.shape[axis] for mask in masks for at in np.nonzero(mask)[axis]}
        places = {at: f"{name} {at}" for at in indices} if len(indices) == 1 else {}
        for at, place in (places | ({-1: f"the last {name}"} if from_end == {-1} else {})).items():
            inside = sum(mask.size // mask.shape[axis] for mask in masks if -mask.shape[axis] <= at < mask.shape[axis])
            if max(mask.shape[axis] for mask in masks) * (inside / size) ** count <= _CHANCE:
                yield place
                break


def _in_tail(masks: Sequence[Bools], count: int) -> Iterator[str]:
    """What lies behind the whole blocks of the last axis, for the narrowest block that says it; rows that have no whole
    block have no tail either.
    """
    for width in _WIDTHS:
        if sum(int(mask[..., mask.shape[-1] // width * width :].sum()) for mask in masks) == count:
            short = [mask for mask in masks if mask.shape[-1] < width]
            # all of a row may be wrong for one reason, what it is called with: a short one counts once
            by_rows = sum(prod(mask.shape[:-1]) for mask in short) / sum(prod(mask.shape[:-1]) for mask in masks)
            by_rows **= sum(int(mask.any(-1).sum()) for mask in short)
            by_tails = prod((mask.shape[-1] % width / mask.shape[-1]) ** int(mask.sum()) for mask in masks)
            if len(_WIDTHS) * by_rows * by_tails <= _CHANCE:
                place = "the tail, behind the whole blocks" if by_tails < 1 else "rows shorter than a block"
                yield f"{place} of {width}"
            return
