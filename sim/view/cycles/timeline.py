"""The timeline of a pipeline on the terminal, in the letters of `llvm-mca -timeline`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from textwrap import wrap
from typing import Final, NamedTuple

from rich.console import Console
from rich.text import Text

from sim.timing.model.schedule import Schedule
from sim.view.cycles.timeline_row import LEGENDS, REASONS, TimelineRow, row_of
from sim.view.cycles.window import window
from sim.view.sentences import counted, cut

ROWS: Final = 40
_COLOURS: Final = {"s": "red", "=": "yellow", "D": "bold cyan", "e": "green", "E": "bold green", "R": "blue"}
_KEPT: Final = "\N{NO-BREAK SPACE}"
_RULE, _TICK = 10, 5
"""Columns from one number of the ruler to the next, and from dot to dot."""
_GAPS: Final = 5
_TOGETHER: Final = 8
"""Rows that must fit below one ruler: where they do not, a column is several cycles."""


class _Layout(NamedTuple):
    """Columns of the terminal for each part of a row, and the cycles of one column."""

    label: int
    columns: int
    text: int
    reason: int
    scale: int


def show_timeline(
    schedule: Schedule,
    console: Console,
    *,
    first: int = 0,
    rows: int = ROWS,
    title: str = "",
    told: Callable[[str], str] = str,
) -> None:
    """Print `rows` instructions from number `first` on: a column for each cycle; what held them up at the right.

    A title stands above, after an empty line.  Where the cycles are more than the console has columns, a new block
    starts at a later cycle; where few instructions already take more, a column is several cycles, and its letter the
    most telling of them.  `told` makes the texts of instructions ready to be read.  Raises ValueError where there is
    nothing to show.
    """
    found = (row_of(schedule, number) for number in window(schedule, first, rows))
    shown = [row._replace(text=told(row.text)) for row in found]
    label, text, reason = (max(len(getattr(row, part)) for row in shown) for part in ("label", "text", "reason"))
    free = max(console.width - label - _GAPS, 3)
    # reasons and texts leave the cycles a third of a narrow terminal
    columns = min(_cycles(shown), max(free - text - reason, free // 3))
    text = min(text, (free - columns) // 2 if reason else free - columns)
    together = max(_cycles(shown[k : k + _TOGETHER]) for k in range(max(len(shown) - _TOGETHER, 0) + 1))
    layout = _Layout(label, columns, text, free - columns - text, ceil(together / columns))
    if title:
        console.print(f"\n{title}", style="bold", highlight=False, markup=False)
    total = f"of {counted(len(schedule.stream), 'instruction')} in {counted(schedule.cycles, 'cycle')}"
    console.print(Text(f"{schedule.core.title}: {shown[0].label} to {shown[-1].label} {total}", style="bold"))
    scale = (f"a column is {layout.scale} cycles",) if layout.scale > 1 else ()
    legend = "   ".join(piece.replace(" ", _KEPT) for piece in (*LEGENDS[schedule.core.order], REASONS, *scale))
    for line in wrap(legend, console.width):
        console.print(Text(line.replace(_KEPT, " "), style="dim"))
    block: list[TimelineRow] = []
    for row in shown:
        if block and _cycles([*block, row]) > layout.columns * layout.scale:
            _show_block(block, layout, console)
            block = []
        block.append(row)
    _show_block(block, layout, console)


def _cycles(rows: Sequence[TimelineRow]) -> int:
    return max(row.end for row in rows) - min(row.start for row in rows)


def _show_block(rows: Sequence[TimelineRow], layout: _Layout, console: Console) -> None:
    """Rows below one ruler."""
    start, step = min(row.start for row in rows), _RULE * layout.scale
    ruler = " " * (layout.label + 1)
    for cycle in range(start - start % -step, start + layout.columns * layout.scale, step):
        ruler = ruler.ljust(layout.label + 1 + (cycle - start) // layout.scale) + str(cycle)
    console.print(Text(f"\n{ruler}", style="dim"), no_wrap=True)
    for row in rows:
        line = Text(f"{row.label:>{layout.label}} ")
        for cycle in range(start, start + layout.columns * layout.scale, layout.scale):
            letter = row.letter(cycle, layout.scale)
            background = " " if cycle // layout.scale % _TICK else "."
            line.append(letter or background, style=_COLOURS.get(letter, "dim"))
        line.append(f"  {cut(row.text, layout.text):<{layout.text}}  ")
        line.append(cut(row.reason, layout.reason), style="red" if "s" in row.letters else "yellow")
        line.rstrip()
        console.print(line, no_wrap=True)
