"""Theorems about `frame_walk.sv`: which beat of a frame is where.

The ghosts are the settings that came with the frame's first beat, and the beat's place: beat `x` of row `y`, which has
`before` = x * height beats of the output before it, summed up along the row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from isa.lane import U1, U16, U32, Int, Lane, constant, minimum, select
from rtl_models.formal.claims import ReadSignal, Signals, Statement, Value, all_of, claim
from rtl_models.formal.equations.written import Subject
from rtl_models.formal.theorem import Fault, Theorem
from rtl_models.formal.units.registers import RegisterUpdate, becomes

_U3, _U18 = Int(3, signed=False), Int(18, signed=False)
_FILE = "frame_walk.sv"
_ROWS = Fault(_FILE, "rows - 16'd1 ", "rows - 16'd2 ")
_FIRST = Fault(_FILE, "first_q <= last_o", "first_q <= ends_row")
_STEP = Fault(_FILE, "row_address + 32'd16", "row_address + 32'd32")
_LAST = Fault(_FILE, "ends_row && rows == 16'd1", "rows == 16'd1")


def walk_theorems(subject: Subject, name: str, beat_bytes: int, accepted: Value) -> Iterator[Theorem]:
    """Of the module, or of an instance of it in another, before the names of whose signals stands `name`."""
    walk = _Walk(name, beat_bytes, accepted)
    becoming = claim(f"{subject}: the walk's registers become what they should, or wait", becomes(walk.registers()))
    yield Theorem(becoming, subject, _ROWS)
    yield Theorem(claim(f"{subject}: a frame starts after the last beat or a reset", walk.first), subject, _FIRST)
    yield Theorem(claim(f"{subject}: the walk's outputs are what they should be", walk.outputs), subject, _LAST)
    placed = claim(f"{subject}: every beat of a frame has its place", walk.places, walk.placed)
    yield Theorem(placed, subject, _STEP)


@dataclass(frozen=True, kw_only=True)
class _Frame:
    """What holds of a beat: the frame's settings and how far it is."""

    zero_tail: Lane
    height: Lane
    row_bytes: Lane
    rows: Lane
    remaining: Lane
    row_address: Lane
    address: Lane


@dataclass(frozen=True, slots=True, kw_only=True)
class BeatPlace:
    """Beat `x` of row `y` of a frame with these settings."""

    destination: Lane
    row_bytes: Lane
    height: Lane
    zero_tail: Lane
    x: Lane
    y: Lane
    before: Lane

    @classmethod
    def ghost(cls, read: ReadSignal) -> BeatPlace:
        """Of a frame that has begun."""
        kinds = {
            "destination": U32,
            "row_bytes": _U18,
            "height": U16,
            "zero_tail": U1,
            "x": U16,
            "y": U16,
            "before": U32,
        }
        return cls(**{name: read(f"ghost.{name}", kind) for name, kind in kinds.items()})

    def frame(self, beat_bytes: int) -> _Frame:
        """What holds of it: each beat before it in its row has one in every row."""
        row_address = U32.wrap(self.destination + self.y * 16)
        address = U32.wrap(row_address + self.before * beat_bytes)
        rows, remaining = self.height - self.y, self.row_bytes - self.x * beat_bytes
        return _Frame(
            zero_tail=self.zero_tail,
            height=self.height,
            row_bytes=self.row_bytes,
            rows=rows,
            remaining=remaining,
            row_address=row_address,
            address=address,
        )


