"""Intrinsics on vectors of floating-point numbers that compute and compare.

Those that multiply and add without fusing (`mla`, `mls`) are two instructions, as clang defines them.
"""

from __future__ import annotations

from collections.abc import Iterator

from isa.acle.rules import Rule, by_element, by_number

_SWAPPED = "{0}, {2}, {1}"
_WITH_ZERO = "{0}, {1}, #0.0"
_WORDS, _LONG = (32,), (32, 64)
_ROTATIONS = {"": 0, "_rot90": 90, "_rot180": 180, "_rot270": 270}


def _unfused() -> Iterator[Rule]:
    """VMLA and VMLS: a product, rounded, then a sum."""
    for op, last in (("mla", "fadd"), ("mls", "fsub")):
        pair, total = f"fmul; {last}", "{0}, {1}, {t}"
        yield Rule(op, pair, "T = T, T, T", f"{{t}}, {{2}}, {{3}}; {total}", kinds="f", widths=_LONG)
        product = "{t}, {2}, {3.e}"
        yield Rule(f"{op}_n", pair, "T = T, T, broadcast", f"{product}[0]; {total}", kinds="f", widths=_WORDS)
        yield Rule(f"{op}_lane", pair, "T = T, T, TH, lane", f"{product}[{{4}}]; {total}", kinds="f", widths=_WORDS)
        yield Rule(f"{op}_laneq", pair, "T = T, T, TQ, lane", f"{product}[{{4}}]; {total}", kinds="f", widths=_WORDS)


def _complex() -> Iterator[Rule]:
    """VCADD and VCMLA: in each couple of lanes the even one is the real part.

    FCMLA by element takes no 64-bit vector of single precision, and of half precision no couple beyond the first two.
    """
    for suffix, angle in _ROTATIONS.items():
        op, turn = f"cmla{suffix}", f", #{angle}"
        element, vector = "{0}, {2}, {3.e}[{4}]" + turn, "{0}, {2}, {t}" + turn
        yield Rule(op, "fcmla", "T = +T, T, T", "{0}, {2}, {3}" + turn, kinds="f")
        yield Rule(f"{op}_lane", "fcmla", "T = +T, T, TH, couple", element, kinds="f")
        yield Rule(
            f"{op}_lane", "fcmla", "T = +T, T, T, couple", "{0}, {2}, {3}" + turn, form="d", kinds="f", widths=_WORDS
        )
        yield Rule(f"{op}_laneq", "fcmla", "T = +T, T, TQ, couple", element, form="q", kinds="f")
        copied = "{t.q}, {3.d}[{4}]; " + vector
        yield Rule(f"{op}_laneq", "mov; fcmla", "T = +T, T, TQ, couple", copied, form="d", kinds="f", widths=_WORDS)
        copied = "{t.ss}, {3.s}[{4}]; " + vector
        yield Rule(f"{op}_laneq", "dup; fcmla", "T = +T, T, TQ, couple", copied, form="d", kinds="f", widths=(16,))
    for angle in (90, 270):
        yield Rule(f"cadd_rot{angle}", "fcadd", "T = T, T", f"{{0}}, {{1}}, {{2}}, #{angle}", kinds="f")


RULES = (
    # arithmetic
    Rule("add sub mul div max min maxnm minnm mulx abd", "f{op}", "T = T, T", kinds="f"),
    Rule("abs neg sqrt recpe rsqrte", "f{op}", "T = T", kinds="f"),
    Rule("recps rsqrts", "f{op}", "T = T, T", kinds="f"),
    Rule("fma", "fmla", "T = +T, T, T", kinds="f"),
    Rule("fms", "fmls", "T = +T, T, T", kinds="f"),
    Rule("fma", "fmadd", "T = T, T, T", "{0}, {2}, {3}, {1}", form="d", kinds="f", widths=(64,)),
    Rule("fms", "fmsub", "T = T, T, T", "{0}, {2}, {3}, {1}", form="d", kinds="f", widths=(64,)),
    *by_element("mul mulx", "f{op}", "T = ", kinds="f"),
    *by_element("fma", "fmla", "T = +T, ", kinds="f"),
    *by_element("fms", "fmls", "T = +T, ", kinds="f"),
    by_number("mul", "fmul", "T = ", kinds="f"),
    by_number("mulx", "fmulx", "T = ", kinds="f", widths=(16,)),
    by_number("fma", "fmla", "T = +T, ", kinds="f"),
    by_number("fms", "fmls", "T = +T, ", kinds="f"),
    *_unfused(),
    *_complex(),
    # rounding to integral numbers
    Rule("rnd", "frintz", "T = T", kinds="f"),
    *(Rule(f"rnd{how}", f"frint{how}", "T = T", kinds="f") for how in "nmpaix"),
    *(Rule(f"rnd{how}", f"frint{how}", "T = T", kinds="f") for how in ("32x", "32z", "64x", "64z")),
    # comparison
    *(Rule(f"c{how}", f"fcm{how}", "TU = T, T", kinds="f") for how in ("eq", "ge", "gt")),
    Rule("cle", "fcmge", "TU = T, T", _SWAPPED, kinds="f"),
    Rule("clt", "fcmgt", "TU = T, T", _SWAPPED, kinds="f"),
    *(Rule(f"c{how}z", f"fcm{how}", "TU = T", _WITH_ZERO, kinds="f") for how in ("eq", "ge", "gt", "le", "lt")),
    Rule("cage", "facge", "TU = T, T", kinds="f"),
    Rule("cagt", "facgt", "TU = T, T", kinds="f"),
    Rule("cale", "facge", "TU = T, T", _SWAPPED, kinds="f"),
    Rule("calt", "facgt", "TU = T, T", _SWAPPED, kinds="f"),
    # pairwise and across lanes
    *(Rule(f"p{op}", f"f{op}p", "T = T, T", kinds="f") for op in ("add", "max", "min", "maxnm", "minnm")),
    *(
        Rule(f"{op}v", f"f{op}p", "number = T", kinds="f", widths=_LONG)
        for op in ("add", "max", "min", "maxnm", "minnm")
    ),
    *(Rule(f"{op}v", f"f{op}v", "number = T", kinds="f") for op in ("max", "min", "maxnm", "minnm")),
    Rule("addv", "faddp; faddp", "number = T", "{t}, {1}, {1}; {0}, {t.half}", form="q", kinds="f", widths=_WORDS),
)
