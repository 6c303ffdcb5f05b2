"""Theorems about windows of an image: `window_walk.sv`, where their words are, and `window_stream.sv`, which they are.

The ghost is the number of the row of windows that is found next; all else that places are made of is in registers.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from isa.lane import U1, U8, Int, Lane, constant, pick, select
from rtl_models.formal.claims import ReadSignal, Signals, Statement, Value, all_of, claim, on
from rtl_models.formal.equations.written import Subject
from rtl_models.formal.theorem import Fault, Theorem
from rtl_models.formal.units.registers import RegisterUpdate, becomes

_U2, _U4, _U12, _U16, _U20, _U32 = (Int(bits, signed=False) for bits in (2, 4, 12, 16, 20, 32))
SETTINGS = {
    "image_width": _U12, "image_height": _U12, "pixel_words": U8, "out_width": _U12, "window_width": _U4,
    "window_height": _U4, "stride_x": _U4, "stride_y": _U4, "left": _U4, "top": _U4,
}  # fmt: skip
"""Of windows, in the order of the ports."""
_ROWS, _IMAGE = 4, 16
_FEW = 3
"""Bits of addresses for which it is proved what they mean: sums of products, of which a solver has soon too many."""
_HIGHEST_LINE = 1 << 16
"""There are no more rows of windows than there are windows, and those that are found behind the last."""
_WALK, _STREAM = "window_walk.sv", "window_stream.sv"
_OUTSIDE = Fault(_WALK, "y < 21'(image_height_i)", "y <= 21'(image_height_i)")
_KEEPS = Fault(_WALK, "loads     = run_i & ~ready_o", "loads = run_i")
_BESIDE = Fault(_WALK, ": at_q + right", ": at_q + down")
_AROUND = Fault(_WALK, "tap_q      <= ends_window ? '0 : tap_line_q + line", "tap_q <= ends_window ? '0 : tap_q + line")
_TURNED = Fault(
    _WALK, "{at_q, ats_q[AddressBits*Rows-1:AddressBits]}", "{tap_q, ats_q[AddressBits*Rows-1:AddressBits]}"
)
_PADDED = Fault(_WALK, "32'(left_i) * 32'(pixel_words_i)", "32'(left_i)")


def window_theorems() -> Iterator[Theorem]:
    """All of them."""
    for bits in (5, _FEW):
        walk = _Walk(Subject("window_walk", (("Rows", _ROWS), ("AddressBits", bits))), "", bits)
        yield from walk.theorems()
        yield from walk.meanings() if bits == _FEW else ()
    stream = Subject("window_stream", (("Rows", _ROWS), ("Image", _IMAGE)))
    yield from walk_theorems(stream, "u_window_walk.", (_IMAGE - 1).bit_length())
    yield from _stream(stream)


def walk_theorems(subject: Subject, name: str, address_bits: int) -> Iterator[Theorem]:
    """Of the walk of a module that has it within: before the names of its wires stands `name`."""
    return _Walk(subject, name, address_bits).theorems()


def stream_theorems(subject: Subject, name: str, words: int) -> Iterator[Theorem]:
    """Of the stream in a core, for images of so many words: its walk and its buffers."""
    yield from walk_theorems(subject, f"{name}u_window_walk.", (words - 1).bit_length())
    yield from _Image(name, words).theorems(subject)


class _Walk:
    """A walk; before the names of one within another module stands `name`."""

    def __init__(self, subject: Subject, name: str, bits: int) -> None:
        self._subject, self._name = subject, name
        self._address, self._count = Int(bits, signed=False), Int(_ROWS.bit_length(), signed=False)
        self._places = {
            "place_q": _U12, "x_q": _U16, "y_q": _U20, "at_q": self._address, "line_at_q": self._address,
        }  # fmt: skip
        self._words = {
            "loaded_q": self._count, "word_q": U8, "across_q": _U4, "below_q": _U4, "tap_q": self._address,
            "tap_line_q": self._address,
        }  # fmt: skip
        self._found = {"xs_q": _U16, "ys_q": _U20, "ats_q": self._address}

    def theorems(self) -> Iterator[Theorem]:
        """What it gives, and what its registers become."""
        said = f"{self._subject}: windows"
        yield Theorem(claim(f"{said} are there and inside", self._outputs), self._subject, _OUTSIDE)
        yield Theorem(claim(f"{said} are found, and walked through", self._moves), self._subject, _KEEPS)

    def meanings(self) -> Iterator[Theorem]:
        """What the registers mean."""
        said = f"{self._subject}: windows"
        yield Theorem(
            claim(f"{said} are where their place says", self._place_stays, self._place_known), self._subject, _BESIDE
        )
        yield Theorem(
            claim(f"{said} have their words in order", self._word_stays, self._word_known), self._subject, _AROUND
        )
        yield Theorem(claim(f"{said} keep their place", self._rows_stay, self._rows_known), self._subject, _TURNED)
        for row in range(_ROWS):
            known, addressed = partial(self._address_known, row), partial(self._addressed, row)
            name = f"{self._subject}: each word of window {row} is at its address"
            yield Theorem(claim(name, addressed, known), self._subject, _PADDED)

    def _read(self, read: ReadSignal, wire: str, kind: Int, lsb: int | None = None) -> Lane:
        return read(f"{self._name}{wire}", kind, lsb)

    def _setting(self, read: ReadSignal, name: str) -> Lane:
        return self._read(read, f"{name}_i", SETTINGS[name])

    def _row(self, read: ReadSignal, wire: str, row: int) -> Lane:
        kind = self._found[wire]
        return self._read(read, wire, kind, kind.bits * row)

    def _loads(self, read: ReadSignal) -> Lane:
        return self._read(read, "run_i", U1) & self._read(read, "loaded_q", self._count).equals(_ROWS).equals(0)

    def _resets(self, read: Signals) -> Lane:
        return (self._read(read, "rst_ni", U1) & self._read(read.after(1), "rst_ni", U1)).equals(0)

    def _line(self, read: ReadSignal) -> Lane:
        """The words of a row of the image."""
        return self._setting(read, "image_width") * self._setting(read, "pixel_words")

    def _outputs(self, read: Signals) -> Statement:
        """A pixel is inside where both its places are in the image."""
        statement = {
            "ready_o": (self._read(read, "ready_o", U1), self._read(read, "loaded_q", self._count).equals(_ROWS))
        }
        for row in range(_ROWS):
            x, y = self._pixel(read, row)
            inside = [
                (place < 0).equals(0) & (place < self._setting(read, size))
                for place, size in ((x, "image_width"), (y, "image_height"))
            ]
            statement[f"inside of row {row}"] = self._read(read, "inside_o", U1, row), all_of(inside)
            at = self._row(read, "ats_q", row) + self._read(read, "tap_q", self._address)
            given = self._read(read, "address_o", self._address, self._address.bits * row)
            statement[f"address of row {row}"] = given, self._address.wrap(at - self._padding(read))
        return statement

    def _padding(self, read: ReadSignal) -> Lane:
        """How far the first window is before the image."""
        left = self._setting(read, "left") * self._setting(read, "pixel_words")
        return self._address.wrap(self._setting(read, "top") * self._address.wrap(self._line(read)) + left)

    def _pixel(self, read: ReadSignal, row: int) -> tuple[Lane, Lane]:
        """Its place along the row of the image, and the row."""
        x = self._row(read, "xs_q", row) + self._read(read, "across_q", _U4) - self._setting(read, "left")
        y = self._row(read, "ys_q", row) + self._read(read, "below_q", _U4) - self._setting(read, "top")
        return x, y

    def _moves(self, read: Signals) -> Statement:
        """Registers are what they should be after an edge."""
        later, name = read.after(1), self._name
        clears, advances = self._resets(read) | self._read(read, "clear_i", U1), self._read(read, "advance_i", U1)
        statement = {}
        for when, following in ((self._loads(read), self._next_place(read)), (advances, self._next_word(read))):
            for wire, value in following.items():
                kind = (self._places | self._words)[wire]
                moved = select(when, kind.wrap(value), self._read(read, wire, kind))
                statement[wire] = self._read(later, wire, kind), select(clears, 0, moved)
        loaded = self._read(read, "loaded_q", self._count)
        emptied = select(advances & self._ends(read)[2], 0, loaded)
        counted = select(self._loads(read), self._count.wrap(loaded + 1), emptied)
        statement["loaded_q"] = self._read(later, "loaded_q", self._count), select(clears, 0, counted)
        for wire, source in (("xs_q", "x_q"), ("ys_q", "y_q"), ("ats_q", "at_q")):
            for row in range(_ROWS):
                above = self._row(read, wire, row + 1) if row + 1 < _ROWS else None
                new = self._read(read, source, self._found[wire]) if above is None else above
                moved = select(self._loads(read), new, self._row(read, wire, row))
                statement[f"{name}{wire} of row {row}"] = self._row(later, wire, row), moved
        return statement

    def _next_place(self, read: ReadSignal) -> dict[str, Lane]:
        """The next window's: along the row, or at the beginning of the next one."""
        now = {wire: self._read(read, wire, kind) for wire, kind in self._places.items()}
        ends = now["place_q"].equals(_U12.wrap(self._setting(read, "out_width") - 1))
        down = now["line_at_q"] + self._setting(read, "stride_y") * self._address.wrap(self._line(read))
        right = self._setting(read, "stride_x") * self._setting(read, "pixel_words")
        return {
            "place_q": select(ends, 0, now["place_q"] + 1),
            "x_q": select(ends, 0, now["x_q"] + self._setting(read, "stride_x")),
            "y_q": select(ends, now["y_q"] + self._setting(read, "stride_y"), now["y_q"]),
            "at_q": select(ends, down, now["at_q"] + right),
            "line_at_q": select(ends, down, now["line_at_q"]),
        }

    def _ends(self, read: ReadSignal) -> tuple[Lane, Lane, Lane]:
        """Of a pixel, of a row of the window, of the window."""
        sizes = {"word_q": ("pixel_words", U8), "across_q": ("window_width", _U4), "below_q": ("window_height", _U4)}
        lasts = [
            self._read(read, wire, kind).equals(kind.wrap(self._setting(read, size) - 1))
            for wire, (size, kind) in sizes.items()
        ]
        return lasts[0], lasts[0] & lasts[1], lasts[0] & lasts[1] & lasts[2]

    def _next_word(self, read: ReadSignal) -> dict[str, Lane]:
        now = {wire: self._read(read, wire, kind) for wire, kind in self._words.items()}
        pixel, row, window = self._ends(read)
        line = now["tap_line_q"] + self._line(read)
        return {
            "word_q": select(pixel, 0, now["word_q"] + 1),
            "across_q": select(pixel, select(row, 0, now["across_q"] + 1), now["across_q"]),
            "below_q": select(row, select(window, 0, now["below_q"] + 1), now["below_q"]),
            "tap_q": select(row, select(window, 0, line), now["tap_q"] + 1),
            "tap_line_q": select(row, select(window, 0, line), now["tap_line_q"]),
        }

    def _at(self, read: ReadSignal, x: Lane, y: Lane) -> Lane:
        """The address of the first word of a pixel; of factors no more bits count than it has."""
        wrap = self._address.wrap
        line = wrap(y) * wrap(self._setting(read, "image_width"))
        return wrap(wrap(line + wrap(x)) * wrap(self._setting(read, "pixel_words")))

    def _legal(self, read: ReadSignal) -> Lane:
        sizes = ("pixel_words", "out_width", "window_width", "window_height", "stride_x", "stride_y")
        return all_of(self._setting(read, name) > 0 for name in sizes)

    def _at_parts(self, read: ReadSignal) -> list[Lane]:
        x, y = (self._read(read, wire, self._places[wire]) for wire in ("x_q", "y_q"))
        return [
            self._read(read, "at_q", self._address).equals(self._at(read, x, y)),
            self._read(read, "line_at_q", self._address).equals(self._at(read, constant(0), y)),
        ]

    def _place_parts(self, read: ReadSignal, line: Lane) -> list[Lane]:
        """The next window's registers are those of its place, in row `line` of the windows."""
        x, y, place = (self._read(read, wire, self._places[wire]) for wire in ("x_q", "y_q", "place_q"))
        return [
            x.equals(place * self._setting(read, "stride_x")), y.equals(line * self._setting(read, "stride_y")),
            place < self._setting(read, "out_width"), *self._at_parts(read),
        ]  # fmt: skip

    def _word_parts(self, read: ReadSignal) -> list[Lane]:
        """How far the word is from the first one of its window."""
        word, across, below = (self._read(read, wire, self._words[wire]) for wire in ("word_q", "across_q", "below_q"))
        tap = self._address.wrap(self._at(read, across, below) + word)
        return [
            word < self._setting(read, "pixel_words"), across < self._setting(read, "window_width"),
            below < self._setting(read, "window_height"), self._read(read, "tap_q", self._address).equals(tap),
            self._read(read, "tap_line_q", self._address).equals(self._at(read, constant(0), below)),
        ]  # fmt: skip

    def _row_holds(self, read: ReadSignal, row: int) -> Lane:
        at = self._at(read, self._row(read, "xs_q", row), self._row(read, "ys_q", row))
        return self._row(read, "ats_q", row).equals(at)

    def _unchanged(self, read: Signals, *settings: str) -> Lane:
        """Settings that are legal stay."""
        later = read.after(1)
        return all_of([self._legal(read), *(self._setting(read, n).equals(self._setting(later, n)) for n in settings)])

    def _place_known(self, read: Signals) -> Lane:
        line = read("ghost.line", _U20)
        stay = self._unchanged(read, "image_width", "pixel_words", "stride_x", "stride_y", "out_width")
        return stay & all_of(self._place_parts(read, line)) & (line < _HIGHEST_LINE)

    def _place_stays(self, read: Signals) -> Statement:
        """The next window's place is kept."""
        later, ends = read.after(1), self._setting(read, "out_width")
        at_end = self._read(read, "place_q", _U12).equals(_U12.wrap(ends - 1))
        clears = self._resets(read) | self._read(read, "clear_i", U1)
        following = select(clears, 0, read("ghost.line", _U20) + (self._loads(read) & at_end))
        return {f"window {k}": (holds, constant(1)) for k, holds in enumerate(self._place_parts(later, following))}

    def _word_known(self, read: Signals) -> Lane:
        stay = self._unchanged(read, "image_width", "pixel_words", "window_width", "window_height")
        return stay & all_of(self._word_parts(read))

    def _word_stays(self, read: Signals) -> Statement:
        return {f"word {k}": (holds, constant(1)) for k, holds in enumerate(self._word_parts(read.after(1)))}

    def _rows_known(self, read: Signals) -> Lane:
        stay = self._unchanged(read, "image_width", "pixel_words")
        next_one = self._at_parts(read)[0]
        return all_of([stay, next_one, *(self._row_holds(read, row) for row in range(_ROWS))])

    def _rows_stay(self, read: Signals) -> Statement:
        return {f"row {row}": (self._row_holds(read.after(1), row), constant(1)) for row in range(_ROWS)}

    def _addressed(self, row: int, read: Signals) -> Statement:
        """Each word is at the address of its pixel."""
        x, y = self._pixel(read, row)
        address = self._address.wrap(self._at(read, x, y) + self._read(read, "word_q", U8))
        return {"address_o": (self._read(read, "address_o", self._address, self._address.bits * row), address)}

    def _address_known(self, row: int, read: Signals) -> Lane:
        return self._word_parts(read)[3] & self._row_holds(read, row)


