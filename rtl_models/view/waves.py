"""A pipeline in a waveform: clock and handshake as lines, below them what each stage holds, lane by lane."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sim.view.cycles.plots import GREY, looks, picture

_LINE: Final = 0.62
"""The height of a line that is 1, and of a box, in rows."""
_ROW_INCHES: Final = 0.2
_GAP: Final = 0.5
"""Between groups, in rows."""

Samples = Sequence[int | None]
"""The value in each cycle; None where it is unknown."""


class Stage(NamedTuple):
    """What stands in one stage: in which cycles it holds a beat, and by lane the numbers."""

    name: str
    holds: Samples
    lanes: Sequence[Samples]


class _Row(NamedTuple):
    """What is drawn at a place of its own."""

    name: str
    draw: Callable[[float], None]


def waveform(title: str, subtitle: str, lines: Mapping[str, Samples], stages: Sequence[Stage]) -> Figure:
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
    _draw(axes, [_signals(axes, cycles, lines), *_stages(axes, stages)])
    _frame(axes, cycles)
    return figure


def _signals(axes: Axes, cycles: int, lines: Mapping[str, Samples]) -> list[_Row]:
    rows = [_Row(name, partial(_draw_line, axes, samples)) for name, samples in lines.items()]
    return [_Row("clock", partial(_draw_clock, axes, cycles)), *rows]


def _stages(axes: Axes, stages: Sequence[Stage]) -> list[list[_Row]]:
    """The name of a stage is at its first lane."""
    return [
        [
            _Row(
                f"{'' if lane else stage.name}   lane {lane}",
                partial(_draw_boxes, axes, stage.holds, look.colour, samples),
            )
            for lane, samples in enumerate(stage.lanes)
        ]
        for stage, look in zip(stages, looks(len(stages)), strict=True)
    ]


def _draw(axes: Axes, groups: Sequence[Sequence[_Row]]) -> None:
    """From the top down."""
    place, names = 0.0, {}
    for group in groups:
        for row in group:
            row.draw(place)
            names[place] = row.name
            place -= 1
        place -= _GAP
    axes.set_yticks(list(names), list(names.values()))


def _draw_clock(axes: Axes, cycles: int, place: float) -> None:
    halves = [cycle + part for cycle in range(cycles) for part in (0, 0.5)]
    levels = [place + level * _LINE for _ in range(cycles) for level in (0.5, -0.5)]
    axes.step([*halves, cycles], [*levels, levels[0]], where="post", color=GREY, linewidth=1)


def _draw_line(axes: Axes, samples: Samples, place: float) -> None:
    levels = [place + ((level or 0) - 0.5) * _LINE for level in samples]
    axes.step([*range(len(levels) + 1)], [*levels, levels[-1]], where="post", color="black", linewidth=1.2)


def _draw_boxes(axes: Axes, holds: Samples, colour: str, samples: Samples, place: float) -> None:
    for cycle, (value, held) in enumerate(zip(samples, holds, strict=True)):
        axes.plot([cycle, cycle + 1], [place, place], color=GREY, linewidth=0.6, zorder=0)
        if held:
            box = axes.barh(place, 1, _LINE + 0.22, left=cycle, color=colour, edgecolor="white")
            axes.bar_label(
                box, ["unknown" if value is None else str(value)], label_type="center", color="white", fontsize=8
            )


def _frame(axes: Axes, cycles: int) -> None:
    axes.set_xlim(0, cycles)
    axes.set_xticks(range(cycles + 1))
    axes.set_xlabel("cycle, from one rising edge of the clock to the next")
    axes.tick_params(axis="y", length=0, labelsize=8)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x", color="#E5E5E5", linewidth=0.8)
