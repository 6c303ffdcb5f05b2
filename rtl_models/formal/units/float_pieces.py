"""The parts of `quantized_add_float.sv`, as registers and what these become; `name` as in `pieces`."""

from __future__ import annotations

from collections.abc import Callable

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
_BELOW = Fault(_FMLA, "is_below_q   <= sum[Window]", "is_below_q   <= ~sum[Window]")
_KEPT = Fault(_FMLA, "of_sum_q     <= {room, flags}", "of_sum_q     <= {room, ~flags}")
_KEPT_LAST = Fault(_FMLA, "flags_q      <= flags_of_sum", "flags_q      <= ~flags_of_sum")
_ROUNDED = Fault(_FMLA, "(normalised[60] | (|normalised[58:0]))", "(normalised[60] & (|normalised[58:0]))")


def fmla_byte(name: str, deep: bool, accumulator: Value, byte: Value, factor: Value) -> PipelinePiece:
    """`fmla_byte.sv`: 1 stage or 4."""

    def of(function: Callable[..., Lane]) -> Value:
        return lambda r: function(accumulator(r), byte(r), factor(r))

    if not deep:
        result = RegisterUpdate(wire=f"{name}result_q", kind=U32, following=of(floats.multiply_add), fault=_ROUNDED)
        return PipelinePiece((result,), (result.value,))
    within = f"{name}gen_deep."
    product = RegisterUpdate(
        wire=f"{within}product_q",
        kind=U32,
        following=lambda r: floats.product(byte(r), factor(r)),
        fault=_PRODUCT,
    )
    addend = RegisterUpdate(
        wire=f"{within}addend_q",
        kind=floats.U24,
        following=lambda r: floats.significand(accumulator(r)),
        fault=_ADDEND,
    )
    gap = RegisterUpdate(wire=f"{within}gap_q", kind=floats.U9, following=of(floats.gap), fault=_GAP)
    room = RegisterUpdate(wire=f"{within}of_product_q", kind=floats.U10, following=of(floats.room), fault=_GAP, lsb=4)
    flags = RegisterUpdate(
        wire=f"{within}of_product_q", kind=floats.U4, following=of(floats.flags), fault=_FLAGS, lsb=0
    )
    total = RegisterUpdate(
        wire=f"{within}sum_q",
        kind=floats.SUM,
        following=lambda r: floats.total(product.value(r), addend.value(r), gap.value(r), U1.field(flags.value(r), 0)),
        fault=_SUM,
    )
    room_of_sum = RegisterUpdate(wire=f"{within}of_sum_q", kind=floats.U10, following=room.value, fault=_KEPT, lsb=4)
    flags_of_sum = RegisterUpdate(wire=f"{within}of_sum_q", kind=floats.U4, following=flags.value, fault=_KEPT, lsb=0)
    normalised, spare = (
        RegisterUpdate(
            wire=f"{within}{wire}", kind=kind, following=_moved(total.value, room_of_sum.value, part), fault=_MOVED
        )
        for part, (wire, kind) in enumerate((("normalised_q", floats.WINDOW), ("spare_q", floats.U10)))
    )
    below = RegisterUpdate(wire=f"{within}is_below_q", kind=U1, following=lambda r: total.value(r) < 0, fault=_BELOW)
    last_flags = RegisterUpdate(wire=f"{within}flags_q", kind=floats.U4, following=flags_of_sum.value, fault=_KEPT_LAST)
    end = (normalised.value, spare.value, below.value, last_flags.value)
    result = RegisterUpdate(
        wire=f"{name}result_q", kind=U32, following=lambda r: floats.rounded(*(v(r) for v in end)), fault=_ROUNDED
    )
    registers = (
        product, addend, gap, room, flags, room_of_sum, flags_of_sum, total, normalised, spare, below, last_flags,
        result,
    )  # fmt: skip
    return PipelinePiece(registers, (result.value,))


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
