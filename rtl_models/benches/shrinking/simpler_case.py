"""A failing case with simpler numbers: plain ones in whole sets first, then each number for itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import product
from typing import Final

import numpy as np

from rtl_models.benches.driving.frame import UnitFrame
from rtl_models.benches.driving.unit_case import Case, fitted
from rtl_models.benches.driving.unit_settings import BENCH, LANES
from rtl_models.benches.shrinking.plain import counting, groups, plain_frame, plain_sets, plain_setting
from rtl_models.benches.shrinking.simpler import simpler
from rtl_models.benches.shrinking.smaller_case import failing_alone
from rtl_models.benches.shrinking.trials import Trials
from sim.shrink.search import smallest_indices

Edit = Callable[[UnitFrame], UnitFrame]
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
    settings = list(dict.fromkeys(name for frame in case.frames for name in frame.settings))
    ports = [port.name for port in BENCH.unit.operands]
    edits: list[Edit] = [
        partial(counting, BENCH.unit),
        *(partial(_with_plain, names=names) for names in (settings, *groups(settings))),
        *(partial(_without, ports=some) for some in (ports, *([port] for port in ports))),
    ]
    places = range(len(case.frames))
    for edit, chosen in product(edits, (places, *([k] for k in places))):
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


def _with_plain(frame: UnitFrame, names: Sequence[str]) -> UnitFrame:
    plain = {name: plain_setting(name) for name in names if name in frame.settings}
    return UnitFrame({**frame.settings, **plain}, frame.operands)


def _without(frame: UnitFrame, ports: Sequence[str]) -> UnitFrame:
    return UnitFrame(frame.settings, {port: rows * (port not in ports) for port, rows in frame.operands.items()})


def _simpler(case: Case, trials: Trials) -> Case:
    """One search over the numbers that are not yet the plainest."""
    numbers = _numbers(case)
    plainest = [
        number
        for frame in case.frames
        for number in (*map(plain_setting, frame.settings), *(0 for _ in _of_operands(frame)))
    ]
    pools = {k: pool for k, number in enumerate(numbers) if len(pool := simpler(number, plainest[k])) > 1}
    if not pools:
        return case
    places = list(pools)
    width = -(-len(places) // MOST_GROUPS)
    together = [places[at : at + width] for at in range(0, len(places), width)]

    def at(indices: Sequence[int]) -> Case | None:
        chosen = {
            k: pools[k][min(index, len(pools[k]) - 1)]
            for group, index in zip(together, indices, strict=True)
            for k in group
        }
        return _with(case, [chosen.get(k, number) for k, number in enumerate(numbers)])

    counts = [max(len(pools[k]) for k in group) for group in together]
    found = smallest_indices(counts, lambda indices: trials.fails(at(indices)), trials.enough)
    return (at(found) if found else None) or case


def _numbers(case: Case) -> list[int]:
    return [number for frame in case.frames for number in (*frame.settings.values(), *_of_operands(frame))]


def _of_operands(frame: UnitFrame) -> Iterable[int]:
    return (int(number) for rows in frame.operands.values() for number in rows.flat)


def _with(case: Case, numbers: Sequence[int]) -> Case | None:
    """The case with these numbers in the place of its own, if it can be."""
    sizes = [len(_numbers(Case((frame,)))) for frame in case.frames]
    frames = []
    for frame, own in zip(case.frames, np.split(np.array(numbers, np.int64), np.cumsum(sizes)[:-1]), strict=True):
        settings = dict(zip(frame.settings, map(int, own), strict=False))
        ends = np.cumsum([len(settings), *(rows.size for rows in frame.operands.values())])[:-1]
        parts = zip(frame.operands.items(), np.split(own, ends)[1:], strict=True)
        frames.append(UnitFrame(settings, {port: part.reshape(rows.shape) for (port, rows), part in parts}))
    return case.with_frames(frames)
