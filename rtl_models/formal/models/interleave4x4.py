"""The model of `interleave4x4.sv`."""

from __future__ import annotations

from isa.lane import U8, U32, Int, Lane, select
from rtl_models.formal import arithmetic as a
from rtl_models.formal.claims import ReadSignal, Value, on, total
from rtl_models.formal.theorem import Fault
from rtl_models.formal.units.pipelines import OutputBits, Pipeline, subject
from rtl_models.formal.units.registers import RegisterUpdate

_FILE = "interleave4x4.sv"
_U3 = Int(3, signed=False)
_KEPT = Fault(_FILE, "data_q <= data_i;", "data_q <= ~data_i;")
_WIDE = Fault(_FILE, "wide_q <= element_i[2:1];", "wide_q <= element_i[1:0];")
_MOVED = Fault(_FILE, "2 * (k / 8) + k % 2", "2 * (k / 8) + (k + 1) % 2")
_ROWS = 4


def interleave4x4(lanes: int, level: int) -> Pipeline:
    """The unit at a level of its depths."""
    element = on("element_i", _U3)
    data: list[Value] = [on("data_i", U32, 32 * lane) for lane in range(lanes)]

    def wide(read: ReadSignal) -> Lane:
        return element(read) >> 1

    early, given = list[RegisterUpdate](), data
    wider: Value = wide
    if level == 1:
        early = [
            RegisterUpdate(wire="gen_deep.data_q", kind=U32, following=word, fault=_KEPT, lsb=32 * lane)
            for lane, word in enumerate(data)
        ]
        kept = RegisterUpdate(wire="gen_deep.wide_q", kind=a.U2, following=wide, fault=_WIDE)
        given, wider = [register.value for register in early], kept.value
        early.append(kept)
    late = [
        RegisterUpdate(
            wire="result_q", kind=U32, following=_word(lane, lanes, given, wider), fault=_MOVED, lsb=32 * lane
        )
        for lane in range(lanes)
    ]
    results = tuple(
        OutputBits("data_o", U32, 32 * lane, register.value, _word(lane, lanes, data, wide), _legal)
        for lane, register in enumerate(late)
    )
    return Pipeline(subject("interleave4x4", lanes, level), (*early, *late), results)


def _word(place: int, lanes: int, data: list[Value], wide: Value) -> Value:
    """Four bytes of the result: by the size of an element, the bytes of the rows that are due."""

    def word(read: ReadSignal) -> Lane:
        words = [value(read) for value in data]
        choices = []
        for size in (1, 2, 4):
            places = [_source(4 * place + k, size, lanes) for k in range(4)]
            choices.append(total(U8.field(words[p // 4], 8 * (p % 4)) << 8 * k for k, p in enumerate(places)))
        single, double, quad = choices
        return select(wide(read) >> 1, quad, select(wide(read) & 1, double, single))

    return word


def _source(octet: int, size: int, lanes: int) -> int:
    """Of the beat's bytes the one that goes to this byte of the result, for elements of so many bytes."""
    element, within = divmod(octet, size)
    column, row = divmod(element, _ROWS)
    return lanes * row + size * column + within


def _legal(read: ReadSignal) -> Lane:
    element = read("element_i", _U3)
    return element.equals(1) | element.equals(2) | element.equals(4)
