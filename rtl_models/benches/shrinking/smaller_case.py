"""A failing case with fewer stalls, frames and beats; the numbers in them stay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from rtl_models.benches.shrinking.one_pause import failing_with_one_pause
from rtl_models.benches.shrinking.trials import Trials
from rtl_models.benches.stream import Different
from rtl_models.benches.unit_case import Case, fitted
from sim.check.shrink_hypothesis import smallest_indices, smallest_window

_PERIODS: Final = 400


def calmer(case: Case, trials: Trials) -> Case:
    """The frames up to what fails, without stalls, or with regular ones, which meet a part of them as they met all."""
    ended = _without_what_follows(case, trials)
    return next(filter(trials.fails, _calmer(ended)), ended)


def smaller(case: Case, trials: Trials) -> Case:
    """A beat or a frame that fails alone, else the shortest run of frames found."""
    alone = failing_alone(case, trials) or failing_with_one_pause(case, trials)
    return _losing_less(alone or _with_fewer_stalls(_shortest(case, trials), trials), trials)


def failing_alone(case: Case, trials: Trials) -> Case | None:
    """The beat that differs, or its frame up to it or as a whole, if it fails without the others and stalls."""
    wrong = trials.problem(case)
    if not isinstance(wrong, Different):
        return None
    frame, beat = case.frames[wrong.frame], wrong.difference.beat
    cuts = (frame.cut(beat, 1), frame.cut(0, beat + 1), frame)
    return next(filter(trials.fails, (Case((whole,)) for cut in cuts if (whole := fitted(cut)))), None)


def _calmer(case: Case) -> Iterator[Case]:
    yield replace(case, offers=(), takes=())
    seldom = ((False, True), (False,) * 20 + (True,) * 5)
    yield from (replace(case, offers=(), takes=takes * _PERIODS) for takes in seldom)
    yield replace(case, offers=(False, True) * _PERIODS, takes=())


def _with_fewer_stalls(case: Case, trials: Trials) -> Case:
    """The decisions cut off where the rest makes no difference."""
    lengths = [1 << k for k in range(max(map(len, (case.offers, case.takes))).bit_length())]
    shorter = (replace(case, offers=case.offers[:length], takes=case.takes[:length]) for length in (0, *lengths))
    return next(filter(trials.fails, shorter), case)


def _losing_less(case: Case, trials: Trials) -> Case:
    """With fewer beats in what a reset ends."""
    lost = case.lost
    if lost is None:
        return case
    cuts = (fitted(lost.frame.cut(0, beats)) for beats in range(1, lost.cycles + 1))
    fewer = (replace(case, lost=replace(lost, frame=frame)) for frame in cuts if frame is not None)
    return next(filter(trials.fails, fewer), case)


def _shortest(case: Case, trials: Trials) -> Case:
    """Some successive frames, cut to as few beats as fail."""

    def window(bounds: tuple[int, int]) -> Case:
        return replace(case, frames=case.frames[bounds[1] : bounds[1] + bounds[0]])

    found = smallest_window(len(case.frames), lambda bounds: trials.fails(window(bounds)), trials.enough)
    return _cut(window(found) if found else case, trials)


def _cut(case: Case, trials: Trials) -> Case:
    """The beginnings of the frames."""
    counts = [range(1, frame.beats + 1) for frame in case.frames]

    def cut(at: Sequence[int]) -> Case | None:
        beats = (count[k] for count, k in zip(counts, at, strict=True))
        return case.with_frames([frame.cut(0, first) for frame, first in zip(case.frames, beats, strict=True)])

    found = smallest_indices(list(map(len, counts)), lambda at: trials.fails(cut(at)), trials.enough)
    return (cut(found) if found else None) or case


def _without_what_follows(case: Case, trials: Trials) -> Case:
    """The frames up to the one after the first that differs, which may push on its last beats."""
    wrong = trials.problem(case)
    ended = replace(case, frames=case.frames[: wrong.frame + 2]) if isinstance(wrong, Different) else case
    return ended if trials.fails(ended) else case