class _Image:
    """The image in the buffers of a `window_stream`, of so many words; before the names of one elsewhere is `name`."""

    def __init__(self, name: str, words: int) -> None:
        self._name, self._words, self._beats = name, words, words // 4
        self.held, self.address = (Int(most.bit_length(), signed=False) for most in (self._beats, words - 1))
        self._beat = Int((self._beats - 1).bit_length(), signed=False)

    def read(self, read: ReadSignal, wire: str, kind: Int, lsb: int | None = None) -> Lane:
        """A wire of the stream."""
        return read(f"{self._name}{wire}", kind, lsb)

    def _size(self, read: ReadSignal) -> Lane:
        height = self.read(read, "image_height_i", _U12)
        return self.read(read, "image_width_i", _U12) * height * self.read(read, "pixel_words_i", U8)

    def fits(self, read: ReadSignal) -> Lane:
        """Whether there is room for it."""
        return self._size(read) < self._words + 1

    def is_there(self, read: ReadSignal) -> Lane:
        """Whether it is there as a whole."""
        return self.fits(read) & self.read(read, "held_q", self.held).equals((self._size(read) + 3) >> 2)

    def reads(self, read: ReadSignal) -> Lane:
        """Whether a word of each row is read."""
        moves = self.read(read, "valid_q", U1).equals(0) | self.read(read, "ready_i", U1)
        return self.is_there(read) & self.read(read, "u_window_walk.ready_o", U1) & moves

    def accepted(self, read: ReadSignal) -> Lane:
        """Whether a beat of it is."""
        return self.read(read, "valid_i", U1) & self.is_there(read).equals(0)

    def theorems(self, subject: Subject) -> Iterator[Theorem]:
        """Each row has a buffer with all of it."""
        lost = Fault(_STREAM, ".write_address_i(held_q[BeatBits-1:0])", ".write_address_i(~held_q[BeatBits-1:0])")
        for row in range(_ROWS):
            said = claim(f"{subject}: row {row} has the image", becomes(self._buffer(row)))
            yield Theorem(said, subject, lost)

    def _buffer(self, row: int) -> list[RegisterUpdate]:
        """That of a row, in words of 32 bits: the beats, and the one that was read."""
        fault = Fault(_STREAM, "", "")
        found, buffer = [], f"{self._name}gen_rows[{row}].u_image."
        for k in range(4):
            for number in range(self._beats):
                found.append(RegisterUpdate(
                    wire=f"{buffer}words_q[{number}]", kind=_U32, following=on(f"{self._name}data_i", _U32, 32 * k),
                    fault=fault, lsb=32 * k, enable=partial(self._written, number),
                ))  # fmt: skip
            found.append(RegisterUpdate(
                wire=f"{buffer}data_q", kind=_U32, following=partial(self._found, row, k), fault=fault, lsb=32 * k,
                enable=self.reads,
            ))  # fmt: skip
        return found

    def _written(self, number: int, read: ReadSignal) -> Lane:
        return self.accepted(read) & self._beat.wrap(self.read(read, "held_q", self.held)).equals(number)

    def _found(self, row: int, k: int, read: ReadSignal) -> Lane:
        at = self.read(read, "u_window_walk.address_o", self._beat, self.address.bits * row + 2)
        buffer = f"gen_rows[{row}].u_image."
        *others, last = (self.read(read, f"{buffer}words_q[{n}]", _U32, 32 * k) for n in range(self._beats))
        return pick(at, others, last)


