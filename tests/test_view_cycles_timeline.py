"""The timeline on the terminal."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from sim.timing.model.schedule import Schedule, Stall, StallKind
from sim.view.cycles.timeline import show_timeline
from support.schedules_by_hand import IN_ORDER, OUT_OF_ORDER, Row, scheduled

LONG = scheduled("in", [Row("nop", (9 * n, 9 * n, 9 * n, 9 * n + 1, 9 * n + 1)) for n in range(30)])
"""Thirty instructions, nine cycles apart."""


def _shown(schedule: Schedule, width: int = 120, first: int = 0, rows: int = 40) -> list[str]:
    text = io.StringIO()
    show_timeline(schedule, Console(file=text, width=width), first=first, rows=rows)
    return text.getvalue().splitlines()


def _rows(lines: list[str]) -> list[str]:
    """The lines of instructions up to their texts: label, cells."""
    return [match[1] for line in lines if (match := re.match(r"( *\[\d+\] .*?)  (?:add|mla|mul|nop|str)\b", line))]


def _letters(lines: list[str]) -> list[str]:
    return [re.sub(r"[ .]", "", row[row.index("]") + 1 :]) for row in _rows(lines)]


def test_out_of_order_rows_have_the_letters_of_their_cycles() -> None:
    assert _letters(_shown(OUT_OF_ORDER)) == ["DeeeER", "D====eER", "D=eeeER", "ssssD=ER", "D--R"]


def test_in_order_rows_end_with_their_execution() -> None:
    assert _letters(_shown(IN_ORDER)) == ["DeeE", "ssssDeeE", "D", "D"]


def test_a_letter_stands_below_its_cycle() -> None:
    rows = _rows(_shown(OUT_OF_ORDER))

    assert [row.index("D") - len("[0] ") for row in rows] == list(OUT_OF_ORDER.entered)


def test_what_held_an_instruction_up_stands_at_the_right_with_its_cycles() -> None:
    line = next(line for line in _shown(OUT_OF_ORDER) if line.startswith("[3]"))

    assert re.search(r"str q3, \[x0\] +4: reorder buffer full; 2: v3 from \[1\] add$", line)


def test_an_instruction_that_waits_for_its_own_first_part_says_so() -> None:
    itself = Row("ldp q0, q1, [x0]", (0, 0, 1, 5, 5), (("L", 0, 2),), issue=Stall(StallKind.PIPE, 0, "L"))

    assert _shown(scheduled("out", [itself]))[-1].endswith("1: L busy with itself")


def test_a_reason_that_does_not_fit_ends_in_an_ellipsis() -> None:
    line = next(line for line in _shown(OUT_OF_ORDER, width=60) if line.startswith("[3]"))

    assert line.endswith("…")
    assert "4: reorder" in line


def test_a_slot_that_is_taken_is_no_delay() -> None:
    assert not any("slot" in line for line in _shown(OUT_OF_ORDER))


def test_only_the_rows_asked_for_are_shown() -> None:
    assert [row.split()[0] for row in _rows(_shown(OUT_OF_ORDER, first=1, rows=2))] == ["[1]", "[2]"]


@pytest.mark.parametrize("width", [20, 40, 60, 80, 120])
@pytest.mark.parametrize("schedule", [OUT_OF_ORDER, IN_ORDER, LONG], ids=["out", "in", "long"])
def test_no_line_is_wider_than_the_terminal(schedule: Schedule, width: int) -> None:
    assert max(map(len, _shown(schedule, width))) <= width


@pytest.mark.parametrize("width", [40, 80, 120])
def test_however_narrow_every_instruction_has_its_row_and_its_entry(width: int) -> None:
    rows = _rows(_shown(LONG, width))

    assert [row.split()[0] for row in rows] == [f"[{n}]" for n in range(30)]
    assert all("D" in row for row in rows)


def test_a_life_that_is_wider_than_the_terminal_is_drawn_to_scale_and_this_is_said() -> None:
    wide = scheduled("out", [Row("nop", (0, 0, 0, 1, 500)), Row("nop", (0, 480, 480, 500, 500))])

    lines = _shown(wide, width=80)

    assert any("a column is 8 cycles" in line for line in lines)
    assert all("R" in row for row in _rows(lines))


def test_colours_are_left_out_where_nobody_wants_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    text = io.StringIO()

    show_timeline(OUT_OF_ORDER, Console(file=text, width=100, force_terminal=True))

    assert not re.search(r"\x1b\[[\d;]*3\d", text.getvalue())


def test_colours_are_used_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    text = io.StringIO()

    show_timeline(OUT_OF_ORDER, Console(file=text, width=100, force_terminal=True, color_system="standard"))

    assert re.search(r"\x1b\[[\d;]*3\d", text.getvalue())


def test_a_text_that_looks_like_markup_is_shown_as_it_is() -> None:
    schedule = scheduled(
        "in", [Row("nop", (0, 0, 0, 1, 1)), Row("str q3, [x1]", (3, 3, 3, 4, 4), entry=Stall(StallKind.MEMORY))]
    )

    assert "str q3, [x1]" in _shown(schedule)[-1]


@pytest.mark.parametrize(("first", "rows"), [(5, 1), (-1, 3), (0, 0)])
def test_a_window_without_instructions_is_refused_in_a_sentence(first: int, rows: int) -> None:
    with pytest.raises(ValueError, match="there is nothing to show of"):
        _shown(OUT_OF_ORDER, first=first, rows=rows)
