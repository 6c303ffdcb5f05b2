"""A picture of where the cycles go: stalls by reason, a bar for each core."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from matplotlib.figure import Figure

from sim.plots.style import (
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
from sim.timing.analysis.reasons import ReasonGroup

Stalls = Mapping[str, Mapping[str, float]]
"""Cycles by core and reason."""
_LOOKS: Final[dict[str, tuple[str, str]]] = {
    ReasonGroup.WIDTH: (GREEN, ""),
    ReasonGroup.ORDER: (GREEN, "///"),
    ReasonGroup.RESULT: (BLUE, ""),
    ReasonGroup.LOAD: (SKY, ""),
    ReasonGroup.STORE: (SKY, "///"),
    ReasonGroup.PIPE: (ORANGE, ""),
    ReasonGroup.QUEUE: (ORANGE, "///"),
    ReasonGroup.REORDER: (YELLOW, ""),
    ReasonGroup.MISPREDICT: (VERMILION, ""),
    ReasonGroup.BRANCH: (VERMILION, "///"),
    ReasonGroup.MEMORY: (PURPLE, ""),
    ReasonGroup.EXECUTION: (GREY, ""),
    ReasonGroup.RETIREMENT: (GREY, "///"),
}
"""The same reason looks the same in every picture; neighbours in meaning share a colour."""
_LABELLED: Final = 0.06
"""The share of the widest bar from which a piece has room for its number."""


def plot_stalls(cycles: Stalls, unit: str = "cycles") -> Figure:
    """A bar for each core, of the cycles charged to each reason, as `CyclesReport.stalls` has them.

    Raises ValueError where nothing is charged at all, and for a reason that is none of
    `sim.timing.analysis.reasons.ReasonGroup`.
    """
    for reason in (reason for reasons in cycles.values() for reason in reasons):
        if reason not in _LOOKS:
            raise ValueError(f"{reason!r} is not a reason: {', '.join(_LOOKS)}")
    totals = {core: sum(reasons.values()) for core, reasons in cycles.items()}
    if not any(totals.values()):
        raise ValueError("a picture of stalls needs cycles that are charged to reasons")
    largest: dict[str, list[str]] = {}  # of each core, together where they agree
    for core, reasons in cycles.items():
        if totals[core]:
            most = max(reasons, key=reasons.__getitem__)
            largest.setdefault(most, []).append(f"{percent(reasons[most] / totals[core])} on {core}")
    finding = "; ".join(f"{group} takes {', '.join(cores)}" for group, cores in largest.items())
    widest = max(totals.values())
    left: list[float] = [0] * len(cycles)
    figure, axes = picture(finding[:1].upper() + finding[1:], f"{unit} by reason", 1.8 + 0.55 * max(len(cycles), 2))
    for group, (colour, hatch) in _LOOKS.items():
        own = [reasons.get(group, 0) for reasons in cycles.values()]
        if not any(own):
            continue
        bars = axes.barh(
            range(len(own)), own, 0.6, left, color=colour, hatch=hatch, edgecolor="white", label=str(group)
        )
        labels = [number(value) if value >= _LABELLED * widest else "" for value in own]
        ink = "white" if colour in (BLUE, VERMILION, GREEN) else "black"
        for text in axes.bar_label(bars, labels, label_type="center", fontsize=9, color=ink):
            text.set_bbox({"facecolor": colour, "edgecolor": "none", "pad": 1.5})
        left = [before + value for before, value in zip(left, own, strict=True)]
    axes.set_yticks(range(len(cycles)), list(cycles))
    axes.set_xlim(0, widest * 1.12)
    axes.invert_yaxis()
    axes.set_xlabel(unit)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    for row, total in enumerate(totals.values()):
        axes.annotate(number(total), (total, row), (4, 0), textcoords="offset points", va="center", fontweight="bold")
    legend_beside(axes)
    return figure
