"""The parts that units are made of, as registers and what these become: each a model of one file in `lanes/`.

`name` is what stands before the names of the part's signals: "u_rescale.", or nothing for the module itself.
"""

from __future__ import annotations

from collections.abc import Callable

from isa.lane import S32, S64, U1, U8, U16, U32, Int, Lane
from rtl_models.formal import arithmetic as a
from rtl_models.formal.claims import Value
from rtl_models.formal.theorem import Fault
from rtl_models.formal.units.pipelines import depth_of
from rtl_models.formal.units.registers import PipelinePiece, RegisterUpdate, Rewritten, all_registers, delay_line

_TILE = Fault("multiply_tiles.sv", "a_low * b_low", "a_low * b_high")
_SUM = Fault("sum_of_tiles.sv", "{{(Half-1){crossed[Width]}}", "{{(Half-1){1'b0}}")
_HIGH = Fault("rounding_doubling_high.sv", "<< (Width - 2)", "<< (Width - 3)")
_FIX_UP = Fault("rescale.sv", "high[31] & (|shift)", "high[31]")
_SHIFTED = Fault("shift_right_to_halves.sv", ">>> shift_i", ">> shift_i")
_ROUNDED = Fault("round_halves.sv", "halves_i[0]}", "1'b0}")
_PLACED = Fault("output_stages.sv", "value_i + offset_i", "value_i | offset_i")
_UNSIGNED = Fault("scale_rounded.sv", "$signed(value_i) * $signed(multiplier_i)", "$signed(value_i) * multiplier_i")
_WHOLE = Fault("scale_rounded.sv", "whole_q     <= product_q", "whole_q <= ~product_q")
_TIES = Fault("scale_rounded.sv", "(|right) & ~rounding[0]", "(|right)")
_PLACES = Fault("scale_rounded.sv", "(rounding[1] ? {1'b0, left} : 6'd0)", "{1'b0, left}")
_ARITHMETIC = Fault("scale_rounded.sv", "$signed(number) >>> places", "number >> places")
_NEAREST = Fault("shift_rounded.sv", "~(|rounding_i)", "~rounding_i[0]")
_DOWN = Fault("shift_rounded.sv", "shifted[0] & ~down", "shifted[0]")
_EXACT = Fault("bounded_sum.sv", ".b_i        (offset_i)", ".b_i        (~offset_i)")
_BOUNDED = Fault("clamp_to_byte.sv", "$signed(value_i) < minimum", "value_i < minimum")


def multiply_high(name: str, deep: bool, value: Value, multiplier: Value) -> PipelinePiece:
    """`multiply_high.sv`: SQRDMULH, 1 stage or 3."""
    wire = f"{name}result_q"
    if not deep:
        high = RegisterUpdate(wire=wire, kind=S32, following=lambda r: a.sqrdmulh(value(r), multiplier(r)), fault=_HIGH)
        return PipelinePiece((high,), (high.value,))
    tiles = _tiles(f"{name}gen_deep.", value, multiplier)
    of_tiles = [tile.value for tile in tiles]
    whole = Rewritten("product", a.tiled, a.product, (value, multiplier))
    total = RegisterUpdate(
        wire=f"{name}gen_deep.product_q",
        kind=S64,
        following=lambda r: a.sum_of_tiles(*(t(r) for t in of_tiles)),
        fault=_SUM,
        shown=whole,
    )
    rounded = Rewritten("rounded product", a.rounded_product, a.sqrdmulh, (value, multiplier))
    high = RegisterUpdate(
        wire=wire, kind=S32, following=lambda r: a.rounded_high(total.value(r)), fault=_HIGH, shown=rounded
    )
    return PipelinePiece((*tiles, total, high), (high.value,))


def _tiles(name: str, value: Value, multiplier: Value, upper: str = "high_q") -> list[RegisterUpdate]:
    high, low = a.high_half, a.low_half
    return [
        RegisterUpdate(
            wire=f"{name}{upper}", kind=S32, following=lambda r: high(value(r)) * high(multiplier(r)), fault=_TILE
        ),
        RegisterUpdate(
            wire=f"{name}high_low_q", kind=S32, following=lambda r: high(value(r)) * low(multiplier(r)), fault=_TILE
        ),
        RegisterUpdate(
            wire=f"{name}low_high_q", kind=S32, following=lambda r: low(value(r)) * high(multiplier(r)), fault=_TILE
        ),
        RegisterUpdate(
            wire=f"{name}low_q", kind=U32, following=lambda r: low(value(r)) * low(multiplier(r)), fault=_TILE
        ),
    ]


def rescale(name: str, deep: bool, value: Value, multiplier: Value, count: Value) -> PipelinePiece:
    """`rescale.sv`: SQRDMULH, then a division with ties away, 2 stages or 5."""
    product = multiply_high(f"{name}u_multiply_high.", deep, value, multiplier)
    line = delay_line(f"{name}u_shift.", [(a.U5, count)], depth_of("MultiplyHigh", deep))
    (high,), (by,) = product.results, line.results
    if deep:
        divided = _divided_in_steps(name, high, by)
    else:
        result = RegisterUpdate(
            wire=f"{name}result_q", kind=S32, following=lambda r: a.divided(high(r), by(r)), fault=_FIX_UP
        )
        divided = PipelinePiece((result,), (result.value,))
    return PipelinePiece(all_registers([line, product, divided]), divided.results)


