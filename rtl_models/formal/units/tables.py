"""The models of `channel_tables.sv` and `quantize_down_channels.sv`, and theorems about how they step along a row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from isa.lane import S32, U1, U32, Int, Lane, constant, pick, select
from rtl_models.formal.arithmetic import U5
from rtl_models.formal.claims import ReadSignal, Signals, Statement, Value, claim, on
from rtl_models.formal.equations.written import Subject
from rtl_models.formal.models.quantize_down import parts
from rtl_models.formal.theorem import Fault, Lemma, Theorem
from rtl_models.formal.units.pipelines import Pipeline, subject
from rtl_models.formal.units.registers import RegisterUpdate, becomes
from rtl_models.formal.units.streams import composition_lemma, pipeline_theorems
from rtl_models.latencies import depths
from rtl_models.units import LANE_COUNTS

BEATS = 2
"""The least that a row may have in the tables: the first beat and the last."""
TABLES_OF_BEATS = (BEATS, 3, 5)
"""The tables on their own, with every number of lanes: a counter of 3 or 5 beats does not wrap by itself."""
WIDE_TABLE = 17
"""Beats of 4 lanes: the last channels are beyond 64, which is the number that most benches have."""
BLOCK_TABLE = 3
"""The beats of the tables in block RAM that are proved, with every number of lanes."""
MOST_IN_LUTS = 32
"""Beats; tables of more are for block RAM where nothing else is said."""
_U2, _U12 = Int(2, signed=False), Int(12, signed=False)
_FIELDS = (("bias", S32), ("multiplier", S32), ("shift", U5))
_LEFT = ("left_shift", U5)
"""The field beside, where the tables have left shifts."""
_FILE = "channel_tables.sv"
_WRITTEN = Fault(_FILE, "write_i && written_lane", "write_i && ~written_lane")
_STEPS = Fault(_FILE, "following >= 32'(channels_i)", "following > 32'(channels_i)")
_READ = Fault(_FILE, "= bias_q[address]", "= bias_q[~address]")
_FOLLOWS = Fault(_FILE, "rst_ni ? beat_d", "rst_ni ? beat_q")
_OVERFLOWS = Fault(_FILE, "ends_row ? '0 :", "(ends_row && following != 32'(Channels)) ? '0 :")


@dataclass(frozen=True)
class _Ports:
    """What moves the tables, as the module itself has it or the unit around it."""

    advance: Value
    restart: str
    write: str
    channel: str
    field: str
    data: str


_OWN = _Ports(on("advance_i", U1), "restart_i", "write_i", "channel_i", "field_i", "data_i")
_OF_UNIT = _Ports(
    lambda r: r("valid_i", U1) & r("ready_o", U1),
    "table_restart_i", "table_write_i", "table_channel_i", "table_field_i", "table_data_i",
)  # fmt: skip


class _Tables:
    """The tables, before the names of whose signals stands `name`; what they give is on wires after `results`."""

    def __init__(
        self, name: str, lanes: int, ports: _Ports, results: tuple[str, str],
        *, beats: int, left_shifts: bool = False, block_ram: bool = False,
    ) -> None:  # fmt: skip
        self._name, self._lanes, self._ports, self._results = name, lanes, ports, results
        self._fields = (*_FIELDS, _LEFT) if left_shifts else _FIELDS
        self._beats, self._beat_kind = beats, Int((beats - 1).bit_length(), signed=False)
        self.block_ram = block_ram

    @property
    def counts_all(self) -> bool:
        """Whether the counter has no number that is no beat."""
        return self._beats == self._beat_kind.high + 1

    def _beat(self, read: ReadSignal) -> Lane:
        return read(f"{self._name}beat_q", self._beat_kind)

    def _address(self, read: ReadSignal) -> Lane:
        """What the memories are read at."""
        return read(f"{self._name}gen_block_ram.address_q", self._beat_kind) if self.block_ram else self._beat(read)

    def steps(self, read: Signals) -> Statement:
        """A restart and a reset lead to the first beat; an accepted beat to the next, or there after a row's last."""
        later = read.after(1)
        following = (self._beat(read) + 1) * self._lanes
        ends = (following < read("channels_i", _U12)).equals(0)
        onward = select(ends, 0, self._beat_kind.wrap(self._beat(read) + 1))
        moved = select(self._ports.advance(read), onward, self._beat(read))
        restarts = read(self._ports.restart, U1)
        steps = {"beat_q": (self._beat(later), select(read.resets() | restarts, 0, moved))}
        if self.block_ram:  # without a reset that acts at once
            under_reset = read("rst_ni", U1).equals(0)
            steps["address_q"] = self._address(later), select(under_reset | restarts, 0, moved)
        return steps

    def follows(self, read: Signals) -> Statement:
        """The address of block RAM is the beat after any edge."""
        later = read.after(1)
        return {"address_q": (self._address(later), self._beat(later))}

    def stays(self, read: Signals) -> Statement:
        """From a beat of the tables on, another is reached; that is so of the first, where a reset leads."""
        return {"a beat of the tables": (self._beat(read.after(1)) < self._beats, constant(1))}

    def inside(self, read: Signals) -> Lane:
        """That the beat is one of the tables and what is read, and that a row is not longer than they are."""
        channels = read("channels_i", _U12)
        inside = (self._beat(read) < self._beats) & (channels < self._beats * self._lanes + 1)
        return inside & self._address(read).equals(self._beat(read)) if self.block_ram else inside

    def entries(self) -> list[RegisterUpdate]:
        """Every number of the tables."""
        return [
            RegisterUpdate(
                wire=self._wire(lane, field, beat),
                kind=kind,
                following=lambda read: read(self._ports.data, U32),
                fault=_WRITTEN,
                enable=self._is(lane, k, beat),
            )
            for lane in range(self._lanes)
            for k, (field, kind) in enumerate(self._fields)
            for beat in range(self._beats)
        ]

    def _wire(self, lane: int, field: str, beat: int) -> str:
        within = "gen_left_shifts." if field == _LEFT[0] else ""
        return f"{self._name}gen_lanes[{lane}].{within}{field}_q[{beat}]"

    def _is(self, lane: int, field: int, beat: int) -> Value:
        """Whether that number is written."""

        def written(read: ReadSignal) -> Lane:
            channel = read(self._ports.channel, _U12)
            here = self._beat_kind.wrap(channel >> (self._lanes - 1).bit_length()).equals(beat)
            this = (channel & (self._lanes - 1)).equals(lane) & read(self._ports.field, _U2).equals(field)
            return read(self._ports.write, U1) & here & this

        return written

    def given(self, read: Signals) -> Statement:
        """The operands of each lane are those of the channel that is its turn."""
        prefix, suffix = self._results
        statement = {}
        for lane in range(self._lanes):
            for field, kind in self._fields:
                operand = read(f"{prefix}{field}{suffix}", kind, kind.bits * lane)
                *items, last = (read(self._wire(lane, field, beat), kind) for beat in range(self._beats))
                statement[f"{field} of lane {lane}"] = operand, pick(self._beat(read), items, last)
        return statement


