"""Theorems about the parts of `gemm_core`, and about these in the core."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from isa.lane import S32, U1, U8, U16, U32, Int, Lane, constant, minimum, pick, select
from rtl_models.formal import arithmetic as a
from rtl_models.formal.claims import ReadSignal, Signals, Statement, Value, all_of, claim, on
from rtl_models.formal.cores.windows import SETTINGS as WINDOW_SETTINGS
from rtl_models.formal.cores.windows import stream_theorems
from rtl_models.formal.equations.written import Subject
from rtl_models.formal.theorem import Fault, Theorem
from rtl_models.formal.units.configuration import legal
from rtl_models.formal.units.registers import RegisterUpdate, becomes
from rtl_models.register_map import registers

SIZES = ((4, 4), (5, 8))
"""Rows and columns of the arrays that are proved."""
_U4, _U5, _U9, _S9 = Int(4, signed=False), Int(5, signed=False), Int(9, signed=False), Int(9, signed=True)
_BLOCK, _DEPTH, _ROWS = 4, 4, 4
_STEPS = Fault("block_walk.sv", "step_q == steps_i - 16'd1", "step_q == steps_i")
_DONE = Fault("block_walk.sv", "if (last_o) done_q <= '0;", "if (ends_o) done_q <= '0;")
_LEFT = Fault("block_walk.sv", "left <= 16'(Block)", "left < 16'(Block)")
_WRITTEN = Fault("tile_buffer.sv", "if (write_i) words_q", "if (1'b1) words_q")
_KEPT = Fault("offset_bytes.sv", "keep_i[k%4] ? number", "keep_i[0] ? number")
_GROWS = Fault("mac_array.sv", "accumulator = first_i ?", "accumulator = ~first_i ?")
_FREE = Fault("row_stream.sv", "(last_o & ready_i)", "last_o")
_SHIFTED = Fault("row_stream.sv", "tile_q >> Width", "tile_q >> 1")


def gemm_theorems() -> Iterator[Theorem]:
    """All of them."""
    yield from _bytes()
    yield from _buffer(Subject("tile_buffer", (("Width", 36), ("Depth", _DEPTH))))
    yield from _walk(Subject("block_walk", (("Block", _BLOCK),)))
    for rows, columns in SIZES:
        yield _array(Subject("mac_array", (("Rows", rows), ("Columns", columns))), rows, columns)
    yield from _rows()
    yield from _core()


def _bytes() -> Iterator[Theorem]:
    subject = Subject("offset_bytes", (("Words", 2),))

    def specification(read: Signals) -> Statement:
        keep, is_signed, offset = read("keep_i", _U4), read("signed_i", U1), read("offset_i", _U9)
        statement = {}
        for k in range(8):
            number = _U9.wrap(a.read_byte(read("data_i", U8, 8 * k), is_signed) + offset)
            counts = (keep >> k % 4) & 1
            statement[f"number {k}"] = read("result_o", _U9, 9 * k), select(counts, number, 0)
        return statement

    yield Theorem(claim(f"{subject}: its outputs are what they should be", specification), subject, _KEPT)


def _buffer(subject: Subject, name: str = "", numbers: int = 1) -> Iterator[Theorem]:
    """Of words of so many times 36 bits; before the names of a buffer within a core stands `name`."""
    width, address = Int(36, signed=False), Int((_DEPTH - 1).bit_length(), signed=False)

    def written(word: int, read: ReadSignal) -> Lane:
        return read(f"{name}write_i", U1) & read(f"{name}write_address_i", address).equals(word)

    def found(lsb: int, read: ReadSignal) -> Lane:
        *others, last = (read(f"{name}words_q[{word}]", width, lsb) for word in range(_DEPTH))
        return pick(read(f"{name}read_address_i", address), others, last)

    words = [
        RegisterUpdate(
            wire=f"{name}words_q[{word}]", kind=width, following=on(f"{name}data_i", width, lsb), fault=_WRITTEN,
            lsb=lsb, enable=partial(written, word),
        )
        for word in range(_DEPTH)
        for lsb in range(0, 36 * numbers, 36)
    ]  # fmt: skip
    data = [
        RegisterUpdate(
            wire=f"{name}data_o", kind=width, following=partial(found, lsb), fault=_WRITTEN, lsb=lsb,
            enable=on(f"{name}read_i", U1),
        )
        for lsb in range(0, 36 * numbers, 36)
    ]  # fmt: skip
    where = f"{subject}{name and f', {name[:-1]}'}"
    yield Theorem(claim(f"{where}: a word is kept until it is written", becomes(words)), subject, _WRITTEN)
    late = Fault("tile_buffer.sv", "if (read_i) data_q", "if (~read_i) data_q")
    yield Theorem(claim(f"{where}: what is read is there after an edge", becomes(data)), subject, late)


def _walk(
    subject: Subject, name: str = "", asked: Sequence[str] = ("step", "count", "ends", "last"), one_step: bool = False
) -> Iterator[Theorem]:
    """Through blocks; before the names of a walk within a core stands `name`, and `asked` are its outputs there."""
    count = Int(_BLOCK.bit_length(), signed=False)

    def number(read: ReadSignal, wire: str, kind: Int = U16) -> Lane:
        return read(f"{name}{wire}", kind)

    def left(read: ReadSignal) -> Lane:
        return U16.wrap(number(read, "total_i") - number(read, "done_q"))

    def ends(read: ReadSignal) -> Lane:
        is_last = number(read, "step_q").equals(U16.wrap(number(read, "steps_i") - 1))
        return constant(1) if one_step else is_last

    def last(read: ReadSignal) -> Lane:
        return ends(read) & (left(read) < _BLOCK + 1)

    def outputs(read: Signals) -> Statement:
        due = {
            "step": (U16, number(read, "step_q")),
            "count": (count, minimum(left(read), constant(_BLOCK))),
            "ends": (U1, ends(read)),
            "last": (U1, last(read)),
        }
        return {output: (number(read, f"{output}_o", due[output][0]), due[output][1]) for output in asked}

    def moves(read: Signals) -> Statement:
        later, advances = read.after(1), number(read, "advance_i", U1)
        step, done = number(read, "step_q"), number(read, "done_q")
        next_step = select(ends(read), 0, U16.wrap(step + 1))
        next_done = select(last(read), 0, select(ends(read), U16.wrap(done + _BLOCK), done))
        resets = read.resets()
        return {
            "step_q": (number(later, "step_q"), select(resets, 0, select(advances, next_step, step))),
            "done_q": (number(later, "done_q"), select(resets, 0, select(advances, next_done, done))),
        }

    where = f"{subject}{name and f', {name[:-1]}'}"
    yield Theorem(claim(f"{where}: its outputs are what they should be", outputs), subject, _LEFT)
    yield Theorem(claim(f"{where}: it steps through the blocks", moves), subject, _DONE if one_step else _STEPS)


def _array(subject: Subject, rows: int, columns: int, name: str = "") -> Theorem:
    """Every lane's sum, and that it is kept; before the names of an array within a core stands `name`."""

    def sum_of(lane: int, read: ReadSignal) -> Lane:
        row, column = divmod(lane, columns)
        products = (
            read(f"{name}a_i", _S9, 36 * row + 9 * k) * read(f"{name}b_i", _S9, 36 * column + 9 * k) for k in range(4)
        )
        before = select(read(f"{name}first_i", U1), 0, read(f"{name}accumulators_q", S32, 32 * lane))
        return S32.wrap(sum(products, before))

    def specification(read: Signals) -> Statement:
        sums, kept, later, steps = f"{name}sums_o", f"{name}accumulators_q", read.after(1), read(f"{name}step_i", U1)
        statement = {}
        for lane in range(rows * columns):
            at = 32 * lane
            statement[f"sum of lane {lane}"] = read(sums, S32, at), sum_of(lane, read)
            following = select(steps, read(sums, S32, at), read(kept, S32, at))
            statement[f"accumulator of lane {lane}"] = later(kept, S32, at), following
        return statement

    return Theorem(claim(f"{subject}: every lane adds its four products", specification), subject, _GROWS)


