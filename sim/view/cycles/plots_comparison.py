"""A picture of bars side by side: cores, compiled code against the program of intrinsics, other estimators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sim.view.cycles.plots import legend_beside, looks, number, picture

_ROOM = 0.8
"""The part of each group's width that bars take."""

_FILLED = 0.92
"""The part of its place that a bar fills."""


def comparison(cycles: Mapping[str, Mapping[str, float]], unit: str = "cycles per iteration") -> Figure:
    """A group of bars for each core, a bar for each thing compared: `{core: {compared: cycles}}`.

    A thing that a core has no number for (SDOT on a core without it) leaves its place empty.
    Raises ValueError where there is nothing to compare.
    """
    compared = list(dict.fromkeys(name for values in cycles.values() for name in values))
    if not compared:
        raise ValueError("a comparison needs at least one number")
    figure, axes = picture(_finding(cycles), unit)
    width = _ROOM / len(compared)
    for place, (name, look) in enumerate(zip(compared, looks(len(compared)), strict=True)):
        own = [(row, values[name]) for row, values in enumerate(cycles.values()) if name in values]
        _draw(axes, name, [(row + (place + 0.5) * width - _ROOM / 2, value) for row, value in own], width, look.colour)
    axes.set_xticks(range(len(cycles)), list(cycles))
    axes.set_xlim(-0.5, len(cycles) - 0.5)
    axes.tick_params(axis="x", length=0)
    axes.set_ylabel(unit)
    axes.margins(y=0.12)
    legend_beside(axes)
    return figure


def _finding(cycles: Mapping[str, Mapping[str, float]]) -> str:
    """The group whose bars differ most, lowest against highest."""
    spread = {core: max(values.values()) / min(values.values()) for core, values in cycles.items() if values}
    core = max(spread, key=spread.__getitem__)
    low, high = (f(cycles[core], key=cycles[core].__getitem__) for f in (min, max))
    if low == high:
        return f"{low}: {', '.join(f'{number(v[low])} on {c}' for c, v in cycles.items())}"
    if spread[core] < 1.005:
        return "No difference anywhere"
    return f"{core}: {high} {number(cycles[core][high])}, {low} {number(cycles[core][low])}"


def _draw(axes: Axes, name: str, bars: Sequence[tuple[float, float]], width: float, colour: str) -> None:
    heights = [height for _, height in bars]
    drawn = axes.bar([middle for middle, _ in bars], heights, width * _FILLED, color=colour, label=name)
    axes.bar_label(drawn, [number(height) for height in heights], padding=2, fontsize=9)
