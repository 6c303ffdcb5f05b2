"""Floating point: AdvSIMD and scalar (Arm ARM C7.2)."""

from __future__ import annotations

from collections.abc import Iterator

from isa.floating import Rounding
from isa.instruction import Form
from isa.semantics import bitwise, permute
from isa.semantics import floating as fp
from isa.semantics import floating_products as products
from isa.semantics.elementwise import SIGNED, UNSIGNED, Body, each, each_accumulating, pairwise
from isa.table import family

ROUNDINGS: dict[str, Rounding] = {"n": "even", "m": "down", "p": "up", "z": "zero", "a": "away"}
"""The rounding that a letter of FCVTNS, FRINTM, ... names."""


def _formats(mnemonic: str, shapes: str, body: Body, kinds: str = "vs", *features: str) -> Iterator[Form]:
    """The forms of one row in vectors (`v`) and scalars (`s`): half precision needs FP16 besides the `features`."""
    base = " ".join({"v": ".2s .4s .2d", "s": "s d"}[kind] for kind in kinds)
    half = " ".join({"v": ".4h .8h", "s": "h"}[kind] for kind in kinds)
    yield from family(mnemonic, shapes, base, body, *features)
    yield from family(mnemonic, shapes, half, body, *features, "fp16")


def _by_element(mnemonic: str, body: Body) -> Iterator[Form]:
    yield from _formats(mnemonic, "T,T,E", body)


def _pairwise(mnemonic: str, body: Body) -> Iterator[Form]:
    yield from _formats(mnemonic, "T,T,T", body, "v")
    yield from family(mnemonic, "N,T", ".2s .2d", body)
    yield from family(mnemonic, "h,.2h", "", body, "fp16")


def _across(mnemonic: str, body: Body) -> Iterator[Form]:
    yield from family(mnemonic, "s,.4s", "", body)
    yield from family(mnemonic, "h,(.4h|.8h)", "", body, "fp16")


def _to_integers() -> Iterator[Form]:
    for letter, rounding in ROUNDINGS.items():
        for sign, signed in (("s", True), ("u", False)):
            name = f"fcvt{letter}{sign}"
            fixed = "(|,#)" if letter == "z" else ""
            yield from _formats(name, f"T,T{fixed}", each(UNSIGNED, fp.to_integer(signed, rounding)))
            yield from family(name, f"(w|x),T{fixed}", "s d", fp.to_general(signed, rounding))
            yield from family(name, f"(w|x),h{fixed}", "", fp.to_general(signed, rounding), "fp16")


def _from_integers() -> Iterator[Form]:
    for name, signed in (("scvtf", SIGNED), ("ucvtf", UNSIGNED)):
        yield from _formats(name, "T,T(|,#)", each(signed, fp.from_integer(signed)))
        yield from family(name, "T,(w|x)(|,#)", "s d", fp.from_general(signed))
        yield from family(name, "h,(w|x)(|,#)", "", fp.from_general(signed), "fp16")


def _to_integrals() -> Iterator[Form]:
    for letter, rounding in ROUNDINGS.items():
        yield from _formats(f"frint{letter}", "T,T", each(UNSIGNED, fp.arithmetic("to_integral", rounding)))
    yield from _formats("frinti", "T,T", each(UNSIGNED, fp.arithmetic("to_integral")))
    yield from _formats("frintx", "T,T", each(UNSIGNED, fp.arithmetic("to_integral_exact")))
    for bits in (32, 64):
        toward_zero, as_set = fp.bounded_integral(bits, "zero"), fp.bounded_integral(bits, "fpcr")
        yield from family(f"frint{bits}z", "T,T", ".2s .4s .2d s d", each(UNSIGNED, toward_zero), "frintts")
        yield from family(f"frint{bits}x", "T,T", ".2s .4s .2d s d", each(UNSIGNED, as_set), "frintts")


