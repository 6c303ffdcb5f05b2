"""A pipeline in a waveform: clock and handshake as lines, below them what each stage holds, lane by lane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sim.plots.style import GREY, looks, picture

_LINE: Final = 0.62
"""The height of a line that is 1, and of a box, in rows."""
_ROW_INCHES: Final = 0.2
_GAP: Final = 0.5
"""Between groups, in rows."""

Samples = Sequence[int | None]
"""The value in each cycle; None where it is unknown."""


class StageTrace(NamedTuple):
    """What stands in one stage: in which cycles it holds a beat, and by lane the numbers."""

    name: str
    holds: Samples
    lanes: Sequence[Samples]


def plot_waveform(title: str, subtitle: str, lines: Mapping[str, Samples], stages: Sequence[StageTrace]) -> Figure:
    """The clock, the lines by name, the stages from top to bottom; numbers are shown where a beat is held.

    Every sequence has one value a cycle.  Raises ValueError where they differ in length, and for no stage.
    """
    rows = [samples for stage in stages for samples in (stage.holds, *stage.lanes)]
    lengths = {len(samples) for samples in (*lines.values(), *rows)}
    if len(lengths) != 1 or not stages:
        raise ValueError("a waveform needs a stage or more, and as many values of each signal as there are cycles")
    (cycles,) = lengths
    height = (1 + len(lines) + len(rows) + _GAP * len(stages)) * _ROW_INCHES + 1.1
    figure, axes = picture(title, subtitle, height)
    halves = [cycle + part for cycle in range(cycles) for part in (0, 0.5)]
    levels = [level * _LINE for _ in range(cycles) for level in (0.5, -0.5)]
    axes.step([*halves, cycles], [*levels, levels[0]], where="post", color=GREY, linewidth=1)
    place, names = 0.0, {0.0: "clock"}
    for name, samples in lines.items():
        place -= 1
        names[place] = name
        levels = [place + ((level or 0) - 0.5) * _LINE for level in samples]
        axes.step([*range(len(levels) + 1)], [*levels, levels[-1]], where="post", color="black", linewidth=1.2)
    for stage, look in zip(stages, looks(len(stages)), strict=True):
        place -= _GAP
        for lane, samples in enumerate(stage.lanes):
            place -= 1
            names[place] = f"{'' if lane else stage.name}   lane {lane}"  # a stage is named at its first lane
            _draw_boxes(axes, stage.holds, look.colour, samples, place)
    axes.set_yticks(list(names), list(names.values()))
    axes.set_xlim(0, cycles)
    axes.set_xticks(range(cycles + 1))
    axes.set_xlabel("cycle, from one rising edge of the clock to the next")
    axes.tick_params(axis="y", length=0, labelsize=8)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x", color="#E5E5E5", linewidth=0.8)
    return figure


def _draw_boxes(axes: Axes, holds: Samples, colour: str, samples: Samples, place: float) -> None:
    for cycle, (value, held) in enumerate(zip(samples, holds, strict=True)):
        axes.plot([cycle, cycle + 1], [place, place], color=GREY, linewidth=0.6, zorder=0)
        if held:
            box = axes.barh(place, 1, _LINE + 0.22, left=cycle, color=colour, edgecolor="white")
            axes.bar_label(
                box, ["unknown" if value is None else str(value)], label_type="center", color="white", fontsize=8
            )
