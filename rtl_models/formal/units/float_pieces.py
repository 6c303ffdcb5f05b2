"""The parts of `quantized_add_float.sv`, as registers and what these become; `name` as in `pieces`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from isa.lane import U1, U8, U32, Int, Lane, constant, select
from rtl_models.formal import floats
from rtl_models.formal.claims import Value
from rtl_models.formal.theorem import Fault
from rtl_models.formal.units.pipelines import depth_of
from rtl_models.formal.units.registers import PipelinePiece, RegisterUpdate, all_registers, delay_line

_FMLA = "fmla_byte.sv"
_PRODUCT = Fault(_FMLA, "byte_i * {|factor_field,", "byte_i * {1'b1,")
_ADDEND = Fault(_FMLA, "addend_d  = {|field,", "addend_d  = {1'b1,")
_GAP = Fault(_FMLA, "+ 10'sd34", "+ 10'sd33")
_FLAGS = Fault(_FMLA, "&field & ~&factor_field ? sign", "&field & &factor_field ? sign")
_SUM = Fault(_FMLA, "(Window+1)'(flags[0])", "(Window+1)'(1'b0)")
_MOVED = Fault(_FMLA, "spare_of[k+1] >= 10'(1 << k)", "spare_of[k+1] > 10'(1 << k)")
_BELOW = Fault(_FMLA, "is_below_q   <= sum_q[Window]", "is_below_q   <= ~sum_q[Window]")
_KEPT = Fault(_FMLA, "of_sum_q <= {room, flags}", "of_sum_q <= {room, ~flags}")
_KEPT_LAST = Fault(_FMLA, "flags_q      <= flags_of_sum", "flags_q      <= ~flags_of_sum")
_ROUNDED = Fault(_FMLA, "(normalised[60] | (|normalised[58:0]))", "(normalised[60] & (|normalised[58:0]))")

_PARTS: Final[tuple[Callable[..., Lane], ...]] = (
    lambda _, byte, factor: floats.product(byte, factor),
    lambda accumulator, *_: floats.significand(accumulator),
    floats.gap,
    floats.room,
    floats.flags,
)
"""Of an accumulator, a byte and a factor what their sum is made of."""
_OF_PRODUCT: Final[tuple[tuple[str, Int, int | None, Fault], ...]] = (
    ("product_q", U32, None, _PRODUCT),
    ("addend_q", floats.U24, None, _ADDEND),
    ("gap_q", floats.U9, None, _GAP),
    ("of_product_q", floats.U10, 4, _GAP),
    ("of_product_q", floats.U4, 0, _FLAGS),
)
"""The registers of these: wire, type, lowest bit, fault."""
_OF_NORMALISED: Final[tuple[tuple[str, Int, Fault], ...]] = (
    ("normalised_q", floats.WINDOW, _MOVED),
    ("spare_q", floats.U10, _MOVED),
    ("is_below_q", U1, _BELOW),
    ("flags_q", floats.U4, _KEPT_LAST),
)
"""Those of the sum moved to the top: wire, type, fault."""


def fmla_byte(name: str, deep: bool, accumulator: Value, byte: Value, factor: Value) -> PipelinePiece:
    """`fmla_byte.sv`: 2 stages or 4."""

    def of(function: Callable[..., Lane]) -> Value:
        return lambda r: function(accumulator(r), byte(r), factor(r))

    first, within = [of(part) for part in _PARTS], f"{name}gen_deep."
    before: list[RegisterUpdate] = []
    if deep:
        before = [
            RegisterUpdate(wire=f"{within}{wire}", kind=kind, following=following, fault=fault, lsb=lsb)
            for following, (wire, kind, lsb, fault) in zip(first, _OF_PRODUCT, strict=True)
        ]
        first = [register.value for register in before]
    product, addend, gap, room, flags = first
    total = RegisterUpdate(
        wire=f"{name}sum_q",
        kind=floats.SUM,
        following=lambda r: floats.total(product(r), addend(r), gap(r), U1.field(flags(r), 0)),
        fault=_SUM,
    )
    of_sum = f"{name}of_sum_q"
    room_of_sum = RegisterUpdate(wire=of_sum, kind=floats.U10, following=room, fault=_KEPT, lsb=4)
    flags_of_sum = RegisterUpdate(wire=of_sum, kind=floats.U4, following=flags, fault=_KEPT, lsb=0)
    end: list[Value] = [
        _moved(total.value, room_of_sum.value, 0),
        _moved(total.value, room_of_sum.value, 1),
        lambda r: total.value(r) < 0,
        flags_of_sum.value,
    ]
    after: list[RegisterUpdate] = []
    if deep:
        after = [
            RegisterUpdate(wire=f"{within}{wire}", kind=kind, following=following, fault=fault)
            for following, (wire, kind, fault) in zip(end, _OF_NORMALISED, strict=True)
        ]
        end = [register.value for register in after]
    normalised, spare, below, last = end
    result = RegisterUpdate(
        wire=f"{name}result_q",
        kind=U32,
        following=lambda r: floats.rounded(normalised(r), spare(r), below(r), last(r)),
        fault=_ROUNDED,
    )
    return PipelinePiece((*before, room_of_sum, flags_of_sum, total, *after, result), (result.value,))


def _moved(number: Value, room: Value, part: int) -> Value:
    return lambda r: floats.moved(number(r), room(r))[part]


def add_scaled_byte(
    name: str, deep: bool, accumulator: Value, byte: Value, factor: Value, unfused: Value
) -> PipelinePiece:
    """`add_scaled_byte.sv`: a product, rounded or not, added."""
    product = fmla_byte(f"{name}u_product.", deep, lambda _: constant(floats.MINUS_ZERO), byte, factor)
    operands: list[tuple[Int, Value]] = [(U32, accumulator), (U8, byte), (U32, factor), (U1, unfused)]
    line = delay_line(f"{name}u_operands.", operands, depth_of("FmlaByte", deep))
    (scaled,), (addend, number, by, alone) = product.results, line.results
    whole = fmla_byte(
        f"{name}u_sum.",
        deep,
        addend,
        lambda r: select(alone(r), 1, number(r)),
        lambda r: select(alone(r), scaled(r), by(r)),
    )
    return PipelinePiece(all_registers([product, line, whole]), whole.results)
