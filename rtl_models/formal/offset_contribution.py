"""The model of `offset_contribution.sv`."""

from __future__ import annotations

from isa.lane import U32, Lane, constant
from isa.semantics import arithmetic
from rtl_models.formal.claims import Read, Value, on
from rtl_models.formal.pieces import multiply_low
from rtl_models.formal.pipelines import Pipeline, Result, subject
from rtl_models.formal.registers import Piece, Register, all_registers
from rtl_models.formal.theorem import Fault

_BIASED = Fault("offset_contribution.sv", "<= product + bias;", "<= product - bias;")
_KEPT = Fault("offset_contribution.sv", "constant_q <= constant_i", "constant_q <= ~constant_i")


def offset_contribution(lanes: int, deep: bool) -> Pipeline:
    """The unit."""
    row = multiply_low("u_row_term.", deep, on("row_sum_i", U32), on("b_offset_i", U32))
    constants = Register("constant_q", U32, on("constant_i", U32), _KEPT)
    each = [_lane(deep, lane, row.results[0], constants.value) for lane in range(lanes)]
    registers = (*row.registers, constants, *all_registers(each))
    results = tuple(
        Result("result_o", U32, 32 * lane, piece.results[0], _meaning(lane), lambda _: constant(1))
        for lane, piece in enumerate(each)
    )
    return Pipeline(subject("offset_contribution", lanes, deep), registers, results)


def add(x: Value, y: Value) -> Value:
    """ADD of 32 bits."""
    return lambda r: arithmetic.add(U32, x(r), y(r))


def _lane(deep: bool, lane: int, row: Value, constants: Value) -> Piece:
    name = f"gen_lanes[{lane}]"
    sums, offset = on("column_sums_i", U32, 32 * lane), on("a_offset_i", U32)
    column = multiply_low(f"{name}.u_column_term.", deep, sums, offset)
    products, bias = on("product_i", U32, 32 * lane), on("bias_i", U32, 32 * lane)
    biased = Register(f"{name}.biased_q", U32, add(products, bias), _BIASED)
    total = (_deep if deep else _shallow)(name, column.results[0], row, biased.value, constants)
    return Piece((*column.registers, biased, *total.registers), total.results)


def _shallow(name: str, column: Value, row: Value, biased: Value, constants: Value) -> Piece:
    fault = Fault("offset_contribution.sv", "(biased_q + constant_q)", "(biased_q - constant_q)")
    total = Register(f"{name}.result_q", U32, add(add(column, row), add(biased, constants)), fault)
    return Piece((total,), (total.value,))


def _deep(name: str, column: Value, row: Value, biased: Value, constants: Value) -> Piece:
    early = Fault("offset_contribution.sv", "<= biased_q + constant_q;", "<= biased_q - constant_q;")
    late = Fault("offset_contribution.sv", "terms_q + rest3_q", "terms_q - rest3_q")
    terms_wrong = Fault(
        "offset_contribution.sv", "terms_q  <= column_term + row_term", "terms_q <= column_term - row_term"
    )
    rest2 = Register(f"{name}.gen_deep.rest2_q", U32, add(biased, constants), early)
    rest3 = Register(f"{name}.gen_deep.rest3_q", U32, rest2.value, terms_wrong)
    terms = Register(f"{name}.gen_deep.terms_q", U32, add(column, row), terms_wrong)
    total = Register(f"{name}.result_q", U32, add(terms.value, rest3.value), late)
    return Piece((rest2, rest3, terms, total), (total.value,))


def _meaning(lane: int) -> Value:
    """All of it modulo 2^32, at once."""

    def exact(r: Read) -> Lane:
        column = r("column_sums_i", U32, 32 * lane) * r("a_offset_i", U32)
        row = r("row_sum_i", U32) * r("b_offset_i", U32)
        rest = r("product_i", U32, 32 * lane) + r("bias_i", U32, 32 * lane) + r("constant_i", U32)
        return U32.wrap(column + row + rest)

    return exact