def _divided_in_steps(name: str, high: Value, count: Value) -> PipelinePiece:
    fixed = RegisterUpdate(
        wire=f"{name}gen_deep.fixed_q", kind=S32, following=lambda r: a.fixed_up(high(r), count(r)), fault=_FIX_UP
    )
    by = RegisterUpdate(wire=f"{name}gen_deep.shift_q", kind=a.U5, following=count, fault=_FIX_UP)
    halves = RegisterUpdate(
        wire=f"{name}gen_deep.halves_q",
        kind=a.S33,
        following=lambda r: a.in_halves(fixed.value(r), by.value(r)),
        fault=_SHIFTED,
    )
    shown = Rewritten("division in steps", a.divided_in_steps, a.divided, (high, count))
    rounded = RegisterUpdate(
        wire=f"{name}result_q",
        kind=S32,
        following=lambda r: a.rounded_halves(halves.value(r)),
        fault=_ROUNDED,
        shown=shown,
    )
    return PipelinePiece((fixed, by, halves, rounded), (rounded.value,))


def scale_rounded(
    name: str, deep: bool, factors: tuple[Value, Value], shifts: tuple[Value, Value], rounding: Value
) -> PipelinePiece:
    """`scale_rounded.sv`: a product rounded twice or once, 2 stages or 6; shifts to the left and to the right."""
    depth = depth_of("MultiplyHigh", deep) if deep else 1
    kinds = ((a.U5, shifts[0]), (a.U5, shifts[1]), (a.U2, rounding))
    line = delay_line(f"{name}u_configuration.", kinds, depth)
    if not deep:
        total = RegisterUpdate(
            wire=f"{name}product_q", kind=S64, following=lambda r: a.product(*(f(r) for f in factors)), fault=_UNSIGNED
        )
        whole = total.value
        result = RegisterUpdate(
            wire=f"{name}result_q",
            kind=S32,
            following=lambda r: a.scaled_in_steps(whole(r), a.rounded_high(whole(r)), *(v(r) for v in line.results)),
            fault=_TIES,
            shown=Rewritten("scaling in steps", a.scaled_product_in_steps, a.scaled_product, (*factors, *line.results)),
        )
        return PipelinePiece((*line.registers, total, result), (result.value,))
    return _scaled_in_steps(name, factors, line)


def _scaled_in_steps(name: str, factors: tuple[Value, Value], line: PipelinePiece) -> PipelinePiece:
    within, (left, right, rounding) = f"{name}gen_deep.", line.results
    tiles = _tiles(within, *factors, upper="high_tile_q")
    of_tiles = [tile.value for tile in tiles]
    total = RegisterUpdate(
        wire=f"{name}product_q",
        kind=S64,
        following=lambda r: a.sum_of_tiles(*(t(r) for t in of_tiles)),
        fault=_SUM,
        shown=Rewritten("product", a.tiled, a.product, factors),
    )
    whole = RegisterUpdate(wire=f"{within}whole_q", kind=S64, following=total.value, fault=_WHOLE)
    rounded = Rewritten("rounded product", a.rounded_product, a.sqrdmulh, factors)
    high = RegisterUpdate(
        wire=f"{within}high_q", kind=S32, following=lambda r: a.rounded_high(total.value(r)), fault=_HIGH, shown=rounded
    )
    number = RegisterUpdate(
        wire=f"{within}number_q",
        kind=S64,
        following=lambda r: a.number_of(whole.value(r), a.fixed_for(high.value(r), right(r), rounding(r)), rounding(r)),
        fault=_TIES,
    )
    places = RegisterUpdate(
        wire=f"{within}places_q",
        kind=a.U6,
        following=lambda r: a.places_of(left(r), right(r), rounding(r)),
        fault=_PLACES,
    )
    halves = RegisterUpdate(
        wire=f"{within}halves_q",
        kind=a.S33,
        following=lambda r: a.in_halves_of(number.value(r), places.value(r)),
        fault=_ARITHMETIC,
    )
    operands = (whole.value, high.value, left, right, rounding)
    result = RegisterUpdate(
        wire=f"{name}result_q",
        kind=S32,
        following=lambda r: a.rounded_halves(halves.value(r)),
        fault=_ROUNDED,
        shown=Rewritten("scaling in steps", a.scaled_in_steps, a.scaled, operands),
    )
    stages = (*tiles, total, whole, high, number, places, halves, result)
    return PipelinePiece((*line.registers, *stages), (result.value,))


