"""Cycles as one page: no network, no script, readable in light and in dark; whatever is shown is escaped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final, NamedTuple

from sim.timing.model.schedule import Schedule
from sim.view.cycles.html_style import STYLE
from sim.view.cycles.timeline_svg import LEGEND, draw_timeline, names
from sim.view.document import document

_COLUMNS: Final = ("cycles", "runs", "slack", "place", "code", "most of its cycles")


class Measure(NamedTuple):
    """A row of a table: cycles of something, and a sentence about it."""

    name: str
    cycles: float
    sentence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListingLine:
    """A row of the listing: an instruction, or the source line (`source`) of those that follow it.

    `executions` and `slack` are numbers as text, "" where there is nothing to say.
    """

    place: str
    text: str
    cycles: float
    executions: str = ""
    slack: str = ""
    why: str = ""
    source: bool = False


@dataclass(frozen=True, kw_only=True)
class Section:
    """What a page says of one core.

    `figures` are the (name, value) that are read first, `notes` whole sentences.  `bounded` says what the bounds are
    those of.  `shown` are the instructions of the timeline, whose texts `told` makes ready to be read.
    """

    name: str
    figures: Sequence[tuple[str, str]]
    notes: Sequence[str]
    bounded: str
    bounds: Sequence[Measure]
    stalls: Sequence[Measure]
    pipes: Sequence[Measure]
    path: Sequence[Measure]
    listing: Sequence[ListingLine]
    schedule: Schedule
    shown: range
    told: Callable[[str], str] = str


def render_page(title: str, subtitle: str, sections: Sequence[Section]) -> str:
    """The whole document, a section for each core."""
    links = "".join(f'<a href="#core-{n}">{escape(one.name)}</a>' for n, one in enumerate(sections))
    body = "\n".join(_section(n, one) for n, one in enumerate(sections))
    heading = f'<h1>{escape(title)}</h1><p class="soft">{escape(subtitle)}</p><nav>{links}</nav>'
    return document(title, STYLE, f"{heading}\n{body}")


def _section(place: int, one: Section) -> str:
    """Figures, notes, tables, the listing with the hottest lines marked, the timeline."""
    figures = "".join(
        f'<div><span class="soft">{escape(name)}</span><b>{escape(value)}</b></div>' for name, value in one.figures
    )
    legend = "".join(f'<span><i class="{look}"></i>{escape(meaning)}</span>' for look, meaning in LEGEND)
    rows = "".join(f"<div>{name}</div>" for name in names(one.schedule, one.shown, one.told))
    most = max((line.cycles for line in one.listing if not line.source), default=0) or 1
    listing = []
    for line in one.listing:
        row = '<tr class="source">' if line.source else "<tr>"
        cycles, heat = _number(line.cycles) if line.cycles else "", 0 if line.source else line.cycles / most
        hot = f'<td class="number heat" style="--heat:{heat:.3f}">{cycles}</td>'
        numbers = "".join(f'<td class="number soft">{escape(number)}</td>' for number in (line.executions, line.slack))
        code = f'<td class="place">{escape(line.place)}</td><td>{escape(line.text)}</td>'
        listing.append(f'{row}{hot}{numbers}{code}<td class="why">{escape(line.why)}</td></tr>')
    heads = "<tr>" + "".join(f"<th>{name}</th>" for name in _COLUMNS) + "</tr>"
    lines = "\n".join(listing)
    timeline = draw_timeline(one.schedule, one.shown, one.told)
    return f"""<section id="core-{place}"><h2>{escape(one.name)}</h2>
<div class="figures">{figures}</div>
{"".join(f'<p class="soft note">{escape(note)}</p>' for note in one.notes)}
<div class="tables">
{_table(f"Bounds of {one.bounded}", one.bounds, binding=True)}
{_table("Where the cycles go", one.stalls)}
{_table("Pipes", one.pipes)}
{_table("Critical path", one.path)}
</div>
<h3>Listing</h3><div class="scroll"><table class="listing">{heads}{lines}</table></div>
<h3>Timeline</h3><p class="legend">{legend}</p>
<div class="scroll"><div class="rows"><div class="names">{rows}</div>{timeline}</div></div>
</section>"""


def _table(title: str, rows: Sequence[Measure], *, binding: bool = False) -> str:
    """The bars are relative to the largest, which binds where these are bounds."""
    most = max((row.cycles for row in rows), default=0) or 1
    lines = []
    for row in rows:
        look = "measure binding" if binding and row.cycles == most else "measure"
        sentence = f'<br><span class="soft">{escape(row.sentence)}</span>' if row.sentence else ""
        name = f'<td class="{look}" style="--share:{row.cycles / most:.3f}">{escape(row.name)}{sentence}</td>'
        lines.append(f'<tr>{name}<td class="number">{_number(row.cycles)}</td></tr>')
    body = "\n".join(lines)
    return f"<div><h3>{escape(title)}</h3><table>{body}</table></div>"


def _number(cycles: float) -> str:
    return f"{cycles:,.2f}".rstrip("0").rstrip(".")
