"""The parts that units are made of, as registers and what these become: each a model of one file in `lanes/`.

`name` is what stands before the names of the part's signals: "u_rescale.", or nothing for the module itself.  A part is
deep or not; one that is made of two kinds, of which units make one after the other deep, has a `level`: 0, 1, or all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from isa.lane import S32, S64, U1, U8, U16, U32, Int, Lane
from rtl_models.formal import arithmetic as a
from rtl_models.formal.claims import Value
from rtl_models.formal.theorem import Fault
from rtl_models.formal.units.pipelines import depth_of
from rtl_models.formal.units.registers import PipelinePiece, RegisterUpdate, Rewritten, all_registers, delay_line

_TILE = Fault("multiply_tiles.sv", "a_low * b_low", "a_low * b_high")
_FACTORS = Fault("multiply_high.sv", "value_q       <= value_i;", "value_q <= ~value_i;")
_LOWEST = Fault("multiply_high.sv", "&& multiplier_i == 32'h8000_0000", "")
_PASSED = Fault("multiply_high.sv", "lowest_q      <= both_lowest_q", "lowest_q <= ~both_lowest_q")
_NUDGE = Fault("multiply_high.sv", "{{33{lowest_q}}, 1'b1, 30'b0}", "{33'b0, 1'b1, 30'b0}")
_CROSSED = Fault("multiply_high.sv", "<= $signed(high_low_q) + $signed(low_high_q)", "<= high_low_q + low_high_q")
_OUTER = Fault("multiply_high.sv", "outer_q <= {high_q, low_q}", "outer_q <= {low_q, high_q}")
_SUM = Fault("multiply_high.sv", "{{15{crossed_q[32]}}", "{15'b0")
_UNSIGNED = Fault("multiply_high.sv", "$signed(value_i) * $signed(multiplier_i)", "$signed(value_i) * multiplier_i")
_HIGH = Fault("rounding_doubling_high.sv", "<< (Width - 2)", "<< (Width - 3)")
_COARSE = Fault("rescale.sv", "$signed({high, 1'b0}) >>>", "{high, 1'b0} >>>")
_COARSE_LOST = Fault("rescale.sv", "|({high[22:0], 1'b0} &", "|({1'b0, high[22:0]} &")
_FINE = Fault("rescale.sv", "fine_shift_q  <= shift[2:0]", "fine_shift_q <= shift[4:2]")
_HALVES = Fault("rescale.sv", "$signed(coarse) >>>", "coarse >>>")
_LOST = Fault("rescale.sv", "coarse_lost | (|", "(|")
_AWAY = Fault("rescale.sv", "(lost | ~halves[32])", "lost")
_ROUNDED = Fault("round_halves.sv", "halves_i[0]}", "1'b0}")
_PLACED = Fault("output_stages.sv", "value_i + offset_i", "value_i | offset_i")
_TIES = Fault("scale_rounded.sv", "(|right) & ~rounding[0]", "(|right)")
_PLACES = Fault("scale_rounded.sv", "(rounding[1] ? {1'b0, left} : 6'd0)", "{1'b0, left}")
_ARITHMETIC = Fault("scale_rounded.sv", "$signed(number) >>> places", "number >> places")
_NEAREST = Fault("shift_rounded.sv", "~(|rounding_i)", "~rounding_i[0]")
_DOWN = Fault("shift_rounded.sv", "shifted[0] & ~down", "shifted[0]")
_EXACT = Fault("bounded_sum.sv", ".b_i        (offset_i)", ".b_i        (~offset_i)")
_COMPARED = Fault("clamp_to_byte.sv", "$signed(value_i[8:0]) < $signed(least)", "value_i[8:0] < least")
_EXTENDED = Fault("place_byte.sv", "{{24{signed_i & byte_i[7]}}", "{{24{byte_i[7]}}")
_COUNT = Fault("place_byte.sv", "left_shift_q <= left_shift_i;", "left_shift_q <= ~left_shift_i;")
_SHIFTED = Fault("place_byte.sv", "difference << left_shift;", "{difference[30:0], 1'b0} << left_shift;")
_BOUNDED = Fault("clamp_to_byte.sv", "(below ? minimum : low_byte)", "(below ? low_byte : minimum)")


def multiply_high(name: str, deep: bool, value: Value, multiplier: Value, product: bool = False) -> PipelinePiece:
    """`multiply_high.sv`: SQRDMULH, 1 stage or 4; with the product its results are both."""
    return _multiplied_deep(name, value, multiplier, product) if deep else _multiplied(name, value, multiplier, product)


def _multiplied(name: str, value: Value, multiplier: Value, product: bool) -> PipelinePiece:
    high = RegisterUpdate(
        wire=f"{name}result_q", kind=S32, following=lambda r: a.sqrdmulh(value(r), multiplier(r)), fault=_HIGH
    )
    whole = RegisterUpdate(
        wire=f"{name}gen_product_stage.product_q",
        kind=S64,
        following=lambda r: a.product(value(r), multiplier(r)),
        fault=_UNSIGNED,
    )
    return _with_product(product, [high], whole)


def _multiplied_deep(name: str, value: Value, multiplier: Value, product: bool) -> PipelinePiece:
    within = f"{name}gen_deep."
    factors = [
        RegisterUpdate(wire=f"{within}{wire}", kind=S32, following=following, fault=_FACTORS)
        for wire, following in (("value_q", value), ("multiplier_q", multiplier))
    ]
    tiles = _tiles(within, *(factor.value for factor in factors))
    high_by_high, high_by_low, low_by_high, low_by_low = (tile.value for tile in tiles)
    given = RegisterUpdate(
        wire=f"{within}both_lowest_q",
        kind=U1,
        following=lambda r: a.both_lowest(value(r), multiplier(r)),
        fault=_LOWEST,
    )
    lowest = RegisterUpdate(wire=f"{within}lowest_q", kind=U1, following=given.value, fault=_PASSED)
    nudged = RegisterUpdate(
        wire=f"{within}nudged_q",
        kind=S64,
        following=lambda r: a.outer(high_by_high(r), low_by_low(r)) + a.nudge(lowest.value(r)),
        fault=_NUDGE,
    )
    crossed = RegisterUpdate(
        wire=f"{within}crossed_q",
        kind=a.S33,
        following=lambda r: a.crossed(high_by_low(r), low_by_high(r)),
        fault=_CROSSED,
    )
    high = RegisterUpdate(
        wire=f"{name}result_q",
        kind=S32,
        following=lambda r: a.high_of_sum(nudged.value(r), crossed.value(r)),
        fault=_SUM,
        shown=Rewritten("nudged product", a.nudged_high_tiled, a.sqrdmulh, (value, multiplier)),
    )
    outer = RegisterUpdate(
        wire=f"{within}gen_product.outer_q",
        kind=S64,
        following=lambda r: a.outer(high_by_high(r), low_by_low(r)),
        fault=_OUTER,
    )
    whole = RegisterUpdate(
        wire=f"{name}gen_product_stage.product_q",
        kind=S64,
        following=lambda r: a.sum_of_tiles(outer.value(r), crossed.value(r)),
        fault=_SUM,
        shown=Rewritten("product", a.tiled, a.product, (value, multiplier)),
    )
    stages = [*factors, given, *tiles, lowest, nudged, crossed, *([outer] if product else []), high]
    return _with_product(product, stages, whole)


def _with_product(product: bool, stages: list[RegisterUpdate], whole: RegisterUpdate) -> PipelinePiece:
    """What ends with the high half, with the product beside that or without."""
    if not product:
        return PipelinePiece(tuple(stages), (stages[-1].value,))
    return PipelinePiece((*stages, whole), (stages[-1].value, whole.value))


def _tiles(name: str, value: Value, multiplier: Value) -> list[RegisterUpdate]:
    """High by high, high by low, low by high, low by low."""
    high, low = a.high_half, a.low_half
    return [
        RegisterUpdate(wire=f"{name}{wire}", kind=kind, following=_product(x, value, y, multiplier), fault=_TILE)
        for wire, kind, x, y in (
            ("high_q", S32, high, high),
            ("high_low_q", S32, high, low),
            ("low_high_q", S32, low, high),
            ("low_q", U32, low, low),
        )
    ]


def _product(x: Callable[[Lane], Lane], value: Value, y: Callable[[Lane], Lane], multiplier: Value) -> Value:
    return lambda r: x(value(r)) * y(multiplier(r))


def rescale(name: str, level: int, value: Value, multiplier: Value, count: Value) -> PipelinePiece:
    """`rescale.sv`: SQRDMULH, then a division with ties away, 2 stages, 5 or 7."""
    product = multiply_high(f"{name}u_multiply_high.", level >= 1, value, multiplier)
    line = delay_line(f"{name}u_shift.", [(a.U5, count)], depth_of("multiply_high", level))
    (high,), (by,) = product.results, line.results
    if level >= 2:
        divided = _divided_in_steps(name, high, by)
    else:
        result = RegisterUpdate(
            wire=f"{name}result_q", kind=S32, following=lambda r: a.divided(high(r), by(r)), fault=_AWAY
        )
        divided = PipelinePiece((result,), (result.value,))
    return PipelinePiece(all_registers([line, product, divided]), divided.results)


def _divided_in_steps(name: str, high: Value, count: Value) -> PipelinePiece:
    within = f"{name}gen_deep."
    coarse = RegisterUpdate(
        wire=f"{within}coarse_q",
        kind=a.S33,
        following=lambda r: a.in_halves(high(r), a.coarse_of(count(r))),
        fault=_COARSE,
    )
    coarse_lost = RegisterUpdate(
        wire=f"{within}coarse_lost_q",
        kind=U1,
        following=lambda r: a.lost_below(high(r) << 1, a.coarse_of(count(r))),
        fault=_COARSE_LOST,
    )
    fine = RegisterUpdate(wire=f"{within}fine_shift_q", kind=a.U3, following=lambda r: count(r) & 7, fault=_FINE)
    halves = RegisterUpdate(
        wire=f"{within}halves_q", kind=a.S33, following=lambda r: coarse.value(r) >> fine.value(r), fault=_HALVES
    )
    lost = RegisterUpdate(
        wire=f"{within}lost_q",
        kind=U1,
        following=lambda r: coarse_lost.value(r) | a.lost_below(coarse.value(r), fine.value(r)),
        fault=_LOST,
    )
    result = RegisterUpdate(
        wire=f"{name}result_q",
        kind=S32,
        following=lambda r: a.rounded_away(halves.value(r), lost.value(r)),
        fault=_AWAY,
        shown=Rewritten("division in steps", a.divided_in_steps, a.divided, (high, count)),
    )
    return PipelinePiece((coarse, coarse_lost, fine, halves, lost, result), (result.value,))


def scale_rounded(
    name: str, level: int, factors: tuple[Value, Value], shifts: tuple[Value, Value], rounding: Value
) -> PipelinePiece:
    """`scale_rounded.sv`: a product rounded twice or once, 2 stages, 5 or 7; shifts to the left and to the right."""
    multiplied = multiply_high(f"{name}u_multiply_high.", level >= 1, *factors, product=True)
    kinds = ((a.U5, shifts[0]), (a.U5, shifts[1]), (a.U2, rounding))
    line = delay_line(f"{name}u_configuration.", kinds, depth_of("multiply_high", level))
    (high, whole), (left, right, by) = multiplied.results, line.results
    operands = (whole, high, left, right, by)
    shown = Rewritten("scaling in steps", a.scaled_in_steps, a.scaled, operands)
    if level >= 2:
        scaled = _scaled_deep(name, operands, shown)
    else:
        result = RegisterUpdate(
            wire=f"{name}result_q",
            kind=S32,
            following=lambda r: a.scaled_in_steps(*(v(r) for v in operands)),
            fault=_TIES,
            shown=shown,
        )
        scaled = PipelinePiece((result,), (result.value,))
    return PipelinePiece(all_registers([line, multiplied, scaled]), scaled.results)


def _scaled_deep(name: str, operands: tuple[Value, Value, Value, Value, Value], shown: Rewritten) -> PipelinePiece:
    within, (whole, high, left, right, rounding) = f"{name}gen_deep.", operands
    number = RegisterUpdate(
        wire=f"{within}number_q",
        kind=S64,
        following=lambda r: a.number_of(whole(r), a.fixed_for(high(r), right(r), rounding(r)), rounding(r)),
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
    result = RegisterUpdate(
        wire=f"{name}result_q",
        kind=S32,
        following=lambda r: a.rounded_halves(halves.value(r)),
        fault=_ROUNDED,
        shown=shown,
    )
    return PipelinePiece((number, places, halves, result), (result.value,))


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
        kind=a.S33,
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
    """`output_stages.sv`: an offset and bounds, 1 stage or 3; settings offset, minimum, maximum, signed."""
    offset, *bounds = settings
    clamp = f"{name}u_clamp_to_byte."
    if not deep:
        return clamp_to_byte(clamp, deep, lambda r: added(value(r), offset(r)), bounds)
    placed = RegisterUpdate(
        wire=f"{name}gen_deep.placed_q", kind=S32, following=lambda r: added(value(r), offset(r)), fault=fault
    )
    names, kinds = ("minimum_q", "maximum_q", "signed_q"), (U8, U8, U1)
    kept = [
        RegisterUpdate(wire=f"{name}gen_deep.{n}", kind=kind, following=v, fault=fault)
        for n, kind, v in zip(names, kinds, bounds, strict=True)
    ]
    result = clamp_to_byte(clamp, deep, placed.value, [register.value for register in kept])
    return PipelinePiece((placed, *kept, *result.registers), result.results)


def clamp_to_byte(name: str, deep: bool, value: Value, bounds: Sequence[Value]) -> PipelinePiece:
    """`clamp_to_byte.sv`: 1 stage or 2; bounds minimum, maximum, signed."""
    low, high, is_signed = bounds
    if not deep:
        result = RegisterUpdate(
            wire=f"{name}result_q",
            kind=U8,
            following=lambda r: a.bounded(value(r), *(b(r) for b in bounds)),
            fault=_COMPARED,
        )
        return PipelinePiece((result,), (result.value,))
    compared: tuple[tuple[str, Int, Value], ...] = (
        ("fits_q", U1, lambda r: a.fits_in_9(value(r))),
        ("negative_q", U1, lambda r: value(r) < 0),
        ("over_q", U1, lambda r: a.is_over(value(r), high(r), is_signed(r))),
        ("under_q", U1, lambda r: a.is_under(value(r), low(r), is_signed(r))),
        ("minimum_q", U8, low),
        ("maximum_q", U8, high),
        ("low_byte_q", U8, value),
    )
    kept = [
        RegisterUpdate(wire=f"{name}gen_deep.{wire}", kind=kind, following=following, fault=_COMPARED)
        for wire, kind, following in compared
    ]
    of_stage = [register.value for register in kept]
    result = RegisterUpdate(
        wire=f"{name}result_q",
        kind=U8,
        following=lambda r: a.chosen(*(v(r) for v in of_stage)),
        fault=_BOUNDED,
        shown=Rewritten("bounds in steps", a.bounded_in_steps, a.bounded, (value, *bounds)),
    )
    return PipelinePiece((*kept, result), (result.value,))


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


def place_byte(name: str, deep: bool, byte: Value, is_signed: Value, offset: Value, left: Value) -> PipelinePiece:
    """`place_byte.sv`: an offset added and a shift to the left, 1 stage or 2."""
    result = f"{name}result_q"
    if not deep:
        placed = RegisterUpdate(
            wire=result,
            kind=S32,
            following=lambda r: a.placed(byte(r), is_signed(r), offset(r), left(r)),
            fault=_SHIFTED,
        )
        return PipelinePiece((placed,), (placed.value,))
    difference = RegisterUpdate(
        wire=f"{name}gen_deep.difference_q",
        kind=S32,
        following=lambda r: a.byte_with_offset(byte(r), is_signed(r), offset(r)),
        fault=_EXTENDED,
    )
    count = RegisterUpdate(wire=f"{name}gen_deep.left_shift_q", kind=a.U5, following=left, fault=_COUNT)
    placed = RegisterUpdate(
        wire=result, kind=S32, following=lambda r: a.moved_left(difference.value(r), count.value(r)), fault=_SHIFTED
    )
    return PipelinePiece((difference, count, placed), (placed.value,))
