"""What became of a stream whose results are not those that are due: a beat lost, doubled, out of order, or invented."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from sim.golden.fixed_point import Int64Array

Flags = NDArray[np.bool_]
_FEW: Final = 2
"""Beats that must fit what is said: no more, because a fault that comes at every stall comes again soon."""
_MOST_LOST: Final = 64
"""Neighbouring beats that may be missing."""


def became(due: Int64Array, came: Int64Array, undefined: Int64Array, at: int, accepted: int) -> str:
    """A sentence about beat `at`, the first that is not as it is due.

    Nothing where its numbers alone are wrong, and where more than one thing can have happened: many beats are alike.

    `due` and `came` are int64 [beats, numbers of a beat], all beats since a reset in their order; `undefined` has the
    shape of `due` and is 1 where any number is right.  So many beats were `accepted`: where as many came, none is lost
    and none comes twice.
    """

    def differs(first_came: int, first_due: int, count: int) -> Flags:
        wrong = came[first_came : first_came + count] != due[first_due : first_due + count]
        found: Flags = (wrong & (undefined[first_due : first_due + count] == 0)).any(axis=1)
        return found

    def alike(first_came: int, first_due: int, least: int = 2, most: int = _FEW) -> bool:
        """Whether the beats that came from there on are those due from there on, of which there must be some."""
        count = max(0, min(most, len(came) - first_came, len(due) - first_due))
        return count >= least and not differs(first_came, first_due, count).any()

    def only_swapped() -> bool:
        """Whether all that is wrong from there on are beats that came in the place of their neighbour."""
        wrong = (at + np.flatnonzero(differs(at, at, min(len(came), len(due)) - at))).tolist()
        pairs = list(zip(wrong[::2], wrong[1::2], strict=False))
        swapped = (b == a + 1 and alike(a, b, 1, 1) and alike(b, a, 1, 1) for a, b in pairs)
        return len(wrong) % 2 == 0 and all(swapped)

    if alike(at + 1, at + 1):
        return ""
    fewer, more = len(came) < accepted, len(came) > accepted
    several = (count for count in range(2, _MOST_LOST + 1) if alike(at, at + count, _FEW + 1, _FEW + 1))
    lost = 1 if alike(at, at + 1) else next(several, 0)
    again = at > 0 and bool((came[at] == came[at - 1]).all())
    every_twice = alike(at + 1, at, 1, 1) and alike(at + 2, at, 1, 1)
    said = {
        f"beats {at} and {at + 1} come in the wrong order": only_swapped(),
        f"beat {at - 1} comes twice": more and again and (alike(at + 1, at) or every_twice),
        f"beat {at} is lost": fewer and lost == 1,
        f"beats {at} to {at + lost - 1} are lost": fewer and lost > 1,
        f"a beat that was never sent comes before beat {at}: those that are due come after it": (
            more and not again and alike(at + 1, at)
        ),
    }
    fitting = [sentence for sentence, fits in said.items() if fits]
    stretch = due[at + lost : at + lost + _FEW + 1]
    if lost > 1 and len(np.unique(stretch, axis=0)) < len(stretch):
        return ""  # beats that are alike, as clamped results are, fit any move
    return fitting[0] if len(fitting) == 1 else ""