class _Walk:
    """The signals of a walk, and what is claimed of them."""

    def __init__(self, name: str, beat_bytes: int, accepted: Value) -> None:
        self._name, self._beat_bytes, self._accepted = name, beat_bytes, accepted

    def _read(self, read: ReadSignal, wire: str, kind: Int) -> Lane:
        return read(f"{self._name}{wire}", kind)

    def _offered(self, read: ReadSignal) -> _Frame:
        """Of the beat that is offered: the settings themselves for the first of a frame."""
        first = self._read(read, "first_q", U1)
        width, element = read("width_i", U16), read("element_i", _U3)
        set_bytes = constant(0)  # width * element, where one bit of element is set
        for k, bit in enumerate(U1.lanes(element, 3)):
            set_bytes = set_bytes | select(bit, width << k, 0)
        height, destination = read("height_i", U16), read("destination_i", U32)
        settings = {
            "zero_tail": read("zero_tail_i", U1),
            "height": height,
            "row_bytes": set_bytes,
            "rows": height,
            "remaining": set_bytes,
            "row_address": destination,
            "address": destination,
        }
        held = {wire.removesuffix("_q"): self._read(read, wire, kind) for wire, kind in _HELD}
        return _Frame(**{name: select(first, new, held[name]) for name, new in settings.items()})

    def _ends_row(self, frame: _Frame) -> Lane:
        return (frame.remaining > self._beat_bytes).equals(0)

    def _last(self, frame: _Frame) -> Lane:
        return self._ends_row(frame) & frame.rows.equals(1)

    def _following(self, read: ReadSignal) -> _Frame:
        """Of the beat after it, in the same frame."""
        f = self._offered(read)
        ends, next_row = self._ends_row(f), U32.wrap(f.row_address + 16)
        return _Frame(
            zero_tail=f.zero_tail, height=f.height, row_bytes=f.row_bytes,
            rows=select(ends, f.rows - 1, f.rows),
            remaining=select(ends, f.row_bytes, f.remaining - self._beat_bytes),
            row_address=select(ends, next_row, f.row_address),
            address=select(ends, next_row, f.address + f.height * self._beat_bytes),
        )  # fmt: skip

    def registers(self) -> list[RegisterUpdate]:
        """All but `first_q`."""
        return [
            RegisterUpdate(
                wire=f"{self._name}{wire}", kind=kind, following=self._field(wire), fault=_ROWS, enable=self._accepted
            )
            for wire, kind in _HELD
        ]

    def _field(self, wire: str) -> Value:
        return lambda read: getattr(self._following(read), wire.removesuffix("_q"))

    def first(self, read: Signals) -> Statement:
        """Whether the next beat is the first of a frame."""
        later, old = read.after(1), self._read(read, "first_q", U1)
        resets = read.resets()
        moved = select(self._accepted(read), self._last(self._offered(read)), old)
        in_reset = read("rst_ni", U1).equals(0)
        return {
            "first_q after an edge": (self._read(later, "first_q", U1), select(resets, 1, moved)),
            "first_q in reset": (select(in_reset, old, 1), constant(1)),
        }

    def outputs(self, read: Signals) -> Statement:
        """What it says of the beat that is offered."""
        f = self._offered(read)
        count = Int(self._beat_bytes.bit_length(), signed=False)
        return {
            "address_o": (self._read(read, "address_o", U32), f.address),
            "bytes_o": (self._read(read, "bytes_o", count), minimum(f.remaining, self._beat_bytes)),
            "step_o": (self._read(read, "step_o", U32), f.height << 4),
            "zero_tail_o": (self._read(read, "zero_tail_o", U1), f.zero_tail),
            "last_o": (self._read(read, "last_o", U1), self._last(f)),
        }

    def placed(self, read: Signals) -> Lane:
        """The invariant: a frame's first beat comes with legal settings; of another one the registers say where.

        Legal settings have rows, of elements of 1, 2 or 4 bytes.
        """
        first, element = self._read(read, "first_q", U1), read("element_i", _U3)
        some = (read("width_i", U16) > 0) & (read("height_i", U16) > 0)
        legal = some & (element.equals(1) | element.equals(2) | element.equals(4))
        known = select(first, legal, self._in_place(read, BeatPlace.ghost(read)))
        return known & read("rst_ni", U1) & read.after(1)("rst_ni", U1)

    def _in_place(self, read: ReadSignal, place: BeatPlace) -> Lane:
        """The registers say where beat `x` of row `y` is, and there is such a beat."""
        expected = place.frame(self._beat_bytes)
        held = [self._read(read, wire, kind).equals(getattr(expected, wire.removesuffix("_q"))) for wire, kind in _HELD]
        within = (place.y < place.height) & (place.x * self._beat_bytes < place.row_bytes)
        return all_of([*held, within])

    def _current(self, read: ReadSignal) -> BeatPlace:
        """Of the beat that is offered."""
        first, ghost = self._read(read, "first_q", U1), BeatPlace.ghost(read)
        height, width = read("height_i", U16), read("width_i", U16)
        row_bytes = width * read("element_i", _U3)
        destination, zero_tail = read("destination_i", U32), read("zero_tail_i", U1)
        new = BeatPlace(
            destination=destination,
            row_bytes=row_bytes,
            height=height,
            zero_tail=zero_tail,
            x=constant(0),
            y=constant(0),
            before=constant(0),
        )
        return BeatPlace(
            **{name: select(first, getattr(new, name), getattr(ghost, name)) for name in BeatPlace.__slots__}
        )

    def places(self, read: Signals) -> Statement:
        """The invariant is kept, and the outputs are those of beat `x` of row `y`."""
        place = self._current(read)
        expected = place.frame(self._beat_bytes)
        ends = (expected.remaining > self._beat_bytes).equals(0)
        last = ends & (place.y + 1).equals(place.height)
        count = Int(self._beat_bytes.bit_length(), signed=False)
        return {
            "address_o": (self._read(read, "address_o", U32), expected.address),
            "bytes_o": (self._read(read, "bytes_o", count), minimum(expected.remaining, self._beat_bytes)),
            "last_o": (self._read(read, "last_o", U1), last),
            "invariant": (self._kept(read, place, ends, last), constant(1)),
        }

    def _kept(self, read: Signals, place: BeatPlace, ends: Lane, last: Lane) -> Lane:
        """After the edge: a frame starts after its last beat; else the registers say where the next beat is."""
        later, first = read.after(1), self._read(read, "first_q", U1)
        starts = self._read(later, "first_q", U1)
        moved = replace(
            place,
            x=select(ends, 0, place.x + 1),
            y=select(ends, place.y + 1, place.y),
            before=select(ends, 0, U32.wrap(place.before + place.height)),
        )
        goes_on = starts.equals(0) & self._in_place(later, moved)
        stays = starts.equals(first) & (first | self._in_place(later, place))
        return select(self._accepted(read), select(last, starts, goes_on), stays)


_HELD = (
    ("zero_tail_q", U1), ("height_q", U16), ("row_bytes_q", _U18), ("rows_q", U16), ("remaining_q", _U18),
    ("row_address_q", U32), ("address_q", U32),
)  # fmt: skip
