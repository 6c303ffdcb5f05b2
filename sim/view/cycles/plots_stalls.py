"""A picture of where the cycles go: stalls by reason, a bar for each core."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sim.timing.reasons import Group
from sim.view.cycles.plots import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    YELLOW,
    legend_beside,
    number,
    percent,
    picture,
)

Stalls = Mapping[str, Mapping[str, float]]
"""Cycles by core and reason."""
_LOOKS: Final[dict[str, tuple[str, str]]] = {
    Group.WIDTH: (GREEN, ""),
    Group.ORDER: (GREEN, "///"),
    Group.RESULT: (BLUE, ""),
    Group.LOAD: (SKY, ""),
    Group.STORE: (SKY, "///"),
    Group.PIPE: (ORANGE, ""),
    Group.QUEUE: (ORANGE, "///"),
    Group.REORDER: (YELLOW, ""),
    Group.MISPREDICT: (VERMILION, ""),
    Group.BRANCH: (VERMILION, "///"),
    Group.MEMORY: (PURPLE, ""),
    Group.EXECUTION: (GREY, ""),
    Group.RETIREMENT: (GREY, "///"),
}
"""The same reason looks the same in every picture; neighbours in meaning share a colour."""
_LABELLED: Final = 0.06
"""The share of the widest bar from which a piece has room for its number."""


def stalls_by_reason(cycles: Stalls, unit: str = "cycles") -> Figure:
    """A bar for each core, of the cycles charged to each reason, as `CyclesReport.stalls` has them.

    Raises ValueError where nothing is charged at all, and for a reason that is none of `sim.timing.reasons.Group`.
    """
    _check(cycles)
    widest = max(sum(reasons.values()) for reasons in cycles.values())
    figure, axes = picture(_finding(cycles), f"{unit} by reason", 1.8 + 0.55 * max(len(cycles), 2))
    for group in (group for group in _LOOKS if any(reasons.get(group) for reasons in cycles.values())):
        _draw(axes, group, cycles, widest)
    axes.set_yticks(range(len(cycles)), list(cycles))
    axes.set_xlim(0, widest * 1.12)
    axes.invert_yaxis()
    axes.set_xlabel(unit)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    _totals(axes, cycles)
    legend_beside(axes)
    return figure


def _check(cycles: Stalls) -> None:
    for reason in (reason for reasons in cycles.values() for reason in reasons):
        if reason not in _LOOKS:
            raise ValueError(f"{reason!r} is not a reason: {', '.join(_LOOKS)}")
    if not any(sum(reasons.values()) for reasons in cycles.values()):
        raise ValueError("a picture of stalls needs cycles that are charged to reasons")


def _finding(cycles: Stalls) -> str:
    """The largest reason of each core, together where they agree."""
    found: dict[str, list[str]] = {}
    for core, reasons in cycles.items():
        if total := sum(reasons.values()):
            largest = max(reasons, key=reasons.__getitem__)
            found.setdefault(largest, []).append(f"{percent(reasons[largest] / total)} on {core}")
    sentence = "; ".join(f"{group} takes {', '.join(cores)}" for group, cores in found.items())
    return sentence[:1].upper() + sentence[1:]


def _draw(axes: Axes, group: str, cycles: Stalls, widest: float) -> None:
    (colour, hatch), rows = _LOOKS[group], range(len(cycles))
    own = [reasons.get(group, 0) for reasons in cycles.values()]
    before = [sum(reasons.get(g, 0) for g in _before(group)) for reasons in cycles.values()]
    bars = axes.barh(rows, own, 0.6, before, color=colour, hatch=hatch, edgecolor="white", label=str(group))
    labels = [number(value) if value >= _LABELLED * widest else "" for value in own]
    ink = "white" if colour in (BLUE, VERMILION, GREEN) else "black"
    ground = {"facecolor": colour, "edgecolor": "none", "pad": 1.5}
    for text in axes.bar_label(bars, labels, label_type="center", fontsize=9, color=ink):
        text.set_bbox(ground)


def _before(group: str) -> list[str]:
    """What stands left of it."""
    order = list(_LOOKS)
    return order[: order.index(group)]


def _totals(axes: Axes, cycles: Stalls) -> None:
    for row, reasons in enumerate(cycles.values()):
        total = sum(reasons.values())
        axes.annotate(number(total), (total, row), (4, 0), textcoords="offset points", va="center", fontweight="bold")
