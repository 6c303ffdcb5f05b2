"""The model of `integer_scale.sv`."""

from __future__ import annotations

from isa.lane import S32, U1, U8, U32, Lane
from rtl_models.formal import arithmetic as a
from rtl_models.formal.claims import ReadSignal, Value, all_of, on
from rtl_models.formal.theorem import Fault
from rtl_models.formal.units.pieces import clamp_to_byte, multiply_low, shift_rounded
from rtl_models.formal.units.pipelines import OutputBits, Pipeline, depth_of, in_order, subject
from rtl_models.formal.units.registers import PipelinePiece, RegisterUpdate, all_registers, delay_line

_FILE = "integer_scale.sv"
_PLACED = Fault(_FILE, "+ offset_i;", "- offset_i;")
_KEPT = Fault(_FILE, "multiplier_q <= multiplier_i;", "multiplier_q <= ~multiplier_i;")
_ROUNDING, _SIGNED = on("rounding_i", a.U2), on("signed_i", U1)
_LOW, _HIGH = on("minimum_i", U8), on("maximum_i", U8)


def integer_scale(lanes: int, level: int) -> Pipeline:
    """The unit at a level of its depths."""
    multiplier = RegisterUpdate(wire="multiplier_q", kind=U32, following=on("multiplier_i", U32), fault=_KEPT)
    shifts = [(a.U5, on("shift_i", a.U5)), (a.U2, _ROUNDING)]
    line = delay_line("u_shift_configuration.", shifts, 1 + depth_of("multiply_low", level))
    before = 1 + depth_of("multiply_low", level) + depth_of("shift_rounded", level >= 2)
    bounds = delay_line("u_output_configuration.", [(U8, _LOW), (U8, _HIGH), (U1, _SIGNED)], before)
    each = [_lane(lane, level, multiplier.value, line, bounds) for lane in range(lanes)]
    results = tuple(
        OutputBits("result_o", U8, 8 * lane, piece.results[0], _meaning(lane), _legal)
        for lane, piece in enumerate(each)
    )
    registers = (multiplier, *all_registers([line, bounds, *each]))
    return Pipeline(subject("integer_scale", lanes, level), registers, results)


def _lane(lane: int, level: int, multiplier: Value, line: PipelinePiece, bounds: PipelinePiece) -> PipelinePiece:
    name = f"gen_lane[{lane}]"
    placed = RegisterUpdate(wire=f"{name}.placed_q", kind=U32, following=_placed(lane), fault=_PLACED)
    product = multiply_low(f"{name}.u_multiply_low.", level >= 1, placed.value, multiplier)
    (low,) = product.results
    scaled = shift_rounded(f"{name}.u_shift_rounded.", level >= 2, lambda r: S32.wrap(low(r)), *line.results)
    result = clamp_to_byte(f"{name}.u_clamp_to_byte.", level >= 3, scaled.results[0], bounds.results)
    return PipelinePiece((placed, *all_registers([product, scaled, result])), result.results)


def _placed(lane: int) -> Value:
    accumulator, bias = (on(port, U32, 32 * lane) for port in ("accumulator_i", "bias_i"))
    offset = on("offset_i", U32)
    return lambda r: U32.wrap(accumulator(r) + bias(r) + offset(r))


def _meaning(lane: int) -> Value:
    placed = _placed(lane)

    def meaning(read: ReadSignal) -> Lane:
        product = S32.wrap(a.product_low(placed(read), read("multiplier_i", U32)))
        scaled = a.shift_rounded(product, read("shift_i", a.U5), _ROUNDING(read))
        return a.clamped_byte(scaled, _LOW(read), _HIGH(read), _SIGNED(read))

    return meaning


def _legal(read: ReadSignal) -> Lane:
    return all_of([_ROUNDING(read) < 3, in_order(_LOW, _HIGH, _SIGNED)(read)])