def _rows() -> Iterator[Theorem]:
    subject = Subject("row_stream", (("Rows", _ROWS), ("Width", 32)))
    count = Int(_ROWS.bit_length(), signed=False)
    left: Value = on("left_q", count)

    def free(read: Signals) -> Lane:
        return left(read).equals(0) | (left(read).equals(1) & read("ready_i", U1))

    def outputs(read: Signals) -> Statement:
        return {
            "valid_o": (read("valid_o", U1), left(read) > 0),
            "last_o": (read("last_o", U1), left(read).equals(1)),
            "free_o": (read("free_o", U1), free(read)),
            "row_o": (read("row_o", S32), read("tile_q", S32, 0)),
        }

    def moves(read: Signals) -> Statement:
        later, loads, taken = read.after(1), read("load_i", U1), read("ready_i", U1)
        gone = select(taken & (left(read) > 0), count.wrap(left(read) - 1), left(read))
        resets = read.resets()
        statement = {"left_q": (left(later), select(resets, 0, select(loads, read("rows_i", count), gone)))}
        for row in range(_ROWS):
            above = read("tile_q", S32, 32 * (row + 1)) if row + 1 < _ROWS else constant(0)
            shifted = select(taken, above, read("tile_q", S32, 32 * row))
            loaded = read("tile_i", S32, 32 * row)
            statement[f"row {row}"] = later("tile_q", S32, 32 * row), select(loads, loaded, shifted)
        return statement

    yield Theorem(claim(f"{subject}: its outputs are what they should be", outputs), subject, _FREE)
    yield Theorem(claim(f"{subject}: rows move on, or wait", moves), subject, _SHIFTED)