def shift_rounded(name: str, deep: bool, value: Value, count: Value, rounding: Value) -> PipelinePiece:
    """`shift_rounded.sv`: a division with a rounding of three, 1 stage or 3."""
    operands = (value, count, rounding)
    if not deep:
        result = RegisterUpdate(
            wire=f"{name}result_q",
            kind=S32,
            following=lambda r: a.shift_rounded(*(v(r) for v in operands)),
            fault=_NEAREST,
        )
        return PipelinePiece((result,), (result.value,))
    within = f"{name}gen_deep."
    fixed = RegisterUpdate(
        wire=f"{within}fixed_q",
        kind=S32,
        following=lambda r: a.fixed_where_nearest(*(v(r) for v in operands)),
        fault=_NEAREST,
    )
    by = RegisterUpdate(wire=f"{within}shift_q", kind=a.U5, following=count, fault=_NEAREST)
    down = RegisterUpdate(wire=f"{within}down_q", kind=U1, following=lambda r: rounding(r) >> 1, fault=_NEAREST)
    halves = RegisterUpdate(
        wire=f"{within}halves_q",
        kind=a.S33,
        following=lambda r: a.halves_kept(fixed.value(r), by.value(r), down.value(r)),
        fault=_DOWN,
    )
    rounded = RegisterUpdate(
        wire=f"{name}result_q",
        kind=S32,
        following=lambda r: a.rounded_halves(halves.value(r)),
        fault=_ROUNDED,
        shown=Rewritten("division with a rounding in steps", a.shift_rounded_in_steps, a.shift_rounded, operands),
    )
    return PipelinePiece((fixed, by, down, halves, rounded), (rounded.value,))


def bounded_sum(name: str, deep: bool, value: Value, settings: tuple[Value, ...]) -> PipelinePiece:
    """`bounded_sum.sv`: as `output_stages`, of the sum that saturates."""
    return output_stages(name, deep, value, settings, a.saturated_sum, _EXACT)


def output_stages(
    name: str, deep: bool, value: Value, settings: tuple[Value, ...],
    added: Callable[[Lane, Lane], Lane] = a.added, fault: Fault = _PLACED,
) -> PipelinePiece:  # fmt: skip
    """`output_stages.sv`: an offset and bounds, 1 stage or 2; settings offset, minimum, maximum, signed."""
    offset, *bounds = settings
    if not deep:
        return _bounded(name, lambda r: added(value(r), offset(r)), bounds)
    placed = RegisterUpdate(
        wire=f"{name}gen_deep.placed_q", kind=S32, following=lambda r: added(value(r), offset(r)), fault=fault
    )
    names, kinds = ("minimum_q", "maximum_q", "signed_q"), (U8, U8, U1)
    kept = [
        RegisterUpdate(wire=f"{name}gen_deep.{n}", kind=kind, following=v, fault=fault)
        for n, kind, v in zip(names, kinds, bounds, strict=True)
    ]
    result = _bounded(name, placed.value, [register.value for register in kept])
    return PipelinePiece((placed, *kept, *result.registers), result.results)


def _bounded(name: str, value: Value, bounds: list[Value]) -> PipelinePiece:
    result = RegisterUpdate(
        wire=f"{name}result_q",
        kind=U8,
        following=lambda r: a.bounded(value(r), *(b(r) for b in bounds)),
        fault=_BOUNDED,
    )
    return PipelinePiece((result,), (result.value,))


def multiply_low(name: str, deep: bool, x: Value, y: Value) -> PipelinePiece:
    """`multiply_low.sv`: the lower 32 bits of a product, 1 stage or 2."""
    if not deep:
        fault = Fault("multiply_low.sv", "<= a_i * b_i", "<= a_i * ~b_i")
        result = RegisterUpdate(
            wire=f"{name}gen_shallow.result_q", kind=U32, following=lambda r: a.product_low(x(r), y(r)), fault=fault
        )
        return PipelinePiece((result,), (result.value,))
    high, low = a.high_half_unsigned, a.low_half
    products: tuple[tuple[str, Int, Value], ...] = (
        ("low_q", U32, lambda r: low(x(r)) * low(y(r))),
        ("cross_ab_q", U16, lambda r: low(x(r)) * high(y(r))),
        ("cross_ba_q", U16, lambda r: high(x(r)) * low(y(r))),
    )
    fault = Fault("multiply_low.sv", "<= a_low * b_high", "<= a_low * b_low")
    tiles = [
        RegisterUpdate(wire=f"{name}gen_deep.{wire}", kind=kind, following=following, fault=fault)
        for wire, kind, following in products
    ]
    of_tiles = [tile.value for tile in tiles]
    fault = Fault("multiply_low.sv", "{cross_ab_q + cross_ba_q,", "{cross_ab_q - cross_ba_q,")
    shown = Rewritten("low product", a.tiled_low, a.product_low, (x, y))
    result = RegisterUpdate(
        wire=f"{name}gen_deep.result_q",
        kind=U32,
        following=lambda r: a.sum_of_low_tiles(*(t(r) for t in of_tiles)),
        fault=fault,
        shown=shown,
    )
    return PipelinePiece((*tiles, result), (result.value,))
