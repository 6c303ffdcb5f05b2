"""The model of `quantized_add.sv`."""

from __future__ import annotations

from isa.lane import S32, U1, U8, Lane
from rtl_models.formal import arithmetic as a
from rtl_models.formal.claims import ReadSignal, Value, on
from rtl_models.formal.theorem import Fault
from rtl_models.formal.units.pieces import output_stages, rescale
from rtl_models.formal.units.pipelines import OutputBits, Pipeline, clamped, depth_of, in_order, requantized, subject
from rtl_models.formal.units.registers import PipelinePiece, RegisterUpdate, all_registers, delay_line

_PLACED = Fault("place_byte.sv", "{{24{signed_i & byte_i[7]}}", "{{24{byte_i[7]}}")
_SUM = Fault("quantized_add.sv", "a_scaled + b_scaled", "a_scaled - b_scaled")
_SIGNED = on("signed_i", U1)


def quantized_add(lanes: int, level: int) -> Pipeline:
    """The unit at a level of its depths."""
    factors = {}
    for name in "ab":
        wire, count_wire = f"{name}_multiplier", f"{name}_shift"
        multiplier = RegisterUpdate(wire=f"{wire}_q", kind=S32, following=on(f"{wire}_i", S32), fault=_PLACED)
        count = RegisterUpdate(wire=f"{count_wire}_q", kind=a.U5, following=on(f"{count_wire}_i", a.U5), fault=_PLACED)
        factors[name] = PipelinePiece((multiplier, count), (multiplier.value, count.value))
    depth = depth_of("rescale", level)
    factor_of_sum = [(S32, on("multiplier_i", S32)), (a.U5, on("shift_i", a.U5))]
    sums = delay_line("u_sum_configuration.", factor_of_sum, 2 + depth)
    ports = (("offset_i", S32), ("minimum_i", U8), ("maximum_i", U8), ("signed_i", U1))
    outputs = delay_line("u_output_configuration.", [(kind, on(port, kind)) for port, kind in ports], 2 + 2 * depth)
    each = [_lane(level, lane, factors, sums, outputs) for lane in range(lanes)]
    registers = all_registers([*factors.values(), sums, outputs, *each])
    results = tuple(_result(lane, piece) for lane, piece in enumerate(each))
    return Pipeline(subject("quantized_add", lanes, level), registers, results)


def _placed(name: str, lane: int) -> Value:
    byte, offset, left = on(f"{name}_i", U8, 8 * lane), on(f"{name}_offset_i", S32), on("left_shift_i", a.U5)
    return lambda r: a.placed(byte(r), _SIGNED(r), offset(r), left(r))


def _lane(
    level: int, lane: int, factors: dict[str, PipelinePiece], sums: PipelinePiece, outputs: PipelinePiece
) -> PipelinePiece:
    scaled = []
    for name in "ab":
        placed = RegisterUpdate(
            wire=f"{name}_placed_q", kind=S32, following=_placed(name, lane), fault=_PLACED, lsb=32 * lane
        )
        piece = rescale(f"gen_lane[{lane}].u_rescale_{name}.", level, placed.value, *factors[name].results)
        scaled.append(PipelinePiece((placed, *piece.registers), piece.results))
    (of_a,), (of_b,) = (piece.results for piece in scaled)
    total = RegisterUpdate(
        wire="sum_q", kind=S32, following=lambda r: a.added(of_a(r), of_b(r)), fault=_SUM, lsb=32 * lane
    )
    whole = rescale(f"gen_lane[{lane}].u_rescale_sum.", level, total.value, *sums.results)
    result = output_stages(f"gen_lane[{lane}].u_output_stages.", level >= 3, whole.results[0], outputs.results)
    return PipelinePiece((*all_registers(scaled), total, *whole.registers, *result.registers), result.results)


def _scaled(lane: int, name: str) -> Value:
    placed, multiplier = _placed(name, lane), on(f"{name}_multiplier_i", S32)
    count = on(f"{name}_shift_i", a.U5)
    return lambda r: requantized(placed(r), multiplier(r), count(r))


def _result(lane: int, piece: PipelinePiece) -> OutputBits:
    of_a, of_b = (_scaled(lane, name) for name in "ab")

    def scaled(r: ReadSignal) -> Lane:
        total = a.added(of_a(r), of_b(r))
        return requantized(total, r("multiplier_i", S32), r("shift_i", a.U5))

    legal = in_order(on("minimum_i", U8), on("maximum_i", U8), _SIGNED)
    return OutputBits("result_o", U8, 8 * lane, piece.results[0], clamped(scaled, _SIGNED), legal)
