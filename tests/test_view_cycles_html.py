"""The page of cycles: one file that needs nothing else, in which nothing shown can become markup."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from sim.timing.model.schedule import Stall, StallKind
from sim.view.cycles.html import ListingLine, Measure, Section, render_page
from sim.view.cycles.timeline_svg import CYCLE, draw_timeline
from support.schedules_by_hand import IN_ORDER, OUT_OF_ORDER, Row, scheduled

HOSTILE = '<script>alert("&amp;")</script>'
_VOID = {"meta", "br"}
_SVG = "{http://www.w3.org/2000/svg}"

SECTION = Section(
    name="Cortex-A55",
    figures=[("cycles", "1,204")],
    notes=["Within 5 %."],
    bounded="an iteration",
    bounds=[Measure("latency", 20, "a chain"), Measure("issue", 5)],
    stalls=[Measure("result latency", 12)],
    pipes=[Measure("V0", 9)],
    path=[Measure("mul", 4)],
    listing=[
        ListingLine(place="gate.c:12", text="a = b;", cycles=4, source=True),
        ListingLine(place="0x1000", text="mul v0.4s, v1.4s, v2.4s", cycles=3, executions="8", slack="0"),
        ListingLine(place="0x1004", text="nop", cycles=1, executions="8", slack="2", why="no slot"),
    ],
    schedule=IN_ORDER,
    shown=range(4),
)


class _Reader(HTMLParser):
    """Tags with their attributes, text, and whether every tag is closed in its turn."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._open += [tag] if tag not in _VOID else []

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def _page(section: Section = SECTION) -> _Reader:
    return _Reader(render_page("gate", "64 elements", [section]))


def _with_attribute(reader: _Reader, tag: str, name: str, value: str) -> list[dict[str, str | None]]:
    return [found for one, found in reader.tags if one == tag and found.get(name) == value]


def test_the_page_names_nothing_to_load() -> None:
    reader = _page()

    assert not {tag for tag, _ in reader.tags} & {"script", "link", "img", "iframe", "object"}
    assert not [found for _, found in reader.tags if {"src", "onload", "onclick"} & set(found)]
    assert "url(" not in render_page("gate", "", [SECTION])


def test_the_page_forbids_a_browser_to_load_or_to_run_anything() -> None:
    policy = _with_attribute(_page(), "meta", "http-equiv", "Content-Security-Policy")

    assert policy[0]["content"] == "default-src 'none'; style-src 'unsafe-inline'"


@pytest.mark.parametrize(
    "section",
    [
        replace(SECTION, name=HOSTILE),
        replace(SECTION, figures=[(HOSTILE, HOSTILE)]),
        replace(SECTION, notes=[HOSTILE]),
        replace(SECTION, bounded=HOSTILE),
        replace(SECTION, bounds=[Measure(HOSTILE, 1, HOSTILE)]),
        replace(SECTION, stalls=[Measure(HOSTILE, 1, HOSTILE)]),
        replace(SECTION, pipes=[Measure(HOSTILE, 1, HOSTILE)]),
        replace(SECTION, path=[Measure(HOSTILE, 1, HOSTILE)]),
        replace(
            SECTION,
            listing=[
                ListingLine(place=HOSTILE, text=HOSTILE, cycles=1, executions=HOSTILE, slack=HOSTILE, why=HOSTILE)
            ],
        ),
    ],
    ids=["name", "figures", "notes", "bounded", "bounds", "stalls", "pipes", "path", "listing"],
)
def test_text_stays_text(section: Section) -> None:
    reader = _page(section)

    assert not any(tag == "script" for tag, _ in reader.tags)
    assert any(HOSTILE in text for text in reader.text)


def test_titles_stay_text() -> None:
    reader = _Reader(render_page(HOSTILE, HOSTILE, []))

    assert [text for text in reader.text if text == HOSTILE] == [HOSTILE] * 3


def test_the_binding_bound_is_marked_and_bars_are_relative_to_it() -> None:
    shares = re.findall(r'class="(measure[^"]*)" style="--share:([\d.]+)"', render_page("gate", "", [SECTION]))

    assert shares[:2] == [("measure binding", "1.000"), ("measure", "0.250")]


def test_heat_is_relative_to_the_hottest_instruction_and_none_on_source_lines() -> None:
    heat = re.findall(r"--heat:([\d.]+)", render_page("gate", "", [SECTION]))

    assert heat == ["0.000", "1.000", "0.333"]


def test_every_core_has_a_section_and_a_link_to_it() -> None:
    reader = _Reader(render_page("gate", "", [SECTION, replace(SECTION, name="Neoverse N1")]))

    links = [found["href"] for tag, found in reader.tags if tag == "a"]
    assert links == [f"#{found['id']}" for tag, found in reader.tags if tag == "section"]


def _rectangles(svg: str) -> list[tuple[str | None, int, int]]:
    """(class, first cycle, cycles) of every bar; one pixel is left between bars."""
    found = ET.fromstring(svg).iter(f"{_SVG}rect")
    return [(r.get("class"), int(r.attrib["x"]) // CYCLE, (int(r.attrib["width"]) + 1) // CYCLE) for r in found]


def test_the_timeline_has_a_bar_for_each_part_of_each_life() -> None:
    assert _rectangles(draw_timeline(IN_ORDER, range(4))) == [
        ("executes", 0, 4),
        ("held", 0, 4),
        ("executes", 4, 4),
        ("executes", 4, 1),
        ("done", 5, 3),
        ("executes", 5, 1),
        ("done", 6, 2),
    ]


def test_bars_of_the_timeline_name_their_reasons() -> None:
    titles = [title.text for title in ET.fromstring(draw_timeline(OUT_OF_ORDER, range(3, 4))).iter(f"{_SVG}title")]

    assert titles[0] == "[3] str q3, [x0]: waits to enter, cycles 1 to 5 (reorder buffer full)"


def test_a_pipe_of_a_hostile_core_file_stays_text() -> None:
    stall = Stall(StallKind.PIPE, -1, HOSTILE)
    schedule = scheduled("in", [Row("nop", (3, 3, 3, 4, 4), entry=stall)])

    titles = [title.text for title in ET.fromstring(draw_timeline(schedule, range(1))).iter(f"{_SVG}title")]
    assert HOSTILE in str(titles[0])


def test_arrows_of_the_timeline_join_rows_that_are_both_shown() -> None:
    def arrows(shown: range) -> int:
        return len(list(ET.fromstring(draw_timeline(OUT_OF_ORDER, shown)).iter(f"{_SVG}path")))

    assert (arrows(range(5)), arrows(range(2, 5))) == (2, 0)
