"""A picture of a synthesis: what each design takes, and what it does with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from rtl_models.synthesis.figures import Figures

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sim.plots.style import Look

_LINES: Final[Mapping[str | None, Literal["-", ":", ""]]] = {"deep": "-", "shallow": ":", None: ""}


def drawn(figures: Sequence[Figures], file: Path) -> bytes:
    """Elements a second against cells, both logarithmic, as the file's ending says; one design at least has a clock."""
    from sim.plots import style as plots  # needs matplotlib, which is optional

    placed = [one for one in figures if one.placed]
    best = max(placed, key=lambda one: one.elements_per_second or 0)
    finding = f"{best.design.title}: {_giga(best):.2f} G elements a second from {best.size.cells:,} cells"
    figure, axes = plots.picture(finding, "elements a second against cells; beside each point its lanes")
    names = list(dict.fromkeys(one.design.name for one in placed))
    for name, look in zip(names, plots.looks(len(names)), strict=True):
        _draw(axes, [one for one in placed if one.design.name == name], look)
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:,g}")
        axis.set_minor_formatter(lambda value, _: f"{value:,g}" if f"{value:e}"[0] in "235" else "")
    axes.tick_params(which="both", labelsize=8)
    axes.set_xlabel("cells (LUTs of 4 inputs)")
    axes.set_ylabel("G elements a second")
    axes.grid(which="both", color="#eeeeee")
    plots.legend_beside(axes)
    return plots.content_of(figure, file)


def _giga(figures: Figures) -> float:
    return (figures.elements_per_second or 0) / 1e9


def _draw(axes: Axes, placed: Sequence[Figures], look: Look) -> None:
    """A line for each profile; shallow points are hollow."""
    for profile in dict.fromkeys(one.design.profile for one in placed):
        if line := [one for one in placed if one.design.profile == profile]:
            cells, speeds = [one.size.cells for one in line], [_giga(one) for one in line]
            (path,) = axes.plot(cells, speeds, color=look.colour, marker=look.marker, label=line[0].design.module)
            path.set_linestyle(_LINES.get(profile, "--"))
            path.set_markerfacecolor("white" if profile == "shallow" else look.colour)
            for one in line:
                place = (one.size.cells, _giga(one))
                axes.annotate(str(one.design.lanes), place, (5, -9), textcoords="offset points", fontsize=8)
