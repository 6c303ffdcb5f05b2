"""Intrinsics on single numbers, which lie in the lowest element of vector registers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from isa.intrinsic_rules import Rule, by_element

_SWAPPED = "{0}, {2}, {1}"
_WITH_ZERO = "{0}, {1}, #0"
_WITH_ZERO_FP = "{0}, {1}, #0.0"
_scalar = partial(Rule, form="scalar")
_float = partial(Rule, form="scalar", kinds="f")
_half = partial(Rule, form="scalar", kinds="f", widths=(16,))
_PAIR = ("add", "max", "min", "maxnm", "minnm")


def _integers() -> Iterator[Rule]:
    yield _scalar("add sub", "{op}", "T = T, T", widths=(64,))
    yield _scalar("qadd qsub qdmulh qrdmulh", "{s}{op}", "T = T, T")
    yield _scalar("uqadd", "suqadd", "T = +T, TU", kinds="s")
    yield _scalar("sqadd", "usqadd", "T = +T, TS", kinds="u")
    yield _scalar("neg abs", "{op}", "T = T", kinds="s")
    yield _scalar("qneg qabs", "s{op}", "T = T", kinds="s")
    yield _scalar("qrdmlah qrdmlsh", "{s}{op}", "T = +T, T, T")
    yield _scalar("qdmull", "{s}{op}", "TW = T, T")
    yield _scalar("qdmlal qdmlsl", "{s}{op}", "TW = +TW, T, T")
    yield from by_element("qdmulh qrdmulh", "{s}{op}", "T = ", "scalar")
    yield from by_element("qrdmlah qrdmlsh", "{s}{op}", "T = +T, ", "scalar")
    yield from by_element("qdmull", "{s}{op}", "TW = ", "scalar")
    yield from by_element("qdmlal qdmlsl", "{s}{op}", "TW = +TW, ", "scalar")
    yield _scalar("padd", "addp", "T = TQ", widths=(64,))


def _narrowing() -> Iterator[Rule]:
    yield _scalar("qmovn", "{s}qxtn", "TN = T")
    yield _scalar("qmovun", "sqxtun", "TNU = T", kinds="s")
    yield _scalar("qshrn_n qrshrn_n", "{s}{op}", "TN = T, narrowing")
    yield _scalar("qshrun_n qrshrun_n", "s{op}", "TNU = T, narrowing", kinds="s")


def _shifts() -> Iterator[Rule]:
    yield _scalar("shl rshl qshl qrshl", "{s}{op}", "T = T, TS")
    yield _scalar("shl_n", "shl", "T = T, left")
    yield _scalar("qshl_n", "{s}qshl", "T = T, left")
    yield _scalar("qshlu_n", "sqshlu", "TU = T, left", kinds="s")
    yield _scalar("shr_n rshr_n", "{s}{op}", "T = T, right")
    yield _scalar("sra_n rsra_n", "{s}{op}", "T = +T, T, right")
    yield _scalar("sli_n", "sli", "T = +T, T, left")
    yield _scalar("sri_n", "sri", "T = +T, T, right")


def _comparisons() -> Iterator[Rule]:
    yield _scalar("ceq", "cmeq", "TU = T, T")
    yield _scalar("cge", "cmge/cmhs", "TU = T, T")
    yield _scalar("cgt", "cmgt/cmhi", "TU = T, T")
    yield _scalar("cle", "cmge/cmhs", "TU = T, T", _SWAPPED)
    yield _scalar("clt", "cmgt/cmhi", "TU = T, T", _SWAPPED)
    yield _scalar("tst", "cmtst", "TU = T, T")
    yield _scalar("ceqz", "cmeq", "TU = T", _WITH_ZERO)
    for how in ("ge", "gt", "le", "lt"):
        yield _scalar(f"c{how}z", f"cm{how}", "TU = T", _WITH_ZERO, kinds="s")


def _lanes() -> Iterator[Rule]:
    for op, vector in (("dup_lane", "TH"), ("dup_laneq", "TQ")):
        yield Rule(op, "mov", f"T = {vector}, lane", "{0}, {1.e}[{2}]", "scalar", "sufb")
        yield Rule(op, "mov", f"T = {vector}, lane", "{0}, {1.e}[{2}]", "scalar", "p", (8, 16))


def _floats() -> Iterator[Rule]:
    yield _float("abd mulx recps rsqrts", "f{op}", "T = T, T")
    yield _float("recpe recpx rsqrte", "f{op}", "T = T")
    yield _half("add sub mul div max min maxnm minnm", "f{op}", "T = T, T")
    yield _half("abs neg sqrt", "f{op}", "T = T")
    yield _half("fma", "fmadd", "T = T, T, T", "{0}, {2}, {3}, {1}")
    yield _half("fms", "fmsub", "T = T, T, T", "{0}, {2}, {3}, {1}")
    yield from by_element("mul mulx", "f{op}", "T = ", "scalar", kinds="f")
    yield from by_element("fma", "fmla", "T = +T, ", "scalar", kinds="f")
    yield from by_element("fms", "fmls", "T = +T, ", "scalar", kinds="f")
    yield Rule("rndn", "frintn", "T = T", "", "scalar", "f", (16, 32))
    yield _half("rnd", "frintz", "T = T")
    yield from (_half(f"rnd{how}", f"frint{how}", "T = T") for how in "mpaix")


def _float_comparisons() -> Iterator[Rule]:
    yield from (_float(f"c{how}", f"fcm{how}", "TU = T, T") for how in ("eq", "ge", "gt"))
    yield _float("cle", "fcmge", "TU = T, T", _SWAPPED)
    yield _float("clt", "fcmgt", "TU = T, T", _SWAPPED)
    for how in ("eq", "ge", "gt", "le", "lt"):
        yield _float(f"c{how}z", f"fcm{how}", "TU = T", _WITH_ZERO_FP)
    yield from (_float(f"ca{how}", f"fac{how}", "TU = T, T") for how in ("ge", "gt"))
    yield _float("cale", "facge", "TU = T, T", _SWAPPED)
    yield _float("calt", "facgt", "TU = T, T", _SWAPPED)


def _float_pairs() -> Iterator[Rule]:
    """The sum or an extreme of a vector of two; of doubles ACLE marks the vector q too, but for the sum."""
    for op in _PAIR:
        yield Rule(f"p{op}", f"f{op}p", "T = TH", "", "scalar", "f", (32,))
        yield Rule(f"p{op}{'' if op == 'add' else 'q'}", f"f{op}p", "T = TQ", "", "scalar", "f", (64,))


RULES = (
    *_integers(),
    *_narrowing(),
    *_shifts(),
    *_comparisons(),
    *_lanes(),
    *_floats(),
    *_float_comparisons(),
    *_float_pairs(),
)
