"""The parts that units are made of, as registers and what these become: each a model of one file in `lanes/`.

`name` is what stands before the names of the part's signals: "u_rescale.", or nothing for the module itself.
"""

from __future__ import annotations

from isa.lane import S32, S64, U1, U8, U16, U32
from rtl_models.formal import arithmetic as a
from rtl_models.formal.claims import Value
from rtl_models.formal.registers import Piece, Register, Rewritten, all_registers, delay_line
from rtl_models.formal.theorem import Fault
from rtl_models.latencies import package_constants

_TILE = Fault("multiply_tiles.sv", "a_low * b_low", "a_low * b_high")
_SUM = Fault("sum_of_tiles.sv", "{{(Half-1){crossed[Width]}}", "{{(Half-1){1'b0}}")
_HIGH = Fault("rounding_doubling_high.sv", "<< (Width - 2)", "<< (Width - 3)")
_FIX_UP = Fault("rescale.sv", "high[31] & (|shift)", "high[31]")
_SHIFTED = Fault("shift_right_to_halves.sv", ">>> shift_i", ">> shift_i")
_ROUNDED = Fault("round_halves.sv", "halves_i[0]}", "1'b0}")
_PLACED = Fault("output_stages.sv", "value_i + offset_i", "value_i | offset_i")
_BOUNDED = Fault("clamp_to_byte.sv", "$signed(value_i) < minimum", "value_i < minimum")


def multiply_high(name: str, deep: bool, value: Value, multiplier: Value) -> Piece:
    """`multiply_high.sv`: SQRDMULH, 1 stage or 3."""
    wire = f"{name}result_q"
    if not deep:
        high = Register(wire, S32, lambda r: a.sqrdmulh(value(r), multiplier(r)), _HIGH)
        return Piece((high,), (high.value,))
    tiles = _tiles(f"{name}gen_deep.", value, multiplier)
    of_tiles = [tile.value for tile in tiles]
    whole = Rewritten("product", a.tiled, a.product, (value, multiplier))
    total = Register(
        f"{name}gen_deep.product_q", S64, lambda r: a.sum_of_tiles(*(t(r) for t in of_tiles)), _SUM, shown=whole
    )
    rounded = Rewritten("rounded product", a.rounded_product, a.sqrdmulh, (value, multiplier))
    high = Register(wire, S32, lambda r: a.rounded_high(total.value(r)), _HIGH, shown=rounded)
    return Piece((*tiles, total, high), (high.value,))


def _tiles(name: str, value: Value, multiplier: Value) -> list[Register]:
    high, low = a.high_half, a.low_half
    return [
        Register(f"{name}high_q", S32, lambda r: high(value(r)) * high(multiplier(r)), _TILE),
        Register(f"{name}high_low_q", S32, lambda r: high(value(r)) * low(multiplier(r)), _TILE),
        Register(f"{name}low_high_q", S32, lambda r: low(value(r)) * high(multiplier(r)), _TILE),
        Register(f"{name}low_q", U32, lambda r: low(value(r)) * low(multiplier(r)), _TILE),
    ]


def rescale(name: str, deep: bool, value: Value, multiplier: Value, count: Value) -> Piece:
    """`rescale.sv`: SQRDMULH, then a division with ties away, 2 stages or 5."""
    product = multiply_high(f"{name}u_multiply_high.", deep, value, multiplier)
    depth = package_constants()["MultiplyHighDeep" if deep else "MultiplyHighShallow"]
    line = delay_line(f"{name}u_shift.", [(a.U5, count)], depth)
    divided = (_divided_in_steps if deep else _divided)(name, product.results[0], line.results[0])
    return Piece(all_registers([line, product, divided]), divided.results)


def _divided(name: str, high: Value, count: Value) -> Piece:
    result = Register(f"{name}result_q", S32, lambda r: a.divided(high(r), count(r)), _FIX_UP)
    return Piece((result,), (result.value,))


def _divided_in_steps(name: str, high: Value, count: Value) -> Piece:
    fixed = Register(f"{name}gen_deep.fixed_q", S32, lambda r: a.fixed_up(high(r), count(r)), _FIX_UP)
    by = Register(f"{name}gen_deep.shift_q", a.U5, count, _FIX_UP)
    halves = Register(f"{name}gen_deep.halves_q", a.S33, lambda r: a.in_halves(fixed.value(r), by.value(r)), _SHIFTED)
    shown = Rewritten("division in steps", a.divided_in_steps, a.divided, (high, count))
    rounded = Register(f"{name}result_q", S32, lambda r: a.rounded_halves(halves.value(r)), _ROUNDED, shown=shown)
    return Piece((fixed, by, halves, rounded), (rounded.value,))


def output_stages(name: str, deep: bool, value: Value, settings: tuple[Value, ...]) -> Piece:
    """`output_stages.sv`: an offset and bounds, 1 stage or 2; settings offset, minimum, maximum, signed."""
    offset, *bounds = settings
    if not deep:
        return _bounded(name, lambda r: a.added(value(r), offset(r)), bounds)
    placed = Register(f"{name}gen_deep.placed_q", S32, lambda r: a.added(value(r), offset(r)), _PLACED)
    names, kinds = ("minimum_q", "maximum_q", "signed_q"), (U8, U8, U1)
    kept = [Register(f"{name}gen_deep.{n}", kind, v, _PLACED) for n, kind, v in zip(names, kinds, bounds, strict=True)]
    result = _bounded(name, placed.value, [register.value for register in kept])
    return Piece((placed, *kept, *result.registers), result.results)


def _bounded(name: str, value: Value, bounds: list[Value]) -> Piece:
    result = Register(f"{name}result_q", U8, lambda r: a.bounded(value(r), *(b(r) for b in bounds)), _BOUNDED)
    return Piece((result,), (result.value,))


def multiply_low(name: str, deep: bool, x: Value, y: Value) -> Piece:
    """`multiply_low.sv`: the lower 32 bits of a product, 1 stage or 2."""
    if not deep:
        fault = Fault("multiply_low.sv", "<= a_i * b_i", "<= a_i * ~b_i")
        result = Register(f"{name}gen_shallow.result_q", U32, lambda r: a.product_low(x(r), y(r)), fault)
        return Piece((result,), (result.value,))
    tiles = _low_tiles(f"{name}gen_deep.", x, y)
    of_tiles = [tile.value for tile in tiles]
    fault = Fault("multiply_low.sv", "{cross_ab_q + cross_ba_q,", "{cross_ab_q - cross_ba_q,")
    shown = Rewritten("low product", a.tiled_low, a.product_low, (x, y))
    result = Register(
        f"{name}gen_deep.result_q", U32, lambda r: a.sum_of_low_tiles(*(t(r) for t in of_tiles)), fault, shown=shown
    )
    return Piece((*tiles, result), (result.value,))


def _low_tiles(name: str, x: Value, y: Value) -> list[Register]:
    fault = Fault("multiply_low.sv", "<= a_low * b_high", "<= a_low * b_low")
    high, low = a.high_half_unsigned, a.low_half
    return [
        Register(f"{name}low_q", U32, lambda r: low(x(r)) * low(y(r)), fault),
        Register(f"{name}cross_ab_q", U16, lambda r: low(x(r)) * high(y(r)), fault),
        Register(f"{name}cross_ba_q", U16, lambda r: high(x(r)) * low(y(r)), fault),
    ]