def _long_products() -> Iterator[Form]:
    for name, negative in (("fmlal", False), ("fmlsl", True)):
        for suffix, upper in (("", False), ("2", True)):
            body = products.multiply_add_long(upper, negative)
            yield from family(name + suffix, "(.2s,.2h|.4s,.4h),.h[i]", "", body, "fhm")
            yield from family(name + suffix, "(.2s,.2h,.2h|.4s,.4h,.4h)", "", body, "fhm")


ROWS = (
    _formats("fadd", "T,T,T", each(UNSIGNED, fp.arithmetic("add"))),
    _formats("fsub", "T,T,T", each(UNSIGNED, fp.arithmetic("subtract"))),
    _formats("fabd", "T,T,T", each(UNSIGNED, fp.absolute_difference)),
    _formats("fmul", "T,T,T", each(UNSIGNED, fp.arithmetic("multiply"))),
    _by_element("fmul", each(UNSIGNED, fp.arithmetic("multiply"))),
    _formats("fmulx", "T,T,T", each(UNSIGNED, fp.arithmetic("multiply_extended"))),
    _by_element("fmulx", each(UNSIGNED, fp.arithmetic("multiply_extended"))),
    _formats("fnmul", "T,T,T", each(UNSIGNED, fp.negated_multiply), "s"),
    _formats("fdiv", "T,T,T", each(UNSIGNED, fp.arithmetic("divide"))),
    _formats("fsqrt", "T,T", each(UNSIGNED, fp.arithmetic("square_root"))),
    _formats("fmla", "T,T,T", each_accumulating(UNSIGNED, fp.multiply_add), "v"),
    _by_element("fmla", each_accumulating(UNSIGNED, fp.multiply_add)),
    _formats("fmls", "T,T,T", each_accumulating(UNSIGNED, fp.multiply_subtract), "v"),
    _by_element("fmls", each_accumulating(UNSIGNED, fp.multiply_subtract)),
    _formats("fmadd", "T,T,T,T", each(UNSIGNED, fp.add_product), "s"),
    _formats("fmsub", "T,T,T,T", each(UNSIGNED, fp.subtract_product), "s"),
    _formats("fnmadd", "T,T,T,T", each(UNSIGNED, fp.negated_add_product), "s"),
    _formats("fnmsub", "T,T,T,T", each(UNSIGNED, fp.negated_subtract_product), "s"),
    # minimum and maximum
    _formats("fmax", "T,T,T", each(UNSIGNED, fp.arithmetic("maximum"))),
    _formats("fmin", "T,T,T", each(UNSIGNED, fp.arithmetic("minimum"))),
    _formats("fmaxnm", "T,T,T", each(UNSIGNED, fp.arithmetic("maximum_number"))),
    _formats("fminnm", "T,T,T", each(UNSIGNED, fp.arithmetic("minimum_number"))),
    # pairwise and across lanes
    _pairwise("faddp", pairwise(UNSIGNED, fp.arithmetic("add"))),
    _pairwise("fmaxp", pairwise(UNSIGNED, fp.arithmetic("maximum"))),
    _pairwise("fminp", pairwise(UNSIGNED, fp.arithmetic("minimum"))),
    _pairwise("fmaxnmp", pairwise(UNSIGNED, fp.arithmetic("maximum_number"))),
    _pairwise("fminnmp", pairwise(UNSIGNED, fp.arithmetic("minimum_number"))),
    _across("fmaxv", fp.across_in_halves("maximum")),
    _across("fminv", fp.across_in_halves("minimum")),
    _across("fmaxnmv", fp.across_in_halves("maximum_number")),
    _across("fminnmv", fp.across_in_halves("minimum_number")),
    # estimates and steps
    _formats("frecpe", "T,T", each(UNSIGNED, fp.arithmetic("reciprocal_estimate"))),
    _formats("frsqrte", "T,T", each(UNSIGNED, fp.arithmetic("reciprocal_root_estimate"))),
    _formats("frecpx", "T,T", each(UNSIGNED, fp.arithmetic("reciprocal_exponent")), "s"),
    _formats("frecps", "T,T,T", each(UNSIGNED, fp.arithmetic("reciprocal_step"))),
    _formats("frsqrts", "T,T,T", each(UNSIGNED, fp.arithmetic("reciprocal_root_step"))),
    # comparison
    _formats("fcmeq", "T,T,(T|#fp)", each(UNSIGNED, fp.comparison("equal"))),
    _formats("fcmge", "T,T,(T|#fp)", each(UNSIGNED, fp.comparison("greater_or_equal"))),
    _formats("fcmgt", "T,T,(T|#fp)", each(UNSIGNED, fp.comparison("greater"))),
    _formats("fcmle", "T,T,#fp", each(UNSIGNED, fp.reversed_comparison("greater_or_equal"))),
    _formats("fcmlt", "T,T,#fp", each(UNSIGNED, fp.reversed_comparison("greater"))),
    _formats("facge", "T,T,T", each(UNSIGNED, fp.absolute_comparison("greater_or_equal"))),
    _formats("facgt", "T,T,T", each(UNSIGNED, fp.absolute_comparison("greater"))),
    _formats("fcmp", "T,(T|#fp)", fp.compare("compare"), "s"),
    _formats("fcmpe", "T,(T|#fp)", fp.compare("compare_signalling"), "s"),
    _formats("fccmp", "T,T,#,cond", fp.conditional_compare("compare"), "s"),
    _formats("fccmpe", "T,T,#,cond", fp.conditional_compare("compare_signalling"), "s"),
    _formats("fcsel", "T,T,T,cond", fp.conditional_select, "s"),
    # conversion
    _to_integers(),
    _from_integers(),
    _to_integrals(),
    family("fjcvtzs", "w,d", "", fp.to_word_modulo, "jscvt"),
    family("fcvt", "(d,s|h,s|s,d|h,d|s,h|d,h)", "", fp.convert),
    family("fcvtl%", "W,T", ".4h .8h .2s .4s", each(UNSIGNED, fp.widened)),
    family("fcvtn%", "T,W", ".4h .8h .2s .4s", each(UNSIGNED, fp.narrowed("fpcr"))),
    family("fcvtxn%", "T,W", ".2s .4s s", each(UNSIGNED, fp.narrowed("odd"))),
    # moves
    _formats("fmov", "T,#fp", fp.move_immediate),
    family("fmov", "h,h", "", each(UNSIGNED, bitwise.copy), "fp16"),
    family("fmov", "h,(w|x)", "", permute.from_general, "fp16"),
    family("fmov", "(w|x),h", "", permute.to_general, "fp16"),
    # complex numbers
    _formats("fcadd", "T,T,T,#", products.complex_add, "v", "fcma"),
    _formats("fcmla", "T,T,T,#", products.complex_multiply_add, "v", "fcma"),
    family("fcmla", "T,T,E,#", ".4s", products.complex_multiply_add, "fcma"),
    family("fcmla", "T,T,E,#", ".4h .8h", products.complex_multiply_add, "fcma", "fp16"),
    # half precision into single precision, bfloat16
    _long_products(),
    family("bfcvt", "h,s", "", each(UNSIGNED, fp.to_bfloat), "bf16"),
    family("bfcvtn%", "T,.4s", ".4h .8h", each(UNSIGNED, fp.to_bfloat), "bf16"),
    family("bfdot", "(.2s,.4h,|.4s,.8h,).2h[i]", "", products.bfloat_dot, "bf16"),
    family("bfdot", "(.2s,.4h,.4h|.4s,.8h,.8h)", "", products.bfloat_dot, "bf16"),
    family("bfmmla", ".4s,.8h,.8h", "", products.bfloat_matrix_multiply, "bf16"),
    family("bfmlalb", ".4s,.8h,(.8h|.h[i])", "", products.bfloat_multiply_add_long(0), "bf16"),
    family("bfmlalt", ".4s,.8h,(.8h|.h[i])", "", products.bfloat_multiply_add_long(1), "bf16"),
)