def _core() -> Iterator[Theorem]:
    """What the core makes of its parts: who moves when, and what goes from one to the next."""
    size = {"Rows": 4, "Columns": 4, "Steps": 2, "Channels": 8, "Image": 8, "Deep": 0}
    subject = Subject("gemm_core", tuple(size.items()))
    held, base = Int(3, signed=False), Int(2, signed=False)  # the buffers have four words each

    def fits(read: Signals) -> Lane:
        settings = "u_config_registers."
        is_signed, k = read(f"{settings}signed_o", U1), read(f"{settings}width_o", U16)
        offsets = [read(f"{settings}{side}_offset_o", S32) for side in "ab"]
        lowest, highest = select(is_signed, -127, -255), select(is_signed, 128, 0)
        in_range = [(offset < lowest).equals(0) & (offset > highest).equals(0) for offset in offsets]
        window = read(f"{settings}window_width_o", _U4) * read(f"{settings}window_height_o", _U4)
        same = k.equals(window * read(f"{settings}pixel_words_o", U8) << 2) & read("u_window_stream.fits_o", U1)
        return all_of([k < 4 * size["Steps"] + 1, *in_range, select(windows(read), same, 1)])

    def windows(read: Signals) -> Lane:
        return read("u_config_registers.windows_o", U1)

    def steps(read: Signals) -> Lane:
        return (read("u_config_registers.width_o", U16) + 3) >> 2

    def is_there(read: Signals) -> Lane:
        a_there = read("a_held_q", held) > read("u_column_walk.step_q", U16)
        return a_there & (read("b_held_q", held) > read("b_at_q", base))

    def moves(read: Signals) -> Lane:
        waits = read("stepping_q", U1) & read("ends_q", U1) & read("u_row_stream.free_o", U1).equals(0)
        return waits.equals(0)

    def reads(read: Signals) -> Lane:
        return moves(read) & is_there(read)

    def pass_ends(read: Signals) -> Lane:
        return reads(read) & read("u_column_walk.last_o", U1)

    def finishes(read: Signals) -> Lane:
        return pass_ends(read) & read("u_row_walk.last_o", U1)

    def moved(side: str, read: Signals) -> Lane:
        """Whether a beat of a stream is accepted."""
        return read(f"{side}_valid_i", U1) & read(f"{side}_ready_o", U1)

    def a_takes(read: Signals) -> Lane:
        room = read("a_done_q", U1).equals(0) & read("a_held_q", held).equals(4).equals(0)
        return fits(read) & room

    def accepted(side: str, read: Signals) -> Lane:
        """Whether a word is, for a a word of rows: of the stream, or of windows."""
        offered = select(windows(read), read("u_window_stream.valid_o", U1), read("a_valid_i", U1))
        return offered & a_takes(read) if side == "a" else moved(side, read)

    def outputs(read: Signals) -> Statement:
        image = fits(read) & read("u_window_stream.ready_o", U1)
        loads = read("stepping_q", U1) & read("ends_q", U1) & read("u_row_stream.free_o", U1)
        wrong = read("u_config_registers.error_o", U1) | fits(read).equals(0)
        walks = {"u_a_walk": accepted("a", read), "u_b_walk": accepted("b", read)}
        walks |= {"u_column_walk": reads(read), "u_row_walk": pass_ends(read)}
        return {
            "a_ready_o": (read("a_ready_o", U1), select(windows(read), image, a_takes(read))),
            "windows are taken": (read("u_window_stream.ready_i", U1), a_takes(read)),
            "a beat of an image": (read("u_window_stream.valid_i", U1), moved("a", read) & windows(read)),
            "windows end with the layer": (read("u_window_stream.clear_i", U1), finishes(read)),
            "b_ready_o": (read("b_ready_o", U1), fits(read) & read("b_done_q", U1).equals(0)),
            "error_o": (read("error_o", U1), wrong),
            "a step": (read("u_mac_array.step_i", U1), read("stepping_q", U1) & moves(read)),
            "a tile": (read("u_row_stream.load_i", U1), loads),
            **{f"{walk} advances": (read(f"{walk}.advance_i", U1), when) for walk, when in walks.items()},
        }

    def counts(read: Signals) -> Statement:
        later = read.after(1)
        a_held, b_held, b_at = read("a_held_q", held), read("b_held_q", held), read("b_at_q", base)
        gone = select(pass_ends(read), steps(read), 0)
        following = {
            "a_held_q": (held, held.wrap(a_held + accepted("a", read) - gone)),
            "b_held_q": (held, select(finishes(read), 0, held.wrap(b_held + accepted("b", read)))),
            "a_base_q": (base, base.wrap(read("a_base_q", base) + gone)),
            "b_at_q": (base, select(pass_ends(read), 0, base.wrap(b_at + reads(read)))),
            "stepping_q": (U1, select(moves(read), is_there(read), read("stepping_q", U1))),
        }
        for side in "ab":
            done = read(f"{side}_done_q", U1) | accepted(side, read) & read(f"u_{side}_walk.last_o", U1)
            following[f"{side}_done_q"] = U1, done & finishes(read).equals(0)
        resets = read.resets()
        return {name: (later(name, kind), select(resets, 0, to)) for name, (kind, to) in following.items()}

    def addresses(read: Signals) -> Statement:
        a_base, a_held = read("a_base_q", base), read("a_held_q", held)
        expected = {
            "u_a_buffer.write_address_i": base.wrap(a_base + a_held),
            "u_a_buffer.read_address_i": base.wrap(a_base + read("u_column_walk.step_q", U16)),
            "u_b_buffer.write_address_i": base.wrap(read("b_held_q", held)),
            "u_b_buffer.read_address_i": read("b_at_q", base),
        }
        return {wire: (read(wire, base), address) for wire, address in expected.items()}

    def marks(read: Signals) -> Statement:
        later, loads = read.after(1), read("u_row_stream.load_i", U1)
        begins = (moved("a", read) | moved("b", read)) & read("begun_q", U1).equals(0)
        ends = read("valid_o", U1) & read("ready_i", U1) & read("last_o", U1)
        resets = read.resets()
        of_step = {
            "first_q": (U1, read("u_column_walk.step_q", U16).equals(0)),
            "ends_q": (U1, read("u_column_walk.ends_o", U1)),
            "final_q": (U1, finishes(read)),
            "rows_q": (held, read("u_row_walk.count_o", held)),
            "columns_q": (held, read("u_column_walk.count_o", held)),
        }
        of_tile = {
            "out_final_q": (U1, read("final_q", U1)),
            "out_keep_q": (_U4, _U4.wrap((constant(1) << read("columns_q", held)) - 1)),
        }
        kept = [(reads(read), of_step), (loads, of_tile)]
        statement = {
            name: (later(name, kind), select(when, to, read(name, kind)))
            for when, registers in kept
            for name, (kind, to) in registers.items()
        }
        begun = (read("begun_q", U1) | begins) & finishes(read).equals(0)
        layers = _U5.wrap(read("layers_q", _U5) + begins - ends)
        last = read("out_final_q", U1) & read("u_row_stream.last_o", U1)
        return {
            **statement,
            "begun_q": (later("begun_q", U1), select(resets, 0, begun)),
            "layers_q": (later("layers_q", _U5), select(resets, 0, layers)),
            "busy_o": (read("busy_o", U1), read("layers_q", _U5) > 0),
            "marks": (read("u_marks.data_i", _U5), (last << 4) + read("out_keep_q", _U4)),
        }

    def apart(read: Signals) -> Statement:
        statement = {}
        for side in "ab":
            both = [read(f"u_{side}_buffer.{what}_i", U1) for what in ("write", "read")]
            write, at = (read(f"u_{side}_buffer.{what}_address_i", base) for what in ("write", "read"))
            statement[f"a word of {side} is written and read"] = all_of([*both, write.equals(at)]), constant(0)
        return statement

    def within(read: Signals) -> Lane:
        return (read("a_held_q", held) < 5) & (read("b_held_q", held) < 4)

    def rows_in(read: Signals) -> Statement:
        """The bytes of a are those of the stream or of the windows, whose settings are those of the registers."""
        statement = {
            f"window's {name}": (read(f"u_window_stream.{name}_i", kind), read(f"u_config_registers.{name}_o", kind))
            for name, kind in WINDOW_SETTINGS.items()
        }
        zero = U8.wrap(-U8.field(read("u_config_registers.a_offset_o", S32), 0))
        statement["zero of windows"] = read("u_window_stream.zero_i", U8), zero
        for row in range(size["Rows"]):
            at = 32 * row
            window, given = read("u_window_stream.data_o", S32, at), read("a_data_i", S32, at)
            statement[f"bytes of row {row}"] = read("u_a_bytes.data_i", S32, at), select(windows(read), window, given)
            statement[f"word {row} of an image"] = read("u_window_stream.data_i", S32, at), given
        return statement

    def restarts(read: Signals) -> Statement:
        (register,) = (one for one in registers(size["Channels"]) if one.name == "CHANNELS")
        written = read("bus_write_i", U1) & read("bus_address_i", U16).equals(register.address)
        return {
            "restart_i": (read("u_channel_tables.restart_i", U1), written & legal(register, read("bus_data_i", U32)))
        }

    full = Fault("gemm_core.sv", "fits & ~a_done_q & (a_held_q", "(fits | ~a_done_q) & (a_held_q")
    given = Fault("gemm_core.sv", "? window_bytes : a_data_i", "? a_data_i : window_bytes")
    yield Theorem(claim(f"{subject}: rows are given, or windows of an image", rows_in), subject, given)
    yield Theorem(claim(f"{subject}: who moves in a cycle", outputs), subject, full)
    lost = Fault("gemm_core.sv", "b_held_q <= finishes ? '0", "b_held_q <= reads ? '0")
    yield Theorem(claim(f"{subject}: the words in the buffers are counted", counts), subject, lost)
    beside = Fault("gemm_core.sv", "a_base_q + AAddress'(step)", "a_base_q - AAddress'(step)")
    yield Theorem(claim(f"{subject}: words are found where they were put", addresses), subject, beside)
    early = Fault("gemm_core.sv", "16'(a_held_q) > step", "16'(a_held_q) >= step")
    never = claim(f"{subject}: no word is read while it is written, in buffers that are not over-full", apart, within)
    yield Theorem(never, subject, early)
    final = Fault("gemm_core.sv", "final_q   <= finishes;", "final_q   <= pass_ends;")
    yield Theorem(claim(f"{subject}: what goes along with a tile", marks), subject, final)
    never_anew = Fault("config_registers.sv", "= accepted && address_i == lanewise_pkg::AddressChannels", "= 1'b0")
    yield Theorem(claim(f"{subject}: a write of CHANNELS leads to the first channels", restarts), subject, never_anew)
    yield _array(subject, 4, 4, "u_mac_array.")
    walks = {
        "a": ("last",), "b": ("ends", "last"), "column": ("step", "count", "ends", "last"), "row": ("count", "last"),
    }  # fmt: skip
    for side, asked in walks.items():
        yield from _walk(subject, f"u_{side}_walk.", asked, one_step=side == "row")
    for side in ("a", "b"):
        yield from _buffer(subject, f"u_{side}_buffer.", numbers=4)
    yield from stream_theorems(subject, "u_window_stream.", size["Image"])
