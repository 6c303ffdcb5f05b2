"""The parts of `quantized_add_float.sv`, as registers and what these become; `name` as in `pieces`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from isa.lane import U1, U8, U32, Int, Lane, constant, select
from rtl_models.formal import floats
from rtl_models.formal.claims import Value
from rtl_models.formal.theorem import Fault
from rtl_models.formal.units.pipelines import depth_of
from rtl_models.formal.units.registers import PipelinePiece, RegisterUpdate, all_registers, delay_line

_FMLA = "fmla_byte.sv"
_NUMBER = Fault(_FMLA, "number_q       <= byte_i", "number_q       <= ~byte_i")
_SIGNIFICAND = Fault(_FMLA, "significand_d   = {|factor_field,", "significand_d   = {1'b1,")
_PRODUCT = Fault(_FMLA, "number * significand", "number * {significand[22:0], 1'b0}")
_ADDEND = Fault(_FMLA, "addend_d        = {|field,", "addend_d        = {1'b1,")
_GAP = Fault(_FMLA, "+ 10'sd34", "+ 10'sd33")
_EXPONENT = Fault(_FMLA, "factor_exponent = byte_i == '0 ? '0 : ", "factor_exponent = ")
_TOP = Fault(_FMLA, "exponent        = field | 8'(~|field)", "exponent        = field")
_ADDEND_KEPT = Fault(_FMLA, "addend_kept_q  <= addend", "addend_kept_q  <= ~addend")
_TOP_KEPT = Fault(_FMLA, "<= {exponents[7:0], flags}", "<= {exponents[15:8], flags}")
_FLAGS_KEPT = Fault(_FMLA, "<= {exponents[7:0], flags}", "<= {exponents[7:0], ~flags}")
_FLAGS = Fault(_FMLA, "&field & ~&factor_field ? sign", "&field & &factor_field ? sign")
_PLACED = Fault(_FMLA, "(gap > 9'd60 ? 6'd60 : gap[5:0])", "gap[5:0]")
_MULTIPLIED = Fault(_FMLA, "multiplied_q   <= product", "multiplied_q   <= ~product")
_ROOM = Fault(_FMLA, "10'(gap) - 10'd1", "10'(gap)")
_FLAGS_PLACED = Fault(_FMLA, "<= {room_d, flags_kept}", "<= {room_d, ~flags_kept}")
_SUM = Fault(_FMLA, "(Window+1)'(flags_placed[0])", "(Window+1)'(1'b0)")
_KEPT = Fault(_FMLA, "of_sum_q <= {room, flags_placed}", "of_sum_q <= {room, ~flags_placed}")
_MAGNITUDE = Fault(_FMLA, "+ Window'(sum_q[Window])", "+ Window'(1'b0)")
_MOVED = Fault(_FMLA, "spare[k+1] >= 10'(1 << k)", "spare[k+1] > 10'(1 << k)")
_SPARE = Fault(_FMLA, "spare_d[7] = room_of_sum", "spare_d[7] = ~room_of_sum")
_UNROUNDED = Fault(_FMLA, "spare[0] + 10'd1", "spare[0]")
_ENDED = Fault(_FMLA, "(normalised[60] | (|normalised[58:0]))", "(normalised[60] & (|normalised[58:0]))")
_ROUNDED = Fault(_FMLA, "33'(of_unrounded[0])", "33'(1'b0)")
_PLACES = Fault("float_to_byte.sv", "<< left", ">> left")
_BELOW_HALF = Fault("float_to_byte.sv", "value_i == BelowHalf", "1'b0")
_TO_BYTE = Fault("float_to_byte.sv", "(of_places[0] | places[24]", "(places[24]")

Wire = tuple[str, Int, int | None, Fault]
"""The register of a number: wire, type, lowest bit, fault."""
_OPERANDS: Final[tuple[Wire, ...]] = (
    ("number_q", U8, None, _NUMBER),
    ("significand_q", floats.U24, None, _SIGNIFICAND),
    ("addend_q", floats.U24, None, _ADDEND),
    ("exponents_q", U8, 8, _EXPONENT),
    ("exponents_q", U8, 0, _TOP),
    ("flags_q", floats.U4, None, _FLAGS),
)
_OF_PRODUCT: Final[tuple[Wire, ...]] = (
    ("product_q", U32, None, _PRODUCT),
    ("addend_kept_q", floats.U24, None, _ADDEND_KEPT),
    ("gap_q", floats.U9, None, _GAP),
    ("of_product_q", U8, 4, _TOP_KEPT),
    ("of_product_q", floats.U4, 0, _FLAGS_KEPT),
)
_OF_PLACED: Final[tuple[Wire, ...]] = (
    ("placed_q", floats.WINDOW, None, _PLACED),
    ("multiplied_q", U32, None, _MULTIPLIED),
    ("of_placed_q", floats.U10, 4, _ROOM),
    ("of_placed_q", floats.U4, 0, _FLAGS_PLACED),
)
_OF_SUM: Final[tuple[Wire, ...]] = (
    ("sum_q", floats.SUM, None, _SUM),
    ("of_sum_q", floats.U10, 4, _KEPT),
    ("of_sum_q", floats.U4, 0, _KEPT),
)
_OF_UNROUNDED: Final[tuple[Wire, ...]] = (
    ("unrounded_q", floats.U33, None, _UNROUNDED),
    ("of_unrounded_q", floats.U4, None, _ENDED),
)
_RESULT: Final[tuple[Wire, ...]] = (("result_q", U32, None, _ROUNDED),)
_OF_PLACES: Final[tuple[Wire, ...]] = (
    ("places_q", U32, None, _PLACES),
    ("of_places_q", floats.U4, None, _BELOW_HALF),
)
_CUTS: Final = {7: (), 6: (64,), 5: (32,), 3: (16, 8), 1: (4, 2)}
"""By the number of a register in `gen_cut` the moves between it and the one before; behind the last it moves by 1."""


def _cut(cut: bool, name: str, wires: Sequence[Wire], values: Sequence[Value]) -> PipelinePiece:
    """Registers of these numbers; or none, where there is no cut."""
    if not cut:
        return PipelinePiece((), tuple(values))
    registers = tuple(
        RegisterUpdate(wire=f"{name}{wire}", kind=kind, following=following, fault=fault, lsb=lsb)
        for following, (wire, kind, lsb, fault) in zip(values, wires, strict=True)
    )
    return PipelinePiece(registers, tuple(register.value for register in registers))


def fmla_byte(name: str, deep: bool, accumulator: Value, byte: Value, factor: Value) -> PipelinePiece:
    """`fmla_byte.sv`: 2 stages or 11."""

    def of(function: Callable[..., Lane], *numbers: Value) -> Value:
        return lambda r: function(*(number(r) for number in numbers))

    within = f"{name}gen_deep."
    parts = [
        byte,
        of(floats.significand, factor),
        of(floats.significand, accumulator),
        of(floats.product_exponent, byte, factor),
        of(floats.exponent, accumulator),
        of(floats.flags, accumulator, byte, factor),
    ]
    operands = _cut(deep, within, _OPERANDS, parts)
    number, significand, addend, exponent, top, flags = operands.results
    parts = [of(floats.product, number, significand), addend, of(floats.gap, exponent, top), top, flags]
    multiplied = _cut(deep, within, _OF_PRODUCT, parts)
    product, addend, gap, top, flags = multiplied.results
    parts = [of(floats.placed, addend, gap), product, of(floats.room, top, gap), flags]
    placed = _cut(deep, within, _OF_PLACED, parts)
    addend, product, room, flags = placed.results
    subtracts = of(lambda kinds: U1.field(kinds, 0), flags)
    added = _cut(True, name, _OF_SUM, [of(floats.total, product, addend, subtracts), room, flags])
    total, room, flags = added.results
    moved = _moved(name, deep, of(floats.magnitude, total), room)
    along: list[tuple[Int, Value]] = [(U1, of(lambda number: number < 0, total)), (floats.U4, flags)]
    line = delay_line(f"{within}u_flags.", along, len(_CUTS)) if deep else PipelinePiece((), tuple(v for _, v in along))
    parts = [of(floats.unrounded, *moved.results), of(floats.of_unrounded, moved.results[0], *line.results)]
    ended = _cut(deep, within, _OF_UNROUNDED, parts)
    result = _cut(True, name, _RESULT, [of(floats.rounded, *ended.results)])
    pieces = (operands, multiplied, placed, line, added, moved, ended, result)
    return PipelinePiece(all_registers(pieces), result.results)


def _moved(name: str, deep: bool, number: Value, room: Value) -> PipelinePiece:
    """A magnitude moved to the top, and the room that is left."""
    registers: list[RegisterUpdate] = []
    for k, powers in _CUTS.items():
        wires = (
            ("moved_q", floats.WINDOW, None, _MOVED if powers else _MAGNITUDE),
            ("spare_q", floats.U10, None, _MOVED if powers else _SPARE),
        )
        piece = _cut(
            deep, f"{name}gen_cut[{k}].gen_register.", wires, [_move(number, room, powers, part) for part in (0, 1)]
        )
        registers += piece.registers
        number, room = piece.results
    number, room = (_move(number, room, (1,), part) for part in (0, 1))
    return PipelinePiece(tuple(registers), (number, room))


def _move(number: Value, room: Value, powers: Sequence[int], part: int) -> Value:
    return lambda r: floats.moved(number(r), room(r), powers)[part]


def add_scaled_byte(
    name: str, deep: bool, accumulator: Value, byte: Value, factor: Value, unfused: Value
) -> PipelinePiece:
    """`add_scaled_byte.sv`: a product, rounded or not, added."""
    product = fmla_byte(f"{name}u_product.", deep, lambda _: constant(floats.MINUS_ZERO), byte, factor)
    operands: list[tuple[Int, Value]] = [(U32, accumulator), (U8, byte), (U32, factor), (U1, unfused)]
    line = delay_line(f"{name}u_operands.", operands, depth_of("fmla_byte", deep))
    (scaled,), (addend, number, by, alone) = product.results, line.results
    whole = fmla_byte(
        f"{name}u_sum.",
        deep,
        addend,
        lambda r: select(alone(r), 1, number(r)),
        lambda r: select(alone(r), scaled(r), by(r)),
    )
    return PipelinePiece(all_registers([product, line, whole]), whole.results)


def float_to_byte(name: str, deep: bool, value: Value, ties_away: Value) -> PipelinePiece:
    """`float_to_byte.sv`: 1 stage or 2."""
    parts: list[Value] = [lambda r: floats.places(value(r)), lambda r: floats.of_places(value(r), ties_away(r))]
    placed = _cut(deep, f"{name}gen_deep.", _OF_PLACES, parts)
    number, kinds = placed.results
    byte = _cut(True, name, (("result_q", U8, None, _TO_BYTE),), [lambda r: floats.byte_of(number(r), kinds(r))])
    return PipelinePiece((*placed.registers, *byte.registers), byte.results)
