"""Intrinsics on single numbers, which lie in the lowest element of vector registers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from isa.acle.rules import Rule, by_element

_SWAPPED = "{0}, {2}, {1}"
_WITH_ZERO = "{0}, {1}, #0"
_WITH_ZERO_FP = "{0}, {1}, #0.0"
_scalar = partial(Rule, form="scalar")
_float = partial(Rule, form="scalar", kinds="f")
_half = partial(Rule, form="scalar", kinds="f", widths=(16,))
_PAIR = ("add", "max", "min", "maxnm", "minnm")


def _float_pairs() -> Iterator[Rule]:
    """The sum or an extreme of a vector of two; of doubles ACLE marks the vector q too, but for the sum."""
    for op in _PAIR:
        yield Rule(f"p{op}", f"f{op}p", "T = TH", "", form="scalar", kinds="f", widths=(32,))
        yield Rule(
            f"p{op}{'' if op == 'add' else 'q'}", f"f{op}p", "T = TQ", "", form="scalar", kinds="f", widths=(64,)
        )


def _checksums() -> Iterator[Rule]:
    """The checksums of general registers, whose names do not end with a type."""
    for bits, suffix, letter in ((8, "b", "b"), (16, "h", "h"), (32, "w", "w"), (64, "d", "x")):
        for polynomial in ("crc32", "crc32c"):
            yield Rule(
                f"__{polynomial}{suffix}", f"{polynomial}{letter}", "unsigned32 = unsigned32, general",
                form="number", kinds="u", widths=(bits,),
            )  # fmt: skip


RULES = (
    *_checksums(),
    # integers
    _scalar("add sub", "{op}", "T = T, T", widths=(64,)),
    _scalar("qadd qsub qdmulh qrdmulh", "{s}{op}", "T = T, T"),
    _scalar("uqadd", "suqadd", "T = +T, TU", kinds="s"),
    _scalar("sqadd", "usqadd", "T = +T, TS", kinds="u"),
    _scalar("neg abs", "{op}", "T = T", kinds="s"),
    _scalar("qneg qabs", "s{op}", "T = T", kinds="s"),
    _scalar("qrdmlah qrdmlsh", "{s}{op}", "T = +T, T, T"),
    _scalar("qdmull", "{s}{op}", "TW = T, T"),
    _scalar("qdmlal qdmlsl", "{s}{op}", "TW = +TW, T, T"),
    *by_element("qdmulh qrdmulh", "{s}{op}", "T = ", "scalar"),
    *by_element("qrdmlah qrdmlsh", "{s}{op}", "T = +T, ", "scalar"),
    *by_element("qdmull", "{s}{op}", "TW = ", "scalar"),
    *by_element("qdmlal qdmlsl", "{s}{op}", "TW = +TW, ", "scalar"),
    _scalar("padd", "addp", "T = TQ", widths=(64,)),
    # narrowing
    _scalar("qmovn", "{s}qxtn", "TN = T"),
    _scalar("qmovun", "sqxtun", "TNU = T", kinds="s"),
    _scalar("qshrn_n qrshrn_n", "{s}{op}", "TN = T, narrowing"),
    _scalar("qshrun_n qrshrun_n", "s{op}", "TNU = T, narrowing", kinds="s"),
    # shifts
    _scalar("shl rshl qshl qrshl", "{s}{op}", "T = T, TS"),
    _scalar("shl_n", "shl", "T = T, left"),
    _scalar("qshl_n", "{s}qshl", "T = T, left"),
    _scalar("qshlu_n", "sqshlu", "TU = T, left", kinds="s"),
    _scalar("shr_n rshr_n", "{s}{op}", "T = T, right"),
    _scalar("sra_n rsra_n", "{s}{op}", "T = +T, T, right"),
    _scalar("sli_n", "sli", "T = +T, T, left"),
    _scalar("sri_n", "sri", "T = +T, T, right"),
    # comparison
    _scalar("ceq", "cmeq", "TU = T, T"),
    _scalar("cge", "cmge/cmhs", "TU = T, T"),
    _scalar("cgt", "cmgt/cmhi", "TU = T, T"),
    _scalar("cle", "cmge/cmhs", "TU = T, T", _SWAPPED),
    _scalar("clt", "cmgt/cmhi", "TU = T, T", _SWAPPED),
    _scalar("tst", "cmtst", "TU = T, T"),
    _scalar("ceqz", "cmeq", "TU = T", _WITH_ZERO),
    *(_scalar(f"c{how}z", f"cm{how}", "TU = T", _WITH_ZERO, kinds="s") for how in ("ge", "gt", "le", "lt")),
    # lanes
    *(
        Rule(op, "mov", f"T = {vector}, lane", "{0}, {1.e}[{2}]", form="scalar", kinds=kinds, widths=widths)
        for op, vector in (("dup_lane", "TH"), ("dup_laneq", "TQ"))
        for kinds, widths in (("sufb", (8, 16, 32, 64)), ("p", (8, 16)))
    ),
    # floating point
    _float("abd mulx recps rsqrts", "f{op}", "T = T, T"),
    _float("recpe recpx rsqrte", "f{op}", "T = T"),
    _half("add sub mul div max min maxnm minnm", "f{op}", "T = T, T"),
    _half("abs neg sqrt", "f{op}", "T = T"),
    _half("fma", "fmadd", "T = T, T, T", "{0}, {2}, {3}, {1}"),
    _half("fms", "fmsub", "T = T, T, T", "{0}, {2}, {3}, {1}"),
    *by_element("mul mulx", "f{op}", "T = ", "scalar", kinds="f"),
    *by_element("fma", "fmla", "T = +T, ", "scalar", kinds="f"),
    *by_element("fms", "fmls", "T = +T, ", "scalar", kinds="f"),
    Rule("rndn", "frintn", "T = T", "", form="scalar", kinds="f", widths=(16, 32)),
    _half("rnd", "frintz", "T = T"),
    *(_half(f"rnd{how}", f"frint{how}", "T = T") for how in "mpaix"),
    # comparison of floating point
    *(_float(f"c{how}", f"fcm{how}", "TU = T, T") for how in ("eq", "ge", "gt")),
    _float("cle", "fcmge", "TU = T, T", _SWAPPED),
    _float("clt", "fcmgt", "TU = T, T", _SWAPPED),
    *(_float(f"c{how}z", f"fcm{how}", "TU = T", _WITH_ZERO_FP) for how in ("eq", "ge", "gt", "le", "lt")),
    *(_float(f"ca{how}", f"fac{how}", "TU = T, T") for how in ("ge", "gt")),
    _float("cale", "facge", "TU = T, T", _SWAPPED),
    _float("calt", "facgt", "TU = T, T", _SWAPPED),
    *_float_pairs(),
)
