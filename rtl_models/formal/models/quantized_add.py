"""The model of `quantized_add.sv`."""

from __future__ import annotations

from isa.lane import S32, U1, U8, Int, Lane
from rtl_models.formal import arithmetic as a
from rtl_models.formal.claims import ReadSignal, Value, on
from rtl_models.formal.theorem import Fault
from rtl_models.formal.units.pieces import output_stages, place_byte, rescale
from rtl_models.formal.units.pipelines import OutputBits, Pipeline, clamped, depth_of, in_order, requantized, subject
from rtl_models.formal.units.registers import PipelinePiece, RegisterUpdate, all_registers, delay_line

_SUM = Fault("quantized_add.sv", "a_scaled + b_scaled", "a_scaled - b_scaled")
_SIGNED = on("signed_i", U1)


def quantized_add(lanes: int, level: int) -> Pipeline:
    """The unit at a level of its depths."""
    placed, scaled = 1 + int(level == 4), depth_of("rescale", level)
    of_a, of_b, of_sum = (_factor(of) for of in ("a_", "b_", ""))
    operands = delay_line("u_operand_configuration.", [*of_a, *of_b], placed)
    sums = delay_line("u_sum_configuration.", of_sum, placed + scaled + 1)
    ports = (("offset_i", S32), ("minimum_i", U8), ("maximum_i", U8), ("signed_i", U1))
    outputs = delay_line(
        "u_output_configuration.", [(kind, on(port, kind)) for port, kind in ports], placed + 2 * scaled + 1
    )
    each = [_lane(level, lane, operands, sums, outputs) for lane in range(lanes)]
    registers = all_registers([operands, sums, outputs, *each])
    results = tuple(_result(lane, piece) for lane, piece in enumerate(each))
    return Pipeline(subject("quantized_add", lanes, level), registers, results)


def _factor(of: str) -> list[tuple[Int, Value]]:
    return [(kind, on(f"{of}{port}_i", kind)) for port, kind in (("multiplier", S32), ("shift", a.U5))]


def _operand(name: str, lane: int) -> tuple[Value, Value, Value, Value]:
    return on(f"{name}_i", U8, 8 * lane), _SIGNED, on(f"{name}_offset_i", S32), on("left_shift_i", a.U5)


def _lane(level: int, lane: int, operands: PipelinePiece, sums: PipelinePiece, outputs: PipelinePiece) -> PipelinePiece:
    scaled, within = [], f"gen_lane[{lane}]"
    for name, factor in zip("ab", (operands.results[:2], operands.results[2:]), strict=True):
        placed = place_byte(f"{within}.u_place_{name}.", level == 4, *_operand(name, lane))
        piece = rescale(f"{within}.u_rescale_{name}.", level, *placed.results, *factor)
        scaled.append(PipelinePiece((*placed.registers, *piece.registers), piece.results))
    (of_a,), (of_b,) = (piece.results for piece in scaled)
    total = RegisterUpdate(
        wire="sum_q", kind=S32, following=lambda r: a.added(of_a(r), of_b(r)), fault=_SUM, lsb=32 * lane
    )
    whole = rescale(f"{within}.u_rescale_sum.", level, total.value, *sums.results)
    result = output_stages(f"{within}.u_output_stages.", level >= 3, whole.results[0], outputs.results)
    return PipelinePiece((*all_registers(scaled), total, *whole.registers, *result.registers), result.results)


def _scaled(lane: int, name: str) -> Value:
    operand = _operand(name, lane)
    (_, multiplier), (_, count) = _factor(f"{name}_")
    return lambda r: requantized(a.placed(*(part(r) for part in operand)), multiplier(r), count(r))


def _result(lane: int, piece: PipelinePiece) -> OutputBits:
    of_a, of_b = (_scaled(lane, name) for name in "ab")

    def scaled(r: ReadSignal) -> Lane:
        total = a.added(of_a(r), of_b(r))
        return requantized(total, r("multiplier_i", S32), r("shift_i", a.U5))

    legal = in_order(on("minimum_i", U8), on("maximum_i", U8), _SIGNED)
    return OutputBits("result_o", U8, 8 * lane, piece.results[0], clamped(scaled, _SIGNED), legal)
