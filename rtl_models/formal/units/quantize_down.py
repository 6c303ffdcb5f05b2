"""The models of `quantize_down.sv` and `requantize.sv`."""

from __future__ import annotations

from dataclasses import dataclass

from isa.lane import S32, U1, U8, Lane
from rtl_models.formal import arithmetic as a
from rtl_models.formal.claims import ReadSignal, Value, all_of, on
from rtl_models.formal.theorem import Fault
from rtl_models.formal.units.pieces import bounded_sum, output_stages, rescale, scale_rounded
from rtl_models.formal.units.pipelines import OutputBits, Pipeline, clamped, depth_of, in_order, requantized, subject
from rtl_models.formal.units.registers import PipelinePiece, RegisterUpdate, all_registers, delay_line

_BIASED = Fault("quantize_down.sv", "+ bias_i[", "- bias_i[")
_SIGNED = on("signed_i", U1)
_KEPT = Fault("quantize_down.sv", "multiplier_q <= multiplier_i;", "multiplier_q <= ~multiplier_i;")
_EARLY = (
    Fault("requantize.sv", "given_rounding_q   <= rounding_i;", "given_rounding_q <= ~rounding_i;"),
    Fault("requantize.sv", "given_shift_q      <= shift_i;", "given_shift_q <= ~shift_i;"),
)
_LATE = (
    Fault("requantize.sv", "rounding_q   <= rounding;", "rounding_q <= ~rounding;"),
    Fault("requantize.sv", "rounding[1] ? biased[", "rounding[0] ? biased["),
)
"""Of the settings, and of the numbers of the lanes."""


def quantize_down(lanes: int, deep: bool, per_channel: bool = False) -> Pipeline:
    """The unit, with one multiplier and shift for all lanes, or with one for each."""
    registers, results = parts("", lanes, deep, per_channel)
    others = {"PerChannel": 1} if per_channel else {}
    return Pipeline(subject("quantize_down", lanes, deep, **others), registers, results)


def parts(
    prefix: str, lanes: int, deep: bool, per_channel: bool
) -> tuple[tuple[RegisterUpdate, ...], tuple[OutputBits, ...]]:
    """The registers and results of the unit, or of an instance with this prefix.

    Around an instance, what the tables give is on its own ports; the others are those of the unit that it is in.
    """
    factors = [_factor(prefix, lane) for lane in range(lanes if per_channel else 1)]
    ports = (("offset_i", S32), ("minimum_i", U8), ("maximum_i", U8), ("signed_i", U1))
    values = [(kind, on(port, kind)) for port, kind in ports]
    line = delay_line(f"{prefix}u_output_configuration.", values, 1 + depth_of("Rescale", deep))
    each = []
    for lane in range(lanes):
        biased = RegisterUpdate(
            wire=f"{prefix}biased_q", kind=S32, following=_biased(prefix, lane), fault=_BIASED, lsb=32 * lane
        )
        within = f"{prefix}gen_lane[{lane}]"
        scaled = rescale(f"{within}.u_rescale.", deep, biased.value, *factors[lane % len(factors)].results)
        result = output_stages(f"{within}.u_output_stages.", deep, scaled.results[0], line.results)
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


@dataclass(frozen=True)
class _Row:
    """What all lanes of a beat of `requantize` have, and of each lane accumulator, multiplier and both shifts."""

    rounding: Value
    lanes: list[tuple[Value, Value, Value, Value]]


def requantize(lanes: int, deep: bool) -> Pipeline:
    """The end of a layer, with a multiplier and shifts for each lane."""
    given = _Row(on("rounding_i", a.U2), [_lane_given(lane) for lane in range(lanes)])
    early, biased = _kept_row("gen_deep.given_", "gen_deep.biased_q", given, _EARLY) if deep else ((), given)
    shifted = _Row(biased.rounding, [(_shifted(biased.rounding, *one), *one[1:]) for one in biased.lanes])
    late, row = _kept_row("", "shifted_q", shifted, _LATE)
    ports = (("offset_i", S32), ("minimum_i", U8), ("maximum_i", U8), ("signed_i", U1))
    values = [(kind, on(port, kind)) for port, kind in ports]
    line = delay_line("u_output_configuration.", values, 1 + int(deep) + depth_of("ScaleRounded", deep))
    pieces, results = [line], []
    for lane, (value, multiplier, left, right) in enumerate(row.lanes):
        within = f"gen_lane[{lane}]"
        scaled = scale_rounded(f"{within}.u_scale_rounded.", deep, (value, multiplier), (left, right), row.rounding)
        result = bounded_sum(f"{within}.u_bounded_sum.", deep, scaled.results[0], line.results)
        pieces += [scaled, result]
        results.append(_requantized(lane, given, result.results[0]))
    return Pipeline(subject("requantize", lanes, deep), (*early, *late, *all_registers(pieces)), tuple(results))


def _lane_given(lane: int) -> tuple[Value, Value, Value, Value]:
    left = on("left_shift_i", a.U5, 5 * lane)
    return _biased("", lane), _multiplier("", lane), left, _shift("", lane)


def _shifted(rounding: Value, biased: Value, multiplier: Value, left: Value, right: Value) -> Value:
    return lambda r: a.shifted(biased(r), left(r), rounding(r))


def _kept_row(
    prefix: str, value: str, row: _Row, faults: tuple[Fault, Fault]
) -> tuple[tuple[RegisterUpdate, ...], _Row]:
    """All of it an edge later, in registers; the numbers are in `value`."""
    settings, numbers = faults
    rounding = RegisterUpdate(wire=f"{prefix}rounding_q", kind=a.U2, following=row.rounding, fault=settings)
    registers, lanes = [rounding], []
    names = ((value, S32), (f"{prefix}multiplier_q", S32), (f"{prefix}left_shift_q", a.U5), (f"{prefix}shift_q", a.U5))
    for lane, one in enumerate(row.lanes):
        kept = [
            RegisterUpdate(wire=wire, kind=kind, following=each, fault=numbers, lsb=kind.bits * lane)
            for (wire, kind), each in zip(names, one, strict=True)
        ]
        registers += kept
        x, multiplier, left, right = (register.value for register in kept)
        lanes.append((x, multiplier, left, right))
    return tuple(registers), _Row(rounding.value, lanes)


def _requantized(lane: int, given: _Row, value: Value) -> OutputBits:
    biased, multiplier, left, right = given.lanes[lane]
    offset, low, high = on("offset_i", S32), on("minimum_i", U8), on("maximum_i", U8)

    def meaning(read: ReadSignal) -> Lane:
        rounding = given.rounding(read)
        before = a.shifted(biased(read), left(read), rounding)
        scaled = a.scaled_product(before, multiplier(read), left(read), right(read), rounding)
        return a.clamped_byte(scaled + offset(read), low(read), high(read), _SIGNED(read))

    def legal(read: ReadSignal) -> Lane:
        lefts = [left(read) < 31 for _, _, left, _ in given.lanes]
        return all_of([*lefts, given.rounding(read) < 3, in_order(low, high, _SIGNED)(read)])

    return OutputBits("result_o", U8, 8 * lane, value, meaning, legal)
