"""The model of `quantized_add.sv`."""

from __future__ import annotations

from isa.lane import S32, U1, U8, Lane
from rtl_models.formal import arithmetic as a
from rtl_models.formal.claims import Read, Value, on
from rtl_models.formal.pieces import output_stages, rescale
from rtl_models.formal.pipelines import Pipeline, Result, clamped, depth_of, in_order, requantized, subject
from rtl_models.formal.registers import Piece, Register, all_registers, delay_line
from rtl_models.formal.theorem import Fault

_PLACED = Fault("place_byte.sv", "{{24{signed_i & byte_i[7]}}", "{{24{byte_i[7]}}")
_SUM = Fault("quantized_add.sv", "a_scaled + b_scaled", "a_scaled - b_scaled")
_SIGNED = on("signed_i", U1)


def quantized_add(lanes: int, deep: bool) -> Pipeline:
    """The unit."""
    factors = {name: _factor(name) for name in "ab"}
    lines = (_sum_configuration(deep), _output_configuration(deep))
    each = [_lane(deep, lane, factors, *lines) for lane in range(lanes)]
    registers = all_registers([*factors.values(), *lines, *each])
    results = tuple(_result(lane, piece) for lane, piece in enumerate(each))
    return Pipeline(subject("quantized_add", lanes, deep), registers, results)


def _factor(name: str) -> Piece:
    """The multiplier and the shift of an operand."""
    multiplier = Register(f"{name}_multiplier_q", S32, on(f"{name}_multiplier_i", S32), _PLACED)
    count = Register(f"{name}_shift_q", a.U5, on(f"{name}_shift_i", a.U5), _PLACED)
    return Piece((multiplier, count), (multiplier.value, count.value))


def _sum_configuration(deep: bool) -> Piece:
    values = [(S32, on("multiplier_i", S32)), (a.U5, on("shift_i", a.U5))]
    return delay_line("u_sum_configuration.", values, 2 + depth_of("Rescale", deep))


def _output_configuration(deep: bool) -> Piece:
    ports = (("offset_i", S32), ("minimum_i", U8), ("maximum_i", U8), ("signed_i", U1))
    depth = 2 + 2 * depth_of("Rescale", deep)
    return delay_line("u_output_configuration.", [(kind, on(port, kind)) for port, kind in ports], depth)


def _placed(name: str, lane: int) -> Value:
    byte, offset, left = on(f"{name}_i", U8, 8 * lane), on(f"{name}_offset_i", S32), on("left_shift_i", a.U5)
    return lambda r: a.placed(byte(r), _SIGNED(r), offset(r), left(r))


def _lane(deep: bool, lane: int, factors: dict[str, Piece], sums: Piece, outputs: Piece) -> Piece:
    scaled = {name: _operand(deep, lane, name, factors[name]) for name in "ab"}
    (of_a,), (of_b,) = (piece.results for piece in scaled.values())
    total = Register("sum_q", S32, lambda r: a.added(of_a(r), of_b(r)), _SUM, lsb=32 * lane)
    whole = rescale(f"gen_lane[{lane}].u_rescale_sum.", deep, total.value, *sums.results)
    offset, low, high, is_signed = outputs.results
    name = f"gen_lane[{lane}].u_output_stages."
    result = output_stages(name, deep, whole.results[0], (offset, low, high, is_signed))
    return Piece((*all_registers(scaled.values()), total, *whole.registers, *result.registers), result.results)


def _operand(deep: bool, lane: int, name: str, factor: Piece) -> Piece:
    placed = Register(f"{name}_placed_q", S32, _placed(name, lane), _PLACED, lsb=32 * lane)
    scaled = rescale(f"gen_lane[{lane}].u_rescale_{name}.", deep, placed.value, *factor.results)
    return Piece((placed, *scaled.registers), scaled.results)


def _scaled(lane: int, name: str) -> Value:
    placed, multiplier = _placed(name, lane), on(f"{name}_multiplier_i", S32)
    count = on(f"{name}_shift_i", a.U5)
    return lambda r: requantized(placed(r), multiplier(r), count(r))


def _result(lane: int, piece: Piece) -> Result:
    of_a, of_b = (_scaled(lane, name) for name in "ab")

    def scaled(r: Read) -> Lane:
        total = a.added(of_a(r), of_b(r))
        return requantized(total, r("multiplier_i", S32), r("shift_i", a.U5))

    legal = in_order(on("minimum_i", U8), on("maximum_i", U8), _SIGNED)
    return Result("result_o", U8, 8 * lane, piece.results[0], clamped(scaled, _SIGNED), legal)
