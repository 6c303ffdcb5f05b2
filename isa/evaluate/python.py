"""Python functions generated from expressions: what Machine runs.

One function is compiled for each pattern (see `isa.instruction`) and then bound to registers and state, so that
instructions which differ in register numbers share it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import groupby
from typing import NamedTuple, Protocol, cast

from isa.evaluate.exact import QC
from isa.evaluate.host_floating import APPLIES, FAILS, HostSource, NotOnHost
from isa.evaluate.source import STRUCT_LETTERS, Piece, Source, byte_key, offset_text, piece_of, register_text
from isa.instruction import Instruction, Pattern, lanes_of
from isa.lane import Field, Floating, Int, Lane, Memory, Place, Read, Write, walk
from isa.semantics.elementwise import Writes

Run = Callable[[], int | None]
"""Executes one bound instruction; returns the next program counter if the instruction writes it."""


class Registers(Protocol):
    """The state that generated functions work on (see `isa.evaluate.source` for its layout)."""

    vectors: bytearray
    general: list[int]
    flags: list[int]


Load = Callable[[int, int], bytes | memoryview]
Store = Callable[[int, bytes], None]


def bind(instruction: Instruction, registers: Registers, load: Load, store: Store, pc: int) -> Run:
    """A function that executes `instruction` at `pc` on this state."""
    factory = _factory(instruction.pattern)
    return factory(registers.vectors, registers.general, registers.flags, load, store, pc, *instruction.registers)


@cache
def _factory(pattern: Pattern) -> Callable[..., Run]:
    text, constants = generate(pattern.open_writes(), pattern.register_count, pattern.text)
    scope = dict(constants)
    exec(compile(text, f"<{pattern.text}>", "exec"), scope)
    return cast("Callable[..., Run]", scope["bind"])


def generate(writes: Writes, register_count: int, title: str) -> tuple[str, dict[str, object]]:
    """The text of a function `bind`, and the constants that it names."""
    function = _Function(writes, Source(lanes_of(writes)))
    host_lines, constants = _on_host(writes)
    numbers = "".join(f", r{k}" for k in range(register_count))
    offsets = [f" o{k} = 16 * r{k}" for k in range(register_count)]
    body = [f"  {line}" for line in (*host_lines, *function.lines)] or ["  pass"]
    head = [f"def bind(V, X, F, load, store, pc{numbers}):", f" # {title}", *offsets, " def run():"]
    return "\n".join([*head, *body, " return run", ""]), constants | function.source.constants


def _on_host(writes: Writes) -> tuple[list[str], dict[str, object]]:
    """The lines that compute floating point by the host's and return where they may; none where they never may."""
    roots = lanes_of(writes)
    if not any(isinstance(node, Floating) for node in walk(roots)):
        return [], {}
    source = HostSource(roots)
    try:
        function = _Function(writes, source)
    except NotOnHost:
        return [], {}
    commits = [f"   {line}" for line in (*function.commits, "return")]
    lines = [*source.lines, f"if {' and '.join(source.guards)}:", *commits]
    return [f"if {APPLIES}:", " try:", *(f"  {line}" for line in lines), f" except {FAILS}: pass"], source.constants


class _Segment(NamedTuple):
    """Adjacent bytes of a destination: a copy of adjacent bytes elsewhere, or computed lanes."""

    start: int
    size: int
    piece: Piece | None
    lanes: Sequence[Lane]


