"""A picture of what the pipes of a core did, cycle by cycle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sim.timing.schedule import Schedule
from sim.view.cycles.plots import GREY, legend_beside, looks, percent, picture

WINDOW: Final = 64
"""Cycles that are readable at a glance."""
_COLOURED: Final = 7
_OTHERS: Final = "others"
_Bar = tuple[str, str, int, int]
"""Pipe, mnemonic, first cycle, cycles."""


def occupancy(schedule: Schedule, cycles: range | None = None) -> Figure:
    """Every pipe over the cycles shown, the middle 64 by default, with what occupied it and how much of the time.

    Pipes that nothing of the stream uses are left out.  Raises ValueError for an empty stream or no cycles.
    """
    shown = _middle(schedule.cycles) if cycles is None else cycles
    if not schedule.stream or not shown:
        raise ValueError("a picture of the pipes needs at least one instruction and one cycle")
    bars = _bars(schedule, shown)
    busy = {pipe: _busy(bars, pipe) / len(shown) for pipe in _used(schedule)}
    title = f"{schedule.core.title}: {_finding(busy)}"
    figure, axes = picture(title, f"what occupies each pipe, cycles {shown.start} to {shown.stop}", _height(busy))
    _draw(axes, bars, busy)
    axes.set_xlim(shown.start, shown.stop)
    axes.set_xlabel("cycle")
    legend_beside(axes)
    return figure


def _middle(cycles: int) -> range:
    start = max(0, (cycles - WINDOW) // 2)
    return range(start, min(start + WINDOW, cycles))


def _used(schedule: Schedule) -> list[str]:
    used = {pipe for uses in schedule.pipes for pipe, _, _ in uses}
    return [pipe for pipe in schedule.core.pipes if pipe in used]


def _bars(schedule: Schedule, shown: range) -> list[_Bar]:
    """What of every use lies within the cycles shown."""
    found = []
    for one, uses in zip(schedule.stream, schedule.pipes, strict=True):
        for pipe, start, end in uses:
            first, last = max(start, shown.start), min(end, shown.stop)
            if last > first:
                found.append((pipe, one.instruction.form.mnemonic, first, last - first))
    return found


def _busy(bars: list[_Bar], pipe: str) -> int:
    return sum(cycles for where, _, _, cycles in bars if where == pipe)


def _finding(busy: Mapping[str, float]) -> str:
    if not busy:
        return "no pipe is used"
    busiest = max(busy, key=busy.__getitem__)
    return f"{busiest} is the busiest pipe, {percent(busy[busiest])} of the time"


def _height(busy: Mapping[str, float]) -> float:
    return 1.6 + 0.4 * max(len(busy), 3)


def _draw(axes: Axes, bars: list[_Bar], busy: Mapping[str, float]) -> None:
    """One colour for each of the mnemonics that take most cycles."""
    weights: Counter[str] = Counter()
    for _, mnemonic, _, cycles in bars:
        weights[mnemonic] += cycles
    named = [mnemonic for mnemonic, _ in weights.most_common(_COLOURED)]
    colours = {mnemonic: look.colour for mnemonic, look in zip(named, looks(len(named)), strict=True)}
    rows = {pipe: row for row, pipe in enumerate(busy)}
    for name in [*named, *[_OTHERS] * (len(weights) > len(named))]:
        own = [bar for bar in bars if (bar[1] if bar[1] in colours else _OTHERS) == name]
        axes.barh(
            [rows[pipe] for pipe, _, _, _ in own],
            [cycles for _, _, _, cycles in own],
            left=[start for _, _, start, _ in own],
            height=0.72,
            color=colours.get(name, GREY),
            edgecolor="white",
            linewidth=0.8,
            label=name,
        )
    axes.set_yticks(list(rows.values()), [f"{pipe}  {percent(share)}" for pipe, share in busy.items()])
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
