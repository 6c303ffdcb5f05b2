"""The model of `quantize_down.sv`."""

from __future__ import annotations

from isa.lane import S32, U1, U8
from rtl_models.formal import arithmetic as a
from rtl_models.formal.claims import Value, on
from rtl_models.formal.pieces import output_stages, rescale
from rtl_models.formal.pipelines import Pipeline, Result, clamped, depth_of, in_order, requantized, subject
from rtl_models.formal.registers import Piece, Register, all_registers, delay_line
from rtl_models.formal.theorem import Fault

_BIASED = Fault("quantize_down.sv", "+ bias_i[", "- bias_i[")
_SIGNED = on("signed_i", U1)
_KEPT = Fault("quantize_down.sv", "multiplier_q <= multiplier_i;", "multiplier_q <= ~multiplier_i;")


def quantize_down(lanes: int, deep: bool, per_channel: bool = False) -> Pipeline:
    """The unit, with one multiplier and shift for all lanes, or with one for each."""
    registers, results = parts("", lanes, deep, per_channel)
    others = {"PerChannel": 1} if per_channel else {}
    return Pipeline(subject("quantize_down", lanes, deep, **others), registers, results)


def parts(prefix: str, lanes: int, deep: bool, per_channel: bool) -> tuple[tuple[Register, ...], tuple[Result, ...]]:
    """The registers and results of the unit, or of an instance with this prefix.

    Around an instance, what the tables give is on its own ports; the others are those of the unit that it is in.
    """
    factors = [_factor(prefix, lane) for lane in range(lanes if per_channel else 1)]
    line = _output_configuration(prefix, deep)
    each = [_lane(prefix, deep, lane, factors[lane % len(factors)], line) for lane in range(lanes)]
    registers = all_registers([*factors, line, *each])
    results = [_result(prefix, lane, lane % len(factors), piece) for lane, piece in enumerate(each)]
    return registers, tuple(results)


def _factor(prefix: str, lane: int) -> Piece:
    """The multiplier and the shift that one lane has, or all."""
    multiplier = Register(f"{prefix}multiplier_q", S32, _multiplier(prefix, lane), _KEPT, lsb=32 * lane)
    count = Register(f"{prefix}shift_q", a.U5, _shift(prefix, lane), _KEPT, lsb=5 * lane)
    return Piece((multiplier, count), (multiplier.value, count.value))


def _multiplier(prefix: str, lane: int) -> Value:
    return on(f"{prefix}multiplier_i", S32, 32 * lane)


def _shift(prefix: str, lane: int) -> Value:
    return on(f"{prefix}shift_i", a.U5, 5 * lane)


def _output_configuration(prefix: str, deep: bool) -> Piece:
    ports = (("offset_i", S32), ("minimum_i", U8), ("maximum_i", U8), ("signed_i", U1))
    values = [(kind, on(port, kind)) for port, kind in ports]
    return delay_line(f"{prefix}u_output_configuration.", values, 1 + depth_of("Rescale", deep))


def _biased(prefix: str, lane: int) -> Value:
    accumulator, bias = (on(port, S32, 32 * lane) for port in ("accumulator_i", f"{prefix}bias_i"))
    return lambda r: a.added(accumulator(r), bias(r))


def _lane(prefix: str, deep: bool, lane: int, factor: Piece, line: Piece) -> Piece:
    biased = Register(f"{prefix}biased_q", S32, _biased(prefix, lane), _BIASED, lsb=32 * lane)
    within = f"{prefix}gen_lane[{lane}]"
    scaled = rescale(f"{within}.u_rescale.", deep, biased.value, *factor.results)
    result = output_stages(f"{within}.u_output_stages.", deep, scaled.results[0], line.results)
    return Piece((biased, *scaled.registers, *result.registers), result.results)


def _result(prefix: str, lane: int, factor: int, piece: Piece) -> Result:
    biased, multiplier, count = _biased(prefix, lane), _multiplier(prefix, factor), _shift(prefix, factor)
    meaning = clamped(lambda r: requantized(biased(r), multiplier(r), count(r)), _SIGNED)
    legal = in_order(on("minimum_i", U8), on("maximum_i", U8), _SIGNED)
    return Result("result_o", U8, 8 * lane, piece.results[0], meaning, legal)
