"""The model of `quantize_down.sv`."""

from __future__ import annotations

from isa.lane import S32, U1, U8
from rtl_models.formal import arithmetic as a
from rtl_models.formal.claims import Value, on
from rtl_models.formal.theorem import Fault
from rtl_models.formal.units.pieces import output_stages, rescale
from rtl_models.formal.units.pipelines import OutputBits, Pipeline, clamped, depth_of, in_order, requantized, subject
from rtl_models.formal.units.registers import PipelinePiece, RegisterUpdate, all_registers, delay_line

_BIASED = Fault("quantize_down.sv", "+ bias_i[", "- bias_i[")
_SIGNED = on("signed_i", U1)
_KEPT = Fault("quantize_down.sv", "multiplier_q <= multiplier_i;", "multiplier_q <= ~multiplier_i;")


def quantize_down(lanes: int, level: int, per_channel: bool = False) -> Pipeline:
    """The unit at a level of its depths, with one multiplier and shift for all lanes, or with one for each."""
    registers, results = parts("", lanes, level, per_channel)
    others = {"PerChannel": 1} if per_channel else {}
    return Pipeline(subject("quantize_down", lanes, level, **others), registers, results)


def parts(
    prefix: str, lanes: int, level: int, per_channel: bool
) -> tuple[tuple[RegisterUpdate, ...], tuple[OutputBits, ...]]:
    """The registers and results of the unit, or of an instance with this prefix.

    Around an instance, what the tables give is on its own ports; the others are those of the unit that it is in.
    """
    factors = [_factor(prefix, lane) for lane in range(lanes if per_channel else 1)]
    ports = (("offset_i", S32), ("minimum_i", U8), ("maximum_i", U8), ("signed_i", U1))
    values = [(kind, on(port, kind)) for port, kind in ports]
    line = delay_line(f"{prefix}u_output_configuration.", values, 1 + depth_of("rescale", level))
    each = []
    for lane in range(lanes):
        biased = RegisterUpdate(
            wire=f"{prefix}biased_q", kind=S32, following=_biased(prefix, lane), fault=_BIASED, lsb=32 * lane
        )
        within = f"{prefix}gen_lane[{lane}]"
        scaled = rescale(f"{within}.u_rescale.", level, biased.value, *factors[lane % len(factors)].results)
        result = output_stages(f"{within}.u_output_stages.", level >= 3, scaled.results[0], line.results)
        each.append(PipelinePiece((biased, *scaled.registers, *result.registers), result.results))
    registers = all_registers([*factors, line, *each])
    results = [_result(prefix, lane, lane % len(factors), piece) for lane, piece in enumerate(each)]
    return registers, tuple(results)


def _factor(prefix: str, lane: int) -> PipelinePiece:
    """The multiplier and the shift that one lane has, or all."""
    multiplier = RegisterUpdate(
        wire=f"{prefix}multiplier_q", kind=S32, following=_multiplier(prefix, lane), fault=_KEPT, lsb=32 * lane
    )
    count = RegisterUpdate(
        wire=f"{prefix}shift_q", kind=a.U5, following=_shift(prefix, lane), fault=_KEPT, lsb=5 * lane
    )
    return PipelinePiece((multiplier, count), (multiplier.value, count.value))


def _multiplier(prefix: str, lane: int) -> Value:
    return on(f"{prefix}multiplier_i", S32, 32 * lane)


def _shift(prefix: str, lane: int) -> Value:
    return on(f"{prefix}shift_i", a.U5, 5 * lane)


def _biased(prefix: str, lane: int) -> Value:
    accumulator, bias = (on(port, S32, 32 * lane) for port in ("accumulator_i", f"{prefix}bias_i"))
    return lambda r: a.added(accumulator(r), bias(r))


def _result(prefix: str, lane: int, factor: int, piece: PipelinePiece) -> OutputBits:
    biased, multiplier, count = _biased(prefix, lane), _multiplier(prefix, factor), _shift(prefix, factor)
    meaning = clamped(lambda r: requantized(biased(r), multiplier(r), count(r)), _SIGNED)
    legal = in_order(on("minimum_i", U8), on("maximum_i", U8), _SIGNED)
    return OutputBits("result_o", U8, 8 * lane, piece.results[0], meaning, legal)
