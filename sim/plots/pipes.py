"""A picture of what the pipes of a core did, cycle by cycle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sim.plots.style import GREY, legend_beside, looks, percent, picture
from sim.timing.model.schedule import Schedule

WINDOW: Final = 64
"""Cycles that are readable at a glance."""
_COLOURED: Final = 7
_OTHERS: Final = "others"
_Bar = tuple[str, str, int, int]
"""Pipe, mnemonic, first cycle, cycles."""


def plot_occupancy(schedule: Schedule, cycles: range | None = None) -> Figure:
    """Every pipe over the cycles shown, the middle 64 by default, with what occupied it and how much of the time.

    Pipes that nothing of the stream uses are left out.  Raises ValueError for an empty stream or no cycles.
    """
    middle = max(0, (schedule.cycles - WINDOW) // 2)
    shown = range(middle, min(middle + WINDOW, schedule.cycles)) if cycles is None else cycles
    if not schedule.stream or not shown:
        raise ValueError("a picture of the pipes needs at least one instruction and one cycle")
    bars: list[_Bar] = []  # what of every use lies within the cycles shown
    for one, uses in zip(schedule.stream, schedule.pipes, strict=True):
        for pipe, start, end in uses:
            first, last = max(start, shown.start), min(end, shown.stop)
            if last > first:
                bars.append((pipe, one.instruction.form.mnemonic, first, last - first))
    used = {pipe for uses in schedule.pipes for pipe, _, _ in uses}
    taken = {pipe: sum(count for where, _, _, count in bars if where == pipe) for pipe in schedule.core.pipes}
    busy = {pipe: count / len(shown) for pipe, count in taken.items() if pipe in used}
    finding = "no pipe is used"
    if busy:
        busiest = max(busy, key=busy.__getitem__)
        finding = f"{busiest} is the busiest pipe, {percent(busy[busiest])} of the time"
    title, subtitle = (
        f"{schedule.core.title}: {finding}",
        f"what occupies each pipe, cycles {shown.start} to {shown.stop}",
    )
    figure, axes = picture(title, subtitle, 1.6 + 0.4 * max(len(busy), 3))
    _draw(axes, bars, busy)
    axes.set_xlim(shown.start, shown.stop)
    axes.set_xlabel("cycle")
    legend_beside(axes)
    return figure


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
