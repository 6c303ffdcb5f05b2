"""AdvSIMD integer multiplication and dot products (Arm ARM C7.2)."""

from __future__ import annotations

from isa.rows.arrangements import BHS, BYTES, HS
from isa.semantics import multiply
from isa.semantics.dot import dot, matrix_multiply
from isa.semantics.elementwise import SIGNED, UNSIGNED, each, each_accumulating
from isa.table import family

ROWS = (
    family("mul", "T,T,T", BHS, each(UNSIGNED, multiply.multiply)),
    family("mul", "T,T,E", HS, each(UNSIGNED, multiply.multiply)),
    family("mla", "T,T,T", BHS, each_accumulating(UNSIGNED, multiply.multiply_add)),
    family("mla", "T,T,E", HS, each_accumulating(UNSIGNED, multiply.multiply_add)),
    family("mls", "T,T,T", BHS, each_accumulating(UNSIGNED, multiply.multiply_subtract)),
    family("mls", "T,T,E", HS, each_accumulating(UNSIGNED, multiply.multiply_subtract)),
    family("pmul", "T,T,T", BYTES, each(UNSIGNED, multiply.polynomial_multiply)),
    family("pmull%", "W,T,T", BYTES, each(UNSIGNED, multiply.polynomial_multiply)),
    family("pmull", ".1q,.1d,.1d", "", each(UNSIGNED, multiply.polynomial_multiply), "pmull"),
    family("pmull2", ".1q,.2d,.2d", "", each(UNSIGNED, multiply.polynomial_multiply), "pmull"),
    # long
    family("smull%", "W,T,T", BHS, each(SIGNED, multiply.multiply)),
    family("smull%", "W,T,E", HS, each(SIGNED, multiply.multiply)),
    family("umull%", "W,T,T", BHS, each(UNSIGNED, multiply.multiply)),
    family("umull%", "W,T,E", HS, each(UNSIGNED, multiply.multiply)),
    family("smlal%", "W,T,T", BHS, each_accumulating(SIGNED, multiply.multiply_add)),
    family("smlal%", "W,T,E", HS, each_accumulating(SIGNED, multiply.multiply_add)),
    family("umlal%", "W,T,T", BHS, each_accumulating(UNSIGNED, multiply.multiply_add)),
    family("umlal%", "W,T,E", HS, each_accumulating(UNSIGNED, multiply.multiply_add)),
    family("smlsl%", "W,T,T", BHS, each_accumulating(SIGNED, multiply.multiply_subtract)),
    family("smlsl%", "W,T,E", HS, each_accumulating(SIGNED, multiply.multiply_subtract)),
    family("umlsl%", "W,T,T", BHS, each_accumulating(UNSIGNED, multiply.multiply_subtract)),
    family("umlsl%", "W,T,E", HS, each_accumulating(UNSIGNED, multiply.multiply_subtract)),
    family("sqdmull%", "W,T,T", f"{HS} h s", each(SIGNED, multiply.doubling_multiply_long)),
    family("sqdmull%", "W,T,E", f"{HS} h s", each(SIGNED, multiply.doubling_multiply_long)),
    family("sqdmlal%", "W,T,T", f"{HS} h s", each_accumulating(SIGNED, multiply.doubling_multiply_add_long)),
    family("sqdmlal%", "W,T,E", f"{HS} h s", each_accumulating(SIGNED, multiply.doubling_multiply_add_long)),
    family("sqdmlsl%", "W,T,T", f"{HS} h s", each_accumulating(SIGNED, multiply.doubling_multiply_subtract_long)),
    family("sqdmlsl%", "W,T,E", f"{HS} h s", each_accumulating(SIGNED, multiply.doubling_multiply_subtract_long)),
    # high half
    family("sqdmulh", "T,T,(T|E)", f"{HS} h s", each(SIGNED, multiply.doubling_multiply_high)),
    family("sqrdmulh", "T,T,(T|E)", f"{HS} h s", each(SIGNED, multiply.rounding_doubling_multiply_high)),
    family(
        "sqrdmlah", "T,T,(T|E)", f"{HS} h s",
        each_accumulating(SIGNED, multiply.rounding_doubling_multiply_add_high), "rdm",
    ),
    family(
        "sqrdmlsh", "T,T,(T|E)", f"{HS} h s",
        each_accumulating(SIGNED, multiply.rounding_doubling_multiply_subtract_high), "rdm",
    ),
    # dot products
    family("sdot", "D,T,(T|.4b[i])", BYTES, dot(SIGNED, SIGNED), "dotprod"),
    family("udot", "D,T,(T|.4b[i])", BYTES, dot(UNSIGNED, UNSIGNED), "dotprod"),
    family("usdot", "D,T,(T|.4b[i])", BYTES, dot(UNSIGNED, SIGNED), "i8mm"),
    family("sudot", "D,T,.4b[i]", BYTES, dot(SIGNED, UNSIGNED), "i8mm"),
    family("smmla", ".4s,.16b,.16b", "", matrix_multiply(SIGNED, SIGNED), "i8mm"),
    family("ummla", ".4s,.16b,.16b", "", matrix_multiply(UNSIGNED, UNSIGNED), "i8mm"),
    family("usmmla", ".4s,.16b,.16b", "", matrix_multiply(UNSIGNED, SIGNED), "i8mm"),
)  # fmt: skip
