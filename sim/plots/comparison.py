"""A picture of bars side by side: cores, compiled code against the program of intrinsics, other estimators."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure

from sim.plots.style import legend_beside, looks, number, picture

_LEVEL = 6
"""Cores whose names stand beside each other without touching."""
_ROOM = 0.8
"""The part of each group's width that bars take."""

_FILLED = 0.92
"""The part of its place that a bar fills."""


def plot_comparison(cycles: Mapping[str, Mapping[str, float]], unit: str = "cycles per iteration") -> Figure:
    """A group of bars for each core, a bar for each thing compared: `{core: {compared: cycles}}`.

    A thing that a core has no number for (SDOT on a core without it) leaves its place empty.
    Raises ValueError where there is nothing to compare, or where a number is not above 0.
    """
    compared = list(dict.fromkeys(name for values in cycles.values() for name in values))
    if not compared:
        raise ValueError("a comparison needs at least one number")
    if not all(value > 0 for values in cycles.values() for value in values.values()):
        raise ValueError("a comparison needs numbers above 0")
    # The group whose bars differ most, lowest against highest.
    spread = {core: max(values.values()) / min(values.values()) for core, values in cycles.items() if values}
    core = max(spread, key=spread.__getitem__)
    low, high = (f(cycles[core], key=cycles[core].__getitem__) for f in (min, max))
    if len(compared) == 1:
        finding = f"{low}: {', '.join(f'{number(v[low])} on {c}' for c, v in cycles.items() if v)}"
    elif low == high:
        finding = "No core has numbers for two of them"
    elif spread[core] < 1.005:
        finding = "No difference anywhere"
    else:
        finding = f"{core}: {high} {number(cycles[core][high])}, {low} {number(cycles[core][low])}"
    figure, axes = picture(finding, unit)
    width = _ROOM / len(compared)
    for place, (name, look) in enumerate(zip(compared, looks(len(compared)), strict=True)):
        own = [(row, values[name]) for row, values in enumerate(cycles.values()) if name in values]
        middles, heights = [row + (place + 0.5) * width - _ROOM / 2 for row, _ in own], [value for _, value in own]
        drawn = axes.bar(middles, heights, width * _FILLED, color=look.colour, label=name)
        axes.bar_label(drawn, [number(height) for height in heights], padding=2, fontsize=9)
    axes.set_xticks(range(len(cycles)), list(cycles))
    if len(cycles) > _LEVEL:
        axes.tick_params(axis="x", labelrotation=20)
    axes.set_xlim(-0.5, len(cycles) - 0.5)
    axes.tick_params(axis="x", length=0)
    axes.set_ylabel(unit)
    axes.margins(y=0.12)
    legend_beside(axes)
    return figure
