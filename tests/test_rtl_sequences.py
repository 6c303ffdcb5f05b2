"""The two modules that keep a place between beats: in a frame of rows, and in a row of channels."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from support.rtl_cycles import Clocked

pytestmark = pytest.mark.rtl

State = dict[str, int]
CHUNK = 16
WORD = 1 << 32
SETTINGS = ("destination_i", "width_i", "height_i", "element_i", "zero_tail_i")
FIELDS = ("bias_o", "multiplier_o", "shift_o")
TABLES = Clocked(
    "channel_tables",
    ("rst_ni", "advance_i", "restart_i", "channels_i", "write_i", "channel_i", "field_i", "data_i"),
    FIELDS,
    {"Lanes": 4, "Channels": 16},
)
beats = pytest.mark.parametrize("beat_bytes", [16, 32, 64])


def walk(beat_bytes: int) -> Clocked:
    outputs = ("address_o", "bytes_o", "step_o", "zero_tail_o", "last_o")
    return Clocked("frame_walk", ("rst_ni", "accepted_i", *SETTINGS), outputs, {"BeatBytes": beat_bytes})


def frame(destination: int, width: int, height: int, element: int, zero_tail: int = 0) -> State:
    return dict(zip(SETTINGS, (destination, width, height, element, zero_tail), strict=True))


def accepted(settings: State) -> State:
    return {"rst_ni": 1, "accepted_i": 1, **settings}


def places(settings: State, beat_bytes: int) -> Iterator[State]:
    """By docs/spec/transpose1xw.md section 2: block `block` of row `y` is chunk `y` of output row `block`."""
    destination, width, height, element, zero_tail = (settings[name] for name in SETTINGS)
    for row, start in product(range(height), range(0, width * element, beat_bytes)):
        left, end = width * element - start, row == height - 1
        yield {
            "address_o": (destination + CHUNK * (start // CHUNK * height + row)) % WORD,
            "bytes_o": min(left, beat_bytes),
            "step_o": CHUNK * height,
            "zero_tail_o": zero_tail,
            "last_o": end and left <= beat_bytes,
        }


@pytest.mark.slow
@beats
def test_a_frame_is_walked_row_by_row_for_every_width(beat_bytes: int) -> None:
    sizes = product(range(1, 3 * beat_bytes + 2), (1, 2, 3), (1, 2, 4))
    frames = [frame(WORD - CHUNK * width, width, height, element, width % 2) for width, height, element in sizes]
    expected = [place for settings in frames for place in places(settings, beat_bytes)]
    offered = [accepted(settings) for settings in frames for _ in places(settings, beat_bytes)]
    assert walk(beat_bytes).after([{}, *offered])[1:] == expected


@pytest.mark.slow
@beats
def test_settings_that_change_within_a_frame_count_from_the_next_one_on(beat_bytes: int) -> None:
    first, second = frame(0, 3 * beat_bytes - 1, 2, 1, zero_tail=1), frame(1 << 12, 1, 1, 2)
    offered = [accepted(first), *[accepted(second)] * 6]
    assert walk(beat_bytes).after([{}, *offered])[1:] == [*places(first, beat_bytes), *places(second, beat_bytes)]


@beats
def test_a_beat_that_is_not_accepted_keeps_its_place(beat_bytes: int) -> None:
    settings = frame(0, 2 * beat_bytes, 2, 1)
    offered = [cycle for _ in range(4) for cycle in ({**accepted(settings), "accepted_i": 0}, accepted(settings))]
    seen = walk(beat_bytes).after([{}, *offered])[1:]
    assert (seen[0::2], seen[1::2]) == ([*places(settings, beat_bytes)],) * 2


@beats
def test_settings_before_the_first_beat_is_accepted_leave_no_trace(beat_bytes: int) -> None:
    settings = frame(32, 2, 2, 4)
    before = {**accepted(frame(0, 500, 7, 4, zero_tail=1)), "accepted_i": 0}
    seen = walk(beat_bytes).after([{}, before, *[accepted(settings)] * 2])[2:]
    assert seen == list(places(settings, beat_bytes))


@beats
def test_reset_in_the_middle_of_a_frame_starts_a_new_one(beat_bytes: int) -> None:
    broken, settings = frame(0, 5 * beat_bytes, 3, 1), frame(64, 1, 2, 1)
    seen = walk(beat_bytes).after([{}, *[accepted(broken)] * 7, {}, *[accepted(settings)] * 2])[9:]
    assert seen == list(places(settings, beat_bytes))


@pytest.mark.slow
@beats
@pytest.mark.parametrize(("width", "height"), [(65535, 2), (65535, 65535), (1, 65535)])
def test_the_largest_sizes_wrap_in_32_bits_only(beat_bytes: int, width: int, height: int) -> None:
    settings = frame(WORD - CHUNK, width, height, 4)
    expected = [place for place, _ in zip(places(settings, beat_bytes), range(66000), strict=False)]
    assert walk(beat_bytes).after([{}, *[accepted(settings)] * len(expected)])[1:] == expected


def filled() -> list[State]:
    """A reset, then writes of every field of every channel."""
    numbers = product(range(16), range(3))
    writes = [{"write_i": 1, "channel_i": c, "field_i": field, "data_i": number(c, field)} for c, field in numbers]
    return [{}, *({"rst_ni": 1, **write} for write in writes)]


def number(channel: int, field: int) -> int:
    return channel if field == 2 else WORD - 1 - 1000 * field - channel


def read(first: int) -> State:
    """Four channels side by side."""
    bits = (32, 32, 5)
    return {
        name: sum(number(first + lane, field) << bits[field] * lane for lane in range(4))
        for field, name in enumerate(FIELDS)
    }


def tables(*cycles: State) -> list[State]:
    """What is read in these cycles, after all channels have been written."""
    return TABLES.after([*filled(), *({"rst_ni": 1, **cycle} for cycle in cycles)])[len(filled()) :]


@pytest.mark.parametrize("channels", range(1, 17))
def test_a_row_of_channels_is_read_beat_by_beat_and_again(channels: int) -> None:
    row = [read(first) for first in range(0, channels, 4)]
    assert tables(*[{"advance_i": 1, "channels_i": channels}] * 3 * len(row)) == row * 3


def test_a_beat_that_does_not_move_on_reads_the_same_channels() -> None:
    cycles = [{"advance_i": advance, "channels_i": 16} for advance in (1, 0, 0, 1, 1)]
    assert tables(*cycles) == [read(0), read(4), read(4), read(4), read(8)]


def test_a_restart_goes_back_to_channel_0_whether_a_beat_moves_on_or_not() -> None:
    moves = [(1, 0), (1, 1), (1, 0), (0, 1), (0, 0)]
    cycles = [{"advance_i": advance, "restart_i": restart, "channels_i": 16} for advance, restart in moves]
    assert tables(*cycles) == [read(0), read(4), read(0), read(4), read(0)]


def test_reset_goes_back_to_channel_0_and_keeps_the_tables() -> None:
    cycles = [{"advance_i": 1, "channels_i": 16}, {"rst_ni": 0}, {"channels_i": 16}]
    assert tables(*cycles)[-1] == read(0)


@pytest.mark.parametrize(("field", "name"), [*enumerate(FIELDS)])
def test_a_number_that_is_written_is_read_from_the_next_cycle_on(field: int, name: str) -> None:
    write = {"write_i": 1, "channel_i": 0, "field_i": field, "data_i": 7, "channels_i": 16}
    before, after = tables(write, {"channels_i": 16})
    changed = {key: before[key] ^ after[key] for key in FIELDS}
    assert changed == dict.fromkeys(FIELDS, 0) | {name: number(0, field) ^ 7}
