"""The models of `requantize.sv` and `quantized_multiplier.sv`."""

from __future__ import annotations

from dataclasses import dataclass

from isa.lane import S32, U1, U8, Lane
from rtl_models.formal import arithmetic as a
from rtl_models.formal.claims import ReadSignal, Value, all_of, on
from rtl_models.formal.theorem import Fault
from rtl_models.formal.units.pieces import bounded_sum, scale_rounded
from rtl_models.formal.units.pipelines import OutputBits, Pipeline, depth_of, in_order, subject
from rtl_models.formal.units.registers import RegisterUpdate, all_registers, delay_line

_SIGNED = on("signed_i", U1)
_EARLY = (
    Fault("requantize.sv", "given_rounding_q   <= rounding_i;", "given_rounding_q <= ~rounding_i;"),
    Fault("requantize.sv", "given_shift_q      <= shift_i;", "given_shift_q <= ~shift_i;"),
)
_LATE = (
    Fault("requantize.sv", "rounding_q   <= rounding;", "rounding_q <= ~rounding;"),
    Fault("requantize.sv", "rounding[1] ? biased[", "rounding[0] ? biased["),
)
_SHIFTED = (
    Fault("quantized_multiplier.sv", "rounding_q   <= rounding_i;", "rounding_q <= ~rounding_i;"),
    Fault("quantized_multiplier.sv", "rounding_i[1] ? value_i[", "rounding_i[0] ? value_i["),
)
"""Of the settings, and of the numbers of the lanes."""


@dataclass(frozen=True)
class _Row:
    """What all lanes of a beat have, and of each lane number, multiplier and both shifts."""

    rounding: Value
    lanes: list[tuple[Value, Value, Value, Value]]


def requantize(lanes: int, level: int) -> Pipeline:
    """The end of a layer, with a multiplier and shifts for each lane; at a level of its depths."""
    placed_first = level == 4
    given = _Row(on("rounding_i", a.U2), [_lane_given(lane) for lane in range(lanes)])
    early, biased = _kept_row("gen_deep.given_", "gen_deep.biased_q", given, _EARLY) if placed_first else ((), given)
    late, row = _kept_row("", "shifted_q", _shifted_row(biased), _LATE)
    ports = (("offset_i", S32), ("minimum_i", U8), ("maximum_i", U8), ("signed_i", U1))
    values = [(kind, on(port, kind)) for port, kind in ports]
    line = delay_line("u_output_configuration.", values, 1 + int(placed_first) + depth_of("scale_rounded", level))
    pieces, results = [line], []
    for lane, (value, multiplier, left, right) in enumerate(row.lanes):
        within = f"gen_lane[{lane}]"
        scaled = scale_rounded(f"{within}.u_scale_rounded.", level, (value, multiplier), (left, right), row.rounding)
        result = bounded_sum(f"{within}.u_bounded_sum.", level >= 3, scaled.results[0], line.results)
        pieces += [scaled, result]
        results.append(_requantized(lane, given, result.results[0]))
    return Pipeline(subject("requantize", lanes, level), (*early, *late, *all_registers(pieces)), tuple(results))


def quantized_multiplier(lanes: int, level: int) -> Pipeline:
    """Numbers times factors of their lanes; at a level of its depths."""
    given = _Row(on("rounding_i", a.U2), [(on("value_i", S32, 32 * n), *_factor(n)) for n in range(lanes)])
    registers, row = _kept_row("", "shifted_q", _shifted_row(given), _SHIFTED)
    pieces, results = [], []
    for lane, (value, multiplier, left, right) in enumerate(row.lanes):
        name, shifts = f"gen_lane[{lane}].u_scale_rounded.", (left, right)
        scaled = scale_rounded(name, level, (value, multiplier), shifts, row.rounding)
        pieces.append(scaled)
        results.append(_multiplied(lane, given, scaled.results[0]))
    return Pipeline(subject("quantized_multiplier", lanes, level), (*registers, *all_registers(pieces)), tuple(results))


def _lane_given(lane: int) -> tuple[Value, Value, Value, Value]:
    accumulator, bias = (on(port, S32, 32 * lane) for port in ("accumulator_i", "bias_i"))
    return lambda r: a.added(accumulator(r), bias(r)), *_factor(lane)


def _factor(lane: int) -> tuple[Value, Value, Value]:
    return on("multiplier_i", S32, 32 * lane), on("left_shift_i", a.U5, 5 * lane), on("shift_i", a.U5, 5 * lane)


def _shifted_row(row: _Row) -> _Row:
    return _Row(row.rounding, [(_shifted(row.rounding, one[0], one[2]), *one[1:]) for one in row.lanes])


def _shifted(rounding: Value, biased: Value, left: Value) -> Value:
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
    scaled = _scaled(lane, given)
    offset, low, high = on("offset_i", S32), on("minimum_i", U8), on("maximum_i", U8)

    def meaning(read: ReadSignal) -> Lane:
        return a.clamped_byte(scaled(read) + offset(read), low(read), high(read), _SIGNED(read))

    def legal(read: ReadSignal) -> Lane:
        return all_of([_defined(given, read), in_order(low, high, _SIGNED)(read)])

    return OutputBits("result_o", U8, 8 * lane, value, meaning, legal)


def _multiplied(lane: int, given: _Row, value: Value) -> OutputBits:
    return OutputBits("result_o", S32, 32 * lane, value, _scaled(lane, given), lambda read: _defined(given, read))


def _scaled(lane: int, given: _Row) -> Value:
    """What a lane's number is times its factor."""
    number, multiplier, left, right = given.lanes[lane]

    def scaled(read: ReadSignal) -> Lane:
        rounding = given.rounding(read)
        before = a.shifted(number(read), left(read), rounding)
        return a.scaled_product(before, multiplier(read), left(read), right(read), rounding)

    return scaled


def _defined(given: _Row, read: ReadSignal) -> Lane:
    """Whether there is such a rounding, and with one alone no left shift of 31."""
    rounding = given.rounding(read)
    lefts = [(left(read) < 31) | (rounding >> 1).equals(0) for _, _, left, _ in given.lanes]
    return all_of([*lefts, rounding < 3])
