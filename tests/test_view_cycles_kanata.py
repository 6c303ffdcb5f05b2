"""The Kanata log, read back by a reader that follows the documented grammar to the letter."""

from __future__ import annotations

import pytest

from sim.timing.model.schedule import Schedule
from sim.view.cycles.kanata import render_kanata
from support.kanata_reader import read_kanata
from support.schedules_by_hand import IN_ORDER, OUT_OF_ORDER, Row, scheduled

SCHEDULES = [pytest.param(OUT_OF_ORDER, id="out of order"), pytest.param(IN_ORDER, id="in order")]


def _times(schedule: Schedule) -> list[tuple[int, int]]:
    """Birth, which is the entry of the instruction before, and retirement."""
    return list(zip([0, *schedule.entered], schedule.retired, strict=False))


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_every_instruction_lives_once_from_the_entry_before_it_to_its_retirement(schedule: Schedule) -> None:
    read = read_kanata(render_kanata(schedule))

    assert [(one.born, one.retired) for one in read] == _times(schedule)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_stages_fill_a_life_without_a_gap(schedule: Schedule) -> None:
    for one in read_kanata(render_kanata(schedule)):
        edges = [one.born, *(end for _, _, end in one.stages["0"])]

        assert edges[:-1] == [start for _, start, _ in one.stages["0"]]
        assert edges[-1] == one.retired


def test_the_stages_are_those_of_the_schedule() -> None:
    read = read_kanata(render_kanata(OUT_OF_ORDER))

    assert read[2].stages["0"] == [("F", 0, 1), ("Ds", 1, 2), ("Is", 2, 3), ("X", 3, 7)]
    assert read[4].stages["0"] == [("X", 5, 5), ("Cm", 5, 8)]


def test_stalls_stand_in_lane_1_with_their_reason() -> None:
    read = read_kanata(render_kanata(OUT_OF_ORDER))

    assert read[3].stages["1"] == [("reorder", 1, 5), ("operand", 5, 7)]
    assert read[3].labels["2"] == ["reorder buffer full", "v3 from [1] add"]


def test_arrows_lead_from_the_results_that_were_waited_for() -> None:
    assert [one.producers for one in read_kanata(render_kanata(OUT_OF_ORDER))] == [[], [0], [], [1], []]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_ids_of_retirement_are_the_numbers_in_the_stream(schedule: Schedule) -> None:
    assert [one.retirement for one in read_kanata(render_kanata(schedule))] == list(range(len(schedule.stream)))


def test_the_label_at_the_left_is_address_and_text() -> None:
    assert read_kanata(render_kanata(IN_ORDER))[1].labels["0"] == ["1004: mla v3.4s, v0.4s, v0.4s"]


def test_a_program_without_addresses_is_labelled_by_its_text() -> None:
    one = OUT_OF_ORDER.stream[0]._replace(pc=None, next_pc=None)
    schedule = scheduled("out", [Row("nop", (0, 0, 0, 1, 1))])

    log = render_kanata(Schedule(**{**vars(schedule), "stream": [one]}))

    assert read_kanata(log)[0].labels["0"] == ["mul v0.4s, v1.4s, v2.4s"]


def test_an_empty_stream_is_a_log_without_instructions() -> None:
    assert read_kanata(render_kanata(scheduled("out", []))) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Kanata\t0004", "Kanata 0004"),
        ("I\t1\t1\t0\n", ""),
        ("R\t4\t4\t0\n", ""),
        ("R\t4\t4\t0", "R\t4\t3\t0"),
        ("C\t1\n", "C\t0\n"),
        ("S\t0\t0\tX", "S\t0\t0\tE"),
        ("L\t0\t0\t", "L\t0\t3\t"),
        ("W\t1\t0\t0", "W\t1\t0\t0\t"),
    ],
)
def test_the_reader_refuses_a_damaged_log(before: str, after: str) -> None:
    damaged = render_kanata(OUT_OF_ORDER).replace(before, after)

    with pytest.raises(ValueError, match=r"line|retire|arrow"):
        read_kanata(damaged)


def test_the_reader_wants_a_stage_for_the_ends_of_arrows() -> None:
    log = render_kanata(OUT_OF_ORDER).replace("\tX\n", "\tQ\n")

    with pytest.raises(ValueError, match="an arrow needs a stage"):
        read_kanata(log)
