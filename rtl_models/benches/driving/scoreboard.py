"""What became of a stream whose results are not those that are due: a beat lost, doubled, out of order, or invented."""

from __future__ import annotations

from typing import Final

from sim.golden.fixed_point import Int64Array

_FEW: Final = 2
"""Beats that must fit what is said: no more, because a fault that comes at every stall comes again soon."""
_MOST_LOST: Final = 64
"""Neighbouring beats that may be missing."""


def became(due: Int64Array, came: Int64Array, undefined: Int64Array, at: int) -> str:
    """A sentence about beat `at`, the first that is not as it is due; nothing where its numbers alone are wrong.

    `due` and `came` are int64 [beats, numbers of a beat], all beats since a reset in their order; `undefined` has the
    shape of `due` and is 1 where any number is right.
    """

    def alike(first_came: int, first_due: int, least: int = 2, most: int = _FEW) -> bool:
        """Whether the beats that came from there on are those due from there on, of which there must be some."""
        count = max(0, min(most, len(came) - first_came, len(due) - first_due))
        differs = came[first_came : first_came + count] != due[first_due : first_due + count]
        return count >= least and not (differs & (undefined[first_due : first_due + count] == 0)).any()

    if alike(at + 1, at + 1):
        return ""
    if alike(at, at + 1, 1, 1) and alike(at + 1, at, 1, 1) and alike(at + 2, at + 2, 0):
        return f"beats {at} and {at + 1} come in the wrong order"
    if at and (came[at] == came[at - 1]).all() and alike(at + 1, at, 1, 1):
        return f"beat {at - 1} comes twice"
    lost = next((count for count in range(1, _MOST_LOST + 1) if alike(at, at + count)), 0)
    if lost:
        return f"beat {at} is lost" if lost == 1 else f"beats {at} to {at + lost - 1} are lost"
    return f"beat {at} is none that was sent: those that are due come after it" if alike(at + 1, at) else ""
