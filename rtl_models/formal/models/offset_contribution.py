"""The model of `offset_contribution.sv`."""

from __future__ import annotations

from isa.lane import U32, Lane, constant
from isa.semantics import arithmetic
from rtl_models.formal.claims import ReadSignal, Value, on
from rtl_models.formal.theorem import Fault
from rtl_models.formal.units.pieces import multiply_low
from rtl_models.formal.units.pipelines import OutputBits, Pipeline, subject
from rtl_models.formal.units.registers import PipelinePiece, RegisterUpdate, all_registers

_BIASED = Fault("offset_contribution.sv", "<= product + bias;", "<= product - bias;")
_KEPT = Fault("offset_contribution.sv", "constant_q <= constant_i", "constant_q <= ~constant_i")

_REST = Fault("offset_contribution.sv", "biased_q + constant_q", "biased_q - constant_q")
_SUM = Fault("offset_contribution.sv", "row_term) + rest;", "row_term) - rest;")
_TERMS = Fault("offset_contribution.sv", "<= column_term + row_term", "<= column_term - row_term")
_LAST = Fault("offset_contribution.sv", "terms_q + rest3_q", "terms_q - rest3_q")


def offset_contribution(lanes: int, level: int) -> Pipeline:
    """The unit at a level of its depths."""
    row = multiply_low("u_row_term.", level >= 1, on("row_sum_i", U32), on("b_offset_i", U32))
    constants = RegisterUpdate(wire="constant_q", kind=U32, following=on("constant_i", U32), fault=_KEPT)
    each = []
    for lane in range(lanes):
        name = f"gen_lanes[{lane}]"
        sums, offset = on("column_sums_i", U32, 32 * lane), on("a_offset_i", U32)
        column = multiply_low(f"{name}.u_column_term.", level >= 1, sums, offset)
        products, bias = on("product_i", U32, 32 * lane), on("bias_i", U32, 32 * lane)
        biased = RegisterUpdate(wire=f"{name}.biased_q", kind=U32, following=add(products, bias), fault=_BIASED)
        total = _total(name, level, column.results[0], row.results[0], biased.value, constants.value)
        each.append(PipelinePiece((*column.registers, biased, *total.registers), total.results))
    registers = (*row.registers, constants, *all_registers(each))
    results = tuple(
        OutputBits("result_o", U32, 32 * lane, piece.results[0], _meaning(lane), lambda _: constant(1))
        for lane, piece in enumerate(each)
    )
    return Pipeline(subject("offset_contribution", lanes, level), registers, results)


def add(x: Value, y: Value) -> Value:
    """ADD of 32 bits."""
    return lambda r: arithmetic.add(U32, x(r), y(r))


def _total(name: str, level: int, column: Value, row: Value, biased: Value, constants: Value) -> PipelinePiece:
    """The sum of all terms in 1 stage, behind a register of the constant's where products take two; or in 2 stages."""
    rest, kept = add(biased, constants), list[RegisterUpdate]()
    if level >= 1:
        kept.append(RegisterUpdate(wire=f"{name}.gen_rest.rest_q", kind=U32, following=rest, fault=_REST))
        rest = kept[0].value
    if level < 2:
        total = RegisterUpdate(
            wire=f"{name}.result_q", kind=U32, following=add(add(column, row), rest), fault=_SUM if level else _REST
        )
        return PipelinePiece((*kept, total), (total.value,))
    terms = RegisterUpdate(wire=f"{name}.gen_deep.terms_q", kind=U32, following=add(column, row), fault=_TERMS)
    rest3 = RegisterUpdate(wire=f"{name}.gen_deep.rest3_q", kind=U32, following=rest, fault=_TERMS)
    total = RegisterUpdate(wire=f"{name}.result_q", kind=U32, following=add(terms.value, rest3.value), fault=_LAST)
    return PipelinePiece((*kept, rest3, terms, total), (total.value,))


def _meaning(lane: int) -> Value:
    """All of it modulo 2^32, at once."""

    def exact(r: ReadSignal) -> Lane:
        column = r("column_sums_i", U32, 32 * lane) * r("a_offset_i", U32)
        row = r("row_sum_i", U32) * r("b_offset_i", U32)
        rest = r("product_i", U32, 32 * lane) + r("bias_i", U32, 32 * lane) + r("constant_i", U32)
        return U32.wrap(column + row + rest)

    return exact