class _Function:
    """The lines of one function: everything is computed first, then written."""

    def __init__(self, writes: Writes, source: Source) -> None:
        self.source = source
        self._alone = len(writes) == 1
        self._stores: list[str] = []
        self.commits: list[str] = []
        self._return: list[str] = []
        for write in writes:
            self._write(write)
        tests = " or ".join(self.source.saturations)
        qc = [f"if {tests}: F[1] |= {QC}"] if tests else []
        self.lines = [*self.source.lines, *self._stores, *qc, *self.commits, *self._return]

    def _value(self, text: str) -> str:
        """Text that other writes of this function cannot change."""
        return text if self._alone or text.isdigit() else self.source.temporary(text)

    def _write(self, write: Write) -> None:
        if isinstance(write.place, Memory):
            self._write_memory(write.place, write)
        elif write.place.file == "v":
            self._write_vector(write.place, write)
        elif write.place.file == "pc":
            self._return = [f"return {self._value(self.source.text(write.lanes[0]))}"]
        else:
            self.commits.append(f"{register_text(write.place)} = {self._value(self._number(write))}")

    def _number(self, write: Write) -> str:
        """All lanes of a write as one number."""
        parts = [self.source.low_bits(lane, write.bits) for lane in write.lanes]
        if len(parts) == 1:
            return f"+{parts[0]}" if write.lanes[0].high <= 1 else parts[0]
        return " | ".join(f"({part}) << {i * write.bits}" for i, part in enumerate(parts))

    def _write_memory(self, place: Memory, write: Write) -> None:
        address = self.source.text(place.address)
        segments = _segments(write)
        pieces = [segment.piece for segment in segments if segment.piece is not None]
        if len(pieces) == len(segments) <= 4:
            data = " + ".join(self._bytes(piece) for piece in pieces)
        else:
            data = self._packed(write.lanes, write.bits, 0)
        self._stores.append(f"store({self._value(address)}, {self._value(data)})")

    def _write_vector(self, place: Place, write: Write) -> None:
        segments = _segments(write)
        if len(segments) > 4:
            segments = [_computed(write)]
        self._alone = self._alone and len(segments) == 1
        end = segments[-1].start + segments[-1].size
        for segment in segments:
            if not _keeps(segment, place):
                last = segment is segments[-1]
                self._write_segment(place, segment, write.bits, 16 - end if last and segment.piece is None else 0)
        if end < 16 and segments[-1].piece is not None:
            self.source.constants["zeros"] = bytes(16)
            self.commits.append(f"{_slice(place, end, 16)} = zeros[{end}:]")

    def _write_segment(self, place: Place, segment: _Segment, bits: int, padding: int) -> None:
        where = _slice(place, segment.start, segment.start + segment.size + padding)
        if segment.piece is not None:
            single = self._alone and segment.size == 16
            data = self._bytes(segment.piece)
            self.commits.append(f"{where} = {data if single else self.source.temporary(data)}")
        elif bits in STRUCT_LETTERS:
            layout, values = self._layout(segment.lanes, bits, padding)
            pack = self.source.struct(layout, "pack_into")
            self.commits.append(f"{pack}(V, {offset_text(place, segment.start)}, {values})")
        else:
            self.commits.append(f"{where} = {self._value(self._packed(segment.lanes, bits, padding))}")

    def _bytes(self, piece: Piece) -> str:
        first, end = piece.first, piece.first + piece.size
        if isinstance(piece.source, Read):
            return _slice(piece.source.place, first, end)
        loaded = self.source.bytes_of(piece.source)
        return loaded if piece.size == piece.source.size else f"{loaded}[{first}:{end}]"

    def _packed(self, lanes: Sequence[Lane], bits: int, padding: int) -> str:
        """Bytes of the lanes, with zero bytes after them."""
        if bits in STRUCT_LETTERS:
            layout, values = self._layout(lanes, bits, padding)
            return f"{self.source.struct(layout, 'pack')}({values})"
        (lane,) = lanes
        return f"({self.source.low_bits(lane, bits)}).to_bytes({bits // 8 + padding}, 'little')"

    def _layout(self, lanes: Sequence[Lane], bits: int, padding: int) -> tuple[str, str]:
        """The struct layout of some lanes, and the text of their values."""
        pad = f"{padding}x" if padding else ""
        floats = self.source.float_layout(lanes)
        if floats is not None:
            return f"{len(lanes)}{floats[0]}{pad}", ", ".join(floats[1])
        if all(Int(bits, True).holds(lane) and not _is_wrap(lane, bits) for lane in lanes):
            values = [self._stable(self.source.text(lane)) for lane in lanes]
            return f"{len(lanes)}{STRUCT_LETTERS[bits]}{pad}", ", ".join(values)
        values = [self._stable(self.source.low_bits(lane, bits)) for lane in lanes]
        return f"{len(lanes)}{STRUCT_LETTERS[bits].upper()}{pad}", ", ".join(values)

    def _stable(self, text: str) -> str:
        return self._value(text) if not text.isidentifier() else text


def _is_wrap(lane: Lane, bits: int) -> bool:
    return isinstance(lane, Field) and lane.lsb == 0 and piece_of(lane, bits) is None


def _slice(place: Place, first: int, end: int) -> str:
    return f"V[{offset_text(place, first)}:{offset_text(place, end)}]"


def _keeps(segment: _Segment, place: Place) -> bool:
    """Whether the segment is what the destination holds there already."""
    piece = segment.piece
    return piece is not None and byte_key(piece.source) == place and piece.first == segment.start


def _computed(write: Write) -> _Segment:
    return _Segment(0, len(write.lanes) * write.bits // 8, None, write.lanes)


def _segments(write: Write) -> list[_Segment]:
    """The lanes of a write as runs of copied bytes and runs of computed lanes."""
    if write.bits % 8:
        return [_computed(write)]
    size = write.bits // 8
    pieces = [(i, piece_of(lane, write.bits)) for i, lane in enumerate(write.lanes)]
    segments = []
    for _, run in groupby(pieces, key=lambda item: _run_key(item[0] * size, item[1])):
        numbers = [i for i, _ in run]
        first = pieces[numbers[0]][1]
        piece = first and Piece(first.source, first.first, size * len(numbers))
        segments.append(_Segment(numbers[0] * size, size * len(numbers), piece, [write.lanes[i] for i in numbers]))
    return segments


def _run_key(start: int, piece: Piece | None) -> object:
    """The same for lanes that continue one copy: source and distance do not change."""
    return None if piece is None else (byte_key(piece.source), piece.first - start)
