"""A failing case with fewer stalls, frames and beats; the numbers in them stay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from rtl_models.benches.driving.stream import Different
from rtl_models.benches.driving.unit_case import Case, fitted
from rtl_models.benches.shrinking.one_pause import failing_with_one_pause
from rtl_models.benches.shrinking.trials import Trials
from sim.shrink.search import smallest_indices, smallest_window

_PERIODS: Final = 400


def calmer(case: Case, trials: Trials) -> Case:
    """The frames up to what fails, without stalls, or with regular ones, which meet a part of them as they met all."""
    wrong = trials.problem(case)
    # the frame after the first that differs may push on its last beats
    ended = replace(case, frames=case.frames[: wrong.frame + 2]) if isinstance(wrong, Different) else case
    case = ended if trials.fails(ended) else case
    seldom = ((False, True), (False,) * 20 + (True,) * 5)
    calm = (
        replace(case, offers=(), takes=()),
        *(replace(case, offers=(), takes=takes * _PERIODS) for takes in seldom),
        replace(case, offers=(False, True) * _PERIODS, takes=()),
    )
    return next(filter(trials.fails, calm), case)


def smaller(case: Case, trials: Trials) -> Case:
    """A beat or a frame that fails alone, else the shortest run of frames found."""
    alone = failing_alone(case, trials) or failing_with_one_pause(case, trials)
    small = alone or _with_fewer_stalls(_shortest(case, trials), trials)
    lost = small.lost
    if lost is None:
        return small
    cuts = (fitted(lost.frame.cut(0, beats)) for beats in range(1, lost.cycles + 1))
    fewer = (replace(small, lost=replace(lost, frame=frame)) for frame in cuts if frame is not None)
    return next(filter(trials.fails, fewer), small)


def failing_alone(case: Case, trials: Trials) -> Case | None:
    """The beat that differs, or its frame up to it or as a whole, if it fails without the others and stalls."""
    wrong = trials.problem(case)
    if not isinstance(wrong, Different):
        return None
    frame, beat = case.frames[wrong.frame], wrong.difference.beat
    cuts = (frame.cut(beat, 1), frame.cut(0, beat + 1), frame)
    return next(filter(trials.fails, (Case((whole,)) for cut in cuts if (whole := fitted(cut)))), None)


def _with_fewer_stalls(case: Case, trials: Trials) -> Case:
    """The decisions cut off where the rest makes no difference."""
    lengths = [1 << k for k in range(max(map(len, (case.offers, case.takes))).bit_length())]
    shorter = (replace(case, offers=case.offers[:length], takes=case.takes[:length]) for length in (0, *lengths))
    return next(filter(trials.fails, shorter), case)


def _shortest(case: Case, trials: Trials) -> Case:
    """Some successive frames, cut to as few beats as fail."""

    def window(bounds: tuple[int, int]) -> Case:
        return replace(case, frames=case.frames[bounds[1] : bounds[1] + bounds[0]])

    bounds = smallest_window(len(case.frames), lambda bounds: trials.fails(window(bounds)), trials.enough)
    run = window(bounds) if bounds else case
    counts = [range(1, frame.beats + 1) for frame in run.frames]

    def cut(at: Sequence[int]) -> Case | None:
        beats = (count[k] for count, k in zip(counts, at, strict=True))
        return run.with_frames([frame.cut(0, first) for frame, first in zip(run.frames, beats, strict=True)])

    found = smallest_indices(list(map(len, counts)), lambda at: trials.fails(cut(at)), trials.enough)
    return (cut(found) if found else None) or run
