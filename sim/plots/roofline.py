"""A roofline: what kernels attain on cores, below what the pipes of each core allow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from matplotlib.figure import Figure

from sim.cycles.estimates import CyclesEstimate
from sim.plots.style import legend_beside, looks_of, number, percent, picture
from sim.timing.analysis.bounds import Bounds
from sim.timing.model.stream import Executed

_ROOM = 4.0
"""How much wider than the points the picture is, to either side."""


_NEAR = 1.4
"""Points of which one is less than so many times the other would have their texts upon each other."""
_MOST_TEXTS = 6
"""Of more points, how near each is to its roof is told beside the core's name."""


class Roof(NamedTuple):
    """The limits of a core's pipes, in operations and in bytes a cycle."""

    core: str
    operations_per_cycle: float
    bytes_per_cycle: float

    def limit(self, intensity: float) -> float:
        """Operations per cycle that are possible at so many operations per byte."""
        return min(self.operations_per_cycle, self.bytes_per_cycle * intensity)


class Attained(NamedTuple):
    """What a kernel did on a core: operations and bytes moved in so many cycles."""

    kernel: str
    core: str
    operations: float
    bytes: float
    cycles: float

    @property
    def intensity(self) -> float:
        """Operations per byte moved."""
        return self.operations / self.bytes

    @property
    def operations_per_cycle(self) -> float:
        """How fast it was."""
        return self.operations / self.cycles


def roof_of(core: str, bounds: Bounds, operations: float, moved: float) -> Roof:
    """What the pipes of a core allow code that does so many operations and moves so many bytes, by its bounds.

    Operations are limited by the slots and the pipes that the code needs, bytes by its loads and stores; latencies and
    branches by neither.  Raises ValueError where the code needs no pipe or moves nothing.
    """
    work = max((one.cycles for one in bounds.all if one.name == "issue" or one.name.startswith("pipe ")), default=0)
    memory = max((one.cycles for one in bounds.all if one.name == "memory"), default=0)
    if not work or not memory:
        raise ValueError(f"there is no roof on {core} for code without instructions, loads or stores")
    return Roof(core, operations / float(work), moved / float(memory))


def bytes_moved(stream: Iterable[Executed]) -> int:
    """The bytes that a stream loads and stores."""
    return sum(size for one in stream for _, size in (*one.loads, *one.stores))


def roofline_of(estimate: CyclesEstimate) -> Figure:
    """What was timed first, on each core: products of lanes and additions in a cycle, against those in a byte moved.

    Raises ValueError for what multiplies nothing, or moves nothing.
    """
    roofs, attained = list[Roof](), list[Attained]()
    for row in estimate.rows:
        result, operations, moved = row.result, row.work.operations, row.work.bytes
        if result.title != estimate.rows[0].result.title:
            continue
        if not operations:
            raise ValueError(f"{result.title} multiplies nothing, and a roofline counts products and their additions")
        core = result.report.core
        bounds, times = (result.loop.bounds, result.loop.count) if result.loop else (result.report.bounds, 1)
        roofs.append(roof_of(core, bounds, operations / times, moved / times))
        attained.append(Attained(result.title, core, operations, moved, result.cycles))
    return plot_roofline(roofs, attained)


def plot_roofline(roofs: Sequence[Roof], attained: Sequence[Attained]) -> Figure:
    """Operations per cycle against operations per byte, both logarithmic: a roof for each core, a point for each run.

    Raises ValueError where there is no point, where a core has no roof, or where a figure is not above 0.
    """
    if not attained:
        raise ValueError("a roofline needs at least one kernel")
    roof_of_core = {roof.core: roof for roof in roofs}
    for one in attained:
        if one.core not in roof_of_core:
            raise ValueError(f"{one.core!r} has no roof")
        if min(one.operations, one.bytes, one.cycles) <= 0:
            raise ValueError(f"{one.kernel!r} on {one.core!r} needs operations, bytes and cycles above 0")
    shares = [one.operations_per_cycle / roof_of_core[one.core].limit(one.intensity) for one in attained]
    subtitle, is_crowded = "operations per cycle against operations per byte moved", len(attained) > _MOST_TEXTS
    figure, axes = picture(_finding(attained, shares), subtitle, max(4.5, 1.5 + 0.45 * len(roofs)))
    ridges = [roof.operations_per_cycle / roof.bytes_per_cycle for roof in roofs]
    places = sorted([*ridges, *(one.intensity for one in attained)])
    told: list[tuple[float, float]] = []
    across = [places[0] / _ROOM, *places, places[-1] * _ROOM]
    for place, (roof, look) in enumerate(zip(roofs, looks_of([roof.core for roof in roofs]), strict=True)):
        limits = f"{number(roof.operations_per_cycle)} operations, {number(roof.bytes_per_cycle)} bytes a cycle"
        heights = [roof.limit(intensity) for intensity in across]
        widest = min(1.5 * (len(roofs) - 1), 6)
        width = 2 + widest * (1 - place / max(len(roofs) - 1, 1))  # so that those upon each other are all seen
        runs = [(one, percent(share)) for one, share in zip(attained, shares, strict=True) if one.core == roof.core]
        name = f"{roof.core}, {', '.join(share for _, share in runs)}" if is_crowded else roof.core
        axes.plot(across, heights, color=look.colour, linewidth=width, label=f"{name}\n{limits}")
        for one, share in runs:
            at, top, reached = one.intensity, roof.limit(one.intensity), one.operations_per_cycle
            axes.plot([at] * 2, [reached, top], color=look.colour, linewidth=1, linestyle=":")
            axes.plot([at], [reached], look.marker, color=look.colour, markersize=9, markeredgecolor="white")
            if is_crowded:
                continue
            near = [y for x, y in told if max(x / at, at / x, y / reached, reached / y) < _NEAR]
            above = sum(1 if reached > y else -1 for y in near)
            told.append((at, reached))
            axes.annotate(
                f"{one.kernel} {share}",
                (at, reached),
                (8, -3 + 13 * above),
                textcoords="offset points",
                fontsize=9,
                backgroundcolor="#ffffffcc",
            )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: number(value))
    axes.set_xlabel("operations per byte")
    axes.set_ylabel("operations per cycle")
    axes.grid(color="#e6e6e6")
    legend_beside(axes)
    return figure


def _finding(attained: Sequence[Attained], shares: Sequence[float]) -> str:
    """The run that is nearest to its roof, and the one that is farthest."""
    in_order = sorted(zip(shares, attained, strict=True))
    (low, worst), (high, best) = in_order[0], in_order[-1]
    first = f"{best.kernel} reaches {percent(high)} of what the pipes of {best.core} allow"
    return first if best is worst else f"{first}, {percent(low)} on {worst.core}"
