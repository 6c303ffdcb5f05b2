"""Intrinsics on vectors of integers and polynomials."""

from __future__ import annotations

from isa.acle.rules import INTEGERS, Rule, by_element, by_number

_SWAPPED = "{0}, {2}, {1}"
_WITH_ZERO = "{0}, {1}, #0"
_TWO_LANES = "v0.2s, {1}, {1}"
_BYTES = "{0.b}, {1.b}, {2.b}"
_GROUP = "{0}, {2}, {3.g}[{4}]"

RULES = (
    # arithmetic
    Rule("add sub mul", "{op}", "T = T, T"),
    Rule("add", "eor", "T = T, T", _BYTES, kinds="p", widths=(8, 16, 64, 128)),
    Rule("mul", "pmul", "T = T, T", kinds="p"),
    Rule("hadd rhadd hsub qadd qsub abd max min qdmulh qrdmulh", "{s}{op}", "T = T, T"),
    Rule("mla mls", "{op}", "T = +T, T, T"),
    Rule("aba qrdmlah qrdmlsh", "{s}{op}", "T = +T, T, T"),
    Rule("uqadd", "suqadd", "T = +T, TU", kinds="s"),
    Rule("sqadd", "usqadd", "T = +T, TS", kinds="u"),
    Rule("neg abs", "{op}", "T = T", kinds="s"),
    Rule("qneg qabs", "s{op}", "T = T", kinds="s"),
    Rule("clz", "clz", "T = T"),
    Rule("cls", "cls", "TS = T"),
    Rule("cnt rbit", "{op}", "T = T", kinds=INTEGERS),
    Rule("recpe rsqrte", "u{op}", "T = T", kinds="u"),
    *by_element("mul", "mul", "T = "),
    *by_element("mla mls", "{op}", "T = +T, "),
    *by_element("qdmulh qrdmulh", "{s}{op}", "T = "),
    *by_element("qrdmlah qrdmlsh", "{s}{op}", "T = +T, "),
    by_number("mul", "mul", "T = "),
    by_number("mla mls", "{op}", "T = +T, "),
    by_number("qdmulh qrdmulh", "{s}{op}", "T = "),
    # long and wide
    Rule("addl subl abdl mull qdmull", "{s}{op}", "TW = T, T", form="long"),
    Rule("mull", "pmull", "TW = T, T", form="long", kinds="p", widths=(8,)),
    Rule("mull_high", "pmull2", "TW = T, T", "{0.v}, {1}, {2}", form="128", kinds="p", widths=(64,)),
    Rule("mull", "pmull", "TW = T, T", "{0.v}, {1.v}, {2.v}", form="number", kinds="p", widths=(64,)),
    Rule("addw subw", "{s}{op}", "TW = TW, T", form="long"),
    Rule("abal mlal mlsl qdmlal qdmlsl", "{s}{op}", "TW = +TW, T, T", form="long"),
    Rule("movl", "{s}shll", "TW = T", _WITH_ZERO, form="long"),
    Rule("shll_n", "{s}shll", "TW = T, lengthening", form="long", at_highest="shll"),
    *by_element("mull qdmull", "{s}{op}", "TW = ", "long"),
    *by_element("mlal mlsl qdmlal qdmlsl", "{s}{op}", "TW = +TW, ", "long"),
    by_number("mull qdmull", "{s}{op}", "TW = ", "long"),
    by_number("mlal mlsl qdmlal qdmlsl", "{s}{op}", "TW = +TW, ", "long"),
    # narrowing
    Rule("movn", "xtn", "TN = T", form="narrow"),
    Rule("qmovn", "{s}qxtn", "TN = T", form="narrow"),
    Rule("qmovun", "sqxtun", "TNU = T", form="narrow", kinds="s"),
    Rule("addhn subhn raddhn rsubhn", "{op}", "TN = T, T", form="narrow"),
    Rule("shrn_n rshrn_n", "{op}", "TN = T, narrowing", form="narrow"),
    Rule("qshrn_n qrshrn_n", "{s}{op}", "TN = T, narrowing", form="narrow"),
    Rule("qshrun_n qrshrun_n", "s{op}", "TNU = T, narrowing", form="narrow", kinds="s"),
    # shifts
    Rule("shl rshl qshl qrshl", "{s}{op}", "T = T, TS"),
    Rule("shl_n", "shl", "T = T, left"),
    Rule("qshl_n", "{s}qshl", "T = T, left"),
    Rule("qshlu_n", "sqshlu", "TU = T, left", kinds="s"),
    Rule("shr_n rshr_n", "{s}{op}", "T = T, right"),
    Rule("sra_n rsra_n", "{s}{op}", "T = +T, T, right"),
    Rule("sli_n", "sli", "T = +T, T, left", kinds=INTEGERS),
    Rule("sri_n", "sri", "T = +T, T, right", kinds=INTEGERS),
    # comparison
    Rule("ceq", "cmeq", "TU = T, T"),
    Rule("ceq", "cmeq", "TU = T, T", kinds="p", widths=(8, 64)),
    Rule("cge", "cmge/cmhs", "TU = T, T"),
    Rule("cgt", "cmgt/cmhi", "TU = T, T"),
    Rule("cle", "cmge/cmhs", "TU = T, T", _SWAPPED),
    Rule("clt", "cmgt/cmhi", "TU = T, T", _SWAPPED),
    Rule("tst", "cmtst", "TU = T, T", kinds=INTEGERS),
    Rule("ceqz", "cmeq", "TU = T", _WITH_ZERO),
    Rule("ceqz", "cmeq", "TU = T", _WITH_ZERO, kinds="p", widths=(8, 64)),
    Rule("cgez", "cmge", "TU = T", _WITH_ZERO, kinds="s"),
    Rule("cgtz", "cmgt", "TU = T", _WITH_ZERO, kinds="s"),
    Rule("clez", "cmle", "TU = T", _WITH_ZERO, kinds="s"),
    Rule("cltz", "cmlt", "TU = T", _WITH_ZERO, kinds="s"),
    # bitwise
    Rule("and orr eor bic orn", "{op}", "T = T, T", _BYTES),
    Rule("mvn", "mvn", "T = T", "{0.b}, {1.b}", widths=(8, 16, 32)),
    Rule("mvn", "mvn", "T = T", "{0.b}, {1.b}", kinds="p", widths=(8,)),
    Rule("bsl", "bsl", "T = +TU, T, T", "{0.b}, {2.b}, {3.b}", kinds="supf"),
    Rule("eor3 bcax", "{op}", "T = T, T, T", "{0.b}, {1.b}, {2.b}, {3.b}", form="q"),
    Rule("rax1", "rax1", "T = T, T", form="q", kinds="u"),
    Rule("xar", "xar", "T = T, T, left", form="q", kinds="u"),
    # pairwise and across lanes
    Rule("padd", "addp", "T = T, T"),
    Rule("pmax", "{s}maxp", "T = T, T"),
    Rule("pmin", "{s}minp", "T = T, T"),
    Rule("paddl", "{s}addlp", "TP = T", "{0.v}, {1}"),
    Rule("padal", "{s}adalp", "TP = +TP, T", "{0.v}, {2}"),
    Rule("addv", "addv|addp", "number = T"),
    Rule("addv", "addp", "number = T", _TWO_LANES),
    Rule("maxv minv", "{s}{op}", "number = T"),
    Rule("maxv", "{s}maxp", "number = T", _TWO_LANES),
    Rule("minv", "{s}minp", "number = T", _TWO_LANES),
    Rule("addlv", "{s}addlv", "wide = T"),
    Rule("addlv", "{s}addlp", "wide = T", "v0.1d, {1}"),
    # dot products
    Rule("dot", "{s}dot", "T = +T, TB, TB"),
    Rule("dot_lane", "{s}dot", "T = +T, TB, TBH, group", _GROUP),
    Rule("dot_laneq", "{s}dot", "T = +T, TB, TBQ, group", _GROUP),
    Rule("usdot", "usdot", "T = +T, TBU, TB", kinds="s"),
    Rule("usdot_lane", "usdot", "T = +T, TBU, TBH, group", _GROUP, kinds="s"),
    Rule("usdot_laneq", "usdot", "T = +T, TBU, TBQ, group", _GROUP, kinds="s"),
    Rule("sudot_lane", "sudot", "T = +T, TB, TBUH, group", _GROUP, kinds="s"),
    Rule("sudot_laneq", "sudot", "T = +T, TB, TBUQ, group", _GROUP, kinds="s"),
    Rule("mmla", "{s}mmla", "T = +T, TB, TB"),
    Rule("usmmla", "usmmla", "T = +T, TBU, TB", kinds="s"),
)
