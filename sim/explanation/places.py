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
    found = [mask for mask in masks if mask.size]
    count = sum(int(mask.sum()) for mask in found)
    if not count or not found[0].ndim:
        return []
    subject = f"all {count:,} {what} lie" if count > 1 else f"the one of the {what} lies"
    return [f"{subject} in {place}" for place in dict.fromkeys((*_in_one(found, count), *_in_tail(found, count)))]


def _in_one(masks: Sequence[Bools], count: int) -> Iterator[str]:
    """One index of the last axis, or of the first of several."""
    rank, size = masks[0].ndim, sum(mask.size for mask in masks)
    names = {rank - 1: "channel" if rank > 1 else "element"} | ({0: "row"} if rank > 1 else {})
    for axis, name in names.items():
        indices = np.concatenate([np.nonzero(mask)[axis] for mask in masks])
        from_end = np.concatenate([np.nonzero(mask)[axis] - mask.shape[axis] for mask in masks])
        for found, place in ((indices, f"{name} {indices[0]}"), (from_end, f"the last {name}")):
            if (found != found[0]).any() or (found is from_end and found[0] != -1):
                continue
            at = int(found[0])
            inside = sum(mask.size // mask.shape[axis] for mask in masks if -mask.shape[axis] <= at < mask.shape[axis])
            if _is_telling(inside, size, count, max(mask.shape[axis] for mask in masks)):
                yield place
                break


def _in_tail(masks: Sequence[Bools], count: int) -> Iterator[str]:
    """What lies behind the whole blocks of the last axis, for the narrowest block that says it; rows that have no whole
    block have no tail either.
    """
    for width in _WIDTHS:
        if sum(int(mask[..., mask.shape[-1] // width * width :].sum()) for mask in masks) == count:
            short = [mask for mask in masks if mask.shape[-1] < width]
            others = [mask for mask in masks if mask.shape[-1] >= width]
            # all of a row may be wrong for one reason, what it is called with: a short one counts once
            is_short_by_chance = sum(mask[..., 0].size for mask in short) / sum(mask[..., 0].size for mask in masks)
            chance = is_short_by_chance ** sum(int(mask.any(-1).sum()) for mask in short)
            chance *= prod((mask.shape[-1] % width / mask.shape[-1]) ** int(mask.sum()) for mask in others)
            if len(_WIDTHS) * chance <= _CHANCE:
                in_tails = any(mask.any() for mask in others)
                yield f"{'the tail, behind the whole blocks' if in_tails else 'rows shorter than a block'} of {width}"
            return


def _is_telling(inside: int, size: int, count: int, alternatives: int) -> bool:
    return inside < size and bool(alternatives * (inside / size) ** count <= _CHANCE)
