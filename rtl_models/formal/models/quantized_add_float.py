"""The model of `quantized_add_float.sv`."""

from __future__ import annotations

from isa.lane import U1, U8, U32, Int, Lane, constant
from rtl_models.formal import arithmetic as a
from rtl_models.formal import floats
from rtl_models.formal.claims import ReadSignal, Value, on
from rtl_models.formal.units.float_pieces import add_scaled_byte, float_to_byte
from rtl_models.formal.units.pipelines import OutputBits, Pipeline, depth_of, subject
from rtl_models.formal.units.registers import PipelinePiece, all_registers, delay_line

_AWAY = on("rounding_i", a.U2)
_UNFUSED = on("unfused_i", U1)


def quantized_add_float(lanes: int, level: int) -> Pipeline:
    """The unit at a level of its depths."""
    deep, depth = level == 1, depth_of("add_scaled_byte", level)
    seconds: list[tuple[Int, Value]] = [(U8, on("b_i", U8, 8 * lane)) for lane in reversed(range(lanes))]
    seconds += [(U32, on("b_multiplier_i", U32)), (U1, _UNFUSED)]
    line = delay_line("u_second_operands.", seconds, depth)
    *bytes_of_b, factor, unfused = line.results
    outputs = delay_line("u_output_configuration.", [(U1, lambda r: _AWAY(r).equals(1))], 2 * depth)
    each = []
    for lane, byte in enumerate(reversed(bytes_of_b)):
        name, first_byte = f"gen_lane[{lane}].", on("a_i", U8, 8 * lane)
        by = on("a_multiplier_i", U32)
        first = add_scaled_byte(f"{name}u_add_a.", deep, on("constant_i", U32), first_byte, by, _UNFUSED)
        whole = add_scaled_byte(f"{name}u_add_b.", deep, first.results[0], byte, factor, unfused)
        result = float_to_byte(f"{name}u_float_to_byte.", deep, whole.results[0], outputs.results[0])
        each.append(PipelinePiece(all_registers([first, whole, result]), result.results))
    results = tuple(_result(lane, piece) for lane, piece in enumerate(each))
    return Pipeline(subject("quantized_add_float", lanes, level), all_registers([line, outputs, *each]), results)


def _result(lane: int, piece: PipelinePiece) -> OutputBits:
    def meaning(read: ReadSignal) -> Lane:
        number = read("constant_i", U32)
        for name in "ab":
            byte, factor = read(f"{name}_i", U8, 8 * lane), read(f"{name}_multiplier_i", U32)
            number = floats.add_scaled(number, byte, factor, _UNFUSED(read))
        return floats.to_byte(number, _AWAY(read).equals(1))

    return OutputBits("result_o", U8, 8 * lane, piece.results[0], meaning, lambda _: constant(1))
