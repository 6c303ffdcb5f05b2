"""Pictures of cycles per element: against the length of the data, against the factor of unrolling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sim.plots.style import legend_beside, looks_of, number, percent, picture

Series = Mapping[str, Sequence[float]]
"""A number for each length or factor, by the name of a core or of a variant."""

_MARKED = 40
"""Points of a line that still stand apart with a marker each."""


def plot_cycles_by_length(lengths: Sequence[int], cycles: Series, step: int = 0) -> Figure:
    """Cycles per element against length, from the cycles of whole calls; tails stand out as teeth.

    `step` is the number of elements of a whole iteration: a line stands at each multiple.
    Raises ValueError where a series does not have one number for each length, or a length is below 1.
    """
    _check(lengths, cycles, "length")
    each = {name: [c / n for c, n in zip(calls, lengths, strict=True)] for name, calls in cycles.items()}
    # The longest length, and the worst longer than one step.
    name, values = min(each.items(), key=lambda item: item[1][-1])
    finding = f"{name}: {number(values[-1])} cycles per element at {lengths[-1]:,} elements"
    if tails := [(v, n) for v, n in zip(values, lengths, strict=True) if step and n > step and n % step]:
        finding += f", {number(max(tails)[0])} with a tail at {max(tails)[1]:,}"
    figure, axes = picture(finding, "cycles per element against the number of elements")
    _lines(axes, lengths, each)
    if step:
        for whole in range(step, max(lengths) + 1, step):
            axes.axvline(whole, color="#dddddd", linewidth=1, zorder=0)
    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_formatter(lambda value, _: number(value))
    _finish(axes, "elements")
    return figure


def plot_unroll_sweep(factors: Sequence[int], cycles: Series, bounds: Mapping[str, float] | None = None) -> Figure:
    """Cycles per element against the factor of unrolling; `bounds` are dashed: no factor comes below.

    Raises ValueError where a series does not have one number for each factor, or a factor is below 1.
    """
    _check(factors, cycles, "factor")
    # The smallest factor that is within 2 % of the best, of the series that gains most.
    gains = {name: 1 - min(values) / values[0] for name, values in cycles.items()}
    most = max(gains, key=gains.__getitem__)
    best = next(f for f, v in zip(factors, cycles[most], strict=True) if v <= 1.02 * min(cycles[most]))
    finding = f"Unrolling by {best} takes {percent(gains[most])} off on {most}"
    if best == factors[0]:
        finding = "Unrolling gains nothing"
    figure, axes = picture(finding, "cycles per element against the factor of unrolling")
    _lines(axes, factors, cycles)
    for name, look in zip(cycles, looks_of(list(cycles)), strict=True):
        if bounds and name in bounds:
            axes.axhline(bounds[name], color=look.colour, linestyle="--", linewidth=1.2, label=f"bound of {name}")
    axes.set_xscale("log", base=2)
    axes.set_xticks(factors, [str(factor) for factor in factors])
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    _finish(axes, "unrolled by")
    return figure


def _check(places: Sequence[int], cycles: Series, what: str) -> None:
    if not places or not cycles or min(places) < 1:
        raise ValueError(f"a picture needs a series, and each {what} from 1 on")
    for name, values in cycles.items():
        if len(values) != len(places):
            raise ValueError(f"{name!r} has {len(values)} numbers for {len(places)} of a {what}")


def _lines(axes: Axes, places: Sequence[int], cycles: Series) -> None:
    for place, (name, look) in enumerate(zip(cycles, looks_of(list(cycles)), strict=True)):
        marker = look.marker if len(places) <= _MARKED else ""
        width = 1.6 + 1.2 * (len(cycles) - 1 - place)  # so that those that lie upon each other are all seen
        axes.plot(places, cycles[name], color=look.colour, marker=marker, markersize=5, linewidth=width, label=name)


def _finish(axes: Axes, what: str) -> None:
    axes.set_xlabel(what)
    axes.set_ylabel("cycles per element")
    axes.grid(axis="y", color="#e6e6e6")
    legend_beside(axes)