def quantize_down_channels(lanes: int, level: int, beats: int = BEATS) -> Pipeline:
    """The unit's pipeline, behind tables of so many beats."""
    name = "u_quantize_down."
    registers, results = parts(name, lanes, level, per_channel=True)
    whole = subject("quantize_down_channels", lanes, level, Channels=beats * lanes)
    return Pipeline(whole, registers, results, f"{name}u_valid_pipeline")


def table_theorems(lanes: int) -> Iterator[Theorem]:
    """Of the tables on their own for every number of lanes, the length of a step; and of the unit, at every depth."""
    sizes = [(count, beats, False) for count in LANE_COUNTS for beats in TABLES_OF_BEATS]
    blocks = [(count, BLOCK_TABLE, True) for count in LANE_COUNTS]
    for count, beats, block_ram in [*sizes, (LANE_COUNTS[0], WIDE_TABLE, False), *blocks]:
        own = _Tables("", count, _OWN, ("", "_o"), beats=beats, left_shifts=True, block_ram=block_ram)
        given = [("Lanes", count), ("Channels", beats * count), ("LeftShifts", 1)]
        yield from _of_tables(Subject("channel_tables", (*given, *[("BlockRam", 1)] * block_ram)), own)
    for level in range(len(depths("quantize_down_channels"))):
        yield from unit_theorems(lanes, level)


def unit_theorems(lanes: int, level: int, beats: int = BEATS) -> Iterator[Theorem]:
    """Of the unit with tables of so many beats."""
    pipeline, ends = quantize_down_channels(lanes, level, beats), ("u_quantize_down.", "_i")
    tables = _Tables("u_channel_tables.", lanes, _OF_UNIT, ends, beats=beats, block_ram=beats > MOST_IN_LUTS)
    yield from _of_tables(pipeline.subject, tables)
    yield from pipeline_theorems(pipeline)


def _of_tables(whole: Subject, tables: _Tables) -> Iterator[Theorem]:
    yield Theorem(claim(f"{whole}: the tables step along the row", tables.steps), whole, _STEPS)
    entries = claim(f"{whole}: the tables keep what is written, or wait", becomes(tables.entries()))
    yield Theorem(entries, whole, _WRITTEN)
    each = claim(f"{whole}: each lane has the numbers of its channel", tables.given, tables.inside)
    yield Theorem(each, whole, _READ)
    if tables.block_ram:
        follows = claim(
            f"{whole}: block RAM is read at the beat", tables.follows, lambda read: read.after(1)("rst_ni", U1)
        )
        yield Theorem(follows, whole, _FOLLOWS)
    if not tables.counts_all:
        stays = claim(f"{whole}: the tables are not left at their end", tables.stays, tables.inside)
        yield Theorem(stays, whole, _OVERFLOWS)


def table_lemmas(lanes: int) -> list[Lemma]:
    """The stages behind the tables put together."""
    levels = range(len(depths("quantize_down_channels")))
    return [composition_lemma(quantize_down_channels(lanes, level)) for level in levels]
