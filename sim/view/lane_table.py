"""The lanes that the instructions of one call read and wrote: a table for terminals and notebooks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Final, NamedTuple

_HEADS: Final = ("source", "instruction", "lanes before", "lanes after", "emulator", "golden")
Lanes = tuple[int | float, ...]


class NamedLanes(NamedTuple):
    """A register or memory by name, such as v3, v2.s[0] or output, and its lanes, the lowest first."""

    name: str
    lanes: Lanes


@dataclass(frozen=True, kw_only=True)
class LaneRow:
    """One executed instruction, and one register or piece of memory that it wrote.

    `emulator` are the lanes that the emulator wrote, `marked` the numbers of those through which the wrong lane came.
    `golden` is the step of the golden reference that a marked lane holds, and its number; where the kernel `parts`
    from the golden reference, and behind that, what it should hold.
    """

    source: str
    instruction: str
    reads: tuple[NamedLanes, ...]
    written: NamedLanes
    emulator: Lanes
    marked: frozenset[int]
    golden: str = ""
    parts: bool = False


@dataclass(frozen=True)
class LaneTable:
    """The rows of one call in order.  str() is a table for terminals, with the marked lanes in brackets."""

    rows: tuple[LaneRow, ...]

    @property
    def engines_agree(self) -> bool:
        """Whether machine and emulator wrote the same in every row."""
        return all(map(_is_the_same, self.rows))

    @property
    def parting(self) -> LaneRow | None:
        """The row in which the kernel parts from the golden reference."""
        return next((row for row in self.rows if row.parts), None)

    def __str__(self) -> str:
        lines = [_HEADS, *(_cells(row, "[{}]".format) for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)

    def _repr_html_(self) -> str:
        """The table for a notebook: marked lanes bold, the row that parts shaded."""
        heads = "".join(f'<th style="text-align:left">{head}</th>' for head in _HEADS)
        body = ""
        for row in self.rows:
            style = ' style="background:#fff2cc;color:#000"' if row.parts else ""
            cells = (f'<td style="text-align:left">{cell}</td>' for cell in _cells(row, "<b>{}</b>".format, escape))
            body += f"<tr{style}>{''.join(cells)}</tr>"
        return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def _cells(
    row: LaneRow, mark: Callable[[float], str], shown: Callable[[str], str] = str
) -> tuple[str, str, str, str, str, str]:
    after = " ".join(mark(lane) if i in row.marked else str(lane) for i, lane in enumerate(row.written.lanes))
    before = "; ".join(f"{name}: {_spaced(lanes)}" for name, lanes in row.reads)
    emulator = "the same" if _is_the_same(row) else _spaced(row.emulator)
    golden = f"parts: {row.golden}" if row.parts else row.golden
    return shown(row.source), shown(row.instruction), before, f"{row.written.name}: {after}", emulator, shown(golden)


def _is_the_same(row: LaneRow) -> bool:
    """By their text, in which one NaN is as good as another."""
    return _spaced(row.emulator) == _spaced(row.written.lanes)


def _spaced(lanes: Lanes) -> str:
    return " ".join(map(str, lanes))
