"""The Perfetto trace, read back by the protocol buffer classes that Perfetto publishes.

Its trace processor is no part of the wheel, which fetches it when it is first used: nothing here does.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from itertools import pairwise
from typing import Any

import pytest

from sim.timing.model.schedule import Schedule, Stall, StallKind
from sim.view.cycles.perfetto import PerfettoMissing, render_perfetto
from sim.view.cycles.tracks import STALLS, tracks
from support.schedules_by_hand import IN_ORDER, OUT_OF_ORDER, Row, scheduled

SCHEDULES = [pytest.param(OUT_OF_ORDER, id="out of order"), pytest.param(IN_ORDER, id="in order")]
BEGIN, END = 1, 2
"""TrackEvent.Type of perfetto's protos/perfetto/trace/track_event/track_event.proto."""
_Events = dict[str, list[Any]]


def _events(schedule: Schedule) -> _Events:
    """The packets of every track by its name, stably sorted by time as the trace processor does."""
    packets = list(_packets(schedule))
    names = {p.track_descriptor.uuid: p.track_descriptor.name for p in packets if p.HasField("track_descriptor")}
    found: _Events = defaultdict(list)
    for packet in sorted((p for p in packets if p.HasField("track_event")), key=lambda p: p.timestamp):
        found[names[packet.track_event.track_uuid]].append(packet)
    return found


def _packets(schedule: Schedule) -> Any:
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace

    return Trace.FromString(render_perfetto(schedule)).packet


def _slices(events: list[Any]) -> list[tuple[str, float, float]]:
    """(name, from, to) in microseconds; every end belongs to the slice that began before it."""
    pairs = list(zip(events[::2], events[1::2], strict=True))
    assert [(a.track_event.type, b.track_event.type) for a, b in pairs] == [(BEGIN, END)] * len(pairs)
    return [(a.track_event.name, a.timestamp / 1000, b.timestamp / 1000) for a, b in pairs]


def test_a_pipe_shows_what_occupied_it_a_microsecond_for_each_cycle() -> None:
    assert _slices(_events(OUT_OF_ORDER)["V0"]) == [
        ("mul v0.4s, v1.4s, v2.4s", 1, 3),
        ("mul v4.4s, v1.4s, v2.4s", 3, 5),
    ]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_slices_of_a_track_follow_one_another(schedule: Schedule) -> None:
    for events in _events(schedule).values():
        slices = _slices(events)

        assert all(before[2] <= after[1] for before, after in pairwise(slices))


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_every_instruction_enters_once_in_a_slot_of_its_cycle(schedule: Schedule) -> None:
    entries = [
        piece for name, events in _events(schedule).items() if name.startswith("slot") for piece in _slices(events)
    ]

    assert sorted(entries) == sorted(
        (one.instruction.text, cycle, cycle + 1) for one, cycle in zip(schedule.stream, schedule.entered, strict=True)
    )


def test_the_entry_is_held_up_by_what_the_schedule_says_but_not_by_a_taken_slot() -> None:
    assert _slices(_events(OUT_OF_ORDER)[STALLS]) == [("reorder", 1, 5)]


def test_a_flow_leads_from_each_producer_to_each_consumer_that_waited_for_it() -> None:
    ends: dict[int, list[str]] = defaultdict(list)
    for packet in sorted(_packets(OUT_OF_ORDER), key=lambda p: p.timestamp):
        for flow in packet.track_event.flow_ids:
            ends[flow].append(packet.track_event.name)

    assert sorted(ends.values()) == [
        ["add v3.4s, v0.4s, v0.4s", "str q3, [x0]"],
        ["mul v0.4s, v1.4s, v2.4s", "add v3.4s, v0.4s, v0.4s"],
    ]


def test_an_instruction_without_a_pipe_has_its_arrows_where_it_enters() -> None:
    waiting = Row("nop", (2, 2, 2, 3, 3), entry=Stall(StallKind.OPERAND, 0, "v0"))
    schedule = scheduled("in", [Row("mul v0.4s, v1.4s, v2.4s", (0, 0, 0, 2, 2), (("V0", 0, 1),)), waiting])

    found = tracks(schedule)

    assert [piece.arrows for piece in found["slot 0"]] == [(), (1,)]
    assert [piece.arrows for piece in found["V0"]] == [(1,)]


def test_all_tracks_lie_below_one_that_is_named_after_the_core() -> None:
    described = [p.track_descriptor for p in _packets(IN_ORDER) if p.HasField("track_descriptor")]

    assert described[0].name == "Core <by> hand"
    assert {track.parent_uuid for track in described[1:]} == {described[0].uuid}


def test_a_slice_says_what_it_waited_for() -> None:
    events = _events(OUT_OF_ORDER)["V1"]

    assert {a.name: a.string_value for a in events[0].track_event.debug_annotations} == {
        "instruction": "[1]",
        "waited": "5: v0 from [0] mul",
    }


def test_an_empty_stream_is_a_trace_without_slices() -> None:
    assert _events(scheduled("in", [])) == {}


def test_tracks_keep_the_order_of_the_pipes_behind_slots_and_stalls() -> None:
    assert list(tracks(OUT_OF_ORDER)) == ["slot 0", "slot 1", STALLS, "V0", "V1", "L"]


def test_without_the_package_one_sentence_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "perfetto.trace_builder.proto_builder", None)

    with pytest.raises(PerfettoMissing, match=r"needs the package perfetto: pip install 'lanewise\[perfetto\]'"):
        render_perfetto(IN_ORDER)
