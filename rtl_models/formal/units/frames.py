"""The model of `transpose1xw.sv`, and theorems about where the beats of its frames are (`frame_walk.sv`)."""

from __future__ import annotations

from collections.abc import Iterator

from isa.lane import U1, U8, U32, Int, constant, select
from rtl_models.formal.claims import Value, on
from rtl_models.formal.equations.written import Subject
from rtl_models.formal.theorem import Fault, Lemma, Theorem
from rtl_models.formal.units.pipelines import OutputBits, Pipeline, subject
from rtl_models.formal.units.registers import PipelinePiece, RegisterUpdate, all_registers, delay_line
from rtl_models.formal.units.streams import composition_lemma, pipeline_theorems
from rtl_models.formal.units.walk import walk_theorems
from rtl_models.units import LANE_COUNTS

_CHUNKS = Fault("transpose1xw.sv", "address + (single + double)", "address + single + step")
_WALK = "u_frame_walk."


def transpose1xw(lanes: int, deep: bool) -> Pipeline:
    """The unit's data, beside the place of the beat that is offered, which stands on the wires of its `frame_walk`."""
    offered = _Beat.offered(lanes)
    placed = offered.delayed() if deep else None
    last = _outputs(lanes, offered if placed is None else placed[1])
    pieces = [last] if placed is None else [placed[0], last]
    meanings = _outputs(lanes, offered).registers
    results = tuple(
        OutputBits(r.wire.replace("_q", "_o"), r.kind, r.lsb or 0, r.value, m.following, lambda _: constant(1))
        for r, m in zip(last.registers, meanings, strict=True)
    )
    return Pipeline(subject("transpose1xw", lanes, deep), all_registers(pieces), results)


class _Beat:
    """The data of a beat and its place."""

    def __init__(self, data: list[Value], place: list[Value]) -> None:
        self.data = data
        self.address, self.step, self.bytes, self.zero_tail, self.last = place

    @classmethod
    def offered(cls, lanes: int) -> _Beat:
        """On the ports, and on the wires of `frame_walk`."""
        place = [on(f"{_WALK}{name}", kind) for name, kind in _place(lanes)]
        return cls([on("data_i", U8, 8 * k) for k in range(4 * lanes)], place)

    def delayed(self) -> tuple[PipelinePiece, _Beat]:
        """An edge later."""
        place = [self.address, self.step, self.bytes, self.zero_tail, self.last]
        kinds = [kind for _, kind in _place(len(self.data) // 4)]
        values = [*((U8, value) for value in reversed(self.data)), *zip(kinds, place, strict=True)]
        line = delay_line("gen_placed.u_placed.", values, 1)
        count = len(self.data)
        return line, _Beat(list(reversed(line.results[:count])), list(line.results[count:]))


def _place(lanes: int) -> tuple[tuple[str, Int], ...]:
    count = Int((4 * lanes).bit_length(), signed=False)
    return ("address_o", U32), ("step_o", U32), ("bytes_o", count), ("zero_tail_o", U1), ("last_o", U1)


def _outputs(lanes: int, beat: _Beat) -> PipelinePiece:
    """The last stage: bytes behind the row cleared where that is asked for, the chunks' addresses, which are there."""
    data = [
        RegisterUpdate(
            wire="data_q",
            kind=U8,
            following=_byte(beat, k),
            fault=Fault("transpose1xw.sv", "bytes <= CountBits'(k)", "1'b1"),
            lsb=8 * k,
        )
        for k in range(4 * lanes)
    ]
    addresses = [
        RegisterUpdate(wire="address_q", kind=U32, following=_address(beat, k), fault=_CHUNKS, lsb=32 * k)
        for k in range(lanes // 4)
    ]
    there = Fault("transpose1xw.sv", "bytes > CountBits'(16 * k)", "bytes >= CountBits'(16 * k)")
    writes = [
        RegisterUpdate(wire="write_q", kind=U1, following=_there(beat, k), fault=there, lsb=k)
        for k in range(lanes // 4)
    ]
    last = RegisterUpdate(wire="last_q", kind=U1, following=beat.last, fault=there, lsb=0)
    registers = (*data, *addresses, last, *writes)
    return PipelinePiece(registers, tuple(register.value for register in registers))


def _byte(beat: _Beat, k: int) -> Value:
    return lambda r: select(beat.zero_tail(r) & (beat.bytes(r) < k + 1), 0, beat.data[k](r))


def _address(beat: _Beat, k: int) -> Value:
    return lambda r: U32.wrap(beat.address(r) + beat.step(r) * k)


def _there(beat: _Beat, k: int) -> Value:
    return lambda r: beat.bytes(r) > 16 * k


def transposes() -> list[Pipeline]:
    """The unit, shallow and deep, of every number of lanes: how far its chunks and its beats go depends on that."""
    return [transpose1xw(lanes, deep) for lanes in LANE_COUNTS for deep in (False, True)]


def frame_theorems() -> Iterator[Theorem]:
    """Of the units, and of the walk on its own."""
    for pipeline in transposes():
        yield from pipeline_theorems(pipeline)
        beat_bytes = 4 * dict(pipeline.subject.parameters)["Lanes"]
        yield from walk_theorems(
            pipeline.subject, _WALK, beat_bytes, lambda read: read("valid_i", U1) & read("ready_o", U1)
        )
    for lanes in LANE_COUNTS:
        walk = Subject("frame_walk", (("BeatBytes", 4 * lanes),))
        yield from walk_theorems(walk, "", 4 * lanes, on("accepted_i", U1))


def frame_lemmas() -> list[Lemma]:
    """The stages of the data put together."""
    return [composition_lemma(pipeline) for pipeline in transposes()]