def _stream(subject: Subject) -> Iterator[Theorem]:
    """What goes into the buffers, out of them, and with it."""
    image = _Image("", _IMAGE)
    held, address = image.held, image.address
    is_there, reads, accepted = image.is_there, image.reads, image.accepted
    valid: Value = on("valid_q", U1)

    def outputs(read: Signals) -> Statement:
        statement = {
            "fits_o": (read("fits_o", U1), image.fits(read)),
            "ready_o": (read("ready_o", U1), is_there(read).equals(0)),
            "valid_o": (read("valid_o", U1), valid(read)),
            "the walk runs": (read("u_window_walk.run_i", U1), is_there(read)),
            "the walk advances": (read("u_window_walk.advance_i", U1), reads(read)),
            "the walk is cleared": (read("u_window_walk.clear_i", U1), read("clear_i", U1)),
            "the walk's reset": (read("u_window_walk.rst_ni", U1), read("rst_ni", U1)),
        }
        for name, kind in SETTINGS.items():
            statement[f"the walk's {name}"] = read(f"u_window_walk.{name}_i", kind), read(f"{name}_i", kind)
        for row in range(_ROWS):
            zero, inside = read("zero_i", U8), read("in_image_q", U1, row)
            chosen = read("word_q", _U2, 2 * row)
            data = [read(f"gen_rows[{row}].u_image.data_q", _U32, 32 * k) for k in range(4)]
            zeros = zero + (zero << 8) + (zero << 16) + (zero << 24)
            word = select(inside, pick(chosen, data[:3], data[3]), zeros)
            statement[f"word of row {row}"] = read("data_o", _U32, 32 * row), word
        return statement

    def moves(read: Signals) -> Statement:
        later = read.after(1)
        clears = read.resets() | read("clear_i", U1)
        waits = valid(read) & read("ready_i", U1).equals(0)
        counted = held.wrap(read("held_q", held) + accepted(read))
        statement = {
            "held_q": (later("held_q", held), select(clears, 0, counted)),
            "valid_q": (valid(later), select(clears, 0, reads(read) | waits)),
        }
        for row in range(_ROWS):
            inside, word = (
                read("u_window_walk.inside_o", U1, row),
                read("u_window_walk.address_o", _U2, address.bits * row),
            )
            kept = {("in_image_q", U1, row): inside, ("word_q", _U2, 2 * row): word}
            for (wire, kind, lsb), following in kept.items():
                now = select(reads(read), following, read(wire, kind, lsb))
                statement[f"{wire} of row {row}"] = later(wire, kind, lsb), now
        return statement

    full = Fault(_STREAM, "assign ready_o  = ~is_there;", "assign ready_o  = held_q != beats;")
    yield Theorem(claim(f"{subject}: its outputs are what they should be", outputs), subject, full)
    kept = Fault(_STREAM, "(reads | (valid_q & ~ready_i)) & ~clear_i", "reads & ~clear_i")
    yield Theorem(claim(f"{subject}: words move on, or wait", moves), subject, kept)
    yield from image.theorems(subject)
