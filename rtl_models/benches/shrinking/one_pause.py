"""A case that fails by a stall, sought as one or two short frames with one pause of the receiver.

Few stalls of a long run matter, and shortening the run moves all of them: to seek small cases anew finds smaller ones.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Final

from rtl_models.benches.driving.stream import Different
from rtl_models.benches.driving.unit_case import Case
from rtl_models.benches.shrinking.trials import Trials

_BEATS: Final = (1, 2, 3, 4)
_LENGTHS: Final = (1, 2, 6)
_STARTS: Final = range(40)
"""Cycles after the reset: the writes of the settings, the deepest pipeline, and two short frames."""


def failing_with_one_pause(case: Case, trials: Trials) -> Case | None:
    """The frame that differs, or it with its neighbour, cut short; without a pause, then with one."""
    wrong = trials.problem(case)
    at, beat = (wrong.frame, wrong.difference.beat) if isinstance(wrong, Different) else (0, 0)
    short: list[Case] = []
    for beats in _BEATS:
        before = [frame.cut(max(0, frame.beats - beats), beats) for frame in case.frames[:at][-1:]]
        around = [case.frames[at].cut(max(0, beat - (beats - 1) // 2), beats)]
        after = [frame.cut(0, beats) for frame in case.frames[at + 1 :][:1]]
        runs = (around, [*around, *after], [*before, *around])
        short += filter(None, map(case.with_frames, runs))
    pauses = ((), *((True,) * start + (False,) * length for length, start in product(_LENGTHS, _STARTS)))
    paused = (replace(each, offers=(), takes=takes) for takes in pauses for each in short)
    return next(filter(trials.fails, paused), None)
