"""A failing case with simpler numbers: plain ones in whole sets first, then each number for itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import Final

import numpy as np

from rtl_models.benches.frame import Frame
from rtl_models.benches.shrinking.plain import counting, groups, plain_frame, plain_sets, plain_setting
from rtl_models.benches.shrinking.simpler import simpler
from rtl_models.benches.shrinking.smaller_case import failing_alone
from rtl_models.benches.shrinking.trials import Trials
from rtl_models.benches.unit_case import Case, fitted
from rtl_models.benches.unit_settings import BENCH, LANES
from sim.check.shrink_hypothesis import smallest_indices
from sim.golden.fixed_point import Int64Array

Edit = Callable[[Frame], Frame]
MOST_GROUPS: Final = 100
"""Numbers that are simplified apart from each other; of more, neighbours are together until enough are plain."""


def failing_in_plain(case: Case, trials: Trials) -> Case | None:
    """A beat of small numbers that fails alone under plain settings; None where the case is more than a frame."""
    if len(case.frames) != 1 or case.stalls:
        return None
    failing = case.frames[0]
    frames = (plain_frame(BENCH.unit, LANES, settings, failing) for settings in plain_sets(failing.settings))
    probes = (Case((whole,)) for frame in frames if (whole := fitted(frame)))
    return next(filter(None, (failing_alone(probe, trials) for probe in probes)), None)


def plainer(case: Case, trials: Trials) -> Case:
    """Plain settings and operands wherever it fails with them too: in all frames, then in each."""
    places = range(len(case.frames))
    for edit, chosen in product(_edits(case), (places, *([k] for k in places))):
        if trials.enough():
            break
        other = case.with_frames([edit(frame) if k in chosen else frame for k, frame in enumerate(case.frames)])
        case = other if other and trials.fails(other) else case
    return case


def simplest(case: Case, trials: Trials) -> Case:
    """Simpler numbers in the place of each, until nothing simpler fails."""
    before: Case | None = None
    while not trials.enough() and (before is None or case.key != before.key):
        before, case = case, _simpler(case, trials)
    return case


def _edits(case: Case) -> Iterator[Edit]:
    settings = list(dict.fromkeys(name for frame in case.frames for name in frame.settings))
    ports = [port.name for port in BENCH.unit.operands]
    yield partial(counting, BENCH.unit)
    yield from (partial(_with_plain, names=names) for names in (settings, *groups(settings)))
    yield from (partial(_without, ports=some) for some in (ports, *([port] for port in ports)))


def _with_plain(frame: Frame, names: Sequence[str]) -> Frame:
    plain = {name: plain_setting(name) for name in names if name in frame.settings}
    return Frame({**frame.settings, **plain}, frame.operands)


def _without(frame: Frame, ports: Sequence[str]) -> Frame:
    return Frame(frame.settings, {port: rows * (port not in ports) for port, rows in frame.operands.items()})


def _simpler(case: Case, trials: Trials) -> Case:
    """One search over the numbers that are not yet the plainest."""
    numbers, plain = _numbers(case), _plain(case)
    pools = {k: pool for k, number in enumerate(numbers) if len(pool := simpler(number, plain[k])) > 1}
    if not pools:
        return case
    places = list(pools)
    width = -(-len(places) // MOST_GROUPS)
    together = [places[at : at + width] for at in range(0, len(places), width)]

    def at(indices: Sequence[int]) -> Case | None:
        chosen = {k: _pick(pools[k], index) for group, index in zip(together, indices, strict=True) for k in group}
        return _with(case, [chosen.get(k, number) for k, number in enumerate(numbers)])

    counts = [max(len(pools[k]) for k in group) for group in together]
    found = smallest_indices(counts, lambda indices: trials.fails(at(indices)), trials.enough)
    return (at(found) if found else None) or case


def _pick(pool: Sequence[int], index: int) -> int:
    return pool[min(index, len(pool) - 1)]


def _numbers(case: Case) -> list[int]:
    return [number for frame in case.frames for number in (*frame.settings.values(), *_of_operands(frame))]


def _of_operands(frame: Frame) -> Iterable[int]:
    return (int(number) for rows in frame.operands.values() for number in rows.flat)


def _plain(case: Case) -> list[int]:
    """By number what is plainest in its place."""
    plain = ((*map(plain_setting, frame.settings), *(0 for _ in _of_operands(frame))) for frame in case.frames)
    return [number for numbers in plain for number in numbers]


def _with(case: Case, numbers: Sequence[int]) -> Case | None:
    """The case with these numbers in the place of its own, if it can be."""
    sizes = [len(_numbers(Case((frame,)))) for frame in case.frames]
    parts = np.split(np.array(numbers, np.int64), np.cumsum(sizes)[:-1])
    return case.with_frames([_frame_with(frame, part) for frame, part in zip(case.frames, parts, strict=True)])


def _frame_with(frame: Frame, numbers: Int64Array) -> Frame:
    settings = dict(zip(frame.settings, map(int, numbers), strict=False))
    ends = np.cumsum([len(settings), *(rows.size for rows in frame.operands.values())])[:-1]
    parts = zip(frame.operands.items(), np.split(numbers, ends)[1:], strict=True)
    return Frame(settings, {port: part.reshape(rows.shape) for (port, rows), part in parts})
